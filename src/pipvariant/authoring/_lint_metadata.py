"""Rules about variant metadata as such: the faults that reading tells, and what it forgives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipvariant.authoring._lint_rules import Finding
from pipvariant.errors import InvalidMetadata
from pipvariant.standard.abi_dependency import preferred
from pipvariant.standard.metadata import (
    ABI_DEPENDENCY,
    SCHEMA_URL,
    Metadata,
    decode_json,
    read_variant_json,
    read_variants_json,
)
from pipvariant.standard.properties import Properties, hash_label, iter_properties

LONGEST_LABEL = 64
_BOM = b"\xef\xbb\xbf"

#: The first of these that is found in "place: message" says the rule.
_RULE_OF_FAULT = (
    (r"^: (is larger than|is nested too deeply|has more than [0-9,]+ values)", "V302"),
    (r"appears more than once$", "V303"),
    (r"^: (is empty|is an HTML page|is not UTF-8|is not JSON)", "V301"),
    (r"format \d+ is not supported$", "V306"),
    (r"yet variants use it$", "V311"),
    (r"yet it has a priority$", "V312"),
    (r"yet it has a provider$", "V313"),
    (r"must have (only )?one of ", "V315"),
    (r"is not a requirement$|requires: is empty$", "V316"),
    (r"is not module:object$", "V317"),
    (r"\.feature-order: ", "V318"),
    (r"^variants.*: must have no properties$", "V330"),
    (r"^variants.*: has no properties, ", "V331"),
    (r"^variants: must have exactly one label", "V332"),
    (r"^variants: the label inside is ", "V333"),
    (r"^variants.*: is empty, so no target", "V336"),
    (r"is not a (namespace|feature|value|variant label)$", "V314"),
    (r"^variants.*is listed twice$", "V335"),
    (r"^default-priorities\.namespace: (is empty|.* is listed twice)$", "V310"),
    (r"\.static-properties.*is listed twice$", "V319"),
    (r"", "V309"),
)
_KEYS = ("$schema", "default-priorities", "providers", "variants")
_KINDS = ("builtin", "requires", "static-properties")
_PROVIDER_KEYS = (*_KINDS, "feature-order", "optional", "plugin-api")
_ONLY_WITH = {"feature-order": "static-properties", "plugin-api": "requires"}


def check_document(
    data: bytes, file: str, findings: list[Finding], *, label: str | None = None, single: bool
) -> Metadata | None:
    """Check one file of variant metadata.

    :param label: the one that a wheel's name has.
    :param single: it is the ``variant.json`` of a wheel.
    :returns: what it says, ``None`` when that cannot be told.
    """
    if data.startswith(_BOM):
        findings.append(Finding(file, "", "V304", "starts with a byte order mark"))
    try:
        raw = decode_json(data)
    except InvalidMetadata as error:
        findings += _told(error, file)
        return None
    metadata = None
    try:
        metadata = read_variant_json(data, label=label) if single else read_variants_json(data)
    except InvalidMetadata as error:
        told = list(_told(error, file))
        findings += told
        if any(finding.rule == "V306" for finding in told):
            return None
    for place, rule, message in (*_forgiven(_as_table(raw)), *_meaningless(metadata)):
        findings.append(Finding(file, place, rule, message))
    return metadata


def _told(error: InvalidMetadata, file: str) -> Iterator[Finding]:
    for place, message in error.faults:
        text = f"{place}: {message}"
        rule = next(rule for pattern, rule in _RULE_OF_FAULT if re.search(pattern, text))
        yield Finding(file, place, rule, message)


def _as_table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _forgiven(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what every reader accepts and no writer should write: place, rule, message."""
    if not document:
        return
    schema = document.get("$schema")
    if not isinstance(schema, str) or not re.search(r"v\d+\.\d+", schema):
        yield "$schema", "V305", "names no version of the format"
    elif schema != SCHEMA_URL:
        yield "$schema", "V307", f"{schema!a} is not {SCHEMA_URL}"
        # Other formats have other keys.
        return
    yield from _unknown_keys(document, "", _KEYS)
    priorities = _as_table(document.get("default-priorities"))
    yield from _unknown_keys(priorities, "default-priorities.", ("namespace",))
    for namespace, value in _as_table(document.get("providers")).items():
        entry = _as_table(value)
        place = f"providers.{namespace}"
        yield from _unknown_keys(entry, f"{place}.", _PROVIDER_KEYS)
        yield from _provider_faults(entry, place)
    for label, namespaces in _as_table(document.get("variants")).items():
        for namespace, features in _as_table(namespaces).items():
            for feature, values in _as_table(features).items():
                strings = isinstance(values, list) and all(isinstance(one, str) for one in values)
                if strings and values != sorted(values):
                    place = f"variants.{label}.{namespace}.{feature}"
                    yield place, "V334", f"{', '.join(values)} is not in ascending order"


def _unknown_keys(
    table: Mapping[str, Any], place: str, known: Iterable[str]
) -> Iterator[tuple[str, str, str]]:
    for key in table:
        if key not in known:
            yield f"{place}{key}", "V308", f"{key!a} is no key of the format"


def _provider_faults(entry: Mapping[str, Any], place: str) -> Iterator[tuple[str, str, str]]:
    builtin = entry.get("builtin")
    if isinstance(builtin, str) and builtin != ABI_DEPENDENCY:
        yield f"{place}.builtin", "V320", f"{builtin!a} is not defined by the standard"
    static = entry.get("static-properties")
    if static == {}:
        yield f"{place}.static-properties", "V319", "is empty"
    for feature, values in _as_table(static).items():
        if values == []:
            yield f"{place}.static-properties.{feature}", "V319", "is empty"
    for key, kind in _ONLY_WITH.items():
        if key in entry and kind not in entry and any(one in entry for one in _KINDS):
            yield f"{place}.{key}", "V321", f"has no meaning without {kind}"


def _meaningless(metadata: Metadata | None) -> Iterator[tuple[str, str, str]]:
    """Yield what is well formed and still cannot be meant: place, rule, message."""
    if metadata is None:
        return
    for label, properties in metadata.variants.items():
        place = f"variants.{label}"
        if len(label) > LONGEST_LABEL:
            yield place, "V107", f"has {len(label)} characters"
        if properties and re.fullmatch("[0-9a-f]{8}", label):
            expected = hash_label(iter_properties(properties))
            if label != expected:
                yield place, "V108", f"the hash of its properties is {expected}"
        for feature, values in properties.get(ABI_DEPENDENCY, {}).items():
            wrong = [value for value in values if not preferred([value], None)]
            if wrong or not re.fullmatch("[a-z0-9]+(?:_[a-z0-9]+)*", feature):
                text = f"{feature} :: {', '.join(wrong or values)} means no version of a project"
                yield f"{place}.{ABI_DEPENDENCY}.{feature}", "V337", text
        yield from _never_supported(metadata, place, properties)


def _never_supported(
    metadata: Metadata, place: str, properties: Properties
) -> Iterator[tuple[str, str, str]]:
    for namespace, features in properties.items():
        provider = metadata.providers.get(namespace)
        static = provider.static_properties if provider is not None else None
        for feature, values in features.items():
            # An empty list is a fault of its own.
            if static and static.get(feature, ("",)) and not {*values} & {*static.get(feature, ())}:
                text = f"{' or '.join(values)} is not in static-properties"
                yield f"{place}.{namespace}.{feature}", "V338", text
