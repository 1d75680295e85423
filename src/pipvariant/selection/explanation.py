"""Explanations: every label of what was chosen, and what became of it, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipvariant.printable import some
from pipvariant.providers.answers import Answer
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import Decision, File, LeftOut
from pipvariant.selection.reasons import incompatibility, skip_phrase
from pipvariant.selection.torch_backends import (
    BACKENDS,
    WITH_BACKEND,
    backend_in,
    compatibility_note,
    metadata_of,
)
from pipvariant.standard.properties import Properties
from pipvariant.standard.ranking import Rejection

#: What can become of a build.
CHOSEN, FITS, REJECTED, LEFT_OUT = "chosen", "fits", "rejected", "left out"
PASSED = "ranks first, but options, hashes or other requirements do not allow it"


class Build(NamedTuple):
    """One label of a version, or a file of it without one.

    :param label: None for a file without a label.
    :param kind: ``variant wheel``, ``non-variant wheel`` or ``source distribution``.
    :param status: one of the words above.
    :param reason: why it was not chosen, in words.
    :param source: page, folder or file where it is, for a user to read.
    :param rejection: the first unmet property of a rejected label.
    """

    label: str | None
    kind: str
    status: str
    reason: str
    source: str
    properties: Properties
    rejection: Rejection | None = None


@dataclass(frozen=True)
class Explanation:
    """What was decided about one project that has variants.

    :param version: the chosen one, None if there is none.
    :param file: the name of the chosen file, empty if there is none.
    :param builds: of the chosen version, in the order of choice.
    :param skipped: version and reason, as one line, of each version that was skipped.
    :param skipped_builds: version -> its builds, of the same versions.
    :param answers: what the target said, by namespace.
    :param plain: version and filename that ``--no-variant`` would take, if there is one.
    :param is_plain_known: false where the indexes that it would be on were not asked.
    :param hint: an older version that has a better label, in words, empty if none is known.
    """

    name: str
    version: str | None
    file: str = ""
    builds: tuple[Build, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    skipped_builds: Mapping[str, tuple[Build, ...]] = field(default_factory=dict)
    answers: Mapping[str, Answer] = field(default_factory=dict)
    plain: tuple[str, str] | None = None
    is_plain_known: bool = True
    hint: str = ""


@dataclass(frozen=True)
class FolderAdvice:
    """Where builds of torch's family are that an index without variants does not have.

    :param projects: the canonical names of those that are meant.
    :param index: the URL of the index with a folder for each backend.
    :param backends: those that fit, best first.
    """

    projects: tuple[str, ...]
    index: str
    backends: tuple[str, ...]

    def __str__(self) -> str:
        taken = self.backends[0]
        if len(self.backends) > 1:
            taken = f"the first of {some(self.backends)} that has the version"
        return (
            f"{', '.join(self.projects)}: {self.index} has a build for each backend; "
            f"--torch-backend auto would take {taken}"
        )


def folder_advice(
    versions: Mapping[str, str], with_variants: Iterable[str], judge: Judge, *, index: str
) -> FolderAdvice | None:
    """Say what ``--torch-backend auto`` would look for, where the option is not used.

    No folder is asked: which of them has a version is not known.

    :param versions: canonical name -> version, of what has no variants.
    :param with_variants: canonical names of the other projects.
    :param index: where the folders are.
    :returns: None where nothing is of torch's family, all of it names its backend, or some of it
        has variants.
    """
    projects = [
        name for name in versions if name in WITH_BACKEND and not backend_in(versions[name])
    ]
    if not projects or not WITH_BACKEND.isdisjoint(with_variants):
        return None
    judgement = judge.judge(metadata_of(BACKENDS), BACKENDS, of=projects[0])
    return FolderAdvice(tuple(projects), index, judgement.ranking.compatible)


def explain(
    name: str,
    decision: Decision | None,
    chosen: File | None,
    *,
    skipped: Sequence[Decision],
    others: Iterable[File] = (),
    left_out: Iterable[LeftOut] = (),
    shown: Callable[[str], str] = str,
) -> Explanation:
    """Say what became of every build of the chosen version, and of each version skipped.

    What is not said by decisions, ``plain`` and ``hint``, is left open.

    :param decision: about the chosen version, None if it has no variants.
    :param chosen: the chosen file, None if there is none.
    :param others: the files of the same version without a label.
    :param left_out: what the installer left out.
    :param shown: turns a source into what a user may read.
    """
    builds = [] if decision is None else list(_judged(decision, chosen, shown))
    if chosen is not None:
        builds += _without_label(others, chosen, shown)
    builds += [
        Build(each.file.label, each.file.kind, LEFT_OUT, each.reason, shown(each.file.source), {})
        for each in left_out
    ]
    # What is compatible comes before what is not, whatever the source.
    builds.sort(key=lambda build: (build.status in (REJECTED, LEFT_OUT), build.status == LEFT_OUT))
    statuses = [build.status for build in builds]
    first = statuses.index(CHOSEN) if CHOSEN in statuses else 0
    builds[:first] = [
        build._replace(reason="; ".join(filter(None, (PASSED, build.reason))))
        for build in builds[:first]
    ]
    return Explanation(
        name,
        None if chosen is None else str(chosen.version),
        "" if chosen is None else chosen.filename,
        tuple(builds),
        {each.version: skip_phrase(each) for each in skipped},
        {each.version: tuple(_judged(each, None, shown)) for each in skipped},
        {
            namespace: answer
            for each in filter(None, (decision, *skipped))
            for judgement in each.judged()
            for namespace, answer in judgement.answers.items()
        },
        is_plain_known=chosen is None or not chosen.is_of_folder,
    )


def _judged(
    decision: Decision, chosen: File | None, shown: Callable[[str], str]
) -> Iterator[Build]:
    """Yield the labels of a version, source by source; compatible ones first, in order."""
    taken = None if chosen is None else (chosen.source, chosen.label)
    for source, judgement in decision.judgements.items():
        if judgement is None:
            continue
        where, kind = shown(source), "variant wheel"
        for label in judgement.ranking.compatible:
            reasons = [decision.skip_reason, compatibility_note(judgement, label)]
            reason = "; ".join(filter(None, reasons))
            status = CHOSEN if taken == (source, label) else FITS
            yield Build(label, kind, status, reason, where, judgement.properties(label))
        for rejection in judgement.ranking.rejected:
            label = rejection.label
            reason = incompatibility(rejection, judgement)[len(label) + 1 :]
            properties = judgement.properties(label)
            yield Build(label, kind, REJECTED, reason, where, properties, rejection)


def _without_label(
    files: Iterable[File], chosen: File, shown: Callable[[str], str]
) -> Iterator[Build]:
    """Yield a non-variant wheel and a source distribution of a version, if it has them."""
    kinds: dict[str, File] = {}
    for file in files:
        if chosen.is_of_folder and file.link == chosen.link:
            # It counts as one with a label, and has its row.
            continue
        kind = file.kind
        if file.link == chosen.link or kind not in kinds:
            kinds[kind] = file
    for kind, file in sorted(kinds.items()):
        status = CHOSEN if file.link == chosen.link else FITS
        yield Build(None, kind, status, "", shown(file.source), {})
