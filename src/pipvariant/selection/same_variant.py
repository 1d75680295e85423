"""Packages that stay on equal values of one namespace (``--same-variant``)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Optional

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
    files: Sequence[File], others: Iterable[str], lacks: Callable[[str, str], bool]
) -> tuple[list[File], list[str]]:
    """Put the file first whose folder has files of every other package.

    :param files: of one version, compatible, best first.
    :param others: the packages that take part.
    :param lacks: says whether a package cannot come from a folder; asked no more than needed.
    :returns: the files in the new order, and if there is no such file, the packages at fault.
    """
    others, apart = tuple(others), dict[str, None]()
    for file in files:
        label = file.label if file.is_of_folder else None
        lacking = [] if label is None else [each for each in others if lacks(each, label)]
        if not lacking:
            return [file, *(other for other in files if other is not file)], []
        apart.update(dict.fromkeys(lacking))
    return list(files), list(apart)


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
        return {"backend": (file.label or "",)} if file.is_of_folder else None
    if decision is None or not any(
        namespace in judgement.properties(label)
        for judgement in decision.judged()
        for label in judgement.labels
    ):
        return None
    return decision.properties(file).get(namespace, {})


def values_of_installed(installed: Installed, family: Family) -> Values:
    """Return what an installed build has in the namespace; None of a non-variant one."""
    if not family.namespace:
        from pipvariant.selection.torch_backends import backend_in

        backend = backend_in(installed.version)
        return None if backend is None else {"backend": (backend,)}
    # What has no label may have been built for anything.
    if installed.metadata is None or installed.label is None:
        return None
    return installed.properties.get(family.namespace, {})


def _goes_with_any(values: Values, others: Sequence[Values]) -> bool:
    return any(_go_together(values, other) for other in others)


def _go_together(one: Values, other: Values) -> bool:
    if one is None or other is None:
        return True
    if not one or not other:
        return not one and not other
    return all(one[feature] == other[feature] for feature in one.keys() & other.keys())
