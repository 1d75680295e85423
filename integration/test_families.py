"""Families: packages that are kept on equal values of one namespace."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, cuda, release

FAMILY = ("--same-variant", "nvidia=alpha,beta")


def _cuda(*versions: str) -> dict[str, tuple[str, ...]]:
    labels: dict[str, tuple[str, ...]] = {f"cu{each}": (cuda(each),) for each in versions}
    return {**labels, "null": ()}


def _wheels(index: Index) -> list[str]:
    return [request for request in index.requests if request.endswith(".whl")]


def test_all_take_a_value_that_all_have(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8")))
    index.add(*release("beta", labels=_cuda("12.6")))
    pip.variant("install", "alpha", "beta", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.8", "cu12.6")
    index.log.clear()
    args = ("install", "--ignore-installed", *FAMILY, "alpha", "beta")
    pip.variant(*args, driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.6", "cu12.6")
    assert len(_wheels(index)) == 2


def test_the_best_common_value_is_taken(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.4", "12.6", "12.8")))
    index.add(*release("beta", labels=_cuda("12.4", "12.6", "13.0")))
    pip.variant("install", *FAMILY, "beta", "alpha", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.6", "cu12.6")


def test_a_member_that_is_only_a_dependency_counts(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8"), requires=("beta",)))
    # The old one is free, and nothing to go back to.
    index.add(*release("beta", labels=_cuda("12.6")), Wheel("beta", "0.1"))
    pip.variant("install", *FAMILY, "alpha", driver="12.8").check()
    assert pip.build("alpha") == ("1.0", "cu12.6")
    assert pip.build("beta") == ("1.0", "cu12.6")


def test_a_member_that_is_not_going_to_be_there_has_no_say(pip: Pip, index: Index) -> None:
    older, newer = ({f"cu{build}": (cuda(build),)} for build in ("12.6", "12.8"))
    index.add(*release("alpha", "2.0", labels=newer, plain=False))
    index.add(*release("alpha", "1.0", labels=older), *release("beta", labels=older, plain=False))
    pip.variant("install", *FAMILY, "alpha", driver="12.8").check()
    assert pip.build("alpha") == ("2.0", "cu12.8")
    assert "GET /simple/beta/" not in index.requests


def test_the_versions_that_go_together_decide(pip: Pip, index: Index) -> None:
    """The newest beta has a value that alpha 1.0 has not, and asks for alpha 1.0."""
    index.add(*release("alpha", labels=_cuda("12.4", "12.6")))
    index.add(*release("alpha", "2.0", labels=_cuda("12.8")))
    index.add(*release("beta", labels=_cuda("12.4"), requires=("alpha==1.0",)))
    pip.variant("install", *FAMILY, "beta", "alpha", driver="12.8").check()
    assert pip.build("alpha") == ("1.0", "cu12.4")
    assert pip.build("beta") == ("1.0", "cu12.4")


def test_the_older_version_is_taken_when_only_it_has_a_common_value(pip: Pip, index: Index) -> None:
    only = {"cu12.8": (cuda("12.8"),)}
    index.add(*release("alpha", "2.0", labels=only, plain=False))
    index.add(*release("alpha", "1.0", labels={"cu12.6": (cuda("12.6"),)}, plain=False))
    index.add(*release("beta", labels={"cu12.6": (cuda("12.6"),)}, plain=False))
    pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8").check()
    assert pip.build("alpha") == ("1.0", "cu12.6")


def test_null_goes_with_null_only(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6")))
    index.add(*release("beta", labels={"cu12.8": (cuda("12.8"),), "null": ()}))
    result = pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("null", "null")
    for name in ("alpha", "beta"):
        line = (
            f"{name} 1.0: null variant; --same-variant nvidia=alpha,beta keeps it with the others"
        )
        assert result.lines_with(line)


def test_a_package_without_such_variants_is_free(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8")), Wheel("beta"))
    pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.8", "")


def test_only_features_that_both_have_must_be_equal(pip: Pip, index: Index) -> None:
    arch = "nvidia :: sm_arch :: 90_real"
    index.add(*release("alpha", labels={"both": (cuda("12.6"), arch), "null": ()}))
    index.add(*release("beta", labels=_cuda("12.6", "12.8")))
    environ = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0"}
    pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8", environ=environ).check()
    assert (pip.label("alpha"), pip.label("beta")) == ("both", "cu12.6")


def test_no_common_value_names_the_package_before_any_wheel_is_fetched(
    pip: Pip, index: Index
) -> None:
    index.add(*release("alpha", labels={"cu12.8": (cuda("12.8"),)}, plain=False))
    index.add(*release("beta", labels={"cu12.6": (cuda("12.6"),)}, plain=False))
    result = pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8")
    assert result.code == 1
    assert "no variant of " in result.output
    assert "has equal values (--same-variant nvidia=alpha,beta)" in result.output
    assert _wheels(index) == []
    assert pip.installed() == {}


@pytest.mark.effect_of(
    "same_variant",
    "_InstallRequirementBackedCandidate.iter_dependencies",
    "Factory.get_installation_error",
)
def test_a_conflict_that_only_the_resolver_finds_is_told(pip: Pip, index: Index) -> None:
    """Each version of alpha goes with a version of beta, but not with the one it requires."""
    labels, other = {"cu12.8": (cuda("12.8"),)}, {"cu12.6": (cuda("12.6"),)}
    index.add(*release("alpha", labels=labels, plain=False, requires=("beta==1.0",)))
    index.add(*release("beta", "1.0", labels=other, plain=False))
    index.add(*release("beta", "2.0", labels=labels, plain=False))
    index.add(*release("alpha", "0.9", labels=other, plain=False))
    result = pip.variant("install", *FAMILY, "alpha==1.0", "beta", driver="12.8")
    assert result.code == 1
    assert "--same-variant nvidia=alpha,beta cannot be kept" in result.output
    assert "Traceback" not in result.output
    assert not [request for request in index.requests if "%3C" in request or "<" in request]
    assert pip.installed() == {}


@pytest.mark.effect_of("same_variant", "AlreadyInstalledCandidate.iter_dependencies")
def test_what_is_installed_decides_for_the_others(pip: Pip, index: Index) -> None:
    newer = {"cu12.8": (cuda("12.8"),)}
    index.add(*release("alpha", labels=_cuda("12.6", "12.8")))
    index.add(*release("beta", labels=_cuda("12.6", "12.8")))
    pip.variant("install", "--variant", "alpha=cu12.6", "alpha", driver="12.8").check()
    # These two would go together.
    index.add(*(w for name in ("alpha", "beta") for w in release(name, "2.0", labels=newer)))
    pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8").check()
    assert (pip.build("alpha"), pip.build("beta")) == (("1.0", "cu12.6"), ("1.0", "cu12.6"))


@pytest.mark.every_pip
def test_what_is_installed_gives_way_when_nothing_goes_with_it(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8")))
    index.add(*release("beta", labels={"cu12.6": (cuda("12.6"),)}, plain=False))
    pip.variant("install", "alpha", driver="12.8").check()
    assert pip.label("alpha") == "cu12.8"
    pip.variant("install", *FAMILY, "alpha", "beta", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.6", "cu12.6")


@pytest.mark.parametrize("line", ("--same-variant {}", "# pip-variant: --same-variant {}"))
def test_a_requirements_file_names_a_family(pip: Pip, index: Index, line: str) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8")))
    index.add(*release("beta", labels=_cuda("12.6")))
    path = pip.write("r.txt", ["alpha", "beta", line.format(FAMILY[1])])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.6", "cu12.6")


def test_extras_change_nothing(pip: Pip, index: Index) -> None:
    index.add(*release("alpha", labels=_cuda("12.6", "12.8"), extras=("more",), requires=("beta",)))
    index.add(*release("beta", labels=_cuda("12.6")))
    pip.variant("install", *FAMILY, "alpha[more]", driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.6", "cu12.6")


# Mixed.


def _mix(pip: Pip, index: Index) -> None:
    """An environment with alpha for CUDA 12.8; beta, which needs it, has no build for that."""
    index.add(*release("alpha", labels=_cuda("12.8", "13.0")))
    index.add(*release("beta", labels=_cuda("13.0"), requires=("alpha",)))
    pip.variant("install", "--variant", "alpha=cu12.8", "alpha", driver="13.0").check()
    index.log.clear()


MIXED = (
    "Packages that need each other are built for different nvidia :: cuda_version_lower_bound: "
    "alpha 1.0 has 12.8, beta 1.0 has 13.0"
)
TAKES = "takes equal ones, if there are any"
COMMAND = ("install", *FAMILY, "alpha", "beta")
WITH_COMMAND = f"{MIXED}; `pip-variant {' '.join(COMMAND)}` {TAKES}"
WITH_OPTION = (
    "WARNING: Packages that need each other are built for different nvidia :: "
    "cuda_version_lower_bound: alpha 1.0 has 13.0, beta 1.0 has 12.8; "
    f"`{' '.join(FAMILY)}` {TAKES}"
)


@pytest.mark.every_pip
@pytest.mark.parametrize("options", ((), ("--use-deprecated=legacy-resolver",)))
def test_a_mix_is_a_warning_with_a_command_that_ends_it(
    pip: Pip, index: Index, options: tuple[str, ...]
) -> None:
    _mix(pip, index)
    result = pip.variant("install", *options, "beta", driver="13.0").check()
    assert f"WARNING: {WITH_COMMAND}" in result.warnings
    assert not [each for each in index.requests if "alpha" in each]
    assert (pip.label("alpha"), pip.label("beta")) == ("cu12.8", "cu13.0")
    checked = pip.variant("variant", "check", "--mixed", driver="13.0")
    assert (checked.code, WITH_COMMAND in checked.stdout.splitlines()) == (1, True)
    assert not pip.variant(*COMMAND, driver="13.0").check().warnings
    assert (pip.label("alpha"), pip.label("beta")) == ("cu13.0", "cu13.0")
    assert pip.variant("variant", "check", "--mixed", driver="13.0").code == 0


def test_a_mix_of_what_is_being_installed_is_a_warning_with_the_option(
    pip: Pip, index: Index
) -> None:
    index.add(*release("alpha", labels=_cuda("12.8", "13.0"), plain=False))
    index.add(*release("beta", labels=_cuda("12.8"), requires=("alpha",), plain=False))
    for command in (("download", "-d", "there"), ("install", "--target", "there"), ("install",)):
        assert WITH_OPTION in pip.variant(*command, "beta", driver="13.0").check().warnings
    again = pip.variant("install", *FAMILY, "beta", driver="13.0").check()
    assert (pip.label("alpha"), pip.label("beta"), again.warnings) == ("cu12.8", "cu12.8", [])


def test_a_mix_is_seen_from_the_side_of_what_is_required(pip: Pip, index: Index) -> None:
    _mix(pip, index)
    pip.variant("install", "beta", driver="13.0").check()
    other = ("install", "--force-reinstall", "--variant", "alpha=cu12.8", "alpha")
    assert f"WARNING: {WITH_COMMAND}" in pip.variant(*other, driver="13.0").check().warnings
    apart = ("install", "--target", "elsewhere", "--no-deps", "beta")
    assert not pip.variant(*apart, driver="13.0").check().warnings
