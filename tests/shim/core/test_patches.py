"""Patches go on all together or not at all, and proofs leave nothing behind."""

from __future__ import annotations

from functools import lru_cache, partial
from importlib import import_module
from typing import Any

import pytest

from pipvariant.errors import UnsupportedPip
from pipvariant.shim.core.patches import Patch, Patches, patch
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import UserConstraints
from pipvariant.standard.preferences import Preferences

WHEEL = "pip._internal.models.wheel:Wheel.__init__"
CREATE = "pip._internal.commands:create_command"


def _found() -> tuple[Any, Any]:
    """What pip has now at the two targets."""
    wheel, commands = map(import_module, ("pip._internal.models.wheel", "pip._internal.commands"))
    return vars(wheel.Wheel)["__init__"], commands.create_command


def _harmless(target: str, *, proof: bool = True) -> Patch:
    return Patch(target, partial, lambda: proof)


@pytest.mark.parametrize(
    ("target", "named"),
    (
        ("pip._internal.models.nowhere:Wheel.__init__", "pip._internal.models.nowhere"),
        ("pip._internal.models.wheel:Nothing.__init__", "Nothing"),
        ("pip._internal.models.wheel:Wheel.moved", "Wheel.moved"),
    ),
)
def test_a_moved_target_is_refused_and_nothing_is_patched(target: str, named: str) -> None:
    originals = _found()
    with pytest.raises(UnsupportedPip, match=named) as caught:
        Patches(this_pip()).put([_harmless(WHEEL), _harmless(target)])
    assert _found() == originals
    text = str(caught.value)
    assert f"pip {this_pip().text}" in text
    assert "22.2 to 26.3" in text
    assert "Plain `pip` works as always" in text


def test_a_patch_without_effect_is_refused_and_all_are_taken_off() -> None:
    originals = _found()
    with pytest.raises(UnsupportedPip, match="does not use"):
        Patches(this_pip()).put([_harmless(WHEEL), _harmless(CREATE, proof=False)])
    assert _found() == originals


def test_a_proof_that_fails_is_refused_and_all_are_taken_off() -> None:
    def prove() -> bool:
        raise TypeError("moved arguments")

    originals = _found()
    with pytest.raises(UnsupportedPip, match="moved arguments"):
        Patches(this_pip()).put([_harmless(WHEEL)._replace(prove=prove)])
    assert _found() == originals


@pytest.mark.parametrize("proof", (True, False))
def test_a_proof_sees_empty_state_and_leaves_it_as_it_was(proof: bool) -> None:
    preferences = Preferences({"a": "x"})
    user = UserConstraints(no_variant=True, preferences=preferences)
    user.words["variant"] = ["a=x"]
    seen: list[Any] = []

    def prove() -> bool:
        seen.append((user.preferences, dict(user.words)))
        user.words["variant"], user.no_variant = ["proof=y"], False
        return proof

    patches = Patches(this_pip(), [user])
    try:
        patches.put([_harmless(WHEEL)._replace(prove=prove)] * 2)
    except UnsupportedPip:
        assert not proof
    patches.undo()
    assert seen == [(None, {})] * (2 if proof else 1)
    assert (user.no_variant, user.preferences, user.words) == (
        True,
        preferences,
        {"variant": ["a=x"]},
    )


class _Things:
    @classmethod
    def made(cls, *, part: str) -> tuple[Any, ...]:
        return cls, part

    @property
    def kept(self) -> tuple[Any, ...]:
        return (self,)

    def asked(self, *, part: str) -> tuple[Any, ...]:
        return self, part


@pytest.mark.parametrize("name", ("made", "kept", "asked"))
def test_a_replacement_gets_its_parts_the_original_and_what_pip_gives(name: str) -> None:
    def replace(part: str, original: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        return (part, *original(*args, **kwargs))

    def prove(part: str) -> bool:
        return part == "ours"

    def ask(thing: Any) -> Any:
        return thing.kept if name == "kept" else getattr(thing, name)(part="pip's")

    thing = _Things()
    before = ask(thing)
    patches = Patches(this_pip())
    patches.put([patch(f"{__name__}:_Things.{name}", replace, prove, "ours")])
    assert ask(thing) == ("ours", *before)
    patches.undo()
    assert ask(thing) == before


def test_a_replacement_of_what_has_a_cache_can_have_it_emptied() -> None:
    cached = lru_cache(lambda value: value)
    replaced: Any = patch("a:b", lambda original, value: original(value), lambda: True).wrap(cached)
    assert replaced(1) == 1
    replaced.cache_clear()
    assert cached.cache_info().currsize == 0
