"""How sub-commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

from pipvariant.printable import printable, without_passwords


def write_table(
    out: TextIO, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> Callable[[str], None]:
    """Print a table, and return a function that prints lines wrapped at the same width."""
    from pip._vendor.rich.box import SIMPLE_HEAD
    from pip._vendor.rich.console import Console
    from pip._vendor.rich.table import Table

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*map(printable, row))
    console: Any = Console(file=out, highlight=False, markup=False, soft_wrap=False)
    console.print(drawn)
    return lambda line: console.print(printable(line))


def write_line(out: TextIO, line: str) -> None:
    """Print one line, whatever is in it."""
    out.write(f"{printable(line)}\n")


def write_json(out: TextIO, document: object) -> None:
    """Print a document; JSON leaves one control character as it is."""
    text = without_passwords(json.dumps(document, indent=2))
    out.write(text.replace("\x7f", "\\u007f") + "\n")
