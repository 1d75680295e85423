"""What the kernel and the files of ROCm say about AMD GPUs, unjudged; runs in a child process."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pipvariant.providers._driver_files import list_folder, read_start

#: Where the kernel describes the GPUs that it can compute on, and the device that computes.
TOPOLOGY = "sys/class/kfd/kfd/topology"
DEVICE = "dev/kfd"

#: The library that tells the version of ROCm.
ROCM_CORE = "librocm-core.so.1"

#: The folder that the wheels of ROCm unpack into an environment.
_WHEEL_FOLDER = "_rocm_sdk_core"

#: Files in the folder of ROCm that tell its version; the second is in the HIP SDK of Windows.
VERSION_FILES = (".info/version", "bin/.hipVersion")

_MAX_NODES = 1024
_MAX_BYTES = 16 * 1024


def report(root: str) -> dict[str, object]:
    """Read the topology of GPUs, try to open their device, and look for ROCm.

    :param root: the root of the file system.
    :returns: ``nodes``, one entry per node of the topology: ``node`` with either ``properties``,
        its numbers by name, or ``error``; ``device``: the error number of opening it, 0 for none;
        ``rocm``: its version, such as ``6.4``, None without ROCm;
        ``rocm_folder``: where that was found.
    """
    place = Path(root)
    version, folder = _rocm(place)
    return {
        "nodes": list(_nodes(place / TOPOLOGY / "nodes")),
        "device": _open_error(place / DEVICE),
        "rocm": version,
        "rocm_folder": folder,
    }


def rocm_folders(environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    """Yield the folders that ROCm can be in, the one that programs take first.

    :param environ: has the variables that name such a folder.
    :param root: the root of the file system.
    """
    for name in ("ROCM_PATH", "ROCM_HOME", *(("HIP_PATH",) if sys.platform == "win32" else ())):
        if os.path.isabs(environ.get(name, "")):
            yield from _with_cores(Path(environ[name]))
    # Packages of this environment are found where its modules are.
    yield from (Path(entry, _WHEEL_FOLDER) for entry in sys.path if os.path.isabs(entry))
    if sys.platform == "win32":
        yield from _newest(Path(environ.get("PROGRAMFILES", r"C:\Program Files"), "AMD/ROCm"), "")
    else:
        yield from _with_cores(root / "opt/rocm")
        yield from _newest(root / "opt", "rocm-")


def _with_cores(folder: Path) -> Iterator[Path]:
    """Yield a folder, and those inside that have ROCm since 7.14: ``core``, or ``core-7.14``."""
    yield from (folder, folder / "core", *_newest(folder, "core-"))


def _newest(parent: Path, start: str) -> list[Path]:
    """List what has a name with this start, the newest version first."""
    names = [name for name in list_folder(parent) if name.startswith(start)]
    names.sort(key=lambda name: [-int(number) for number in re.findall(r"\d{1,9}", name)])
    return [parent / name for name in names]


def rocm_version(told: Any) -> str | None:
    """Read the version of ROCm, from numbers, from ``6.4.1-83``, or from the HIP SDK's lines.

    :returns: the first two numbers, such as ``6.4``; None where none is told.
    """
    if isinstance(told, str):
        told = re.findall(r"^HIP_VERSION_(?:MAJOR|MINOR)=(\d+)", told, re.MULTILINE) or re.findall(
            r"\d+", told
        )
    numbers = [int(number) for number in list(told or ())[:2]]
    if len(numbers) < 2 or max(numbers) > 99:  # No version has more digits.
        return None
    return f"{numbers[0]}.{numbers[1]}"


def _nodes(folder: Path) -> Iterator[dict[str, object]]:
    """Read the nodes in the order that the kernel numbers them."""
    names = [name for name in list_folder(folder) if re.fullmatch(r"[0-9]{1,9}", name)]
    for name in sorted(names, key=int)[:_MAX_NODES]:
        node: dict[str, object] = {"node": int(name)}
        try:
            with open(folder / name / "properties", encoding="ascii", errors="replace") as stream:
                text = stream.read(_MAX_BYTES)
            pairs = re.findall(r"^(\w+) (\d{1,20})$", text, re.MULTILINE)
            node["properties"] = {key: int(number) for key, number in pairs}
        except OSError as error:
            node["error"] = error.errno
        yield node


def _open_error(device: Path) -> int | None:
    """Open a device as programs have to, for its permissions alone do not decide it."""
    try:
        os.close(os.open(device, os.O_RDWR))
    except OSError as error:
        return error.errno
    return 0


def _rocm(root: Path) -> tuple[str | None, str]:
    """Find the version of ROCm and its folder; one that tells no version hides no other."""
    for folder in rocm_folders(os.environ, root):
        for name in VERSION_FILES:
            if version := rocm_version(read_start(folder / name)):
                return version, str(folder)
        if version := rocm_version(_ask_library(str(folder / "lib" / ROCM_CORE))):
            return version, str(folder)
    # Distributions put the library where every other one is.
    return rocm_version(_ask_library(ROCM_CORE)), "library path"


def _ask_library(name: str) -> tuple[int, ...] | None:
    """Ask the library of ROCm for its version."""
    import ctypes

    if sys.platform == "win32" or (os.path.isabs(name) and not os.path.exists(name)):
        return None
    numbers = ctypes.c_uint(), ctypes.c_uint(), ctypes.c_uint()
    try:
        failed = ctypes.CDLL(name).getROCmVersion(*map(ctypes.byref, numbers))
    except (OSError, AttributeError):
        return None
    return None if failed else tuple(number.value for number in numbers)
