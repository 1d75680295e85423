"""A finder of pip that has what a test gives it, and the metadata that goes with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any

from pipvariant.selection.model import File
from pipvariant.shim.core.pip_objects import make_link, make_version
from pipvariant.shim.core.state import CommandOptions, TargetOptions, UserConstraints
from pipvariant.shim.finding.index import Search
from pipvariant.shim.finding.torch_folders import TorchFolders
from pipvariant.shim.parts import Parts
from pipvariant.shim.resolving.same_variant import SameVariant
from pipvariant.shim.run import Run
from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.preferences import Preferences
from pipvariant.standard.properties import Property, from_properties

__all__ = ["Distribution", "Finder", "Start", "make_parts", "make_same_variant"]

#: Starts a run with options by name, and with all of its patches on.
Start = Callable[..., Run]

Labels = Mapping[str, Iterable[str]]


def make_parts(preferences: Preferences | None = None, **options: Any) -> Parts:
    """The parts of a run with these options, without any patch."""
    user = UserConstraints(preferences=preferences)
    return Parts(CommandOptions(**options), TargetOptions(), user)


def make_same_variant(parts: Parts, user: UserConstraints, options: CommandOptions) -> SameVariant:
    """What keeps packages on the same variant, with folders of backends that nobody has put on."""
    index, decisions, resolution = parts.index, parts.decisions, parts.requirements.resolution
    folders = TorchFolders(options, user, index, parts.judge, parts.messages, dict)
    return SameVariant(options, user, index, decisions, parts.selector, resolution, lambda: folders)


class Distribution:
    """An installed project, as pip shows it: files of its .dist-info by name."""

    raw_name, version, editable = "Lib", "1.0", False
    canonical_name = "lib"

    def __init__(self, files: Mapping[str, str | Exception]) -> None:
        self._files = files

    def read_text(self, path: str) -> str:
        content = self._files.get(path, FileNotFoundError(path))
        if isinstance(content, Exception):
            raise content
        return content


class Finder:
    """Finds files by name; the version's metadata says what their labels mean.

    :param projects: name -> version -> label -> properties; the label ``""`` has none and is
        that of a non-variant wheel. The one namespace is ``gpu``, with ``bound`` 1 to 3.
    """

    def __init__(self, parts: Parts, projects: Mapping[str, Mapping[str, Labels]]) -> None:
        self._projects = projects
        self._index = parts.index
        self.read: list[tuple[str, str]] = []
        vars(parts.metadata).update(metadata=self._metadata, sparing_metadata=self._metadata)

    def find_all_candidates(self, name: str) -> list[Any]:
        return [
            SimpleNamespace(version=make_version(version), link=self._link(name, version, label))
            for version, labels in self._projects.get(name, {}).items()
            for label in labels
        ]

    def files(self, name: str, version: str) -> list[File]:
        return [
            file._replace(payload=file.filename)
            for file in self._index.files(self, name)
            if str(file.version) == version
        ]

    def search(self) -> Search:
        return Search(self)

    def _link(self, name: str, version: str, label: str) -> Any:
        end = f"-{label}" if label else ""
        url = f"https://index.invalid/{name}/{name}-{version}-py3-none-any{end}.whl"
        return make_link(url, comes_from=f"https://index.invalid/{name}/")

    def _metadata(self, files: Mapping[str, File]) -> Metadata:
        file = next(iter(files.values()))
        self.read.append((file.project, str(file.version)))
        bounds = Provider(static_properties={"bound": ("3", "2", "1")})
        labels = self._projects[file.project][str(file.version)]
        return Metadata(
            ("gpu",),
            providers={"gpu": bounds},
            variants={
                label: from_properties(map(Property.parse, texts))
                for label, texts in labels.items()
                if label
            },
        )
