"""What the user prefers, excludes and requires: it orders or narrows what is compatible.

Preferences never let in a variant that the target does not support (PEP 825, section "Variant
ordering").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pipvariant.errors import InvalidOption, InvalidProperty
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import parse_namespace, parse_spec
from pipvariant.standard.ranking import Supported

#: Stands for every package.
ALL = ":all:"

Spec = tuple[str, ...]

T = TypeVar("T")

_LABEL = re.compile(r"[0-9a-z_.]*")
# PEP 508, section "Names".
_NAME = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?", re.IGNORECASE)


@dataclass(frozen=True)
class Family:
    """Packages whose labels have equal values in one namespace.

    :param namespace: empty where they have equal labels.
    :param packages: canonical project names.
    :param option: what the user said, where it is another option than ``--same-variant``.
    """

    namespace: str
    packages: frozenset[str]
    option: str = ""

    def __str__(self) -> str:
        return self.option or f"--same-variant {self.namespace}={','.join(sorted(self.packages))}"


@dataclass(frozen=True)
class Preferences:
    """What the user says about labels, by canonical project name or :data:`ALL`.

    :param labels: the only label that is wanted; empty means the non-variant wheel.
    :param required: namespaces that the label has to use.
    :param preferred: namespaces, features or properties that come first, the first one foremost.
    :param excluded: namespaces, features or properties that count as not supported.
    :param families: packages that are kept on equal values.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    required: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    preferred: tuple[Spec, ...] = ()
    excluded: tuple[Spec, ...] = ()
    families: tuple[Family, ...] = ()

    def label(self, package: str, offered: Collection[str]) -> str | None:
        """Return the only label that is wanted of a package, None if any will do.

        :param offered: the labels that its version has: a label for all packages is about those
            that have it.
        """
        if package in self.labels:
            return self.labels[package]
        label = self.labels.get(ALL)
        return label if label is not None and label in offered else None

    def names_label(self, package: str) -> bool:
        """Say whether a label, or none, is named for a package or for all of them."""
        return not self.labels.keys().isdisjoint({package, ALL})

    def is_constrained(self, package: str) -> bool:
        """Say whether the user may want some files of a package only."""
        required = not self.required.keys().isdisjoint({package, ALL})
        return required or self.names_label(package)

    def family_of(self, package: str, *, by_namespace: bool = False) -> tuple[Family, ...]:
        """Return the families that a package is in.

        :param by_namespace: only those with equal values, not those with equal labels.
        """
        return tuple(
            family
            for family in self.families
            if package in family.packages and (family.namespace or not by_namespace)
        )


def read_preferences(
    *,
    labels: Iterable[str] = (),
    required: Iterable[str] = (),
    preferred: Iterable[str] = (),
    excluded: Iterable[str] = (),
    families: Iterable[str] = (),
) -> Preferences:
    """Read the words of options.

    :param labels: of the form ``PACKAGE=LABEL``; of two for one package the later one counts.
    :param required: ``[PACKAGE=]NAMESPACE``.
    :param preferred: ``ns``, ``ns :: feature`` or ``ns :: feature :: value``, like *excluded*.
    :param families: ``NAMESPACE=PACKAGE,PACKAGE``.
    :raises InvalidOption: a word is not of its form.
    """
    wanted = {}
    for word in labels:
        package, separator, label = word.partition("=")
        if not separator or _LABEL.fullmatch(label.strip()) is None:
            raise _invalid("--variant", word, "it is not PACKAGE=LABEL", "torch=cu128")
        wanted[_package_name(package, "--variant", word)] = label.strip()
    namespaces: dict[str, list[str]] = {}
    for word in required:
        package, separator, namespace = word.rpartition("=")
        key = _package_name(package, "--require-variant", word) if separator else ALL
        parsed = _spec(namespace, "--require-variant", parse_namespace)
        namespaces.setdefault(key, []).append(parsed)
    return Preferences(
        wanted,
        {key: tuple(dict.fromkeys(listed)) for key, listed in namespaces.items()},
        tuple(_spec(word, "--prefer-variant", parse_spec) for word in specs(preferred)),
        tuple(_spec(word, "--exclude-variant", parse_spec) for word in specs(excluded)),
        tuple(map(_family, families)),
    )


def specs(words: Iterable[str]) -> list[str]:
    """Join what a configuration file or variable has taken apart at the spaces around ``::``."""
    return re.sub(r"\s*::\s*", "::", " ".join(words)).split()


def prefer(metadata: Metadata, preferred: Iterable[Spec]) -> Metadata:
    """Return metadata in whose order the given namespaces, features and values come first.

    A preference for a feature or a value is one for its namespace too.
    """
    namespaces: list[str] = []
    first_features: dict[str, list[str]] = {}
    first_values: dict[tuple[str, str], list[str]] = {}
    for namespace, *rest in preferred:
        namespaces.append(namespace)
        if rest:
            first_features.setdefault(namespace, []).append(rest[0])
        if len(rest) > 1:
            first_values.setdefault((namespace, rest[0]), []).append(rest[1])
    features = dict(metadata.feature_priorities)
    for namespace, listed in first_features.items():
        features[namespace] = _first(listed, features.get(namespace, ()))
    values = {name: dict(listed) for name, listed in metadata.property_priorities.items()}
    for (namespace, feature), listed in first_values.items():
        of_namespace = values.setdefault(namespace, {})
        of_namespace[feature] = _first(listed, of_namespace.get(feature, ()))
    return replace(
        metadata,
        namespaces=_first(namespaces, metadata.namespaces),
        feature_priorities=features,
        property_priorities=values,
    )


def exclude(supported: Supported, excluded: Iterable[Spec]) -> Supported:
    """Return what is supported without the given namespaces, features and values."""
    left_out = frozenset(excluded)
    return {
        namespace: {
            feature: [value for value in values if (namespace, feature, value) not in left_out]
            for feature, values in features.items()
            if (namespace, feature) not in left_out
        }
        for namespace, features in supported.items()
        if (namespace,) not in left_out
    }


def _first(items: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*items, *others)))


def _family(word: str) -> Family:
    option = "--same-variant"
    namespace, _, names = word.partition("=")
    packages = frozenset(_package_name(name, option, word) for name in names.split(","))
    if len(packages) < 2 or ALL in packages:
        raise _invalid(option, word, "it takes two packages", "nvidia=torch,torchvision")
    return Family(_spec(namespace, option, parse_namespace), packages)


def _package_name(text: str, option: str, word: str) -> str:
    name = text.strip()
    if name == ALL:
        return ALL
    if _NAME.fullmatch(name) is None:
        raise _invalid(option, word, f"{name!r} is not a package name")
    return re.sub(r"[-_.]+", "-", name).lower()


def _spec(text: str, option: str, parse: Callable[[str], T]) -> T:
    try:
        return parse(text.strip())
    except InvalidProperty as error:
        raise InvalidOption(str(error), where=option) from None


def _invalid(option: str, word: str, what: str, example: str = "") -> InvalidOption:
    remedy = f"Write it as in {option} {example}" if example else ""
    return InvalidOption(f"{word!r}: {what}", where=option, remedy=remedy)
