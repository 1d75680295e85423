"""How sub-commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TextIO


def write_table(out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Any:
    """Print a table, and return rich's console, which wraps lines at the same width."""
    from pip._vendor.rich.box import SIMPLE_HEAD
    from pip._vendor.rich.console import Console
    from pip._vendor.rich.table import Table

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    console: Any = Console(file=out, highlight=False, markup=False, soft_wrap=False)
    console.print(drawn)
    return console


def write_json(out: TextIO, document: object) -> None:
    """Print a document."""
    json.dump(document, out, indent=2)
    out.write("\n")
