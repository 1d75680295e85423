# ruff: noqa: I002, UP - it is read by whatever Python is there, older ones too
"""Make the pip of this environment variant-aware, now that it starts.

A copy of this file is where that of `watch.py` is. No error of pip-variant may stop pip.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    Entry = Callable[[list[str] | None], int]
    Start = Callable[[Entry, list[str] | None], int]

#: Package -> folder, of what pip-variant needs, where it is not installed in this environment.
PLACES: "dict[str, str]" = {}
#: This variable with one of these values leaves pip as it is.
SWITCH = "PIP_VARIANT_HOOK"
OFF = ("0", "false", "n", "no", "off")


class _Elsewhere:
    """Finds what pip-variant needs at its places."""

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if fullname not in PLACES:
            return None
        from importlib.machinery import PathFinder

        return PathFinder.find_spec(fullname, [PLACES[fullname]], target)


_ELSEWHERE = _Elsewhere()


def entry(name: str) -> "ModuleSpec | None":
    """Find a module that pip, or a tool that uses pip, starts with, and change what is in it.

    :param name: its name.
    """
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is not None and spec.loader is not None:
        _wrap(spec.loader)
    return spec


def _wrap(loader: object) -> None:
    exec_module = loader.exec_module  # type: ignore[attr-defined]  # every loader of a file

    def exec_and_replace(module: "ModuleType") -> None:
        exec_module(module)
        if not module.__name__.startswith("pip."):
            _prepare(module)
            return
        # Up to 26.2 it has `main` only.
        for name in ("cli", "main"):
            if name in vars(module):
                setattr(module, name, _with_variants(vars(module)[name]))

    loader.exec_module = exec_and_replace  # type: ignore[attr-defined]  # see above


def _prepare(tool: "ModuleType") -> None:
    if _is_off():
        return
    try:
        _look_elsewhere()
        from pipvariant.cli import prepare

        prepare(tool, _fall_back)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, pip goes on
        _fall_back(error)


def _with_variants(original: "Entry") -> "Entry":
    def main(args: "list[str] | None" = None) -> int:
        return original(args) if _is_off() else _start()(original, args)

    return main


def _is_off() -> bool:
    return os.environ.get(SWITCH, "").lower() in OFF


def _look_elsewhere() -> None:
    if PLACES and _ELSEWHERE not in sys.meta_path:
        sys.meta_path.insert(0, _ELSEWHERE)


def _start() -> "Start":
    try:
        _look_elsewhere()
        from pipvariant.cli import start

        return start(_fall_back)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, pip goes on
        _fall_back(error)
        return _plain


def _plain(original: "Entry", args: "list[str] | None") -> int:
    return original(args)


def _fall_back(error: BaseException) -> None:
    """Say once why this is plain pip."""
    if _ELSEWHERE in sys.meta_path:
        sys.meta_path.remove(_ELSEWHERE)
    # What pip starts does not say it again.
    os.environ[SWITCH] = "0"
    what = getattr(error, "what", "") or f"{type(error).__name__}: {error}"
    text = "WARNING: this is plain pip, without variant wheels: {}. See `pip-variant variant hook"
    text += " status`; {}=0 leaves this line out.\n"
    try:  # noqa: SIM105 - nothing else is imported before pip starts
        sys.stderr.write(text.format(" ".join(what.split()).rstrip("."), SWITCH))
    except (AttributeError, OSError, ValueError):
        # Nobody reads it.
        pass
