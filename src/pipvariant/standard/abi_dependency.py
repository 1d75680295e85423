"""The namespace ``abi_dependency``: built for some versions of another project.

``abi_dependency :: torch :: 2.9`` means "built for ``torch==2.9.*``" (PEP 825, section
"ABI dependencies"). What the resulting installation holds is for a resolver to say, so
these properties become a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["matches", "preferred", "requirement"]

# A component is no longer than a calendar date.
_VALUE = re.compile(r"\d{1,8}(?:\.\d{1,8}){0,2}")


def matches(version: str, value: str) -> bool:
    """Say whether a version is one that a value means: equal in all components it has.

    :param version: a version as text; only its release part counts.
    :param value: one to three release components; anything else means no version.
    """
    if _VALUE.fullmatch(value) is None:
        return False
    release = re.match(r"(?:\d+!)?(\d{1,8}(?:\.\d{1,8})*)", version)
    if release is None:
        return False
    wanted = _numbers(value)
    # A version without its last components has zeros there: 2 is 2.0.
    found = (*_numbers(release[1]), 0, 0)[: len(wanted)]
    return found == wanted


def preferred(values: Iterable[str], installed: str | None) -> tuple[str, ...]:
    """Return the values that mean a version, most preferred first.

    :param installed: the version that is there already; what was built for it comes first,
        so that it can stay. Then the newest comes first.
    """
    valid = sorted(filter(_VALUE.fullmatch, set(values)), key=_numbers, reverse=True)
    if installed is not None:
        valid.sort(key=lambda value: not matches(installed, value))
    return tuple(valid)


def requirement(feature: str, values: Sequence[str]) -> str:
    """Return the requirement (PEP 508) that the values of one feature stand for.

    :param feature: the name of the other project, normalised, with ``_``.
    :param values: most preferred first. A requirement cannot say "or", but it can leave out
        what lies between: all values count that differ from the first one in their last
        component only, and the others are left out.
    """
    first = _numbers(values[0])
    last = sorted(
        number[-1]
        for number in map(_numbers, values)
        if len(number) == len(first) and number[:-1] == first[:-1]
    )
    name = feature.replace("_", "-")
    if len(last) == 1:
        return f"{name}=={values[0]}.*"
    head = "".join(f"{number}." for number in first[:-1])
    gaps = sorted(set(range(last[0], last[-1])) - set(last))
    parts = [f">={head}{last[0]}", f"<{head}{last[-1] + 1}.dev0"]
    return f"{name}{','.join([*parts, *(f'!={head}{gap}.*' for gap in gaps)])}"


def _numbers(value: str) -> tuple[int, ...]:
    return tuple(map(int, value.split(".")))
