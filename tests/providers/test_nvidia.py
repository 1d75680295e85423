"""The provider of namespace nvidia: deciding, and judging what drivers report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import builtin
from pipvariant.providers._nvidia_report import NvidiaReading, read_nvidia_report
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.nvidia import (
    FORCE_DRIVER,
    FORCE_SM,
    nvidia_features,
    query_machine,
    unmet_reason,
)

LOWER, UPPER, SM = "cuda_version_lower_bound", "cuda_version_upper_bound", "sm_arch"


def minors(major: int, newest: int, oldest: int = 0) -> list[str]:
    return [f"{major}.{minor}" for minor in range(newest, oldest - 1, -1)]


def recorded(name: str) -> NvidiaReading:
    path = Path(__file__).parent / "machines" / f"nvidia-{name}.json"
    return read_nvidia_report(json.loads(path.read_text()))


# Deciding


def test_features_are_in_the_order_of_the_standard() -> None:
    assert list(nvidia_features((12, 8), (9, 0))) == [LOWER, UPPER, SM]


def test_lower_bounds_go_down_from_the_driver_to_11() -> None:
    expected = [*minors(12, 8), "12", *minors(11, 20), "11"]
    assert list(nvidia_features((12, 8), None)[LOWER]) == expected


def test_upper_bounds_go_down_from_the_newest_to_just_above_the_driver() -> None:
    expected = [
        *minors(15, 20), "15", *minors(14, 20), "14", *minors(13, 20), "13", *minors(12, 20, 9)
    ]  # fmt: skip
    assert list(nvidia_features((12, 8), None)[UPPER]) == expected


def test_bounds_never_overlap_and_cover_every_version() -> None:
    every = {str(major) for major in range(11, 16)}
    every |= {value for major in range(11, 16) for value in minors(major, 20)}
    for driver in ((11, 0), (12, 8), (13, 20), (15, 20)):
        features = nvidia_features(driver, None)
        lower, upper = features[LOWER], features.get(UPPER, ())
        assert not set(lower) & set(upper)
        assert set(lower) | set(upper) == every


def test_sm_arch_lists_the_capability_and_those_of_its_major_below_then_ptx() -> None:
    expected = ("86_real", "85_real", "84_real", "83_real", "82_real", "81_real", "80_real")
    assert nvidia_features((12, 8), (8, 6))[SM] == (*expected, "80_virtual")
    assert nvidia_features((12, 8), (9, 0))[SM] == ("90_real", "90_virtual")
    assert nvidia_features((12, 8), (12, 1))[SM] == ("121_real", "120_real", "120_virtual")


@pytest.mark.parametrize(
    ("capability", "supported"), (((3, 5), False), ((4, 9), False), ((5, 0), True))
)
def test_sm_arch_starts_at_5_0(capability: tuple[int, int], supported: bool) -> None:
    assert (SM in nvidia_features((11, 4), capability)) is supported


def test_no_driver_supports_nothing() -> None:
    assert nvidia_features(None, None) == {}
    assert nvidia_features(None, (9, 0)) == {}


def test_a_driver_without_usable_gpu_supports_the_two_bounds() -> None:
    assert list(nvidia_features((12, 8), None)) == [LOWER, UPPER]


def test_a_driver_newer_than_the_table_is_at_least_the_newest_known() -> None:
    newest, newer = nvidia_features((15, 20), (9, 0)), nvidia_features((99, 0), (9, 0))
    assert set(newest[LOWER]) < set(newer[LOWER])
    assert newer[LOWER][:2] == ("99.0", "99")
    assert UPPER not in newer
    assert newer[SM] == newest[SM]


def test_a_driver_older_than_the_table_supports_every_upper_bound_only() -> None:
    features = nvidia_features((10, 2), (7, 0))
    assert list(features) == [UPPER, SM]
    assert features[UPPER][0] == "15.20"
    assert features[UPPER][-1] == "11"


# Judging reports


@pytest.mark.parametrize(
    ("name", "driver", "capability", "source"),
    (
        ("h100", (12, 8), (9, 0), "NVML"),
        ("wsl-two-gpus", (12, 4), (8, 6), "NVML"),
        ("mig-one-denied", (12, 8), (9, 0), "NVML"),
        ("all-denied", (12, 8), None, "NVML"),
        ("denied-by-nvml-only", (12, 8), (9, 0), "NVML, libcuda"),
        ("jetson-orin", (11, 4), (8, 7), "libcuda"),
        ("toolkit-stubs", None, None, "stub libraries"),
        ("cuda-stub-alone", None, None, "stub libraries"),
        ("nvml-stub-alone", None, None, "stub libraries"),
        ("updated-not-restarted", None, None, "NVML"),
        ("mismatch-by-cuda", None, None, "libcuda"),
        ("kernel-not-loaded", None, None, "NVML"),
        ("no-gpu", (12, 8), None, "NVML"),
        ("not-loadable", None, None, "NVIDIA libraries"),
        ("from-the-future", (99, 0), (20, 1), "NVML"),
        ("kepler", (11, 4), (3, 5), "NVML"),
        ("cuda-10", (10, 2), (7, 0), "NVML"),
        ("nvml-without-version", (12, 2), (7, 0), "libcuda, NVML"),
        ("nvml-broken", (12, 8), (8, 6), "libcuda"),
        ("compat-refused", None, None, "libcuda"),
    ),
)
def test_recorded_driver(
    name: str, driver: tuple[int, int] | None, capability: tuple[int, int] | None, source: str
) -> None:
    reading = recorded(name)
    assert (reading.driver, reading.capability, reading.source) == (driver, capability, source)


@pytest.mark.parametrize(
    "name",
    (
        "h100", "wsl-two-gpus", "mig-one-denied", "denied-by-nvml-only", "jetson-orin", "no-gpu",
        "from-the-future", "kepler", "cuda-10", "nvml-without-version",
    ),
)  # fmt: skip
def test_a_driver_that_answers_is_no_problem(name: str) -> None:
    assert recorded(name).problems == ()


STUBS = "only stub libraries of the CUDA toolkit were found, not the NVIDIA driver"
DENIED = "the compute capability of the NVIDIA GPUs is unknown: not told (not permitted)"
NOT_LOADED = "the libraries of the NVIDIA driver are here, but the kernel driver is not loaded"
NOT_LOADABLE = (
    "the libraries of the NVIDIA driver are on this machine, but they cannot be loaded;"
    " see whether they fit this interpreter, and LD_LIBRARY_PATH"
)
REFUSED = (
    "libcuda is that of a forward-compatibility package, and these GPUs do not allow it;"
    " take its folder out of the search path of libraries (LD_LIBRARY_PATH)"
)
MISMATCH = (
    "the NVIDIA kernel driver and its libraries are of different versions, as after an update;"
    " restart the machine or load the kernel module again; in a container, restart the container"
)


@pytest.mark.parametrize(
    ("name", "problem"),
    (
        ("all-denied", DENIED),
        ("toolkit-stubs", STUBS),
        ("cuda-stub-alone", STUBS),
        ("nvml-stub-alone", STUBS),
        ("updated-not-restarted", MISMATCH),
        ("mismatch-by-cuda", MISMATCH),
        ("kernel-not-loaded", NOT_LOADED),
        ("not-loadable", NOT_LOADABLE),
        ("nvml-broken", "NVML could not be started (code 999)"),
        ("compat-refused", REFUSED),
    ),
)
def test_the_user_is_told_what_is_wrong_with_the_driver(name: str, problem: str) -> None:
    assert recorded(name).problems == (problem,)


def test_facts_are_the_driver_and_each_gpu() -> None:
    assert recorded("wsl-two-gpus").facts == {
        "kernel driver": "551.86",
        "driver": "12.4",
        "compute capability": "8.6",
        "GPU 0": "NVIDIA GeForce GTX 1080, compute capability 6.1",
        "GPU 1": "NVIDIA GeForce RTX 3090, compute capability 8.6",
    }


def test_facts_say_which_gpu_was_not_told() -> None:
    assert recorded("mig-one-denied").facts["GPU 0"] == "GPU 0, not told (code 4)"


def test_facts_say_that_nvml_is_absent() -> None:
    assert recorded("jetson-orin").facts["NVML"] == "absent"


def report(**nvml: object) -> dict[str, object]:
    whole = {"loaded": True, "init": 0, "driver": None, "version": None, "devices": [], **nvml}
    return {"nvml": whole, "cuda": None}


@pytest.mark.parametrize(
    "nonsense",
    (
        None,
        [],
        {},
        {"nvml": {}, "cuda": None},
        report(devices=7),
        report(devices=[{"name": "GPU", "capability": [9]}]),
        report(devices=[{"name": "GPU", "capability": "nine"}]),
        report(devices=[{"capability": [9, 0]}]),
        report(init="good"),
    ),
)
def test_a_report_without_sense_is_a_failed_probe(nonsense: object) -> None:
    with pytest.raises(ProbeFailed, match="makes no sense"):
        read_nvidia_report(nonsense)


@pytest.mark.parametrize("version", (-1, 0, 999, 100_000, 2**31 - 1, "12.8", 12.8))
def test_an_impossible_version_is_not_believed(version: object) -> None:
    reading = read_nvidia_report(report(version=version))
    assert reading.driver is None
    assert reading.problems == ("the NVIDIA driver does not tell its CUDA version",)


@pytest.mark.parametrize("capability", ([9, 10], [0, 0], [-9, 0], [2**31, 0]))
def test_an_impossible_capability_is_not_believed(capability: list[int]) -> None:
    reading = read_nvidia_report(
        report(version=12080, devices=[{"name": "", "capability": capability}])
    )
    assert reading.capability is None


# Overrides


def test_both_overrides_decide_alone() -> None:
    given = query_machine({FORCE_DRIVER: "12.8", FORCE_SM: "9.0"})
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert (given.origin, given.problems) == (Origin.BUILT_IN, ())
    assert given.source == f"{FORCE_DRIVER}, {FORCE_SM}"
    assert given.facts == {"driver": "12.8", "compute capability": "9.0"}


def test_with_both_overrides_no_probe_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_arguments: object, **_options: object) -> object:
        pytest.fail("a probe was started")

    monkeypatch.setattr("pipvariant.providers.probe.run_probe", run)
    assert query_machine({FORCE_DRIVER: "12.8", FORCE_SM: "9.0"}).features


def test_a_stated_driver_on_a_machine_without_one(no_driver: Path) -> None:
    given = query_machine({FORCE_DRIVER: "12.8"})
    assert given.features == nvidia_features((12, 8), None)
    assert given.source == FORCE_DRIVER


def test_a_stated_gpu_without_a_driver_supports_nothing_and_says_why(no_driver: Path) -> None:
    given = query_machine({FORCE_SM: "9.0"})
    assert given.features == {}
    assert given.problems == (
        f"{FORCE_SM} has no effect without a driver; set {FORCE_DRIVER} as well",
    )


@pytest.mark.parametrize("stated", ((), (FORCE_DRIVER,), (FORCE_SM,), (FORCE_DRIVER, FORCE_SM)))
def test_what_is_wrong_with_the_driver_is_said_unless_all_is_stated(
    no_driver: Path, stated: tuple[str, ...]
) -> None:
    version = no_driver / "proc/driver/nvidia/version"
    version.parent.mkdir(parents=True)
    version.write_text("NVRM version: 570.00\n")
    said = query_machine(dict.fromkeys(stated, "9.0")).problems
    assert ("its libraries are not here" in "".join(said)) is (len(stated) < 2)
    # That one variable is of no use alone comes after it.
    assert [FORCE_DRIVER in problem for problem in said[1:]] == [True] * (stated == (FORCE_SM,))


@pytest.mark.parametrize(
    ("version", "exists"),
    (("10.2", True), ("12.9", True), ("13.7", True), ("12.10", False), ("11.9", False),
     ("6.5", False), ("13.21", False), ("16.0", False)),
)  # fmt: skip
def test_a_stated_driver_version_that_does_not_exist_is_noted(version: str, exists: bool) -> None:
    given = query_machine({FORCE_DRIVER: version, FORCE_SM: "9.0"})
    note = f"{FORCE_DRIVER} states CUDA {version}, which is not a known version"
    assert given.notes == (() if exists else (note,))
    assert given.features[SM]


@pytest.mark.parametrize(
    ("name", "meant"),
    (
        ("NV_VARIANT_PROVIDER_FORCE_CUDA_VERSION", FORCE_DRIVER),
        ("NV_VARAINT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", FORCE_DRIVER),
        ("nv_variant_provider_force_sm_arch", FORCE_SM),
        ("NV_VARIANT_SM", FORCE_SM),
        ("NVIDIA_VARIANT_PROVIDER_FORCE_SM_ARCH", FORCE_SM),
        ("ROCKET_VARIANT_PROVIDER_FORCE_ENGINE", ""),
        ("AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH", ""),
        ("PIP_NO_VARIANT", ""),
    ),
)
def test_a_misspelt_variable_is_noted_with_the_one_that_is_meant(
    no_driver: Path, name: str, meant: str
) -> None:
    given = query_machine({name: "12.8"})
    notes = (f"nothing looks at {name}; the variable is {meant}",) if meant else ()
    assert (given.notes, given.warnings, given.problems) == (notes, notes, ())


@pytest.mark.parametrize("start", ("AMD", "INTEL"))
def test_a_misspelt_variable_of_another_provider_is_noted_by_it(
    no_driver: Path, start: str
) -> None:
    (note,) = builtin.query_builtin(start.lower(), {f"{start}_VARIANT_FORCE": "1"}).notes
    assert note.startswith(f"nothing looks at {start}_VARIANT_FORCE; the variable is {start}_")


@pytest.mark.parametrize("name", (FORCE_DRIVER, FORCE_SM))
@pytest.mark.parametrize("value", ("", "  "))
def test_an_empty_override_is_not_set(no_driver: Path, name: str, value: str) -> None:
    assert query_machine({name: value}) == query_machine({})


@pytest.mark.parametrize(
    "value", ("12", "12.8.1", "v12.8", "12,8", "cu128", "-1.0", "123.0", "١٢.٨")
)
def test_a_bad_driver_override_names_variable_and_value(value: str) -> None:
    with pytest.raises(InvalidOverride) as caught:
        query_machine({FORCE_DRIVER: value})
    assert str(caught.value) == (
        f"{FORCE_DRIVER}: {value!r} is not a CUDA version. Set it to a value such as 12.8,"
        " or unset it"
    )


@pytest.mark.parametrize("value", ("9", "90", "sm_90", "9.0a", "9.10"))
def test_a_bad_gpu_override_names_variable_and_value(value: str) -> None:
    with pytest.raises(InvalidOverride) as caught:
        query_machine({FORCE_SM: value})
    assert str(caught.value) == (
        f"{FORCE_SM}: {value!r} is not a compute capability. Set it to a value such as 9.0,"
        " or unset it"
    )


# Explaining


def machine(driver: str | None = None, gpu: str | None = None, *problems: str) -> Answer:
    facts = {"driver": driver, "compute capability": gpu}
    told = {key: value for key, value in facts.items() if value}
    return Answer("nvidia", {}, Origin.BUILT_IN, "NVML", problems, told)


@pytest.mark.parametrize(
    ("feature", "values", "given", "words"),
    (
        (
            LOWER, ("12.6",), machine("12.4"),
            "needs CUDA driver >= 12.6, this machine has 12.4",
        ),
        (
            LOWER, ("13", "12.8"), machine("12.4"),
            "needs CUDA driver >= 12.8, this machine has 12.4",
        ),
        (
            LOWER, ("12.6",), machine(),
            "needs CUDA driver >= 12.6, this machine has no NVIDIA driver",
        ),
        (
            LOWER, ("12.6",), machine(None, None, STUBS),
            f"needs CUDA driver >= 12.6, {STUBS}",
        ),
        (
            UPPER, ("13",), machine("13.0"),
            "needs CUDA driver < 13, this machine has 13.0",
        ),
        (
            UPPER, ("12.9", "12.10"), machine("13.0"),
            "needs CUDA driver < 12.10, this machine has 13.0",
        ),
        (
            SM, ("90_real", "80_real", "80_virtual", "120_real"), machine("12.8", "7.5"),
            "is for GPUs of compute capability 8.0, 9.0, 12.0, this machine has 7.5",
        ),
        (
            SM, ("90_real",), machine("12.8"),
            "is for GPUs of compute capability 9.0, this machine has no usable NVIDIA GPU",
        ),
        (
            SM, ("90_real",), machine("12.8", None, DENIED),
            f"is for GPUs of compute capability 9.0, {DENIED}",
        ),
        (
            SM, ("90_real",), machine(),
            "is for GPUs of compute capability 9.0, this machine has no NVIDIA driver",
        ),
    ),
)  # fmt: skip
def test_explain(feature: str, values: tuple[str, ...], given: Answer, words: str) -> None:
    assert builtin.reason_for("nvidia", feature, values, given) == words


@pytest.mark.parametrize(
    ("feature", "value"),
    (
        *((LOWER, "new"), (UPPER, "12.x"), (SM, "fast"), ("other", "12.8")),
        (SM, "9" * 5000 + "_real"),
    ),
)
def test_explain_has_no_words_for_what_is_not_known(feature: str, value: str) -> None:
    assert unmet_reason(feature, (value,), machine("12.8")) is None
