"""Write a file as a whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipvariant.errors import InvalidOutput
from pipvariant.providers import short_lived


@contextmanager
def replacement(target: Path, like: Path) -> Iterator[Path]:
    """Give a path to write to, which becomes *target* when the block ends without an error.

    :param target: what is there already is replaced; a missing folder is made.
    :param like: the file whose permissions the new one takes.
    :raises InvalidOutput: the system does not let it be written.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with short_lived.file(target.parent) as new:
            yield new
            shutil.copymode(like, new)
            os.replace(new, target)
    except OSError as error:
        text = error.strerror or str(error)
        raise InvalidOutput(f"cannot be written: {text}", where=str(target)) from error
