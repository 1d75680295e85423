"""Wheels in a folder: their names, their variant metadata, and what it is for each version."""

from __future__ import annotations

import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from pipvariant.errors import (
    ConflictingMetadata,
    InvalidFilename,
    InvalidMetadata,
    InvalidOption,
    InvalidWheel,
    PipVariantError,
)
from pipvariant.files import open_regular
from pipvariant.standard.filename import split_label, variants_json_name
from pipvariant.standard.metadata import Metadata, combine, read_variant_json
from pipvariant.wheelfile.dist_info import VARIANT_JSON, read_one


class Wheel(NamedTuple):
    """What the name of a wheel says.

    :param project: normalised name.
    :param label: ``None`` for a non-variant wheel.
    """

    path: Path
    project: str
    version: Version
    label: str | None


class Release(NamedTuple):
    """The variant metadata of one version.

    :param path: the ``variants.json`` file.
    :param metadata: of all its wheels together.
    """

    path: Path
    metadata: Metadata


def files_below(folder: Path) -> list[Path]:
    """Return all files below a folder in ascending order, without those of hidden folders.

    :raises InvalidOption: it is no folder, or cannot be read.
    """
    found = []
    for root, folders, names in os.walk(folder, onerror=_raise_unreadable):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(root, name) for name in names if not name.startswith(".")]
    return sorted(found)


def irregular(files: Iterable[Path]) -> Iterator[PipVariantError]:
    """Yield a fault for each of these that is a pipe, a device or a link to nothing."""
    for path in files:
        if not path.is_file():
            yield InvalidWheel("is no regular file", where=str(path))


def leading_out(paths: Iterable[Path], folder: Path) -> Iterator[PipVariantError]:
    """Yield a fault for each of these that, by a link, is not in the folder it seems to be in."""
    root = folder.resolve()
    for path in paths:
        if not path.resolve().is_relative_to(root):
            yield InvalidWheel("is a link that leads out of the folder", where=str(path))


def _raise_unreadable(error: OSError) -> None:
    raise InvalidOption(f"cannot be read: {error.strerror}", where=str(error.filename)) from error


def parse_wheel_name(path: Path) -> Wheel:
    """Take the name of a wheel apart.

    :raises InvalidFilename: it is not the filename of a wheel.
    """
    try:
        plain, label = split_label(path.name)
        project, version, _, _ = parse_wheel_filename(plain)
    except InvalidFilename as error:
        error.where = str(path)
        raise
    except ValueError as error:  # InvalidWheelFilename, InvalidVersion, too many digits
        raise InvalidFilename("is not the filename of a wheel", where=str(path)) from error
    if not is_project(project):
        raise InvalidFilename("has not the name of a project", where=str(path))
    return Wheel(path, project, version, label)


def is_project(name: str) -> bool:
    """Say whether a normalised name is one that a project may have (PEP 508)."""
    return re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name) is not None


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file as hex digits."""
    digest = hashlib.sha256()
    with open_regular(path) as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def conflicts(parts: Mapping[str, Metadata]) -> Iterator[ConflictingMetadata]:
    """Yield what contradicts each other, each time naming two files.

    :param parts: file to its metadata, all of one version.
    """
    earlier: list[tuple[str, Metadata]] = []
    for path, metadata in sorted(parts.items()):
        for other, known in earlier:
            try:
                combine(known, metadata)
            except ConflictingMetadata as error:
                error.where = f"{other} and {path}"
                yield error
                break
        else:
            # Wheels of one label say the same, so few are kept to be compared with.
            if all(known != metadata for _, known in earlier):
                earlier.append((path, metadata))


def releases(
    wheels: Iterable[Wheel], faults: list[PipVariantError]
) -> dict[tuple[str, Version], Release]:
    """Combine the metadata of each version that has variant wheels, by project and version.

    :param faults: gets what is wrong with a wheel, and every contradiction among wheels.
    """
    grouped: dict[tuple[str, Version], list[Wheel]] = defaultdict(list)
    for wheel in wheels:
        if wheel.label is not None:
            grouped[wheel.project, wheel.version].append(wheel)
    result = {}
    for (project, version), members in grouped.items():
        parts = {}
        for wheel in members:
            where = str(wheel.path)
            try:
                data = read_one(wheel.path, VARIANT_JSON)
                parts[where] = read_variant_json(data, label=wheel.label, where=where)
            except (InvalidMetadata, InvalidWheel) as error:
                faults.append(error)
        found = list(conflicts(parts))
        folders = sorted({str(wheel.path.parent) for wheel in members})
        faults += found
        if len(folders) > 1:
            faults.append(
                InvalidWheel(
                    f"the variant wheels of {project} {version} are in several folders",
                    where=", ".join(folders),
                    remedy="One file of metadata speaks for all: put them into one folder.",
                )
            )
        elif parts and not found:
            path = Path(folders[0], variants_json_name(project, str(version)))
            result[project, version] = Release(path, combine(*parts.values()))
    return result
