"""Installed builds: whether each is still compatible, and what ranks before it."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from pipvariant.standard.filename import NULL_LABEL, label_phrase

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import Decision, File, Target
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.properties import Properties


class Installed(NamedTuple):
    """An installed project, and what its own ``variant.json`` says about it.

    :param label: None for a non-variant wheel, and where the file cannot be read.
    :param metadata: None in the same cases; it has that one label.
    :param problem: why the file cannot be read, empty if it can or there is none.
    :param is_in_folder: it has no such file; an index has a folder for each backend of torch, the
        local version names the folder, and what that means is known here.
    """

    name: str
    version: str
    label: str | None = None
    metadata: Metadata | None = None
    problem: str = ""
    is_in_folder: bool = False

    @property
    def is_variant(self) -> bool:
        """Whether a variant wheel was installed, even one that is not known any more."""
        return self.label is not None or bool(self.problem)

    @property
    def properties(self) -> Properties:
        """What the label means; empty for no label and for one that is not known."""
        return {} if self.metadata is None else self.metadata.variants[self.label or ""]

    def __str__(self) -> str:
        if self.problem:
            return f"a variant that is not known ({self.problem})"
        return label_phrase(self.label, "the non-variant build")


class Compatibility(NamedTuple):
    """Whether a build is compatible with the target; None with a reason where that is unknown."""

    compatible: bool | None
    reason: str = ""


def compatibility(installed: Installed, judge: Judge, *, asks_all: bool = False) -> Compatibility:
    """Say whether an installed build is compatible with the target, by its own metadata.

    :param asks_all: a provider that is off counts as one that cannot answer.
    """
    if not installed.is_variant:
        return Compatibility(True)
    label, metadata = installed.label, installed.metadata
    if label is None or metadata is None:
        return Compatibility(None, installed.problem)
    from pipvariant.providers.answers import Origin
    from pipvariant.selection.reasons import incompatibility
    from pipvariant.standard.ranking import rank

    judgement = judge.judge(metadata, (label,), of=f"{installed.name} {installed.version}")
    # Where nobody can answer there is no reason to say no; another namespace may still have one.
    silent = {Origin.NOT_TRUSTED, Origin.NOT_ASKED, Origin.UNKNOWN}
    if asks_all:
        silent.add(Origin.DISABLED)
    unknown = {
        namespace: answer
        for namespace, answer in judgement.answers.items()
        if answer.origin in silent
    }
    supported = {
        namespace: installed.properties[namespace] if namespace in unknown else answer.features
        for namespace, answer in judgement.answers.items()
    }
    rejected = rank(metadata, supported, (label,)).rejected
    if rejected:
        return Compatibility(False, incompatibility(rejected[0], judgement))
    for namespace, answer in unknown.items():
        reason = "; ".join(answer.problems) or f"nobody answers for {namespace}"
        return Compatibility(None, reason)
    return Compatibility(True)


def better_label(installed: Installed, recorded: Metadata, judge: Judge) -> str | None:
    """Return a label that ranks before an installed build on the target.

    :param recorded: the metadata of the labels that there were when it was installed.
    :returns: empty if there is none, None where that is not known.
    """
    label = installed.label
    same = label in (None, NULL_LABEL) or recorded.variants.get(label or "") == installed.properties
    if installed.problem or not same:
        return None
    labels = dict.fromkeys([*recorded.variants, *([] if label is None else [label])])
    of = f"{installed.name} {installed.version}"
    best = judge.judge(recorded, labels, of=of).ranking.compatible[:1]
    return "" if best in ((), (label,)) else best[0]


def backend_build(installed: Installed, project: str) -> Installed:
    """Return a build of torch's family as one for the backend that its local version names.

    :param project: its canonical name.
    :returns: what was given, if it is no such build.
    """
    if installed.is_variant or "+" not in installed.version:
        return installed
    from pipvariant.selection.torch_backends import WITH_BACKEND, backend_in, metadata_of

    backend = backend_in(installed.version) if project in WITH_BACKEND else None
    if backend is None:
        return installed
    return installed._replace(label=backend, metadata=metadata_of([backend]), is_in_folder=True)


def upgrade_command(*builds: Installed, backend: str = "auto") -> str:
    """Return the command that looks for another label of an installed version.

    :param builds: more than one only where they have to stay on one backend of torch.
    :param backend: that they are to have then.
    """
    option, versions = "", [each.version for each in builds]
    if builds[0].is_in_folder:
        # The local version names the backend, which is what is to be replaced.
        versions = [each.partition("+")[0] for each in versions]
        option = f"--torch-backend {backend} "
    # Without the version pip would not look at a pre-release, or at what is yanked.
    pinned = shlex.join(f"{each.name}=={version}" for each, version in zip(builds, versions))
    return f"pip-variant install {option}--upgrade-variant {pinned}"


def advice(fits: Compatibility, better: str | None, command: str) -> str:
    """Say that a build does not fit, or that a label would fit better; empty if neither.

    :param better: as :func:`better_label` returns it.
    :param command: takes another label; empty if there is no such command.
    """
    if fits.compatible is False:
        what, then = fits.reason, "looks for one that fits"
        if better:
            then = f"takes the {label_phrase(better)}"
    elif better:
        what, then = f"{label_phrase(better)} would fit better now", "takes it"
    else:
        return ""
    return f"{what}; `{command}` {then}" if command else what


def may_have_better(installed: Installed, target: Target) -> bool:
    """Say whether the target has what labels may be for, going by an installed null variant."""
    from pipvariant.selection.torch_backends import CPU
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    null = CPU if installed.is_in_folder else NULL_LABEL
    if installed.label != null or installed.metadata is None:
        return False
    providers = installed.metadata.providers
    return any(
        target.answer(namespace, providers.get(namespace)).features
        for namespace in installed.metadata.namespaces
        if namespace != ABI_DEPENDENCY
    )


def ranks_before(
    file: File, installed: Installed, decision: Decision | None, judge: Judge, *, where: str
) -> tuple[bool, str]:
    """Say whether a compatible file ranks before the installed build of the same version.

    :param decision: about the version of the file.
    :param where: the source of the file, for the user to read.
    :returns: the answer, and why what is installed is kept although that is not known.
    """
    label = file.label
    if installed.metadata is None:
        # A non-variant wheel comes after every label; what is not known is no reason to stay.
        return label is not None or bool(installed.problem), ""
    if label == installed.label or installed.label is None:
        return False, ""
    compatible, reason = compatibility(installed, judge)
    if not compatible:
        return compatible is False, "" if compatible is False else reason
    judgement = None if decision is None else decision.judgements.get(file.source)
    if label is None or judgement is None:
        return False, ""
    metadata = judgement.metadata
    if installed.is_in_folder and not metadata.published:
        from pipvariant.selection.torch_backends import metadata_of

        # It knows only the folders that were asked.
        variants = metadata_of([installed.label, label]).variants
        metadata = replace(metadata, variants=variants)
    elif installed.label != NULL_LABEL and (
        metadata.variants.get(installed.label) != installed.properties
    ):
        # Metadata of two sources is never merged, so their labels have no common order.
        return False, f"it fits, and {where} does not know it"
    of = f"{installed.name} {installed.version}"
    both = judge.judge(metadata, (installed.label, label), of=of)
    return both.ranking.compatible[:1] == (label,), ""
