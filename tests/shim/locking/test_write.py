"""What is written into a lock file, and the patches of a command that writes one."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from pipvariant import shim
from pipvariant.selection.model import Judgement
from pipvariant.shim.core.patches import Patches
from pipvariant.shim.core.state import CommandOptions
from pipvariant.shim.locking.write import LockWriter
from pipvariant.shim.parts import Parts
from pipvariant.shim.run import Run
from pipvariant.standard.metadata import from_dict
from pipvariant.standard.ranking import Ranking
from tests.shim.finder import Start, make_parts
from tests.shim.locking.locks import PIP, TABLE, make_table, writes
from tests.shim.proofs import proven

OPTIONS: dict[str, Any] = {"command": "lock", "all_variants": True, "lock_files": True}


def _writer(parts: Parts) -> LockWriter:
    return LockWriter(CommandOptions(), parts.index, parts.metadata, parts.decisions)


def _entry(name: str = "tri-1.0-py3-none-any-y.whl") -> dict[str, Any]:
    return {"name": "tri", "version": "1.0", "wheels": [{"name": name, "url": "https://f/"}]}


def test_the_table_has_the_labels_that_are_listed() -> None:
    parts, document = (
        make_parts(),
        {"packages": [_entry(), _entry("tri-1.0-py3-none-any-null.whl")]},
    )
    metadata = from_dict(make_table({"x": ["a"], "y": ["b"]}))
    for package in document["packages"]:
        name = package["wheels"][0]["name"]
        parts.decisions.judgements[name] = Judgement(metadata, Ranking((), ()), {}, {})
    assert _writer(parts).extend(document)
    first, second = document["packages"]
    assert first[TABLE] == make_table({"y": ["b"]})
    assert second[TABLE] == make_table({"null": []})


def test_nothing_is_written_where_no_label_is_listed() -> None:
    document = {"packages": [_entry("tri-1.0-py3-none-any.whl"), {"name": "here", "directory": {}}]}
    before = json.dumps(document)
    assert not _writer(make_parts()).extend(document)
    assert json.dumps(document) == before


# The patches.


def _raw(target: str) -> Any:
    module, _, path = target.partition(":")
    *classes, name = path.split(".")
    owner: Any = import_module(module)
    for attribute in classes:
        owner = getattr(owner, attribute)
    return vars(owner)[name]


@writes
def test_undo_restores_every_object_and_then_nothing_is_proven(start: Start) -> None:
    off = Run(PIP, Patches(PIP))
    off.options = CommandOptions(**OPTIONS)
    targets = [patch.target for patch in off.patches()]
    before = [_raw(target) for target in targets]
    patches = [*start(**OPTIONS).patches()]
    assert all(_raw(target) is not old for target, old in zip(targets, before))
    shim.undo()
    assert all(_raw(target) is old for target, old in zip(targets, before))
    assert proven(patches) == []


@writes
def test_proofs_leave_nothing_behind(start: Start) -> None:
    run = start(**OPTIONS)
    for state in (run.user, *run.parts.states()):
        assert {name: vars(state)[name] for name in state.empty()} == state.empty()
