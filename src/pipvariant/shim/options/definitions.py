"""Each option that ``pip-variant`` adds to pip, by its name, with its words for ``--help``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from importlib import import_module
from typing import Any

#: Options of commands that choose files from an index.
CHOOSING = (
    "--no-variant",
    "--variant",
    "--prefer-variant",
    "--exclude-variant",
    "--require-variant",
    "--same-variant",
    "--torch-backend",
)
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
    "--exclude-variant": {
        **_LIST,
        "metavar": "SPEC",
        "help": "Treat a namespace, `ns :: feature` or `ns :: feature :: value` as not supported "
        "by this machine. Can be given several times.",
    },
    "--json": {**_FLAG, "help": "Print JSON and nothing else."},
    "--no-variant": {
        **_FLAG,
        "help": "Be exactly plain pip: no variant wheel is considered, no variant metadata is "
        "fetched, no provider is asked.",
    },
    "--prefer-variant": {
        **_LIST,
        "metavar": "SPEC",
        "help": "Put a namespace, `ns :: feature` or `ns :: feature :: value` first in the order "
        "of the variants that fit. Can be given several times, the first one counts most.",
    },
    "--refresh-platform": {
        **_FLAG,
        "help": "Ask this machine's hardware again, whatever is remembered since it started.",
    },
    "--require-variant": {
        **_LIST,
        "metavar": "[PACKAGE=]NAMESPACE",
        "help": "Accept only variants that use this namespace, going back to older versions if "
        "need be; without a package, of every package that has such variants. Can be given several "
        "times.",
    },
    "--same-variant": {
        **_LIST,
        "metavar": "NAMESPACE=PACKAGE,PACKAGE",
        "help": "Keep these packages on variants with equal values in a namespace, such as one "
        "CUDA version. Can be given several times.",
    },
    "--torch-backend": {
        "metavar": "BACKEND",
        "default": None,
        "help": "Take torch and its family from the folder of a backend of PyTorch's index: auto "
        "for the best that fits this machine, or cpu, xpu, or one such as cu128 or rocm6.4.",
    },
    "--torch-index": {
        "metavar": "URL",
        "default": "https://download.pytorch.org/whl/",
        "help": "The index with a folder for each backend that --torch-backend takes from "
        "(default: %default).",
    },
    "--trust-provider": {
        **_LIST,
        "metavar": "PACKAGE[==VERSION][@INDEX]",
        "help": "Let this plugin package be installed, into an environment of its own, and asked "
        "what this machine supports; with a version exactly this one, with the URL of an index or "
        "folder only from there. Can be given several times.",
    },
    "--upgrade-variant": {
        **_FLAG,
        "help": "Replace an installed package when another label of the same version ranks better "
        "on this machine: the packages that are named, and with --upgrade-strategy eager their "
        "dependencies too.",
    },
    "--variant": {
        **_LIST,
        "metavar": "PACKAGE=LABEL",
        "help": "Take only the variant with this label of a package, an error if it does not fit; "
        "`PACKAGE=` is its ordinary wheel, and the package `:all:` every package that has the "
        "label. Can be given several times.",
    },
    "--variant-target": {
        "type": "path",
        # In lower case it is what the completion of shells knows; the help shows it so anyway.
        "metavar": "file",
        "default": None,
        "help": "Install for the machine that this file states, as written by `variant platform "
        "--output`, instead of asking this one.",
    },
}


def add_named(group: Any, names: Iterable[str]) -> None:
    """Add options to a group of pip's parser.

    pip's parser reads them from the command line, from ``pip.conf`` and from ``PIP_*``.
    """
    for name in names:
        group.add_option(make(name))


def make(name: str) -> Any:
    """Return an option of pip's own class, by its name."""
    option_class: Any = import_module("pip._internal.cli.cmdoptions").PipOption
    keywords = dict(_OPTIONS[name])
    if "default" in keywords:
        # A list that is a default must be nobody else's: optparse appends to it.
        keywords["default"] = copy(keywords["default"])
    return option_class(name, dest=name.strip("-").replace("-", "_"), **keywords)
