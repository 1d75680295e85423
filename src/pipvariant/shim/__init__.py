"""The shim: the only room that knows pip. Everything else is unaware of it.

:func:`apply` does what every command needs, which is next to nothing. Only when pip has
parsed the options of a command that looks at an index are the patches looked up, put on all
together, and proven by their effect; pip has done nothing until then.
"""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipvariant.shim.patches import Patches
    from pipvariant.shim.run import Run

__all__ = ["activate", "apply", "current_run", "run_pip", "undo"]

_applied: Patches | None = None
_run: Run | None = None


def apply(commands: Mapping[str, tuple[str, str, str]] | None = None) -> Run:
    """Make the pip of this process variant-aware.

    :param commands: further pip commands, name -> (module, class, summary).
    :returns: what this run knows; empty until a command is parsed.
    :raises UnsupportedPip: when this pip is not a known one; then nothing is changed.
    """
    from pipvariant.shim import builds
    from pipvariant.shim.patches import Patches
    from pipvariant.shim.pips import this_pip
    from pipvariant.shim.run import Run

    global _applied, _run  # noqa: PLW0603 - a process has one pip, so one set of patches
    undo()
    pip = this_pip()
    run = _run = Run()
    run.hand_on = functools.partial(builds.hand_on, run)
    _applied = patches = Patches(pip)
    patches.put(builds.patches(pip, run))
    registry: Any = import_module("pip._internal.commands")
    for name, described in (commands or {}).items():
        registry.commands_dict[name] = registry.CommandInfo(*described)
        patches.on_undo(functools.partial(registry.commands_dict.pop, name))
    create_command = registry.create_command

    def create_variant_command(name: str, **kwargs: Any) -> Any:
        from pipvariant.shim import options

        command = create_command(name, **kwargs)

        def step(values: Any) -> None:
            run.command = name
            if options.looks_at_an_index(name, values):
                options.configure(run, values)
                activate(run)
            elif name in options.READERS or options.lists_as_json(name, values):
                activate(run, only_reading=True)
            elif name == "uninstall" and values.requirements:
                from pipvariant.shim import wishes
                from pipvariant.shim.pips import this_pip

                # A file of requirements may have lines that are ours.
                patches.put(wishes.patches(this_pip(), run))
            elif name == "completion":
                from pipvariant.shim import completion

                patches.put(completion.patches())
            # Again for what the command itself has imported.
            gc.freeze()

        options.add_to(command)
        options.before_run(command, step)
        return command

    patches.replace(registry, "create_command", create_variant_command)
    # What is imported by now stays to the end: the collector need not look at it again, least
    # of all when the process ends, which makes up for the time that patching takes.
    gc.freeze()
    patches.on_undo(gc.unfreeze)
    return run


def undo() -> None:
    """Put back every object of pip that was replaced. Harmless when none was."""
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
    from pipvariant.shim.pips import entry_point, this_pip

    return entry_point(this_pip())(argv)


def activate(run: Run, *, only_reading: bool = False) -> None:
    """Put on the patches that a command needs, and prove each.

    :param run: what :func:`apply` returned, with the options of the command in it.
    :param only_reading: the command looks at no index, only at what is installed.
    :raises UnsupportedPip: when an object of pip is missing or has no effect; then none of
        these patches is on.
    """
    from pipvariant.shim import builds, dependencies
    from pipvariant.shim.pips import this_pip

    run.reduce = functools.partial(dependencies.reduce, run)
    rooms: tuple[Any, ...] = (dependencies,)
    listing: tuple[Any, ...] = ()
    if run.command in ("inspect", "list", "show"):
        listing = (import_module("pipvariant.shim.listing"),)
    if not only_reading:
        from pipvariant.shim import (
            choosing,
            filenames,
            installed,
            links,
            replacing,
            reports,
            selection,
            wheels,
            wishes,
        )

        run.order = functools.partial(choosing.order, run)
        run.order = functools.partial(installed.order, run, run.order)
        run.check = functools.partial(wheels.check, run)
        run.is_usable = functools.partial(wheels.is_usable, run)
        rooms = (filenames, wishes, dependencies, reports)
        if not run.no_variant:
            # What is installed is put among the files of pip, before these are grouped.
            rooms = (filenames, wishes, links, replacing, selection, wheels, dependencies, reports)
        if run.installs and not run.no_variant:
            from pipvariant.shim import keeping

            rooms = (*rooms, keeping)
        if run.builds:
            from pipvariant.shim import build_labels

            run.build_labels = build_labels.inherited()
            rooms = (*rooms, build_labels)
        if builds.WHEELS_ONLY in os.environ:
            from pipvariant.shim import wheels_only

            rooms = (*rooms, wheels_only)
        if run.lock_files:
            from pipvariant.shim import locks

            run.order = functools.partial(locks.order, run, run.order)
            run.choose = functools.partial(locks.choose, run)
            rooms = (*rooms, locks)
        if run.command == "wheel" and not run.no_variant:
            from pipvariant.shim import making

            rooms = (*rooms, making)
        if run.command == "lock":
            from pipvariant.shim import locking

            rooms = (*rooms, locking)
    pip = this_pip()
    if _applied is not None:
        run.put = _applied.put
        _applied.put(patch for room in (*rooms, *listing) for patch in room.patches(pip, run))
        if run.preferences is not None:
            from pipvariant.shim import families

            families.put(run)
