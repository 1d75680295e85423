"""Write a file as a whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pipvariant.errors import InvalidOutput
from pipvariant.providers.short_lived import held


@contextmanager
def replacement(target: Path, like: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes *target* when the block ends without an error.

    :param target: what is there already is replaced; a missing folder is made.
    :param like: the file whose permissions the new one takes.
    :raises InvalidOutput: the system does not let it be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with held(partial(_new_file, target.parent), _remove) as new:
            yield new
            shutil.copymode(like, new)
            os.replace(new, target)
    except OSError as error:
        text = error.strerror or str(error)
        raise InvalidOutput(f"cannot be written: {text}", where=str(target)) from error


def _new_file(folder: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=".new-", dir=folder)
    os.close(handle)
    return Path(name)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
