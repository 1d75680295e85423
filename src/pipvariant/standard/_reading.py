"""Turn decoded variant metadata of every published format into dataclasses, or tell the faults."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipvariant.errors import InvalidMetadata
from pipvariant.standard._faults import Faults, Path, quote
from pipvariant.standard._model import ABI_DEPENDENCY, SCHEMA_VERSION, Metadata, Provider
from pipvariant.standard._providers import read_providers, read_value_lists
from pipvariant.standard.filename import NULL_LABEL
from pipvariant.standard.properties import FEATURE, NAMESPACE, VALUE, Properties

_PROVIDERS_REQUIRED = (0, 2)  # since then each listed namespace has one, and the reverse
_PRIORITIES_REMOVED = (0, 1, 1)  # since then only namespaces have priorities
_NAMESPACES = ("default-priorities", "namespace")

_LABEL = re.compile(r"[0-9a-z_.]+")
_HOST = re.compile(r"\w+://[^/]*")
_VERSION = re.compile(r"(?<![\w.])(?:v?(\d{1,9}(?:\.\d{1,9})+)|v(\d{1,9}))(?!\w)")


def from_dict(
    obj: object, *, where: str = "", single: bool = False, label: str | None = None
) -> Metadata:
    """Read decoded metadata of any published format (PEP 825, section "Variant metadata").

    :param single: there must be exactly one variant.
    :param label: the label that this one variant must have.
    :raises InvalidMetadata: with every fault, each with the path to it.
    """
    faults = Faults()
    document = faults.table(obj, ())
    schema = faults.string(document, "$schema", ()) or ""
    version = _schema_version(schema)
    if version and version[0] != SCHEMA_VERSION[0]:
        # Whatever else is wrong with such a document says nothing.
        raise InvalidMetadata(
            [("$schema", f"format {version[0]} is not supported")],
            where=where,
            remedy="A newer release of pip-variant may understand it.",
        )
    faults.raise_any(where)

    priorities = faults.required(document, "default-priorities")
    namespaces = read_namespaces(priorities, faults) if "default-priorities" in document else ()
    feature_priorities: Mapping[str, tuple[str, ...]] = {}
    property_priorities: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    if version < _PRIORITIES_REMOVED:
        path: Path = ("default-priorities", "feature")
        feature_priorities = {
            namespace: faults.names(features, (*path, namespace), "feature", FEATURE)
            for namespace, features in faults.table(priorities.get("feature", {}), path).items()
        }
        path = ("default-priorities", "property")
        property_priorities = {
            namespace: read_value_lists(features, (*path, namespace), faults)
            for namespace, features in faults.table(priorities.get("property", {}), path).items()
        }
    variants = read_variants(faults.required(document, "variants"), faults)
    providers = read_providers(document, version, faults)
    used = {namespace for properties in variants.values() for namespace in properties}
    if ABI_DEPENDENCY in used and ABI_DEPENDENCY not in namespaces:
        # Earlier drafts leave the namespace out of both lists.
        providers.setdefault(ABI_DEPENDENCY, Provider(builtin=ABI_DEPENDENCY))
    if namespaces:
        required = version >= _PROVIDERS_REQUIRED and "providers" in document
        check_namespaces(namespaces, providers if required else None, used, faults)
    if single:
        _check_single(variants, label, faults)
    faults.raise_any(where)
    return Metadata(
        namespaces, providers, variants, schema, version, feature_priorities, property_priorities
    )


def _schema_version(schema: str) -> tuple[int, ...]:
    # The version stands in the path of the URL, because a host may look like a version.
    found = _VERSION.findall(_HOST.split(schema)[-1])
    if not found:
        return ()
    dotted, bare = found[-1]
    return tuple(int(number) for number in (dotted or bare).split("."))


def read_namespaces(priorities: dict[str, object], faults: Faults) -> tuple[str, ...]:
    """Read ``default-priorities.namespace`` out of *priorities*."""
    if "namespace" not in priorities:
        faults.add(_NAMESPACES, "is missing")
        return ()
    if priorities["namespace"] == []:
        faults.add(_NAMESPACES, "is empty")
    return faults.names(priorities["namespace"], _NAMESPACES, "namespace", NAMESPACE)


def read_variants(table: dict[str, object], faults: Faults) -> dict[str, Properties]:
    """Read ``variants``: label to properties, in ascending order."""
    result: dict[str, Properties] = {}
    for label, namespaces in sorted(table.items()):
        path = ("variants", label)
        faults.name(label, ("variants",), "variant label", _LABEL)
        before = len(faults)
        result[label] = properties = _read_properties(namespaces, path, faults)
        if len(faults) > before:
            continue
        if label == NULL_LABEL and properties:
            faults.add(path, "must have no properties")
        elif label != NULL_LABEL and not properties:
            faults.add(path, f"has no properties, which only the label {NULL_LABEL} may")
    return result


def _read_properties(value: object, path: Path, faults: Faults) -> Properties:
    result: dict[str, Mapping[str, tuple[str, ...]]] = {}
    for namespace, features in sorted(faults.table(value, path).items()):
        faults.name(namespace, path, "namespace", NAMESPACE)
        inner = (*path, namespace)
        read: dict[str, tuple[str, ...]] = {}
        for feature, values in sorted(faults.table(features, inner).items()):
            faults.name(feature, inner, "feature", FEATURE)
            if values == []:
                faults.add((*inner, feature), "is empty, so no target could ever support it")
            read[feature] = tuple(sorted(faults.names(values, (*inner, feature), "value", VALUE)))
        if read:
            result[namespace] = read
    return result


def check_namespaces(
    namespaces: tuple[str, ...],
    providers: Mapping[str, Provider] | None,
    used: set[str],
    faults: Faults,
) -> None:
    """Check that what has a priority, what has a provider and what is used go together.

    :param providers: ``None`` in a format in which a namespace needs none.
    :param used: the namespaces that variants use.
    """
    for namespace in sorted(used.difference(namespaces, {ABI_DEPENDENCY})):
        faults.add(_NAMESPACES, f"{quote(namespace)} is missing, yet variants use it")
    if providers is None:
        return
    for namespace in namespaces:
        if namespace not in providers:
            faults.add(("providers",), f"{quote(namespace)} is missing, yet it has a priority")
    for namespace in sorted(set(providers).difference(namespaces, used)):
        faults.add(_NAMESPACES, f"{quote(namespace)} is missing, yet it has a provider")


def _check_single(variants: Mapping[str, Properties], label: str | None, faults: Faults) -> None:
    if len(variants) != 1:
        faults.add(("variants",), f"must have exactly one label, not {len(variants)}")
    elif label is not None and label not in variants:
        inside, outside = quote(next(iter(variants))), quote(label)
        faults.add(("variants",), f"the label inside is {inside}, in the filename it is {outside}")
