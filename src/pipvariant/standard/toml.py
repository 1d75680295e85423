"""Parse TOML that may be anything at all: bounded, and with one kind of error."""

from __future__ import annotations

import re
import sys
from typing import Any

from pipvariant.standard.bounds import values_fault

_MAX_VALUES = 50_000
# Time and memory for a dotted key grow with the square of its length.
_MAX_DOTS = 100

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'')


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a TOML document.

    :raises ValueError: with what is wrong, as a phrase.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    bare = _STRING.sub("", text)
    fault = values_fault(bare, "{[,.=", _MAX_VALUES)
    if any(line.count(".") > _MAX_DOTS for line in bare.splitlines()):
        fault = f"has a key of more than {_MAX_DOTS} parts"
    if fault:
        raise ValueError(fault)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not TOML: {error}") from error
