"""Builds of sdists, which run pip again: they see what an install would see."""

from __future__ import annotations

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, tri

PROBE = "__import__('tri').LABEL"


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
