"""The plain data that decisions are made over, and what comes out of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from pipvariant.standard.filename import NULL_LABEL, split_label

if TYPE_CHECKING:
    from pipvariant.providers.answers import Answer
    from pipvariant.standard.metadata import Metadata, Provider
    from pipvariant.standard.properties import Properties
    from pipvariant.standard.ranking import Ranking, Supported


class File(NamedTuple):
    """One file of a project that an installer may take, going by its name, version and tags.

    :param project: the canonical name of the project.
    :param version: compared as the installer compares versions; `str` gives its text.
    :param label: None for a non-variant wheel and for a source distribution.
    :param source: the page or folder where the file was found; metadata of one source says
        nothing about the files of another.
    :param allowed: false for a file with a hash that the user does not allow.
    :param is_of_folder: the label is the folder's: see :mod:`.torch_backends`.
    :param link: where the file is, in the form that the metadata source needs.
    :param payload: whatever the installer wants back.
    """

    project: str
    version: Any
    filename: str
    label: str | None = None
    source: str = ""
    allowed: bool = True
    link: Any = None
    payload: Any = None
    is_of_folder: bool = False

    @classmethod
    def named(cls, project: str, version: Any, filename: str, **fields: Any) -> File:
        """Make a file with the label that is in its name.

        :raises InvalidFilename: the label is one that the standard does not allow.
        """
        return cls(project, version, filename, split_label(filename)[1], **fields)

    @property
    def is_accelerated(self) -> bool:
        """Whether the file is a variant wheel with properties, so not the null variant."""
        return self.label is not None and NULL_LABEL not in self.names

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that a user may call the file by; empty for no label."""
        label = self.label or ""
        # That which every machine can take.
        return (label, NULL_LABEL) if self.is_of_folder and label == "cpu" else (label,)

    @property
    def kind(self) -> str:
        """What kind of a file it is, in words."""
        if not self.filename.endswith(".whl"):
            return "source distribution"
        return "non-variant wheel" if self.label is None else "variant wheel"


class LeftOut(NamedTuple):
    """A variant wheel that the installer itself left out, such as one for another platform."""

    file: File
    reason: str


class OtherProject(NamedTuple):
    """What is known about a project that variants may be built for (``abi_dependency``).

    :param installed: its version in the target environment, None if it is not there.
    :param locked: the versions of it that lock files have.
    :param is_open: a resolver may still choose its version.
    """

    installed: str | None = None
    locked: Collection[str] = ()
    is_open: bool = True


class MetadataSource(Protocol):
    """Where variant metadata comes from."""

    def metadata(self, files: Mapping[str, File]) -> Metadata | None:
        """Return the metadata of one version at one source, None if nothing is usable.

        :param files: label -> one file with it, all of one project, version and source.
        """


class Target(Protocol):
    """What the system supports that is installed for."""

    def answer(self, namespace: str, provider: Provider | None, source: str = "") -> Answer:
        """Return what is supported in one namespace.

        :param provider: its entry in the metadata.
        :param source: where the metadata is from.
        """


class Judgement(NamedTuple):
    """What one source's metadata says about its labels on one target.

    :param supported: what the answers say, without what the user excludes.
    """

    metadata: Metadata
    ranking: Ranking
    answers: Mapping[str, Answer]
    supported: Supported

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were judged: compatible ones first, best first."""
        return (*self.ranking.compatible, *(each.label for each in self.ranking.rejected))

    def properties(self, label: str | None) -> Properties:
        """Return what a label means; empty for no label and for one that is not known."""
        return self.metadata.variants.get(label or "", {})

    def supported_properties(self, label: str) -> Properties:
        """Return those properties of a label that the target supports, as for markers."""
        from pipvariant.standard.ranking import supported_properties

        return supported_properties(self.properties(label), self.supported)


@dataclass(frozen=True)
class Decision:
    """What was decided about one version of a project.

    :param judgements: source -> judgement of its labels, None if its metadata is unusable.
    :param files: those that may be installed, best first.
    :param skip_reason: why there is none, where the reason is not the target; empty if it is.
    """

    project: str
    version: str
    judgements: Mapping[str, Judgement | None] = field(default_factory=dict)
    files: tuple[File, ...] = ()
    skip_reason: str = ""

    def judged(self) -> Iterator[Judgement]:
        """Yield the judgements of the sources that have usable metadata."""
        return (judgement for judgement in self.judgements.values() if judgement is not None)

    def properties(self, file: File) -> Properties:
        """Return what the label of one of the files means."""
        judgement = self.judgements.get(file.source)
        return {} if judgement is None else judgement.properties(file.label)
