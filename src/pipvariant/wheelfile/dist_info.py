"""Files of the ``.dist-info`` folder, read out of a wheel without unpacking the rest of it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import IO
from zipfile import ZipFile

from pipvariant.errors import InvalidWheel
from pipvariant.wheelfile.archive import UNREADABLE

__all__ = ["LARGEST", "METADATA", "RECORD", "VARIANT_JSON", "read"]

METADATA = "METADATA"
RECORD = "RECORD"
VARIANT_JSON = "variant.json"

#: A larger file is refused; RECORD of fifty thousand files has some five megabytes.
LARGEST = 64 * 1024 * 1024


def read(file: Path | IO[bytes], names: Collection[str], *, where: str = "") -> dict[str, bytes]:
    """Return those of the named files that the wheel has, by their path (PEP 427).

    Only they and the directory of the archive are read.

    :param file: path or seekable stream of the wheel.
    :param names: such as ``METADATA``.
    :param where: how messages call the wheel.
    :raises InvalidWheel: it is no archive, or a file is damaged, too large or there twice.
    """
    found: dict[str, bytes] = {}
    try:
        with ZipFile(file) as archive:
            for entry in archive.infolist():
                folder, _, name = entry.filename.partition("/")
                if name not in names or not folder.endswith(".dist-info"):
                    continue
                if entry.filename in found:
                    raise InvalidWheel(f"has {entry.filename!a} twice", where=where)
                with archive.open(entry) as stream:
                    data = stream.read(LARGEST + 1)
                if len(data) > LARGEST:
                    raise InvalidWheel(f"{entry.filename!a} is too large", where=where)
                found[entry.filename] = data
    except UNREADABLE as error:
        if isinstance(error, InvalidWheel):
            raise
        text = str(error) or type(error).__name__
        raise InvalidWheel(f"is no readable wheel: {text}", where=where) from error
    return found
