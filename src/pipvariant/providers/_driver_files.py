"""Where the libraries of GPU drivers can be: found by looking at files, loaded as programs do."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ctypes

NVML = "libnvidia-ml.so.1"
LIBCUDA = "libcuda.so.1"
LEVEL_ZERO = "libze_loader.so.1"

#: Stands for the return code of a function that is not there.
NO_FUNCTION = -1

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
    "usr/lib/aarch64-linux-gnu/nvidia",
    "usr/lib/aarch64-linux-gnu/tegra",
    "run/opengl-driver/lib",
)

# The same libraries on Windows: the variable of a folder, its default, the path below it.
_SYSTEM = ("SYSTEMROOT", r"C:\Windows")
_PROGRAMS = ("PROGRAMFILES", r"C:\Program Files")
_WINDOWS = {
    NVML: (
        (*_SYSTEM, "System32/nvml.dll"),
        (*_PROGRAMS, "NVIDIA Corporation/NVSMI/nvml.dll"),
    ),
    LIBCUDA: ((*_SYSTEM, "System32/nvcuda.dll"),),
    LEVEL_ZERO: ((*_SYSTEM, "System32/ze_loader.dll"),),
}


def find_libraries(names: Sequence[str], environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Find what says that a library can be here; costs a few looks at files.

    :param names: the libraries, by their names on Linux.
    :param environ: says where the loader looks first (``LD_LIBRARY_PATH``), and on Windows where
        the system is.
    :returns: the libraries, and the cache of the loader where it lists one; nothing where none of
        them can be on this machine.
    """
    return tuple(_find_libraries(names, environ))


def _find_libraries(names: Sequence[str], environ: Mapping[str, str]) -> Iterator[Path]:
    """Look where Windows has them, or into the loader's variable, known folders and its cache."""
    if sys.platform == "win32":
        places = (place for name in names for place in _WINDOWS.get(name, ()))
        paths = (Path(environ.get(name, default)) / path for name, default, path in places)
        yield from filter(os.path.isfile, paths)
    if sys.platform != "linux":
        return
    folders = environ.get("LD_LIBRARY_PATH", "").replace(";", ":").split(":")
    for folder in (*filter(None, folders), *(os.path.join(ROOT, folder) for folder in WELL_KNOWN)):
        paths = (Path(folder, name) for name in names)
        yield from filter(os.path.exists, paths)
    cache = ROOT / "etc/ld.so.cache"
    with contextlib.suppress(OSError):
        known = cache.read_bytes()
        if any(name.encode() + b"\0" in known for name in names):
            yield cache


def list_folder(folder: Path) -> list[str]:
    """Name what is in a folder, in order; nothing where it cannot be looked into."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def read_start(path: Path) -> str | None:
    """Read a small file of the kernel or of a driver; None where that cannot be."""
    try:
        with open(path, encoding="ascii", errors="replace") as stream:
            return stream.read(1024)
    except OSError:
        return None


def load_library(name: str, root: Path) -> ctypes.CDLL:
    """Load a library as programs do, by its name; one that is not found, from a well-known folder.

    :param name: its name on Linux.
    :param root: the root of the file system.
    :raises OSError: it is not there, or cannot be loaded.
    """
    import ctypes

    if sys.platform == "win32":
        return ctypes.CDLL(Path(_WINDOWS[name][0][2]).name)
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        # One that is found and cannot be loaded fails for programs too.
        for folder in WELL_KNOWN if "No such file" in str(error) else ():
            path = os.path.join(root, folder, name)
            if os.path.exists(path):
                return ctypes.CDLL(path)
        raise


def call_function(library: ctypes.CDLL, name: str, *arguments: Any) -> int:
    """Call one function of a library and give its return code, or :data:`NO_FUNCTION`."""
    import ctypes

    try:
        function = getattr(library, name)
    except AttributeError:
        return NO_FUNCTION
    function.restype = ctypes.c_uint32
    return int(function(*arguments))


def file_state(path: Path) -> str:
    """Describe a file, there or not, so that another state is described differently."""
    try:
        status = path.stat()
    except OSError:
        return f"{path}: not there"
    return f"{path}: {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_mode:o}"
