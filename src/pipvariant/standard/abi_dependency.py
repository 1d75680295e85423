"""The namespace ``abi_dependency``: built for some versions of another project.

``abi_dependency :: torch :: 2.9`` means "built for ``torch==2.9.*``" (PEP 825, section
"ABI dependencies"). What the resulting installation holds is for a resolver to say, so
these properties become a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count

# A component is no longer than a calendar date.
_VALUE = re.compile(r"\d{1,8}(?:\.\d{1,8}){0,2}")

Numbers = tuple[int, ...]


def is_meant(version: str, value: str) -> bool:
    """Say whether a version is one that a value means: equal in all components it has.

    :param version: a version as text; only its release part counts.
    :param value: one to three release components; anything else means no version.
    """
    if _VALUE.fullmatch(value) is None:
        return False
    return _is_within(_release_of(version), [_numbers(value)])


def preferred(values: Iterable[str], installed: str | None) -> tuple[str, ...]:
    """Return the values that mean a version, most preferred first.

    :param installed: the version that is there already; what was built for it comes first,
        so that it can stay. Then the newest comes first.
    """
    valid = sorted(filter(_VALUE.fullmatch, set(values)), key=_numbers, reverse=True)
    if installed is not None:
        valid.sort(key=lambda value: not is_meant(installed, value))
    return tuple(valid)


def abi_requirement(
    feature: str, values: Sequence[str], versions: Iterable[str] | None = None
) -> str:
    """Return the requirement (PEP 508) that the values of one feature stand for.

    A requirement cannot say "or", but it can say from where to where, and leave out what lies
    between. Between 1.13 and 2.0 that is without end, so there it leaves out what exists.
    Pre-releases of the lowest value are left out, because naming one would admit them all.

    :param feature: the name of the other project, normalised, with ``_``.
    :param values: most preferred first, each as `preferred` returns them.
    :param versions: the versions of the other project that exist. None if that is not known:
        then only those values count that differ from the first in their last component.
    """
    name = feature.replace("_", "-")
    numbers = list(map(_numbers, values))
    # What another value means already adds nothing: 2.9 beside 2.
    wanted = [one for one in numbers if not _is_within(one, {*numbers} - {one})]
    if versions is None:
        wanted = [one for one in wanted if one[:-1] == wanted[0][:-1]]
    wanted = sorted(set(wanted))
    first, last = wanted[0], wanted[-1]
    if first == last:
        return f"{name}=={_version_text(first)}.*"
    gaps = {
        (*low[:-1], number)
        for low, high in zip(wanted, wanted[1:])
        if low[:-1] == high[:-1]
        for number in range(low[-1] + 1, high[-1])
    }
    for version in versions or ():
        found = _release_of(version)
        if first < found < last and not _is_within(found, wanted):
            gaps.add(_gap(found, wanted))
    # "<2.10" is not true of pre-releases of 2.10 either.
    parts = [f">={_version_text(first)}", f"<{_version_text((*last[:-1], last[-1] + 1))}"]
    return f"{name}{','.join([*parts, *(f'!={_version_text(gap)}.*' for gap in sorted(gaps))])}"


def _gap(version: Numbers, wanted: Sequence[Numbers]) -> Numbers:
    """Return as little of a version as tells it apart from every value."""
    return next(
        version[:length]
        for length in count()
        if all(value[:length] != version[:length] for value in wanted)
    )


def _is_within(version: Numbers, values: Iterable[Numbers]) -> bool:
    return any(version[: len(value)] == value for value in values)


def _release_of(version: str) -> Numbers:
    """Return the release part; one without its last components has zeros there: 2 is 2.0.0."""
    release = re.match(r"(?:\d+!)?(\d{1,8}(?:\.\d{1,8})*)", version)
    return () if release is None else (*_numbers(release[1]), 0, 0)


def _version_text(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))


def _numbers(value: str) -> Numbers:
    return tuple(map(int, value.split(".")))
