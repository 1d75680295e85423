"""One run of pip: its parts are put together here, and handed to the patches that need them."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError, UnsupportedPip
from pipvariant.shim.core.pip_versions import as_expected, newer_warning
from pipvariant.shim.core.state import CommandOptions, TargetOptions, UserConstraints

if TYPE_CHECKING:
    from pipvariant.shim.core.patches import Patch, Patches
    from pipvariant.shim.core.pip_versions import Pip
    from pipvariant.shim.finding.torch_folders import TorchFolders
    from pipvariant.shim.parts import Parts

#: Commands that have wheels built, or take what was built before.
BUILDERS = ("install", "lock", "wheel")


class Run:
    """What a process knows of its one command.

    :param pip: the pip of this environment.
    :param on: the patches that are on.
    """

    def __init__(self, pip: Pip, on: Patches) -> None:
        self.pip = pip
        self.options = CommandOptions()
        self.target_options = TargetOptions()
        self.user = UserConstraints()
        #: What the user should know before the command does anything.
        self.warnings: list[str] = []
        #: Set from above: wheel, folder of its project, label, folder to write to -> the variant.
        self.label_built: Callable[[str, str, str, str], str] | None = None
        #: Told of an error of the shim before the command does anything; plain pip goes on then.
        self.fall_back: Callable[[BaseException], None] | None = None
        #: Files of other platforms are asked for later on, by what has started this command.
        self.lists_all_files = False
        self._on = on
        on.states.append(self.user)

    @contextlib.contextmanager
    def falling_back(self) -> Iterator[None]:
        """Hand errors to `fall_back` where it is set, but for those of what the user typed."""
        try:
            yield
        except Exception as error:
            is_ours = isinstance(error, UnsupportedPip) or not isinstance(error, PipVariantError)
            if self.fall_back is None or not is_ours:
                raise
            self.warnings.clear()
            self.fall_back(error)

    def start(self, command: str, values: Any) -> None:
        """Put on what a command needs, when pip has parsed its options and done nothing else.

        :param values: pip's object with all options.
        :raises PipVariantError: an option means nothing, or pip cannot be patched.
        """
        if self.options.command:
            # pip-tools makes one command after the other, all with the same options.
            return
        with self.falling_back():
            self._start(command, values)
        # What the command itself has imported stays to the end as well.
        gc.freeze()
        gc.enable()

    def _start(self, command: str, values: Any) -> None:
        from pipvariant.shim.options import parser

        if parser.looks_at_an_index(command, values):
            self.configure(command, values)
            self.activate()
        else:
            self.options = CommandOptions(command)
            if command in parser.READERS or parser.lists_as_json(command, values):
                self.activate(only_reading=True)
            elif command == "uninstall" and values.requirements:
                from pipvariant.shim.options import requirements_files

                # A file of requirements may have lines that are ours.
                self._on.put(requirements_files.patches(self.user, self.options, _nothing))
            elif command == "completion" and self.fall_back is None:
                from pipvariant.shim.options import completion

                self._on.put(completion.patches())
        # Whoever calls the pip of an environment itself knows where that installs.
        typed = self.options.installs and self.fall_back is None
        if typed and (elsewhere := parser.active_elsewhere(values)):
            self.warnings.append(elsewhere)

    def hand_on(self) -> None:
        """Let a pip that is started know the labels of the environment that it builds for."""
        # Before a command is known it is another Python that is started, not a build.
        if self.options.command and not self.user.no_variant:
            from pipvariant.shim.building import build_requirements

            build_requirements.hand_on(self.options, self.parts.decisions)

    def configure(self, command: str, values: Any) -> None:
        """Take what the options of a command that looks at an index say.

        :param values: pip's object with all options.
        :raises PipVariantError: an option, or the target file that it names, means nothing.
        """
        from pipvariant.shim.options import parser

        self.options, self.target_options = parser.configure(command, values, self.user)
        # A file that states nonsense ends the run before anything is fetched.
        if self.target_options.target_file is not None and not self.user.no_variant:
            self.parts.target.from_target_file  # noqa: B018 - it reads the file

    @functools.cached_property
    def parts(self) -> Parts:
        """What finds files and decides about them; made when the options are known."""
        from pipvariant.shim.parts import Parts

        return Parts(self.options, self.target_options, self.user)

    def activate(self, *, only_reading: bool = False) -> None:
        """Put on the patches that a command needs, and prove each.

        :param only_reading: the command looks at no index, only at what is installed.
        :raises UnsupportedPip: when an object of pip is missing or has no effect; then none of
            these patches is on.
        """
        with as_expected(self.pip):
            self._on.states += self.parts.states()
            self._on.put(self.patches(only_reading=only_reading))
            self.apply_preferences()
        if self.pip.is_newer:
            self.warnings.append(newer_warning(self.pip))

    def patches(self, *, only_reading: bool = False) -> Iterator[Patch]:
        """Yield the patches that a command needs, in the order in which they wrap each other."""
        from pipvariant.shim.resolving import dependencies

        pip, options, user, parts = self.pip, self.options, self.user, self.parts
        if not only_reading:
            yield from self._finding_patches()
        yield from dependencies.patches(pip, options, parts.requirements)
        if options.ignores_dependencies and not (only_reading or user.no_variant):
            from pipvariant.shim.resolving import ignored_dependencies

            yield from ignored_dependencies.patches(options, parts.requirements)
        if not only_reading:
            yield from self._outcome_patches()
            yield from self._building_patches()
        if options.command in ("inspect", "list", "show"):
            from pipvariant.shim.reporting import installed_keys

            yield from installed_keys.patches(options, user)

    @functools.cached_property
    def torch_folders(self) -> TorchFolders:
        """Where torch and its family are looked for, with ``--torch-backend``."""
        from pipvariant.shim.finding.torch_folders import TorchFolders

        parts, settled_labels = self.parts, self.parts.decisions.settled_labels
        return TorchFolders(
            self.options, self.user, parts.index, parts.judge, parts.messages, settled_labels
        )

    def apply_preferences(self) -> None:
        """Put on what the user's words need, once they are known: a file can have some late."""
        preferences, parts = self.user.preferences, self.parts
        if self.user.torch_backend and parts.metadata.of_folders is None:
            from pipvariant.shim.finding import torch_pages

            folders = self.torch_folders
            parts.metadata.of_folders = folders.metadata
            parts.index.in_stages = folders.in_stages
            parts.decisions.installed_backends = lambda: folders.installed
            self._on.states.append(folders)
            self._on.put(torch_pages.patches(folders))
        if preferences is not None and preferences.families and parts.selector.arrange is None:
            from pipvariant.shim.resolving.same_variant import SameVariant, patches

            same_variant = SameVariant(
                self.options,
                self.user,
                parts.index,
                parts.decisions,
                parts.selector,
                parts.requirements.resolution,
                lambda: self.torch_folders,
            )
            self._on.put(patches(same_variant))
            parts.selector.arrange = same_variant.arrange
            parts.installed_order.same_variant = same_variant

    def _finding_patches(self) -> Iterator[Patch]:
        from pipvariant.shim.finding import filenames, links, whole_wheels
        from pipvariant.shim.installing import wheel_check
        from pipvariant.shim.options import requirements_files
        from pipvariant.shim.resolving import (
            again,
            found_candidates,
            installed_candidate,
            kept_variants,
            single_best,
        )

        options, user, parts = self.options, self.user, self.parts
        yield from filenames.patches(self.pip, user)
        yield from requirements_files.patches(user, options, self.apply_preferences)
        # What all variants of a lock are, the links say.
        if options.all_variants or not user.no_variant:
            yield from links.patches(options, parts.index)
        if user.no_variant:
            return
        # A lock file and an explanation name files of other platforms too.
        if not (options.explains or options.command == "lock" or self.lists_all_files):
            from pipvariant.shim.finding import pages

            yield from pages.patches(self.pip, parts.index)
        # What is installed is put among the files of pip, before these are grouped.
        kept = kept_variants.KeptVariants(
            options,
            user,
            parts.index,
            parts.decisions,
            parts.replacements,
            parts.target,
            parts.settled_judge,
            parts.messages,
        )
        found = found_candidates.FoundVariants(
            user, parts.index, parts.decisions, parts.replacements, parts.orders
        )
        best = single_best.SingleBest(options.command == "list", user, parts.index, parts.orders)
        check = wheel_check.WheelCheck(
            user, parts.index, parts.decisions, parts.judge, parts.requirements.resolution
        )
        yield from again.patches(options, parts.requirements.resolution)
        yield from whole_wheels.patches(self.pip, self.options, parts.wheels)
        yield from kept_variants.patches(options, kept)
        yield from installed_candidate.patches(
            options, parts.index, parts.installed_order, parts.orders
        )
        yield from found_candidates.patches(options, parts.index, found)
        yield from single_best.patches(best)
        yield from wheel_check.patches(options, check)

    def _outcome_patches(self) -> Iterator[Patch]:
        from pipvariant.shim.reporting import messages

        options, user, parts = self.options, self.user, self.parts
        yield from messages.patches(
            options,
            user,
            parts.index,
            parts.decisions,
            parts.messages,
            parts.recorder,
            parts.selector,
        )
        if user.no_variant:
            return
        if options.report:
            from pipvariant.shim.reporting import report_file

            yield from report_file.patches(user, parts.decisions)
        if options.installs:
            from pipvariant.shim.installing import recorded_variants

            yield from recorded_variants.patches(parts.recorder)

    def _building_patches(self) -> Iterator[Patch]:
        from pipvariant.shim.building import child_pip

        options, user, parts = self.options, self.user, self.parts
        if options.builds:
            from pipvariant.shim.building import build_requirements

            parts.decisions.build_labels = build_requirements.inherited()
            yield from build_requirements.patches(self.pip, options, parts.decisions)
        if (options.command in BUILDERS or options.builds) and not user.no_variant:
            from pipvariant.shim.building import built_wheels

            built = built_wheels.BuiltWheels(options, user, parts.decisions)
            self._on.states.append(built)
            yield from built_wheels.patches(built)
        if child_pip.WHEELS_ONLY in os.environ:
            from pipvariant.shim.building import only_wheels

            yield from only_wheels.patches()
        if options.lock_files:
            from pipvariant.shim.locking import read
            from pipvariant.shim.locking.chooser import LockChooser

            chooser = LockChooser(
                user, parts.index, parts.metadata, parts.judge, parts.decisions, parts.locks
            )
            yield from read.patches(self.pip, user, parts.locks, chooser)
        if options.command == "wheel" and self.label_built and not user.no_variant:
            from pipvariant.shim.building import label_built_wheel

            yield from label_built_wheel.patches(self.label_built)
        if options.command == "lock":
            from pipvariant.shim.locking import write

            yield from write.patches(
                self.pip, options, parts.index, parts.metadata, parts.decisions
            )


def _nothing() -> None:
    """No patch depends on what a file of requirements says."""
