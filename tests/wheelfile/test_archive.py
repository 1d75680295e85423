"""Zip archives of all kinds keep their bytes; damaged and hostile ones are refused by name."""

from __future__ import annotations

import contextlib
import io
import struct
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipvariant.errors import InvalidWheel
from pipvariant.wheelfile.archive import Archive
from tests.wheelfile.ordinary import INFO, NAME, wheel

RECORD = f"{INFO}/RECORD"
FOUR_GIB = 1 << 32


def rewritten(path: Path) -> bytes:
    """Replace RECORD by a new one, and add one more file."""
    out = io.BytesIO()
    with Archive(path) as archive:
        added = {f"{INFO}/new": b"new" * 9, RECORD: b"record" * 9}
        archive.write(out, without=[RECORD], added=added, like=RECORD)
    return out.getvalue()


def read_all(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("method", (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
def test_what_is_added_can_be_read_beside_every_compression(tmp_path: Path, method: int) -> None:
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a", b"a" * 999)
        archive.writestr(RECORD, b"old")
    assert read_all(rewritten(path)) == {
        "a": b"a" * 999,
        f"{INFO}/new": b"new" * 9,
        RECORD: b"record" * 9,
    }


class Unseekable(io.RawIOBase):
    """A stream that cannot go back, so that sizes come after the data."""

    def __init__(self) -> None:
        self.data = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.data += bytes(data)
        return len(data)


def test_data_descriptors_are_copied_with_the_data(tmp_path: Path) -> None:
    stream: Any = Unseekable()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"a" * 999)
        archive.writestr(RECORD, b"old")
        archive.writestr("b", b"b" * 999)
    path = tmp_path / NAME
    path.write_bytes(stream.data)
    with zipfile.ZipFile(path) as archive:
        assert {info.flag_bits & 8 for info in archive.infolist()} == {8}
    assert read_all(rewritten(path))["b"] == b"b" * 999


def test_comments_of_archive_and_entries_are_kept(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        entry = zipfile.ZipInfo("a")
        entry.comment = b"of a"
        archive.writestr(RECORD, b"old")
        archive.writestr(entry, b"")
        archive.comment = b"of all"
    with zipfile.ZipFile(io.BytesIO(rewritten(path))) as archive:
        assert (archive.comment, archive.getinfo("a").comment) == (b"of all", b"of a")


def test_names_that_are_not_utf8_keep_their_bytes(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("aXb", b"1")
        archive.writestr(RECORD, b"old")
    path.write_bytes(path.read_bytes().replace(b"aXb", b"a\x82b"))
    assert read_all(rewritten(path))["aéb"] == b"1"


def test_an_entry_with_zip64_fields_is_moved(tmp_path: Path) -> None:
    # A small archive in which the second entry says its sizes and offset as a huge one does.
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(RECORD, b"old")
        archive.writestr("big", b"12345")
    data = path.read_bytes()
    start = data.index(b"PK\1\2", data.index(b"PK\1\2") + 1)
    with zipfile.ZipFile(path) as archive:
        offset = archive.getinfo("big").header_offset
    extra = struct.pack("<2H", 7, 2) + b"xx" + struct.pack("<2H3Q", 1, 24, 5, 5, offset)
    record = bytearray(data[start : start + 46])
    record[20:28] = b"\xff" * 8
    record[30:32] = struct.pack("<H", len(extra))
    record[42:46] = b"\xff" * 4
    end = bytearray(data[start + 46 + 3 :])
    end[12:16] = struct.pack("<L", struct.unpack_from("<L", end, 12)[0] + len(extra))
    path.write_bytes(data[:start] + bytes(record) + b"big" + extra + bytes(end))
    assert read_all(path.read_bytes())["big"] == b"12345"
    assert read_all(rewritten(path))["big"] == b"12345"


def copy_with_a_hole(
    self: Archive, target: BinaryIO, start: int, end: int, tell: Callable[[int], None]
) -> int:
    """Copy only the beginning, and leave as much room as there has to be."""
    self._file.seek(start)
    head = self._file.read(min(end - start, 100))
    target.write(head)
    target.seek(end - start - len(head), io.SEEK_CUR)
    return end - start


def test_an_archive_of_more_than_four_gibibytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Between the entries is a hole, which costs no disk; not to read it saves the time.
    monkeypatch.setattr(Archive, "_copy", copy_with_a_hole)
    source = tmp_path / NAME
    with source.open("wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a", b"1")
        archive.start_dir = FOUR_GIB + 7
        archive.writestr("b", b"2")
        archive.writestr(RECORD, b"old")
    target = tmp_path / "out"
    with target.open("wb") as stream, Archive(source) as old:
        added = {f"{INFO}/new": b"new", RECORD: b"record"}
        old.write(stream, without=[RECORD], added=added, like=RECORD)
    with zipfile.ZipFile(target) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
        assert archive.getinfo("b").header_offset == FOUR_GIB + 7
    assert found == {"a": b"1", "b": b"2", f"{INFO}/new": b"new", RECORD: b"record"}


def test_an_archive_of_more_than_65535_entries(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(65_536):
            archive.writestr(zipfile.ZipInfo(str(number)), b"")
        archive.writestr(RECORD, b"old")
    with zipfile.ZipFile(io.BytesIO(rewritten(path))) as archive:
        assert len(archive.namelist()) == 65_538


@pytest.mark.parametrize(
    "name",
    ("../a", "a/../b", "/a", "a//b", "./a", "a/.", "C:/a", "c:a", "a\\b", "\\\\server\\a", "/"),
)
def test_unsafe_names_are_refused(tmp_path: Path, name: str) -> None:
    path = wheel(tmp_path, unlisted=[(name, b"")])
    with pytest.raises(InvalidWheel, match="is not safe to unpack"):
        Archive(path)


def test_a_name_with_a_nul_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path, unlisted=[("aXb", b"")])
    path.write_bytes(path.read_bytes().replace(b"aXb", b"a\0b"))
    with pytest.raises(InvalidWheel, match="is not safe to unpack"):
        Archive(path)


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = wheel(tmp_path, unlisted=[("a", b"1"), ("a", b"2")])
    with pytest.raises(InvalidWheel, match="has 'a' more than once"):
        Archive(path)


def test_bytes_before_the_first_entry_are_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    path.write_bytes(b"#!/bin/sh\n" + path.read_bytes())
    with pytest.raises(InvalidWheel, match="does not begin with an entry"):
        Archive(path)


def test_a_name_that_differs_between_entry_and_directory_is_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path, unlisted=[("aXb", b"")])
    data = path.read_bytes()
    path.write_bytes(data.replace(b"aXb", b"aYb", 1))
    with pytest.raises(InvalidWheel, match="'aXb' is not where the directory says"):
        Archive(path)


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    path = wheel(tmp_path, unlisted=[("a", b"1" * 50)])
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\1\2")
    data[place + 20 : place + 24] = struct.pack("<L", 99_999)
    path.write_bytes(bytes(data))
    with pytest.raises(InvalidWheel, match="'a' is not where the directory says"):
        Archive(path)


@pytest.mark.parametrize("content", (b"", b"no zip", b"<html>", b"PK\3\4", b"PK\5\6" + bytes(18)))
def test_a_file_that_is_no_archive_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(InvalidWheel, match="is damaged or no zip archive") as raised:
        Archive(path)
    assert raised.value.where == str(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidWheel, match="cannot be read: No such file"):
        Archive(tmp_path / NAME)


def test_a_damaged_entry_is_named_when_it_is_read(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    with zipfile.ZipFile(path) as archive:
        place = archive.getinfo(RECORD).header_offset + 30 + len(RECORD) + 9
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    with Archive(path) as archive, pytest.raises(InvalidWheel, match="is damaged"):
        archive.read(RECORD, 1 << 20)


def test_an_encrypted_entry_is_not_read(tmp_path: Path) -> None:
    path = wheel(tmp_path)
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\1\2")
    data[place + 8] |= 1
    path.write_bytes(bytes(data))
    with Archive(path) as archive, pytest.raises(InvalidWheel, match="encrypted"):
        archive.read(RECORD, 1 << 20)


def test_no_more_is_unpacked_than_asked_for(tmp_path: Path) -> None:
    path = wheel(tmp_path, more={"bomb": bytes(2 << 20)})
    with Archive(path) as archive, pytest.raises(InvalidWheel, match="'bomb' is bigger than 1 MB"):
        archive.read("bomb", 1 << 20)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_no_damage_leads_to_another_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    whole = wheel(folder, unlisted=[("last", b"x" * 40)]).read_bytes()
    damaged = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged) - 1))
        damaged[place] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(1, len(damaged))) :]
    path = folder / NAME
    path.write_bytes(bytes(damaged))
    with contextlib.suppress(InvalidWheel):
        with Archive(path) as archive:
            intact = RECORD in archive.entries
        if intact:
            rewritten(path)
