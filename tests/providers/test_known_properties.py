"""What makers of wheels may write is what some machine can support, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipvariant.providers import aarch64, amd, intel, nvidia, x86_64
from pipvariant.providers.builtin import BUILT_INS
from pipvariant.providers.known_properties import VALID

SUPPORTED = {
    "aarch64": aarch64.aarch64_features(
        ["aarch64", "armv8.1a", "armv8.6a", "armv9.0a"], aarch64.FLAGS
    ),
    "amd": amd.amd_features(["gfx942", "gfx90a", "gfx1030"], "7.0"),
    "intel": intel.intel_features(["12.60.7", "20.1.4"]),
    "nvidia": nvidia.nvidia_features((12, 8), (12, 1)),
    "x86_64": x86_64.x86_64_features(frozenset(x86_64.FLAGS)),
}


def test_every_built_in_provider_knows_its_features() -> None:
    assert set(VALID) == set(BUILT_INS) == set(SUPPORTED)


@pytest.mark.parametrize("namespace", sorted(SUPPORTED))
def test_whatever_a_machine_supports_is_valid(namespace: str) -> None:
    features: Mapping[str, tuple[str, ...]] = SUPPORTED[namespace]
    assert set(features) == set(VALID[namespace])
    for feature, values in features.items():
        for value in values:
            assert VALID[namespace][feature].value.fullmatch(value), (feature, value)


@pytest.mark.parametrize("driver", ((11, 0), (12, 8), (15, 20)))
def test_bounds_of_every_driver_are_valid(driver: tuple[int, int]) -> None:
    for feature, values in nvidia.nvidia_features(driver, None).items():
        assert all(map(VALID["nvidia"][feature].value.fullmatch, values))
