"""Rules about the files of one release together: wheels among each other, and variants.json."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from packaging.version import Version

from pipvariant.authoring._lint_rules import Finding
from pipvariant.authoring._lint_wheel import Member
from pipvariant.authoring.folder import conflicts
from pipvariant.errors import ConflictingMetadata
from pipvariant.standard.filename import NULL_LABEL, parse_variants_json_name, variants_json_name
from pipvariant.standard.markers import SETS, set_members
from pipvariant.standard.metadata import Metadata, combine
from pipvariant.standard.properties import Properties, iter_properties

_IN_SET = re.compile(r"""(['"])([^'"]*)\1\s+(?:not\s+)?in\s+(variant_\w+)""")
_LABEL = re.compile(
    r"""variant_label\s*[!=]=\s*(['"])(.*?)\1|(['"])([^'"]*)\3\s*[!=]=\s*variant_label"""
)


class Document(NamedTuple):
    """A ``variants.json`` file.

    :param metadata: ``None`` when it is faulty.
    """

    file: str
    metadata: Metadata | None


def check_document_name(
    name: str, file: str, findings: list[Finding]
) -> tuple[str, Version] | None:
    """Return project and version in the name of a ``variants.json``, ``None`` if it is no name."""
    parsed = parse_variants_json_name(name)
    try:
        if parsed is not None:
            project, version = parsed
            expected = variants_json_name(project, version)
            if name != expected:
                findings.append(Finding(file, "", "V409", f"should be {expected}"))
            return project, Version(version)
    except ValueError:
        pass
    findings.append(Finding(file, "", "V409", "is not {name}-{version}-variants.json"))
    return None


def check_release(
    members: Sequence[Member], document: Document | None, *, whole: bool
) -> Iterator[Finding]:
    """Hold the files of one version at one source against each other.

    :param members: its wheels.
    :param whole: all wheels of the version are there.
    """
    parts = {member.file: member.metadata for member in members if member.metadata is not None}
    for conflict in conflicts(parts):
        for text in conflict.what.split("; "):
            yield Finding(conflict.where, "", _rule_of_conflict(text), text)
    known: dict[str, tuple[str, Properties]] = {}
    for file, metadata in parts.items():
        known.update({label: (file, found) for label, found in metadata.variants.items()})
    if document is not None and document.metadata is not None:
        yield from _against(document.file, document.metadata, members, whole=whole)
        for label, found in document.metadata.variants.items():
            known.setdefault(label, (document.file, found))
    yield from _equal(known)
    if whole or document is not None:
        names = _marker_names({label: found for label, (_, found) in known.items()})
        for member in members:
            yield from _unknown_markers(member, names)


def _rule_of_conflict(conflict: str) -> str:
    if conflict.startswith("the properties of the label"):
        return "V401"
    return "V402" if conflict.startswith("the namespaces") else "V403"


def _against(
    file: str, metadata: Metadata, members: Sequence[Member], *, whole: bool
) -> Iterator[Finding]:
    """Hold ``variants.json`` against the wheels that it speaks for."""
    told: set[tuple[str, str]] = set()
    labels = {member.wheel.label for member in members}
    for member in members:
        for place, rule, text in _differences(metadata, member):
            if (place, text) not in told:
                told.add((place, text))
                yield Finding(file, place, rule, f"{text} ({member.file})")
    for label in sorted(set(metadata.variants).difference(filter(None, labels))) if whole else ():
        yield Finding(file, f"variants.{label}", "V407", "there is no wheel with this label")


def _differences(metadata: Metadata, member: Member) -> Iterator[tuple[str, str, str]]:
    label, own = member.wheel.label, member.metadata
    if label is None:
        return
    if label not in metadata.variants:
        yield f"variants.{label}", "V405", "is missing, yet there is a wheel"
    if own is None:
        return
    if label in metadata.variants and metadata.variants[label] != own.variants.get(label):
        yield f"variants.{label}", "V406", "the properties differ from those inside the wheel"
    if len(own.namespaces) > len(metadata.namespaces):
        yield "default-priorities.namespace", "V408", "lacks a namespace that the wheel lists"
    for namespace in sorted(set(own.providers).difference(metadata.providers)):
        yield f"providers.{namespace}", "V408", "is missing, yet the wheel has it"
    try:
        combine(metadata, own)
    except ConflictingMetadata as error:
        for text in error.what.split("; "):
            if _rule_of_conflict(text) != "V401":
                yield "", "V408", text


def _equal(known: Mapping[str, tuple[str, Properties]]) -> Iterator[Finding]:
    first: dict[tuple[object, ...], str] = {}
    for label, (file, properties) in sorted(known.items()):
        other = first.setdefault(tuple(iter_properties(properties)), label)
        if other != label:
            text = f"has the same properties as {other}"
            yield Finding(file, f"variants.{label}", "V404", text)


def _marker_names(variants: Mapping[str, Properties]) -> dict[str, set[str]]:
    """Return what markers can be about, by the name of the marker."""
    properties = [one for found in variants.values() for one in iter_properties(found)]
    sets = {name: set_members(name, properties) for name in SETS}
    return {**sets, "variant_label": {"", NULL_LABEL, *variants}}


def _unknown_markers(member: Member, names: Mapping[str, set[str]]) -> Iterator[Finding]:
    for text in member.requires:
        for variable, name in _mentioned(text.partition(";")[2]):
            wanted = " :: ".join(part.strip() for part in name.split("::"))
            if wanted not in names.get(variable, {wanted}):
                message = f"no label of the release has {wanted!a}"
                yield Finding(member.file, f"Requires-Dist: {text}", "V210", message)


def _mentioned(marker: str) -> Iterable[tuple[str, str]]:
    for match in _IN_SET.finditer(marker):
        yield match[3], match[2]
    for match in _LABEL.finditer(marker):
        yield "variant_label", match[2] if match[1] else match[4]
