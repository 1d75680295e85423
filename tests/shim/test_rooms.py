"""Each room of patches by itself: proven where it is on, not proven where it is off."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pipvariant.shim.building import build_requirements, label_built_wheel, only_wheels
from pipvariant.shim.core.patches import Patch, Patches
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import CommandOptions, UserConstraints
from pipvariant.shim.finding import torch_pages
from pipvariant.shim.finding.torch_folders import TorchFolders
from pipvariant.shim.installing import recorded_variants
from pipvariant.shim.installing.recorded_variants import Recorder
from pipvariant.shim.options import completion, requirements_files
from pipvariant.shim.reporting import installed_keys
from pipvariant.shim.resolving import same_variant
from pipvariant.shim.resolving.decisions import Decisions
from tests.shim.finder import make_parts, make_same_variant
from tests.shim.proofs import proven

# pip's own modules warn about what they import here and there.
pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources is deprecated:DeprecationWarning")


def _made(name: str) -> Sequence[Patch]:
    user, decisions, recorder = UserConstraints(), Decisions(), Recorder()
    options = CommandOptions(name)
    made: dict[str, Callable[[], Sequence[Patch]]] = {
        "build_requirements": lambda: build_requirements.patches(this_pip(), options, decisions),
        "completion": completion.patches,
        "inspect": lambda: installed_keys.patches(options, user),
        "label_built_wheel": lambda: label_built_wheel.patches(lambda *args: ""),
        "list": lambda: installed_keys.patches(options, user),
        "only_wheels": only_wheels.patches,
        "recorded_variants": lambda: recorded_variants.patches(recorder),
        "requirements_files": lambda: requirements_files.patches(user, options, lambda: None),
        "same_variant": lambda: same_variant.patches(_same_variant()),
        "show": lambda: installed_keys.patches(options, user),
        "torch_pages": lambda: torch_pages.patches(_torch_folders()),
    }
    return made[name]()


def _same_variant() -> same_variant.SameVariant:
    return make_same_variant(make_parts(), UserConstraints(), CommandOptions())


def _torch_folders() -> TorchFolders:
    parts, options, user = make_parts(), CommandOptions(), UserConstraints()
    return TorchFolders(options, user, parts.index, parts.judge, parts.messages, dict)


ROOMS = (
    "build_requirements",
    "completion",
    "inspect",
    "label_built_wheel",
    "list",
    "only_wheels",
    "recorded_variants",
    "requirements_files",
    "same_variant",
    "show",
    "torch_pages",
)


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_is_proven_by_its_effect_and_undone(name: str) -> None:
    patches = _made(name)
    on = Patches(this_pip())
    on.put(patches)
    assert all(patch.prove() for patch in patches)
    on.undo()
    assert proven(patches) == []
