"""What Level Zero says about Intel GPUs, unjudged; runs in a child process: drivers can hang."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from pipvariant.providers._driver_files import (
    LEVEL_ZERO,
    NO_FUNCTION,
    call_function,
    load_library,
    read_start,
)

# No machine has more; a driver that claims so is not believed.
_MAX_HANDLES = 256

# Kinds of structures, and the flags that ask for GPUs only (Level Zero core, ze_api.h).
_DEVICE_PROPERTIES = 0x3
_DEVICE_IP_VERSION = 0x1000F
_INIT_DRIVER_TYPE = 0x00020021
_GPUS_ONLY = 1

_INTEL = "0x8086"


class _Described(ctypes.Structure):
    """One number of a kind: ``ze_init_driver_type_desc_t``, ``ze_device_ip_version_ext_t``."""

    _fields_ = (("kind", ctypes.c_uint32), ("next", ctypes.c_void_p), ("number", ctypes.c_uint32))


class _Properties(ctypes.Structure):
    """What is asked about a device: ``ze_device_properties_t``."""

    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("next", ctypes.c_void_p),
        ("type", ctypes.c_uint32),
        ("vendor", ctypes.c_uint32),
        # Device, flags, subdevice, clock rate.
        ("numbers", ctypes.c_uint32 * 4),
        ("max_allocation", ctypes.c_uint64),
        # Contexts, priorities, threads, width, units, subslices, slices.
        ("counts", ctypes.c_uint32 * 7),
        ("timer_resolution", ctypes.c_uint64),
        ("timestamp_bits", ctypes.c_uint32 * 2),
        ("uuid", ctypes.c_uint8 * 16),
        ("name", ctypes.c_char * 256),
    )


def report(root: str) -> dict[str, object]:
    """Ask every driver of Level Zero for its devices.

    :param root: the root of the file system.
    :returns: ``loaded``; ``init``, the return code (0 is good); ``devices``: ``name`` with either
        ``type``, ``vendor`` and ``ip`` (0 is not told), or ``error``; ``denied``: the devices of
        the kernel for Intel GPUs that this user may not open.
    """
    denied = _denied(Path(root))
    answer: dict[str, Any] = {"loaded": False, "init": None, "devices": [], "denied": denied}
    try:
        library = load_library(LEVEL_ZERO, Path(root))
    except OSError:
        return answer
    answer["loaded"] = True
    answer["init"], drivers = _drivers(library)
    for driver in drivers:
        error, devices = _handles(library, "zeDeviceGet", driver)
        if error:
            answer["devices"].append({"name": "a driver", "error": error})
        answer["devices"] += [_device(library, device) for device in devices]
    return answer


def _drivers(library: ctypes.CDLL) -> tuple[int, list[ctypes.c_void_p]]:
    """Start Level Zero and list its drivers: with the call of 1.10, else with the older two."""
    wanted = _Described(_INIT_DRIVER_TYPE, None, _GPUS_ONLY)
    error, drivers = _handles(library, "zeInitDrivers", last=(ctypes.byref(wanted),))
    if error:
        older = call_function(library, "zeInit", ctypes.c_uint32(_GPUS_ONLY))
        if older == 0:
            return _handles(library, "zeDriverGet")
        error = older if error == NO_FUNCTION else error
    return error, drivers


def _device(library: ctypes.CDLL, device: ctypes.c_void_p) -> dict[str, object]:
    """Ask about one device."""
    version = _Described(_DEVICE_IP_VERSION, None, 0)
    told = _Properties(_DEVICE_PROPERTIES, ctypes.addressof(version))
    if error := call_function(library, "zeDeviceGetProperties", device, ctypes.byref(told)):
        return {"name": "a device", "error": error}
    name = told.name.decode(errors="replace")
    return {"name": name, "type": told.type, "vendor": told.vendor, "ip": version.number}


def _handles(
    library: ctypes.CDLL, name: str, *first: Any, last: tuple[Any, ...] = ()
) -> tuple[int, list[ctypes.c_void_p]]:
    """Call a function that lists handles: once for their number, once for themselves."""
    count = ctypes.c_uint32()
    error = call_function(library, name, *first, ctypes.byref(count), None, *last)
    count.value = min(count.value, _MAX_HANDLES)
    if error or not count.value:
        return error, []
    handles = (ctypes.c_void_p * count.value)()
    error = call_function(library, name, *first, ctypes.byref(count), handles, *last)
    found = handles[: min(count.value, len(handles))]
    return error, [] if error else [ctypes.c_void_p(handle) for handle in found]


def _denied(root: Path) -> list[str]:
    """Name the kernel's devices for Intel GPUs that this user may not open."""
    denied = []
    for vendor in sorted(root.glob("sys/class/drm/renderD*/device/vendor")):
        device = root / "dev/dri" / vendor.parents[1].name
        intel = (read_start(vendor) or "").strip() == _INTEL
        if intel and os.path.exists(device) and not os.access(device, os.R_OK | os.W_OK):
            denied.append(device.name)
    return denied
