"""Combine the metadata of several wheels of one version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

from pipvariant.errors import ConflictingMetadata
from pipvariant.standard._model import Metadata

_T = TypeVar("_T")


def combine(first: Metadata, *others: Metadata) -> Metadata:
    """Combine metadata of wheels of one version (PEP 825, section "Index-level metadata").

    Variants and providers are united; the longest list of namespaces wins, and all others must
    be its beginning. The result does not depend on the order of the arguments; its format is the
    newest among them.

    :raises ConflictingMetadata: with every contradiction: a label with different properties,
        a namespace with different providers or priorities, lists of different order.
    """
    parts = (first, *others)
    # Of lists that begin with one another the longest is the greatest.
    namespaces = max(part.namespaces for part in parts)
    conflicts = [
        f"the namespaces {', '.join(shorter)} are not the beginning of {', '.join(namespaces)}"
        for shorter in sorted({part.namespaces for part in parts})
        if namespaces[: len(shorter)] != shorter
    ]
    variants = _unite([part.variants for part in parts], "properties of the label", conflicts)
    providers = _unite([part.providers for part in parts], "provider of", conflicts)
    conflicts.extend(_other_feature_orders(parts))
    features = _unite(
        [_of_each(part, part.feature_priorities, ()) for part in parts],
        "feature priorities of",
        conflicts,
    )
    properties = _unite(
        [_of_each(part, part.property_priorities, {}) for part in parts],
        "property priorities of",
        conflicts,
    )
    if conflicts:
        raise ConflictingMetadata(
            "; ".join(conflicts), remedy="All wheels of one version must agree on these."
        )
    newest = max(parts, key=lambda part: (part.schema_version, part.schema))
    return Metadata(
        namespaces=namespaces,
        providers=providers,
        variants=variants,
        schema=newest.schema,
        schema_version=newest.schema_version,
        feature_priorities={name: listed for name, listed in features.items() if listed},
        property_priorities={name: listed for name, listed in properties.items() if listed},
    )


def _unite(tables: list[Mapping[str, _T]], what: str, conflicts: list[str]) -> dict[str, _T]:
    united: dict[str, _T] = {}
    differing: set[str] = set()
    for table in tables:
        for key, value in table.items():
            if united.setdefault(key, value) != value:
                differing.add(key)
    conflicts.extend(f"the {what} {key} differ" for key in sorted(differing))
    return dict(sorted(united.items()))


def _of_each(part: Metadata, priorities: Mapping[str, _T], none: _T) -> dict[str, _T]:
    # A namespace that is listed without priorities says that it has none.
    return {**dict.fromkeys(part.namespaces, none), **priorities}


def _other_feature_orders(parts: tuple[Metadata, ...]) -> Iterator[str]:
    # Equality of mappings does not look at the order, which is the order of preference here.
    orders: dict[str, list[str]] = {}
    differing: set[str] = set()
    for part in parts:
        for namespace, provider in part.providers.items():
            order = list(provider.static_properties or ())
            first = orders.setdefault(namespace, order)
            if first != order and sorted(first) == sorted(order):
                differing.add(namespace)
    return (f"the feature order of {namespace} differs" for namespace in sorted(differing))
