"""Reasons: why a label or a version was not taken, in words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.errors import InvalidFilename
from pipvariant.shim.finding.filenames import label_of

if TYPE_CHECKING:
    from pipvariant.shim.core.state import Run
    from pipvariant.shim.resolving.selector import Judgement, Outcome
    from pipvariant.standard.ranking import Rejection

__all__ = [
    "ACCELERATORS",
    "LeftOut",
    "judgements_of",
    "left_out_by_pip",
    "miss",
    "missing_accelerators",
    "nearest_miss",
    "why_none",
    "why_skipped",
]

#: Namespaces of hardware that a build is made for, and that a machine can do without.
ACCELERATORS = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}


def miss(rejection: Rejection, judgement: Judgement) -> str:
    """Say in a few words what a label needs and what the target has instead."""
    from pipvariant.providers.answers import Origin
    from pipvariant.providers.builtin import reason_for
    from pipvariant.standard.ranking import Cause

    label, cause, namespace, feature, values, supported = rejection
    if cause is Cause.UNKNOWN_LABEL:
        return f"{label} is not in the variant metadata"
    answer = judgement.answers[namespace]
    known = answer.features.get(feature, ())
    unwanted = [value for value in values if value in known]
    words = None if unwanted else reason_for(namespace, feature, values, answer)
    if words is not None:
        return f"{label} {words}"
    wanted = f"{label} needs {namespace} :: {feature} :: {' or '.join(values)}"
    if unwanted:
        # The target has it, and only the user does not want it.
        return f"{wanted}, left out by --exclude-variant"
    reasons = {
        Origin.DISABLED: f"whose provider is off ({answer.source})",
        Origin.NOT_TRUSTED: "whose plugin package is not trusted",
        Origin.NOT_ASKED: "which is not known for another platform",
        Origin.UNKNOWN: "whose provider could not be asked",
    }
    if answer.origin in reasons:
        return f"{wanted}, {reasons[answer.origin]}"
    has = ", ".join(supported[:3]) + (", ..." if len(supported) > 3 else "")
    others = {Origin.STATIC: "the package's own list", Origin.TARGET_FILE: "the stated target"}
    where = others.get(answer.origin, "this machine")
    return f"{wanted}, {where} has {has or 'nothing of that kind'}"


def nearest_miss(outcome: Outcome) -> str:
    """Return the words for the rejected label that was nearest to fit, empty if none."""
    misses = [
        (_distance(rejection), miss(rejection, judgement))
        for judgement in judgements_of(outcome)
        for rejection in judgement.ranking.rejected
    ]
    return min(misses)[1] if misses else ""


def why_skipped(outcome: Outcome) -> str:
    """Say in one line why nothing of a version was taken."""
    line = f"{outcome.name} {outcome.version} skipped: "
    if outcome.why:
        return line + outcome.why
    missed = nearest_miss(outcome)
    line += "none of its variants fits"
    return f"{line}; {missed}" if missed else line


def judgements_of(outcome: Outcome) -> Iterator[Judgement]:
    """Yield what could be judged."""
    return (judgement for judgement in outcome.judgements.values() if judgement is not None)


def missing_accelerators(outcome: Outcome) -> set[str]:
    """Name the accelerators that labels of a version are for and of which nothing was found."""
    from pipvariant.providers.answers import Origin

    return {
        namespace
        for judgement in judgements_of(outcome)
        for namespace, answer in judgement.answers.items()
        if namespace in ACCELERATORS and answer.origin is Origin.BUILT_IN and not answer.features
    }


class LeftOut(NamedTuple):
    """A variant wheel that pip itself left out, such as one for another platform.

    :param version: as pip reads it out of the filename, empty where it cannot.
    :param reason: in words.
    """

    label: str
    version: str
    reason: str
    link: Any


def left_out_by_pip(run: Run, name: str) -> list[LeftOut]:
    """Return the variant wheels of a project that pip did not even consider, one per label.

    :param name: the canonical name of the project.
    """
    wheel: Any = import_module("pip._internal.models.wheel").Wheel
    found: dict[tuple[str, str], LeftOut] = {}
    for evaluator, links in run.listed.get(name, ()):
        for link in links:
            label = None
            # A filename that the standard does not allow is nothing that could be taken.
            with contextlib.suppress(InvalidFilename):
                label = label_of(link)
            if label is None:
                continue
            kind, detail = evaluator.evaluate_link(link)
            if kind.name in ("candidate", "different_project", "format_invalid"):
                continue
            version = str(wheel(link.filename).version)
            if kind.name == "platform_mismatch":
                tags = wheel(link.filename).file_tags
                platforms = sorted({str(tag.platform) for tag in tags} - {"any"})
                detail = f"is for {', '.join(platforms or sorted(map(str, tags)))}"
            else:
                detail = f"is left out: {detail}"
            found.setdefault((version, label), LeftOut(label, version, detail, link))
    return list(found.values())


def why_none(run: Run, name: str) -> list[str]:
    """Say why variants are the reason that nothing of a project can be taken; empty if not.

    :param name: the canonical name of the project.
    """
    skipped = [outcome for outcome in run.skipped.values() if outcome.name == name]
    lines = list(map(why_skipped, skipped[:SHOWN]))
    if len(skipped) > SHOWN:
        lines.append(f"{name}: {len(skipped) - SHOWN} more versions were skipped likewise")
    if not lines:
        lines = _why_left_out(name, left_out_by_pip(run, name))
    if any(_canonical(project) == name for project in run.left_out):
        lines.append(f"--no-variant leaves out the variant wheels of: {name}")
    return lines


#: So many versions are spoken of one by one.
SHOWN = 3


def _why_left_out(name: str, left_out: Sequence[LeftOut]) -> list[str]:
    if not left_out:
        return []
    version: Any = import_module("pip._vendor.packaging.version").Version
    newest = max((each.version for each in left_out), key=version)
    of_newest = [each for each in left_out if each.version == newest]
    said = "; ".join(f"{each.label} {each.reason}" for each in of_newest[:SHOWN])
    if len(of_newest) > SHOWN:
        said += f"; and {len(of_newest) - SHOWN} more"
    return [f"{name} {newest}: none of its variants is for this Python and platform; {said}"]


def _canonical(name: str) -> str:
    return str(import_module("pip._vendor.packaging.utils").canonicalize_name(name))


def _distance(rejection: Rejection) -> tuple[Any, ...]:
    """Order misses: a wrong value is nearer than no such feature, a low number than a high."""
    from pipvariant.standard.ranking import Cause

    causes = (Cause.VALUE, Cause.FEATURE, Cause.NAMESPACE, Cause.UNKNOWN_LABEL)
    # Compared as text of equal length: a number can be longer than Python likes to read.
    numbers = [
        tuple((len(digits), digits) for digits in re.findall(r"0*(\d+)", value))
        for value in rejection.values
    ]
    return (causes.index(rejection.cause), min(numbers, default=()), rejection.label)
