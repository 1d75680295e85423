"""Options: what ``pip-variant`` adds to every command that looks at an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from optparse import OptionGroup
from typing import Any

from pipvariant.errors import InvalidOption
from pipvariant.shim.building.child_pip import LABELS
from pipvariant.shim.core.state import Run

__all__ = [
    "READERS",
    "add_to",
    "before_run",
    "configure",
    "configure_target",
    "lists_as_json",
    "looks_at_an_index",
]


#: Commands that read what installed projects require.
READERS = ("check", "inspect", "show")


def add_to(command: Any) -> None:
    """Add the options to a pip command, if it is one that can look at an index.

    pip's parser reads them from the command line, from ``pip.conf`` and from ``PIP_*``.
    """
    if command.parser.has_option("--index-url"):
        from pipvariant.shim.options.definitions import CHOOSING, TARGET, add_named

        group = OptionGroup(command.parser, "Wheel Variant Options")
        names = [*CHOOSING, *TARGET]
        if command.parser.has_option("--upgrade"):
            names.append("--upgrade-variant")
        if command.name == "lock":
            names.append("--all-variants")
        known = dict(command.parser._long_opt)
        add_named(group, names)
        command.parser.add_option_group(group)
        _prefer_known(command.parser, known)


def _prefer_known(parser: Any, known: dict[str, Any]) -> None:
    """Let what is short for an option of pip stay so, whatever else it is short for now."""
    match_long_opt = parser._match_long_opt

    def match(text: str) -> str:
        if text not in parser._long_opt:
            found = [name for name in known if name.startswith(text)]
            if len(found) == 1:
                return str(found[0])
        return str(match_long_opt(text))

    parser._match_long_opt = match


def before_run(command: Any, step: Callable[[Any], None]) -> None:
    """Let a step run when the options of a command are parsed, before it does anything."""
    parse_args = command.parse_args

    def parse_then_step(args: list[str]) -> Any:
        options, rest = parse_args(args)
        step(options)
        return options, rest

    command.parse_args = parse_then_step


def looks_at_an_index(command: str, options: Any) -> bool:
    """Say whether a command with these options will ask an index for files."""
    if command == "list":
        return bool(options.outdated or options.uptodate)
    return hasattr(options, "no_variant")


def lists_as_json(command: str, options: Any) -> bool:
    """Say whether a command lists what is installed for programs to read."""
    return command == "list" and options.list_format == "json"


def configure(run: Run, options: Any) -> None:
    """Write the options of a command into the run."""
    from pipvariant.shim.options import requirements_files

    run.no_variant = bool(options.no_variant)
    configure_target(run, options)
    run.foreign = _is_foreign(options)
    deprecated = getattr(options, "deprecated_features_enabled", None) or ()
    run.legacy_resolver = "legacy-resolver" in deprecated
    run.installs = run.command == "install" and not getattr(options, "dry_run", False)
    run.ignores_dependencies = bool(getattr(options, "ignore_dependencies", False))
    run.ignores_installed = any(
        getattr(options, name, None) for name in ("ignore_installed", "target_dir")
    )
    run.report = bool(getattr(options, "json_report_file", None))
    run.upgrade_variant = bool(getattr(options, "upgrade_variant", False)) and not run.no_variant
    run.upgrade_dependencies = getattr(options, "upgrade_strategy", None) == "eager"
    if run.upgrade_variant and run.legacy_resolver:
        raise InvalidOption(
            "--upgrade-variant is not possible with --use-deprecated=legacy-resolver",
            remedy="Leave one of them out, or name the package with --force-reinstall.",
        )
    requirements_files.configure(run, options)
    features = getattr(options, "features_enabled", None) or ()
    in_process = "inprocess-build-deps" in features or LABELS in os.environ
    run.builds = in_process and not run.no_variant
    run.all_variants = bool(getattr(options, "all_variants", False))
    run.lock_files = _has_lock_files(options)
    # A pip that builds in a child process gets its options from the environment only.
    if run.no_variant:
        os.environ["PIP_NO_VARIANT"] = "1"
    for variable, words in (
        ("PIP_ENABLE_PROVIDER", run.enabled),
        ("PIP_DISABLE_PROVIDER", run.disabled),
        ("PIP_TRUST_PROVIDER", run.trusted),
    ):
        if words:
            os.environ[variable] = " ".join(words)
    if run.target_file is not None:
        os.environ["PIP_VARIANT_TARGET"] = os.path.abspath(run.target_file)
        # A file that states nonsense ends the run before anything is fetched.
        if not run.no_variant:
            run.target  # noqa: B018  # making it reads the file


def configure_target(run: Run, options: Any) -> None:
    """Write into the run what the options say about the machine that is installed for."""
    run.options = options
    run.enabled = tuple(options.enable_provider)
    run.disabled = tuple(options.disable_provider)
    run.trusted = tuple(options.trust_provider)
    run.target_file = options.variant_target
    run.refresh_platform = bool(options.refresh_platform)
    if run.trusted:
        from pipvariant.providers.plugins import parse_trust

        # A word that is none is refused before anything is done.
        parse_trust(run.trusted)


def _has_lock_files(options: Any) -> bool:
    """Say whether requirements may come from a ``pylock.toml``; pip looks at the name too."""
    groups = (path for path, _ in getattr(options, "dependency_groups", None) or ())
    sources = (*(getattr(options, "requirements", None) or ()), *groups)
    return any("pylock." in str(source) for source in sources)


def _is_foreign(options: Any) -> bool:
    """Say whether the files are for another machine than the one that pip runs on."""
    if any(getattr(options, name, None) for name in ("platforms", "abis", "implementation")):
        return True
    wanted = tuple(getattr(options, "python_version", None) or ())
    return wanted != sys.version_info[: len(wanted)]
