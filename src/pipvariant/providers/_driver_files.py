"""Where the libraries of the NVIDIA driver can be: a look at files, no library loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["LIBCUDA", "NVML", "ROOT", "WELL_KNOWN", "any_library", "kernel_driver"]

NVML = "libnvidia-ml.so.1"
LIBCUDA = "libcuda.so.1"

#: The root of the file system.
ROOT = Path("/")

#: Folders below the root that drivers, containers and distributions put the libraries in.
WELL_KNOWN = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "lib64",
    "lib",
    "usr/lib/x86_64-linux-gnu/nvidia/current",
    "usr/lib64/nvidia",
    "usr/lib/nvidia",
    "usr/lib/wsl/lib",
    "usr/local/nvidia/lib64",
    "usr/local/nvidia/lib",
    "usr/local/cuda/compat",
    "usr/lib/aarch64-linux-gnu/nvidia",
    "usr/lib/aarch64-linux-gnu/tegra",
    "run/opengl-driver/lib",
)


def any_library(environ: Mapping[str, str], *, root: Path | None = None) -> bool:
    """Whether NVML or libcuda can be on this machine at all; costs a few looks at files.

    :param environ: says where the loader looks first (``LD_LIBRARY_PATH``), and on Windows where
        the system is.
    :param root: the root of the file system, :data:`ROOT` if None.
    """
    if sys.platform == "win32":
        return any(path.is_file() for path in _windows(environ))
    if sys.platform != "linux":
        return False
    root = ROOT if root is None else root
    loader = environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    folders = [Path(folder) for folder in loader if folder]
    folders += [root / folder for folder in WELL_KNOWN]
    if any(os.path.exists(folder / name) for folder in folders for name in (LIBCUDA, NVML)):
        return True
    try:
        cache = (root / "etc/ld.so.cache").read_bytes()
    except OSError:
        return False
    return any(name.encode() + b"\0" in cache for name in (LIBCUDA, NVML))


def kernel_driver(*, root: Path | None = None) -> bool:
    """Whether the kernel has the NVIDIA driver loaded, which containers can see too."""
    return ((ROOT if root is None else root) / "proc/driver/nvidia/version").exists()


def _windows(environ: Mapping[str, str]) -> Iterator[Path]:
    system = Path(environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
    yield system / "nvcuda.dll"
    yield system / "nvml.dll"
    programs = Path(environ.get("PROGRAMFILES", r"C:\Program Files"))
    yield programs / "NVIDIA Corporation" / "NVSMI" / "nvml.dll"
