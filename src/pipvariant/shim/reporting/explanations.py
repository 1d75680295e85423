"""Explanations of what the resolver took, gathered from what is known without another request."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from pipvariant.selection.explanation import Explanation, explain
from pipvariant.selection.model import File, LeftOut
from pipvariant.shim.core.pip_objects import canonical_name, redact, requested_link
from pipvariant.shim.finding.index import is_left_out_by_hash, source_of
from pipvariant.shim.finding.left_out import left_out_by_pip

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.decisions import Decisions


def explain_run(index: IndexState, decisions: Decisions) -> tuple[list[Explanation], list[str]]:
    """Return what was decided about projects with variants, and the names of the others.

    :param decisions: of a run that has resolved, or failed to.
    """
    chosen = {canonical_name(each.name): requested_link(each) for each in decisions.resolved}
    names = dict.fromkeys(chosen)
    if decisions.failed:
        # What was looked at on the way to a result is no part of it; on the way to none, it is.
        names = dict.fromkeys(name for name, _ in decisions.skipped)
        names.update(dict.fromkeys(sorted(index.listed.keys() - decisions.fitted)))
    found, others = [], []
    for name in names:
        explanation = _explain(index, decisions, name, chosen.get(name))
        if explanation is not None:
            found.append(explanation)
        elif name in chosen:
            others.append(name)
    return found, others


def _explain(
    index: IndexState, decisions: Decisions, project: str, link: Any
) -> Explanation | None:
    files = _files(index, project)
    decided, skipped = decisions.of_link(link), decisions.skipped_of(project)
    version = decisions.versions.get(project)
    if project in decisions.displaced:
        skipped = [*skipped, decisions.displaced[project]]
    chosen = decided.file if decided is not None else _file_of(link, project, files, version)
    version = None if chosen is None else str(chosen.version)
    contradicted = [
        LeftOut(file, "is not what its source says")
        for file in index.contradicted.values()
        if file.project == project
    ]
    left_out = [
        each
        for each in (*left_out_by_pip(index, project), *contradicted)
        if version in (None, str(each.file.version))
    ]
    versions = {version} if version is not None else {each.version for each in skipped}
    left_out += _left_out_by_hash([file for file in files if str(file.version) in versions])
    if decided is None and not skipped and not any(each.file.label for each in left_out):
        return None
    plain = [file for file in files if file.label is None and not is_left_out_by_hash(file)]
    explanation = explain(
        project,
        None if decided is None else decided.decision,
        chosen,
        skipped=skipped,
        others=[file for file in plain if str(file.version) == version],
        left_out=left_out,
        shown=redact,
    )
    best = _best(index, project, plain)
    return dataclasses.replace(
        explanation,
        plain=None if best is None else (str(best.version), best.filename),
        hint="" if version is None else decisions.hints.get((project, version), ""),
    )


def _files(index: IndexState, project: str) -> list[File]:
    """Return the files of a project, as pip has found them already."""
    search = index.searches.get(project)
    return [] if search is None else index.files(search.finder, project, search.hashes)


def _left_out_by_hash(files: Sequence[File]) -> list[LeftOut]:
    """Return one file of each label and kind of which no file has an allowed hash."""
    # Where no hash is allowed pip leaves out nothing, and fails later.
    if all(map(is_left_out_by_hash, files)):
        return []
    first: dict[tuple[Any, ...], File] = {}
    # Sorting is stable: an allowed file comes first.
    for file in sorted(files, key=is_left_out_by_hash):
        first.setdefault((str(file.version), file.source, file.label, file.kind), file)
    reason = "its hash is not allowed"
    return [LeftOut(file, reason) for file in first.values() if is_left_out_by_hash(file)]


def _file_of(link: Any, project: str, files: Sequence[File], version: str | None) -> File | None:
    """Return the file that a link is to, which may be on no index.

    :param version: what pip has found inside it.
    """
    if link is None:
        return None
    for file in files:
        if file.link.url_without_fragment == link.url_without_fragment:
            return file
    return File.named(project, version, str(link.filename), source=source_of(link), link=link)


def _best(index: IndexState, project: str, files: Sequence[File]) -> File | None:
    """Return what pip would choose of these files, for the same specifier."""
    search = index.searches.get(project)
    if search is None:
        return None
    payloads = [file.payload for file in files]
    best = search.evaluator(project).compute_best_candidate(payloads).best_candidate
    return next((file for file in files if file.payload is best), None)
