"""Each room of patches by itself: proven where it is on, not proven where it is off."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from pipvariant.shim.building import build_requirements, label_built_wheel, only_wheels
from pipvariant.shim.core.patches import Patch, Patches
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.installing import recorded_variants
from pipvariant.shim.options import completion, requirements_files
from pipvariant.shim.reporting import installed_keys
from pipvariant.shim.resolving import same_variant
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
    "build_labels": _of(build_requirements),
    "completion": completion.patches,
    "families": _of(same_variant),
    "inspect": _of(installed_keys, "inspect"),
    "keeping": _of(recorded_variants),
    "list": _of(installed_keys, "list"),
    "making": _of(label_built_wheel, "wheel"),
    "show": _of(installed_keys, "show"),
    "wheels_only": _of(only_wheels),
    "wishes": _of(requirements_files),
}


@pytest.mark.parametrize("name", sorted(ROOMS))
def test_a_room_is_proven_by_its_effect_and_undone(name: str) -> None:
    patches = ROOMS[name]()
    on = Patches(this_pip())
    on.put(patches)
    assert all(patch.prove() for patch in patches)
    on.undo()
    assert proven(patches) == []
