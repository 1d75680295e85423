"""Files of this machine that somebody else may have put there."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: str | Path) -> BinaryIO:
    """Open a file for reading; a pipe would keep us waiting, and a device has no end.

    :raises OSError: there is none, or it is something else than a regular file.
    """
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return Path(path).open("rb")


def read_regular(path: Path) -> bytes:
    """Return the content of a file, opened by :func:`open_regular`."""
    with open_regular(path) as stream:
        return stream.read()
