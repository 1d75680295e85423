"""``variant list`` and ``variant check``: installed variants, and whether they still fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from pipvariant.commands.tables import write_table
from pipvariant.errors import InvalidOption
from pipvariant.shim.options.definitions import TARGET, add_named
from pipvariant.shim.options.parser import target_options
from pipvariant.shim.reporting.installed_variants import Looked, look
from pipvariant.standard.properties import as_lists, iter_properties

__all__ = ["add_options", "check", "show"]

FIT = "All installed variants fit this machine.\n"
BETTER = "would fit better now; --upgrade-variant takes it"
#: In place of the label of a build without one.
NO_LABEL = "(no label)"
NONE = "No variant is installed.\n"
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


def show(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print all installed variants; return the exit code.

    :raises InstallationError: pip's, when an override of a probe has a value that cannot be.
    """
    rows = _rows(options)
    if options.json:
        _json(out, rows)
    else:
        _table(out, rows)
    return 0


def check(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print the installed variants that do not fit; return 1 when there is one.

    A better label is printed too, and is a reason to fail with ``--better`` only.

    A variant of which that cannot be known is printed too, but is no reason to fail.
    """
    rows = _rows(options)
    bad = [
        row
        for row in rows
        if row.compatibility.compatible is False or (options.better and row.better)
    ]
    if options.json:
        _json(out, rows)
    elif not getattr(options, "quiet", 0):
        for installed, (compatible, reason), better in rows:
            head = f"{installed.name} {installed.version}"
            if compatible is False:
                out.write(f"{head}: {reason}\n")
            elif compatible is None:
                out.write(f"{head}: {installed.label or 'label'} unknown; {reason}\n")
            if better:
                out.write(f"{head}: variant {better} {BETTER}\n")
        if all(row.compatibility.compatible for row in rows):
            out.write(FIT if rows else NONE)
    return int(bool(bad))


def _rows(options: Any) -> Rows:
    for path in options.path or ():
        if not Path(path).is_dir():
            raise InvalidOption("there is no such folder", where=f"--path {path}")
    return look(target_options(options), options.path)


def _table(out: TextIO, rows: Rows) -> None:
    if not rows:
        out.write(NONE)
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
        for installed, (compatible, _), better in rows
    )
    write_table(out, ("name", "version", "label", "properties", "fits", "better"), cells)
    for installed, (_, reason), _ in rows:
        if reason:
            out.write(f"{installed.name} {installed.version}: {reason}\n")


def _json(out: TextIO, rows: Rows) -> None:
    entries = [
        {
            "name": installed.name,
            "version": installed.version,
            "label": installed.label if installed.is_variant else "",
            "properties": as_lists(installed.properties),
            "fits": compatible,
            "reason": reason,
            "better": better,
        }
        for installed, (compatible, reason), better in rows
    ]
    json.dump(entries, out, indent=2)
    out.write("\n")
