"""The entry point: put the shim on, hand the arguments to pip."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from pipvariant import shim
from pipvariant.errors import PipVariantError

if TYPE_CHECKING:
    Args = list[str] | None
    Entry = Callable[[Args], int]

#: pip imports a command by these words when it is asked for, and not before.
COMMANDS = {
    "variant": (
        "pipvariant.commands.variant",
        "VariantCommand",
        "Explain choices; make and publish variant wheels.",
    )
}


def main(argv: list[str] | None = None) -> int:
    """Run pip, made aware of variant wheels, in this process.

    :param argv: what stands behind ``pip-variant``; the process's own arguments by default.
    :returns: pip's exit code; 1 when this pip cannot be patched or an override is wrong.
    """
    try:
        argv = sys.argv[1:] if argv is None else argv
        _apply()
        if not shim.is_command(argv[:1]):
            shim.patch_entry(_suggest)
        return shim.run_pip(argv)
    except PipVariantError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1


def start(fall_back: Callable[[BaseException], None]) -> Callable[[Entry, Args, bool], int]:
    """Make pip variant-aware that was called itself, in an environment with the hook.

    The hook may be that of another release. When this takes or returns something else it needs
    another name, which an older hook does not find.

    :param fall_back: told of an error before pip does anything, after which pip goes on as it is.
    :returns: what runs pip's main function, and is told whether the process ends with it.
    :raises PipVariantError: this pip-variant is broken, or the pip is no known one.
    """
    from pipvariant.shim.hook import intact

    if shim.is_on() and shim.current_run().fall_back is None:
        # It is pip-variant that runs this pip.
        return lambda entry, args, _ends: entry(args)
    intact.check()
    _apply(fall_back)
    return _run_entry


def prepare(tool: ModuleType, fall_back: Callable[[BaseException], None]) -> None:
    """Make a tool variant-aware that uses modules of pip, in an environment with the hook.

    :param tool: the module of it that was imported.
    :param fall_back: see `start`.
    """
    from pipvariant.shim.hook import pip_tools

    def start_all() -> None:
        start(fall_back)
        shim.current_run().lists_all_files = True

    pip_tools.prepare(tool, start_all, fall_back)


def _run_entry(entry: Entry, args: Args, ends: bool) -> int:  # noqa: FBT001 - see start
    try:
        return entry(args)
    except PipVariantError as error:
        sys.stderr.write(f"ERROR: {error}\n")
        return 1
    finally:
        if not ends:
            shim.undo()


def _apply(fall_back: Callable[[BaseException], None] | None = None) -> None:
    shim.apply(COMMANDS, fall_back).label_built = _label_built
    if "PIP_AUTO_COMPLETE" in os.environ:
        _complete()


def _complete() -> None:
    # A shell asks what can be typed next; pip answers that from its commands.
    from pipvariant.commands.variant import COMPLETED, WITH_FILES
    from pipvariant.shim.options import completion

    completion.narrow("variant", COMPLETED, WITH_FILES)


def _suggest(word: str) -> str:
    from pipvariant.commands.variant import SUB_COMMANDS

    return f"variant {word}" if word in SUB_COMMANDS else ""


def _label_built(wheel: str, source: str, label: str, folder: str) -> str:
    # What makes wheels lies above the shim, and is imported when there is one to make.
    from pipvariant.commands.make import label_built

    return label_built(wheel, source, label, folder)
