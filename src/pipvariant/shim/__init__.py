"""The shim: the only package that patches pip.

:func:`apply` does what every command needs, which is next to nothing. Only when pip has
parsed the options of a command that looks at an index are the patches looked up, put on all
together, and proven by their effect; pip has done nothing until then.
"""

from __future__ import annotations

import atexit
import functools
import gc
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipvariant.shim.core.patches import Patches
    from pipvariant.shim.run import Run

_applied: Patches | None = None
_run: Run | None = None


#: Modules that copy pip's `create_command`; they may be there before it is replaced.
_COPIES = (
    "pip._internal.cli.autocompletion",
    "pip._internal.cli.main",
    "piptools.repositories.pypi",
)


def apply(
    commands: Mapping[str, tuple[str, str, str]] | None = None,
    fall_back: Callable[[BaseException], None] | None = None,
) -> Run:
    """Make the pip of this process variant-aware.

    :param commands: further pip commands, name -> (module, class, summary).
    :param fall_back: told of an error of the shim itself while a command is started, when all is
        undone; plain pip goes on then. A pip that is newer than the known ones is refused then.
    :returns: what this run knows; empty until a command is parsed.
    :raises UnsupportedPip: when this pip is not a known one; then nothing is changed.
    """
    from pipvariant.shim.core.patches import Patches
    from pipvariant.shim.core.pip_versions import as_expected, this_pip, unsupported
    from pipvariant.shim.core.state import restore_variables
    from pipvariant.shim.run import Run

    global _applied, _run  # noqa: PLW0603 - a process has one pip, so one set of patches
    undo()
    pip = this_pip()
    if pip.is_newer and fall_back is not None:
        raise unsupported(pip.text, "is newer than those that it was tested with")
    _applied = patches = Patches(pip)
    patches.on_undo(restore_variables)
    _run = run = Run(pip, patches)
    if fall_back is not None:
        run.fall_back = functools.partial(_undo_and, fall_back)
    try:
        with as_expected(pip):
            _patch_commands(run, patches, commands or {})
    except Exception:
        undo()
        raise
    return run


def _undo_and(fall_back: Callable[[BaseException], None], error: BaseException) -> None:
    undo()
    fall_back(error)


def _patch_commands(
    run: Run, patches: Patches, commands: Mapping[str, tuple[str, str, str]]
) -> None:
    """Let pip know further commands, and let each command be seen when it is made."""
    from pipvariant.shim.building import child_pip
    from pipvariant.shim.core.pip_versions import as_expected

    pip = run.pip
    patches.put(child_pip.patches(pip, child_pip.HandOn(run.hand_on)))
    registry: Any = import_module("pip._internal.commands")
    for name, described in commands.items():
        registry.commands_dict[name] = registry.CommandInfo(*described)
        patches.on_undo(functools.partial(registry.commands_dict.pop, name))
    create_command = registry.create_command

    def create_variant_command(name: str, **kwargs: Any) -> Any:
        from pipvariant.shim.options import parser

        command = create_command(name, **kwargs)
        with run.falling_back(), as_expected(pip):
            parser.add_to(command)
            parser.before_run(command, functools.partial(run.start, name), run.warnings)
        return command

    copies = (sys.modules[name] for name in _COPIES if name in sys.modules)
    for module in (registry, *copies):
        if vars(module).get("create_command") is create_command:
            patches.replace(module, "create_command", create_variant_command)
    # What is imported by now stays to the end: the collector need not look at it again.
    gc.freeze()
    patches.on_undo(gc.unfreeze)
    # Nor at anything when the process ends, which makes up for the time that patching takes.
    atexit.register(gc.freeze)
    patches.on_undo(functools.partial(atexit.unregister, gc.freeze))
    # Nor is there anything to collect until the command starts.
    gc.disable()
    patches.on_undo(gc.enable)


def patch_entry(suggest: Callable[[str], str]) -> None:
    """Let pip's ``--version`` name both programs, and hint at words that are not pip's.

    :param suggest: takes a word that is no command, returns the words to type, or nothing.
    :raises UnsupportedPip: when this pip answers in another way.
    """
    from pipvariant.shim.options import entry

    if _applied is not None:
        _applied.put(entry.patches(entry.Hints(suggest)))


def is_command(words: list[str]) -> bool:
    """Say whether the first of these words is a command; without one there is none."""
    registry: Any = import_module("pip._internal.commands")
    return bool(words) and words[0] in registry.commands_dict


def is_on() -> bool:
    """Say whether the pip of this process is variant-aware."""
    return _applied is not None


def undo() -> None:
    """Put back every object of pip that was replaced, and every variable that was set."""
    global _applied  # noqa: PLW0603 - see apply
    if _applied is not None:
        _applied.undo()
        _applied = None


def current_run() -> Run:
    """Return what :func:`apply` returned last, for a command that is run by pip.

    :raises RuntimeError: when the shim is not on.
    """
    if _run is None:
        raise RuntimeError("the shim is not on")
    return _run


def run_pip(argv: list[str]) -> int:
    """Run pip's own main function in this process and return its exit code."""
    from pipvariant.shim.core.pip_versions import as_expected, entry_point, this_pip

    pip = this_pip()
    with as_expected(pip):
        main = entry_point(pip)
    return main(argv)
