"""What was decided so far about the versions that pip's resolver has visited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.shim.core.pip_objects import requested_link
from pipvariant.shim.core.state import State

if TYPE_CHECKING:
    from pipvariant.selection.model import Decision, File, Judgement


class Decided(NamedTuple):
    """A file, and what was decided about its version."""

    decision: Decision
    file: File


class Decisions(State):
    """The decisions of one run."""

    def __init__(self) -> None:
        self._by_url: dict[str, Decided] = {}
        #: Filename of a compatible variant wheel -> what its source says about it.
        self.judgements: dict[str, Judgement] = {}
        #: (canonical project name, version) of the versions that were skipped, in order.
        self.skipped: dict[tuple[str, Any], Decision] = {}
        #: Canonical project name -> an older version with variants, where the taken one has none.
        self.displaced: dict[str, Decision] = {}
        #: (project, version) -> an older version that has a better label, in words.
        self.hints: dict[tuple[str, str], str] = {}
        #: Canonical names of the projects of which a version was found that can be taken.
        self.fitted: set[str] = set()
        #: URLs of the files that are what the user requires, if anything.
        self.constrained: set[str] = set()
        #: Canonical project name -> label of the file that the resolver was given last.
        self.last_label: dict[str, str] = {}
        #: Likewise, of the files that it was given since its last step.
        self.attempted: dict[str, str] = {}
        #: What it has settled on up to that step, pip's candidates by their names.
        self.pinned: dict[str, Any] = {}
        #: While a build is prepared: canonical project name -> label of the target environment.
        self.build_labels: Mapping[str, str] = {}
        #: Returns the backends of what is installed of torch's family, where that counts.
        self.installed_backends: Callable[[], Mapping[str, str | None]] = dict
        #: Why wheels on the disk were refused, as sentences.
        self.refused: list[str] = []
        #: Canonical project name -> version that is installed, where it is to be explained.
        self.versions: dict[str, str] = {}
        #: What the resolver found, and the words of its failure: of these one is empty.
        self.resolved: tuple[Any, ...] = ()
        self.failed = ""

    def record(self, decision: Decision, files: Iterable[File]) -> None:
        """Keep what was decided about the files of a version, which pip knows by their URLs."""
        for file in files:
            self._by_url[file.link.url_without_fragment] = Decided(decision, file)

    def forget(self, link: Any) -> None:
        """Forget what was decided about the version of a file, as it is to be decided again."""
        decided = self.of_link(link)
        self.begin_again()
        if decided is not None:
            self.fitted.discard(decided.decision.project)
            self._by_url = {
                url: each
                for url, each in self._by_url.items()
                if each.decision is not decided.decision
            }

    def settled_labels(self) -> Mapping[str, str]:
        """Return the labels that the resolver is at, by canonical project name; newest last."""
        labels = dict(self.build_labels)
        for candidate in self.pinned.values():
            decided = self.of_link(candidate.source_link)
            if decided is not None:
                labels[decided.file.project] = decided.file.label or ""
        return {**labels, **self.attempted}

    def begin_again(self) -> None:
        """Forget where the resolver is at."""
        self.attempted, self.pinned = {}, {}

    def of_link(self, link: Any) -> Decided | None:
        """Return what was decided about the file of a link, None if nothing was."""
        return None if link is None else self._by_url.get(link.url_without_fragment)

    def of_requirement(self, requirement: Any) -> Decided | None:
        """Return what was decided about the file that was chosen for one of pip's requirements."""
        return self.of_link(requested_link(requirement))

    def skipped_of(self, project: str) -> list[Decision]:
        """Return the decisions about the skipped versions of a project, in order."""
        return [decision for decision in self.skipped.values() if decision.project == project]
