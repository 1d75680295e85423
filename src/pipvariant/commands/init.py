"""``variant init``: a first ``[variant]`` table in pyproject.toml."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from pipvariant.authoring.pyproject import add_table
from pipvariant.commands.output import write_line


def add_options(group: Any) -> None:
    """Add the options of ``variant init``."""
    group.add_option(
        "--pyproject",
        metavar="file",
        default="pyproject.toml",
        help="The file to write into (default: %default).",
    )


def run_init(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Write a commented table; return the exit code.

    :param args: namespaces, most preferred first; all known ones when there is none.
    :raises PipVariantError: there is a table already, or a namespace is not known.
    """
    add_table(Path(options.pyproject), args)
    done = "a [variant] table was added. Take out what does not apply."
    write_line(out, f"{options.pyproject}: {done}")
    return 0
