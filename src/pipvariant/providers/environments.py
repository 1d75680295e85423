"""Isolated environments of plugin packages, filled once and kept on disk."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import sys
import sysconfig
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from pipvariant.errors import ProbeFailed
from pipvariant.providers import short_lived
from pipvariant.providers.probe_cache import hash_of, is_private, make_private

#: So many environments are kept; the one that was not used for the longest time goes first.
MAX_KEPT = 16

# Seconds after which an environment that is still being filled was given up by its process.
_ABANDONED = 24 * 3600

_RECORD = "environment.json"
_SITE = "site"
_NEW = ".new-"


class Environment(NamedTuple):
    """Packages in a folder of their own.

    :param site: the folder.
    :param packages: what is in it, such as ``acme-provider 1.0``.
    """

    site: Path
    packages: tuple[str, ...]


def provide_environment(
    folder: Path, key: Sequence[str], fill: Callable[[Path], Sequence[str]], *, refresh: bool
) -> Environment:
    """Return the environment that is kept under a key, or fill it now.

    It becomes visible complete or not at all, so that processes may do this at the same time.

    :param folder: where environments are kept, for this user alone; it is made if it is missing.
    :param key: all that decides what is in the environment.
    :param fill: installs packages into an empty folder and returns what they are; what it raises
        is not caught.
    :param refresh: fill it in any case, in place of the one that is kept.
    :raises ProbeFailed: there is no room for it on the disk, or it could be somebody else's.
    """
    # Not the interpreter's path: virtual environments of one Python share what is kept.
    key = [*key, sys.version, sysconfig.get_platform()]
    place = folder / hash_of(key)[:32]
    if not refresh and (found := _read_environment(place, key)):
        return found
    try:
        make_private(folder)
        with short_lived.folder(_NEW, folder) as new:
            site = new / _SITE
            site.mkdir()
            packages = fill(site)
            files = (path for path in site.rglob("*") if not path.is_dir())
            sizes = {str(path.relative_to(site)): path.lstat().st_size for path in files}
            record = {"key": key, "packages": list(packages), "files": sizes}
            (new / _RECORD).write_text(json.dumps(record), encoding="utf-8")
            # Another process may have been faster.
            if not refresh and (found := _read_environment(place, key)):
                return found
            _put(new, place)
            _tidy(folder, place)
    except OSError as error:
        raise ProbeFailed(f"{folder}: no environment can be made: {error}") from error
    return Environment(place / _SITE, tuple(packages))


def _read_environment(place: Path, key: Sequence[str]) -> Environment | None:
    """Return the environment of this key, None if there is none or a file of it is damaged."""
    record = place / _RECORD
    try:
        if not all(is_private(s, stat.S_ISDIR) for s in (place.parent.stat(), place.lstat())):
            return None
        kept = json.loads(record.read_bytes())
        site = place / _SITE
        # What a plugin adds to its own folder is no damage.
        if kept["key"] != list(key) or any(
            os.lstat(site / name).st_size != size for name, size in kept["files"].items()
        ):
            return None
        packages = tuple(map(str, kept["packages"]))
        os.utime(record)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Environment(site, packages)


def _put(new: Path, place: Path) -> None:
    """Let a filled environment take the place of what is there."""
    with contextlib.suppress(OSError):
        place.rename(new / "old")
    try:
        new.rename(place)
    except OSError:
        # Another process was faster, with the same packages.
        if not place.exists():
            raise
    shutil.rmtree(place / "old", ignore_errors=True)


def _tidy(folder: Path, used: Path) -> None:
    """Remove what was abandoned, and of the environments those that were not used for long."""
    ages: list[tuple[float, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.name.startswith(_NEW):
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
            elif path != used:
                ages.append(((path / _RECORD).stat().st_mtime, path))
    ages.sort()
    for _, path in ages[: max(len(ages) + 1 - MAX_KEPT, 0)]:
        shutil.rmtree(path, ignore_errors=True)
