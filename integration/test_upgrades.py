"""What is installed stays, unless the user asks; what is asked for comes with its best label."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, tri

pytestmark = pytest.mark.every_pip


def test_an_upgrade_takes_the_best_label_of_the_new_version(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"))
    pip.variant("install", "tri", driver="12.6").check()
    index.add(*tri("2.0"))
    pip.variant("install", "-U", "tri", driver="12.8").check()
    assert pip.build("tri") == ("2.0", "cuda12.8")
    assert [path.name for path in pip.site.glob("tri-*")] == ["tri-2.0.dist-info"]


def test_without_an_upgrade_the_old_version_stays(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"))
    pip.variant("install", "tri", driver="12.6").check()
    index.add(*tri("2.0"))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.parametrize("driver", ("12.4", "12.6", "13.0"))
def test_an_installed_label_is_no_reason_to_reinstall(pip: Pip, index: Index, driver: str) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    pip.variant("install", "-U", "tri", driver=driver).check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_dependency_is_never_swapped_as_a_side_effect(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("user", requires=("tri",)))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", "-U", "user", driver="13.0").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")
    assert pip.build("user") == ("1.0", "")


def test_what_plain_pip_installed_counts_as_installed(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.plain("install", "tri").check()
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")


def test_force_reinstall_takes_the_best_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", "--force-reinstall", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_an_upgrade_stays_when_the_new_version_does_not_fit(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"))
    pip.variant("install", "tri", driver="12.8").check()
    index.add(*tri("2.0", ["13.0"], null=False, plain=False))
    pip.variant("install", "-U", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_downgrade_takes_the_best_label_of_the_old_version(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0"))
    pip.variant("install", "tri", driver="12.8").check()
    pip.variant("install", "tri<2", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
