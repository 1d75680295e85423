"""What a plugin requires on the running interpreter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from pipvariant.standard.metadata import Provider


def plugin_requirements(provider: Provider) -> list[tuple[str, Requirement]]:
    """Return the packages that a plugin requires here, by normalised name, in metadata order."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    try:
        texts = provider.applicable_requires(marker_environment())
        return [(canonicalize_name(found.name), found) for found in map(Requirement, texts)]
    except ValueError:
        return []


def plugin_packages(provider: Provider) -> tuple[str, ...]:
    """Name the packages that a plugin requires here."""
    return tuple(name for name, _ in plugin_requirements(provider))


def marker_environment() -> Mapping[str, str]:
    """Give the marker environment of the running interpreter."""
    from packaging.markers import default_environment

    return cast("Mapping[str, str]", default_environment())
