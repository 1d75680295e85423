"""Each option that ``pip-variant`` adds to pip, by its name, with its words for ``--help``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["CHOOSING", "TARGET", "add_named"]

#: Options of commands that choose files from an index.
CHOOSING = ("--no-variant",)
#: Options about the machine that is installed for, and about who may speak for it.
TARGET = (
    "--variant-target",
    "--enable-provider",
    "--disable-provider",
    "--trust-provider",
    "--refresh-platform",
)

_FLAG: Mapping[str, Any] = {"action": "store_true", "default": False}
_LIST: Mapping[str, Any] = {"action": "append", "default": []}

_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--all-variants": {
        **_FLAG,
        "help": "List every file of each locked version that its index offers, of all variants and "
        "platforms, so that one lock file serves machines with different hardware.",
    },
    "--disable-provider": {
        **_LIST,
        "metavar": "NAMESPACE",
        "help": "Let the provider of this namespace not answer: its variants do not fit. Can be "
        "given several times.",
    },
    "--enable-provider": {
        **_LIST,
        "metavar": "NAMESPACE",
        "help": "Let the optional provider of this namespace answer. Can be given several times.",
    },
    "--json": {**_FLAG, "help": "Print JSON and nothing else."},
    "--no-variant": {
        **_FLAG,
        "help": "Be exactly plain pip: no variant wheel is considered, no variant metadata is "
        "fetched, no provider is asked.",
    },
    "--refresh-platform": {
        **_FLAG,
        "help": "Ask this machine's hardware again, whatever is remembered since it started.",
    },
    "--trust-provider": {
        **_LIST,
        "metavar": "PACKAGE[==VERSION]",
        "help": "Let this plugin package be installed, into an environment of its own, and asked "
        "what this machine supports. Can be given several times.",
    },
    "--upgrade-variant": {
        **_FLAG,
        "help": "Replace an installed package when another label of the same version ranks better "
        "on this machine: the packages that are named, and with --upgrade-strategy eager their "
        "dependencies too.",
    },
    "--variant-target": {
        "metavar": "FILE",
        "default": None,
        "help": "Install for the machine that this file states, as written by `variant platform "
        "--output`, instead of asking this one.",
    },
}


def add_named(group: Any, names: Iterable[str]) -> None:
    """Add options to a group of pip's parser.

    pip's parser reads them from the command line, from ``pip.conf`` and from ``PIP_*``.
    """
    option_class: Any = import_module("pip._internal.cli.cmdoptions").PipOption
    for name in names:
        dest = name.strip("-").replace("-", "_")
        group.add_option(option_class(name, dest=dest, **_copied(_OPTIONS[name])))


def _copied(keywords: Mapping[str, Any]) -> dict[str, Any]:
    # A list that is a default must be nobody else's: optparse appends to it.
    return {
        key: list(value) if isinstance(value, list) else value for key, value in keywords.items()
    }
