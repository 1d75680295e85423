"""``variant list`` and ``variant check``: installed variants, and whether they still fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TextIO

from pipvariant.shim.installed import Fit, Installed, look
from pipvariant.shim.named_options import TARGET, add_named
from pipvariant.shim.options import configure_target
from pipvariant.standard.properties import Properties, iter_properties

__all__ = ["add_options", "check", "show"]

FIT = "All installed variants fit this machine.\n"
NONE = "No variant is installed.\n"
Rows = Sequence[tuple[Installed, Fit]]
WORDS = {True: "yes", False: "no", None: "unknown"}


def add_options(group: Any) -> None:
    """Add the options of ``variant list`` and ``variant check``."""
    add_named(group, ("--json", *TARGET))
    group.add_option(import_module("pip._internal.cli.cmdoptions").list_path())


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

    A variant of which that cannot be known is printed too, but is no reason to fail.
    """
    rows = _rows(options)
    if options.json:
        _json(out, rows)
    else:
        for installed, fit in rows:
            head = f"{installed.name} {installed.version}"
            if fit.fits is False:
                out.write(f"{head}: {fit.reason}\n")
            elif fit.fits is None:
                out.write(f"{head}: {installed.label or 'label'} unknown; {fit.reason}\n")
        if all(fit.fits for _, fit in rows):
            out.write(FIT if rows else NONE)
    return int(any(fit.fits is False for _, fit in rows))


def _rows(options: Any) -> Rows:
    return look(lambda run: configure_target(run, options), options.path)


def _table(out: TextIO, rows: Rows) -> None:
    from pip._vendor.rich.box import SIMPLE_HEAD
    from pip._vendor.rich.console import Console
    from pip._vendor.rich.table import Table

    if not rows:
        out.write(NONE)
        return
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "version", "label", "properties", "fits"):
        drawn.add_column(column, overflow="fold")
    for installed, fit in rows:
        drawn.add_row(
            installed.name,
            installed.version,
            installed.label or "unknown",
            ", ".join(map(str, iter_properties(_properties(installed)))),
            WORDS[fit.fits],
        )
    console: Any = Console(file=out, highlight=False, markup=False, soft_wrap=False)
    console.print(drawn)
    for installed, fit in rows:
        if fit.reason:
            out.write(f"{installed.name} {installed.version}: {fit.reason}\n")


def _json(out: TextIO, rows: Rows) -> None:
    entries = [
        {
            "name": installed.name,
            "version": installed.version,
            "label": installed.label,
            "properties": {
                namespace: {feature: list(values) for feature, values in features.items()}
                for namespace, features in _properties(installed).items()
            },
            "fits": fit.fits,
            "reason": fit.reason,
        }
        for installed, fit in rows
    ]
    json.dump(entries, out, indent=2)
    out.write("\n")


def _properties(installed: Installed) -> Properties:
    if installed.label is None or installed.metadata is None:
        return {}
    return installed.metadata.variants[installed.label]
