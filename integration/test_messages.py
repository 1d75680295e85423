"""The sentences that say why: to the letter, for each cause there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from integration.environments import Pip, Result
from integration.index import Index, Reply
from integration.wheels import NVIDIA, Wheel, cuda, metadata, release, tri

MACHINE = "x86_64 :: level :: v99"
X86 = {"requires": ["provider-variant-x86-64"]}
ROCKET = {"requires": ["rocket-provider"]}
DEBUG = {"static-properties": {"build": ["on"]}, "optional": True}


class Case(NamedTuple):
    """A release with one label that cannot be taken, the machine, and the words for it."""

    name: str
    prop: str
    providers: Mapping[str, Any]
    miss: str
    driver: str | None = None
    environ: Mapping[str, str] | None = None


CASES = (
    Case(
        "driver too old",
        cuda("12.6"),
        {"nvidia": NVIDIA},
        "one needs CUDA driver >= 12.6, this machine has 12.4",
        driver="12.4",
    ),
    Case(
        "GPU too old",
        "nvidia :: sm_arch :: 90_real",
        {"nvidia": NVIDIA},
        "one is for GPUs of compute capability 9.0, this machine has 8.0",
        driver="12.8",
        environ={"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "8.0"},
    ),
    Case(
        "no driver",
        cuda("12.6"),
        {"nvidia": NVIDIA},
        "one needs CUDA driver >= 12.6, this machine has no NVIDIA driver",
        environ={"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": ""},
    ),
    Case(
        "provider not trusted",
        "rocket :: engine :: ion",
        {"rocket": ROCKET},
        "one needs rocket :: engine :: ion, whose plugin package is not trusted",
    ),
    Case(
        "optional provider off",
        "debug :: build :: on",
        {"debug": DEBUG},
        "one needs debug :: build :: on, whose provider is off (optional, not enabled)",
    ),
    Case(
        "not in the package's own list",
        "blas :: library :: mkl",
        {"blas": {"static-properties": {"library": ["openblas"]}}},
        "one needs blas :: library :: mkl, the package's own list has openblas",
    ),
)
by_cause = pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.name))


def _install(pip: Pip, case: Case, *args: str) -> Result:
    return pip.variant("install", *args, driver=case.driver, environ=case.environ)


@by_cause
def test_the_nearest_miss_is_named_when_null_is_taken(pip: Pip, index: Index, case: Case) -> None:
    labels = {"one": (case.prop,), "null": ()}
    index.add(*release("tri", labels=labels, providers=case.providers))
    result = _install(pip, case, "tri").check()
    assert f"tri 1.0: null variant; {case.miss}" in result.stdout.splitlines()


@by_cause
def test_the_nearest_miss_is_named_when_a_version_is_skipped(
    pip: Pip, index: Index, case: Case
) -> None:
    index.add(Wheel("tri"))
    labels = {"one": (case.prop,)}
    index.add(*release("tri", "2.0", labels=labels, providers=case.providers, plain=False))
    result = _install(pip, case, "tri").check()
    said = f"tri 2.0 skipped: none of its variants fits; {case.miss}"
    assert said in result.stdout.splitlines()
    assert pip.build("tri") == ("1.0", "")


@by_cause
@pytest.mark.parametrize("quiet", ((), ("-q",)))
def test_nothing_found_names_the_nearest_miss_first(
    pip: Pip, index: Index, case: Case, quiet: tuple[str, ...]
) -> None:
    labels = {"one": (case.prop,)}
    index.add(*release("tri", labels=labels, providers=case.providers, plain=False))
    result = _install(pip, case, *quiet, "tri")
    assert result.code == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR: ")]
    assert errors[0] == f"ERROR: tri 1.0 skipped: none of its variants fits; {case.miss}"
    assert errors[-1] == "ERROR: No matching distribution found for tri"
    assert len(errors) == 3


def test_a_cpu_level_is_named(pip: Pip, index: Index) -> None:
    labels = {"one": (MACHINE,), "null": ()}
    index.add(*release("tri", labels=labels, providers={"x86_64": X86}))
    result = pip.variant("install", "tri").check()
    (line,) = [each for each in result.stdout.splitlines() if each.startswith("tri 1.0: ")]
    assert line.startswith("tri 1.0: null variant; one needs x86_64 :: level :: v99, ")
    assert result.warnings == []


def test_a_label_that_the_metadata_lacks_is_named(pip: Pip, index: Index) -> None:
    index.add(Wheel("tri", label="one", properties=(cuda("12.6"),)), Wheel("tri"))
    other = metadata([Wheel("tri", label="two", properties=(cuda("12.6"),))])
    index.answer("tri-1.0-variants.json", Reply.json(other))
    result = pip.variant("install", "tri", driver="12.8").check()
    said = "tri 1.0: non-variant wheel; one is not in the variant metadata"
    assert said in result.stdout.splitlines()


@pytest.mark.parametrize("quiet", ((), ("-q",)))
def test_variants_of_other_platforms_are_named_first(
    pip: Pip, index: Index, quiet: tuple[str, ...]
) -> None:
    index.add(*tri(tag="py3-none-win_arm64", plain=False))
    result = pip.variant("install", *quiet, "tri", driver="12.8")
    assert result.code == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR: ")]
    assert errors[0] == (
        "ERROR: tri 1.0: none of its variants is for this Python and platform; "
        "cuda12.6 is for win_arm64; cuda12.8 is for win_arm64; cuda13.0 is for win_arm64; "
        "and 1 more"
    )
    assert len(errors) == 3


@pytest.mark.every_pip
def test_without_variants_pip_says_what_it_always_does(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo", tag="py3-none-win_arm64"))
    aware, plain = pip.variant("install", "solo"), pip.plain("install", "solo")
    assert (aware.code, aware.output) == (plain.code, plain.output)


@pytest.mark.every_pip
def test_no_variant_says_that_only_variants_are_there(pip: Pip, index: Index) -> None:
    index.add(*tri(plain=False))
    result = pip.variant("install", "-q", "--no-variant", "tri", driver="12.8")
    first = result.stderr.splitlines()[0]
    assert first == "ERROR: --no-variant leaves out the variant wheels of: tri"


def test_a_long_list_of_skipped_versions_is_cut(pip: Pip, index: Index) -> None:
    for number in range(6):
        index.add(*tri(f"{number}.0", ["12.6"], null=False, plain=False))
    result = pip.variant("install", "-q", "tri", driver="12.4")
    errors = [line for line in result.stderr.splitlines() if line.startswith("ERROR: tri")]
    assert [line.split()[2] for line in errors[:3]] == ["5.0", "4.0", "3.0"]
    assert errors[3:] == ["ERROR: tri: 3 more versions were skipped likewise"]


@pytest.mark.effect_of("messages", "Factory.get_installation_error")
def test_a_requirement_of_another_project_is_explained_too(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False, plain=False), Wheel("user", requires=("tri",)))
    result = pip.variant("install", "-q", "tri", "user", driver="12.4")
    assert result.stderr.splitlines()[0] == (
        "ERROR: tri 1.0 skipped: none of its variants fits; "
        "cuda12.6 needs CUDA driver >= 12.6, this machine has 12.4"
    )


# Builds without a GPU.

WARNING = (
    "WARNING: No NVIDIA hardware was found, so builds that do without were taken of {}. "
    "`--require-variant nvidia` makes that an error, `--variant :all:=null` says it is meant."
)
NO_DRIVER = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": ""}


@pytest.mark.parametrize("null", (True, False))
def test_one_warning_where_no_gpu_was_found(pip: Pip, index: Index, null: bool) -> None:
    index.add(*tri(null=null), *tri(name="duo", null=null))
    result = pip.variant("install", "-q", "tri", "duo", environ=NO_DRIVER).check()
    assert result.warnings == [WARNING.format("duo, tri")]


def test_a_variable_that_states_nothing_and_a_version_that_is_none_are_noted(
    pip: Pip, index: Index
) -> None:
    index.add(*tri(null=False))
    name = "NV_VARIANT_PROVIDER_FORCE_CUDA_VERSION"
    result = pip.variant("install", "-q", "tri", driver="12.12", environ={name: "12.4"}).check()
    driver = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
    concerns = "it concerns cuda12.6, cuda12.8, cuda13.0"
    assert result.warnings == [
        f"WARNING: tri 1.0: {driver} states CUDA 12.12, which is not a known version; {concerns}",
        f"WARNING: tri 1.0: nothing looks at {name}; the variable is {driver}; {concerns}",
    ]
    assert pip.label("tri") == "cuda12.8"


def test_no_warning_where_a_label_was_taken(pip: Pip, index: Index) -> None:
    index.add(*tri())
    assert pip.variant("install", "tri", driver="12.8").check().warnings == []


def test_no_warning_where_the_driver_is_too_old(pip: Pip, index: Index) -> None:
    index.add(*tri())
    assert pip.variant("install", "tri", driver="12.4").check().warnings == []


def test_nothing_is_said_of_what_the_user_named(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "--variant", ":all:=null", "tri", environ=NO_DRIVER).check()
    assert pip.label("tri") == "null"
    assert result.warnings == []
    assert not result.lines_with("tri 1.0:")
