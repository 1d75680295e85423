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
import weakref
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from pipvariant.errors import ProbeFailed
from pipvariant.providers import short_lived
from pipvariant.providers.private import check_private, is_private, make_private
from pipvariant.providers.probe_cache import hash_of

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
    :param not_kept: why it could not be kept for later runs; empty if it is, or need not be.
    """

    site: Path
    packages: tuple[str, ...]
    not_kept: str = ""


class Environments:
    """Gives environments, those that are kept or new ones.

    :param folder: where they are kept, for this user alone; it is made if it is missing. None keeps
        them as long as this object is there.
    :param refresh: fill them in any case, in place of those that are kept.
    """

    def __init__(self, folder: Path | None, *, refresh: bool) -> None:
        self._folder = folder
        self._refresh = refresh
        self._stack = ExitStack()
        weakref.finalize(self, self._stack.close)

    def provide(self, key: Sequence[str], fill: Callable[[Path], Sequence[str]]) -> Environment:
        """Return the environment that is kept under a key, or fill it now.

        It is kept complete or not at all, so that processes may do this at the same time. One that
        cannot be kept serves as well, as long as this object is there.

        :param key: all that decides what is in the environment.
        :param fill: installs packages into an empty folder and returns what they are; what it
            raises is not caught.
        :raises ProbeFailed: there is no folder to fill.
        """
        # Not the interpreter's path: virtual environments of one Python share what is kept.
        key = [*key, sys.version, sysconfig.get_platform()]
        place = self._folder and self._folder / hash_of(key)[:32]
        if place and not self._refresh and (found := _read_environment(place, key)):
            return found
        try:
            new = self._stack.enter_context(short_lived.folder())
            site = new / _SITE
            site.mkdir()
        except OSError as error:
            raise ProbeFailed(f"no temporary folder can be made: {error}") from error
        made = Environment(site, tuple(fill(site)))
        if place is None:
            return made
        try:
            self._keep(new, made.packages, place, key)
        except OSError as error:
            return made._replace(not_kept=_reason(error))
        shutil.rmtree(new, ignore_errors=True)
        return Environment(place / _SITE, made.packages)

    def _keep(self, new: Path, packages: Sequence[str], place: Path, key: Sequence[str]) -> None:
        make_private(place.parent)
        with short_lived.folder(_NEW, place.parent) as beside:
            whole = beside / "whole"
            shutil.copytree(new, whole, symlinks=True)
            files = (path for path in (whole / _SITE).rglob("*") if not path.is_dir())
            sizes = {str(path.relative_to(whole / _SITE)): path.lstat().st_size for path in files}
            record = {"key": key, "packages": list(packages), "files": sizes}
            (whole / _RECORD).write_text(json.dumps(record), encoding="utf-8")
            # Another process may have been faster.
            if self._refresh or not _read_environment(place, key):
                with contextlib.suppress(FileNotFoundError):
                    place.rename(beside / "old")
                _put(whole, place)
        _tidy(place.parent, place)


def _read_environment(place: Path, key: Sequence[str]) -> Environment | None:
    """Return the environment of this key, None if there is none or a file of it is damaged."""
    record = place / _RECORD
    try:
        check_private(place.parent)
        if not is_private(place.lstat(), stat.S_ISDIR):
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
    """Let a filled environment take an empty place."""
    try:
        new.rename(place)
    except OSError:
        # Another process was faster, with the same packages.
        if not place.exists():
            raise


def _tidy(folder: Path, used: Path) -> None:
    """Remove what was abandoned, and of the environments those that were not used for long."""
    ages: list[tuple[float, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.name.startswith(_NEW):
                if path.lstat().st_mtime < time.time() - _ABANDONED:
                    shutil.rmtree(path, ignore_errors=True)
            elif path != used and is_private(path.lstat(), stat.S_ISDIR):
                ages.append(((path / _RECORD).lstat().st_mtime, path))
    ages.sort()
    for _, path in ages[: max(len(ages) + 1 - MAX_KEPT, 0)]:
        # A link is never followed.
        shutil.rmtree(path, ignore_errors=True)


def _reason(error: OSError) -> str:
    """Say in words what the system would not do."""
    if isinstance(error, shutil.Error):
        # One for each file, as texts with the number of the error in front and the paths behind.
        _, target, text = error.args[0][0]
        return f"{target}: {text.partition('] ')[2].partition(': ')[0] or text}"
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)
