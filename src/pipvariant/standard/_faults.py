"""Take values out of decoded documents, gathering every fault with the path to it."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Union

from pipvariant.errors import InvalidMetadata

#: Keys and list positions that lead to a value; text is only made of it for a fault.
Path = tuple[Union[str, int], ...]

_LONGEST = 60
#: A path is shown up to here.
DEEPEST = 8
_MOST_FAULTS = 100
_STRING = frozenset({str})
_KINDS = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "a list",
    str: "a string",
    type(None): "null",
}


def quote(text: str) -> str:
    """Return *text* for a message: short, and without what a terminal must not see."""
    return ascii(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!a}..."


def _kind(value: object) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _text(path: Path) -> str:
    text = ""
    for key in path[:DEEPEST]:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = key if key.isprintable() and len(key) <= _LONGEST else quote(key)
            text += f".{shown}" if text else shown
    return text if len(path) <= DEEPEST else f"{text}..."


class Faults:
    """The faults of one document; each method returns something usable even after a fault.

    Of a document that is nothing but faults, most are only counted.
    """

    def __init__(self) -> None:
        self._found: list[tuple[str, str]] = []
        self._count = 0
        #: Kind -> its names that were good: a release has few names and many labels.
        self._good: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return self._count

    def add(self, path: Path, text: str) -> None:
        """Note that the value at *path* is wrong."""
        self._count += 1
        if self._count <= _MOST_FAULTS:
            self._found.append((_text(path), text))

    def raise_any(self, where: str) -> None:
        """Raise what has been found so far.

        :raises InvalidMetadata: there is at least one fault.
        """
        if not self._count:
            return
        faults = self._found
        if self._count > _MOST_FAULTS:
            faults = [*faults, ("", f"and {self._count - _MOST_FAULTS} more faults")]
        raise InvalidMetadata(faults, where=where)

    def table(self, value: object, path: Path) -> dict[str, object]:
        """Return *value* if it is an object, otherwise an empty one."""
        if not isinstance(value, dict):
            self.add(path, f"must be an object, not {_kind(value)}")
            return {}
        # The first test is the quick one; a TOML parser may have strings of its own.
        if not (_STRING.issuperset(map(type, value)) or all(isinstance(key, str) for key in value)):
            self.add(path, "must be an object whose keys are strings")
            return {}
        return value

    def required(self, document: dict[str, object], key: str) -> dict[str, object]:
        """Return the object that must be under *key* of the whole document."""
        if key not in document:
            self.add((key,), "is missing")
            return {}
        return self.table(document[key], (key,))

    def strings(self, value: object, path: Path) -> tuple[str, ...]:
        """Return the strings of a list of strings."""
        if not isinstance(value, list):
            self.add(path, f"must be a list of strings, not {_kind(value)}")
            return ()
        if _STRING.issuperset(map(type, value)):
            return tuple(value)
        for index, item in enumerate(value):
            if not isinstance(item, str):
                self.add((*path, index), f"must be a string, not {_kind(item)}")
        return tuple(item for item in value if isinstance(item, str))

    def names(
        self, value: object, path: Path, kind: str, pattern: re.Pattern[str]
    ) -> tuple[str, ...]:
        """Return a list of unique strings that all match *pattern*."""
        items = self.strings(value, path)
        seen: set[str] = set()
        for item in items:
            if item in seen:
                self.add(path, f"{quote(item)} is listed twice")
            else:
                self.name(item, path, kind, pattern)
            seen.add(item)
        return items

    def name(self, text: str, path: Path, kind: str, pattern: re.Pattern[str]) -> None:
        """Check the name *text*, which is a key or a value of what is at *path*."""
        good = self._good[kind]
        if text not in good:
            if pattern.fullmatch(text) is None:
                self.add(path, f"{quote(text)} is not a {kind}")
            else:
                good.add(text)

    def string(self, table: dict[str, object], key: str, path: Path) -> str | None:
        """Return the string under *key*, if there is anything."""
        value = table.get(key)
        if isinstance(value, str):
            return value
        if key in table:
            self.add((*path, key), f"must be a string, not {_kind(value)}")
        return None

    def flag(self, table: dict[str, object], key: str, path: Path, *, default: bool) -> bool:
        """Return the boolean under *key*."""
        value = table.get(key, default)
        if isinstance(value, bool):
            return value
        self.add((*path, key), f"must be true or false, not {_kind(value)}")
        return default
