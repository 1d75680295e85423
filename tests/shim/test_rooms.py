"""Each room of patches by itself: proven where it is on, not proven where it is off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pipvariant.shim import (
    build_labels,
    completion,
    families,
    keeping,
    listing,
    making,
    wheels_only,
    wishes,
)
from pipvariant.shim.patches import Patch, Patches
from pipvariant.shim.pips import this_pip
from pipvariant.shim.run import Run
from tests.shim.proofs import proven

# pip's own modules warn about what they import here and there.
pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources is deprecated:DeprecationWarning")


def _of(room: Any, command: str = "install") -> Callable[[], Sequence[Patch]]:
    def patches() -> Sequence[Patch]:
        run = Run()
        run.command = command
        found: Sequence[Patch] = room.patches(this_pip(), run)
        return found

    return patches


ROOMS = {
    "build_labels": _of(build_labels),
    "completion": completion.patches,
    "families": _of(families),
    "inspect": _of(listing, "inspect"),
    "keeping": _of(keeping),
    "list": _of(listing, "list"),
    "making": _of(making, "wheel"),
    "show": _of(listing, "show"),
    "wheels_only": _of(wheels_only),
    "wishes": _of(wishes),
}


@pytest.mark.parametrize("name", sorted(ROOMS))
def test_a_room_is_proven_by_its_effect_and_undone(name: str) -> None:
    patches = ROOMS[name]()
    on = Patches(this_pip())
    on.put(patches)
    assert all(patch.prove() for patch in patches)
    on.undo()
    assert proven(patches) == []
