"""What the NVIDIA driver says, unjudged; runs in a child process, for drivers can hang."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from pipvariant.providers import _driver_files

__all__ = ["report"]

# No machine has more; a driver that claims so is not believed.
_MAX_DEVICES = 256

_MAJOR_ATTRIBUTE = 75
_MINOR_ATTRIBUTE = 76


def report() -> dict[str, object]:
    """Ask NVML, and libcuda where NVML does not know every answer.

    :returns: one entry per library, ``nvml`` and ``cuda``; ``cuda`` is None where it was not
        needed. Each has ``loaded``, ``init`` (the return code, 0 is good), ``version`` (1000 times
        major plus 10 times minor, or None) and ``devices``: ``name`` with either ``capability`` or
        ``error``; ``nvml`` also has ``driver``, the version of the driver package.
    """
    nvml = _nvml()
    # A driver that is not loaded or is being updated gives libcuda no better answer.
    settled = nvml["init"] in (_DRIVER_NOT_LOADED, _VERSION_MISMATCH)
    known = nvml["version"] and any("capability" in device for device in nvml["devices"])
    return {"nvml": nvml, "cuda": None if settled or known else _cuda()}


_DRIVER_NOT_LOADED = 9
_VERSION_MISMATCH = 18


def _nvml() -> dict[str, Any]:
    """Ask NVML through its own Python binding."""
    import pynvml

    answer: dict[str, Any] = {
        "loaded": False,
        "init": None,
        "driver": None,
        "version": None,
        "devices": [],
    }
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        # The binding has one code for no library and for a library that says so of another one.
        answer["loaded"] = pynvml.nvmlLib is not None
        answer["init"] = error.value
        return answer
    answer.update(loaded=True, init=0)
    answer["driver"] = _try(pynvml, pynvml.nvmlSystemGetDriverVersion)
    # The second form tells the version of the user-mode driver that programs will load.
    answer["version"] = _try(pynvml, pynvml.nvmlSystemGetCudaDriverVersion_v2) or _try(
        pynvml, pynvml.nvmlSystemGetCudaDriverVersion
    )
    count = _try(pynvml, pynvml.nvmlDeviceGetCount) or 0
    for index in range(min(count, _MAX_DEVICES)):
        device: dict[str, Any] = {"name": f"GPU {index}"}
        answer["devices"].append(device)
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            device["name"] = _try(pynvml, pynvml.nvmlDeviceGetName, handle) or device["name"]
            device["capability"] = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
        except pynvml.NVMLError as error:
            device["error"] = error.value
    return answer


def _try(pynvml: Any, function: Any, *arguments: Any) -> Any:
    """Call one NVML function, None where it is refused or not there."""
    try:
        value = function(*arguments)
    except pynvml.NVMLError:
        return None
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _cuda() -> dict[str, Any]:
    """Ask libcuda, which is also there where NVML is not."""
    answer: dict[str, Any] = {"loaded": False, "init": None, "version": None, "devices": []}
    try:
        library = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else _driver_files.LIBCUDA)
    except OSError:
        return answer
    answer["loaded"] = True
    value = ctypes.c_int()
    if _call(library, "cuDriverGetVersion", ctypes.byref(value)) == 0:
        answer["version"] = value.value
    answer["init"] = _call(library, "cuInit", ctypes.c_uint(0))
    if answer["init"] != 0 or _call(library, "cuDeviceGetCount", ctypes.byref(value)) != 0:
        return answer
    for index in range(min(value.value, _MAX_DEVICES)):
        answer["devices"].append(_cuda_device(library, index))
    return answer


def _cuda_device(library: ctypes.CDLL, index: int) -> dict[str, Any]:
    """Ask libcuda about one device."""
    device: dict[str, Any] = {"name": f"GPU {index}"}
    handle, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    error = _call(library, "cuDeviceGet", ctypes.byref(handle), ctypes.c_int(index))
    for number, attribute in ((major, _MAJOR_ATTRIBUTE), (minor, _MINOR_ATTRIBUTE)):
        error = error or _call(
            library, "cuDeviceGetAttribute", ctypes.byref(number), ctypes.c_int(attribute), handle
        )
    if error:
        device["error"] = error
        return device
    device["capability"] = (major.value, minor.value)
    name = ctypes.create_string_buffer(256)
    if _call(library, "cuDeviceGetName", name, ctypes.c_int(len(name)), handle) == 0:
        device["name"] = name.value.decode(errors="replace")
    return device


def _call(library: ctypes.CDLL, name: str, *arguments: Any) -> int:
    """Call one function of libcuda; -1 stands for a function that is not there."""
    try:
        function = getattr(library, name)
    except AttributeError:
        return -1
    return int(function(*arguments))
