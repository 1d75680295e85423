"""What a report of the NVIDIA driver means: pure judgement, nothing is asked here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pipvariant.providers._gpu import sensible
from pipvariant.providers.answers import Reading

#: Return codes of NVML and libcuda that mean one thing only.
NVML_NOT_LOADED = 9
_NVML_LIBRARY_NOT_FOUND = 12
NVML_MISMATCH = 18
_CUDA_STUB = 34
_CUDA_NO_DEVICE = 100
_CUDA_MISMATCH = 803
_CUDA_COMPAT_REFUSED = 804

# What NVML and libcuda say to a user who may not look at a GPU.
_NOT_PERMITTED = (4, 800)

# No version has more digits; this also bounds the lists that a lying driver can cause.
_MAX_PART = 99

Version = tuple[int, int]


@dataclass(frozen=True)
class NvidiaReading(Reading):
    """What was read from the driver of NVIDIA.

    :param driver: the version of the user-mode CUDA driver, None without a driver.
    :param capability: the highest compute capability among the GPUs, None without usable GPU.
    """

    driver: Version | None = None
    capability: Version | None = None


@sensible("the driver's answer")
def read_nvidia_report(report: Any) -> NvidiaReading:
    """Judge what ``_nvidia_driver.report`` reports."""
    nvml, cuda = _Library.read("NVML", report["nvml"]), _Library.read("libcuda", report["cuda"])
    return _hopeless(nvml, cuda) or _judge_nvidia(nvml, cuda)


def _hopeless(nvml: _Library, cuda: _Library) -> NvidiaReading | None:
    """Tell the states in which there is no usable driver, whatever else was said."""
    stubs_alone = nvml.loaded and nvml.init == _NVML_LIBRARY_NOT_FOUND and not cuda.loaded
    if not nvml.loaded and not cuda.loaded:
        source = "NVIDIA libraries"
        problem = (
            "the libraries of the NVIDIA driver are on this machine, but they cannot be loaded;"
            " see whether they fit this interpreter, and LD_LIBRARY_PATH"
        )
    elif nvml.init == NVML_MISMATCH or cuda.init == _CUDA_MISMATCH:
        source = nvml.name if nvml.init == NVML_MISMATCH else cuda.name
        problem = (
            "the NVIDIA kernel driver and its libraries are of different versions,"
            " as after an update; restart the machine or load the kernel module again;"
            " in a container, restart the container"
        )
    elif cuda.init == _CUDA_COMPAT_REFUSED:
        source = cuda.name
        problem = (
            "libcuda is that of a forward-compatibility package, and these GPUs do not allow it;"
            " take its folder out of the search path of libraries (LD_LIBRARY_PATH)"
        )
    elif nvml.init == NVML_NOT_LOADED:
        source = nvml.name
        problem = "the libraries of the NVIDIA driver are here, but the kernel driver is not loaded"
    elif stubs_alone or (nvml.init != 0 and cuda.init == _CUDA_STUB):
        source = "stub libraries"
        problem = "only stub libraries of the CUDA toolkit were found, not the NVIDIA driver"
    else:
        return None
    return NvidiaReading(source=source, problems=(problem,))


def _judge_nvidia(nvml: _Library, cuda: _Library) -> NvidiaReading:
    """Take the version and the GPUs from whichever library tells them.

    Programs load libcuda, so its version counts where the two differ, as they do with a
    forward-compatibility package.
    """
    problems = []
    if nvml.loaded and nvml.init:
        problems.append(f"NVML could not be started (code {nvml.init})")
    if cuda.loaded and cuda.init not in (None, 0, _CUDA_NO_DEVICE, _CUDA_STUB):
        problems.append(f"libcuda could not be started (code {cuda.init})")
    # A libcuda that does not start, such as one for other GPUs, is no driver for any program.
    usable = cuda.version if cuda.init in (None, 0, _CUDA_NO_DEVICE) else None
    driver = usable or nvml.version
    # NVML sees every GPU, whatever variables hide from programs; libcuda may see what NVML denies.
    gpus = nvml if nvml.best or (nvml.devices and not cuda.best) else cuda
    if driver is None:
        problems = problems or ["the NVIDIA driver does not tell its CUDA version"]
    elif gpus.devices and not gpus.best:
        denied = any(device.code in _NOT_PERMITTED for device in gpus.devices)
        reason = " (not permitted)" if denied else ""
        problems.append(f"the compute capability of the NVIDIA GPUs is unknown: not told{reason}")
    sources = {(nvml if driver == nvml.version else cuda).name: True}
    if driver is not None and gpus.best:
        sources[gpus.name] = True
    facts = _facts(nvml, driver, gpus)
    if usable and nvml.version and usable != nvml.version:
        facts["driver by NVML"] = version_text(nvml.version)
        facts["driver by libcuda"] = version_text(usable)
    capability = gpus.best if driver is not None else None
    return NvidiaReading(", ".join(sources), tuple(problems), facts, driver, capability)


def _facts(nvml: _Library, driver: Version | None, gpus: _Library) -> dict[str, str]:
    """Write down what was seen, for people."""
    facts = {"NVML": "absent"} if not nvml.loaded else {}
    if nvml.driver:
        facts["kernel driver"] = nvml.driver
    if driver is not None:
        facts["driver"] = version_text(driver)
    if driver is not None and gpus.best:
        facts["compute capability"] = version_text(gpus.best)
    for index, device in enumerate(gpus.devices):
        told = f"not told (code {device.code})"
        if device.capability:
            told = f"compute capability {version_text(device.capability)}"
        facts[f"GPU {index}"] = f"{device.name}, {told}"
    return facts


class _Device(NamedTuple):
    """One GPU: its capability, or the code that came instead."""

    name: str
    capability: Version | None
    code: int | None

    @classmethod
    def read(cls, told: Any) -> _Device:
        capability, code = told.get("capability"), told.get("error")
        if capability is not None:
            major, minor = map(int, capability)
            # Nothing else can be spelled in sm_arch, so it is as good as not told.
            capability = (major, minor) if 1 <= major <= _MAX_PART and 0 <= minor <= 9 else None
        return cls(str(told["name"]), capability, None if code is None else int(code))


class _Library(NamedTuple):
    """What one library of the driver said, checked."""

    name: str
    loaded: bool = False
    init: int | None = None
    version: Version | None = None
    devices: tuple[_Device, ...] = ()
    driver: str = ""

    @classmethod
    def read(cls, name: str, told: Any) -> _Library:
        if told is None:
            return cls(name)
        devices = tuple(map(_Device.read, told["devices"]))
        init = None if told["init"] is None else int(told["init"])
        version, driver = _cuda_version(told["version"]), str(told.get("driver") or "")
        return cls(name, bool(told["loaded"]), init, version, devices, driver)

    @property
    def best(self) -> Version | None:
        """The highest compute capability of the devices that told theirs."""
        return max(filter(None, (device.capability for device in self.devices)), default=None)


def _cuda_version(number: object) -> Version | None:
    """Take apart a version as drivers give it: 12080 is 12.8."""
    if not isinstance(number, int) or not 1000 <= number < (_MAX_PART + 1) * 1000:
        return None
    return number // 1000, number % 1000 // 10


def version_text(version: Version) -> str:
    """Write a version as people and properties do."""
    return f"{version[0]}.{version[1]}"
