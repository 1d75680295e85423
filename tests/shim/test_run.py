"""What a command needs is patched and proven, and comes off without a trace."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.shim.building import child_pip
from pipvariant.shim.core import samples
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import CommandOptions
from pipvariant.shim.run import Run
from tests.shim.finder import Start
from tests.shim.proofs import proven


def _targets(run: Run) -> list[str]:
    hand_on = child_pip.HandOn(run.hand_on)
    found = [*run.patches(), *child_pip.patches(this_pip(), hand_on)]
    return [patch.target for patch in found]


def _raw(target: str) -> Any:
    module, _, path = target.partition(":")
    *classes, name = path.split(".")
    owner: Any = import_module(module)
    for attribute in classes:
        owner = getattr(owner, attribute)
    return vars(owner)[name]


@pytest.mark.parametrize("legacy", (False, True))
def test_undo_restores_every_object(start: Start, legacy: bool) -> None:
    commands = import_module("pip._internal.commands")
    before = dict(commands.commands_dict), commands.create_command
    options = {"command": "install", "report": True, "installs": True, "legacy_resolver": legacy}
    targets = _targets(start(**options))
    shim.undo()
    originals = [_raw(target) for target in targets]
    run = shim.apply(commands={"variant": ("module", "Class", "summary")})
    run.options = CommandOptions(**options)  # type: ignore[arg-type]  # by name
    run.activate()
    assert all(_raw(target) is not old for target, old in zip(targets, originals))
    assert "variant" in commands.commands_dict
    shim.undo()
    assert all(_raw(target) is old for target, old in zip(targets, originals))
    assert (commands.commands_dict, commands.create_command) == before


def test_undo_gives_back_to_the_collector_what_was_set_aside() -> None:
    shim.apply()
    command = import_module("pip._internal.commands").create_command("config")
    assert not gc.isenabled()
    command.parse_args(["list"])
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0
    shim.undo()
    assert gc.get_freeze_count() == 0


def test_undo_turns_the_collector_on_where_no_command_did() -> None:
    shim.apply()
    shim.undo()
    assert gc.isenabled()


@pytest.mark.parametrize(
    "options",
    (
        ("--no-variant",),
        ("--enable-provider", "a", "--disable-provider", "b", "--trust-provider", "c==1"),
        ("--variant-target", "target.toml", "--variant", "proof=label"),
    ),
)
def test_undo_gives_each_variable_its_value_back(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "target.toml").write_text("format = 1\n")
    monkeypatch.setenv("PIP_TRUST_PROVIDER", "before==1")
    before = dict(os.environ)
    run = shim.apply()
    command = import_module("pip._internal.commands").create_command("install")
    command.parse_args([*options, samples.NAME])
    child_pip.HandOn(run.hand_on).hand_on()
    assert dict(os.environ) != before
    shim.undo()
    assert dict(os.environ) == before


def test_applying_twice_patches_once(run: Run) -> None:
    shim.apply().activate()
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
def test_every_proof_holds_whatever_the_options_are(
    start: Start, command: str, options: dict[str, Any]
) -> None:
    if command not in import_module("pip._internal.commands").commands_dict:
        pytest.skip("`lock` is new in pip 25.1")
    start(command=command, installs=command == "install", report=True, **options)


def test_every_proof_fails_when_its_patch_is_not_there(start: Start) -> None:
    run = start(command="install", report=True, installs=True)
    patches = list(run.patches())
    shim.undo()
    assert proven(patches) == []
