"""Tables for people, drawn by the library that pip brings with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

__all__ = ["write_table"]


def write_table(out: TextIO, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Any:
    """Print a table as wide as the terminal, and return the console that has printed it."""
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
