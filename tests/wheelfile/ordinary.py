"""Ordinary wheels as build backends write them, and an independent reader of RECORD."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from pipvariant.standard.metadata import Metadata, from_dict

__all__ = ["INFO", "NAME", "blas", "contents", "record_of", "verified", "wheel"]

NAME = "tri-1.0-py3-none-any.whl"
INFO = "tri-1.0.dist-info"

FILES: Mapping[str, bytes] = {
    "tri/__init__.py": b"LABEL = ''\n" * 30,
    "tri/kernels.so": bytes(range(256)) * 20,
    f"{INFO}/METADATA": b"Metadata-Version: 2.1\nName: tri\nVersion: 1.0\n",
    f"{INFO}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def blas(label: str = "mkl") -> Metadata:
    """Metadata of one variant."""
    entry: dict[str, object] = {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["mkl", "openblas"]}}},
        "variants": {label: {} if label == "null" else {"blas": {"library": [label]}}},
    }
    return from_dict(entry)


def record_of(files: Mapping[str, bytes], info: str = INFO) -> bytes:
    """RECORD of these files."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    for name, data in files.items():
        rows.writerow([name, f"sha256={_digest('sha256', data)}", len(data)])
    rows.writerow([f"{info}/RECORD", "", ""])
    return out.getvalue().encode()


def wheel(
    folder: Path,
    *,
    name: str = NAME,
    files: Mapping[str, bytes] | None = None,
    more: Mapping[str, bytes] | None = None,
    record: bytes | None = None,
    unlisted: Iterable[tuple[str, bytes]] = (),
) -> Path:
    """Write an ordinary wheel.

    :param more: files besides the usual ones, with a line in RECORD.
    :param record: RECORD, if it is not the right one.
    :param unlisted: entries that come after RECORD and are not in it.
    """
    files = {**(FILES if files is None else files), **(more or {})}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, data in files.items():
            archive.writestr(_info(entry), data)
        archive.writestr(_info(f"{INFO}/RECORD"), record or record_of(files))
        for entry, data in unlisted:
            archive.writestr(_info(entry), data)
    return path


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2024, 2, 29, 12, 30, 58))
    info.compress_type = zipfile.ZIP_STORED if name.endswith("/") else zipfile.ZIP_DEFLATED
    info.external_attr = (0o100755 if name.endswith(".so") else 0o100644) << 16
    return info


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a wheel, in the order of its directory."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def verified(path: Path) -> dict[str, bytes]:
    """The same, after RECORD was held against them; read with nothing of the project."""
    found = contents(path)
    (record,) = [name for name in found if name.endswith(".dist-info/RECORD")]
    rows = list(csv.reader(io.StringIO(found[record].decode(), newline="")))
    assert len({row[0] for row in rows}) == len(rows)
    assert {row[0] for row in rows} == {name for name in found if not name.endswith("/")}
    for name, digest, size in rows:
        if name == record:
            assert (digest, size) == ("", "")
            continue
        algorithm, _, value = digest.partition("=")
        assert (value, int(size)) == (_digest(algorithm, found[name]), len(found[name])), name
    return found


def _digest(algorithm: str, data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).decode().rstrip("=")
