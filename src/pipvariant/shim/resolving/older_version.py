"""An older version with compatible labels, where the newest has none, or no variants at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.index import labelled_by_version, source_of

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
    older = [each for each in _older(file, search, index) if each.is_accelerated]
    for labelled in labelled_by_version(older):
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


def displaced_files(
    link: Any, project: str, search: Search, index: IndexState, *, anywhere: bool
) -> tuple[str, list[File]]:
    """Return the files of the newest older version with variants, where the taken one has none.

    A local version such as 2.0+cpu counts as newer than 2.0, and another source may have a newer
    version than the one with the variants.

    :param link: of the file that is taken.
    :param anywhere: also where one source has both, as different versions.
    :returns: the version that is taken, and the files, which are none if there is no such version.
    """
    found = search.finder.find_all_candidates(project)
    if not any(label_in(each.link.filename) for each in found):
        return "", []
    files = index.files(search.finder, project, search.hashes)
    taken = next((file for file in files if file.link == link), None)
    older = [] if taken is None else _older(taken, search, index)
    newest = max((file.version for file in older if file.is_accelerated), default=None)
    if taken is None or newest is None:
        return "", []
    files = [file for file in older if file.version == newest]
    if not anywhere and newest.public != taken.version.public:
        files = [file for file in files if file.source != source_of(link)]
    return str(taken.version), files if any(file.is_accelerated for file in files) else []


def _older(file: File, search: Search, index: IndexState) -> list[File]:
    """Return the files of older versions that pip would take for the same search."""
    return [
        index.file(file.project, each.version, each.link, hashes=search.hashes)
        for each in search.applicable(file.project)
        if each.version < file.version and not each.link.is_yanked
    ]
