"""Which file of a project is right: the standard word by word, slowly and literally.

Nothing of the project under test is used here, and nothing is clever. Each step is a sentence
of the standard (PEP 825 and PEP 850) or of what pip does with ordinary files.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cmp_to_key
from typing import Any

from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from integration.projects import File, Machine, Project, Release
from integration.wheels import Wheel

__all__ = ["choose", "in_order", "is_eligible"]

Features = Mapping[str, Sequence[str]]
Supported = Mapping[str, Features]
Triple = tuple[int, int, int]

PLUGINS = {
    "nvidia-variant-provider": ("nvidia", "nvidia_variant_provider.plugin:NvidiaVariantPlugin"),
    "x86-64-variant-provider": ("x86_64", "x86_64_variant_provider"),
}


def choose(project: Project, machine: Machine, tags: Sequence[str]) -> str | None:
    """Return the name of the file to install, None if there is none.

    :param tags: what the interpreter supports, as ``python-abi-platform``, best first.
    """
    for release, files in considered(project, machine, tags):
        # A version whose wheels are all incompatible is skipped.
        ordered = in_order(release, files, machine, tags)
        if ordered:
            return ordered[0].artefact.filename
    return None


# The version is chosen first and without looking at variants.


def considered(
    project: Project, machine: Machine, tags: Sequence[str]
) -> list[tuple[Release, list[File]]]:
    """Return the versions that are asked for, newest first, each with its eligible files."""
    specifier = SpecifierSet(project.specifier)
    found = [
        (release, [file for file in release.files if is_eligible(file, tags)])
        for release in project.releases
        if specifier.contains(release.version, prereleases=True)
    ]
    found = [(release, files) for release, files in found if files]
    # Pre-releases count when the user wants them, names one, or when there is nothing else.
    finals = [entry for entry in found if not Version(entry[0].version).is_prerelease]
    named = re.match(r"[^!].*(dev|rc)", project.specifier)
    if finals and not machine.pre and not named:
        found = finals
    # A yanked file counts only for a pin that nothing else fulfils.
    every = [file for _, files in found for file in files]
    if not (project.specifier.startswith("==") and all(file.yanked for file in every)):
        found = [(one, [file for file in files if not file.yanked]) for one, files in found]
    found = [(release, files) for release, files in found if files]
    return sorted(found, key=lambda entry: Version(entry[0].version), reverse=True)


def is_eligible(file: File, tags: Sequence[str]) -> bool:
    """Say whether a file is for this interpreter."""
    if not SpecifierSet(file.wheel.requires_python).contains(platform.python_version()):
        return False
    if not isinstance(file.artefact, Wheel):
        return True
    # A label has only lower-case letters, digits, underscores and dots.
    if not re.fullmatch(r"[0-9a-z_.]+", file.artefact.label or "plain"):
        return False
    return any(tag in tags for tag in expand(file.artefact.tag))


# Candidates are grouped: one group per label, then non-variant wheels, then sdists.


def in_order(
    release: Release, files: Sequence[File], machine: Machine, tags: Sequence[str]
) -> list[File]:
    """Return the files that fit, best first."""
    wheels = [file for file in files if isinstance(file.artefact, Wheel)]
    labels = {file.wheel.label for file in wheels if file.wheel.label is not None}
    ordered: list[File] = []
    for label in [*ranked_labels(release, labels, machine), None]:
        group = [file for file in wheels if file.wheel.label == label]
        # Within a group: platform tags, then build number.
        ordered += sorted(group, key=lambda file: build_number(file.wheel), reverse=True)
        start = len(ordered) - len(group)
        ordered[start:] = sorted(ordered[start:], key=lambda file: tag_place(file.wheel, tags))
    return ordered + [file for file in files if not isinstance(file.artefact, Wheel)]


def tag_place(wheel: Wheel, tags: Sequence[str]) -> int:
    return min(tags.index(tag) for tag in expand(wheel.tag) if tag in tags)


def build_number(wheel: Wheel) -> tuple[int, str]:
    """Return a number and what follows; a wheel without has the lowest."""
    number, rest = re.fullmatch(r"(\d*)(.*)", wheel.build).groups()  # type: ignore[union-attr]  # matches everything
    return (int(number) if number else -1, rest)


def expand(tag: str) -> list[str]:
    python, abi, system = (part.split(".") for part in tag.split("-"))
    return [f"{one}-{two}-{three}" for one in python for two in abi for three in system]


# The metadata: of the index if it has any, or else of the wheels themselves.


def ranked_labels(release: Release, labels: Iterable[str], machine: Machine) -> list[str]:
    """Return the labels that fit, best first."""
    document = release.says if release.reply is not None else release.inside
    # Metadata that cannot be read makes the variant wheels of the version unusable.
    if document is None:
        return []
    variants = document["variants"]
    names = {namespace for label in labels for namespace in variants.get(label, {})}
    supported = {name: answer(document, name, machine) for name in names}

    def compare(one: str, other: str) -> int:
        mine, theirs = (triples(document, supported, label) for label in (one, other))
        # Compare triple by triple: the first lower triple wins.
        for first, second in zip(mine, theirs):
            if first != second:
                return -1 if first < second else 1
        # If one list is a prefix of the other, the longer wins.
        if len(mine) != len(theirs):
            return -1 if len(mine) > len(theirs) else 1
        # Last resort, the label, ascending.
        return -1 if one < other else 1

    fitting = [label for label in labels if fits(variants, supported, label)]
    return sorted(fitting, key=cmp_to_key(compare))


def fits(variants: Mapping[str, Any], supported: Supported, label: str) -> bool:
    """For every feature that a variant lists, at least one of its values is supported."""
    # A null wheel fits even where the metadata does not list it.
    if label == "null":
        return True
    # A label that is not in the metadata makes its wheels incompatible.
    if label not in variants:
        return False
    for namespace, features in variants[label].items():
        for feature, values in features.items():
            if not any(value in supported[namespace].get(feature, ()) for value in values):
                return False
    return True


def triples(document: Mapping[str, Any], supported: Supported, label: str) -> list[Triple]:
    """For each feature, the positions of namespace, feature and best supported value."""
    priorities = document["default-priorities"]
    result = []
    for namespace, features in document["variants"].get(label, {}).items():
        offered = supported[namespace]
        # Older forms move some features and values to the front.
        first = priorities.get("feature", {}).get(namespace, [])
        feature_order = first + [name for name in offered if name not in first]
        for feature, values in features.items():
            better = priorities.get("property", {}).get(namespace, {}).get(feature, [])
            front = [value for value in better if value in offered[feature]]
            value_order = front + [value for value in offered[feature] if value not in front]
            result.append(
                (
                    priorities["namespace"].index(namespace),
                    feature_order.index(feature),
                    min(value_order.index(value) for value in values if value in value_order),
                )
            )
    return sorted(result)


# Which properties are supported.


def answer(document: Mapping[str, Any], namespace: str, machine: Machine) -> Features:
    """Return what is supported in a namespace, in order of preference."""
    provider = document.get("providers", {}).get(namespace)
    # 1. Provider disabled: nothing is supported.
    if is_off(namespace, provider, machine):
        return {}
    # Without providers, only what the installer has built in under that name can answer.
    if provider is None:
        return built_in(namespace, machine)
    # 2. Static properties in the metadata: those, exclusively.
    static: Features | None = provider.get("static-properties")
    if provider.get("install-time") is False:
        static = document["static-properties"][namespace]
    if static is not None:
        return {feature: static[feature] for feature in provider.get("feature-order", static)}
    # 4. A provider that the installer has built in, for that plugin package and plugin-api.
    if is_built_in(namespace, provider):
        return built_in(namespace, machine)
    # 5. Plugin package not trusted by the user: nothing is supported.
    return {}


def is_off(namespace: str, provider: Mapping[str, Any] | None, machine: Machine) -> bool:
    """Optional and not enabled, disabled by the user, or not for this environment."""
    if namespace in machine.disable:
        return True
    if provider is None:
        return False
    if provider.get("optional") and namespace not in machine.enable:
        return True
    return "enable-if" in provider and not Marker(provider["enable-if"]).evaluate()


def is_built_in(namespace: str, provider: Mapping[str, Any]) -> bool:
    requirements = [Requirement(text) for text in provider["requires"]]
    names = [one.name for one in requirements if one.marker is None or one.marker.evaluate()]
    if not names:
        return False
    # The default is the first applicable requirement's name, - to _.
    reference = provider.get("plugin-api", names[0].replace("-", "_"))
    return PLUGINS.get(names[0]) == (namespace, reference)


def built_in(namespace: str, machine: Machine) -> Features:
    if namespace == "nvidia" and machine.driver is not None:
        return nvidia(machine.driver, machine.capability)
    if namespace == "x86_64" and platform.machine() == "x86_64":
        # Of all levels and flags, those that the projects here use and every such CPU has.
        return {"level": ["v1"], "sse2": ["on"], "sse": ["on"], "mmx": ["on"]}
    return {}


def nvidia(driver: str, capability: str | None) -> Features:
    major, minor = map(int, driver.split("."))
    # M.N, M.(N-1) ... M.0, M, then for each lower major down to 11: m.20 ... m.0, m.
    lower = [f"{major}.{number}" for number in range(minor, -1, -1)] + [f"{major}"]
    for below in range(major - 1, 10, -1):
        lower += [f"{below}.{number}" for number in range(20, -1, -1)] + [f"{below}"]
    # From 15.20 down: m.20 ... m.0, m for each major above M, then M.20 ... M.(N+1).
    upper = []
    for above in range(15, major, -1):
        upper += [f"{above}.{number}" for number in range(20, -1, -1)] + [f"{above}"]
    upper += [f"{major}.{number}" for number in range(20, minor, -1)]
    features = {"cuda_version_lower_bound": lower, "cuda_version_upper_bound": upper}
    if capability is not None:
        # AB_real, A(B-1)_real ... A0_real, A0_virtual.
        one, two = capability.split(".")
        real = [f"{one}{number}_real" for number in range(int(two), -1, -1)]
        features["sm_arch"] = [*real, f"{one}0_virtual"]
    return features
