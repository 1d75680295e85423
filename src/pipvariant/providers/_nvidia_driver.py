"""What the NVIDIA driver says, unjudged; runs in a child process, for drivers can hang."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import pynvml

from pipvariant.providers._driver_files import LIBCUDA, NVML, call_function, load_library
from pipvariant.providers._nvidia_report import NVML_MISMATCH, NVML_NOT_LOADED

# The variable that hides GPUs from programs.
_VISIBLE = "CUDA_VISIBLE_DEVICES"

# No machine has more; a driver that claims so is not believed.
_MAX_DEVICES = 256

_MAJOR_ATTRIBUTE = 75
_MINOR_ATTRIBUTE = 76

# The functions that the binding calls, and what they are called in older drivers.
_OLDER_NAMES = {
    "nvmlInitWithFlags": ("nvmlInit_v2", "nvmlInit"),
    "nvmlDeviceGetCount_v2": ("nvmlDeviceGetCount",),
    "nvmlDeviceGetHandleByIndex_v2": ("nvmlDeviceGetHandleByIndex",),
    "nvmlSystemGetCudaDriverVersion_v2": ("nvmlSystemGetCudaDriverVersion",),
}


def report(root: str) -> dict[str, object]:
    """Ask NVML and libcuda: of both the version, of libcuda the GPUs only where that is needed.

    GPUs that are not alike and of which a variable hides some are told by libcuda alone.

    :param root: the root of the file system.
    :returns: one entry per library, ``nvml`` and ``cuda``; ``cuda`` is None where NVML settled it.
        Each has ``loaded``, ``init`` (the return code, 0 is good; None if it was not started),
        ``version`` (1000 times major plus 10 times minor, or None) and ``devices``: ``name`` with
        either ``capability`` or ``error``; ``nvml`` also has ``driver``, the version of the driver
        package, if it was started.
    """
    nvml = _nvml(Path(root))
    # A driver that is not loaded or is being updated gives libcuda no better answer.
    if nvml["init"] in (NVML_NOT_LOADED, NVML_MISMATCH):
        return {"nvml": nvml, "cuda": None}
    told = [device["capability"] for device in nvml["devices"] if "capability" in device]
    # NVML does not look at the variable; which of several GPUs programs see, libcuda knows.
    chosen = any(other != told[0] for other in told) and bool(os.environ.get(_VISIBLE))
    known = nvml["version"] and told and not chosen
    cuda = _cuda(Path(root), nvml["version"] if known else None)
    if chosen and cuda["devices"]:
        nvml["devices"] = []
    return {"nvml": nvml, "cuda": cuda}


def _nvml(root: Path) -> dict[str, Any]:
    """Ask NVML through its own Python binding."""
    answer: dict[str, Any] = {"loaded": False, "init": None, "version": None, "devices": []}
    _prepare(root)
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        # The binding has one code for no library and for a library that says so of another one.
        answer["loaded"] = pynvml.nvmlLib is not None
        answer["init"] = error.value
        return answer
    answer.update(loaded=True, init=0)
    answer["driver"] = _try(pynvml.nvmlSystemGetDriverVersion)
    # The second form tells the version of the user-mode driver that programs will load.
    answer["version"] = _try(pynvml.nvmlSystemGetCudaDriverVersion_v2) or _try(
        pynvml.nvmlSystemGetCudaDriverVersion
    )
    count = _try(pynvml.nvmlDeviceGetCount) or 0
    for index in range(min(count, _MAX_DEVICES)):
        device: dict[str, Any] = {"name": f"GPU {index}"}
        answer["devices"].append(device)
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            device["name"] = _try(pynvml.nvmlDeviceGetName, handle) or device["name"]
            device["capability"] = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        except pynvml.NVMLError as error:
            device["error"] = error.value
    return answer


def _prepare(root: Path) -> None:
    """Give the binding a library that it would not find, or whose functions have older names."""
    try:
        library = load_library(NVML, root)
    except OSError:
        # On Windows the binding itself looks into one more folder.
        return
    for name, older in _OLDER_NAMES.items():
        names = [other for other in older if hasattr(library, other)]
        if names and not hasattr(library, name):
            setattr(library, name, getattr(library, names[0]))
    pynvml.nvmlLib = library


def _try(function: Any, *arguments: Any) -> Any:
    """Call one NVML function, None where it is refused or not there."""
    try:
        value = function(*arguments)
    except pynvml.NVMLError:
        return None
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _cuda(root: Path, version: int | None) -> dict[str, Any]:
    """Ask libcuda; it is started only where its version is not the one that NVML told."""
    answer: dict[str, Any] = {"loaded": False, "init": None, "version": None, "devices": []}
    try:
        library = load_library(LIBCUDA, root)
    except OSError:
        return answer
    answer["loaded"] = True
    value = ctypes.c_int()
    if call_function(library, "cuDriverGetVersion", ctypes.byref(value)) == 0:
        answer["version"] = value.value
    if version is not None and version == answer["version"]:
        return answer
    answer["init"] = call_function(library, "cuInit", ctypes.c_uint(0))
    if answer["init"] != 0 or call_function(library, "cuDeviceGetCount", ctypes.byref(value)) != 0:
        return answer
    for index in range(min(value.value, _MAX_DEVICES)):
        answer["devices"].append(_cuda_device(library, index))
    return answer


def _cuda_device(library: ctypes.CDLL, index: int) -> dict[str, Any]:
    """Ask libcuda about one device."""
    device: dict[str, Any] = {"name": f"GPU {index}"}
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    error = call_function(library, "cuDeviceGet", ctypes.byref(handle), ctypes.c_int(index))
    for number, attribute in ((major, _MAJOR_ATTRIBUTE), (minor, _MINOR_ATTRIBUTE)):
        error = error or call_function(
            library, "cuDeviceGetAttribute", ctypes.byref(number), ctypes.c_int(attribute), handle
        )
    if error:
        device["error"] = error
        return device
    device["capability"] = (major.value, minor.value)
    name = ctypes.create_string_buffer(256)
    if call_function(library, "cuDeviceGetName", name, ctypes.c_int(len(name)), handle) == 0:
        device["name"] = name.value.decode(errors="replace")
    return device
