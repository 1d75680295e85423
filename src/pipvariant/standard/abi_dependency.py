"""The namespace ``abi_dependency``: built for some versions of another project.

``abi_dependency :: torch :: 2.9`` means "built for ``torch==2.9.*``" (PEP 825, section
"ABI dependencies"). What the resulting installation holds is for a resolver to say, so
these properties become a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import count

# A component is no longer than a calendar date.
_VALUE = re.compile(r"\d{1,8}(?:\.\d{1,8}){0,2}")
# So many versions are left out that may not exist.
_MOST_GAPS = 100

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


def needs_versions(values: Iterable[str]) -> bool:
    """Say whether a requirement for all of these values has to know which versions exist."""
    wanted = _shortest(map(_numbers, values))
    return len({one[:-1] for one in wanted}) > 1 or _size(_between(wanted)) > _MOST_GAPS


def abi_requirement(
    feature: str, values: Sequence[str], versions: Iterable[str] | None = None
) -> str:
    """Return the requirement (PEP 508) that the values of one feature stand for.

    A requirement cannot say "or", but it can say from where to where, and leave out what lies
    between. Between 1.13 and 2.0 that is without end, and between 1 and 20250101 it is too much:
    there it leaves out what exists. Pre-releases of the lowest value are left out, because naming
    one would admit them all.

    :param feature: the name of the other project, normalised, with ``_``.
    :param values: most preferred first, each as `preferred` returns them.
    :param versions: the versions of the other project that exist. None if that is not known:
        then only those values count that differ from the first in their last component, and not
        by much.
    """
    name = feature.replace("_", "-")
    wanted = _shortest(map(_numbers, values))
    if versions is None:
        there = set(wanted)
        best = next(one for one in map(_numbers, values) if one in there)
        wanted = [
            one
            for one in wanted
            if one[:-1] == best[:-1] and 2 * abs(one[-1] - best[-1]) <= _MOST_GAPS
        ]
    first, last = wanted[0], wanted[-1]
    if first == last:
        return f"{name}=={_version_text(first)}.*"
    between, gaps = _between(wanted), set[Numbers]()
    if _size(between) <= _MOST_GAPS:
        gaps = {(*start, number) for start, numbers in between for number in numbers}
    there, beginnings = set(wanted), {one[:n] for one in wanted for n in range(len(one))}
    for version in versions or ():
        found = _release_of(version)
        if first < found < last and not _is_within(found, there):
            # As little of a version as tells it apart from every value.
            gaps.add(next(found[:n] for n in count(1) if found[:n] not in beginnings))
    # "<2.10" is not true of pre-releases of 2.10 either.
    parts = [f">={_version_text(first)}", f"<{_version_text((*last[:-1], last[-1] + 1))}"]
    return f"{name}{','.join([*parts, *(f'!={_version_text(gap)}.*' for gap in sorted(gaps))])}"


def _shortest(values: Iterable[Numbers]) -> list[Numbers]:
    """Return the values in order, without those that another one means already: 2.9 beside 2."""
    all_of_them = set(values)
    return sorted(one for one in all_of_them if not _is_within(one[:-1], all_of_them))


def _between(wanted: Sequence[Numbers]) -> list[tuple[Numbers, range]]:
    """Return what lies between neighbours that differ in the last component only."""
    return [
        (low[:-1], range(low[-1] + 1, high[-1]))
        for low, high in zip(wanted, wanted[1:])
        if low[:-1] == high[:-1]
    ]


def _size(between: Iterable[tuple[Numbers, range]]) -> int:
    return sum(len(numbers) for _, numbers in between)


def _is_within(version: Numbers, values: Collection[Numbers]) -> bool:
    return any(version[: n + 1] in values for n in range(len(version)))


def _release_of(version: str) -> Numbers:
    """Return the release part; one without its last components has zeros there: 2 is 2.0.0."""
    release = re.match(r"(?:\d+!)?(\d{1,8}(?:\.\d{1,8})*)", version)
    return () if release is None else (*_numbers(release[1]), 0, 0)


def _version_text(numbers: Numbers) -> str:
    return ".".join(map(str, numbers))


def _numbers(value: str) -> Numbers:
    return tuple(map(int, value.split(".")))
