"""The order of variants, word by word and slowly, to compare the ranking with.

Nothing of the project is used here but the metadata classes, and nothing is clever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key

from pipvariant.standard.metadata import Metadata

Supported = Mapping[str, Mapping[str, Sequence[str]]]
Triple = tuple[int, int, int]


def fits(metadata: Metadata, supported: Supported, label: str) -> bool:
    """For every feature that a variant lists, at least one of its values is supported."""
    if label == "null":
        return True
    if label not in metadata.variants:
        return False
    for namespace, features in metadata.variants[label].items():
        for feature, values in features.items():
            if not [value for value in values if value in offered(supported, namespace, feature)]:
                return False
    return True


def ranked(metadata: Metadata, supported: Supported, labels: Iterable[str]) -> list[str]:
    """Return the labels that fit, best first."""

    def compare(one: str, other: str) -> int:
        one_triples = triples(metadata, supported, one)
        other_triples = triples(metadata, supported, other)
        # Compare triple by triple: the first lower triple wins.
        for mine, theirs in zip(one_triples, other_triples):
            if mine != theirs:
                return -1 if mine < theirs else 1
        # If one list is the beginning of the other, the longer wins.
        if len(one_triples) != len(other_triples):
            return -1 if len(one_triples) > len(other_triples) else 1
        # As a last resort, the label decides.
        return -1 if one < other else 1

    fitting = [label for label in set(labels) if fits(metadata, supported, label)]
    return sorted(fitting, key=cmp_to_key(compare))


def triples(metadata: Metadata, supported: Supported, label: str) -> list[Triple]:
    """For each feature, the positions of namespace, feature and best supported value."""
    result = []
    for namespace, features in metadata.variants.get(label, {}).items():
        for feature, values in features.items():
            order = value_order(metadata, supported, namespace, feature)
            result.append(
                (
                    namespace_order(metadata, supported).index(namespace),
                    feature_order(metadata, supported, namespace).index(feature),
                    min(order.index(value) for value in values if value in order),
                )
            )
    return sorted(result)


def namespace_order(metadata: Metadata, supported: Supported) -> list[str]:
    """Return the namespaces as the metadata lists them, then any other by name."""
    listed = list(metadata.namespaces)
    return listed + sorted(name for name in supported if name not in listed)


def feature_order(metadata: Metadata, supported: Supported, namespace: str) -> list[str]:
    """Return the features that the metadata moves to the front, then the provider's order."""
    first = list(metadata.feature_priorities.get(namespace, ()))
    return first + [name for name in supported[namespace] if name not in first]


def value_order(
    metadata: Metadata, supported: Supported, namespace: str, feature: str
) -> list[str]:
    """Return the supported values, in the order of the metadata and then of the provider."""
    priorities = metadata.property_priorities.get(namespace, {}).get(feature, ())
    values = list(offered(supported, namespace, feature))
    first = [value for value in priorities if value in values]
    return first + [value for value in values if value not in first]


def offered(supported: Supported, namespace: str, feature: str) -> Sequence[str]:
    """Return the supported values of a feature in the provider's order."""
    return supported.get(namespace, {}).get(feature, ())
