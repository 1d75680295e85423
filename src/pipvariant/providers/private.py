"""Folders and files that nobody but this user can have written or put into their places."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make a folder for this user alone, as :func:`check_private` wants it.

    :raises OSError: it cannot be made, or is not for this user alone.
    """
    for path in (*reversed(folder.parents), folder):
        if not path.exists() and not path.is_symlink():
            if not _is_ours(path.parent.stat()):
                raise PermissionError(f"{path.parent} belongs to another user")
            # Another process may be as far as this one.
            with contextlib.suppress(FileExistsError):
                path.mkdir(mode=0o700)
    check_private(folder)


def check_private(folder: Path) -> None:
    """See that a folder, and the one that it is in, are this user's own and no links.

    Of everything above them, wherever links lead, others must not be able to put something else
    into its place.

    :raises OSError: it is not so, with the reason, or there is no such folder.
    """
    own = (folder.parent, folder)
    for path in own:
        if path.is_symlink():
            raise PermissionError(f"{path} is a link")
    if os.name == "posix":
        # Windows has no such bits; there the folder is the user's own.
        above = own[0].parent
        for path in {*above.parents, above, *above.resolve().parents, above.resolve()}:
            _check_above(path)
    for path in own:
        status = path.lstat()
        if not _is_ours(status):
            raise PermissionError(f"{path} belongs to another user")
        if not stat.S_ISDIR(status.st_mode):
            raise NotADirectoryError(f"{path} is no folder")
        if _is_open(status) and (path == folder or not _is_open_to_us_only(status)):
            raise PermissionError(f"others can write to {path}")


def is_private(status: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Whether something is of the kind, and nobody but this user can have written it."""
    return kind(status.st_mode) and _is_ours(status) and not _is_open(status)


def _check_above(path: Path) -> None:
    status = path.lstat()
    # Whoever has the root folder has everything.
    if status.st_uid not in (0, os.geteuid(), os.stat("/").st_uid):
        raise PermissionError(f"{path} belongs to another user")
    if stat.S_ISLNK(status.st_mode):
        return
    # In a sticky folder nobody can replace what belongs to another user.
    is_sticky = status.st_mode & stat.S_ISVTX
    if _is_open(status) and not is_sticky and not _is_open_to_us_only(status):
        raise PermissionError(f"others can write to {path}")


def _is_open(status: os.stat_result) -> bool:
    """Whether the permissions let others write."""
    return os.name == "posix" and bool(status.st_mode & 0o022)


def _is_open_to_us_only(status: os.stat_result) -> bool:
    """Whether the others are the user's own group, which on many systems has no other member."""
    return not status.st_mode & stat.S_IWOTH and status.st_gid == os.getegid()


def _is_ours(status: os.stat_result) -> bool:
    """Whether something belongs to this user."""
    return os.name != "posix" or status.st_uid == os.geteuid()
