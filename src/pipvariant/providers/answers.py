"""What one namespace of the target supports, and where that knowledge comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from pipvariant.printable import printable

#: What lets a plugin package be installed and run.
TRUST_OPTION = "--trust-provider"

#: The features of a namespace in which nothing is supported.
NOTHING: Mapping[str, tuple[str, ...]] = {}


class Origin(str, Enum):
    """Which of the six steps of PEP 825 (supported properties) gave the answer."""

    STATIC = "static"
    TARGET_FILE = "stated"
    BUILT_IN = "built-in"
    PLUGIN = "plugin"
    DISABLED = "disabled"
    NOT_TRUSTED = "not trusted"
    NOT_ASKED = "not asked"
    UNKNOWN = "unknown"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Answer:
    """What one namespace supports.

    :param namespace: the namespace that was asked about.
    :param features: feature to values; both are in the provider's order, most preferred first.
        A feature without a supported value is not in it.
    :param origin: who answered.
    :param source: the probe, the variable or the package that knew, such as ``NVML``.
    :param problems: what went wrong on the way, each a sentence for the user.
    :param facts: what was seen, for people to read, such as ``{"driver": "12.4"}``.
    :param notes: what the user may have got wrong, each a sentence, and the answer stands.
    """

    namespace: str
    features: Mapping[str, tuple[str, ...]]
    origin: Origin
    source: str = ""
    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """All that the user should read: problems, and notes."""
        return self.problems + self.notes


@dataclass(frozen=True)
class Reading:
    """What was read from a driver.

    :param source: who said so.
    :param problems: what went wrong, each a sentence for the user.
    :param facts: what was seen, for people.
    """

    source: str = ""
    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


R = TypeVar("R", bound=Reading)


def not_trusted(namespace: str, packages: Mapping[str, str]) -> Answer:
    """Answer for a plugin that the user does not trust, with the options that change it.

    :param packages: the packages that are not trusted, each with the option that trusts it; empty
        if the plugin names none.
    """
    packages = {printable(name): printable(option) for name, option in packages.items()}
    problem = (
        f"the plugin package {', '.join(packages) or '(not named)'} of namespace {namespace} is not"
        " trusted: it was neither installed nor run"
    )
    if packages:
        problem += f" ({' '.join(packages.values())} lets it be)"
    source = next(iter(packages), "(not named)")
    return Answer(namespace, NOTHING, Origin.NOT_TRUSTED, source, (problem,))
