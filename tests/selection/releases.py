"""Files of projects, and the metadata that goes with them, as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipvariant.providers.target import Target
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import File
from pipvariant.standard.metadata import Metadata, Provider

__all__ = ["JUDGE", "Sources", "bounds", "files", "metadata"]

#: For a target that only static properties speak for.
JUDGE = Judge(Target())


class Sources(dict[str, Metadata]):
    """Source -> the metadata that it has."""

    def metadata(self, files: Mapping[str, File]) -> Metadata | None:
        return self.get(next(iter(files.values())).source)


def metadata(labels: Mapping[str, str], namespace: str = "gpu") -> Metadata:
    """Metadata of labels with the bound of each, empty for none; supported are 3, 2 and 1."""
    provider = Provider(static_properties={"bound": ("3", "2", "1")})
    return Metadata(
        (namespace,),
        {namespace: provider},
        {
            label: {namespace: {"bound": (bound,)}} if bound else {}
            for label, bound in labels.items()
        },
    )


def bounds(*numbers: int, null: bool = True) -> dict[str, str]:
    """Labels that are called by their bounds."""
    return {**{f"g{number}": str(number) for number in numbers}, **({"null": ""} if null else {})}


def files(
    labels: Iterable[str], project: str = "tri", version: str = "1.0", source: str = ""
) -> list[File]:
    """One file for each label, empty for a non-variant wheel."""
    head = f"{project}-{version}-py3-none-any"
    names = [f"{head}-{label}.whl" if label else f"{head}.whl" for label in labels]
    return [File.named(project, version, name, source=source) for name in names]
