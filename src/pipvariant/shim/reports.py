"""What the user reads: which label was taken and why, and the same in ``--report``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.choosing import Judgement, Outcome
from pipvariant.shim.filenames import label_of
from pipvariant.shim.links import source_of
from pipvariant.shim.patches import Patch
from pipvariant.shim.pips import Pip
from pipvariant.shim.run import Run

if TYPE_CHECKING:
    from pipvariant.standard.ranking import Rejection

__all__ = ["miss", "patches"]

logger = logging.getLogger(__name__)

#: pip's own level between INFO and DEBUG, shown with -v.
VERBOSE = 15
RESOLVER = "pip._internal.resolution.resolvelib.resolver"
LEGACY_RESOLVER = "pip._internal.resolution.legacy.resolver"
REPORT = "pip._internal.models.installation_report"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the end of the resolver, and the entries of an installation report if one is due."""
    resolver = LEGACY_RESOLVER if run.legacy_resolver else RESOLVER
    found = [
        Patch(
            f"{resolver}:Resolver.resolve",
            lambda original: _resolve(run, original),
            lambda: _prove_resolve(run, resolver),
        )
    ]
    if run.report and not run.no_variant:
        found.append(
            Patch(
                f"{REPORT}:InstallationReport._install_req_to_dict",
                lambda original: _install_req_to_dict(run, original),
                lambda: _prove_report(run),
            )
        )
    return found


def miss(rejection: Rejection, judgement: Judgement) -> str:
    """Say in a few words what a label needs and what the target has instead."""
    from pipvariant.providers.answers import Origin
    from pipvariant.providers.known import explain
    from pipvariant.standard.ranking import Cause

    label, cause, namespace, feature, values, supported = rejection
    if cause is Cause.UNKNOWN_LABEL:
        return f"{label} is not in the variant metadata"
    answer = judgement.answers[namespace]
    known = answer.features.get(feature, ())
    unwanted = [value for value in values if value in known]
    words = None if unwanted else explain(namespace, feature, values, answer)
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
    }
    if answer.origin in reasons:
        return f"{wanted}, {reasons[answer.origin]}"
    has = ", ".join(supported[:3]) + (", ..." if len(supported) > 3 else "")
    where = "the package's own list" if answer.origin is Origin.STATIC else "this machine"
    return f"{wanted}, {where} has {has or 'nothing of that kind'}"


def _resolve(run: Run, original: Any) -> Any:
    def resolve(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(self, *args, **kwargs)
        except Exception as error:
            _tell_skipped(run, None)
            for sentence in run.refused:
                # pip prints the error itself; where it fails otherwise, this is the cause.
                if sentence != str(error) and run.tell_once(sentence):
                    logger.warning("%s", sentence)
            if run.left_out:
                names = ", ".join(sorted(run.left_out))
                logger.warning("--no-variant leaves out the variant wheels of: %s", names)
            raise
        for req in result.requirements.values():
            _tell(run, req)
        return result

    return resolve


def _tell(run: Run, req: Any) -> None:
    _tell_skipped(run, req.name)
    link = req.original_link or req.link
    outcome = None if link is None else run.outcomes.get(link.url_without_fragment)
    if outcome is None:
        return
    label = label_of(link)
    head = f"{req.name} {outcome.version}"
    if label is not None and label != "null":
        line = f"{head}: variant {label} ({', '.join(_properties(outcome, link, label))})"
    else:
        kind = "non-variant wheel" if label is None else "null variant"
        if not link.is_wheel:
            kind = "source distribution"
        missed = _nearest_miss(outcome)
        line = f"{head}: {kind}" + (f"; {missed}" if missed else "")
    if run.tell_once(line):
        logger.info("%s", line)
        for judgement in _judgements(outcome):
            for other in judgement.ranking.compatible:
                if other != label:
                    logger.log(VERBOSE, "%s: %s fits too", head, other)
            for rejection in judgement.ranking.rejected:
                logger.log(VERBOSE, "%s: %s", head, miss(rejection, judgement))


def _tell_skipped(run: Run, project: str | None) -> None:
    """Say which versions have no file that fits; of one project, or of all."""
    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    for outcome in run.skipped.values():
        if project is not None and outcome.name != canonical(project):
            continue
        missed = _nearest_miss(outcome)
        why = (
            f"nothing of it is {outcome.demand}" if outcome.demand else "none of its variants fits"
        )
        line = f"{outcome.name} {outcome.version} skipped: {why}"
        line += f"; {missed}" if missed else ""
        if run.tell_once(line):
            logger.info("%s", line)


def _nearest_miss(outcome: Outcome) -> str:
    """Return the words for the rejected label that was nearest to fit, empty if none."""
    misses = [
        (_distance(rejection), miss(rejection, judgement))
        for judgement in _judgements(outcome)
        for rejection in judgement.ranking.rejected
    ]
    return min(misses)[1] if misses else ""


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


def _judgements(outcome: Outcome) -> Iterator[Judgement]:
    return (judgement for judgement in outcome.judgements.values() if judgement is not None)


def _properties(outcome: Outcome, link: Any, label: str) -> list[str]:
    from pipvariant.standard.properties import iter_properties

    judgement = outcome.judgements[source_of(link)]
    properties = judgement.metadata.variants.get(label, {}) if judgement is not None else {}
    return [str(item) for item in iter_properties(properties)]


def _install_req_to_dict(run: Run, original: Any) -> Any:
    def _install_req_to_dict(cls: Any, ireq: Any) -> Any:
        entry = original.__get__(None, cls)(ireq)
        link = ireq.original_link or ireq.link
        outcome = None if link is None else run.outcomes.get(link.url_without_fragment)
        if outcome is not None:
            entry["variant"] = _entry(outcome, link)
        return entry

    return classmethod(_install_req_to_dict)


def _entry(outcome: Outcome, link: Any) -> Mapping[str, Any]:
    label = label_of(link) or ""
    judgement = outcome.judgements.get(source_of(link))
    properties = judgement.metadata.variants.get(label, {}) if judgement is not None else {}
    return {
        "label": label,
        "properties": {
            namespace: {feature: list(values) for feature, values in features.items()}
            for namespace, features in properties.items()
        },
        "compatible": [
            other for judgement in _judgements(outcome) for other in judgement.ranking.compatible
        ],
        "rejected": [
            {
                "label": rejection.label,
                "namespace": rejection.namespace,
                "feature": rejection.feature,
                "values": list(rejection.values),
                "supported": list(rejection.supported),
                "reason": miss(rejection, judgement),
            }
            for judgement in _judgements(outcome)
            for rejection in judgement.ranking.rejected
        ],
    }


def _prove_resolve(run: Run, module: str) -> bool:
    resolver_class: Any = import_module(module).Resolver
    before, run.skipped = run.skipped, _Watched()
    try:
        # A resolver without any parts fails at once; what was skipped is told even so.
        resolver_class.resolve(object.__new__(resolver_class), None, check_supported_wheels=False)
    except (AttributeError, TypeError):
        return run.skipped.seen
    finally:
        run.skipped = before
    return False


class _Watched(dict[tuple[str, Any], Outcome]):
    """A table that remembers whether it was read."""

    seen = False

    def values(self) -> Any:
        self.seen = True
        return super().values()


def _prove_report(run: Run) -> bool:
    class Requirement:
        """Just enough of pip's requirement for a report, and a link that was chosen."""

        def __getattr__(self, name: str) -> Any:
            return _Anything()

    report: Any = import_module(REPORT).InstallationReport
    link = Requirement().original_link
    run.outcomes[link.url_without_fragment] = Outcome("proof", "1.0", {})
    try:
        return "variant" in report._install_req_to_dict(Requirement())
    finally:
        del run.outcomes[link.url_without_fragment]


class _Anything:
    """Answers every question of a report with something harmless."""

    url_without_fragment = "proof"
    filename = "proof"
    comes_from = "proof"

    def __getattr__(self, name: str) -> Any:
        return _Anything()

    def __call__(self, *args: Any) -> Any:
        return _Anything()

    def __iter__(self) -> Iterator[Any]:
        return iter(())
