"""Selection: pip's resolver visits versions as always and gets the best file of each.

The metadata of a version is read, and providers are asked, only when the resolver visits
that version. That is the only lazy point which all pips have in common.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator, Sequence
from importlib import import_module
from operator import itemgetter
from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.resolving.selector import Candidate, disallowed

__all__ = ["patches"]

FOUND = "pip._internal.resolution.resolvelib.found_candidates"
FINDER = "pip._internal.index.package_finder"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the resolver's lazy sequence, and the finder where one best file is asked for."""
    found = [
        Patch(
            f"{FINDER}:PackageFinder.find_best_candidate",
            lambda original: _find_best_candidate(run, original),
            lambda: _prove_asked(run),
        ),
        Patch(
            f"{FINDER}:PackageFinder.find_requirement",
            lambda original: _find_requirement(run, original),
            lambda: _prove_eager(run),
        ),
        Patch(
            f"{FINDER}:CandidateEvaluator.compute_best_candidate",
            lambda original: _compute_best_candidate(run, original),
            lambda: _prove_compute(run),
        ),
        Patch(
            f"{FINDER}:CandidateEvaluator.sort_best_candidate",
            lambda original: _sort_best_candidate(run, original),
            lambda: _prove_sort(run),
        ),
    ]
    # What a build requires is resolved by the new resolver, whatever the user says.
    if run.builds or not run.legacy_resolver:
        found.append(
            Patch(
                f"{FOUND}:FoundCandidates.__init__",
                lambda original: _found_candidates(run, original),
                lambda: _prove_found(run),
            )
        )
    return found


# The resolver.


def _find_best_candidate(run: Run, original: Any) -> Any:
    def find_best_candidate(self: Any, project_name: str, *args: Any, **kwargs: Any) -> Any:
        canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
        run.finder, run.hashes = self, kwargs.get("hashes")
        run.asked[canonical(project_name)] = (self, kwargs.get("specifier"), run.hashes)
        return original(self, project_name, *args, **kwargs)

    return find_best_candidate


def _found_candidates(run: Run, original: Any) -> Any:
    def __init__(self: Any, get_infos: Any, *args: Any, **kwargs: Any) -> None:
        original(self, functools.partial(_infos, run, get_infos), *args, **kwargs)

    return __init__


def _infos(run: Run, get_infos: Any) -> Iterator[Any]:
    """Yield one entry per version with variants, and pip's own entries for all others."""
    for version, entries in itertools.groupby(get_infos(), key=itemgetter(0)):
        # The finder was asked just now, by the step to the first entry.
        finder, hashes = run.finder, run.hashes
        group = list(entries)
        name = group[0][1].keywords["name"]
        if (
            (name, version) in run.replaceable
            or (run.preferences is not None and run.preferences.is_constrained(name))
            or any(label_of(build.keywords["link"]) is not None for _, build in group)
            or (hashes and disallowed(finder, name, version, hashes))
        ):
            candidates = [
                Candidate(build.keywords["name"], version, build.keywords["link"], build)
                for _, build in group
            ]
            yield from _alternatives(run, finder, candidates, hashes)
        else:
            yield from group


def _alternatives(run: Run, finder: Any, candidates: list[Candidate], hashes: Any) -> Iterator[Any]:
    """Yield the best file of a version; and if the resolver comes back for more, the others.

    Others are offered only where labels were built for some versions of another project, or are
    to have something in common with its labels: if one does not go with the rest of the
    installation, the next one may.
    """
    version = candidates[0].version
    labels = {id(each.payload): label_of(each.link) or "" for each in candidates}
    left: list[Any] | None = None

    def build_next() -> Any:
        nonlocal left
        if left is None:
            left = run.order(finder, candidates, hashes)
        while left:
            payload = left.pop(0)
            built = payload()
            # None is pip's word for a file that it cannot use after all.
            if built is not None:
                # What is installed is none of these files, and speaks for itself.
                run.picked.pop(candidates[0].name, None)
                if id(payload) in labels:
                    run.picked[candidates[0].name] = labels[id(payload)]
                return built
        return None

    yield _distinct(version), build_next
    while left and _has_others(run, candidates[0].link):
        yield _distinct(version), build_next


def _has_others(run: Run, link: Any) -> bool:
    """Say whether it may be for the sake of another project that the best file cannot stay."""
    outcome = run.outcomes.get(link.url_without_fragment)
    if outcome is None:
        return False
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    if run.preferences is not None and run.preferences.family_of(outcome.name):
        return True
    return any(
        ABI_DEPENDENCY in judgement.answers
        for judgement in outcome.judgements.values()
        if judgement is not None
    )


def _distinct(version: Any) -> Any:
    """Return an equal version that pip does not take for another file's of the same version.

    pip goes past every further file of a version that it has seen. Such a version is equal to
    pip's own versions, so an installed one counts as seen, but not to another of its kind.
    """
    base = type(version)

    class Distinct(base):  # type: ignore[misc, valid-type]  # pip's class, known when it runs
        __slots__ = ()
        __hash__ = base.__hash__
        is_distinct = True

        def __eq__(self, other: object) -> bool:
            if hasattr(other, "is_distinct"):
                return self is other
            return bool(super().__eq__(other))

    return Distinct(str(version))


# The legacy resolver and `list --outdated`, which want one best file at once.


def _find_requirement(run: Run, original: Any) -> Any:
    def find_requirement(self: Any, *args: Any, **kwargs: Any) -> Any:
        run.eager, before = True, run.eager
        try:
            return original(self, *args, **kwargs)
        finally:
            run.eager = before

    return find_requirement


def _compute_best_candidate(run: Run, original: Any) -> Any:
    def compute_best_candidate(self: Any, candidates: Any) -> Any:
        result = original(self, candidates)
        if not run.eager or result.best_candidate is None:
            return result
        applicable = self.get_applicable_candidates(candidates)
        best = _best(run, self, applicable, self._hashes)
        return type(result)(candidates, applicable if best else [], best)

    return compute_best_candidate


def _sort_best_candidate(run: Run, original: Any) -> Any:
    def sort_best_candidate(self: Any, candidates: Any) -> Any:
        if run.command != "list":
            return original(self, candidates)
        return _best(run, self, candidates, None)

    return sort_best_candidate


def _best(run: Run, evaluator: Any, candidates: Any, hashes: Any) -> Any:
    """Return the best file of the newest version that has one which fits, or None."""
    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    newest_first = sorted(candidates, key=evaluator._sort_key, reverse=True)
    for _, entries in itertools.groupby(newest_first, key=lambda entry: entry.version):
        group = list(entries)
        name = canonical(group[0].name)
        constrained = run.preferences is not None and run.preferences.is_constrained(name)
        if not constrained and all(label_of(entry.link) is None for entry in group):
            return group[0]
        ordered = run.order(
            run.finder, [Candidate(name, e.version, e.link, e) for e in group], hashes
        )
        if ordered:
            return ordered[0]
    return None


# Proofs: pip's own finder and factory, with two files of the same version and tags.


class _Turned:
    """An ``order`` that turns the candidates round, and keeps what it was given."""

    links: Sequence[Any] = ()

    def __call__(self, finder: Any, candidates: Any, hashes: Any) -> list[Any]:
        self.links = [candidate.link for candidate in candidates]
        return [candidate.payload for candidate in reversed(candidates)]

    def is_last(self, link: Any) -> bool:
        """Say whether two files were given, and this is the link of the last one."""
        return len(self.links) == 2 and link is self.links[-1]


@contextlib.contextmanager
def _turned(run: Run, **attributes: Any) -> Iterator[_Turned]:
    order = _Turned()
    with samples.apart(run, order=order, **attributes):
        yield order


def _prove_found(run: Run) -> bool:
    with _turned(run) as seen:
        factory = samples.factory(samples.finder(*samples.WHEELS))
        # Only walked through: the sequence refuses to be measured, as `list` would do first.
        found = list(iter(samples.matches(factory, samples.requirement())))
        return len(found) == 1 and seen.is_last(found[0])


def _prove_asked(run: Run) -> bool:
    digest = "0" * 64
    requirement = samples.requirement(f"{samples.NAME}==1.0", hash_options={"sha256": [digest]})
    with samples.apart(run, finder=None, hashes=None):
        finder = samples.finder()
        if run.legacy_resolver:
            with contextlib.suppress(import_module("pip._internal.exceptions").PipError):
                finder.find_requirement(requirement, upgrade=False)
        else:
            list(iter(samples.matches(samples.factory(finder), requirement)))
        asked, specifier, hashes = run.asked[samples.NAME]
        return (
            asked is run.finder is finder
            and finder._link_collector.session is not None
            and str(specifier) == "==1.0"
            and bool(hashes.is_hash_allowed("sha256", digest))
            and run.hashes is hashes
        )


def _prove_eager(run: Run) -> bool:
    with _turned(run) as seen:
        finder = samples.finder(*samples.WHEELS)
        found = finder.find_requirement(samples.requirement(), upgrade=False)
        return seen.is_last(found.link) and not run.eager


def _prove_compute(run: Run) -> bool:
    with _turned(run, eager=True) as seen:
        best = samples.finder(*samples.WHEELS).find_best_candidate(samples.NAME).best_candidate
        return seen.is_last(best.link)


def _prove_sort(run: Run) -> bool:
    with _turned(run, command="list") as seen:
        finder = samples.finder(*samples.WHEELS)
        evaluator = finder.make_candidate_evaluator(samples.NAME)
        best = evaluator.sort_best_candidate(finder.find_all_candidates(samples.NAME))
        return seen.is_last(best.link)
