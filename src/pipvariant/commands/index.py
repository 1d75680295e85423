"""``variant index``: metadata and pages for a folder of wheels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from pipvariant.authoring.index import build_index
from pipvariant.commands.output import write_line
from pipvariant.errors import InvalidOption


def add_options(group: Any) -> None:
    """Add the options of ``variant index``."""
    group.add_option(
        "--pages",
        action="store_true",
        default=False,
        help="Make the folder a simple index too: pages for installers and people, and the "
        "metadata of each wheel beside it.",
    )


def run_index(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Write what an index needs beside the wheels of a folder; return the exit code.

    :raises PipVariantError: there is a fault; nothing was written then.
    """
    if len(args) != 1:
        raise InvalidOption("which folder? One has to be named")
    built = build_index(Path(args[0]), pages=options.pages)
    for line in (*map(str, built.written), *(f"NOTE: {note}" for note in built.notes)):
        write_line(out, line)
    write_line(out, f"Files written: {len(built.written)}, right already: {built.same}.")
    return 0
