"""``variant unmake``: from variant wheels to non-variant wheels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TextIO

from pipvariant.authoring import making
from pipvariant.commands.make import add_output, named_wheels, output_folder, progress
from pipvariant.commands.output import write_line


def add_options(group: Any) -> None:
    """Add the options of ``variant unmake``."""
    add_output(group)


def run_unmake(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Make non-variant wheels of variant wheels; return the exit code.

    :raises PipVariantError: a wheel is at fault; those before it were written.
    """
    for wheel in named_wheels(args):
        folder = output_folder(options, wheel)
        with progress(out, wheel) as tell:
            made = making.unmake_wheel(wheel, folder, force=options.force, tell=tell)
        write_line(out, str(made))
    return 0
