"""Which labels a target supports, in order; and for each other label the reason why not."""

from __future__ import annotations

import enum
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipvariant.standard.filename import NULL_LABEL
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Properties

#: What a target supports: namespace, feature, values; features and values most preferred first.
Supported = Mapping[str, Mapping[str, Sequence[str]]]

_END = sys.maxsize
_NOTHING: Mapping[str, dict[str, int]] = {}


class Cause(enum.Enum):
    """Why a label is incompatible."""

    UNKNOWN_LABEL = "unknown label"
    NAMESPACE = "nothing in the namespace is supported"
    FEATURE = "the feature is not supported"
    VALUE = "none of the values is supported"


class Rejection(NamedTuple):
    """An incompatible label, and its first unmet property.

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

    :param compatible: compatible labels, best first.
    :param rejected: the others, by label.
    """

    compatible: tuple[str, ...]
    rejected: tuple[Rejection, ...]


def rank(metadata: Metadata, supported: Supported, labels: Iterable[str] | None = None) -> Ranking:
    """Judge and order labels (PEP 825, section "Variant ordering").

    :param labels: the labels to judge; ``None`` for all in *metadata*. The null variant is
        compatible whether *metadata* lists it or not.
    :return: the same for every order of *labels*.
    """
    asked = sorted(set(metadata.variants if labels is None else labels))
    judge = _Judge(metadata, supported)
    keys: dict[str, tuple[int, ...]] = {}
    rejected: list[Rejection] = []
    for label in asked:
        if label == NULL_LABEL:
            continue
        properties = metadata.variants.get(label)
        if properties is None:
            rejected.append(Rejection(label, Cause.UNKNOWN_LABEL, "", "", (), ()))
        elif (key := judge.key(properties)) is not None:
            keys[label] = key
        else:
            rejected.append(judge.reject(label, properties))
    # Sorting is stable and the labels are in order, which decides between equal variants.
    compatible = sorted(keys, key=keys.__getitem__)
    if NULL_LABEL in asked:
        compatible.append(NULL_LABEL)
    return Ranking(tuple(compatible), tuple(rejected))


def supported_properties(properties: Properties, supported: Supported) -> Properties:
    """Return those properties that the target supports (PEP 825, "Environment markers")."""
    result: dict[str, dict[str, tuple[str, ...]]] = {}
    for namespace, features in properties.items():
        for feature, values in features.items():
            known = set(supported.get(namespace, {}).get(feature, ()))
            if kept := tuple(value for value in values if value in known):
                result.setdefault(namespace, {})[feature] = kept
    return result


class _Judge:
    """Judges one variant after the other for one target."""

    def __init__(self, metadata: Metadata, supported: Supported) -> None:
        self.namespaces = metadata.namespaces
        self.supported = supported
        # Namespace, feature and value lead to a number, and the lower number is preferred.
        # Numbering all values in one go orders them as triples of positions would.
        self.numbers: dict[str, dict[str, dict[str, int]]] = {}
        counter = itertools.count()
        for namespace in _ordered(metadata.namespaces, sorted(supported)):
            of_namespace = self.numbers[namespace] = {}
            features = supported[namespace]
            first_values = metadata.property_priorities.get(namespace, {})
            for feature in _ordered(metadata.feature_priorities.get(namespace, ()), features):
                values = _ordered(first_values.get(feature, ()), features[feature])
                of_namespace[feature] = {value: next(counter) for value in values}

    def key(self, properties: Properties) -> tuple[int, ...] | None:
        """Return what orders a variant, lower being better; ``None`` if it is incompatible."""
        key = []
        try:
            for namespace, features in properties.items():
                of_namespace = self.numbers[namespace]
                for feature, values in features.items():
                    numbers = of_namespace[feature]
                    # Of every feature at least one value must be supported; the best counts.
                    if len(values) == 1:
                        key.append(numbers[values[0]])
                    else:
                        key.append(min([numbers[value] for value in values if value in numbers]))
        except (KeyError, ValueError):
            return None
        # The numbers of two variants are compared one by one. Where one variant has no more of
        # them it loses, hence the end is higher than every number.
        key.sort()
        key.append(_END)
        return tuple(key)

    def reject(self, label: str, properties: Properties) -> Rejection:
        """Find the first unmet property, in the order of the namespaces, then by feature name."""
        namespace, feature, values = next(
            (namespace, feature, values)
            for namespace in _ordered(self.namespaces, sorted(properties))
            for feature, values in sorted(properties[namespace].items())
            if self.numbers.get(namespace, _NOTHING).get(feature, {}).keys().isdisjoint(values)
        )
        of_namespace = self.numbers.get(namespace, _NOTHING)
        if of_namespace.get(feature):
            cause = Cause.VALUE
        else:
            cause = Cause.FEATURE if any(of_namespace.values()) else Cause.NAMESPACE
        offered = self.supported.get(namespace, {}).get(feature, ())
        return Rejection(label, cause, namespace, feature, values, tuple(offered))


def _ordered(first: Iterable[str], names: Iterable[str]) -> list[str]:
    """Return *names* without repetition, those in *first* before the others."""
    rest = dict.fromkeys(names)
    return list(dict.fromkeys([*(name for name in first if name in rest), *rest]))
