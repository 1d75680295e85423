"""Siblings: an older version that has a label for this machine, where the newest has none."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.resolving.reasons import judgements_of
from pipvariant.standard.filename import NULL_LABEL

if TYPE_CHECKING:
    from pipvariant.shim.resolving.selector import Outcome

__all__ = ["older_that_fits"]


def older_that_fits(run: Run, outcome: Outcome, link: Any) -> str:
    """Name an older version with a label that fits, in words, empty if none is known.

    It is looked for where the machine has what the labels of a version are about, only not the
    right values, as with a driver that is too old; and only in the newest of the older versions
    that has other labels. That is one request for metadata at most.

    :param outcome: of the version that was taken.
    :param link: the file that was taken.
    """
    from pipvariant.shim.finding.metadata import metadata_of
    from pipvariant.shim.resolving.selector import judge
    from pipvariant.standard.ranking import Cause

    if label_of(link) not in (None, NULL_LABEL) or outcome.name not in run.asked:
        return ""
    judgements = list(judgements_of(outcome))
    namespaces = {
        rejection.namespace
        for judgement in judgements
        for rejection in judgement.ranking.rejected
        if rejection.cause is Cause.VALUE
    }
    known = {label for judgement in judgements for label in judgement.labels}
    if not namespaces:
        return ""
    finder, specifier, hashes = run.asked[outcome.name]
    evaluator = finder.make_candidate_evaluator(outcome.name, specifier=specifier, hashes=hashes)
    found = evaluator.get_applicable_candidates(finder.find_all_candidates(outcome.name))
    version = import_module("pip._vendor.packaging.version").Version(outcome.version)
    older = [
        each
        for each in found
        if each.version < version and label_of(each.link) not in (None, NULL_LABEL)
    ]
    older.sort(key=lambda each: each.version, reverse=True)
    for (number, _), group in itertools.groupby(
        older, key=lambda each: (each.version, source_of(each.link))
    ):
        wheels = {label_of(each.link) or "": each.link for each in group}
        # A label nearly always means the same in all versions.
        if wheels.keys() <= known:
            continue
        metadata = metadata_of(run, finder, outcome.name, number, wheels)
        if metadata is None:
            return ""
        of = f"{outcome.name} {number}"
        for label in judge(run, metadata, tuple(wheels), of=of).ranking.compatible:
            used = namespaces & metadata.variants.get(label, {}).keys()
            if used:
                option = f"--require-variant {outcome.name}={min(used)}"
                return f"{of} has variant {label}, which fits; {option} goes back to it"
        return ""
    return ""
