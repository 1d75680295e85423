"""A wheel that is given by path or URL: installed if it fits, else refused (PEP 825)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, tri

Give = Callable[[str], str]


@pytest.fixture(params=["path", "file URL", "URL", "name @ URL"])
def give(request: pytest.FixtureRequest, pip: Pip, index: Index) -> Give:
    """A function that gives the wheel of a label of tri in one of the ways there are."""
    index.add(*tri())
    wheels = {wheel.label: wheel for wheel in tri()}

    def giver(label: str) -> str:
        wheel = wheels[label]
        path = pip.work / wheel.filename
        path.write_bytes(wheel.content)
        url = index.file_url(wheel.filename)
        ways = {
            "path": str(path),
            "file URL": path.as_uri(),
            "URL": url,
            "name @ URL": f"tri @ {url}",
        }
        return ways[request.param]

    return giver


def test_a_given_wheel_that_fits_is_installed(pip: Pip, give: Give) -> None:
    pip.variant("install", give("cuda12.6"), driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.effect_of("wheel_check", "WheelDistribution.get_metadata_distribution")
def test_a_given_wheel_that_does_not_fit_is_refused(pip: Pip, give: Give) -> None:
    result = pip.variant("install", give("cuda12.6"), driver="12.4")
    assert result.code == 1
    assert result.lines_with("cuda_version_lower_bound", "12.6", "12.4")
    assert "Traceback" not in result.output
    assert pip.installed() == {}


def test_a_given_null_wheel_fits(pip: Pip, give: Give) -> None:
    pip.variant("install", give("null"), driver="12.4").check()
    assert pip.build("tri") == ("1.0", "null")


def test_a_given_wheel_is_not_searched_for(pip: Pip, index: Index) -> None:
    wheel = tri()[0]
    (pip.work / wheel.filename).write_bytes(wheel.content)
    pip.variant("install", f"./{wheel.filename}", driver="12.8").check()
    assert index.requests == []
    assert pip.build("tri") == ("1.0", "cuda12.6")


def test_a_given_wheel_whose_label_is_not_in_it_is_refused(pip: Pip) -> None:
    wheel = Wheel(
        "tri", label="cuda13.0", properties=("nvidia :: cuda_version_lower_bound :: 13.0",)
    )
    path = pip.work / "tri-1.0-py3-none-any-cuda12.6.whl"
    path.write_bytes(wheel.content)
    result = pip.variant("install", path, driver="13.0")
    assert result.code == 1
    assert result.lines_with("cuda12.6", "cuda13.0")
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_a_given_wheel_without_metadata_is_refused(pip: Pip) -> None:
    path = pip.work / "tri-1.0-py3-none-any-cuda12.6.whl"
    path.write_bytes(Wheel("tri").content)
    result = pip.variant("install", path, driver="13.0")
    assert result.code == 1
    assert result.lines_with("variant.json")
    assert pip.installed() == {}
