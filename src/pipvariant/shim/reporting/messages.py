"""What the user reads of a resolution: which label was chosen, and why no other."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.printable import some
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, pip_error, requested_link
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.left_out import left_out_by_pip
from pipvariant.shim.resolving.selector import INSTALLERS
from pipvariant.standard.filename import label_phrase

if TYPE_CHECKING:
    from pipvariant.selection.model import Decision, File
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.installing.recorded_variants import Recorder
    from pipvariant.shim.resolving.decisions import Decided, Decisions
    from pipvariant.shim.resolving.selector import Selector

#: pip's own level between INFO and DEBUG, shown with -v.
VERBOSE = 15
RESOLVER = "pip._internal.resolution.resolvelib.resolver"
LEGACY_RESOLVER = "pip._internal.resolution.legacy.resolver"
FACTORY = "pip._internal.resolution.resolvelib.factory"


def patches(
    options: CommandOptions,
    user: UserConstraints,
    index: IndexState,
    decisions: Decisions,
    messages: Messages,
    recorder: Recorder,
    selector: Selector,
) -> list[Patch]:
    """Patch the end of the resolver, and its words for what it cannot resolve."""
    report = _Report(options, user, index, decisions, messages, recorder, selector)
    resolver = LEGACY_RESOLVER if options.legacy_resolver else RESOLVER
    error = f"{FACTORY}:Factory.get_installation_error"
    found = [patch(f"{resolver}:Resolver.resolve", _resolve, _prove_resolve, report, resolver)]
    if not options.legacy_resolver:
        found.append(patch(error, _get_installation_error, _prove_error, report))
    return found


def _resolve(
    report: _Report,
    module: str,
    original: Any,
    /,
    self: Any,
    root_reqs: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    decisions = report.decisions
    try:
        result = original(self, root_reqs, *args, **kwargs)
    except Exception as error:
        decisions.resolved, decisions.failed = (), str(error)
        report.tell_failed(str(error))
        raise
    decisions.resolved, decisions.failed = tuple(result.requirements.values()), ""
    report.tell_resolved()
    if module == RESOLVER:
        report.tell_kept_back(root_reqs, self._result.mapping)
    report.tell_mixed(self)
    return result


def _get_installation_error(
    report: _Report, original: Any, /, self: Any, e: Any, *args: Any, **kwargs: Any
) -> Any:
    # Without a version that can be taken, this is behind whatever pip is going to say.
    for name in sorted({cause.requirement.project_name for cause in e.causes}):
        if name not in report.decisions.fitted:
            report.tell_none(logging.CRITICAL, name)
    return original(self, e, *args, **kwargs)


@dataclass(eq=False)
class _Report:
    """Tells what was decided, each sentence once."""

    _options: CommandOptions
    _user: UserConstraints
    _index: IndexState
    decisions: Decisions
    _messages: Messages
    _recorder: Recorder
    _selector: Selector

    def tell_mixed(self, resolver: Any) -> None:
        """Warn of packages that need each other and are built for different things."""
        decided = filter(None, map(self.decisions.of_requirement, self.decisions.resolved))
        if self._options.command not in INSTALLERS or not any(decided):
            return
        from pipvariant.shim.reporting.mixed_variants import mixed_after

        for sentence in mixed_after(resolver, self.decisions):
            self._messages.tell(logging.WARNING, sentence)

    def tell_failed(self, error: str) -> None:
        """Say what variants have to do with it that nothing could be resolved.

        :param error: what pip itself is going to say.
        """
        self._tell_skipped(self.decisions.skipped.values())
        for sentence in self.decisions.refused:
            # Where pip fails otherwise, this is the cause.
            if sentence != error:
                self._messages.tell(logging.WARNING, sentence)
        for name in sorted(self._user.left_out):
            self.tell_none(logging.WARNING, name)

    def tell_none(self, level: int, name: str) -> None:
        """Say that variants are the cause, where nothing of a project can be taken."""
        project = canonical_name(name)
        left_out = left_out_by_pip(self._index, project)
        from pipvariant.selection.reasons import why_none

        lines = why_none(self.decisions.skipped_of(project), left_out)
        if project in map(canonical_name, self._user.left_out):
            lines.append(f"--no-variant leaves out the variant wheels of: {project}")
        for line in lines:
            self._messages.tell(level, line)

    def tell_resolved(self) -> None:
        """Say what was chosen of each project."""
        without: dict[str, set[str]] = {}
        broken = False
        for requirement in self.decisions.resolved:
            project = canonical_name(requirement.name)
            if self._options.explains:
                # Asked now, as pip removes what it has unpacked in the end.
                self.decisions.versions[project] = str(requirement.get_dist().version)
            self._tell_skipped(self.decisions.skipped_of(project))
            decided = self.decisions.of_requirement(requirement)
            if decided is None:
                self._selector.tell_displaced(project, requested_link(requirement))
                continue
            from pipvariant.selection.reasons import missing_accelerators

            if self._options.installs:
                self._recorder.record(project, decided)
            self._tell_chosen(requirement.name, decided)
            if not decided.file.is_accelerated and not self._user.names_label_of(decided.decision):
                for accelerator, is_broken in missing_accelerators(decided.decision).items():
                    without.setdefault(accelerator, set()).add(requirement.name)
                    broken = broken or is_broken
        if without and self._options.command in INSTALLERS and not self._options.explains:
            self._tell_without(without, "could be used" if broken else "was found")

    def tell_kept_back(self, root_reqs: Any, chosen: Any) -> None:
        """Name what is older than the user asked for, for the sake of a label."""
        from pipvariant.shim.reporting.kept_back import kept_back

        eager = self._options.upgrade_dependencies
        for line in kept_back(root_reqs, chosen, self._index, self.decisions, eager=eager):
            self._messages.tell(logging.INFO, line)

    def _tell_chosen(self, name: str, decided: Decided) -> None:
        """Say what was chosen of a project, and with ``-v`` why no other label.

        :param name: of the project, as the user or another project has it.
        """
        from pipvariant.selection.reasons import incompatibility

        decision, file = decided
        head, is_named = f"{name} {decision.version}", self._user.names_label_of(decision)
        line = f"{head}: {_phrase(decided)}{self._kept_with(decision, file)}"
        # What the user named needs no words.
        if not self._messages.tell(VERBOSE if is_named else logging.INFO, line):
            return
        hint = self.decisions.hints.get((decision.project, decision.version), "")
        told = not is_named and not self._options.explains
        if hint and told and self._options.command in INSTALLERS:
            self._messages.tell(logging.INFO, hint)
        for judgement in decision.judged():
            for label in judgement.ranking.compatible:
                if label != file.label:
                    self._messages.tell(VERBOSE, f"{head}: {label} fits too")
            for rejection in judgement.ranking.rejected:
                self._messages.tell(VERBOSE, f"{head}: {incompatibility(rejection, judgement)}")

    def _kept_with(self, decision: Decision, file: File) -> str:
        """Say that a label that ranks better was left for the sake of ``--same-variant``."""
        preferences = self._user.preferences
        families = () if preferences is None else preferences.family_of(decision.project)
        judgement = decision.judgements.get(file.source)
        best = () if judgement is None else judgement.ranking.compatible[:1]
        if not families or not best or best == (file.label,):
            return ""
        return f"; {families[0]} keeps it with the others"

    def _tell_skipped(self, skipped: Iterable[Decision]) -> None:
        for decision in skipped:
            from pipvariant.selection.reasons import skip_phrase

            self._messages.tell(logging.INFO, skip_phrase(decision))

    def _tell_without(self, without: Mapping[str, set[str]], state: str) -> None:
        """Warn that builds without accelerator were chosen because no such hardware is usable.

        :param without: accelerator -> the projects of which such a build was chosen.
        :param state: ``was found``, or ``could be used`` where a problem keeps it from that.
        """
        from pipvariant.selection.reasons import ACCELERATORS

        namespaces = sorted(without)
        hardware = " or ".join(ACCELERATORS[namespace] for namespace in namespaces)
        projects = set().union(*without.values())
        names, folders = ", ".join(sorted(projects)), self._user.torch_backend
        meant = "--torch-backend cpu" if folders else "--variant :all:=null"
        # Where all will do, the one that most builds are for.
        required = "nvidia" if "nvidia" in without else namespaces[0]
        self._messages.tell(
            logging.WARNING,
            f"No {hardware} hardware {state}, so builds that do without were taken of {names}. "
            f"`--require-variant {required}` makes that an error, `{meant}` says it is meant.",
        )


def _phrase(decided: Decided) -> str:
    """Name what was chosen of a version, with its properties or the label that came nearest."""
    from pipvariant.selection.reasons import nearest_miss
    from pipvariant.standard.properties import iter_properties

    decision, file = decided
    phrase = label_phrase(file.label, file.kind)
    if file.is_accelerated:
        properties, note = decision.properties(file), ""
        judgement = decision.judgements.get(file.source)
        if judgement is not None and not judgement.metadata.published:
            from pipvariant.selection.torch_backends import compatibility_note

            properties = judgement.supported_properties(file.label or "")
            note = compatibility_note(judgement, file.label)
        return f"{phrase} ({some(iter_properties(properties))}){note}"
    missed = nearest_miss(decision)
    return f"{phrase}; {missed}" if missed else phrase


# Proofs: pip's own resolver, with nothing to be found.


def _prove_resolve(report: _Report, module: str) -> bool:
    with aside(report.decisions, resolved=None):
        samples.resolver(module, samples.finder()).resolve([], check_supported_wheels=False)
        return report.decisions.resolved == ()


class _Fitted(set[str]):
    """Names that remember which of them was asked for."""

    asked = ""

    def __contains__(self, name: object) -> bool:
        self.asked = str(name)
        return True


def _prove_error(report: _Report) -> bool:
    fitted, not_found = _Fitted(), pip_error("DistributionNotFound")
    with aside(report.decisions, fitted=fitted), contextlib.suppress(not_found):
        resolver = samples.resolver(RESOLVER, samples.finder())
        resolver.resolve([samples.requirement()], check_supported_wheels=False)
    return fitted.asked == samples.NAME
