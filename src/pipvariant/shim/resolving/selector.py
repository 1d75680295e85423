"""Which files of one project version fit, and in which order (PEP 825, variant ordering)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.errors import InvalidOverride
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of

if TYPE_CHECKING:
    from pipvariant.providers.target import Answer
    from pipvariant.shim.resolving.constraints import Demand
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.properties import Properties
    from pipvariant.standard.ranking import Ranking, Supported

__all__ = [
    "Candidate",
    "Judgement",
    "Outcome",
    "disallowed",
    "is_allowed",
    "judge",
    "judged",
    "order",
]

logger = logging.getLogger(__name__)

FOREIGN = "for another platform this machine's hardware does not answer, only static properties do"


class Candidate(NamedTuple):
    """One file that pip found fit by name, version and tags.

    ``payload`` is whatever the caller wants back; ``name`` is the canonical project name.
    """

    name: str
    version: Any
    link: Any
    payload: Any


class Judgement(NamedTuple):
    """What one source's metadata says about its labels on this target.

    ``supported`` is what the answers say, without what the user excluded.
    """

    metadata: Metadata
    ranking: Ranking
    answers: Mapping[str, Answer]
    supported: Supported

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were judged."""
        return (*self.ranking.compatible, *(each.label for each in self.ranking.rejected))

    def supported_properties(self, label: str) -> Properties:
        """Return those properties of a label that the target supports, as for markers."""
        from pipvariant.standard.ranking import supported_properties

        properties = self.metadata.variants.get(label, {})
        return supported_properties(properties, self.supported)


class Outcome(NamedTuple):
    """What was decided about one project version: source -> judgement, None if unreadable.

    ``why`` says, where a version is skipped, what but the target is the reason.
    """

    name: str
    version: str
    judgements: Mapping[str, Judgement | None]
    why: str = ""


def order(run: Run, finder: Any, candidates: Sequence[Candidate], hashes: Any) -> list[Any]:
    """Return the payloads of the candidates that fit, best first.

    :param candidates: all of one project and version, in pip's own order, best first.
    :param hashes: the hashes that pip was asked for, or None; allowed files come first.
    """
    first = candidates[0]
    outcome = judged(run, finder, candidates)
    judgements = outcome.judgements
    demand = _demand(run, finder, candidates, judgements)
    if judgements:
        for candidate in candidates:
            run.outcomes[candidate.link.url_without_fragment] = outcome
    places = {
        source: {label: place for place, label in enumerate(judgement.ranking.compatible)}
        for source, judgement in judgements.items()
        if judgement is not None
    }
    keyed = []
    # Metadata of two sources is never merged, so their labels have no common order: the
    # source that pip would take from first goes first as a whole.
    sources: dict[str, int] = {}
    for candidate in candidates:
        link = candidate.link
        label, refused = label_of(link), not is_allowed(link, hashes)
        source = source_of(link)
        judgement = judgements.get(source)
        if demand is not None and not demand.allows(label, judgement and judgement.metadata):
            continue
        if label is None:
            # Ordinary wheels, then sdists: pip has them in this order already.
            keyed.append(((refused, True, 0, 0), candidate))
            continue
        place = places.get(source, {}).get(label)
        if place is not None and judgement is not None:
            number = sources.setdefault(source, len(sources))
            keyed.append(((refused, False, number, place), candidate))
            # Of two sources with a file of the same name, the preferred one speaks for it.
            run.judgements.setdefault(link.filename, judgement)
    if len(sources) > 1:
        _tell_sources(run, outcome, list(sources))
    keyed.sort(key=lambda pair: pair[0])
    wanted = run.build_labels.get(first.name)
    if wanted is not None:
        # Sorting is stable: the label of the target environment goes before its equals.
        keyed.sort(key=lambda pair: (pair[0][0], (label_of(pair[1].link) or "") != wanted))
    ordered = [candidate for _, candidate in keyed]
    why = "" if demand is None else demand.unmet(judgements.values(), hashes=bool(hashes))
    if ordered and run.has_families:
        from pipvariant.shim.resolving.same_variant import arrange

        allowed = sum(not key[0] for key, _ in keyed)
        arranged, why = arrange(run, finder, ordered[:allowed], outcome)
        ordered = arranged and [*arranged, *ordered[allowed:]]
    if not ordered:
        run.skipped[first.name, first.version] = outcome._replace(why=why)
        return []
    if run.preferences is not None:
        run.chosen.update(candidate.link.url_without_fragment for candidate in ordered)
    run.fitted.add(first.name)
    if hashes and not run.eager:
        _tell_disallowed(run, finder, ordered[0], hashes)
    return [candidate.payload for candidate in ordered]


def judged(run: Run, finder: Any, candidates: Sequence[Candidate]) -> Outcome:
    """Judge the labels of one project and version, whatever the user makes of it.

    :raises InstallationError: pip's, when something that is needed for it cannot be imported.
    """
    name, version = candidates[0].name, str(candidates[0].version)
    try:
        return Outcome(name, version, _judge_sources(run, finder, candidates))
    except ImportError as error:
        raise import_module("pip._internal.exceptions").InstallationError(
            f"pip-variant cannot choose variants of {name}: {error}. Install pip-variant "
            "again, or use --no-variant."
        ) from error


def _demand(
    run: Run,
    finder: Any,
    candidates: Sequence[Candidate],
    judgements: Mapping[str, Judgement | None],
) -> Demand | None:
    """Return what the user insists on for these candidates, None if nothing."""
    if run.preferences is None:
        return None
    from pipvariant.shim.resolving.constraints import demand_on_index, refuse_misfit

    offered = {label_of(candidate.link) or "" for candidate in candidates}
    demand = demand_on_index(run, finder, candidates[0].name, offered)
    if demand is not None:
        refuse_misfit(run, demand, candidates[0], filter(None, judgements.values()))
    return demand


def _judge_sources(
    run: Run, finder: Any, candidates: Sequence[Candidate]
) -> dict[str, Judgement | None]:
    """Judge the labels of each source by the metadata of that source; None if unreadable."""
    from pipvariant.shim.finding.metadata import metadata_of

    name, version = candidates[0].name, candidates[0].version
    by_source: dict[str, dict[str, Any]] = {}
    for candidate in candidates:
        label = label_of(candidate.link)
        if label is not None:
            wheels = by_source.setdefault(source_of(candidate.link), {})
            wheels.setdefault(label, candidate.link)
    judgements: dict[str, Judgement | None] = {}
    for source, wheels in by_source.items():
        metadata = metadata_of(run, finder, name, version, wheels)
        judgements[source] = (
            None
            if metadata is None
            else judge(run, metadata, tuple(wheels), of=f"{name} {version}", source=source)
        )
    return judgements


def judge(
    run: Run, metadata: Metadata, labels: Sequence[str], *, of: str, source: str = ""
) -> Judgement:
    """Rank labels on this run's target; only the providers of their namespaces are asked.

    :param of: the project and version, for the user to read.
    :param source: the page or folder that the metadata is from, empty if it is from neither.
    :raises InstallationError: pip's, when an override of a probe has a value that cannot be.
    """
    from pipvariant.providers.answers import Origin
    from pipvariant.standard.ranking import rank

    users: dict[str, list[str]] = {}
    for label in sorted(labels):
        for namespace in metadata.variants.get(label, ()):
            users.setdefault(namespace, []).append(label)
    try:
        answers = {
            namespace: _resolved(run, metadata, users[namespace])
            if _is_abi_dependency(metadata, namespace)
            else run.target.answer(namespace, metadata.providers.get(namespace), source)
            for namespace in sorted(users)
        }
    except InvalidOverride as error:
        # The user said something about the machine that cannot be: only the user can mend it.
        raise import_module("pip._internal.exceptions").InstallationError(str(error)) from error
    for namespace, answer in answers.items():
        if answer.origin is Origin.NOT_ASKED and run.tell_once(FOREIGN):
            logger.info("%s: %s", of, FOREIGN)
        for problem in answer.problems:
            # One line for each problem of a run, with the labels that met it first.
            if run.tell_once(problem):
                logger.warning("%s: %s; it concerns %s", of, problem, ", ".join(users[namespace]))
    supported, ordered = _supported(answers), metadata
    if run.preferences is not None:
        from pipvariant.standard.preferences import exclude, prefer

        supported = exclude(supported, run.preferences.excluded)
        ordered = prefer(metadata, run.preferences.preferred)
    return Judgement(metadata, rank(ordered, supported, labels), answers, supported)


def _supported(answers: Mapping[str, Answer]) -> Supported:
    return {namespace: answer.features for namespace, answer in answers.items()}


def _is_abi_dependency(metadata: Metadata, namespace: str) -> bool:
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    provider = metadata.providers.get(namespace)
    return provider is not None and provider.builtin == namespace == ABI_DEPENDENCY


def _resolved(run: Run, metadata: Metadata, labels: Sequence[str]) -> Answer:
    """Answer for what a wheel was built for: the resolver sees to it, so everything is open.

    What fits an installed project comes first. Where nothing is resolved, only that fits, and
    of a project in a lock file only what fits the locked version.
    """
    from pipvariant.providers.answers import Answer, Origin
    from pipvariant.standard.abi_dependency import is_meant, preferred
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    wanted: dict[str, set[str]] = {}
    for label in labels:
        for name, values in metadata.variants[label][ABI_DEPENDENCY].items():
            wanted.setdefault(name, set()).update(values)
    features, facts = {}, {}
    for name in sorted(wanted):
        locked = run.locked_versions.get(name.replace("_", "-"), set())
        installed = None if run.ignores_installed else run.installed_version(name)
        values = preferred(wanted[name], installed)
        if locked or run.ignores_dependencies:
            there = locked or {installed or ""}
            values = tuple(
                value for value in values if any(is_meant(version, value) for version in there)
            )
        if values:
            features[name] = values
        facts[name] = f"{installed} is installed" if installed else "not installed"
        if locked:
            facts[name] = f"{', '.join(sorted(locked))} is locked"
    return Answer(ABI_DEPENDENCY, features, Origin.BUILT_IN, "resolver", facts=facts)


def is_allowed(link: Any, hashes: Any) -> bool:
    """Say whether this file is among those with an allowed hash."""
    # 22.3 does not look at the hashes that a JSON page gives, only at those in a URL.
    return (
        not hashes
        or bool(link.is_hash_allowed(hashes))
        or any(
            hashes.is_hash_allowed(name, hex_digest=digest) for name, digest in link._hashes.items()
        )
    )


def disallowed(finder: Any, name: str, version: Any, hashes: Any) -> list[Any]:
    """Return the variant wheels of a version that pip left out because of their hashes."""
    return [
        found.link
        for found in finder.find_all_candidates(name)
        if found.version == version
        and label_of(found.link) is not None
        and (found.link.has_hash or found.link._hashes)
        and not is_allowed(found.link, hashes)
    ]


def _tell_disallowed(run: Run, finder: Any, taken: Candidate, hashes: Any) -> None:
    """Say that a label would rank before the taken file, if its hash were allowed."""
    from pipvariant.shim.finding.metadata import metadata_of

    name, version = taken.name, taken.version
    of, label = f"{name} {version}", label_of(taken.link)
    by_source: dict[str, dict[str, Any]] = {}
    for link in disallowed(finder, name, version, hashes):
        by_source.setdefault(source_of(link), {}).setdefault(label_of(link) or "", link)
    for source, wheels in by_source.items():
        metadata = metadata_of(run, finder, name, version, wheels)
        if metadata is None or (label is not None and source != source_of(taken.link)):
            continue
        labels = {*wheels, *([] if label is None else [label])}
        best = judge(run, metadata, tuple(labels), of=of, source=source).ranking.compatible[:1]
        sentence = f"{of}: variant {''.join(best)} would fit better, but its hash is not allowed"
        if best and best != (label,) and best[0] in wheels and run.tell_once(sentence):
            logger.info("%s", sentence)


def _tell_sources(run: Run, outcome: Outcome, sources: list[str]) -> None:
    from pipvariant.shim.finding.download import redact

    taken, *others = map(redact, sources)
    sentence = (
        f"{outcome.name} {outcome.version}: variants that fit are at {taken} and at "
        f"{', '.join(others)}; those of the first are taken, as pip prefers it"
    )
    if run.tell_once(sentence):
        logger.warning("%s", sentence)
