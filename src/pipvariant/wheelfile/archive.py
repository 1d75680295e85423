"""Zip archives: looked through once, then written anew with most of their bytes copied raw."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from pipvariant.errors import InvalidWheel, PipVariantError
from pipvariant.files import open_regular

# Signatures and sizes of the records (APPNOTE of the zip format, sections 4.3 and 4.5.3).
_LOCAL = b"PK\3\4"
_LOCAL_SIZE = 30
_CENTRAL = b"PK\1\2"
_CENTRAL_SIZE = 46
_ZIP64 = 1
_NEEDED_FOR_ZIP64 = 45
_MOST_16 = 0xFFFF
_MOST_32 = 0xFFFFFFFF
_UTF8_NAME = 0x800

_CHUNK = 1 << 20
#: More of one file is not unpacked; RECORD of fifty thousand files has some five megabytes.
_LARGEST = 32 * 1024 * 1024
#: What Python's reader raises for archives that are damaged or hostile. RuntimeError means that it
#: cannot read an entry: encrypted, or of a compression or version that it does not know.
_DAMAGED: tuple[type[Exception], ...] = (BadZipFile, EOFError, IndexError, OverflowError)
_DAMAGED += (RuntimeError, ValueError, struct.error, zlib.error)
with suppress(ImportError):  # not every Python has it
    from lzma import LZMAError

    _DAMAGED += (LZMAError,)


@contextmanager
def damage(where: str, fault: str, *more: type[Exception]) -> Iterator[None]:
    """Turn whatever Python's reader of archives raises for a damaged one into one error.

    :param where: how messages call the archive.
    :param fault: what they say about it; the words of the reader follow.
    :param more: what else is damage: ``OSError``, unless it can be that of a connection.
    :raises InvalidWheel: the block ended with such an error; errors of this project pass.
    """
    try:
        yield
    except PipVariantError:
        raise
    except _DAMAGED + more as error:
        text = str(error) or type(error).__name__
        raise InvalidWheel(f"{fault}: {text}", where=where) from error


def unpack(archive: ZipFile, entry: ZipInfo, where: str, limit: int = _LARGEST) -> bytes:
    """Return the content of one entry, whose checksum is verified; call it under :func:`damage`.

    :param where: how messages call the archive.
    :param limit: more bytes than this are not unpacked, whatever size the archive declares.
    :raises InvalidWheel: it is larger.
    """
    # Python's reader unpacks no more than it is asked for of these two only.
    if entry.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise BadZipFile(f"{entry.filename!a} is neither stored nor deflated")
    with archive.open(entry) as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise InvalidWheel(f"{entry.filename!a} is bigger than {limit >> 20} MB", where=where)
    return data


def silent(count: int) -> None:
    """Tell nobody that *count* more bytes were copied."""


class Entry(NamedTuple):
    """One file or folder of an archive.

    :param info: what zipfile says about it.
    :param record: its record in the central directory, as it stands.
    :param end: where the next entry or the central directory begins.
    """

    info: ZipInfo
    record: bytes
    end: int

    @property
    def name(self) -> bytes:
        """The name as it is written in the archive."""
        (length,) = struct.unpack_from("<H", self.record, 28)
        return self.record[_CENTRAL_SIZE : _CENTRAL_SIZE + length]


class Archive(AbstractContextManager["Archive"]):
    """A zip archive whose every entry is where the directory says, once, with a safe name.

    :raises InvalidWheel: it is not; with the first fault.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file: BinaryIO = open_regular(path)
        except OSError as error:
            text = error.strerror or str(error)
            raise InvalidWheel(f"cannot be read: {text}", where=str(path)) from error
        try:
            with self._damage():
                self._zip = ZipFile(self._file)
                self.entries: Mapping[str, Entry] = self._look_through()
        except InvalidWheel:
            self._file.close()
            raise

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, name: str, limit: int = _LARGEST) -> bytes:
        """Unpack one entry as :func:`unpack` does.

        :raises InvalidWheel: there is no such entry, or it is damaged or too large.
        """
        if name not in self.entries:
            raise InvalidWheel(f"has no {name!a}", where=str(self.path))
        with self._damage():
            return unpack(self._zip, self.entries[name].info, str(self.path), limit)

    def write(
        self,
        target: BinaryIO,
        *,
        without: Collection[str],
        added: Mapping[str, bytes],
        like: str,
        tell: Callable[[int], None] = silent,
    ) -> None:
        """Write the archive to *target* with some entries left out and others added at its end.

        All other entries keep their bytes: compressed data, names, times, permissions, comments.

        :param without: entries to leave out; one of them may be added anew.
        :param added: name to content; equal content gives equal bytes.
        :param like: the entry whose time, permissions and compression the added ones take, and
            whose name is in the same folder as theirs.
        :param tell: is called with the number of each lot of bytes that were copied.
        :raises InvalidWheel: the archive ends before it should.
        """
        offsets: dict[str, int] = {}
        position = 0
        for name, entry in sorted(
            self.entries.items(), key=lambda item: item[1].info.header_offset
        ):
            if name not in without:
                offsets[name] = position
                position += self._copy(target, entry.info.header_offset, entry.end, tell)
        records = [
            _moved(self.entries[name].record, offsets[name])
            for name in self.entries
            if name in offsets
        ]
        model = self.entries[like]
        for name, data in added.items():
            encoded = model.name[: -len(like.rpartition("/")[2])] + name.rpartition("/")[2].encode()
            local, record = _new(model.record, encoded, data, position)
            target.write(local)
            position += len(local)
            records.append(record)
        target.write(_directory(records, position, self._zip.comment))

    def _damage(self) -> AbstractContextManager[None]:
        return damage(str(self.path), "is damaged or no zip archive", OSError)

    def _look_through(self) -> dict[str, Entry]:
        infos = self._zip.infolist()
        self._file.seek(self._zip.start_dir)
        directory = self._file.read()
        starts = sorted(info.header_offset for info in infos)
        if starts[:1] != [0]:
            raise BadZipFile("it does not begin with an entry")
        ends = dict(zip(starts, [*starts[1:], self._zip.start_dir]))
        entries: dict[str, Entry] = {}
        position = 0
        for info in infos:
            lengths = struct.unpack_from("<3H", directory, position + 28)
            size = _CENTRAL_SIZE + sum(lengths)
            entry = Entry(info, directory[position : position + size], ends[info.header_offset])
            position += size
            self._check(entry)
            name = info.orig_filename
            if name in entries:
                raise InvalidWheel(f"has {name!a} more than once", where=str(self.path))
            entries[name] = entry
        return entries

    def _check(self, entry: Entry) -> None:
        """See that an entry is safe to unpack, and lies where the directory says."""
        name = entry.info.orig_filename
        if _is_unsafe(name):
            raise InvalidWheel(f"the name {name!a} is not safe to unpack", where=str(self.path))
        self._file.seek(entry.info.header_offset)
        header = self._file.read(_LOCAL_SIZE)
        name_length, extra_length = struct.unpack_from("<2H", header, 26)
        begin = entry.info.header_offset + _LOCAL_SIZE + name_length + extra_length
        if (
            header[:4] != _LOCAL
            or entry.record[:4] != _CENTRAL
            or self._file.read(name_length) != entry.name
            or begin + entry.info.compress_size > entry.end
        ):
            raise BadZipFile(f"{name!a} is not where the directory says")

    def _copy(self, target: BinaryIO, start: int, end: int, tell: Callable[[int], None]) -> int:
        self._file.seek(start)
        left = end - start
        while left:
            chunk = self._file.read(min(left, _CHUNK))
            if not chunk:
                raise InvalidWheel("ends before it should", where=str(self.path))
            target.write(chunk)
            tell(len(chunk))
            left -= len(chunk)
        return end - start


def _is_unsafe(name: str) -> bool:
    parts = name.removesuffix("/").split("/")
    return bool(re.search(r"[\\\0]|^[A-Za-z]:", name)) or not {"", ".", ".."}.isdisjoint(parts)


def _moved(record: bytes, offset: int) -> bytes:
    """Return a record of the central directory with another offset, which is never a larger one."""
    sizes_and_offset = struct.unpack_from("<2L14xL", record, 20)
    if sizes_and_offset[-1] == _MOST_32:
        # The extra field of zip64 has those of the three that are too large.
        name_length, extra_length = struct.unpack_from("<2H", record, 28)
        at = _CENTRAL_SIZE + name_length
        end = at + extra_length
        while at < end:
            kind, length = struct.unpack_from("<2H", record, at)
            if kind == _ZIP64:
                at += 4 + 8 * sizes_and_offset[:-1].count(_MOST_32)
                return record[:at] + struct.pack("<Q", offset) + record[at + 8 :]
            at += 4 + length
    return record[:42] + struct.pack("<L", offset) + record[_CENTRAL_SIZE:]


def _new(like: bytes, name: bytes, data: bytes, offset: int) -> tuple[bytes, bytes]:
    """Return a whole new entry, and its record in the central directory.

    :param like: the record of the entry that it resembles.
    """
    made_by, needed, flags, method, time, date = struct.unpack_from("<6H", like, 4)
    method = ZIP_STORED if method == ZIP_STORED else ZIP_DEFLATED
    packed = data
    if method == ZIP_DEFLATED:
        packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, -zlib.MAX_WBITS)
        packed = packer.compress(data) + packer.flush()
    extra = b""
    if offset >= _MOST_32:
        extra = struct.pack("<2HQ", _ZIP64, 8, offset)
        needed = max(needed, _NEEDED_FOR_ZIP64)
    common = struct.pack("<5H", needed, flags & _UTF8_NAME, method, time, date) + struct.pack(
        "<3LH", zlib.crc32(data), len(packed), len(data), len(name)
    )
    local = _LOCAL + common + struct.pack("<H", 0) + name + packed
    record = (
        _CENTRAL
        + struct.pack("<H", made_by)
        + common
        + struct.pack("<3H", len(extra), 0, 0)
        + like[36:42]  # internal and external attributes, among them the permissions
        + struct.pack("<L", min(offset, _MOST_32))
        + name
        + extra
    )
    return local, record


def _directory(records: list[bytes], offset: int, comment: bytes) -> bytes:
    """Return the central directory and all that comes after it."""
    data = b"".join(records)
    count, size, end = len(records), len(data), offset + len(data)
    if count >= _MOST_16 or size >= _MOST_32 or offset >= _MOST_32:
        versions = (_NEEDED_FOR_ZIP64, _NEEDED_FOR_ZIP64)
        data += struct.pack(
            "<4sQ2H2L4Q", b"PK\6\6", 44, *versions, 0, 0, count, count, size, offset
        )
        data += struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    short = min(count, _MOST_16)
    data += struct.pack("<4s4H", b"PK\5\6", 0, 0, short, short)
    data += struct.pack("<2LH", min(size, _MOST_32), min(offset, _MOST_32), len(comment))
    return data + comment
