"""What a command needs is patched and proven, and comes off without a trace."""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.shim.building import child_pip
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding import filenames, links
from pipvariant.shim.installing import wheel_check
from pipvariant.shim.reporting import messages
from pipvariant.shim.resolving import dependencies, found_candidates
from tests.shim.proofs import proven


def _targets(*, legacy: bool = False) -> list[str]:
    run = Run()
    run.report = run.installs = True
    run.legacy_resolver = legacy
    pip = this_pip()
    rooms = (filenames, links, found_candidates, wheel_check, dependencies, messages)
    found = [patch.target for room in rooms for patch in room.patches(pip, run)]
    return [*found, *(patch.target for patch in child_pip.patches(pip, run))]


def _raw(target: str) -> Any:
    module, _, path = target.partition(":")
    *classes, name = path.split(".")
    owner: Any = import_module(module)
    for attribute in classes:
        owner = getattr(owner, attribute)
    return vars(owner)[name]


@pytest.mark.parametrize("legacy", (False, True))
def test_undo_restores_every_object(legacy: bool) -> None:
    commands = import_module("pip._internal.commands")
    targets = _targets(legacy=legacy)
    before = [_raw(target) for target in targets]
    create_command, names = commands.create_command, dict(commands.commands_dict)
    run = shim.apply(commands={"variant": ("module", "Class", "summary")})
    run.report = run.installs = True
    run.legacy_resolver = legacy
    shim.activate(run)
    changed = [_raw(target) for target in targets]
    assert all(new is not old for new, old in zip(changed, before))
    assert "variant" in commands.commands_dict
    shim.undo()
    assert all(_raw(target) is old for target, old in zip(targets, before))
    assert commands.create_command is create_command
    assert commands.commands_dict == names


def test_undo_gives_back_to_the_collector_what_was_set_aside() -> None:
    shim.apply()
    command = import_module("pip._internal.commands").create_command("config")
    command.parse_args(["list"])
    assert gc.get_freeze_count() > 0
    shim.undo()
    assert gc.get_freeze_count() == 0


def test_applying_twice_patches_once(run: Run) -> None:
    shim.activate(shim.apply())
    shim.undo()
    wheel = import_module("pip._internal.models.wheel").Wheel
    assert wheel.__init__.__module__ == "pip._internal.models.wheel"


@pytest.mark.parametrize("command", ("download", "install", "list", "lock", "wheel"))
@pytest.mark.parametrize(
    "options",
    (
        {},
        {"no_variant": True},
        {
            "no_variant": True,
            "all_variants": True,
            "lock_files": this_pip().reads_locks,
            "builds": True,
        },
        {"all_variants": True, "lock_files": this_pip().reads_locks, "builds": True},
    ),
    ids=lambda options: ",".join(options) or "none",
)
def test_every_proof_holds_whatever_the_options_are(command: str, options: dict[str, Any]) -> None:
    if command not in import_module("pip._internal.commands").commands_dict:
        pytest.skip("`lock` is new in pip 25.1")
    run = shim.apply()
    vars(run).update(options, command=command, installs=command == "install", report=True)
    shim.activate(run)


def test_every_proof_fails_when_its_patch_is_not_there() -> None:
    run = shim.apply()
    run.report = run.installs = True
    shim.activate(run)
    pip = this_pip()
    rooms = (filenames, links, found_candidates, wheel_check, dependencies, messages)
    patches = [patch for room in rooms for patch in room.patches(pip, run)]
    shim.undo()
    assert proven(patches) == []
