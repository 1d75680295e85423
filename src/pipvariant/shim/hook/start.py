# ruff: noqa: I002, UP - it is read by whatever Python is there, older ones too
"""Make the pip of this environment variant-aware, now that it starts.

``pip-variant variant hook install`` copies this file into an environment. The path file beside the
copy waits for pip to start, and imports it then. No error of pip-variant may stop pip.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

    from _typeshed.importlib import MetaPathFinderProtocol as Finder

    Entry = Callable[[list[str] | None], int]
    Run = Callable[[Entry, list[str] | None, bool], int]

#: What each way to call pip imports, and what of pip-tools uses pip's modules without it.
ENTRIES = ("pip._internal.cli.main", "piptools.repositories.pypi", "piptools.sync")
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


class PipVariantHook:
    """Waits for the entries, as the path file does with a class of the same name."""

    def find_spec(
        self, fullname: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Find nothing but the entries."""
        return find(self, fullname) if fullname in ENTRIES else None


def watch() -> None:
    """Wait for the entries: Python 3.15 calls this when it starts, in place of the path file."""
    if PipVariantHook.__name__ not in str(sys.meta_path):
        sys.meta_path.insert(0, PipVariantHook())


def find(hook: "Finder", name: str) -> "ModuleSpec | None":
    """Find one of the entries, and change what is in it when it is imported.

    :param hook: what was asked for it; the others are asked now.
    """
    # A virtual environment can see the packages of another one, with the hook of that one.
    if sys.prefix != sys.base_prefix and not __file__.startswith(sys.prefix + os.sep):
        return None
    from importlib.util import find_spec

    sys.meta_path.remove(hook)
    try:
        spec = find_spec(name)
    finally:
        sys.meta_path.insert(0, hook)
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
        # A console script and `python -m pip` end with it, other programs may go on.
        ends = sys._getframe(1).f_globals.get("__name__") == "__main__"
        return original(args) if _is_off() else _start()(original, args, ends)

    return main


def _is_off() -> bool:
    return os.environ.get(SWITCH, "").lower() in OFF


def _look_elsewhere() -> None:
    if PLACES and _ELSEWHERE not in sys.meta_path:
        sys.meta_path.insert(0, _ELSEWHERE)


def _start() -> "Run":
    try:
        _look_elsewhere()
        from pipvariant.cli import start

        return start(_fall_back)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it is, pip goes on
        _fall_back(error)
        return _plain


def _plain(original: "Entry", args: "list[str] | None", ends: bool) -> int:
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
