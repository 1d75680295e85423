"""An older version that has a compatible label, where the newest has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipvariant.shim.finding.index import labelled_by_version

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import Decision, File
    from pipvariant.shim.finding.index import IndexState, Search
    from pipvariant.standard.metadata import Metadata


def older_version_hint(
    decision: Decision,
    file: File,
    search: Search,
    index: IndexState,
    read_metadata: Callable[[Mapping[str, File]], Metadata | None],
    judge: Judge,
) -> str:
    """Name an older version with a compatible label, in words, empty if none is known.

    It is looked for where the machine has what the labels of a version are about, only not the
    right values, as with a driver that is too old; and only in the newest of the older versions
    that has other labels. That is one request for metadata at most.

    :param decision: about the version of the file.
    :param file: the one that is taken of that version.
    """
    from pipvariant.standard.ranking import Cause

    judgements = [] if file.is_accelerated else list(decision.judged())
    namespaces = {
        rejection.namespace
        for judgement in judgements
        for rejection in judgement.ranking.rejected
        if rejection.cause is Cause.VALUE
    }
    if not namespaces:
        return ""
    known = {label for judgement in judgements for label in judgement.labels}
    for labelled in labelled_by_version(_older(file, search, index)):
        # A label nearly always means the same in all versions.
        if labelled.keys() <= known:
            continue
        metadata = read_metadata(labelled)
        if metadata is None:
            return ""
        version = next(iter(labelled.values())).version
        of = f"{file.project} {version}"
        for label in judge.judge(metadata, labelled, of=of).ranking.compatible:
            used = namespaces & metadata.variants.get(label, {}).keys()
            if used:
                option = f"--require-variant {file.project}={min(used)}"
                return f"{of} has variant {label}, which fits; {option} goes back to it"
        return ""
    return ""


def _older(file: File, search: Search, index: IndexState) -> list[File]:
    """Return the accelerated files of older versions that pip would take for the same search."""
    finder, project = search.finder, file.project
    evaluator = finder.make_candidate_evaluator(
        project, specifier=search.specifier, hashes=search.hashes
    )
    found = evaluator.get_applicable_candidates(finder.find_all_candidates(project))
    files = (
        index.file(project, each.version, each.link, hashes=search.hashes)
        for each in found
        if each.version < file.version
    )
    return [each for each in files if each.is_accelerated]
