"""How much of what comes from outside is read; a module of its own, as it is needed first."""

from __future__ import annotations

import re

#: Larger metadata is refused unread; real files have some kilobytes.
MAX_BYTES = 10 * 1024 * 1024

#: The shortest values take a hundred times more memory than text.
_MAX_JSON_VALUES = 250_000


def json_fault(text: str) -> str | None:
    """Say that a JSON document has too many values to be parsed, None if it has not."""
    return values_fault(text, "{[,", _MAX_JSON_VALUES)


def values_fault(text: str, marks: str, most: int) -> str | None:
    """Say that text has more values than the given number, None if it has not.

    :param marks: each value but the first has one of these characters before it.
    """
    return f"has more than {most:,} values" if sum(map(text.count, marks)) > most else None


def has_long_number(text: str) -> bool:
    """Say whether text has a number that Python refuses to convert, or takes long for."""
    return len(text) > 1000 and re.search(r"\d{1000}", text) is not None
