"""The parts of a run that find files and decide about them, each with one task."""

from __future__ import annotations

import functools
import logging
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pipvariant.printable import some
from pipvariant.selection.judging import Judge, labels_by_namespace, promising_first
from pipvariant.selection.model import OtherProject
from pipvariant.shim.core.state import (
    CommandOptions,
    Messages,
    State,
    TargetOptions,
    UserConstraints,
)
from pipvariant.shim.finding.index import IndexState
from pipvariant.shim.finding.installed import installed_version
from pipvariant.shim.finding.metadata import MetadataReader
from pipvariant.shim.finding.target import make_target
from pipvariant.shim.finding.whole_wheels import MAX_WHEEL, WholeWheels
from pipvariant.shim.installing.recorded_variants import Recorder
from pipvariant.shim.locking.chooser import LockedOrder, LockTables
from pipvariant.shim.resolving.again import Resolution
from pipvariant.shim.resolving.decisions import Decisions
from pipvariant.shim.resolving.dependencies import Requirements
from pipvariant.shim.resolving.installed_candidate import InstalledOrder, Replacements
from pipvariant.shim.resolving.marker_context import MarkerContexts
from pipvariant.shim.resolving.selector import Orders, Selector
from pipvariant.standard.bounds import MAX_BYTES

if TYPE_CHECKING:
    from pipvariant.providers.plugins import Plugins
    from pipvariant.selection.model import Judgement
    from pipvariant.standard.metadata import Metadata

FOREIGN = "for another platform this machine's hardware does not answer, only static properties do"


class Parts:
    """What a command needs that chooses files, or reads what installed projects require."""

    def __init__(
        self, options: CommandOptions, target_options: TargetOptions, user: UserConstraints
    ) -> None:
        self._options = options
        self._target_options = target_options
        self.messages = Messages()
        self.index = IndexState()
        # What is only listed is not worth a large download.
        largest = MAX_BYTES if options.command == "list" else MAX_WHEEL
        self.wheels = WholeWheels(target_options.pip_options, largest=largest)
        self.metadata = MetadataReader(
            self.index, self.wheels, functools.partial(self._labels_in_order, user)
        )
        self.decisions = Decisions()
        self.replacements = Replacements()
        self.locks = LockTables()
        self.recorder = Recorder()
        self._resolution = Resolution()
        #: What the target supports, asked only for what is needed.
        self.target = make_target(target_options, self._plugins)
        self.judge = Judge(
            self.target,
            preferences=lambda: user.preferences,
            other_project=self._other_project,
            on_judged=self._tell_problems,
        )
        #: Judges by what the environment has, and tells nothing.
        self.settled_judge = Judge(
            self.target, preferences=lambda: user.preferences, other_project=_installed_project
        )
        contexts = MarkerContexts(self.judge, self.decisions)
        self.requirements = Requirements(options, user, self.index, contexts, self._resolution)
        self.selector = Selector(
            options, user, self.index, self.metadata, self.judge, self.decisions, self.messages
        )
        self.installed_order = InstalledOrder(
            options,
            user,
            self.decisions,
            self.replacements,
            self.judge,
            self.messages,
            self.selector,
        )
        #: What the files of a version are put in order by in the end.
        self.orders: Orders = self.installed_order
        if options.lock_files:
            self.orders = LockedOrder(self.installed_order, self.locks, self.decisions)

    def states(self) -> Iterator[State]:
        """Yield all tables, which are empty while something is proven."""
        contexts = self.requirements.contexts
        yield from (
            self.messages,
            self.index,
            self.wheels,
            self.metadata,
            self.decisions,
            self.replacements,
        )
        yield from (self.locks, self.recorder, contexts, self.requirements, self.selector)

    def _labels_in_order(
        self,
        user: UserConstraints,
        project: str,
        labels: Collection[str],
        known: Metadata | None,
    ) -> list[str]:
        """Return the labels that matter, most promising first.

        :param known: the metadata of another version, None where there is none.
        """
        lists_all = self._options.explains or self._options.all_variants
        if user.preferences is not None and not lists_all:
            named = user.preferences.label(project, labels)
            if named is not None:
                return [label for label in labels if label == named]
        return promising_first(labels, known, self.settled_judge, of=project)

    def _plugins(self) -> Plugins:
        from pipvariant.shim.building.plugin_installer import plugins_of

        return plugins_of(self._target_options, self._options, self.index)

    def _other_project(self, name: str) -> OtherProject:
        installed = None if self._options.ignores_installed else installed_version(name)
        is_open = not self._options.ignores_dependencies or name in self._resolution.named
        return OtherProject(installed, self.locks.versions.get(name, ()), is_open)

    def _tell_problems(self, of: str, judgement: Judgement) -> None:
        """Tell each problem of an answer once, with the labels that met it first."""
        from pipvariant.providers.answers import Origin

        for namespace, answer in judgement.answers.items():
            if answer.origin is Origin.NOT_ASKED and self.messages.is_new(FOREIGN):
                self.messages.tell(logging.INFO, f"{of}: {FOREIGN}")
            for problem in answer.warnings:
                if self.messages.is_new(problem):
                    using = labels_by_namespace(judgement.metadata, judgement.labels)
                    labels = some(using[namespace])
                    self.messages.tell(logging.WARNING, f"{of}: {problem}; it concerns {labels}")


def _installed_project(name: str) -> OtherProject:
    return OtherProject(installed_version(name), is_open=False)
