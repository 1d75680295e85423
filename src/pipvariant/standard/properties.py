"""Variant properties: parse, print, order, and the label that is made from them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pipvariant.errors import InvalidProperty
from pipvariant.standard.filename import NULL_LABEL

#: Namespace, feature, and the values of that feature in ascending order.
Properties = Mapping[str, Mapping[str, tuple[str, ...]]]

NAMESPACE = re.compile(r"[a-z0-9_]+")
FEATURE = re.compile(r"[a-z0-9_]+")
VALUE = re.compile(r"[a-z0-9_.]+")

_PARTS = (("namespace", NAMESPACE), ("feature", FEATURE), ("value", VALUE))


def parse_spec(text: str) -> tuple[str, ...]:
    """Parse ``ns``, ``ns :: feature`` or ``ns :: feature :: value`` into one to three parts.

    Spaces around the parts do not matter (PEP 825, section "Variant properties").

    :raises InvalidProperty: there are more parts, or one has a character it must not have.
    """
    parts = tuple(part.strip() for part in text.split("::"))
    if len(parts) > len(_PARTS):
        raise InvalidProperty(
            f"{text!r} has {len(parts)} parts",
            remedy="A variant property is written namespace :: feature :: value.",
        )
    for part, (kind, pattern) in zip(parts, _PARTS):
        if pattern.fullmatch(part) is None:
            also = ", underscores and dots" if kind == "value" else " and underscores"
            raise InvalidProperty(
                f"{part!r} is not a {kind}",
                where=text if part != text else "",
                remedy=f"A {kind} has lower case letters, digits{also} only.",
            )
    return parts


def parse_namespace(text: str) -> str:
    """Parse a namespace (PEP 825, section "Variant properties").

    :raises InvalidProperty: *text* is not a namespace.
    """
    return _parse_parts(text, 1)[0]


def _parse_parts(text: str, count: int) -> tuple[str, ...]:
    parts = parse_spec(text)
    if len(parts) != count:
        form = " :: ".join(kind for kind, _ in _PARTS[:count])
        raise InvalidProperty(f"{text!r} is not of the form {form}")
    return parts


class Property(NamedTuple):
    """One variant property; ordered by namespace, feature, value.

    The constructor checks nothing, :meth:`parse` does (PEP 825, section "Variant properties").
    """

    namespace: str
    feature: str
    value: str

    @classmethod
    def parse(cls, text: str) -> Property:
        """Parse ``namespace :: feature :: value``; spaces around the parts do not matter.

        :raises InvalidProperty: *text* is not a property.
        """
        return cls(*_parse_parts(text, 3))

    def __str__(self) -> str:
        return " :: ".join(self)


def hash_label(properties: Iterable[Property]) -> str:
    """Return the default label of a variant with these properties.

    ``null`` for none, otherwise the first eight hex digits of the SHA-256 of the sorted
    properties, one a line (PEP 825, section "Variant label").
    """
    lines = [f"{item}\n" for item in sorted(set(properties))]
    if not lines:
        return NULL_LABEL
    from hashlib import sha256

    return sha256("".join(lines).encode()).hexdigest()[:8]


def iter_properties(properties: Properties) -> Iterator[Property]:
    """Yield every property, in ascending order (PEP 825, section "Variant properties")."""
    for namespace, features in sorted(properties.items()):
        for feature, values in sorted(features.items()):
            for value in sorted(values):
                yield Property(namespace, feature, value)


def from_properties(properties: Iterable[Property]) -> Properties:
    """Group properties by namespace and feature; repeated ones count once.

    The result is in ascending order throughout (PEP 825, section "Variant metadata").
    """
    grouped: dict[str, dict[str, tuple[str, ...]]] = {}
    for namespace, feature, value in sorted(set(properties)):
        features = grouped.setdefault(namespace, {})
        features[feature] = (*features.get(feature, ()), value)
    return grouped


def properties_json(properties: Properties) -> dict[str, dict[str, list[str]]]:
    """Return properties as JSON has them, in ascending order."""
    return {
        namespace: {feature: sorted(values) for feature, values in sorted(features.items())}
        for namespace, features in sorted(properties.items())
    }
