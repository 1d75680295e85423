"""Keys: label and properties of what is installed, in `list`, `show` and `inspect`."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.selection.installed import Installed
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.state import CommandOptions, UserConstraints, aside
from pipvariant.shim.finding.installed import find_installed, read_installed

INSPECT = "pip._internal.commands.inspect"
LIST = "pip._internal.commands.list"
SHOW = "pip._internal.commands.show"


def patches(options: CommandOptions, user: UserConstraints) -> list[Patch]:
    """Patch the one place where a command puts together what it says of a project."""
    found = {
        "inspect": (f"{INSPECT}:InspectCommand._dist_to_dict", _dist_to_dict, _prove_inspect),
        "list": (f"{LIST}:format_for_json", _format_for_json, _prove_list),
        "show": (f"{SHOW}:print_results", _print_results, _prove_show),
    }
    if options.command not in found:
        return []
    target, replace, prove = found[options.command]
    return [patch(target, replace, functools.partial(prove, user))]


def _entry(installed: Installed) -> dict[str, Any]:
    """Return what the key `variant` holds; without a label where that is not known."""
    from pipvariant.standard.properties import properties_json

    if installed.label is None:
        return {"label": None, "problem": installed.problem}
    return {"label": installed.label, "properties": properties_json(installed.properties)}


def _dist_to_dict(original: Any, /, self: Any, dist: Any) -> Any:
    result = original(self, dist)
    installed = read_installed(dist)
    if installed.is_variant:
        result["variant"] = _entry(installed)
    return result


def _format_for_json(original: Any, /, packages: Iterable[Any], options: Any) -> str:
    listed = list(packages)
    text: str = original(listed, options)
    variants = [(place, read_installed(dist)) for place, dist in enumerate(listed)]
    variants = [(place, installed) for place, installed in variants if installed.is_variant]
    if not variants:
        return text
    entries = json.loads(text)
    for place, installed in variants:
        entries[place]["variant"] = _entry(installed)
    return json.dumps(entries)


def _print_results(
    original: Any, /, distributions: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    return original(_with_variants(distributions), *args, **kwargs)


def _with_variants(distributions: Iterable[Any]) -> Iterator[Any]:
    """Yield what is shown; when pip comes back for more, it has just printed one of them."""
    for shown in distributions:
        yield shown
        distribution = find_installed(shown.name)
        installed = None if distribution is None else read_installed(distribution)
        if installed is not None and installed.is_variant:
            _show(installed)


def _show(installed: Installed) -> None:
    from pipvariant.standard.properties import iter_properties

    write: Any = import_module("pip._internal.utils.misc").write_output
    write("Variant: %s", installed.label or f"unknown ({installed.problem})")
    properties = list(iter_properties(installed.properties))
    if properties:
        write("Variant-Properties:")
    for item in properties:
        write("  %s", item)


# Proofs: pip's own functions, given what pip makes of a variant.


def _prove_inspect(user: UserConstraints) -> bool:
    command: Any = import_module(INSPECT).InspectCommand
    installed = samples.distribution(user, variant=True)
    result = command._dist_to_dict(object.__new__(command), installed)
    return bool(result["variant"]["label"] == samples.NAME)


def _prove_list(user: UserConstraints) -> bool:
    options = SimpleNamespace(verbose=0, outdated=False)
    installed = samples.distribution(user, variant=True)
    (listed,) = json.loads(import_module(LIST).format_for_json([installed], options))
    return bool(listed["variant"]["label"] == samples.NAME)


def _prove_show(user: UserConstraints) -> bool:
    module: Any = import_module(SHOW)
    shown = module._PackageInfo(**dict.fromkeys(module._PackageInfo._fields, "1"))
    callers = []

    class Shown:
        def __iter__(self) -> Iterator[Any]:
            # It is this package, and not pip itself, that goes through what is shown.
            callers.append(sys._getframe(1).f_globals["__name__"])
            yield shown._replace(name=samples.NAME)

    # Some pips warn of what is damaged in an environment once, when it is first looked at.
    with aside(sys.modules[__name__], find_installed=lambda name: None):
        printed = module.print_results(Shown(), list_files=False, verbose=False)
    return bool(printed) and callers == [__name__]
