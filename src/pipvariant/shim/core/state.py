"""What one run of pip is told and has told, and how its tables are put aside for a proof."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.log import logger

if TYPE_CHECKING:
    from pipvariant.selection.model import Decision
    from pipvariant.standard.preferences import Preferences

_MISSING = object()
#: What a run fills.
_TABLES = (dict, list, set)

#: What the variables were that were set for other pips, None where they were not there.
_before: dict[str, str | None] = {}


def set_variable(name: str, text: str) -> None:
    """Set a variable of this process and of the pips that it starts, until the shim is off."""
    _before.setdefault(name, os.environ.get(name))
    os.environ[name] = text


def restore_variables() -> None:
    """Give all variables the values that they had."""
    while _before:
        name, text = _before.popitem()
        if text is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = text


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Keep from the user what pip says when it is asked for the shim's own sake."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def aside(owner: Any, **attributes: Any) -> Iterator[None]:
    """Let a module or an object have these attributes for a while, and then what it had.

    An object that is a :class:`State` has empty tables meanwhile. So a proof stands in for a part
    of pip or of the shim, and leaves nothing behind.
    """
    names = set(attributes)
    if isinstance(owner, State):
        attributes = {**owner.empty(), **attributes}
        # It gets back all that it had.
        names |= vars(owner).keys()
    before = {name: vars(owner).get(name, _MISSING) for name in names}
    try:
        for name, value in attributes.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


class State:
    """Tables that one run fills."""

    def empty(self) -> dict[str, Any]:
        """Return an empty table for each that there is."""
        return {
            name: type(value)() for name, value in vars(self).items() if isinstance(value, _TABLES)
        }

    def clear(self) -> None:
        """Empty all tables."""
        for value in vars(self).values():
            if isinstance(value, _TABLES):
                value.clear()


@dataclass(frozen=True)
class CommandOptions:
    """What the options of a command say that choosing depends on.

    :param explains: the reasons are printed afterwards, so that nothing else has to be said.
    :param installs: files are written into an environment.
    :param builds: this process installs what a build requires, itself or as the child of a pip
        that does.
    :param lock_files: requirements may come from a ``pylock.toml``.
    """

    command: str = ""
    legacy_resolver: bool = False
    report: bool = False
    explains: bool = False
    installs: bool = False
    ignores_dependencies: bool = False
    ignores_installed: bool = False
    upgrade_variant: bool = False
    upgrade_dependencies: bool = False
    builds: bool = False
    all_variants: bool = False
    lock_files: bool = False


@dataclass(frozen=True)
class TargetOptions:
    """What the options say about the system that is installed for, and who may speak for it.

    :param foreign: it is another machine than this one.
    :param pip_options: pip's own object with all options of the command, None before there is one.
    """

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    target_file: str | None = None
    refresh_platform: bool = False
    foreign: bool = False
    pip_options: Any = None


class UserConstraints(State):
    """What the user says about variants: options first, then lines of requirements files.

    :param no_variant: plain pip is asked for.
    """

    def __init__(self, *, no_variant: bool = False, preferences: Preferences | None = None) -> None:
        self.no_variant = no_variant
        #: The backend of which torch and its family are taken, empty if nothing is said.
        self.torch_backend = ""
        #: The index that has a folder for each.
        self.torch_index = ""
        #: What the user prefers, excludes and requires; None if nothing.
        self.preferences = preferences
        #: The words of the options, by option, of the command line and of files.
        self.words: dict[str, list[str]] = {}
        self.file_words: dict[str, list[str]] = {}
        #: What is said of torch's backend; the first word counts.
        self.torch_words: list[str] = []
        #: Projects of which ``--no-variant`` left variant wheels out.
        self.left_out: set[str] = set()

    def empty(self) -> dict[str, Any]:
        """Return empty tables, and no preferences."""
        return {**super().empty(), "preferences": None, "torch_backend": ""}

    def is_constrained(self, project: str) -> bool:
        """Say whether the user requires something of a project, by its canonical name."""
        return self.preferences is not None and self.preferences.is_constrained(project)

    def names_label_of(self, decision: Decision) -> bool:
        """Say whether the user named the very label for a decision (``--variant``)."""
        if self.preferences is None:
            return False
        judged = list(decision.judged())
        labels = {"", *(label for judgement in judged for label in judgement.labels)}
        if not all(judgement.metadata.published for judgement in judged):
            # As which the folder for CPUs counts.
            labels.add("null")
        return self.preferences.label(decision.project, labels) is not None

    def upgrades(self, options: CommandOptions) -> bool:
        """Say whether another label may replace an installed one (``--upgrade-variant``).

        ``--no-variant`` in a requirements file takes that back.
        """
        return options.upgrade_variant and not self.no_variant


class Messages(State):
    """What the user was told, so that nothing is said twice in a run."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def is_new(self, sentence: str) -> bool:
        """Return whether a sentence was not shown before; it counts as shown from now on."""
        new = sentence not in self._shown
        self._shown.add(sentence)
        return new

    def tell(self, level: int, sentence: str) -> bool:
        """Show a sentence that was not shown before, and return whether it was."""
        new = self.is_new(sentence)
        if new:
            logger.log(level, "%s", sentence)
        return new
