"""The demo: what a new user sees first."""

from __future__ import annotations

import json

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import tri

pytestmark = pytest.mark.real_start


def test_the_demo_chooses_installs_explains_and_leaves_nothing_behind(pip: Pip) -> None:
    # Settings of the user that would lead astray are not for the demo's own index.
    environ = {"http_proxy": "http://127.0.0.1:9/", "PIP_NO_VARIANT": "1", "PIP_NO_INDEX": "1"}
    before = sorted(path.name for path in (pip.root / "tmp").iterdir())
    result = pip.variant("variant", "demo", driver="12.8", environ=environ).check()
    assert "demo-blas 1.0: variant openblas (blas :: library :: openblas)" in result.stdout
    assert "demo-cuda 1.0: variant cu128" in result.stdout
    assert result.lines_with("cu130", "needs CUDA driver >= 13.0, this machine has 12.8")
    assert result.lines_with("cu126", "fits, cu128 is preferred")
    assert result.lines_with("demo-cpu 1.0: variant ") or result.lines_with("demo-cpu 1.0: null")
    assert sorted(path.name for path in (pip.root / "tmp").iterdir()) == before
    assert pip.installed() == {}


def test_platform_prints_json_and_nothing_else(pip: Pip) -> None:
    result = pip.variant("variant", "platform", "--json", driver="12.8").check()
    answers = {answer["namespace"]: answer for answer in json.loads(result.stdout)}
    assert answers["nvidia"]["features"]["cuda_version_lower_bound"][0] == "12.8"
    assert result.stderr == ""


def test_a_bad_override_names_variable_and_value(pip: Pip) -> None:
    result = pip.variant("variant", "platform", driver="twelve")
    assert result.code == 1
    assert "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION" in result.stderr
    assert "twelve" in result.stderr
    assert "Traceback" not in result.output


def test_a_bad_override_stops_an_installation_in_the_same_words(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "tri", driver="twelve")
    assert result.code == 1
    assert "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION" in result.stderr
    assert "twelve" in result.stderr
    assert "Traceback" not in result.output
    assert pip.installed() == {}
