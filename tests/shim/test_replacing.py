"""The resolver: which projects may give way, what is named, and the patches that do it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.errors import InvalidOption
from pipvariant.shim.core.patches import Patches
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.installed import Installed
from pipvariant.shim.options import parser
from pipvariant.shim.resolving import installed_candidate
from tests.shim.proofs import proven


class Distribution:
    """An installed project, as pip shows it: files of its .dist-info by name."""

    raw_name, version, editable = "Lib", "1.0", False
    canonical_name = "lib"

    def __init__(self, files: Mapping[str, str | Exception]) -> None:
        self._files = files

    def read_text(self, path: str) -> str:
        content = self._files.get(path, FileNotFoundError(path))
        if isinstance(content, Exception):
            raise content
        return content


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A run of `install --upgrade-variant` with everything patched."""
    made = shim.apply()
    made.command, made.upgrade_variant = "install", True
    try:
        shim.activate(made)
        yield made
    finally:
        shim.undo()


# Which projects may give way.


def _replaceable(run: Run, **how: Any) -> bool:
    files = how.pop("files", {})
    candidate = SimpleNamespace(
        **{
            "project_name": "lib",
            "version": "1.0",
            "is_editable": False,
            "dist": Distribution(files),
            **how,
        }
    )
    return installed_candidate._is_replaceable(run, candidate)


def test_only_projects_that_the_user_named_may_give_way(run: Run) -> None:
    assert not _replaceable(run)
    run.named = frozenset({"lib"})
    assert _replaceable(run)
    assert run.replaceable["lib", "1.0"] == Installed("Lib", "1.0")


def test_with_the_eager_strategy_dependencies_may_give_way(run: Run) -> None:
    run.upgrade_dependencies = True
    assert _replaceable(run)


def test_a_candidate_with_extras_is_read_from_the_one_without(run: Run) -> None:
    run.named = frozenset({"lib"})
    base = SimpleNamespace(dist=Distribution({}))
    assert _replaceable(run, base=base, dist=None)


@pytest.mark.parametrize(
    ("direct_url", "may"),
    (
        ({"url": "file:///lib", "dir_info": {}}, False),
        ({"url": "https://x.invalid/lib", "vcs_info": {"vcs": "git", "commit_id": "0"}}, False),
        ({"url": "file:///lib.whl", "archive_info": {}}, True),
    ),
)
def test_what_was_built_from_a_folder_or_repository_stays(
    run: Run, direct_url: dict[str, Any], may: bool
) -> None:
    run.named = frozenset({"lib"})
    assert _replaceable(run, files={"direct_url.json": json.dumps(direct_url)}) is may


@pytest.mark.parametrize("broken", ("{", "[]", "1", '"dir_info"'))
def test_a_broken_direct_url_says_nothing(run: Run, broken: str) -> None:
    run.named = frozenset({"lib"})
    assert _replaceable(run, files={"direct_url.json": broken})


def test_an_editable_install_stays(run: Run) -> None:
    run.named = frozenset({"lib"})
    assert not _replaceable(run, is_editable=True)


# The patches.


def test_other_commands_are_not_patched() -> None:
    run = Run()
    run.command = "download"
    assert installed_candidate.patches(this_pip(), run) == []


def test_with_the_legacy_resolver_nothing_is_replaced() -> None:
    run = Run()
    run.command = "install"
    assert len(installed_candidate.patches(this_pip(), run)) == 3
    run.legacy_resolver = True
    (only,) = installed_candidate.patches(this_pip(), run)
    assert only.target.endswith("legacy.resolver:Resolver.resolve")


@pytest.mark.parametrize("legacy", (False, True))
def test_the_resolver_is_proven_without_any_other_patch(legacy: bool) -> None:
    run = Run()
    run.command, run.legacy_resolver = "install", legacy
    run.order = lambda finder, candidates, hashes: []
    patches = Patches(this_pip())
    patches.put(installed_candidate.patches(this_pip(), run))
    assert run.named == frozenset()
    patches.undo()


def test_what_a_build_requires_is_resolved_on_its_own() -> None:
    run = Run()
    seen: list[Any] = []
    canonical = import_module("pip._vendor.packaging.utils").canonicalize_name

    def state() -> Any:
        return run.named, dict(run.replaceable), dict(run.replacing)

    class Resolver:
        _result = SimpleNamespace(mapping={})

    def resolve(self: Any, root_reqs: list[Any]) -> Any:
        seen.append(state())
        if canonical(root_reqs[0].name) == "lib":
            run.replaceable["lib", "1.0"] = run.replacing["url"] = Installed("lib", "1.0")
            outer = state()
            resolver(Resolver(), [_named("backend")])
            assert state() == outer
        return SimpleNamespace(requirements={})

    resolver = installed_candidate._resolve(run, resolve)
    resolver(Resolver(), [_named("Lib"), _named("limit", constraint=True)])
    assert seen == [(frozenset({"lib"}), {}, {}), (frozenset({"backend"}), {}, {})]
    assert state() == (frozenset(), {}, {})


def _named(name: str, *, constraint: bool = False) -> Any:
    return SimpleNamespace(name=name, user_supplied=True, constraint=constraint)


def test_every_proof_fails_when_its_patch_is_not_there() -> None:
    run = Run()
    run.command, run.upgrade_variant = "install", True
    run.order = lambda finder, candidates, hashes: []
    assert proven(installed_candidate.patches(this_pip(), run)) == []


def test_the_proofs_leave_nothing_behind(run: Run) -> None:
    assert run.named == frozenset()
    assert run.replaceable == {}
    assert run.replacing == {}
    assert isinstance(run.order, functools.partial)


def test_two_rooms_that_patch_one_object_both_have_effect_and_undo_restores_it() -> None:
    found = import_module(installed_candidate.FOUND).FoundCandidates
    before = vars(found)["__init__"]
    made = shim.apply()
    made.command, made.upgrade_variant = "install", True
    shim.activate(made)
    names = [vars(found)["__init__"].__module__]
    assert names == ["pipvariant.shim.resolving.found_candidates"]
    shim.undo()
    assert vars(found)["__init__"] is before


def test_the_option_and_the_legacy_resolver_exclude_each_other() -> None:
    values = SimpleNamespace(
        no_variant=False,
        enable_provider=[],
        disable_provider=[],
        trust_provider=[],
        variant_target=None,
        refresh_platform=False,
        upgrade_variant=True,
        deprecated_features_enabled=["legacy-resolver"],
    )
    with pytest.raises(InvalidOption, match="--upgrade-variant is not possible with"):
        parser.configure(Run(), values)
