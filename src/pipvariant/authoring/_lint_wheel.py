"""Rules about one wheel: its name, and what is inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipvariant.authoring._lint_metadata import check_document
from pipvariant.authoring._lint_rules import Finding
from pipvariant.authoring.folder import Wheel, parse_wheel_name
from pipvariant.errors import InvalidFilename, InvalidMarker, InvalidWheel
from pipvariant.standard.markers import EMPTY, reduce_requirement
from pipvariant.standard.metadata import Metadata
from pipvariant.wheelfile import dist_info, record
from pipvariant.wheelfile.core_metadata import field_values

_PLATFORM = re.compile(
    r"any|(?:android|emscripten|freebsd|ios|linux|macosx|manylinux|musllinux|pyodide|win)[a-z0-9_.]*"
)


@dataclass(frozen=True)
class Member:
    """One wheel of a release.

    :param file: path or URL.
    :param metadata: of a variant wheel, unless it is faulty.
    :param requires: ``Requires-Dist``, in one line each.
    """

    file: str
    wheel: Wheel
    metadata: Metadata | None = None
    requires: tuple[str, ...] = ()


def check_name(filename: str, file: str, findings: list[Finding]) -> Wheel | None:
    """Check the name of a wheel.

    :returns: what it says, ``None`` when it cannot be read or is read as something else.
    """
    rule, message = _misread(filename[: -len(".whl")].split("-"))
    if not rule:
        try:
            return parse_wheel_name(Path(filename))
        except InvalidFilename as error:
            rule = "V101" if "is not a variant label" in error.what else "V103"
            message = error.what
    findings.append(Finding(file, "", rule, message))
    return None


def _misread(parts: list[str]) -> tuple[str, str]:
    """Return rule and message for a name that is easily taken for another, empty if it is none."""
    if parts[-1] == "":
        return "V102", "ends with a dash"
    # The platform stands behind four parts, or five with a build tag.
    places = range(4, min(6, len(parts)))
    at = next((place for place in places if _PLATFORM.fullmatch(parts[place])), 0)
    if not at:
        return "", ""
    build, python, label = parts[2], parts[at - 2], parts[at + 1 :]
    if at == 5 and not build[:1].isdigit():
        return "V106", f"{build!a} is not a build tag"
    if python[:1].isdigit():
        return "V104", f"{python!a} is not a python tag"
    return ("V105", f"the label would be {'-'.join(label)!a}") if len(label) > 1 else ("", "")


def check_wheel(
    content: Path | IO[bytes], wheel: Wheel | None, file: str, findings: list[Finding]
) -> Member | None:
    """Check what is inside of a wheel.

    :param wheel: what its name says, ``None`` when that is faulty.
    :returns: what is held against other files, if the name can be read.
    """
    names = (dist_info.METADATA, dist_info.RECORD, dist_info.VARIANT_JSON)
    try:
        found = dist_info.read(content, names, where=file)
    except InvalidWheel as error:
        findings.append(Finding(file, "", "V201", error.what))
        return None if wheel is None else Member(file, wheel)
    described = [data for path, data in found.items() if path.endswith(f"/{dist_info.METADATA}")]
    requires = tuple(text for data in described for text in field_values(data, "Requires-Dist"))
    meaningless = list(_marker_faults(requires))
    findings += (Finding(file, *fault) for fault in meaningless)
    metadata = None
    variants = [path for path in found if path.endswith(f"/{dist_info.VARIANT_JSON}")]
    if not described:
        findings.append(Finding(file, dist_info.METADATA, "V208", "there is none"))
    if len(variants) > 1:
        findings.append(Finding(file, "", "V204", f"has {', '.join(variants)}"))
    elif variants:
        (path,) = variants
        if wheel is not None and wheel.label is None:
            findings.append(Finding(file, path, "V203", "there is no label in the name"))
        label = None if wheel is None else wheel.label
        metadata = check_document(found[path], file, findings, label=label, single=True)
        findings += (Finding(file, *fault) for fault in _record_faults(found, path))
    elif wheel is not None and wheel.label is not None:
        findings.append(Finding(file, "", "V202", f"the label {wheel.label} means nothing then"))
    if wheel is None:
        return None
    return Member(file, wheel, metadata, () if meaningless else requires)


def _marker_faults(requires: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    for text in requires:
        try:
            reduce_requirement(text, EMPTY)
        except InvalidMarker as error:
            yield f"Requires-Dist: {text}", "V209", error.what


def _record_faults(found: dict[str, bytes], path: str) -> Iterator[tuple[str, str, str]]:
    """Yield what RECORD says wrong about ``variant.json``."""
    place = f"{path.partition('/')[0]}/{dist_info.RECORD}"
    if place not in found:
        yield place, "V207", "there is none"
        return
    try:
        listed = record.listed(found[place])
    except ValueError as error:
        yield place, "V207", str(error)
        return
    if path not in listed:
        yield place, "V205", f"does not list {path}"
    elif not record.matches(listed[path], found[path]):
        yield place, "V206", f"has another hash or size of {path}"
