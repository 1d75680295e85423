"""The resolver: which projects may give way, what is named, and the patches that do it."""

from __future__ import annotations

import functools
import json
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.errors import InvalidOption
from pipvariant.selection.installed import Installed
from pipvariant.shim.core.patches import Patch, Patches
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import CommandOptions, UserConstraints
from pipvariant.shim.options import parser
from pipvariant.shim.parts import Parts
from pipvariant.shim.resolving import installed_candidate, kept_variants
from pipvariant.shim.resolving.installed_candidate import InstalledOrder, Replacements
from pipvariant.shim.resolving.kept_variants import KeptVariants
from tests.shim.finder import Distribution, Start, make_parts
from tests.shim.proofs import proven


def _order(**options: Any) -> InstalledOrder:
    """What puts installed projects among the files, for `install --upgrade-variant`."""
    return make_parts(command="install", upgrade_variant=True, **options).installed_order


# Which projects may give way.


def _replaceable(order: InstalledOrder, **how: Any) -> bool:
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
    return order.is_replaceable(candidate)


def test_only_projects_that_the_user_named_may_give_way() -> None:
    order = _order()
    assert not _replaceable(order)
    order.replacements.named = frozenset({"lib"})
    assert _replaceable(order)
    assert order.replacements.replaceable["lib", "1.0"] == Installed("Lib", "1.0")


def test_with_the_eager_strategy_dependencies_may_give_way() -> None:
    order = _order(upgrade_dependencies=True)
    assert _replaceable(order)


def test_a_candidate_with_extras_is_read_from_the_one_without() -> None:
    order = _order()
    order.replacements.named = frozenset({"lib"})
    base = SimpleNamespace(dist=Distribution({}))
    assert _replaceable(order, base=base, dist=None)


@pytest.mark.parametrize(
    ("direct_url", "may"),
    (
        ({"url": "file:///lib", "dir_info": {}}, False),
        ({"url": "https://x.invalid/lib", "vcs_info": {"vcs": "git", "commit_id": "0"}}, False),
        ({"url": "file:///lib.whl", "archive_info": {}}, True),
    ),
)
def test_what_was_built_from_a_folder_or_repository_stays(
    direct_url: dict[str, Any], may: bool
) -> None:
    order = _order()
    order.replacements.named = frozenset({"lib"})
    assert _replaceable(order, files={"direct_url.json": json.dumps(direct_url)}) is may


@pytest.mark.parametrize("broken", ("{", "[]", "1", '"dir_info"'))
def test_a_broken_direct_url_says_nothing(broken: str) -> None:
    order = _order()
    order.replacements.named = frozenset({"lib"})
    assert _replaceable(order, files={"direct_url.json": broken})


def test_an_editable_install_stays() -> None:
    order = _order()
    order.replacements.named = frozenset({"lib"})
    assert not _replaceable(order, is_editable=True)


# The patches.


def _patches(parts: Parts, **options: Any) -> list[Patch]:
    made = CommandOptions(**options)
    order = parts.installed_order
    kept = KeptVariants(
        made,
        order.user,
        parts.index,
        parts.decisions,
        parts.replacements,
        parts.target,
        parts.settled_judge,
        parts.messages,
    )
    return [
        *kept_variants.patches(made, kept),
        *installed_candidate.patches(made, parts.index, order, parts.orders),
    ]


def test_other_commands_are_not_patched() -> None:
    assert _patches(make_parts(), command="download") == []


def test_with_the_legacy_resolver_nothing_is_replaced() -> None:
    assert len(_patches(make_parts(), command="install")) == 3
    (only,) = _patches(make_parts(), command="install", legacy_resolver=True)
    assert only.target.endswith("legacy.resolver:Resolver.resolve")


@pytest.mark.parametrize("legacy", (False, True))
def test_the_resolver_is_proven_without_any_other_patch(legacy: bool) -> None:
    parts = make_parts()
    patches = Patches(this_pip(), parts.states())
    patches.put(_patches(parts, command="install", legacy_resolver=legacy))
    assert parts.replacements.named == frozenset()
    patches.undo()


def test_what_a_build_requires_is_resolved_on_its_own() -> None:
    parts = make_parts(command="install")
    replacements = parts.replacements
    seen: list[Any] = []

    def state() -> Any:
        return replacements.named, dict(replacements.replaceable), dict(replacements.replacing)

    class Resolver:
        _result = SimpleNamespace(mapping={})

    def resolve(self: Any, root_reqs: list[Any]) -> Any:
        seen.append(state())
        if canonical_name(root_reqs[0].name) == "lib":
            lib = Installed("lib", "1.0")
            replacements.replaceable["lib", "1.0"] = replacements.replacing["url"] = lib
            outer = state()
            resolver(Resolver(), [_named("backend")])
            assert state() == outer
        return SimpleNamespace(requirements={})

    options = CommandOptions(command="install")
    kept = KeptVariants(
        options,
        UserConstraints(),
        parts.index,
        parts.decisions,
        replacements,
        parts.target,
        parts.settled_judge,
        parts.messages,
    )
    resolver = functools.partial(kept_variants._resolve, kept, resolve)
    resolver(Resolver(), [_named("Lib"), _named("limit", constraint=True)])
    assert seen == [(frozenset({"lib"}), {}, {}), (frozenset({"backend"}), {}, {})]
    assert state() == (frozenset(), {}, {})


def _named(name: str, *, constraint: bool = False) -> Any:
    return SimpleNamespace(name=name, user_supplied=True, constraint=constraint)


def test_every_proof_fails_when_its_patch_is_not_there() -> None:
    options: dict[str, Any] = {"command": "install", "upgrade_variant": True}
    assert proven(_patches(make_parts(**options), **options)) == []


def test_the_proofs_leave_nothing_behind(start: Start) -> None:
    parts = start(command="install", upgrade_variant=True).parts
    assert vars(parts.replacements) == vars(Replacements())
    assert "order" not in vars(parts.orders)


def test_two_rooms_that_patch_one_object_both_have_effect_and_undo_restores_it(
    start: Start,
) -> None:
    found = import_module(installed_candidate.FOUND).FoundCandidates
    before = vars(found)["__init__"]
    start(command="install", upgrade_variant=True)
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
        parser.configure("install", values, UserConstraints())
