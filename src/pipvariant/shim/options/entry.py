"""pip's entry, before a command is known: ``--version``, and words that are no command."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from pipvariant import __file__ as package_file
from pipvariant import __version__
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.state import aside

PARSER = "pip._internal.cli.main_parser"
VERSION = f"pip-variant {__version__} from {os.path.dirname(os.path.abspath(package_file))}"


class Hints:
    """Knows what was meant by a word that is no command of pip.

    :param suggest: takes the word, returns the words to type, or nothing.
    """

    def __init__(self, suggest: Callable[[str], str]) -> None:
        self.suggest = suggest


def patches(hints: Hints) -> list[Patch]:
    """Patch what pip's first parser says of itself and of words that it does not know."""
    return [
        patch(f"{PARSER}:get_pip_version", _get_pip_version, _proves_version),
        patch(f"{PARSER}:get_similar_commands", _get_similar_commands, _proves_hint, hints),
    ]


def _get_pip_version(original: Any) -> str:
    # The first line is pip's own, for programs that read it.
    return f"{original()}\n{VERSION}"


def _proves_version() -> bool:
    parser: Any = import_module(PARSER)
    return str(parser.create_main_parser().version).endswith(VERSION)


def _get_similar_commands(hints: Hints, original: Any, name: str) -> Any:
    return hints.suggest(name) or original(name)


def _proves_hint(hints: Hints) -> bool:
    parser: Any = import_module(PARSER)
    error: Any = import_module("pip._internal.exceptions").CommandError
    with aside(hints, suggest="variant {}".format):
        try:
            parser.parse_command(["proof"])
        except error as caught:
            return '"variant proof"' in str(caught)
    return False
