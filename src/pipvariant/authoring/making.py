"""Make a variant wheel of a non-variant one, and the reverse."""

from __future__ import annotations

import filecmp
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from pipvariant.authoring.replacement import replacement
from pipvariant.errors import InvalidFilename, InvalidOutput, InvalidWheel
from pipvariant.printable import some
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.standard.filename import join_label, split_label
from pipvariant.standard.metadata import Metadata, to_json
from pipvariant.wheelfile import record
from pipvariant.wheelfile.archive import Archive, silent
from pipvariant.wheelfile.dist_info import RECORD, VARIANT_JSON

_SIGNATURES = ("RECORD.jws", "RECORD.p7s")
_SHOWN = 5


def make_wheel(
    wheel: Path,
    metadata: Metadata,
    folder: Path,
    *,
    force: bool = False,
    tell: Callable[[int], None] = silent,
) -> Path:
    """Write the variant wheel of a non-variant wheel (PEP 825, section "Variant wheels").

    ``variant.json`` is added, RECORD is last and lists it, the label is in the filename. All else
    keeps its bytes, and equal input gives equal bytes.

    :param metadata: with exactly one label.
    :param folder: where it is written to; made where it is missing.
    :param force: write over a file that has other content.
    :param tell: is called with the number of each lot of bytes that were copied.
    :returns: the file that is there now.
    :raises InvalidWheel: the wheel is damaged, signed, or not what its name says.
    :raises InvalidFilename: it is no wheel, or a variant wheel already.
    :raises InvalidOutput: the file is there with other content, and *force* is not given.
    """
    (label,) = metadata.variants
    name_and_version(wheel.name)
    target = folder / join_label(wheel.name, label)
    with Archive(wheel) as archive:
        path, record_path, old = _paths_and_record(archive, wheel.name)
        if path in archive.entries:
            raise InvalidWheel(f"has a {VARIANT_JSON} but no label in its name", where=str(wheel))
        data = to_json(metadata).encode()
        new = record.with_line(old, record_path, record.line(path, data))
        added = {path: data, record_path: new}
        _write_wheel(target, archive, [record_path], added, force=force, tell=tell)
    return target


def unmake_wheel(
    wheel: Path, folder: Path, *, force: bool = False, tell: Callable[[int], None] = silent
) -> Path:
    """Write the non-variant wheel of a variant wheel: :func:`make_wheel` the other way round.

    Parameters, result and errors are those of it; a wheel without a label is refused.
    """
    plain, label = split_label(wheel.name)
    if label is None:
        raise InvalidFilename("is no variant wheel", where=str(wheel))
    name_and_version(plain)
    with Archive(wheel) as archive:
        path, record_path, old = _paths_and_record(archive, plain)
        data = archive.read(path, MAX_BYTES)
        if not record.matches(record.listed(old)[path], data):
            raise InvalidWheel(
                f"{VARIANT_JSON} is not the file that RECORD lists", where=str(wheel)
            )
        added = {record_path: record.without_line(old, path)}
        _write_wheel(folder / plain, archive, [path, record_path], added, force=force, tell=tell)
    return folder / plain


def name_and_version(filename: str) -> tuple[str, str]:
    """Return project and version, both normalised, in the filename of a non-variant wheel.

    :raises InvalidFilename: it is none.
    """
    plain, label = split_label(filename)
    if label is not None:
        raise InvalidFilename(
            f"is a variant wheel already, its label is {label}",
            where=filename,
            remedy="`pip-variant variant unmake` gives the ordinary wheel.",
        )
    try:
        name, version, _, _ = parse_wheel_filename(plain)
    except ValueError as error:  # InvalidWheelFilename; older packaging: InvalidVersion too
        raise InvalidFilename("is not the filename of a wheel", where=filename) from error
    return name, str(version)


def _paths_and_record(archive: Archive, filename: str) -> tuple[str, str, bytes]:
    """Return the paths of ``variant.json`` and RECORD, and what RECORD, found right, has in it.

    :param filename: the name of the wheel, without a label.
    """
    where = str(archive.path)
    info = _dist_info(archive, filename)
    for name in _SIGNATURES:
        if f"{info}/{name}" in archive.entries:
            raise InvalidWheel(
                f"is signed: {name} would not match a changed RECORD",
                where=where,
                remedy="Sign the variant wheel instead.",
            )
    record_path = f"{info}/{RECORD}"
    data = archive.read(record_path)
    try:
        listed = set(record.listed(data))
    except ValueError as error:
        raise InvalidWheel(f"RECORD cannot be read: {error}", where=where) from error
    there = {name for name in archive.entries if not name.endswith("/")}
    faults = []
    if missing := sorted(there - listed - {record_path}):
        faults.append(f"RECORD does not list {_some_names(missing)}")
    if absent := sorted(listed - there):
        faults.append(f"RECORD lists {_some_names(absent)}, which is not there")
    if faults:
        raise InvalidWheel("; ".join(faults), where=where)
    return f"{info}/{VARIANT_JSON}", record_path, data


def _dist_info(archive: Archive, filename: str) -> str:
    """Find the one ``.dist-info`` folder, which has to be that of the project and version."""
    name, version = name_and_version(filename)
    tops = {name.partition("/")[0] for name in archive.entries if "/" in name}
    folders = sorted(top for top in tops if top.endswith(".dist-info"))
    try:
        (folder,) = folders
        named, _, versioned = folder[: -len(".dist-info")].partition("-")
        if (canonicalize_name(named), Version(versioned)) == (name, Version(version)):
            return folder
    except ValueError:
        pass
    listed = _some_names(folders) or "none"
    raise InvalidWheel(
        f"needs one .dist-info folder, of {name} {version}; it has {listed}",
        where=str(archive.path),
    )


def _some_names(names: list[str]) -> str:
    return some(map(ascii, names), _SHOWN)


def _write_wheel(
    target: Path,
    archive: Archive,
    without: Collection[str],
    added: Mapping[str, bytes],
    *,
    force: bool,
    tell: Callable[[int], None],
) -> None:
    """Write a changed archive as a whole or not at all, with the permissions of the original."""
    like = next(name for name in added if name.endswith(f"/{RECORD}"))
    with replacement(target, archive.path) as temporary:
        with temporary.open("wb") as stream:
            archive.write(stream, without=without, added=added, like=like, tell=tell)
        if target.exists() and not force and not filecmp.cmp(temporary, target, shallow=False):
            raise InvalidOutput(
                "is there already, with other content",
                where=str(target),
                remedy="With --force it is written over.",
            )
