"""Which labels a target supports, in order; and for each other label the reason why not."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipvariant.standard.filename import NULL_LABEL
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Properties

__all__ = ["Cause", "Ranking", "Rejection", "Supported", "rank", "supported_properties"]

#: What a target supports: namespace, feature, values; features and values most preferred first.
Supported = Mapping[str, Mapping[str, Sequence[str]]]

#: Namespace, feature and value lead to a number; the lower number is preferred.
_Positions = dict[str, dict[str, dict[str, int]]]

_END = sys.maxsize


class Cause(enum.Enum):
    """Why a label does not fit."""

    UNKNOWN_LABEL = "unknown label"
    NAMESPACE = "nothing in the namespace is supported"
    FEATURE = "the feature is not supported"
    VALUE = "none of the values is supported"


class Rejection(NamedTuple):
    """A label that does not fit, and its first unmet property.

    :param namespace: of that property, like *feature*; empty for an unknown label.
    :param values: what the label has for the feature; one of them would have to be supported.
    :param supported: what the target supports for the feature.
    """

    label: str
    cause: Cause
    namespace: str
    feature: str
    values: tuple[str, ...]
    supported: tuple[str, ...]


@dataclass(frozen=True)
class Ranking:
    """The labels of one version, judged for one target.

    :param compatible: labels that fit, best first.
    :param rejected: the others, by label.
    """

    compatible: tuple[str, ...]
    rejected: tuple[Rejection, ...]


def rank(metadata: Metadata, supported: Supported, labels: Iterable[str] | None = None) -> Ranking:
    """Judge and order labels (PEP 825, section "Variant ordering").

    :param metadata: what the labels mean, and the order of the namespaces.
    :param supported: what the target supports.
    :param labels: the labels to judge; ``None`` for all in *metadata*. The null variant fits
        whether *metadata* lists it or not.
    :return: the same for every order of *labels*.
    """
    asked = sorted(set(metadata.variants if labels is None else labels))
    positions = _positions(metadata, supported)
    variants = metadata.variants
    places = _Places((namespace, place) for place, namespace in enumerate(metadata.namespaces))
    keys: dict[str, tuple[int, ...]] = {}
    rejected: list[Rejection] = []
    for label in asked:
        if label == NULL_LABEL:
            continue
        properties = variants.get(label)
        if properties is None:
            rejected.append(Rejection(label, Cause.UNKNOWN_LABEL, "", "", (), ()))
            continue
        # A variant is compatible when of every feature at least one value is supported, and of
        # these values the best one counts.
        key = []
        try:
            for namespace, features in properties.items():
                of_namespace = positions[namespace]
                for feature, values in features.items():
                    of_feature = of_namespace[feature]
                    if len(values) == 1:
                        key.append(of_feature[values[0]])
                    else:
                        key.append(
                            min(of_feature[value] for value in values if value in of_feature)
                        )
        except (KeyError, ValueError):
            rejected.append(_reject(label, properties, places, positions, supported))
            continue
        # The numbers of two variants are compared one by one. Where one variant has no more of
        # them it loses, hence the end is higher than every number.
        key.sort()
        key.append(_END)
        keys[label] = tuple(key)
    # Sorting is stable and the labels are in order, which decides between equal variants.
    compatible = sorted(keys, key=keys.__getitem__)
    if NULL_LABEL in asked:
        compatible.append(NULL_LABEL)
    return Ranking(tuple(compatible), tuple(rejected))


def supported_properties(properties: Properties, supported: Supported) -> Properties:
    """Return the properties that the target supports (PEP 825, section "Environment markers").

    :param properties: of the chosen variant.
    """
    result: dict[str, dict[str, tuple[str, ...]]] = {}
    for namespace, features in properties.items():
        for feature, values in features.items():
            known = set(supported.get(namespace, {}).get(feature, ()))
            if kept := tuple(value for value in values if value in known):
                result.setdefault(namespace, {})[feature] = kept
    return result


def _positions(metadata: Metadata, supported: Supported) -> _Positions:
    # Numbering all values in one go orders them as triples of positions would.
    number = 0
    result: _Positions = {}
    for namespace in _ordered(metadata.namespaces, sorted(supported)):
        of_namespace = result[namespace] = {}
        features = supported[namespace]
        value_priorities = metadata.property_priorities.get(namespace, {})
        for feature in _ordered(metadata.feature_priorities.get(namespace, ()), features):
            of_feature = of_namespace[feature] = {}
            for value in _ordered(value_priorities.get(feature, ()), features[feature]):
                of_feature[value] = number
                number += 1
    return result


def _ordered(first: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return *names* without repetition, those in *first* before the others."""
    rest = dict.fromkeys(names)
    chosen = [name for name in dict.fromkeys(first) if name in rest]
    return list(dict.fromkeys([*chosen, *rest]))


class _Places(dict[str, int]):
    """The place of each namespace; those that are not listed come last."""

    def __missing__(self, namespace: str) -> int:
        return _END


def _reject(
    label: str,
    properties: Properties,
    places: _Places,
    positions: _Positions,
    supported: Supported,
) -> Rejection:
    # The first unmet property in the order of the namespaces, then by feature name.
    for namespace in sorted(sorted(properties), key=places.__getitem__):
        known = positions.get(namespace, {})
        for feature, values in sorted(properties[namespace].items()):
            if known.get(feature, {}).keys().isdisjoint(values):
                if known.get(feature):
                    cause = Cause.VALUE
                else:
                    cause = Cause.FEATURE if any(known.values()) else Cause.NAMESPACE
                offered = tuple(supported.get(namespace, {}).get(feature, ()))
                return Rejection(label, cause, namespace, feature, tuple(values), offered)
    raise AssertionError(label)  # pragma: no cover  # called only for labels that do not fit
