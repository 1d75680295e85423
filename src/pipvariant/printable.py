"""Text that was not written by us, made fit for a user to read: the one function for it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Of a message, and of a name or URL in it, so many characters are shown.
_LONGEST = 10_000
_LONGEST_WORD = 400
# Compiled when they are first used: every run imports this module.
_LONG_WORD = rf"(\S{{{_LONGEST_WORD}}})\S+"
#: What stands before the host of a URL; a password may have an ``@`` too.
_LOGIN = r"(?<=://)([^\s/?#]*)@"
_BEFORE_REST = {", ": " and ", " or ": " or ", "; ": "; and "}


def printable(text: str, longest: int = _LONGEST) -> str:
    """Return *text* as one line that does no harm, whoever wrote it.

    Passwords of URLs are left out, long words and what is longer than *longest* are cut, and what
    a terminal obeys is written as an escape: control characters, ends of lines, marks that turn
    the direction of writing.
    """
    line = re.sub(_LONG_WORD, r"\1...", without_passwords(text))
    if len(line) > longest:
        line = f"{line[:longest]} ..."
    if line.isprintable():
        return line
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in line)


def without_passwords(text: str) -> str:
    """Return *text* with what pip shows of the URLs in it: ``https://user:****@host``."""
    return re.sub(_LOGIN, _redacted, text)


def some(items: Iterable[object], most: int = 3, joint: str = ", ") -> str:
    """Name the first items of a list, and count the others: ``a, b, c and 47 more``."""
    names = list(map(str, items))
    rest = f"{_BEFORE_REST[joint]}{len(names) - most} more" if len(names) > most else ""
    return joint.join(names[:most]) + rest


def _redacted(match: re.Match[str]) -> str:
    user, separator, _ = match[1].partition(":")
    return f"{user}:****@" if separator else "****@"
