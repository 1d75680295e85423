"""Why a label or a version was not chosen, in words: the one wording of each reason."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pipvariant.printable import some
from pipvariant.providers.answers import Origin
from pipvariant.providers.builtin import reason_for
from pipvariant.selection.model import Decision, Judgement, LeftOut
from pipvariant.standard.ranking import Cause, Rejection

#: Namespaces of hardware that a build is made for, and that a machine can do without.
ACCELERATORS = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}
#: So many versions are named one by one.
SHOWN = 3


def incompatibility(rejection: Rejection, judgement: Judgement) -> str:
    """Say in a few words what a label needs and what the target has instead."""
    label, cause, namespace, feature, values, supported = rejection
    if cause is Cause.UNKNOWN_LABEL:
        return f"{label} is not in the variant metadata"
    answer = judgement.answers[namespace]
    known = answer.features.get(feature, ())
    unwanted = [value for value in values if value in known]
    words = None if unwanted else reason_for(namespace, feature, values, answer)
    if words is not None:
        return f"{label} {words}"
    wanted = f"{label} needs {namespace} :: {feature} :: {some(values, joint=' or ')}"
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


def nearest_miss(decision: Decision) -> str:
    """Return the words for the incompatible label that needs least, empty if there is none."""
    misses = [
        (_distance(rejection), incompatibility(rejection, judgement))
        for judgement in decision.judged()
        for rejection in judgement.ranking.rejected
    ]
    return min(misses)[1] if misses else ""


def skip_phrase(decision: Decision) -> str:
    """Say in one line why nothing of a version was taken."""
    line = f"{decision.project} {decision.version} skipped: "
    if decision.skip_reason:
        return line + decision.skip_reason
    missed = nearest_miss(decision)
    line += "none of its variants fits"
    return f"{line}; {missed}" if missed else line


def displaced_phrase(taken: str, decision: Decision) -> str:
    """Name the labels that fit of a version which gave way to one without variants, if any does.

    :param taken: the version that was taken.
    :param decision: about the version with the labels.
    """
    fitting = [file for file in decision.files if file.is_accelerated]
    if not fitting:
        return ""
    named = some(dict.fromkeys(file.label for file in fitting))
    option = f"--require-variant {decision.project}={next(iter(decision.properties(fitting[0])))}"
    return (
        f"{decision.project} {taken} has no variants, and counts as newer than {decision.version}, "
        f"of which variants fit: {named}; {option} goes back to it"
    )


def missing_accelerators(decision: Decision) -> dict[str, bool]:
    """Name the accelerators that labels of a version are for and of which nothing is usable.

    :returns: each with whether it may well be there, and a problem keeps it from being used.
    """
    asked = [
        (namespace, answer)
        for judgement in decision.judged()
        for namespace, answer in judgement.answers.items()
        if namespace in ACCELERATORS and answer.origin is Origin.BUILT_IN
    ]
    missing = {name: bool(answer.problems) for name, answer in asked if not answer.features}
    is_published = all(judgement.metadata.published for judgement in decision.judged())
    # There are folders for all kinds, and one that is not asked about here has some that fit.
    return missing if is_published or len(missing) == len(ACCELERATORS) else {}


def why_none(skipped: Sequence[Decision], left_out: Sequence[LeftOut]) -> list[str]:
    """Say why variants are the reason that nothing of a project can be taken; empty if not.

    :param skipped: the decisions about the versions that were skipped.
    :param left_out: what the installer left out, newest version first.
    """
    lines = list(map(skip_phrase, skipped[:SHOWN]))
    if len(skipped) > SHOWN:
        more = len(skipped) - SHOWN
        lines.append(f"{skipped[0].project}: {more} more versions were skipped likewise")
    if lines or not left_out:
        return lines
    newest = left_out[0].file
    of_newest = [each for each in left_out if each.file.version == newest.version]
    said = some((f"{each.file.label} {each.reason}" for each in of_newest), joint="; ")
    head = f"{newest.project} {newest.version}"
    return [f"{head}: none of its variants is for this Python and platform; {said}"]


def _distance(rejection: Rejection) -> tuple[Any, ...]:
    """Order misses: a wrong value is nearer than no such feature, a low number than a high."""
    causes = (Cause.VALUE, Cause.FEATURE, Cause.NAMESPACE, Cause.UNKNOWN_LABEL)
    # Compared as text of equal length: a number can be longer than Python likes to read.
    numbers = [
        tuple((len(digits), digits) for digits in re.findall(r"0*(\d+)", value))
        for value in rejection.values
    ]
    return (causes.index(rejection.cause), min(numbers, default=()), rejection.label)
