"""Machines, and what each gets of the replica of PyTorch's index: here, and from uv 0.13.9."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["TORCH_MACHINES", "TorchMachine"]

VERSIONS_FIRST = "Here the newest version comes first, with uv the folder does."
OWN_CUDA_FIRST = "Here a folder within the driver's own CUDA comes before what is only compatible."


@dataclass(frozen=True)
class TorchMachine:
    """One machine, and the release and the folder that `--torch-backend auto` takes torch of.

    :param environ: states its hardware.
    :param target: a target file that does, with the platform that it is for.
    :param uv: the same as uv chooses, with ``UV_CUDA_DRIVER_VERSION`` and the like; empty if it
        refuses.
    :param requirement: what is asked for.
    :param reason: why they are different.
    """

    name: str
    ours: str
    uv: str
    environ: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    platform: str = ""
    requirement: str = "torch"
    reason: str = ""


def _cuda(version: str) -> dict[str, str]:
    return {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": version}


def _gfx(name: str) -> dict[str, str]:
    return {"AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH": name}


INTEL = {"INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP": "20.1.0"}
DRIVER_128 = '[namespace.nvidia]\ndriver = "12.8"\n'
WINDOWS, MACOS = "win_amd64", "macosx_11_0_arm64"

TORCH_MACHINES = (
    TorchMachine("driver 580", "2.9.1 cu130", "2.9.1 cu130", _cuda("13.0")),
    TorchMachine("driver 570", "2.9.1 cu128", "2.8.0 cu129", _cuda("12.8"), reason=VERSIONS_FIRST),
    TorchMachine("driver 550", "2.9.1 cu128", "2.8.0 cu129", _cuda("12.4"), reason=VERSIONS_FIRST),
    TorchMachine("driver 525", "2.9.1 cu128", "2.8.0 cu129", _cuda("12.0"), reason=VERSIONS_FIRST),
    TorchMachine("driver 470", "2.9.1 cpu", "2.7.1 cu118", _cuda("11.4"), reason=VERSIONS_FIRST),
    TorchMachine(
        "driver 550, torch 2.6.0",
        "2.6.0 cu124",
        "2.6.0 cu126",
        _cuda("12.4"),
        requirement="torch==2.6.0",
        reason=OWN_CUDA_FIRST,
    ),
    TorchMachine(
        "driver 525, torch 2.6.0",
        "2.6.0 cu118",
        "2.6.0 cu126",
        _cuda("12.0"),
        requirement="torch==2.6.0",
        reason=OWN_CUDA_FIRST,
    ),
    TorchMachine("no GPU", "2.9.1 cpu", "2.9.1 cpu"),
    TorchMachine("gfx942", "2.9.1 rocm7.2", "2.9.1 rocm7.2", _gfx("gfx942")),
    TorchMachine("gfx1151", "2.9.1 rocm7.2", "2.9.1 rocm7.2", _gfx("gfx1151")),
    TorchMachine(
        "gfx803",
        "2.9.1 cpu",
        "",
        _gfx("gfx803"),
        reason="uv does not know the name, which is an error; here it is a GPU that nothing fits.",
    ),
    TorchMachine("Intel GPU", "2.9.1 xpu", "2.9.1 xpu", INTEL),
    TorchMachine(
        "Windows, driver 570",
        "2.9.1 cu128",
        "2.8.0 cu129",
        target=DRIVER_128,
        platform=WINDOWS,
        reason=VERSIONS_FIRST,
    ),
    TorchMachine("Windows, no GPU", "2.9.1 cpu", "2.9.1 cpu", target="", platform=WINDOWS),
    TorchMachine("macOS", "2.9.1 cpu", "2.9.1 cpu", target="", platform=MACOS),
)
