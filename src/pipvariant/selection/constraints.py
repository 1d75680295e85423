"""What the user requires of the variants of a project (``--variant``, ``--require-variant``).

A constraint leaves files out; it never lets one in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from pipvariant.printable import some
from pipvariant.selection.model import Judgement
from pipvariant.selection.reasons import incompatibility
from pipvariant.standard.filename import NULL_LABEL
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.preferences import ALL, Preferences

#: So many labels are named where one does not exist.
SHOWN_LABELS = 10


class VariantConstraint(NamedTuple):
    """What a file of one project has to be.

    :param label: the only label, empty for the non-variant wheel; None for any.
    :param namespaces: those that the label has to use.
    """

    label: str | None
    namespaces: tuple[str, ...]
    text: str = ""

    def __str__(self) -> str:
        return self.text

    def allows(self, label: str | None, metadata: Metadata | None) -> bool:
        """Say whether a build with this label, None for no label, is what the user requires.

        :param metadata: says what the label means; None if nothing does.
        """
        if self.label is not None and self.label != (label or ""):
            # A folder for CPUs has what is called the null variant where labels are published.
            is_folder = metadata is not None and not metadata.published
            properties = metadata.variants.get(label or "") if metadata and is_folder else None
            if self.label != NULL_LABEL or properties is None or properties:
                return False
        used = metadata.variants.get(label or "", {}) if metadata is not None else {}
        return all(namespace in used for namespace in self.namespaces)

    def unmet(
        self, judgements: Iterable[Judgement], labels: Collection[str], *, by_hash: bool
    ) -> str:
        """Say that no file of a version is this, and what the labels need that would be.

        :param labels: those that the version has.
        :param by_hash: only files with some hashes were allowed.
        """
        needs = [
            incompatibility(rejection, judgement)
            for judgement in judgements
            for rejection in judgement.ranking.rejected
            if self.allows(rejection.label, judgement.metadata)
        ]
        among = "of it with an allowed hash" if by_hash else "of it"
        if self.label and self.label not in labels:
            listed = some(sorted(labels), SHOWN_LABELS)
            needs = [f"its labels are {listed}" if listed else "it has no labels"]
        return "; ".join([f"nothing {among} is {self}", *needs[:1]])


def constraint_for(
    preferences: Preferences | None,
    project: str,
    offered: Collection[str],
    uses: Callable[[str], bool],
) -> VariantConstraint | None:
    """Return what the user requires of a project, None if nothing.

    :param offered: the labels that the version in question has, empty for no label.
    :param uses: says whether the project has variants at all that use a namespace: what is
        required of all projects is meant for those.
    """
    if preferences is None:
        return None
    label = preferences.label(project, offered)
    namespaces = preferences.required.get(project, ())
    for namespace in preferences.required.get(ALL, ()):
        if namespace not in namespaces and uses(namespace):
            namespaces = (*namespaces, namespace)
    texts = [] if label is None else [f"--variant {project}={label}"]
    texts += [f"--require-variant {namespace}" for namespace in namespaces]
    return VariantConstraint(label, namespaces, " ".join(texts)) if texts else None


def constraint_if_all(preferences: Preferences, project: str) -> VariantConstraint:
    """Return the most that the user can require of a project, whatever its versions have."""
    label = preferences.labels.get(project, preferences.labels.get(ALL))
    required = {*preferences.required.get(project, ()), *preferences.required.get(ALL, ())}
    return VariantConstraint(label, tuple(required))


def incompatible(constraint: VariantConstraint, judgements: Iterable[Judgement]) -> str:
    """Say why the one label that the user requires is incompatible, empty if it is not."""
    for judgement in judgements if constraint.label else ():
        for rejection in judgement.ranking.rejected:
            if rejection.label == constraint.label:
                return incompatibility(rejection, judgement)
    return ""
