"""The options of a sub-command, as its own parser gives them."""

from __future__ import annotations

from optparse import OptionParser
from pathlib import Path
from typing import Any

__all__ = ["parsed"]


def parsed(module: Any, *words: str | Path) -> Any:
    """Parse these words with the options that a module of a sub-command adds."""
    parser = OptionParser()
    module.add_options(parser)
    options, arguments = parser.parse_args(list(map(str, words)))
    assert arguments == []
    # An option that every command of pip has.
    options.ensure_value("verbose", 0)
    return options
