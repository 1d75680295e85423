"""Writing a small wheel from nothing, variant or not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

from pipvariant.standard.filename import join_label
from pipvariant.standard.metadata import Metadata, to_json
from pipvariant.wheelfile import record

#: The oldest time that a zip file can hold: equal input gives equal bytes.
EPOCH = (1980, 1, 1, 0, 0, 0)


def new_wheel(
    name: str, version: str, files: Mapping[str, str], *, variant: Metadata | None = None
) -> tuple[str, bytes]:
    """Return filename and bytes of a pure Python wheel.

    :param name: project name, written as in wheel filenames.
    :param files: path inside the wheel -> text.
    :param variant: metadata with exactly one label, written as ``variant.json`` and into the
        filename (PEP 825, variant metadata).
    """
    filename = f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    entries = dict(files)
    entries[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: \n"
    )
    entries[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: pip-variant\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    if variant is not None:
        (label,) = variant.variants
        filename = join_label(filename, label)
        entries[f"{info}/variant.json"] = to_json(variant)
    lines = [record.line(path, text.encode()) for path, text in entries.items()]
    entries[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in entries.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return filename, stream.getvalue()
