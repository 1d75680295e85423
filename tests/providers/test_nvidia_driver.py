"""The NVIDIA probe against real libraries: stubs that pynvml and ctypes load in a real child."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipvariant.errors import InvalidOverride
from pipvariant.providers import probe
from pipvariant.providers.answers import Origin
from pipvariant.providers.nvidia import FORCE_DRIVER, FORCE_SM, nvidia_features, query_machine
from pipvariant.providers.target import Target
from tests.providers.drivers import Driver, Life, MakeDriver

H100 = {"cuda": 12080, "cuda_v2": 12080, "devices": "9.0"}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a busy machine time."""
    monkeypatch.setattr(probe, "TIME_LIMIT", 60.0)


def report(driver: Driver) -> Any:
    """Ask the stub driver without the time limit and the clean environment around it."""
    code = "import json, sys; from pipvariant.providers import _nvidia_driver as d; "
    code += "print(json.dumps(d.report(sys.argv[1])))"
    environ = {**os.environ, **driver.environ}
    command = [sys.executable, "-c", code, str(driver.folder / "root")]
    return json.loads(subprocess.run(command, env=environ, stdout=-1, check=True).stdout)


def test_nvml_tells_version_driver_and_gpus(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml=H100).environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert (given.origin, given.source, given.problems) == (Origin.BUILT_IN, "NVML", ())
    assert given.facts == {
        "kernel driver": "570.86.15",
        "driver": "12.8",
        "compute capability": "9.0",
        "GPU 0": "Stub GPU 0, compute capability 9.0",
    }


def test_report_of_nvml_alone(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml={**H100, "devices": "9.0,denied"})
    assert report(driver) == {
        "nvml": {
            "loaded": True,
            "init": 0,
            "driver": "570.86.15",
            "version": 12080,
            "devices": [
                {"name": "Stub GPU 0", "capability": [9, 0]},
                {"name": "Stub GPU 1", "error": 4},
            ],
        },
        "cuda": {"loaded": False, "init": None, "version": None, "devices": []},
    }


def test_libcuda_is_not_started_where_it_has_the_version_that_nvml_told(
    make_driver: MakeDriver,
) -> None:
    driver = make_driver(nvml=H100, cuda={"cuda": 12080, "devices": "9.0"})
    libcuda = report(driver)["cuda"]
    assert (libcuda["version"], libcuda["init"]) == (12080, None)
    assert [what for what, *_ in driver.calls] == ["nvml"]


def test_report_of_libcuda_where_nvml_is_missing(make_driver: MakeDriver) -> None:
    driver = make_driver(cuda={"cuda": 11040, "devices": "8.7,denied"})
    assert report(driver) == {
        "nvml": {"loaded": False, "init": 12, "version": None, "devices": []},
        "cuda": {
            "loaded": True,
            "init": 0,
            "version": 11040,
            "devices": [
                {"name": "Stub device 0", "capability": [8, 7]},
                {"name": "GPU 1", "error": 800},
            ],
        },
    }


def test_report_of_an_nvml_that_does_not_tell_the_version(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml={"devices": "7.0"}, cuda={"cuda": 11040, "devices": "7.0"})
    told = report(driver)
    assert (told["nvml"]["version"], told["cuda"]["version"]) == (None, 11040)


def test_report_of_a_driver_without_gpu(make_driver: MakeDriver) -> None:
    told = report(make_driver(nvml={**H100, "devices": ""}, cuda={"cuda": 12080}))
    assert told["nvml"]["devices"] == told["cuda"]["devices"] == []
    assert told["cuda"]["init"] == 100


def test_report_of_a_machine_where_nothing_loads(make_driver: MakeDriver) -> None:
    nothing = report(make_driver())
    assert (nothing["nvml"]["loaded"], nothing["cuda"]["loaded"]) == (False, False)


@pytest.mark.parametrize("code", (9, 18))
def test_libcuda_is_not_asked_where_nvml_has_settled_it(make_driver: MakeDriver, code: int) -> None:
    driver = make_driver(nvml={"init": code}, cuda={"cuda": 12080, "devices": "9.0"})
    assert report(driver)["cuda"] is None
    assert [what for what, *_ in driver.calls] == ["nvml"]


def test_the_user_mode_version_wins_over_the_kernels(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "cuda": 12020, "cuda_v2": 13000}).environ)
    assert given.features == nvidia_features((13, 0), (9, 0))


def test_an_old_nvml_without_user_mode_version(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={"cuda": 11040, "devices": "7.0"}).environ)
    assert given.features == nvidia_features((11, 4), (7, 0))


def test_an_nvml_whose_functions_have_their_old_names(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml={"cuda": 11020, "devices": "6.1,7.0"}, old_names=True)
    given = query_machine(driver.environ)
    assert given.features == nvidia_features((11, 2), (7, 0))
    assert (given.source, given.problems) == ("NVML", ())


def test_forward_compatibility_counts_and_both_versions_are_shown(make_driver: MakeDriver) -> None:
    nvml = {"driver": "535.104.05", "cuda": 12020, "cuda_v2": 12020, "devices": "9.0"}
    given = query_machine(make_driver(nvml=nvml, cuda={"cuda": 13000, "devices": "9.0"}).environ)
    assert given.features == nvidia_features((13, 0), (9, 0))
    assert given.source == "libcuda, NVML"
    assert given.problems == ()
    assert given.facts["kernel driver"] == "535.104.05"
    assert (given.facts["driver by NVML"], given.facts["driver by libcuda"]) == ("12.2", "13.0")


def test_forward_compatibility_that_the_gpu_refuses_is_no_driver(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml={**H100, "devices": "8.6"}, cuda={"cuda": 13000, "init": 804})
    given = query_machine(driver.environ)
    assert given.features == {}
    (problem,) = given.problems
    assert problem == (
        "libcuda is that of a forward-compatibility package, and these GPUs do not allow it;"
        " take its folder out of the search path of libraries (LD_LIBRARY_PATH)"
    )


def test_an_older_libcuda_than_nvml_says_is_what_programs_load(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml=H100, cuda={"cuda": 11080, "devices": "9.0"}).environ)
    assert given.features == nvidia_features((11, 8), (9, 0))


def test_a_stub_of_libcuda_beside_a_real_nvml_does_not_count(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml=H100, cuda={"cuda": 12060, "init": 34}).environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert given.problems == ()


def test_a_driver_newer_than_every_known_version_counts_as_the_newest(
    make_driver: MakeDriver,
) -> None:
    nvml = {"cuda": 99000, "cuda_v2": 99000, "devices": "20.1"}
    features = query_machine(make_driver(nvml=nvml).environ).features
    assert {"15.20", "12.8", "11"} <= set(features["cuda_version_lower_bound"])
    assert "cuda_version_upper_bound" not in features


@pytest.mark.parametrize("folder", ("usr/lib/wsl/lib", "usr/local/nvidia/lib64"))
def test_libraries_that_the_loader_does_not_search_are_found(
    stub_libraries: Path, no_driver: Path, folder: str
) -> None:
    place = no_driver / folder
    place.mkdir(parents=True)
    shutil.copy(stub_libraries / "libnvidia-ml.so.1", place)
    (place / "answers").write_text("nvml.cuda_v2=12040\nnvml.devices=6.1,8.6\n")
    given = query_machine({"PATH": os.defpath})
    assert given.features == nvidia_features((12, 4), (8, 6))
    assert given.facts["GPU 0"] == "Stub GPU 0, compute capability 6.1"


def test_the_highest_capability_of_several_gpus_counts(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "devices": "6.1,8.6,7.5"}).environ)
    assert given.features == nvidia_features((12, 8), (8, 6))


def test_a_denied_gpu_is_skipped(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "devices": "denied,9.0"}).environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert given.problems == ()


def test_a_lost_gpu_is_skipped_and_shown(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "devices": "lost,9.0"}).environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert given.facts["GPU 0"] == "GPU 0, not told (code 15)"


@pytest.mark.parametrize(
    ("nvml", "cuda", "visible", "capability"),
    (
        ("9.0,8.6", "8.6", "1", (8, 6)),
        ("9.0,8.6", "9.0,8.6", "", (9, 0)),
        ("9.0,8.6", "", "7", (9, 0)),
        ("9.0,8.6", "8.6", "-1", (9, 0)),
        ("9.0,9.0", "8.6", "1", (9, 0)),
    ),
)
def test_gpus_that_a_variable_hides_do_not_count_unless_all_are(
    make_driver: MakeDriver,
    nvml: str,
    cuda: str,
    visible: str,
    capability: tuple[int, int],
) -> None:
    driver = make_driver(nvml={**H100, "devices": nvml}, cuda={"cuda": 12080, "devices": cuda})
    given = query_machine({**driver.environ, "CUDA_VISIBLE_DEVICES": visible})
    assert (given.features, given.problems) == (nvidia_features((12, 8), capability), ())


def test_libcuda_sees_its_variable_unless_that_hides_every_gpu() -> None:
    for value, seen in (("0", "0"), ("-1", None), ("NoDevFiles", None), ("", None)):
        clean = probe.clean_environment({"CUDA_VISIBLE_DEVICES": value})
        assert clean.get("CUDA_VISIBLE_DEVICES") == seen


def test_all_gpus_denied_is_unknown_and_said(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "devices": "denied,denied"}).environ)
    assert given.features == nvidia_features((12, 8), None)
    assert given.problems == (
        "the compute capability of the NVIDIA GPUs is unknown: not told (not permitted)",
    )


def test_libcuda_answers_where_nvml_denies(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml={**H100, "devices": "denied"}, cuda={"cuda": 12080, "devices": "9.0"})
    given = query_machine(driver.environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert given.source == "NVML, libcuda"


def test_libcuda_answers_where_nvml_is_missing(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(cuda={"cuda": 11040, "devices": "8.7"}).environ)
    assert given.features == nvidia_features((11, 4), (8, 7))
    assert (given.source, given.facts["NVML"]) == ("libcuda", "absent")


def test_a_driver_without_gpu(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={**H100, "devices": ""}, cuda={"cuda": 12080}).environ)
    assert given.features == nvidia_features((12, 8), None)
    assert given.problems == ()


def test_stub_libraries_of_the_toolkit_are_no_driver(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={"init": 12}, cuda={"cuda": 12060, "init": 34}).environ)
    assert given.features == {}
    assert given.problems == (
        "only stub libraries of the CUDA toolkit were found, not the NVIDIA driver",
    )


def test_a_version_mismatch_is_told_apart_with_its_remedy(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(nvml={"init": 18}).environ)
    assert given.features == {}
    assert "are of different versions" in given.problems[0]
    assert "restart the machine or load the kernel module again" in given.problems[0]
    assert "in a container, restart the container" in given.problems[0]


def test_a_library_that_programs_find_and_cannot_load_is_not_passed_over(
    make_driver: MakeDriver, stub_libraries: Path, no_driver: Path
) -> None:
    place = no_driver / "usr/lib64"
    place.mkdir(parents=True)
    shutil.copy(stub_libraries / "libnvidia-ml.so.1", place)
    (place / "answers").write_text("nvml.cuda_v2=12040\nnvml.devices=8.6\n")
    given = query_machine(make_driver().environ)
    assert given.features == {}
    assert "they cannot be loaded" in given.problems[0]


def test_what_the_library_prints_is_not_the_answer(
    make_driver: MakeDriver, capfd: pytest.CaptureFixture[str]
) -> None:
    given = query_machine(make_driver(nvml={**H100, "behaviour": "print"}).environ)
    assert given.features == nvidia_features((12, 8), (9, 0))
    assert capfd.readouterr() == ("", "")


def test_a_hanging_driver_is_ended_with_all_it_started(
    make_driver: MakeDriver, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIME_LIMIT", 3.0)
    driver = make_driver(nvml={**H100, "behaviour": "hang"})
    given = query_machine(driver.environ)
    assert given.features == {}
    assert given.problems == ("the NVIDIA driver could not be asked: no answer within 3 seconds",)
    assert sorted(what for what, *_ in driver.calls) == ["grandchild", "nvml"]
    assert len({group for *_, group in driver.calls}) == 1
    assert life.over()


def test_what_a_driver_leaves_behind_is_ended(make_driver: MakeDriver, life: Life) -> None:
    driver = make_driver(nvml={**H100, "behaviour": "leave"})
    assert query_machine(driver.environ).features == nvidia_features((12, 8), (9, 0))
    assert [what for what, *_ in driver.calls] == ["nvml", "grandchild"]
    assert life.over()


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    (
        ("crash", "no answer, ended by signal 11"),
        ("flood", "more than 262144 bytes of answer"),
    ),
)
def test_a_misbehaving_driver_is_a_problem_not_an_error(
    make_driver: MakeDriver, behaviour: str, fault: str
) -> None:
    given = query_machine(make_driver(nvml={**H100, "behaviour": behaviour}).environ)
    assert given.features == {}
    assert given.problems == (f"the NVIDIA driver could not be asked: {fault}",)


def test_an_override_replaces_only_its_part_of_the_probe(make_driver: MakeDriver) -> None:
    environ = make_driver(nvml=H100).environ
    given = query_machine({**environ, FORCE_DRIVER: "11.8"})
    assert given.features == nvidia_features((11, 8), (9, 0))
    assert given.source == f"{FORCE_DRIVER}, NVML"
    assert query_machine({**environ, FORCE_SM: "7.5"}).features == nvidia_features((12, 8), (7, 5))


def test_a_bad_override_reaches_the_user(make_driver: MakeDriver) -> None:
    environ = make_driver(nvml=H100).environ
    with pytest.raises(InvalidOverride):
        Target(environ={**environ, FORCE_SM: "sm_90"}).answer("nvidia", None)


def test_asking_twice_probes_once(make_driver: MakeDriver) -> None:
    driver = make_driver(nvml=H100)
    target = Target(environ=driver.environ)
    answers = [target.answer("nvidia", None), target.built_in("nvidia")]
    answers.append(target.answer("nvidia", None))
    assert len({id(given) for given in answers}) == 1
    assert len(driver.calls) == 1


def test_a_second_package_does_not_wait_for_a_hanging_driver_again(
    make_driver: MakeDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIME_LIMIT", 3.0)
    driver = make_driver(nvml={**H100, "behaviour": "hang"})
    target = Target(environ=driver.environ)
    first = target.answer("nvidia", None)
    assert "no answer within 3 seconds" in first.problems[0]
    assert target.answer("nvidia", None) is first
    assert target.built_in("nvidia") is first
    assert [what for what, *_ in driver.calls].count("nvml") == 1


def test_without_a_driver_no_child_is_started(
    no_driver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_arguments: object, **_options: object) -> object:
        pytest.fail("a child was started")

    monkeypatch.setattr(probe, "run_probe", run)
    given = query_machine({})
    assert (given.features, given.source, given.problems) == ({}, "no NVIDIA driver", ())


def test_a_container_without_access_to_the_gpus_is_told(no_driver: Path) -> None:
    version = no_driver / "proc/driver/nvidia/version"
    version.parent.mkdir(parents=True)
    version.touch()
    (problem,) = query_machine({}).problems
    assert problem == (
        "the NVIDIA kernel driver is loaded, but its libraries are not here;"
        " a container has to be started with access to the GPUs"
    )
