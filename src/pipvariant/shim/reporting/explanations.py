"""Explanations: every label of what the resolver took, and what became of it, as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.download import redact
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.resolving.older_version import older_that_fits
from pipvariant.shim.resolving.reasons import left_out_by_pip, miss, why_skipped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pipvariant.providers.answers import Answer
    from pipvariant.shim.resolving.selector import Judgement, Outcome
    from pipvariant.standard.properties import Properties
    from pipvariant.standard.ranking import Rejection

__all__ = ["CHOSEN", "FITS", "LEFT_OUT", "REJECTED", "Build", "Explanation", "explain"]

#: What can become of a build.
CHOSEN, FITS, REJECTED, LEFT_OUT = "chosen", "fits", "rejected", "left out"
PASSED = "ranks first, but options, hashes or other requirements do not allow it"


class Build(NamedTuple):
    """One label of a version, or a file of it without one.

    :param label: None for a file without a label.
    :param kind: ``variant wheel``, ``non-variant wheel`` or ``source distribution``.
    :param status: one of the words above.
    :param reason: why it was not chosen, in words.
    :param source: page, folder or file where it is, without credentials.
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
    :param skipped: version and reason, as one line, of each version that was passed over.
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


def explain(run: Run) -> tuple[list[Explanation], list[str]]:
    """Return what was decided about projects with variants, and the names of the others.

    :param run: one that has resolved, or failed to.
    """
    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    chosen = {canonical(req.name): req.original_link or req.link for req in run.resolved}
    names = dict.fromkeys(chosen)
    if run.failed:
        # What was looked at on the way to a result is no part of it; on the way to none, it is.
        names = dict.fromkeys(name for name, _ in run.skipped)
        names.update(dict.fromkeys(sorted(run.listed.keys() - run.fitted)))
    found, others = [], []
    for name in names:
        explanation = _explain(run, name, chosen.get(name))
        if explanation is not None:
            found.append(explanation)
        elif name in chosen:
            others.append(name)
    return found, others


def _explain(run: Run, name: str, link: Any) -> Explanation | None:
    skipped = {outcome.version: outcome for outcome in run.skipped.values() if outcome.name == name}
    outcome = None if link is None else run.outcomes.get(link.url_without_fragment)
    version = outcome.version if outcome is not None else _version(link)
    left_out = [each for each in left_out_by_pip(run, name) if each.version == version or not link]
    if outcome is None and not skipped and not left_out:
        return None
    builds = [*(() if outcome is None else _judged(outcome, link))]
    if link is not None:
        builds += _without_label(run, name, version, link)
    builds += [
        Build(each.label, "variant wheel", LEFT_OUT, each.reason, redact(source_of(each.link)), {})
        for each in left_out
    ]
    # What fits comes before what does not, whatever the source.
    builds.sort(key=lambda build: (build.status in (REJECTED, LEFT_OUT), build.status == LEFT_OUT))
    statuses = [build.status for build in builds]
    first = statuses.index(CHOSEN) if CHOSEN in statuses else 0
    builds[:first] = [build._replace(reason=build.reason or PASSED) for build in builds[:first]]
    outcomes = [*([] if outcome is None else [outcome]), *skipped.values()]
    return Explanation(
        name,
        version,
        "" if link is None else str(link.filename),
        tuple(builds),
        {version: why_skipped(each) for version, each in skipped.items()},
        {version: tuple(_judged(each, None)) for version, each in skipped.items()},
        {
            namespace: answer
            for each in outcomes
            for judgement in each.judgements.values()
            if judgement is not None
            for namespace, answer in judgement.answers.items()
        },
        _plain(run, name),
        "" if outcome is None else older_that_fits(run, outcome, link),
    )


def _version(link: Any) -> str | None:
    if link is None:
        return None
    if not link.is_wheel:
        return str(link.filename)
    return str(import_module("pip._internal.models.wheel").Wheel(link.filename).version)


def _judged(outcome: Outcome, link: Any) -> Iterator[Build]:
    """Yield the labels of a version, source by source; those that fit first, in order."""
    chosen = None if link is None else (source_of(link), label_of(link))
    for source, judgement in outcome.judgements.items():
        if judgement is None:
            continue
        for build in _judged_of_source(outcome, judgement, redact(source)):
            if chosen == (source, build.label):
                yield build._replace(status=CHOSEN, reason="")
            else:
                yield build


def _judged_of_source(outcome: Outcome, judgement: Judgement, source: str) -> Iterator[Build]:
    variants, kind = judgement.metadata.variants, "variant wheel"
    for label in judgement.ranking.compatible:
        yield Build(label, kind, FITS, outcome.why, source, variants.get(label, {}))
    for rejection in judgement.ranking.rejected:
        label = rejection.label
        reason = miss(rejection, judgement)[len(label) + 1 :]
        yield Build(label, kind, REJECTED, reason, source, variants.get(label, {}), rejection)


def _without_label(run: Run, name: str, version: str | None, chosen: Any) -> Iterator[Build]:
    """Yield a non-variant wheel and a source distribution of a version, if it has them."""
    kinds: dict[str, Any] = {}
    for candidate in run.finder.find_all_candidates(name) if run.finder is not None else ():
        if str(candidate.version) == version and label_of(candidate.link) is None:
            kind = "non-variant wheel" if candidate.link.is_wheel else "source distribution"
            same = candidate.link.url_without_fragment == chosen.url_without_fragment
            if same or kind not in kinds:
                kinds[kind] = candidate.link
    for kind in sorted(kinds):
        link = kinds[kind]
        same = link.url_without_fragment == chosen.url_without_fragment
        status = CHOSEN if same else FITS
        yield Build(None, kind, status, "", redact(source_of(link)), {})


def _plain(run: Run, name: str) -> tuple[str, str] | None:
    """Return what pip would choose, for the same specifier, if there were no labels."""
    if name not in run.asked:
        return None
    finder, specifier, hashes = run.asked[name]
    candidates = [
        found for found in finder.find_all_candidates(name) if label_of(found.link) is None
    ]
    evaluator = finder.make_candidate_evaluator(name, specifier=specifier, hashes=hashes)
    best = evaluator.compute_best_candidate(candidates).best_candidate
    return None if best is None else (str(best.version), str(best.link.filename))
