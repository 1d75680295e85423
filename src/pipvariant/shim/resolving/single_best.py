"""The one best file at once: the legacy resolver, and ``list --outdated``."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.index import Search
from pipvariant.shim.resolving.found_candidates import turned

if TYPE_CHECKING:
    from pipvariant.shim.core.state import UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.selector import Orders

FINDER = "pip._internal.index.package_finder"


@dataclass(eq=False)
class SingleBest:
    """Finds the best file of the newest version that has one which may be taken.

    :param lists: what pip sorts is what it lists.
    :param orders: puts the files of a version in order.
    """

    lists: bool
    _user: UserConstraints
    _index: IndexState
    orders: Orders
    #: Set while pip asks for one best file.
    is_asked: bool = False

    def find(self, evaluator: Any, candidates: Any, hashes: Any) -> Any:
        """Return one of pip's candidates, or None.

        :param evaluator: pip's, which knows its own order.
        """
        search = Search(self._index.finder, hashes=hashes, is_lazy=False)
        newest_first = sorted(candidates, key=evaluator._sort_key, reverse=True)
        version_of = self._index.version_of
        for version, entries in itertools.groupby(
            newest_first, key=lambda each: version_of(each.link, each.version)
        ):
            group = list(entries)
            project = canonical_name(group[0].name)
            files = [
                self._index.file(project, version, each.link, hashes=hashes, payload=each)
                for each in group
            ]
            if not self._user.is_constrained(project) and all(file.label is None for file in files):
                return group[0]
            ordered = self.orders.order(files, search)
            if ordered:
                return ordered[0]
        return None


def patches(best: SingleBest) -> list[Patch]:
    """Patch the finder where one best file is asked for."""
    evaluator = f"{FINDER}:CandidateEvaluator"
    return [
        patch(
            f"{FINDER}:PackageFinder.find_requirement", _find_requirement, _prove_requirement, best
        ),
        patch(f"{evaluator}.compute_best_candidate", _compute_best, _prove_compute, best),
        patch(f"{evaluator}.sort_best_candidate", _sort_best, _prove_sort, best),
    ]


def _find_requirement(
    best: SingleBest, original: Any, /, self: Any, *args: Any, **kwargs: Any
) -> Any:
    with aside(best, is_asked=True):
        return original(self, *args, **kwargs)


def _compute_best(best: SingleBest, original: Any, /, self: Any, candidates: Any) -> Any:
    result = original(self, candidates)
    if not best.is_asked or result.best_candidate is None:
        return result
    applicable = self.get_applicable_candidates(candidates)
    found = best.find(self, applicable, self._hashes)
    return type(result)(candidates, applicable if found else [], found)


def _sort_best(best: SingleBest, original: Any, /, self: Any, candidates: Any) -> Any:
    return best.find(self, candidates, None) if best.lists else original(self, candidates)


# Proofs: pip's own finder, with two files of the same version and tags.


def _prove_requirement(best: SingleBest) -> bool:
    with turned(best.orders) as seen:
        finder = samples.finder(*samples.WHEELS)
        found = finder.find_requirement(samples.requirement(), upgrade=False)
        return seen.is_last(found.link) and not best.is_asked


def _prove_compute(best: SingleBest) -> bool:
    with turned(best.orders) as seen, aside(best, is_asked=True):
        found = samples.finder(*samples.WHEELS).find_best_candidate(samples.NAME).best_candidate
        return seen.is_last(found.link)


def _prove_sort(best: SingleBest) -> bool:
    with turned(best.orders) as seen, aside(best, lists=True):
        finder = samples.finder(*samples.WHEELS)
        evaluator = finder.make_candidate_evaluator(samples.NAME)
        found = evaluator.sort_best_candidate(finder.find_all_candidates(samples.NAME))
        return seen.is_last(found.link)
