"""``variant list`` and ``variant check``: installed variants, still compatible or not."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from pipvariant.commands.output import write_json, write_line, write_table
from pipvariant.errors import InvalidOption
from pipvariant.shim.options.definitions import TARGET, add_named
from pipvariant.shim.options.parser import target_options
from pipvariant.shim.reporting.installed_variants import Looked, look
from pipvariant.standard.properties import iter_properties, properties_json

FIT = "All installed variants fit this machine."
#: In place of the label of a build without one.
NO_LABEL = "(no label)"
NONE = "No variant is installed."
Rows = Sequence[Looked]
WORDS = {True: "yes", False: "no", None: "unknown"}


def add_options(group: Any) -> None:
    """Add the options of ``variant list`` and ``variant check``."""
    add_named(group, ("--json", *TARGET))
    group.add_option(import_module("pip._internal.cli.cmdoptions").list_path())
    group.add_option(
        "--better",
        action="store_true",
        default=False,
        help="`check` only: fail too when another label of the same version would fit better.",
    )
    group.add_option(
        "--mixed",
        action="store_true",
        default=False,
        help="`check` only: fail too when packages that need each other are built for different "
        "values of an accelerator, such as two versions of CUDA.",
    )


def run_list(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print all installed variants; return the exit code.

    :raises InstallationError: pip's, when an override of a probe has a value that cannot be.
    """
    rows = _rows_of(options)
    if options.json:
        _write_variants_json(out, rows)
    else:
        _write_variants_table(out, rows)
        _write_mixed(out, options, rows)
    return 0


def run_check(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print the incompatible installed variants, each with a command; return 1 when there is one.

    A better label is printed too, and is a reason to fail with ``--better`` only; so are packages
    that are mixed, with ``--mixed``.

    A variant of which that cannot be known is printed too, but is no reason to fail.
    """
    rows = _rows_of(options)
    if options.json:
        _write_variants_json(out, rows)
    elif not getattr(options, "quiet", 0):
        for row in rows:
            installed, (compatible, reason) = row.installed, row.compatibility
            head = f"{installed.name} {installed.version}"
            if compatible is None:
                write_line(out, f"{head}: {installed.label or 'label'} unknown; {reason}")
            if row.advice:
                write_line(out, f"{head}: {row.advice}")
        _write_mixed(out, options, rows)
        if all(row.compatibility.compatible for row in rows):
            write_line(out, FIT if rows else NONE)
    misfits = (row for row in rows if row.compatibility.compatible is False)
    better = options.better and any(row.better for row in rows)
    mixed = options.mixed and any(row.mixed for row in rows)
    return int(any(misfits) or better or mixed)


def _rows_of(options: Any) -> Rows:
    for path in options.path or ():
        if not Path(path).is_dir():
            raise InvalidOption("there is no such folder", where=f"--path {path}")
    return look(target_options(options), options.path)


def _write_mixed(out: TextIO, options: Any, rows: Rows) -> None:
    """Print once what is mixed; in another folder than the environment there is no command."""
    mixes = [mixed for row in rows for mixed in row.mixed]
    lines = [each.reason if options.path else each.advice(each.command) for each in mixes]
    for line in dict.fromkeys(lines):
        write_line(out, line)


def _write_variants_table(out: TextIO, rows: Rows) -> None:
    if not rows:
        write_line(out, NONE)
        return
    cells = (
        (
            installed.name,
            installed.version,
            installed.label or ("unknown" if installed.is_variant else NO_LABEL),
            ", ".join(map(str, iter_properties(installed.properties))),
            WORDS[compatible],
            better or "",
        )
        for installed, (compatible, _), better, _, _ in rows
    )
    write_table(out, ("name", "version", "label", "properties", "fits", "better"), cells)
    for row in rows:
        if row.compatibility.reason:
            installed = row.installed
            write_line(out, f"{installed.name} {installed.version}: {row.compatibility.reason}")


def _write_variants_json(out: TextIO, rows: Rows) -> None:
    entries = [
        {
            "name": installed.name,
            "version": installed.version,
            "label": installed.label if installed.is_variant else "",
            "properties": properties_json(installed.properties),
            "fits": compatible,
            "reason": reason,
            "better": better,
            "command": command or None,
            "mixed": sorted({name for each in mixed for name in each.projects}),
        }
        for installed, (compatible, reason), better, command, mixed in rows
    ]
    write_json(out, entries)
