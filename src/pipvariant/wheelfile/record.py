"""``RECORD`` of a wheel: one line for each file, with its hash and size (PEP 376, PEP 427)."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
from collections.abc import Iterator


def line(path: str, data: bytes) -> str:
    """Return the line of one file, without an end of line."""
    return f"{path},sha256={_digest('sha256', data)},{len(data)}"


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
        found = _digest(algorithm, data)
    except (TypeError, ValueError):  # no algorithm that Python has, or one of variable length
        return False
    return (found, str(len(data))) == (expected.rstrip("="), size)


def with_line(record: bytes, path: str, new: str) -> bytes:
    """Add a line before the one of *path*, or in front of all; the others keep their bytes.

    :param record: a whole RECORD that :func:`listed` can read.
    :param new: as :func:`line` returns it.
    """
    rows = list(_rows(record))
    ending = b"\r\n" if rows and rows[0][1].endswith(b"\r\n") else b"\n"
    place = next((number for number, (name, _) in enumerate(rows) if name == path), 0)
    rows.insert(place, (path, new.encode() + ending))
    return b"".join(row for _, row in rows)


def without_line(record: bytes, path: str) -> bytes:
    """Take the line of *path* away; the others keep their bytes."""
    return b"".join(row for name, row in _rows(record) if name != path)


def _rows(record: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of each row, which has several lines where a path has."""
    lines = record.splitlines(keepends=True)
    reader = csv.reader(text.decode() for text in lines)
    start = 0
    for row in reader:
        yield row[0] if row else "", b"".join(lines[start : reader.line_num])
        start = reader.line_num


def _digest(algorithm: str, data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
