"""Environment markers about variants: decide them, and leave the rest to any tool."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Union

from pipvariant.errors import InvalidMarker
from pipvariant.standard.properties import Properties, Property, iter_properties

_LABEL = "variant_label"
#: The names of the sets; their members have one, two and three parts.
SETS = ("variant_namespaces", "variant_features", "variant_properties")

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<string> '[^']*' | "[^"]*" )
      | (?P<operator> === | == | ~= | != | <= | >= | < | > | (?:not\s+in | in)\b )
      | (?P<bracket> [()] )
      | (?P<word> [A-Za-z_][A-Za-z0-9_.]* )
    )""",
    re.VERBOSE,
)
_MOST_BRACKETS = 100

_COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "===": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


@dataclass(frozen=True)
class VariantContext:
    """What the markers say about one wheel (PEP 825, section "Environment markers").

    :param label: of the wheel; empty for a non-variant wheel.
    :param properties: of the wheel, only those that the target supports.
    """

    label: str = ""
    properties: Properties = field(default_factory=dict)


#: What the markers say about a non-variant wheel.
EMPTY = VariantContext()


def reduce_requirement(text: str, context: VariantContext) -> str | None:
    """Decide the variant markers of a requirement and take them out.

    :param text: a requirement (PEP 508) as in ``Requires-Dist``.
    :param context: the wheel that has this requirement.
    :return: the requirement with all other markers as they were, *text* itself when it has no
        variant markers or cannot be parsed, ``None`` when it never applies to this wheel.
    :raises InvalidMarker: a variant marker is compared in a way that has no meaning, such as
        ``variant_features == "x"`` (PEP 825, section "Environment markers").
    """
    split = _split_marker(text) if "variant_" in text else None
    if split is None:
        return text
    base, separator, marker = split
    try:
        parser = _Parser(marker, context)
        result = parser.parse()
    except _Unparsable:
        return text
    except InvalidMarker as error:
        error.where = text
        raise
    if not parser.decided:
        return text
    if isinstance(result, bool):
        return base if result else None
    return f"{base}{separator}{result.text}"


def _split_marker(text: str) -> tuple[str, str, str] | None:
    """Split a requirement into what comes before the marker, the separator, and the marker."""
    base, at, url = text.partition("@")
    if not at or ";" in base:
        base, _, marker = text.partition(";")
        return base.rstrip(), "; ", marker
    # A URL may have a semicolon in it, so there a space has to come before the marker.
    words = url.split(None, 1)
    if len(words) < 2 or not words[1].startswith(";"):
        return None
    return f"{base}{at} {words[0]}", " ; ", words[1][1:]


class _Unparsable(Exception):
    """Not a marker; never leaves this module."""


class _Token(NamedTuple):
    kind: str
    text: str = ""
    start: int = 0
    end: int = 0


class _Rest(NamedTuple):
    """What is left to other tools; *loose* if it must have brackets inside ``and``."""

    text: str
    loose: bool = False


_Result = Union[bool, _Rest]


class _Parser:
    """Parses a marker and decides what it can on the way."""

    def __init__(self, marker: str, context: VariantContext) -> None:
        self.marker = marker
        self.context = context
        self.decided = False
        self.brackets = 0
        self.tokens = _tokens(marker)
        self.position = 0

    def parse(self) -> _Result:
        result = self.any_of()
        if self.peek().kind != "end":
            raise _Unparsable
        return result

    def peek(self) -> _Token:
        return self.tokens[self.position]

    def take(self) -> _Token:
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def take_word(self, word: str) -> bool:
        found = self.peek().kind == "word" and self.peek().text == word
        self.position += found
        return found

    def any_of(self) -> _Result:
        return self.chain("or", self.all_of, unless=True)

    def all_of(self) -> _Result:
        return self.chain("and", self.one, unless=False)

    def chain(self, word: str, part: Callable[[], _Result], *, unless: bool) -> _Result:
        """Join parts with *word*; a part that is *unless* decides the whole."""
        parts = [part()]
        while self.take_word(word):
            parts.append(part())
        if any(item is unless for item in parts):
            return unless
        rest = [item for item in parts if isinstance(item, _Rest)]
        if len(rest) < 2:
            return rest[0] if rest else not unless
        texts = (f"({item.text})" if item.loose and not unless else item.text for item in rest)
        return _Rest(f" {word} ".join(texts), loose=unless)

    def one(self) -> _Result:
        token = self.peek()
        if token.text != "(":
            return self.comparison()
        self.brackets += 1
        if self.brackets > _MOST_BRACKETS:
            raise _Unparsable
        self.take()
        decided, self.decided = self.decided, False
        result = self.any_of()
        closing = self.take()
        if closing.text != ")":
            raise _Unparsable
        self.brackets -= 1
        if not self.decided:
            # Nothing of ours inside: it stays exactly as the author wrote it.
            result = _Rest(self.marker[token.start : closing.end])
        self.decided = self.decided or decided
        return result

    def comparison(self) -> _Result:
        left, sign, right = self.take(), self.take(), self.take()
        operands = ("string", "word")
        if left.kind not in operands or right.kind not in operands or sign.kind != "operator":
            raise _Unparsable
        if not (_is_ours(left) or _is_ours(right)):
            return _Rest(self.marker[left.start : right.end])
        self.decided = True
        symbol = " ".join(sign.text.split())
        if right.kind == "word" and right.text in SETS:
            return self.membership(left, symbol, right.text)
        if left.kind == "word" and left.text in SETS:
            raise _misused(left.text, f"{left.text} is a set")
        values = [self.literal(left), self.literal(right)]
        if symbol not in _COMPARE:
            raise InvalidMarker(
                f"{symbol} has no meaning for {_LABEL}", remedy="Compare it with == or !=."
            )
        if values[0] is None or values[1] is None:
            # The other side is known only to the tool that evaluates the rest.
            texts = (f'"{self.context.label}"' if _is_ours(x) else x.text for x in (left, right))
            return _Rest(f" {symbol} ".join(texts))
        return _COMPARE[symbol](values[0], values[1])

    def membership(self, left: _Token, symbol: str, name: str) -> bool:
        if symbol not in {"in", "not in"}:
            raise _misused(name, f"{name} is a set, which {symbol} cannot be used with")
        value = self.literal(left)
        if value is None:
            raise _misused(name, f"{left.text} cannot be looked up in {name}")
        wanted = " :: ".join(part.strip() for part in value.split("::"))
        members = set_members(name, iter_properties(self.context.properties))
        return (wanted in members) is (symbol == "in")

    def literal(self, token: _Token) -> str | None:
        if token.kind == "string":
            return token.text[1:-1]
        return self.context.label if token.text == _LABEL else None


def _is_ours(token: _Token) -> bool:
    return token.kind == "word" and (token.text == _LABEL or token.text in SETS)


def _misused(name: str, what: str) -> InvalidMarker:
    return InvalidMarker(what, remedy=f'Write "..." in {name}, or "..." not in {name}.')


def set_members(name: str, properties: Iterable[Property]) -> set[str]:
    """Return what the set that a marker names has in it (PEP 825, "Environment markers")."""
    parts = SETS.index(name) + 1
    return {" :: ".join(item[:parts]) for item in properties}


def _tokens(marker: str) -> list[_Token]:
    tokens: list[_Token] = []
    position, end = 0, len(marker.rstrip())
    while position < end:
        match = _TOKEN.match(marker, position)
        if match is None:
            raise _Unparsable
        kind = str(match.lastgroup)
        tokens.append(_Token(kind, match[kind], match.start(kind), match.end(kind)))
        position = match.end()
    return [*tokens, _Token("end")]
