"""Builds of sdists, which run pip again: they see what an install would see."""

from __future__ import annotations

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.wheels import PROVIDERS, Sdist, Wheel, cuda, release, tri

pytestmark = [pytest.mark.every_pip, pytest.mark.real_start]

PROBE = "__import__('tri').LABEL"


@pytest.mark.effect_of(
    "child_pip",
    "build_env:_get_runnable_pip",
    "build_env:get_runnable_pip",
    "misc:get_runnable_pip",
)
def test_a_build_gets_the_best_label(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "made", driver="12.8").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.8'\n"
    assert pip.installed() == {"made": "1.0"}


def test_a_build_with_no_variant_gets_the_wheel_without_a_label(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "--no-variant", "made", driver="12.8").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = ''\n"
    assert index.requests_for("-variants.json") == []


def test_a_build_without_isolation_sees_what_is_installed(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", "--no-build-isolation", "made", driver="12.8").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.6'\n"


IN_PROCESS = pytest.param(
    ("--use-feature", "inprocess-build-deps"),
    marks=pytest.mark.skipif(PIP_VERSION < (26, 0), reason="26.0 is the first pip to do it"),
)


@pytest.mark.effect_of("build_requirements", "InprocessBuildEnvironmentInstaller.install")
@pytest.mark.parametrize("how", (pytest.param((), id="child"), IN_PROCESS))
def test_a_build_sees_the_label_that_is_installed(
    pip: Pip, index: Index, how: tuple[str, ...]
) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", *how, "made", driver="12.8").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.6'\n"


@pytest.mark.parametrize("how", (pytest.param((), id="child"), IN_PROCESS))
def test_a_build_sees_the_label_that_the_same_run_takes(
    pip: Pip, index: Index, how: tuple[str, ...]
) -> None:
    """tri has taken a label for the sake of lib when the build comes up."""
    labels = {
        "new": ("abi_dependency :: lib :: 2.0", cuda("12.8")),
        "old": ("abi_dependency :: lib :: 1.0", cuda("12.6")),
    }
    providers = {**PROVIDERS, "abi_dependency": {"builtin": "abi_dependency"}}
    index.add(*release("tri", labels=labels, providers=providers, plain=False))
    index.add(Wheel("lib", "1.0"), Wheel("lib", "2.0"))
    index.add(Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    index.add(Wheel("later", requires=("made",)))
    pip.variant("install", *how, "lib<2", "tri", "later", driver="12.8").check()
    assert pip.label("tri") == "old"
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'old'\n"


def test_a_label_that_does_not_fit_is_not_taken_for_a_build(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "tri", driver="13.0").check()
    pip.variant("install", "made", driver="12.6").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.6'\n"


def test_an_installed_label_is_no_preference_outside_of_builds(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "tri", driver="12.6").check()
    index.add(*release("tri", "2.0", labels={"cuda12.6": (cuda("12.6"),), "x": (cuda("12.8"),)}))
    pip.variant("install", "--upgrade", "tri", "made", driver="12.8").check()
    assert pip.build("tri") == ("2.0", "x")


def test_what_is_built_for_a_target_folder_ignores_what_is_installed(
    pip: Pip, index: Index
) -> None:
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=PROBE))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", "--target", "there", "made", driver="12.8").check()
    assert (pip.work / "there" / "built_with.py").read_text() == "FOUND = 'cuda12.8'\n"
