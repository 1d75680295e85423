"""What the pages of an index show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Properties

if TYPE_CHECKING:
    from packaging.version import Version


@dataclass(frozen=True)
class PageFile:
    """One file of a project.

    :param url: relative to the project's page.
    :param size: in bytes.
    :param label: of a variant wheel; its *properties* then are not ``None``.
    :param core_sha256: of the ``METADATA`` beside a wheel.
    :param requires: ``Requires-Dist``, as it is written.
    :param yanked: why it was withdrawn, which may be empty; ``None`` if it was not.
    """

    name: str
    url: str
    size: int
    sha256: str
    label: str | None = None
    properties: Properties | None = None
    core_sha256: str | None = None
    requires_python: str | None = None
    requires: tuple[str, ...] = ()
    yanked: str | None = None


@dataclass(frozen=True)
class Listing:
    """One version of a project.

    :param files: wheels and source distributions, in the order in which they are shown.
    :param metadata: the ``variants.json``, and what it says, if there is one.
    """

    version: Version
    files: tuple[PageFile, ...]
    metadata: tuple[PageFile, Metadata] | None = None


@dataclass(frozen=True)
class ProjectPage:
    """One project.

    :param name: normalised.
    :param releases: the newest first.
    """

    name: str
    releases: tuple[Listing, ...]

    @property
    def files(self) -> Mapping[str, PageFile]:
        """Every file by its name, metadata files too, in ascending order of names."""
        found = [file for release in self.releases for file in release.files]
        found += [release.metadata[0] for release in self.releases if release.metadata]
        return {file.name: file for file in sorted(found, key=lambda file: file.name)}
