"""What probes reported, kept on disk for as long as this machine stays started."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from pipvariant import __version__
from pipvariant.errors import ProbeFailed
from pipvariant.log import logger
from pipvariant.providers import probe, short_lived
from pipvariant.providers.answers import R
from pipvariant.providers.private import check_private, is_private, make_private

#: Set to anything, this variable of pip's means that nothing is read from or written to disk.
NO_CACHE = "PIP_NO_CACHE_DIR"

#: Where Linux names the time since it was started.
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

#: So many reports are kept.
MAX_FILES = 32

_MAX_BYTES = probe.MAX_OUTPUT + 64 * 1024


def query_probe(
    module: str,
    *arguments: str,
    judge: Callable[[object], R],
    environ: Mapping[str, str],
    signs: Iterable[str],
    refresh: bool,
) -> R:
    """Judge what a probe reported since this machine was started, or run it now.

    Only a report without problems is kept: a remedy must show its effect at once.

    :param module: the module of the probe.
    :param arguments: what its ``report`` is given.
    :param judge: says what a report means; it raises ProbeFailed for one without sense.
    :param environ: the variables for the probe; they also say where the user's caches are.
    :param signs: what is different as soon as the report can be, such as the state of files.
    :param refresh: run the probe in any case, and keep the new report in place of the old one.
    :raises ProbeFailed: as ``run_probe`` and ``judge`` do; nothing is kept then.
    """

    def run() -> object:
        return probe.run_probe(module, *arguments, environ=environ)

    place = None if environ.get(NO_CACHE) else cache_folder(environ)
    boot = _boot() if place is not None else ""
    if place is None or not boot:
        return judge(run())
    key = [__version__, boot, _container(), sys.platform, str(sys.maxsize), sys.base_prefix]
    variables = probe.clean_environment(environ)
    # A library may be found by it, but is not, and it changes with every virtual environment.
    variables.pop("PATH", None)
    key += [module, *arguments, json.dumps(variables, sort_keys=True), *signs]
    path = place / f"{hash_of(key)}.json"
    if not refresh:
        with contextlib.suppress(ProbeFailed):
            return judge(_read_kept(path, key))
    judged = judge(report := run())
    if not judged.problems:
        _keep_report(path, {"key": key, "report": report})
    elif refresh:
        with contextlib.suppress(OSError):
            path.unlink()
    return judged


def cache_folder(environ: Mapping[str, str]) -> Path | None:
    """Say where reports are kept, None without a home folder that exists.

    :param environ: has ``XDG_CACHE_HOME`` and ``HOME``, on Windows ``LOCALAPPDATA``.
    """
    home = environ.get("LOCALAPPDATA" if sys.platform == "win32" else "HOME", "")
    if not os.path.isabs(home) or not os.path.isdir(home):
        return None
    base = Path(home)
    if sys.platform == "darwin":
        base = base / "Library" / "Caches"
    elif sys.platform != "win32":
        given = environ.get("XDG_CACHE_HOME", "")
        base = Path(given) if os.path.isabs(given) else base / ".cache"
    return base / "pip-variant" / "probes"


def _boot() -> str:
    """Name the time since this machine was started; empty where it cannot be told."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if sys.platform == "win32":
            import winreg

            manager = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management"
            path = rf"{manager}\PrefetchParameters"
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as parameters:
                return str(winreg.QueryValueEx(parameters, "BootId")[0])
        if sys.platform == "darwin":
            import ctypes

            text, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
            query = ctypes.CDLL(None).sysctlbyname
            failed = query(b"kern.bootsessionuuid", text, ctypes.byref(size), None, 0)
            return "" if failed else text.value.decode("ascii")
        return BOOT_ID.read_text(encoding="ascii").strip()
    return ""


def _container() -> str:
    """Name the view of the file system that this process has, where the system has several."""
    try:
        return str(os.stat("/proc/self/ns/mnt").st_ino)
    except OSError:
        return ""


def hash_of(key: Sequence[str]) -> str:
    """Name what is kept under a key."""
    import hashlib

    return hashlib.sha256("\0".join(key).encode(errors="backslashreplace")).hexdigest()


def _read_kept(path: Path, key: list[str]) -> object:
    """Read a report that this user kept under this key, None if there is no such report."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        check_private(path.parent)
        with open(os.open(path, flags), "rb") as stream:
            status = os.fstat(stream.fileno())
            if not is_private(status, stat.S_ISREG) or status.st_size > _MAX_BYTES:
                return None
            kept = json.loads(stream.read())
    except (OSError, ValueError, RecursionError):
        return None
    return kept.get("report") if isinstance(kept, dict) and kept.get("key") == key else None


def _keep_report(path: Path, kept: Mapping[str, object]) -> None:
    """Keep a report for this user alone; where that is not possible, it is not kept."""
    place = path.parent
    try:
        make_private(place)
        with short_lived.file(place) as new:
            new.write_text(json.dumps(kept), encoding="ascii")
            os.replace(new, path)
        reports = [file for file in place.glob("*.json") if stat.S_ISREG(file.lstat().st_mode)]
        for file in sorted(reports, key=lambda file: file.lstat().st_mtime)[:-MAX_FILES]:
            file.unlink()
    except OSError as error:
        logger.debug("What the probe reported is not kept for later runs: %s", error)
