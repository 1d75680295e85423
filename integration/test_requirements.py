"""Requirements files, constraints, extras and dependencies of variants."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, tri

pytestmark = pytest.mark.every_pip


def test_a_requirements_file(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0"), Wheel("solo"))
    pip.write("requirements.txt", ["# what we need", "tri<2", "solo"])
    pip.variant("install", "-r", "requirements.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert pip.build("solo") == ("1.0", "")


def test_a_constraints_file(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0"), Wheel("user", requires=("tri",)))
    pip.write("constraints.txt", ["tri<2", "absent==7"])
    pip.variant("install", "-c", "constraints.txt", "user", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_an_extra_of_a_variant(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("quick; extra == 'fast'",), extras=("fast",)), Wheel("quick"))
    pip.variant("install", "tri[fast]", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert pip.build("quick") == ("1.0", "")
    assert index.requests_for("-variants.json") == ["GET /files/tri-1.0-variants.json"]


def test_without_the_extra_it_stays_away(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("quick; extra == 'fast'",), extras=("fast",)), Wheel("quick"))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.installed() == {"tri": "1.0"}


def test_an_extra_that_a_label_needs_pulls_in_another_variant(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("duo; extra == 'more'",), extras=("more",)), *tri(name="duo"))
    pip.variant("install", "tri[more]", driver="12.6").check()
    assert (pip.label("tri"), pip.label("duo")) == ("cuda12.6", "cuda12.6")


def test_variants_of_a_dependency(pip: Pip, index: Index) -> None:
    index.add(Wheel("top", requires=("middle",)), *tri(name="middle", requires=("tri>=1",)))
    index.add(*tri("1.0"), *tri("2.0", ["13.0"], null=False, plain=False))
    pip.variant("install", "top", driver="12.8").check()
    assert pip.build("middle") == ("1.0", "cuda12.8")
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_projects_that_need_each_other(pip: Pip, index: Index) -> None:
    index.add(*tri(name="one", requires=("two",)), *tri(name="two", requires=("one",)))
    pip.variant("install", "one", driver="12.8").check()
    assert (pip.label("one"), pip.label("two")) == ("cuda12.8", "cuda12.8")


def test_a_conflict_goes_back_to_an_older_version_with_its_best_label(
    pip: Pip, index: Index
) -> None:
    index.add(*tri("1.0"), *tri("2.0", requires=("solo==9",)), Wheel("solo"))
    pip.variant("install", "tri", "solo", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_conflict_that_cannot_be_solved_reads_as_with_plain_pip(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), Wheel("a", requires=("tri==1.0",)), Wheel("b", requires=("tri==2.0",)))
    result = pip.variant("install", "a", "b", driver="12.8")
    assert result.code == 1
    assert "conflicting dependencies" in result.stderr
    assert pip.installed() == {}


def test_no_deps_installs_the_label_alone(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("absent",)))
    pip.variant("install", "--no-deps", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
