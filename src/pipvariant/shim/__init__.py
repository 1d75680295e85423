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
    from pipvariant.shim.core.patches import Patches
    from pipvariant.shim.core.state import Run

__all__ = ["activate", "apply", "current_run", "run_pip", "undo"]

_applied: Patches | None = None
_run: Run | None = None


def apply(commands: Mapping[str, tuple[str, str, str]] | None = None) -> Run:
    """Make the pip of this process variant-aware.

    :param commands: further pip commands, name -> (module, class, summary).
    :returns: what this run knows; empty until a command is parsed.
    :raises UnsupportedPip: when this pip is not a known one; then nothing is changed.
    """
    from pipvariant.shim.building import child_pip
    from pipvariant.shim.core.patches import Patches
    from pipvariant.shim.core.pip_versions import this_pip
    from pipvariant.shim.core.state import Run

    global _applied, _run  # noqa: PLW0603 - a process has one pip, so one set of patches
    undo()
    pip = this_pip()
    run = _run = Run()
    run.hand_on = functools.partial(child_pip.hand_on, run)
    _applied = patches = Patches(pip)
    patches.put(child_pip.patches(pip, run))
    registry: Any = import_module("pip._internal.commands")
    for name, described in (commands or {}).items():
        registry.commands_dict[name] = registry.CommandInfo(*described)
        patches.on_undo(functools.partial(registry.commands_dict.pop, name))
    create_command = registry.create_command

    def create_variant_command(name: str, **kwargs: Any) -> Any:
        from pipvariant.shim.options import parser

        command = create_command(name, **kwargs)

        def step(values: Any) -> None:
            run.command = name
            if parser.looks_at_an_index(name, values):
                parser.configure(run, values)
                activate(run)
            elif name in parser.READERS or parser.lists_as_json(name, values):
                activate(run, only_reading=True)
            elif name == "uninstall" and values.requirements:
                from pipvariant.shim.core.pip_versions import this_pip
                from pipvariant.shim.options import requirements_files

                # A file of requirements may have lines that are ours.
                patches.put(requirements_files.patches(this_pip(), run))
            elif name == "completion":
                from pipvariant.shim.options import completion

                patches.put(completion.patches())
            # Again for what the command itself has imported.
            gc.freeze()

        parser.add_to(command)
        parser.before_run(command, step)
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
    from pipvariant.shim.core.pip_versions import entry_point, this_pip

    return entry_point(this_pip())(argv)


def activate(run: Run, *, only_reading: bool = False) -> None:
    """Put on the patches that a command needs, and prove each.

    :param run: what :func:`apply` returned, with the options of the command in it.
    :param only_reading: the command looks at no index, only at what is installed.
    :raises UnsupportedPip: when an object of pip is missing or has no effect; then none of
        these patches is on.
    """
    from pipvariant.shim.building import child_pip
    from pipvariant.shim.core.pip_versions import this_pip
    from pipvariant.shim.resolving import dependencies

    run.reduce = functools.partial(dependencies.reduce, run)
    rooms: tuple[Any, ...] = (dependencies,)
    listing: tuple[Any, ...] = ()
    if run.command in ("inspect", "list", "show"):
        listing = (import_module("pipvariant.shim.reporting.installed_keys"),)
    if not only_reading:
        from pipvariant.shim.finding import filenames, installed, links
        from pipvariant.shim.installing import wheel_check
        from pipvariant.shim.options import requirements_files
        from pipvariant.shim.reporting import messages
        from pipvariant.shim.resolving import found_candidates, installed_candidate, selector

        run.order = functools.partial(selector.order, run)
        run.order = functools.partial(installed.order, run, run.order)
        run.check = functools.partial(wheel_check.check, run)
        run.is_usable = functools.partial(wheel_check.is_usable, run)
        rooms = (filenames, requirements_files, dependencies, messages)
        if not run.no_variant:
            # What is installed is put among the files of pip, before these are grouped.
            rooms = (
                filenames,
                requirements_files,
                links,
                installed_candidate,
                found_candidates,
                wheel_check,
                dependencies,
                messages,
            )
        if run.installs and not run.no_variant:
            from pipvariant.shim.installing import recorded_variants

            rooms = (*rooms, recorded_variants)
        if run.builds:
            from pipvariant.shim.building import build_requirements

            run.build_labels = build_requirements.inherited()
            rooms = (*rooms, build_requirements)
        if child_pip.WHEELS_ONLY in os.environ:
            from pipvariant.shim.building import only_wheels

            rooms = (*rooms, only_wheels)
        if run.lock_files:
            from pipvariant.shim.locking import read

            run.order = functools.partial(read.order, run, run.order)
            run.choose = functools.partial(read.choose, run)
            rooms = (*rooms, read)
        if run.command == "wheel" and not run.no_variant:
            from pipvariant.shim.building import label_built_wheel

            rooms = (*rooms, label_built_wheel)
        if run.command == "lock":
            from pipvariant.shim.locking import write

            rooms = (*rooms, write)
    pip = this_pip()
    if _applied is not None:
        run.put = _applied.put
        _applied.put(patch for room in (*rooms, *listing) for patch in room.patches(pip, run))
        if run.preferences is not None:
            from pipvariant.shim.resolving import same_variant

            same_variant.put(run)
