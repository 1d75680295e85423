"""Drivers and GPUs as a whole installation sees them; the drivers are compiled stubs."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, cuda, release, tri

STUBS = Path(__file__).parents[1] / "tests" / "providers" / "stubs"
PLUGINS = {
    "amd": "amd_variant_provider.plugin:AMDVariantPlugin",
    "intel": "intel_variant_provider.plugin:IntelVariantPlugin",
}
GFX = "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH"
ROCM = "AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION"
IP = "INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP"


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """Make a folder with an NVIDIA driver: CUDA 12.8, one GPU; ``calls`` says who asked it."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("the stub of the driver is compiled with cc")
    folder = tmp_path / "driver"
    folder.mkdir()
    library = folder / "libnvidia-ml.so.1"
    command = [compiler, "-shared", "-fPIC", "-o", str(library), str(STUBS / "nvml.c"), "-ldl"]
    subprocess.run(command, check=True)
    (folder / "libcuda.so.1").write_text("not a library")
    (folder / "answers").write_text("nvml.cuda_v2=12080\nnvml.devices=9.0\n")
    return folder


def asked(driver: Path) -> int:
    """How often the driver was asked."""
    calls = driver / "calls"
    return calls.read_text().count("nvml ") if calls.exists() else 0


def gpu_wheels(namespace: str, **labels: tuple[str, ...]) -> list[Wheel]:
    """A release for GPUs of AMD or Intel, whose provider is the published plugin."""
    package = f"{namespace}-variant-provider"
    entry = {"requires": [package], "plugin-api": PLUGINS[namespace]}
    return release("tri", labels={**labels, "null": ()}, providers={namespace: entry})


def test_a_build_for_this_amd_gpu_and_this_rocm_is_taken(pip: Pip, index: Index) -> None:
    gfx, rocm = "amd :: gfx_arch :: gfx942", "amd :: rocm_version ::"
    index.add(*gpu_wheels("amd", rocm63=(gfx, f"{rocm} 6.3"), rocm64=(gfx, f"{rocm} 6.4")))
    pip.variant("install", "tri", environ={GFX: "gfx942", ROCM: "6.4.1"}).check()
    assert pip.build("tri") == ("1.0", "rocm64")


def test_another_amd_gpu_takes_null_and_the_miss_is_named(pip: Pip, index: Index) -> None:
    index.add(*gpu_wheels("amd", mi300=("amd :: gfx_arch :: gfx942",)))
    result = pip.variant("install", "tri", environ={GFX: "gfx1030"}).check()
    assert pip.build("tri") == ("1.0", "null")
    assert result.lines_with("mi300 needs a gfx942 GPU, this machine has gfx1030")


def test_an_intel_gpu_takes_the_build_for_its_base_platform(pip: Pip, index: Index) -> None:
    ip = "intel :: device_ip ::"
    index.add(*gpu_wheels("intel", bmg=(f"{ip} 20.1.0",), pvc=(f"{ip} 12.60.7",)))
    pip.variant("install", "tri", environ={IP: "20.4.4"}).check()
    assert pip.build("tri") == ("1.0", "bmg")


def test_another_intel_gpu_takes_null_and_the_miss_is_named(pip: Pip, index: Index) -> None:
    index.add(*gpu_wheels("intel", pvc=("intel :: device_ip :: 12.60.7",)))
    result = pip.variant("install", "tri", environ={IP: "20.1.0"}).check()
    assert pip.build("tri") == ("1.0", "null")
    assert result.lines_with("pvc needs an Intel GPU with device IP 12.60.7, this machine has")


def test_the_driver_itself_is_asked(pip: Pip, index: Index, driver: Path) -> None:
    index.add(*tri())
    pip.variant("install", "tri", environ={"LD_LIBRARY_PATH": str(driver)}).check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert asked(driver) == 1


def test_what_a_driver_prints_is_not_in_the_report(pip: Pip, index: Index, driver: Path) -> None:
    (driver / "answers").write_text("nvml.behaviour=print\nnvml.cuda_v2=12080\nnvml.devices=9.0\n")
    index.add(*tri())
    report = pip.report("tri", environ={"LD_LIBRARY_PATH": str(driver)})
    assert report["install"][0]["download_info"]["url"].endswith("-cuda12.8.whl")


def test_two_packages_wait_once_for_a_driver_that_hangs(
    pip: Pip, index: Index, driver: Path
) -> None:
    (driver / "answers").write_text("nvml.behaviour=hang\n")
    index.add(*tri(), *tri(name="other"))
    environ = {"LD_LIBRARY_PATH": str(driver)}
    result = pip.variant("install", "tri", "other", environ=environ).check()
    assert (pip.label("tri"), pip.label("other")) == ("null", "null")
    assert asked(driver) == 1
    assert result.lines_with("no answer within 5 seconds")
    # A driver that is broken is not called absent in the next line.
    assert result.lines_with("No NVIDIA hardware could be used")
    assert "was found" not in result.output


def test_a_driver_is_remembered_from_run_to_run(pip: Pip, index: Index, driver: Path) -> None:
    index.add(*tri())
    environ = {"LD_LIBRARY_PATH": str(driver), "PIP_NO_CACHE_DIR": ""}
    again = ("install", "--dry-run", "--force-reinstall", "tri")
    for arguments, times in ((again, 1), (again, 1), ((*again, "--refresh-platform"), 2)):
        result = pip.variant(*arguments, environ=environ).check()
        assert result.lines_with("cuda12.8")
        assert asked(driver) == times


def test_a_driver_is_not_remembered_where_pip_shall_not_cache(
    pip: Pip, index: Index, driver: Path
) -> None:
    index.add(Wheel("tri", label="gpu", properties=(cuda("12.6"),)))
    environ = {"LD_LIBRARY_PATH": str(driver)}
    for times in (1, 2):
        pip.variant("install", "--dry-run", "tri", environ=environ).check()
        assert asked(driver) == times
    assert not (pip.root / "home/.cache/pip-variant").exists()
