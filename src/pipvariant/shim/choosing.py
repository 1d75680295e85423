"""Which files of one project version fit, and in which order (PEP 825, variant ordering)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.shim.filenames import label_of
from pipvariant.shim.links import source_of
from pipvariant.shim.run import Run
from pipvariant.shim.sources import metadata_of

if TYPE_CHECKING:
    from pipvariant.providers.target import Answer
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.ranking import Ranking

__all__ = ["Candidate", "Judgement", "Outcome", "judge", "order"]

logger = logging.getLogger(__name__)


class Candidate(NamedTuple):
    """One file that pip found fit by name, version and tags.

    ``payload`` is whatever the caller wants back; ``name`` is the canonical project name.
    """

    name: str
    version: Any
    link: Any
    payload: Any


@dataclass(frozen=True)
class Judgement:
    """What one source's metadata says about its labels on this target."""

    metadata: Metadata
    ranking: Ranking
    answers: Mapping[str, Answer]


@dataclass(frozen=True)
class Outcome:
    """What was decided about one project version: source -> judgement, None if unreadable."""

    name: str
    version: str
    judgements: Mapping[str, Judgement | None]


def order(run: Run, finder: Any, candidates: Sequence[Candidate], hashes: Any) -> list[Any]:
    """Return the payloads of the candidates that fit, best first.

    :param candidates: all of one project and version, in pip's own order, best first.
    :param hashes: the hashes that pip was asked for, or None; allowed files come first.
    """
    first = candidates[0]
    labels = {candidate.link: label_of(candidate.link) for candidate in candidates}
    by_source: dict[str, dict[str, Any]] = {}
    for candidate in candidates:
        label = labels[candidate.link]
        if label is not None:
            by_source.setdefault(source_of(candidate.link), {}).setdefault(label, candidate.link)

    judgements: dict[str, Judgement | None] = {}
    for source, wheels in by_source.items():
        metadata = metadata_of(run, finder, first.name, first.version, wheels)
        judgements[source] = None if metadata is None else judge(run, metadata, tuple(wheels))
    outcome = Outcome(first.name, str(first.version), judgements)
    for candidate in candidates:
        run.outcomes[candidate.link.url_without_fragment] = outcome

    places = {
        source: {label: place for place, label in enumerate(judgement.ranking.compatible)}
        for source, judgement in judgements.items()
        if judgement is not None
    }
    # Metadata of two sources is never merged, so their labels have no common order: the
    # source that pip would take from first goes first as a whole.
    sources: dict[str, int] = {}
    for candidate in candidates:
        source, label = source_of(candidate.link), labels[candidate.link]
        if label is not None and label in places.get(source, {}):
            sources.setdefault(source, len(sources))
    if len(sources) > 1:
        _tell_sources(run, outcome, list(sources))

    keyed = []
    for candidate in candidates:
        label = labels[candidate.link]
        allowed = _is_allowed(candidate.link, hashes)
        if label is None:
            # Ordinary wheels, then sdists: pip has them in this order already.
            keyed.append(((not allowed, True, 0, 0), candidate))
        else:
            source = source_of(candidate.link)
            place = places.get(source, {}).get(label)
            if place is not None:
                keyed.append(((not allowed, False, sources[source], place), candidate))
    keyed.sort(key=lambda pair: pair[0])
    if not keyed:
        run.skipped[first.name, first.version] = outcome
    return [candidate.payload for _, candidate in keyed]


def judge(run: Run, metadata: Metadata, labels: Sequence[str]) -> Judgement:
    """Rank labels on this run's target; only the providers of their namespaces are asked."""
    from pipvariant.standard.ranking import rank

    used = {
        namespace for label in labels for namespace in metadata.variants.get(label, ())
    }
    answers = {
        namespace: run.target.answer(namespace, metadata.providers.get(namespace))
        for namespace in sorted(used)
    }
    for answer in answers.values():
        for problem in answer.problems:
            if run.tell_once(problem):
                logger.warning("%s", problem)
    supported = {namespace: answer.features for namespace, answer in answers.items()}
    return Judgement(metadata, rank(metadata, supported, labels), answers)


def _is_allowed(link: Any, hashes: Any) -> bool:
    """Say whether pip counts this file among those with an allowed hash."""
    return not hashes or bool(link.is_hash_allowed(hashes))


def _tell_sources(run: Run, outcome: Outcome, sources: list[str]) -> None:
    taken, *others = sources
    sentence = (
        f"{outcome.name} {outcome.version}: variants that fit are at {taken} and at "
        f"{', '.join(others)}; those of the first are taken, as pip prefers it"
    )
    if run.tell_once(sentence):
        logger.warning("%s", sentence)
