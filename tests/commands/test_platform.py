"""What ``variant platform`` prints, for people and for scripts."""

from __future__ import annotations

import io
import json

import pytest

from pipvariant.commands import platform
from pipvariant.providers.target import Target
from tests.commands.options import parsed

DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
SM_ARCH = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver and GPU, as the variables say."""
    monkeypatch.setenv(DRIVER, "12.8")
    monkeypatch.setenv(SM_ARCH, "9.0")
    monkeypatch.setenv("COLUMNS", "200")


def test_json_has_every_built_in_namespace_with_all_values() -> None:
    out = io.StringIO()
    assert platform.run(parsed(platform, "--json"), [], out) == 0
    answers = {answer["namespace"]: answer for answer in json.loads(out.getvalue())}
    assert {"aarch64", "nvidia", "x86_64"} <= set(answers)
    nvidia = answers["nvidia"]
    assert nvidia["origin"] == "built-in"
    assert nvidia["features"]["cuda_version_lower_bound"][:2] == ["12.8", "12.7"]
    assert nvidia["features"]["sm_arch"][:2] == ["90_real", "90_virtual"]
    assert DRIVER in nvidia["source"]


def test_the_table_shows_the_first_values_and_how_many_there_are() -> None:
    out = io.StringIO()
    assert platform.run(parsed(platform), [], out) == 0
    lines = [line for line in out.getvalue().splitlines() if "cuda_version_lower_bound" in line]
    assert len(lines) == 1
    assert lines[0].startswith(" nvidia") or lines[0].startswith("nvidia")
    assert "12.8, 12.7, 12.6, 12.5, 12.4, 12.3, ... 11 (" in lines[0]


def test_features_with_equal_values_share_a_line() -> None:
    answers = [a for a in platform.answers(Target()) if a.namespace == "x86_64" and a.features]
    out = io.StringIO()
    platform.table(out, answers)
    on = [line for line in out.getvalue().splitlines() if " on: " in line]
    assert len(on) == len(answers)
