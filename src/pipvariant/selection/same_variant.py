"""Packages that stay on equal values of one namespace (``--same-variant``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Optional

from pipvariant.selection.installed import Installed
from pipvariant.selection.model import Decision, File
from pipvariant.standard.preferences import Family

#: The features of a label in one namespace; None of a build that no label speaks for.
Values = Optional[Mapping[str, tuple[str, ...]]]


def arrange(
    files: Sequence[File],
    decision: Decision,
    families: Iterable[Family],
    offered: Callable[[str, Family], Iterable[Sequence[Values]]],
    exists: Callable[[str], bool],
) -> tuple[list[File], str]:
    """Put the labels first that have equal values with a label of every other package.

    :param files: of one version, compatible, best first.
    :param offered: yields what another package offers in the namespace of a family: what is
        installed, then each version from the newest on; nothing of one that is not there and
        is not going to be.
    :param exists: likewise, says whether the installer can find any file of another package.
    :returns: the files in the new order, and why there are none: which package has nothing that
        goes with any of them.
    """
    kept = list(files)
    for family in families:
        for other in sorted(family.packages - {decision.project}):
            values = [values_of(decision, file, family) for file in kept]
            theirs = _first_common(values, partial(offered, other, family))
            if theirs is not None:
                apart = [not _goes_with_any(each, theirs) for each in values]
                kept = [file for _, file in sorted(zip(apart, kept), key=itemgetter(0))]
            elif exists(other):
                return [], f"no variant of {other} has equal values ({family})"
    return kept, ""


def arrange_folders(
    files: Sequence[File], others: Iterable[str], newest: Callable[[str, str], Any]
) -> tuple[list[File], list[str]]:
    """Put the file first whose folder has the newest version of every other package.

    If there is no such file, one whose folder has any version of them.

    :param files: of one version, compatible, best first.
    :param others: the packages that take part.
    :param newest: returns the newest version of a package in a folder, None if it has none.
    :returns: the files in the new order, and if there is no such file, the packages at fault.
    """
    folders = [file.label for file in files if file.is_of_folder and file.label is not None]
    offered = {each: {folder: newest(each, folder) for folder in folders} for each in others}
    best = {
        each: max((version for version in versions.values() if version is not None), default=None)
        for each, versions in offered.items()
    }

    def first(goes: Callable[[Any, Any], bool]) -> File | None:
        for file in files:
            label = file.label if file.is_of_folder else None
            if all(label is None or goes(offered[each][label], best[each]) for each in offered):
                return file
        return None

    taken = first(lambda version, newest: version is not None and version == newest)
    taken = taken or first(lambda version, _: version is not None)
    if taken is None:
        return list(files), [name for name, found in offered.items() if None in found.values()]
    return [taken, *(file for file in files if file is not taken)], []


def _first_common(
    values: Sequence[Values], offered: Callable[[], Iterable[Sequence[Values]]]
) -> Sequence[Values] | None:
    """Return what the first version of a package offers that goes with one of these values."""
    # To go together because neither uses the namespace is the last resort.
    for used in (True, False):
        mine = [each for each in values if each or not used]
        for theirs in offered() if mine else ():
            if any(_goes_with_any(each, mine) for each in theirs if each or not used):
                return theirs
    return None


def values_of(decision: Decision | None, file: File, family: Family) -> Values:
    """Return what a file has in the namespace; None where no label of its version uses it."""
    namespace = family.namespace
    if not namespace:
        return values_of_backend(file.label if file.is_of_folder else None)
    if decision is None or not any(
        namespace in judgement.properties(label)
        for judgement in decision.judged()
        for label in judgement.labels
    ):
        return None
    return decision.properties(file).get(namespace, {})


def values_of_installed(installed: Installed, family: Family) -> Values:
    """Return what an installed build has in the namespace; None of a non-variant one."""
    # What has no label may have been built for anything.
    if installed.metadata is None or installed.label is None:
        return None
    return installed.properties.get(family.namespace, {})


def values_of_backend(backend: str | None) -> Values:
    """Return what members of a family with equal labels have, None if that is not known."""
    return None if backend is None else {"backend": (backend,)}


def _goes_with_any(values: Values, others: Sequence[Values]) -> bool:
    return any(_go_together(values, other) for other in others)


def _go_together(one: Values, other: Values) -> bool:
    if one is None or other is None:
        return True
    if not one or not other:
        return not one and not other
    return all(one[feature] == other[feature] for feature in one.keys() & other.keys())
