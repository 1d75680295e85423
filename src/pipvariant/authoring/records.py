"""``RECORD`` of a wheel: one line for each file, with its hash and size (PEP 376, PEP 427)."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Iterator

__all__ = ["line", "listed", "matches", "with_line", "without_line"]


def line(path: str, data: bytes) -> str:
    """Return the line of one file, without an end of line."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}"


def listed(record: bytes) -> dict[str, str]:
    """Read a whole RECORD: path to the rest of its line, which is empty for RECORD itself.

    :raises ValueError: it is not UTF-8 or not CSV, or a line has not exactly three fields.
    """
    result = {}
    try:
        for row in csv.reader(io.StringIO(record.decode(), newline="")):
            if len(row) == 3:
                result[row[0]] = ",".join(row[1:]).strip(",")
            elif row:
                raise ValueError(f"{row[0]!a} has {len(row)} fields, not 3")
    except csv.Error as error:
        raise ValueError(str(error)) from error
    return result


def matches(entry: str, data: bytes) -> bool:
    """Tell whether the fields behind a path in RECORD, hash and size, are those of *data*."""
    digest, _, size = entry.partition(",")
    algorithm, _, expected = digest.partition("=")
    try:
        found = (
            base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
        )
    except (TypeError, ValueError):  # no algorithm that Python has, or one of variable length
        return False
    return (found, str(len(data))) == (expected.rstrip("="), size)


def with_line(record: bytes, path: str, new: str) -> bytes:
    """Add a line before the one of *path*, or in front of all; the others keep their bytes."""
    lines = record.splitlines(keepends=True)
    ending = b"\r\n" if lines and lines[0].endswith(b"\r\n") else b"\n"
    place = next(_places(lines, path), 0)
    return b"".join([*lines[:place], new.encode() + ending, *lines[place:]])


def without_line(record: bytes, path: str) -> bytes:
    """Take the line of *path* away; the others keep their bytes."""
    lines = record.splitlines(keepends=True)
    gone = set(_places(lines, path))
    return b"".join(kept for number, kept in enumerate(lines) if number not in gone)


def _places(lines: list[bytes], path: str) -> Iterator[int]:
    starts = (f"{path},".encode(), f'"{path}",'.encode())
    return (number for number, text in enumerate(lines) if text.startswith(starts))
