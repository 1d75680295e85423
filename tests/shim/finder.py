"""A finder of pip that has what a test gives it, and the metadata that goes with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.shim.finding import metadata
from pipvariant.shim.resolving.selector import Candidate
from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.properties import Property, from_properties

__all__ = ["Finder"]

Labels = Mapping[str, Iterable[str]]


class Finder:
    """Finds files by name; the version's metadata says what their labels mean.

    :param projects: name -> version -> label -> properties; the label ``""`` has none and is
        that of an ordinary wheel. The one namespace is ``gpu``, with ``bound`` 1 to 3.
    """

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, projects: Mapping[str, Mapping[str, Labels]]
    ) -> None:
        self._projects = projects
        self.read: list[tuple[str, str]] = []
        monkeypatch.setattr(metadata, "metadata_of", self._metadata_of)

    def find_all_candidates(self, name: str) -> list[Any]:
        version_class: Any = import_module("pip._vendor.packaging.version").Version
        return [
            SimpleNamespace(version=version_class(version), link=self._link(name, version, label))
            for version, labels in self._projects.get(name, {}).items()
            for label in labels
        ]

    def candidates(self, name: str, version: str) -> list[Candidate]:
        return [
            Candidate(name, found.version, found.link, found.link.filename)
            for found in self.find_all_candidates(name)
            if str(found.version) == version
        ]

    def _link(self, name: str, version: str, label: str) -> Any:
        make: Any = import_module("pip._internal.models.link").Link
        end = f"-{label}" if label else ""
        url = f"https://index.invalid/{name}/{name}-{version}-py3-none-any{end}.whl"
        return make(url, comes_from=f"https://index.invalid/{name}/")

    def _metadata_of(self, run: Any, finder: Any, name: str, version: Any, wheels: Any) -> Metadata:
        self.read.append((name, str(version)))
        bounds = Provider(static_properties={"bound": ("3", "2", "1")})
        labels = self._projects[name][str(version)]
        return Metadata(
            ("gpu",),
            providers={"gpu": bounds},
            variants={
                label: from_properties(map(Property.parse, texts))
                for label, texts in labels.items()
                if label
            },
        )
