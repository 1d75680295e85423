"""What the backends of torch need, and which of them fit a target, in which order."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipvariant.errors import InvalidOption
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.nvidia import nvidia_features
from pipvariant.providers.target import Target
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import Judgement
from pipvariant.selection.reasons import incompatibility
from pipvariant.selection.torch_backends import (
    BACKENDS,
    backend_in,
    check_backend,
    compatibility_note,
    metadata_of,
)

# The driver that each CUDA needs as uv 0.13.9 has it (crates/uv-torch/src/backend.rs), on Linux.
UV_DRIVERS = {
    "580": ("cu132", "cu130"),
    "525.60.13": ("cu129", "cu128", "cu126", "cu125", "cu124", "cu123", "cu122", "cu121", "cu120"),
    "450.80.2": ("cu118", "cu117", "cu116", "cu115", "cu114", "cu113", "cu112", "cu111"),
    "450.36.6": ("cu110",),
    "440.33": ("cu102",),
}
# A driver, and the CUDA version that it reports.
CUDA = {
    "580.65": (13, 0),
    "570.86": (12, 8),
    "550.54": (12, 4),
    "525.85": (12, 0),
    "470.57": (11, 4),
}


def nvidia(driver: tuple[int, int], **facts: str) -> Answer:
    facts = {"driver": "{}.{}".format(*driver), **facts}
    return Answer("nvidia", nvidia_features(driver, None), Origin.BUILT_IN, facts=facts)


def other(namespace: str, **features: tuple[str, ...]) -> Answer:
    return Answer(namespace, features, Origin.BUILT_IN)


def judged(*answers: Answer) -> Judgement:
    """What a target with these answers makes of all backends."""
    known: Mapping[str, Answer] = {
        **{name: other(name) for name in ("nvidia", "amd", "intel")},
        **{answer.namespace: answer for answer in answers},
    }
    target = Target()
    vars(target).update(answer=lambda namespace, provider, source: known[namespace])
    return Judge(target).judge(metadata_of(BACKENDS), BACKENDS, of="torch")


def fitting(*answers: Answer) -> list[str]:
    return list(judged(*answers).ranking.compatible)


def test_a_driver_runs_its_own_cuda_newest_first_and_then_newer_minor_versions() -> None:
    assert fitting(nvidia((12, 4)))[:3] == ["cu124", "cu123", "cu122"]
    assert fitting(nvidia((12, 4)))[-5:] == ["cu129", "cu128", "cu126", "cu125", "cpu"]
    assert fitting(nvidia((99, 0)))[0] == "cu132"


@pytest.mark.parametrize("driver", CUDA)
def test_the_same_folders_fit_as_with_uv(driver: str) -> None:
    numbers = [int(part) for part in driver.split(".")]
    uv = {
        backend
        for needed, backends in UV_DRIVERS.items()
        if numbers >= [int(part) for part in needed.split(".")]
        for backend in backends
    }
    older = {"cu101", "cu100", "cu92", "cu91", "cu90", "cu80", "cpu"}
    assert set(fitting(nvidia(CUDA[driver]))) == uv | older


def test_a_driver_that_tells_to_be_too_old_runs_no_newer_minor_version() -> None:
    for told, runs in (("450.57", False), ("450.80.02", True), ("451.82", False), ("452.39", True)):
        backends = fitting(nvidia((11, 0), **{"kernel driver": told}))
        assert (backends[0], "cu118" in backends) == ("cu110", runs)


def test_compatibility_is_noted() -> None:
    judgement = judged(nvidia((12, 4)))
    assert "for CUDA 12.4" in compatibility_note(judgement, "cu128")
    assert [compatibility_note(judgement, label) for label in ("cu124", "cpu", None)] == [""] * 3


def test_builds_for_rocm_fit_by_the_name_of_the_gpu_newest_first() -> None:
    def rocm(name: str) -> list[str]:
        return fitting(other("amd", gfx_arch=(name,), rocm_version=("6.1",)))

    every = ["7.2", "7.1", "7.0", "6.4", "6.3", "6.2.4", "6.2", "6.1", "6.0"]
    assert rocm("gfx942") == [*(f"rocm{version}" for version in every), "cpu"]
    assert rocm("gfx1101") == [
        *(f"rocm{each}" for each in every if each not in ("6.2", "6.0")),
        "cpu",
    ]
    assert rocm("gfx950") == ["rocm7.2", "rocm7.1", "rocm7.0", "cpu"]
    assert rocm("gfx1151") == ["rocm7.2", "cpu"]
    assert rocm("gfx803") == ["cpu"]


def test_any_intel_gpu_runs_xpu_and_nvidia_comes_before_amd_and_intel() -> None:
    for ip in ("20.1.0", "99.0.0"):
        assert fitting(other("intel", device_ip=(ip,))) == ["xpu", "cpu"]
    everything = fitting(
        nvidia((13, 0)), other("amd", gfx_arch=("gfx1151",)), other("intel", device_ip=("20.1.0",))
    )
    assert (everything[0], everything[-3:]) == ("cu130", ["rocm7.2", "xpu", "cpu"])
    assert fitting() == ["cpu"]


def test_what_does_not_fit_is_told_as_of_labels() -> None:
    judgement = judged(nvidia((12, 4)), other("amd", gfx_arch=("gfx803",)))
    reasons = {each.label: incompatibility(each, judgement) for each in judgement.ranking.rejected}
    assert reasons["cu130"] == "cu130 needs CUDA driver >= 13.0, this machine has 12.4"
    assert reasons["rocm6.2"].endswith("GPU, this machine has gfx803")


def test_a_stated_backend_fits_and_nobody_is_asked() -> None:
    def judge(stated: str) -> Judgement:
        return Judge(Target()).judge(metadata_of(BACKENDS, stated=stated), BACKENDS, of="torch")

    for stated in ("cu128", "rocm6.4", "xpu"):
        assert judge(stated).ranking.compatible[0] == stated
    assert judge("cpu").ranking.compatible == ("cpu",)


def test_a_local_version_says_the_backend() -> None:
    named = {
        "2.9.0+cu128": "cu128",
        "2.5.1+cpu.cxx11.abi": "cpu",
        "2.4.0+rocm6.2.4": "rocm6.2.4",
        "2.9.0+xpu": "xpu",
        "2.0.1+cu117.with.pypi.cudnn": "cu117",
        "2.9.0": None,
        "2.9.0+cpu1": None,
        "2.9.0a0+git1234": None,
    }
    assert {version: backend_in(version) for version in named} == named


def test_only_backends_are_values_of_the_option() -> None:
    for word in ("auto", "cpu", "xpu", "cu99", "cu128", "rocm6.4", "rocm6.2.4"):
        assert check_backend(word) == word
    for word in ("", "cuda", "cu1", "cu1280", "rocm6", "CPU", "cu128 ", "../cpu"):
        with pytest.raises(InvalidOption, match="is no backend"):
            check_backend(word)
