"""Files of the ``.dist-info`` folder, read out of a wheel without unpacking the rest of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

from pipvariant.errors import InvalidWheel
from pipvariant.files import open_regular
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.wheelfile.archive import damage, unpack

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

METADATA = "METADATA"
RECORD = "RECORD"
VARIANT_JSON = "variant.json"


def read(file: Path | IO[bytes], names: Collection[str], *, where: str = "") -> dict[str, bytes]:
    """Return those of the named files that the wheel has, by their path (PEP 427).

    Only they and the directory of the archive are read.

    :param file: path or seekable stream of the wheel.
    :param where: how messages call the wheel.
    :raises InvalidWheel: it is no archive, or a file is damaged, too large or there twice.
    """
    found: dict[str, bytes] = {}
    with damage(where, "is no readable wheel", OSError), _opened(file) as archive:
        for entry in _entries(archive, names):
            if entry.filename in found:
                raise InvalidWheel(f"has {entry.filename!a} more than once", where=where)
            found[entry.filename] = unpack(archive, entry, where)
    return found


def read_one(wheel: Path, name: str) -> bytes:
    """Return the one file of this name (PEP 427).

    :raises InvalidWheel: as :func:`read` does, or there is none or one in several folders.
    """
    found = read(wheel, {name}, where=str(wheel))
    if len(found) != 1:
        raise InvalidWheel(f"has {len(found) or 'no'} {name} inside", where=str(wheel))
    return found.popitem()[1]


def read_from_wheel(file: str | IO[bytes], label: str, where: str) -> Metadata:
    """Return what the ``variant.json`` inside a wheel says (PEP 825, ``.dist-info/variant.json``).

    :param file: path or seekable stream of the wheel; an ``OSError`` of a stream passes.
    :param label: the label that it has to be for.
    :param where: how messages call the wheel.
    :raises InvalidWheel: it is no archive, or has none, several, or one that is damaged or huge.
    :raises InvalidMetadata: it is wrong, or for another label.
    """
    # The errors of a connection are not those of the wheel.
    more = (OSError,) if isinstance(file, str) else ()
    with damage(where, "not a readable wheel", *more), _opened(file) as archive:
        metadata = read_from_archive(archive, label, where)
    if metadata is None:
        raise InvalidWheel(f"the wheel has no {VARIANT_JSON} inside", where=where)
    return metadata


def read_from_archive(archive: ZipFile, label: str | None, where: str) -> Metadata | None:
    """Return what the ``variant.json`` of an open wheel says, None if it has none.

    Parameters and errors are those of :func:`read_from_wheel`; None accepts any label.
    """
    from pipvariant.standard.metadata import read_variant_json

    entries = list(_entries(archive, {VARIANT_JSON}))
    if not entries:
        return None
    (entry, *others) = entries
    if others:
        raise InvalidWheel(f"the wheel has {len(entries)} {VARIANT_JSON} inside", where=where)
    with damage(where, "not a readable wheel"):
        data = unpack(archive, entry, where, MAX_BYTES)
    return read_variant_json(data, label=label, where=where)


@contextmanager
def _opened(file: str | Path | IO[bytes]) -> Iterator[ZipFile]:
    with ExitStack() as opened:
        if isinstance(file, (str, Path)):
            file = opened.enter_context(open_regular(file))
        yield opened.enter_context(ZipFile(file))


def _entries(archive: ZipFile, names: Collection[str]) -> Iterator[ZipInfo]:
    """Yield the entries of these names in a ``.dist-info`` folder that is in no other one."""
    for entry in archive.infolist():
        folder, _, name = entry.filename.partition("/")
        if name in names and folder.endswith(".dist-info"):
            yield entry
