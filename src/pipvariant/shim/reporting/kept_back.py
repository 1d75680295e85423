"""Projects that stay older than the user asked for, as a label was built for that version."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.finding.installed import read_installed
from pipvariant.shim.resolving.again import named_in
from pipvariant.standard.filename import label_phrase

if TYPE_CHECKING:
    from pipvariant.selection.model import Judgement
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.standard.properties import Properties


class _Built(NamedTuple):
    """A chosen or kept label that was built for versions of other projects."""

    head: str
    project: str
    label: str | None
    properties: Properties
    judgement: Judgement | None = None


def kept_back(
    root_reqs: Sequence[Any],
    chosen: Mapping[str, Any],
    index: IndexState,
    decisions: Decisions,
    *,
    eager: bool,
) -> Iterator[str]:
    """Name the projects of which a newer version was asked for, each in one sentence.

    :param root_reqs: what the user asks for, as pip's requirements.
    :param chosen: pip's candidates.
    :param eager: dependencies are to be as new as can be too.
    """
    # One with extras has the one without beside it.
    candidates = [each for each in chosen.values() if each.name == each.project_name]
    built = list(_built(candidates, decisions))
    if not built:
        return
    named = named_in(root_reqs)
    for candidate in candidates:
        project, version = candidate.project_name, candidate.version
        if not (eager or project in named):
            continue
        newest = _newest(project, root_reqs, index)
        if newest is None or newest <= version:
            continue
        for reason in (_reason(each, project, str(newest)) for each in built):
            if reason:
                yield f"{project} {version}: {newest} is not taken, {reason}"


def _built(candidates: Iterable[Any], decisions: Decisions) -> Iterator[_Built]:
    for candidate in candidates:
        head = f"{candidate.name} {candidate.version}"
        if candidate.is_installed:
            installed = read_installed(candidate.dist)
            found = _Built(head, candidate.project_name, installed.label, installed.properties)
        else:
            decided = decisions.of_link(candidate.source_link)
            if decided is None:
                continue
            decision, file = decided
            judgement = decision.judgements.get(file.source)
            properties = decision.properties(file)
            found = _Built(head, file.project, file.label, properties, judgement)
        # Where there are properties, what is imported here has been imported already.
        if found.properties and _features(found.properties):
            yield found


def _newest(project: str, root_reqs: Sequence[Any], index: IndexState) -> Any:
    """Return the newest version that pip would take if only the user had a say.

    :returns: None where no index was asked, or has nothing.
    """
    search = index.searches.get(project)
    reqs = [req for req in root_reqs if req.name and canonical_name(req.name) == project]
    if search is None or any(req.link for req in reqs):
        return None
    specifiers = [req.specifier for req in reqs]
    specifier = functools.reduce(operator.and_, specifiers) if specifiers else None
    found = search._replace(specifier=specifier).applicable(project)
    return max((each.version for each in found), default=None)


def _reason(built: _Built, project: str, version: str) -> str:
    """Say why a version of a project does not go with a label; empty if it does."""
    values = " or ".join(_other_values(built.properties, project, version))
    if not values:
        return ""
    reason = f"as {label_phrase(built.label, '')} of {built.head} is built for {project} {values}"
    judgement = built.judgement
    if judgement is not None:
        for label in judgement.ranking.compatible:
            if not _other_values(judgement.properties(label), project, version):
                return f"{reason}; --variant {built.project}={label} goes with it"
    return reason


def _other_values(properties: Properties, project: str, version: str) -> Sequence[str]:
    """Return what a label was built for of a project, none if this version is meant too."""
    from pipvariant.standard.abi_dependency import is_meant

    values = _features(properties).get(project.replace("-", "_"), ())
    return () if any(is_meant(version, value) for value in values) else values


def _features(properties: Properties) -> Mapping[str, Sequence[str]]:
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    return properties.get(ABI_DEPENDENCY, {})
