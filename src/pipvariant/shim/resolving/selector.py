"""The files of one version, best first, when pip's resolver visits it (PEP 825)."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pipvariant.printable import some
from pipvariant.selection.model import Decision, File
from pipvariant.shim.core.pip_objects import installation_error, redact
from pipvariant.shim.core.state import State
from pipvariant.shim.finding.index import labelled_by_version

if TYPE_CHECKING:
    from pipvariant.selection.constraints import VariantConstraint
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import Judgement
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState, Search
    from pipvariant.shim.finding.metadata import MetadataReader
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.standard.metadata import Metadata

#: Commands whose outcome somebody is going to use.
INSTALLERS = ("download", "install", "lock", "wheel")

#: Of so many versions the metadata is read at most to see if a project uses a namespace at all.
MAX_READ = 10

#: Takes compatible files of a version, what was decided about it, and the search; returns the
#: files in another order, and why there are none.
Arrange = Callable[[Sequence[File], Decision, "Search"], "tuple[list[File], str]"]


class Orders(Protocol):
    """What puts the files of a version in order."""

    def order(self, files: Sequence[File], search: Search) -> list[Any]:
        """Return the payloads of the files that may be taken, best first.

        :param files: all of one project and version, in pip's own order, best first.
        :param search: what pip looked for.
        """


@dataclass(eq=False)
class Selector(State):
    """Decides about the files of a version, and keeps what was decided."""

    options: CommandOptions
    user: UserConstraints
    index: IndexState
    metadata_source: MetadataReader
    judge: Judge
    decisions: Decisions
    messages: Messages
    _uses: dict[tuple[str, str], bool] = field(default_factory=dict, init=False)
    #: Set where packages stay on the same variant.
    arrange: Arrange | None = field(default=None, init=False)

    def order(self, files: Sequence[File], search: Search) -> list[Any]:
        """Return the payloads of the files that may be taken, best first: see :class:`Orders`."""
        decisions, first = self.decisions, files[0]
        decision = self.decide(files, search)
        decision = self._arranged(decision, search)
        if decision.judgements:
            # Of a file that is in several folders, the best one counts.
            decisions.record(decision, (*files, *reversed(decision.files)))
        for file in decision.files:
            judgement = decision.judgements.get(file.source)
            if file.label is not None and judgement is not None:
                # Of two sources with a file of the same name, the preferred one speaks for it.
                decisions.judgements.setdefault(file.filename, judgement)
        if not decision.files:
            decisions.skipped[first.project, first.version] = decision
            return []
        if self.user.preferences is not None:
            decisions.constrained.update(file.link.url_without_fragment for file in decision.files)
        decisions.fitted.add(first.project)
        # Of folders, another one may have a file of the same version that can be taken.
        decisions.skipped.pop((first.project, first.version), None)
        self._tell(decision, search)
        return [file.payload for file in decision.files]

    def decide(
        self, files: Sequence[File], search: Search, *, constrained: bool = True
    ) -> Decision:
        """Decide about the files of a version, without keeping it.

        :param constrained: what the user requires counts.
        :raises InstallationError: pip's, when the one label that the user requires is
            incompatible, or something that is needed cannot be imported.
        """

        def constraint(judgements: Mapping[str, Judgement | None]) -> VariantConstraint | None:
            return self._constraint(files, judgements, search) if constrained else None

        project = files[0].project
        try:
            from pipvariant.selection.ordering import decide

            return decide(
                files,
                self.metadata_source,
                self.judge,
                constraint=constraint,
                preferred_label=self.decisions.build_labels.get(project),
                by_hash=bool(search.hashes),
            )
        except ImportError as error:
            raise installation_error(
                f"pip-variant cannot choose variants of {project}: {error}. Install pip-variant "
                "again, or use --no-variant."
            ) from error

    def constraint(
        self, project: str, offered: Sequence[str], search: Search
    ) -> VariantConstraint | None:
        """Return what the user requires of a project, None if nothing.

        :param offered: the labels that the version in question has, empty for no label.
        """
        if self.user.preferences is None:
            return None
        from pipvariant.selection.constraints import constraint_for

        def uses(namespace: str) -> bool:
            return self._ever_uses(project, namespace, search)

        return constraint_for(self.user.preferences, project, offered, uses)

    def _constraint(
        self,
        files: Sequence[File],
        judgements: Mapping[str, Judgement | None],
        search: Search,
    ) -> VariantConstraint | None:
        """Like :meth:`constraint`, refusing to go on where what is required is incompatible."""
        project, version = files[0].project, files[0].version
        names = [name for file in files for name in file.names]
        required = self.constraint(project, names, search)
        # Where it was compatible in another version, this version is only one to skip.
        if required is not None and project not in self.decisions.fitted:
            refuse_incompatible(required, filter(None, judgements.values()), f"{project} {version}")
        return required

    def _ever_uses(self, project: str, namespace: str, search: Search) -> bool:
        """Say whether a label of any version uses a namespace; read until one does."""
        key = (project, namespace)
        if key not in self._uses:
            files = self.index.files(search.finder, project, search.hashes)
            self._uses[key] = any(
                namespace in metadata.variants.get(label, ())
                for metadata, labelled in self._metadata_of_labels(files)
                for label in labelled
            )
        return self._uses[key]

    def _metadata_of_labels(
        self, files: Sequence[File]
    ) -> Iterator[tuple[Metadata, Mapping[str, File]]]:
        """Yield metadata of the newest versions that say of a label what no newer one says.

        A label nearly always means the same in all versions of its source.
        """
        known: set[tuple[str, str]] = set()
        left = MAX_READ
        for labelled in labelled_by_version(files):
            labels = {(file.source, label) for label, file in labelled.items()}
            if left and not labels <= known:
                left -= 1
                metadata = self.metadata_source.sparing_metadata(labelled)
                # Where it cannot be read, an older version may say it.
                if metadata is not None:
                    known |= labels
                    yield metadata, labelled

    def _arranged(self, decision: Decision, search: Search) -> Decision:
        """Let packages that stay on the same variant decide about the order."""
        if self.arrange is None or not decision.files:
            return decision
        allowed = [file for file in decision.files if file.allowed]
        arranged, reason = self.arrange(allowed, decision, search)
        files = (*arranged, *decision.files[len(allowed) :]) if arranged else ()
        return dataclasses.replace(decision, files=files, skip_reason=reason)

    def _tell(self, decision: Decision, search: Search) -> None:
        """Tell what the user should know of a decision, and find what is to be told later."""
        from pipvariant.selection.ordering import sources_of
        from pipvariant.shim.resolving.older_version import older_version_hint

        of, best = f"{decision.project} {decision.version}", decision.files[0]
        if self.user.torch_backend and best.label is not None and not best.is_of_folder:
            backend = f"--torch-backend {self.user.torch_backend}"
            text = f"{decision.project} has published variants, for which {backend} is not needed"
            if self.user.preferences and self.user.preferences.family_of(decision.project):
                self.messages.tell(logging.INFO, text)
        # A folder and the page in it have the same files.
        unique = {file.link.url_without_fragment: file for file in reversed(decision.files)}
        sources = sources_of(reversed(unique.values()))
        if len(sources) > 1:
            taken, *others = map(redact, sources)
            self.messages.tell(
                logging.WARNING,
                f"{of}: variants that fit are at {taken} and at {some(others)}; "
                "those of the first are taken, as pip prefers it",
            )
        if search.hashes and search.is_lazy:
            self._tell_disallowed(best, search)
        # What the user named needs no words, so there is nothing to find for them.
        wordless = self.user.names_label_of(decision) and not self.options.explains
        if not (best.is_accelerated or wordless) and self.options.command in INSTALLERS:
            hint = older_version_hint(
                decision,
                best,
                search,
                self.index,
                self.metadata_source.sparing_metadata,
                self.judge,
            )
            if hint:
                self.decisions.hints[decision.project, decision.version] = hint

    def tell_displaced(self, project: str, link: Any) -> None:
        """Say which labels gave way to a version without variants that counts as newer.

        :param link: of the file that was taken, about which nothing was decided.
        """
        search, preferences = self.index.searches.get(project), self.user.preferences
        # Who names a label, or none, means it.
        named = preferences is not None and preferences.names_label(project)
        if search is None or named or self.user.no_variant:
            return
        from pipvariant.shim.resolving.older_version import displaced_files

        explains = self.options.explains
        taken, files = displaced_files(link, project, search, self.index, anywhere=explains)
        if not files:
            return
        from pipvariant.selection.reasons import displaced_phrase

        decision = self.decide(files, search, constrained=False)
        reason = f"{taken} counts as newer"
        self.decisions.displaced[project] = dataclasses.replace(decision, skip_reason=reason)
        phrase = displaced_phrase(taken, decision)
        if phrase:
            self.decisions.hints[project, taken] = phrase
            if not explains:
                self.messages.tell(logging.INFO, phrase)

    def _tell_disallowed(self, taken: File, search: Search) -> None:
        """Say that a label would rank before the taken file, if its hash were allowed."""
        from pipvariant.selection.judging import labelled_by_source

        of = f"{taken.project} {taken.version}"
        disallowed = self.index.disallowed(search, taken.project, taken.version)
        for source, labelled in labelled_by_source(disallowed).items():
            metadata = self.metadata_source.sparing_metadata(labelled)
            if metadata is None or (taken.label is not None and source != taken.source):
                continue
            labels = [*labelled, *([] if taken.label is None else [taken.label])]
            judgement = self.judge.judge(metadata, labels, of=of, source=source)
            for best in judgement.ranking.compatible[:1]:
                if best in labelled and best != taken.label:
                    self.messages.tell(
                        logging.INFO,
                        f"{of}: variant {best} would fit better, but its hash is not allowed",
                    )


def refuse_incompatible(required: VariantConstraint, judgements: Any, of: str) -> None:
    """Refuse to go on where the one label that the user requires is there and incompatible.

    :param of: name and version, for the user to read.
    :raises InstallationError: pip's, with what the label needs.
    """
    from pipvariant.selection.constraints import incompatible

    reason = incompatible(required, judgements)
    if reason:
        raise installation_error(
            f"{of}: {reason}. {required} never installs a variant that does not fit; leave the "
            "option out, or name another label."
        )
