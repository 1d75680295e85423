"""The provider of namespace amd: fake trees of /sys and /opt, read in a real child process."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import _amd_kernel, builtin, probe
from pipvariant.providers.amd import (
    FORCE_GFX,
    FORCE_ROCM,
    amd_features,
    query_machine,
    read_amd_report,
)
from pipvariant.providers.answers import Answer, Origin
from tests.providers.drivers import MakeDriver

NOT_PERMITTED = "an AMD GPU is present, not permitted (group render or video)"

# What kernels say about a node: the numbers that matter, among others.
CPU = {"cpu_cores_count": 64, "simd_count": 0, "gfx_target_version": 0}
MI300X = {"cpu_cores_count": 0, "simd_count": 1216, "vendor_id": 4098, "gfx_target_version": 90402}
MI250X = {"cpu_cores_count": 0, "simd_count": 440, "vendor_id": 4098, "gfx_target_version": 90010}
RX7900 = {"cpu_cores_count": 0, "simd_count": 192, "vendor_id": 4098, "gfx_target_version": 110000}
RYZEN_IGPU = {"cpu_cores_count": 0, "simd_count": 4, "gfx_target_version": 100306}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a busy machine time."""
    monkeypatch.setattr(probe, "TIME_LIMIT", 60.0)


@pytest.fixture
def root(no_driver: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty Linux, without AMD GPU and ROCm."""
    monkeypatch.setattr("sys.platform", "linux")
    return no_driver


def put_gpus(root: Path, *nodes: Mapping[str, int], device: bool = True) -> None:
    """Describe nodes as the kernel does, and make the device that computes."""
    for number, node in enumerate(nodes):
        folder = root / _amd_kernel.TOPOLOGY / "nodes" / str(number)
        folder.mkdir(parents=True)
        lines = [f"{key} {value}\n" for key, value in node.items()]
        (folder / "properties").write_text("".join(lines))
    (root / _amd_kernel.TOPOLOGY / "generation_id").write_text("2\n")
    if device:
        (root / "dev").mkdir()
        (root / _amd_kernel.DEVICE).touch()


def put(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


# Deciding


def test_features_are_in_the_order_of_the_standard() -> None:
    assert list(amd_features(["gfx942"], "6.4")) == ["gfx_arch", "rocm_version"]


def test_equal_gpus_are_one_value() -> None:
    assert amd_features(["gfx942"] * 8, None) == {"gfx_arch": ("gfx942",)}


def test_no_gpu_and_no_rocm_support_nothing() -> None:
    assert amd_features([], None) == {}


# The kernel


@pytest.mark.parametrize(
    ("version", "name"),
    (
        (80003, "gfx803"), (90000, "gfx900"), (90006, "gfx906"), (90008, "gfx908"),
        (90010, "gfx90a"), (90012, "gfx90c"), (90402, "gfx942"), (90500, "gfx950"),
        (100300, "gfx1030"), (100306, "gfx1036"), (110000, "gfx1100"), (110501, "gfx1151"),
        (120001, "gfx1201"),
    ),
)  # fmt: skip
def test_the_kernels_number_becomes_a_gfx_name(root: Path, version: int, name: str) -> None:
    put_gpus(root, CPU, {**MI300X, "gfx_target_version": version})
    given = query_machine({})
    assert given.features == {"gfx_arch": (name,)}
    assert (given.origin, given.source, given.problems) == (Origin.BUILT_IN, "kernel", ())


def test_gpus_are_known_without_rocm(root: Path) -> None:
    put_gpus(root, CPU, CPU, MI300X, MI300X)
    given = query_machine({})
    assert given.features == {"gfx_arch": ("gfx942",)}
    assert given.facts == {"GPU 2": "gfx942", "GPU 3": "gfx942"}


def test_the_biggest_gpu_is_preferred_and_all_are_shown(root: Path) -> None:
    put_gpus(root, CPU, RYZEN_IGPU, RX7900)
    given = query_machine({})
    assert given.features["gfx_arch"] == ("gfx1100", "gfx1036")
    assert given.facts == {"GPU 2": "gfx1100", "GPU 1": "gfx1036"}


def test_a_machine_without_amd_gpu_starts_no_child(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_arguments: object, **_options: object) -> object:
        pytest.fail("a child was started")

    monkeypatch.setattr(probe, "run_probe", run)
    given = query_machine({})
    assert (given.features, given.source, given.problems) == ({}, "no AMD GPU", ())


def test_nodes_of_cpus_alone_are_no_gpu(root: Path) -> None:
    put_gpus(root, CPU, CPU)
    given = query_machine({})
    assert (given.features, given.source, given.problems) == ({}, "no AMD GPU", ())


def test_a_kernel_that_is_too_old_to_tell_the_architecture_is_told(root: Path) -> None:
    put_gpus(root, {"simd_count": 256})
    (problem,) = query_machine({}).problems
    assert problem == (
        "an AMD GPU is present, but this kernel is too old to tell its architecture;"
        f" {FORCE_GFX} can state it"
    )


@pytest.mark.parametrize("version", (130016, 10**9))
def test_a_gpu_of_an_odd_architecture_takes_no_other_away(root: Path, version: int) -> None:
    odd = {**MI300X, "gfx_target_version": version}
    put_gpus(root, CPU, odd, RX7900)
    given = query_machine({})
    assert (given.features, given.problems) == ({"gfx_arch": ("gfx1100",)}, ())
    assert given.facts["GPU 1"] == f"architecture {version}"
    alone = read_amd_report(reported(nodes=[{"node": 1, "properties": odd}]))
    (problem,) = alone.problems
    assert problem.startswith(
        f"an AMD GPU is present, but its architecture is not known ({version})"
    )


@pytest.mark.parametrize(
    ("variables", "gfx"),
    (
        ({"ROCR_VISIBLE_DEVICES": "1"}, ("gfx1100",)),
        ({"HIP_VISIBLE_DEVICES": "0, 2"}, ("gfx942", "gfx1036")),
        ({"HIP_VISIBLE_DEVICES": "0,7,1"}, ("gfx1036",)),
        ({"ROCR_VISIBLE_DEVICES": "1,2", "HIP_VISIBLE_DEVICES": "0"}, ("gfx1100",)),
        ({"HIP_VISIBLE_DEVICES": "-1"}, ("gfx942", "gfx1100", "gfx1036")),
        ({"HIP_VISIBLE_DEVICES": "7"}, ("gfx942", "gfx1100", "gfx1036")),
        ({"ROCR_VISIBLE_DEVICES": "0,GPU-4b2c1a9f8d3e"}, ("gfx942", "gfx1100", "gfx1036")),
    ),
)
def test_gpus_that_variables_of_rocm_hide_do_not_count_unless_all_are(
    root: Path, variables: dict[str, str], gfx: tuple[str, ...]
) -> None:
    put_gpus(root, CPU, RYZEN_IGPU, RX7900, MI300X)
    given = query_machine(variables)
    assert given.features == {"gfx_arch": gfx}
    assert set(variables) <= set(given.facts)
    shown = [given.facts[f"GPU {node}"] for node in (1, 2, 3)]
    assert sum("hidden by" in told for told in shown) == 3 - len(gfx)


def test_a_device_that_is_not_in_the_container_is_told(root: Path) -> None:
    put_gpus(root, CPU, MI300X, device=False)
    put(root, "opt/rocm/.info/version", "6.4.1-83\n")
    given = query_machine({})
    assert given.features == {"rocm_version": ("6.4",)}
    (problem,) = given.problems
    assert problem == (
        "an AMD GPU is present, but /dev/kfd is not here; a container has to be started with"
        " /dev/kfd and /dev/dri"
    )


def reported(**changes: Any) -> dict[str, Any]:
    nodes = [{"node": 0, "properties": CPU}, {"node": 1, "properties": MI300X}]
    return {"nodes": nodes, "device": 0, "rocm": None, "rocm_folder": "", **changes}


@pytest.mark.parametrize("number", (errno.EACCES, errno.EPERM))
def test_a_device_that_may_not_be_opened_is_present_not_permitted(number: int) -> None:
    reading = read_amd_report(reported(device=number, rocm="6.4.1"))
    assert (reading.gfx, reading.permitted, reading.problems) == ((), False, (NOT_PERMITTED,))
    assert reading.facts["GPU 1"] == "gfx942"


def test_where_no_gpu_is_permitted_rocm_does_not_count_either(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_gpus(root, CPU, MI300X)
    report = reported(device=errno.EACCES, rocm="6.4.1")
    monkeypatch.setattr(probe, "run_probe", lambda *_arguments, **_options: report)
    given = query_machine({})
    assert (given.features, given.source, given.problems) == ({}, "kernel", (NOT_PERMITTED,))
    stated = query_machine({FORCE_GFX: "gfx942"})
    assert stated.features == {"gfx_arch": ("gfx942",), "rocm_version": ("6.4",)}


def test_the_device_is_opened_to_see_whether_it_is_permitted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_gpus(root, CPU, MI300X)
    real = os.open

    def refuse(path: str, *arguments: Any, **options: Any) -> int:
        if str(path).endswith("dev/kfd"):
            raise PermissionError(errno.EACCES, "not yours")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert read_amd_report(_amd_kernel.report(str(root))).problems == (NOT_PERMITTED,)


def test_gpus_that_are_kept_from_a_container_are_skipped() -> None:
    nodes = [{"node": 1, "error": errno.EPERM}, {"node": 2, "properties": MI250X}]
    reading = read_amd_report(reported(nodes=nodes))
    assert (reading.gfx, reading.problems) == (((2, "gfx90a"),), ())
    assert reading.facts["node 1"] == "not told (error 1)"


def test_gpus_that_are_all_kept_from_this_process_are_not_permitted() -> None:
    nodes = [{"node": 0, "properties": CPU}, {"node": 1, "error": errno.EPERM}]
    assert read_amd_report(reported(nodes=nodes)).problems == (NOT_PERMITTED,)


@pytest.mark.parametrize(
    "nonsense",
    (
        None,
        [],
        {},
        reported(nodes=7),
        reported(nodes=[{"node": "one", "properties": {}}]),
        reported(nodes=[{"node": 1}]),
        reported(nodes=[{"node": 1, "properties": {"simd_count": "many"}}]),
        reported(rocm=[None, 1]),
    ),
)
def test_a_report_without_sense_is_a_failed_probe(nonsense: object) -> None:
    with pytest.raises(ProbeFailed, match="makes no sense"):
        read_amd_report(nonsense)


def test_a_failed_probe_is_a_problem_not_an_error(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_gpus(root, CPU, MI300X)
    monkeypatch.setattr(probe, "run_probe", lambda *_arguments, **_options: {"nodes": 7})
    given = query_machine({})
    assert (given.features, given.source) == ({}, "failed probe")
    assert given.problems == (
        "the AMD GPUs could not be looked at: the answer of the kernel makes no sense",
    )


# ROCm


@pytest.mark.parametrize(
    ("text", "version"), (("6.4.1-83\n", "6.4"), ("7.0.0", "7.0"), ("5.7", "5.7"))
)
def test_rocms_version_is_read_from_its_folder(root: Path, text: str, version: str) -> None:
    put(root, "opt/rocm/.info/version", text)
    given = query_machine({})
    assert given.features == {"rocm_version": (version,)}
    assert given.facts == {"ROCm": f"{version} ({root}/opt/rocm)"}


def test_the_folder_that_the_user_names_wins(root: Path, tmp_path: Path) -> None:
    put(root, "opt/rocm/.info/version", "6.4.1")
    put(tmp_path, "mine/.info/version", "7.1.0")
    for name in ("ROCM_PATH", "ROCM_HOME"):
        given = query_machine({name: str(tmp_path / "mine")})
        assert given.features == {"rocm_version": ("7.1",)}


def test_the_newest_of_several_folders_counts_where_none_is_the_default(root: Path) -> None:
    for version in ("6.4.1", "6.10.0", "6.9.2"):
        put(root, f"opt/rocm-{version}/.info/version", version)
    assert query_machine({}).features == {"rocm_version": ("6.10",)}


@pytest.mark.parametrize(
    "files",
    (
        {"core-7.14/.info/version": "7.14.0"},
        {"core/.info/version": "7.14.0", "core-7.2/.info/version": "7.2.0"},
        {"core-7.2/.info/version": "7.2.0", "core-7.14/.info/version": "7.14.0"},
        {".info/version": "7.14.0", "core/.info/version": "7.2.0"},
        {
            ".info/version": "",
            "core/.info/version": "unknown",
            "../rocm-7.14/.info/version": "7.14",
        },
    ),
)
@pytest.mark.parametrize("variables", ({}, {"ROCM_PATH": "opt/rocm"}))
def test_rocm_is_found_in_the_folders_of_each_release(
    root: Path, files: dict[str, str], variables: dict[str, str]
) -> None:
    for name, text in files.items():
        put(root, f"opt/rocm/{name}", text)
    given = query_machine({name: f"{root}/{path}" for name, path in variables.items()})
    assert given.features == {"rocm_version": ("7.14",)}


def test_rocm_from_wheels_of_the_environment_comes_before_that_of_the_system(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(root, "opt/rocm/.info/version", "6.4.1")
    put(tmp_path, "site/_rocm_sdk_core/.info/version", "7.14.0\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    given = query_machine({})
    assert given.features == {"rocm_version": ("7.14",)}
    assert given.facts == {"ROCm": f"7.14 ({tmp_path}/site/_rocm_sdk_core)"}


def test_a_folder_that_cannot_be_looked_into_is_no_error(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def refuse(path: Any, **options: Any) -> os.stat_result:
        if str(path).startswith("/closed/"):
            raise PermissionError(errno.EACCES, "not yours")
        return real(path, **options)

    monkeypatch.setattr(os, "stat", refuse)
    given = query_machine({"ROCM_PATH": "/closed/rocm"})
    assert (given.features, given.problems) == ({}, ())


@pytest.mark.parametrize("text", ("", "unknown", "6", "2024.5"))
def test_a_version_without_sense_is_no_version(root: Path, text: str) -> None:
    put(root, "opt/rocm/.info/version", text)
    assert query_machine({}).features == {}


def test_rocms_library_tells_its_version(root: Path, make_driver: MakeDriver) -> None:
    driver = make_driver(rocm={"version": "6.3.2"})
    assert query_machine(driver.environ).features == {"rocm_version": ("6.3",)}


def test_a_folder_without_version_file_has_the_library(root: Path, stub_libraries: Path) -> None:
    put(root, "opt/rocm/lib/answers", "rocm.version=7.2.0\n")
    shutil.copy(stub_libraries / _amd_kernel.ROCM_CORE, root / "opt/rocm/lib")
    given = query_machine({})
    assert given.features == {"rocm_version": ("7.2",)}
    assert given.facts["ROCm"] == f"7.2 ({root}/opt/rocm)"


def test_the_hip_sdk_of_windows_tells_its_version(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    sdk = tmp_path / "AMD/ROCm/6.2"
    put(sdk, "bin/.hipVersion", "# generated\nHIP_VERSION_MAJOR=6\nHIP_VERSION_MINOR=2\n")
    for variable, value in (("HIP_PATH", sdk), ("PROGRAMFILES", tmp_path)):
        monkeypatch.setenv(variable, str(value))
        reading = read_amd_report(_amd_kernel.report(str(root)))
        assert reading.rocm == "6.2"
        monkeypatch.delenv(variable)


@pytest.mark.parametrize("system", ("win32", "linux"))
def test_on_windows_and_in_wsl_it_is_not_said_that_there_is_no_gpu(
    root: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr("sys.platform", system)
    if system == "linux":
        put(root, "dev/dxg", "")
    assert builtin.reason_for("amd", "gfx_arch", ("gfx1100",), machine()) == (
        "needs a gfx1100 GPU, and AMD GPUs are not found on Windows and in WSL"
        f" ({FORCE_GFX} can state them)"
    )


# Overrides


def test_both_overrides_decide_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_arguments: object, **_options: object) -> object:
        pytest.fail("a child was started")

    put_gpus(root, CPU, MI300X)
    monkeypatch.setattr(probe, "run_probe", run)
    given = query_machine({FORCE_GFX: "gfx1100", FORCE_ROCM: "7.0.0"})
    assert given.features == {"gfx_arch": ("gfx1100",), "rocm_version": ("7.0",)}
    assert given.source == f"{FORCE_GFX}, {FORCE_ROCM}"


@pytest.mark.parametrize("text", ("gfx90a,gfx942", "gfx90a gfx942", " gfx90a ; gfx942 "))
def test_a_stated_list_of_gpus_keeps_its_order(root: Path, text: str) -> None:
    assert query_machine({FORCE_GFX: text}).features == {"gfx_arch": ("gfx90a", "gfx942")}


def test_an_override_replaces_only_its_part(root: Path) -> None:
    put_gpus(root, CPU, MI300X)
    put(root, "opt/rocm/.info/version", "6.4.1")
    stated_gfx, stated_rocm = (
        query_machine({FORCE_GFX: "gfx1100"}),
        query_machine({FORCE_ROCM: "7.0"}),
    )
    assert stated_gfx.features == {"gfx_arch": ("gfx1100",), "rocm_version": ("6.4",)}
    assert stated_rocm.features == {"gfx_arch": ("gfx942",), "rocm_version": ("7.0",)}


@pytest.mark.parametrize("name", (FORCE_GFX, FORCE_ROCM))
def test_an_empty_override_is_not_set(root: Path, name: str) -> None:
    assert query_machine({name: "  "}) == query_machine({})


@pytest.mark.parametrize("value", ("942", "GFX942", "gfx942:xnack+", "gfx942,mi300", "gfx"))
def test_a_bad_gpu_override_names_variable_and_value(value: str) -> None:
    with pytest.raises(InvalidOverride) as caught:
        query_machine({FORCE_GFX: value})
    assert str(caught.value) == (
        f"{FORCE_GFX}: {value!r} is not a list of GPU architectures."
        " Set it to names such as gfx942 or gfx90a,gfx942, or unset it"
    )


@pytest.mark.parametrize("value", ("6", "rocm6.4", "6.4.", "6.4.1-83", "600.1"))
def test_a_bad_rocm_override_names_variable_and_value(value: str) -> None:
    with pytest.raises(InvalidOverride) as caught:
        query_machine({FORCE_ROCM: value})
    assert str(caught.value) == (
        f"{FORCE_ROCM}: {value!r} is not a ROCm version."
        " Set it to a value such as 6.4 or 7.0.0, or unset it"
    )


def test_rocms_own_override_counts_as_programs_see_it(root: Path) -> None:
    put_gpus(root, CPU, {**RX7900, "gfx_target_version": 100302}, RYZEN_IGPU)
    given = query_machine({"HSA_OVERRIDE_GFX_VERSION": "10.3.0"})
    assert given.features == {"gfx_arch": ("gfx1030",)}
    assert given.source == "HSA_OVERRIDE_GFX_VERSION"
    assert given.facts["GPU 1"] == "gfx1032"
    one = query_machine({"HSA_OVERRIDE_GFX_VERSION_1": "10.3.0"})
    assert one.features == {"gfx_arch": ("gfx1030", "gfx1036")}


def test_rocms_own_override_without_sense_is_told(root: Path) -> None:
    put_gpus(root, CPU, RX7900)
    given = query_machine({"HSA_OVERRIDE_GFX_VERSION": "gfx1030"})
    assert given.features == {"gfx_arch": ("gfx1100",)}
    assert given.problems == (
        "HSA_OVERRIDE_GFX_VERSION is 'gfx1030', which ROCm does not understand",
    )


# Explaining


def machine(gfx: str = "", rocm: str = "", *problems: str) -> Answer:
    features = amd_features(gfx.split(), rocm or None)
    return Answer("amd", features, Origin.BUILT_IN, problems=problems)


@pytest.mark.parametrize(
    ("feature", "values", "given", "words"),
    (
        (
            "gfx_arch", ("gfx942",), machine("gfx1030"),
            "needs a gfx942 GPU, this machine has gfx1030",
        ),
        (
            "gfx_arch", ("gfx908", "gfx90a", "gfx942"), machine("gfx1100 gfx1036"),
            "needs a gfx908, gfx90a or gfx942 GPU, this machine has gfx1100, gfx1036",
        ),
        (
            "gfx_arch", ("gfx942",), machine(),
            "needs a gfx942 GPU, this machine has no AMD GPU",
        ),
        (
            "gfx_arch", ("gfx942",), machine("", "", NOT_PERMITTED),
            f"needs a gfx942 GPU, {NOT_PERMITTED}",
        ),
        (
            "rocm_version", ("7.0",), machine("gfx942", "6.4"),
            "needs ROCm 7.0, this machine has 6.4",
        ),
        (
            "rocm_version", ("7.0",), machine("gfx942"),
            "needs ROCm 7.0, this machine has no ROCm",
        ),
        ("other", ("7.0",), machine("gfx942"), None),
    ),
)  # fmt: skip
def test_explain(
    root: Path, feature: str, values: tuple[str, ...], given: Answer, words: str | None
) -> None:
    assert builtin.reason_for("amd", feature, values, given) == words
