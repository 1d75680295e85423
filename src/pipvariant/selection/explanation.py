"""Explanations: every label of what was chosen, and what became of it, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pipvariant.providers.answers import Answer
from pipvariant.selection.model import Decision, File, LeftOut
from pipvariant.selection.reasons import incompatibility, skip_phrase
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
    hint: str = ""


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
    builds[:first] = [build._replace(reason=build.reason or PASSED) for build in builds[:first]]
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
            status, reason = FITS, decision.skip_reason
            if taken == (source, label):
                status, reason = CHOSEN, ""
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
        kind = file.kind
        if file.link == chosen.link or kind not in kinds:
            kinds[kind] = file
    for kind, file in sorted(kinds.items()):
        status = CHOSEN if file.link == chosen.link else FITS
        yield Build(None, kind, status, "", shown(file.source), {})
