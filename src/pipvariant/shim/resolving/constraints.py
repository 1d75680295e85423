"""What the user insists on for a project: files that are not it are left out.

``--variant`` and ``--require-variant`` narrow what fits; they never let anything in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of

if TYPE_CHECKING:
    from pipvariant.shim.locking.read import Locked
    from pipvariant.shim.resolving.selector import Candidate, Judgement
    from pipvariant.standard.metadata import Metadata

__all__ = ["Demand", "demand_for", "demand_on_index", "refuse_misfit"]


class Demand(NamedTuple):
    """What a file of one project has to be.

    :param label: the only label, empty for the non-variant wheel; None for any.
    :param namespaces: those that the label has to use.
    """

    label: str | None
    namespaces: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return self.text

    def allows(self, label: str | None, metadata: Metadata | None) -> bool:
        """Say whether a build with this label, None for no label, is what the user wants.

        :param metadata: says what the label means; None if nothing does.
        """
        if self.label is not None and self.label != (label or ""):
            return False
        used = metadata.variants.get(label or "", {}) if metadata is not None else {}
        return all(namespace in used for namespace in self.namespaces)

    def unmet(self, judgements: Iterable[Judgement | None], *, hashes: bool) -> str:
        """Say that nothing of a version is this, and what its labels need that would be.

        :param hashes: only files with some hashes were looked at.
        """
        from pipvariant.shim.resolving.reasons import miss

        needs = [
            miss(rejection, judgement)
            for judgement in judgements
            if judgement is not None
            for rejection in judgement.ranking.rejected
            if self.allows(rejection.label, judgement.metadata)
        ]
        among = "of it with an allowed hash" if hashes else "of it"
        return "; ".join([f"nothing {among} is {self}", *needs[:1]])


def demand_for(
    run: Run, name: str, offered: Collection[str], uses: Callable[[str], bool]
) -> Demand | None:
    """Return what the user insists on for a project, None if nothing.

    :param offered: the labels that the version in question has.
    :param uses: says whether the project has variants at all that use a namespace: what is asked
        of all projects is meant for those.
    """
    from pipvariant.standard.preferences import ALL

    preferences = run.preferences
    if preferences is None:
        return None
    label = preferences.label(name, offered)
    namespaces = preferences.required.get(name, ())
    for namespace in preferences.required.get(ALL, ()):
        if namespace not in namespaces and uses(namespace):
            namespaces = (*namespaces, namespace)
    texts = [] if label is None else [f"--variant {name}={label}"]
    texts += [f"--require-variant {namespace}" for namespace in namespaces]
    return Demand(label, namespaces, " ".join(texts)) if texts else None


def demand_on_index(run: Run, finder: Any, name: str, offered: Collection[str]) -> Demand | None:
    """Like :func:`demand_for`, of a project whose other versions can be looked at."""
    return demand_for(run, name, offered, lambda each: _ever_uses(run, finder, name, each))


def refuse_misfit(
    run: Run, demand: Demand, of: Candidate | Locked, judgements: Iterable[Judgement]
) -> None:
    """Refuse to go on where the label that the user named is there and does not fit.

    Where it fitted in another version, this version is only one that cannot be taken.

    :raises InstallationError: pip's, with what the label needs.
    """
    from pipvariant.shim.resolving.reasons import miss

    if not demand.label or of.name in run.fitted:
        return
    for judgement in judgements:
        for rejection in judgement.ranking.rejected:
            if rejection.label == demand.label:
                reason = miss(rejection, judgement)
                raise import_module("pip._internal.exceptions").InstallationError(
                    f"{of.name} {of.version}: {reason}. {demand} never installs a variant "
                    "that does not fit; leave the option out, or name another label."
                )


def _ever_uses(run: Run, finder: Any, name: str, namespace: str) -> bool:
    """Say whether a label of any version uses a namespace; versions are read until one does."""
    from pipvariant.shim.finding.metadata import metadata_of

    known = run.users.get((name, namespace))
    if known is None:
        known = False
        labelled = [
            found for found in finder.find_all_candidates(name) if label_of(found.link) is not None
        ]
        labelled.sort(key=lambda found: found.version, reverse=True)
        for (version, _), group in itertools.groupby(
            labelled, key=lambda found: (found.version, source_of(found.link))
        ):
            wheels = {label_of(found.link) or "": found.link for found in group}
            metadata = metadata_of(run, finder, name, version, wheels)
            if metadata is not None and any(
                namespace in metadata.variants.get(label, ()) for label in wheels
            ):
                known = True
                break
        run.users[name, namespace] = known
    return known
