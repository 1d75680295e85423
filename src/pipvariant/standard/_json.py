"""Decode JSON that may be anything at all: bounded, strict, and with one kind of error."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from pipvariant.standard._faults import DEEPEST, Faults, Path, quote
from pipvariant.standard.bounds import MAX_BYTES, json_fault

#: What text that begins so, or not at all, is instead.
_NOT_JSON = {"": "is empty", "<": "is an HTML page, not JSON"}


class _Repeating(dict[str, object]):
    """An object in which keys appear more than once."""

    repeated: tuple[str, ...] = ()


def decode_json(data: bytes | str, *, where: str = "") -> object:
    """Decode a JSON document; every number in it comes out as 0.

    :raises InvalidMetadata: *data* is too large, empty, not UTF-8, not JSON, nested too deeply,
        has too many values, or has an object with a repeated key.
    """
    decoded: object = None
    fault: str | None
    repeating = False

    def from_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
        nonlocal repeating
        plain = dict(pairs)
        if len(plain) == len(pairs):
            return plain
        result = _Repeating(plain)
        result.repeated = tuple(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        repeating = True
        return result

    if len(data) > MAX_BYTES:
        fault = f"is larger than {MAX_BYTES // 1024 // 1024} MiB"
    else:
        try:
            text = data.decode() if isinstance(data, bytes) else data
            text = text.removeprefix("\ufeff")
            fault = _NOT_JSON.get(text.lstrip()[:1]) or json_fault(text)
            if fault is None:
                decoded = json.loads(
                    text,
                    object_pairs_hook=from_pairs,
                    # The format has no numbers, and converting a hostile one takes minutes.
                    parse_int=lambda _: 0,
                    parse_float=lambda _: 0,
                    parse_constant=_refuse_constant,
                )
        except UnicodeDecodeError:
            fault = "is not UTF-8"
        except json.JSONDecodeError as error:
            fault = f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        except ValueError as error:
            fault = f"is not JSON: {error}"
        except RecursionError:
            fault = "is nested too deeply"
    faults = Faults()
    if fault:
        faults.add((), fault)
    elif repeating:
        for path, key in _repetitions(decoded):
            faults.add(path, f"the key {quote(key)} appears more than once")
    faults.raise_any(where)
    return decoded


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON value")


def _repetitions(decoded: object) -> Iterator[tuple[Path, str]]:
    # Whole paths of a deep document would take its depth times its memory.
    longest = DEEPEST + 1
    waiting: list[tuple[Path, object]] = [((), decoded)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, _Repeating):
            for key in value.repeated:
                yield path, key
        if isinstance(value, dict):
            waiting.extend(((*path, key)[:longest], item) for key, item in value.items())
        elif isinstance(value, list):
            waiting.extend(((*path, index)[:longest], item) for index, item in enumerate(value))
