"""What the user reads: which label was taken and why, and the same in ``--report``."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.installing.recorded_variants import note
from pipvariant.shim.resolving.older_version import older_that_fits
from pipvariant.shim.resolving.reasons import (
    ACCELERATORS,
    judgements_of,
    miss,
    missing_accelerators,
    nearest_miss,
    why_none,
    why_skipped,
)
from pipvariant.shim.resolving.selector import Outcome
from pipvariant.standard.filename import NULL_LABEL, label_phrase

__all__ = ["patches"]

logger = logging.getLogger(__name__)

#: pip's own level between INFO and DEBUG, shown with -v.
VERBOSE = 15
#: Commands whose outcome somebody is going to use.
INSTALLERS = ("download", "install", "lock", "wheel")
RESOLVER = "pip._internal.resolution.resolvelib.resolver"
LEGACY_RESOLVER = "pip._internal.resolution.legacy.resolver"
FACTORY = "pip._internal.resolution.resolvelib.factory"
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
    if not run.legacy_resolver:
        found.append(
            Patch(
                f"{FACTORY}:Factory.get_installation_error",
                lambda original: _get_installation_error(run, original),
                lambda: _prove_error(run),
            )
        )
    if run.report and not run.no_variant:
        found.append(
            Patch(
                f"{REPORT}:InstallationReport._install_req_to_dict",
                lambda original: _install_req_to_dict(run, original),
                lambda: _prove_report(run),
            )
        )
    return found


def _resolve(run: Run, original: Any) -> Any:
    def resolve(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            result = original(self, *args, **kwargs)
        except Exception as error:
            run.resolved, run.failed = (), str(error)
            _tell_skipped(run, None)
            for sentence in run.refused:
                # pip prints the error itself; where it fails otherwise, this is the cause.
                if sentence != str(error) and run.tell_once(sentence):
                    logger.warning("%s", sentence)
            for name in sorted(run.left_out):
                _tell_none(run, name, logger.warning)
            raise
        run.resolved, run.failed = tuple(result.requirements.values()), ""
        plain: dict[str, set[str]] = {}
        for req in run.resolved:
            _tell(run, req, plain)
        if plain and run.command in INSTALLERS and not run.explains:
            _tell_plain(plain)
        return result

    return resolve


def _get_installation_error(run: Run, original: Any) -> Any:
    def get_installation_error(self: Any, e: Any, *args: Any, **kwargs: Any) -> Any:
        # Without a version that can be taken, this is behind whatever pip is going to say.
        for name in sorted({cause.requirement.project_name for cause in e.causes}):
            if name not in run.fitted:
                _tell_none(run, name, logger.critical)
        return original(self, e, *args, **kwargs)

    return get_installation_error


def _tell_none(run: Run, name: str, tell: Callable[..., None]) -> None:
    """Say that variants are the cause, where nothing of a project can be taken."""
    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    for line in why_none(run, canonical(name)):
        if run.tell_once(line):
            tell("%s", line)


def _tell(run: Run, req: Any, plain: dict[str, set[str]]) -> None:
    """Say what was taken of a project.

    :param plain: gets the accelerators that were not found, and the projects of which
        a build without any was taken for it.
    """
    _tell_skipped(run, req.name)
    link = req.original_link or req.link
    outcome = None if link is None else run.outcomes.get(link.url_without_fragment)
    if outcome is None:
        return
    if run.installs:
        note(run, req.name, outcome, link)
    label = label_of(link)
    head = f"{req.name} {outcome.version}"
    chosen = _is_named(run, outcome)
    if label is not None and label != NULL_LABEL:
        line = f"{head}: variant {label} ({', '.join(_properties(outcome, link, label))})"
    else:
        kind = label_phrase(label) if link.is_wheel else "source distribution"
        missed = nearest_miss(outcome)
        line = f"{head}: {kind}" + (f"; {missed}" if missed else "")
        if not chosen:
            for accelerator in missing_accelerators(outcome):
                plain.setdefault(accelerator, set()).add(req.name)
    line += _kept_with(run, outcome, link)
    if run.tell_once(line):
        # What the user named needs no words.
        logger.log(VERBOSE if chosen else logging.INFO, "%s", line)
        hint = "" if chosen or run.explains else older_that_fits(run, outcome, link)
        if hint and run.command in INSTALLERS:
            logger.info("%s", hint)
        _tell_others(head, outcome, label)


def _kept_with(run: Run, outcome: Outcome, link: Any) -> str:
    """Say that it is for the sake of its family that a label which ranks better was not taken."""
    families = () if run.preferences is None else run.preferences.family_of(outcome.name)
    judgement = outcome.judgements.get(source_of(link))
    best = () if judgement is None else judgement.ranking.compatible[:1]
    if not families or not best or best == (label_of(link),):
        return ""
    return f"; --same-variant {families[0]} keeps it with the others"


def _tell_others(head: str, outcome: Outcome, label: str | None) -> None:
    for judgement in judgements_of(outcome):
        for other in judgement.ranking.compatible:
            if other != label:
                logger.log(VERBOSE, "%s: %s fits too", head, other)
        for rejection in judgement.ranking.rejected:
            logger.log(VERBOSE, "%s: %s", head, miss(rejection, judgement))


def _is_named(run: Run, outcome: Outcome) -> bool:
    """Say whether the user named the very label (``--variant``)."""
    if run.preferences is None:
        return False
    labels = {"", *(label for judgement in judgements_of(outcome) for label in judgement.labels)}
    return run.preferences.label(outcome.name, labels) is not None


def _tell_plain(plain: Mapping[str, set[str]]) -> None:
    """Warn once that builds without accelerator were taken because none was found."""
    names = sorted({name for projects in plain.values() for name in projects})
    namespaces = sorted(plain)
    logger.warning(
        "No %s hardware was found, so builds that do without were taken of %s. "
        "`--require-variant %s` makes that an error, `--variant :all:=null` says it is meant.",
        " or ".join(ACCELERATORS[namespace] for namespace in namespaces),
        ", ".join(names),
        namespaces[0],
    )


def _tell_skipped(run: Run, project: str | None) -> None:
    """Say which versions have no file that fits; of one project, or of all."""
    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    for outcome in run.skipped.values():
        if project is not None and outcome.name != canonical(project):
            continue
        line = why_skipped(outcome)
        if run.tell_once(line):
            logger.info("%s", line)


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
    from pipvariant.standard.properties import properties_json

    label = label_of(link) or ""
    judgement = outcome.judgements.get(source_of(link))
    properties = judgement.metadata.variants.get(label, {}) if judgement is not None else {}
    return {
        "label": label,
        "properties": properties_json(properties),
        "compatible": [
            other for judgement in judgements_of(outcome) for other in judgement.ranking.compatible
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
            for judgement in judgements_of(outcome)
            for rejection in judgement.ranking.rejected
        ],
    }


# Proofs: pip's own resolver, with nothing to be found.


def _prove_resolve(run: Run, module: str) -> bool:
    with samples.apart(run, resolved=None):
        samples.resolver(module, samples.finder()).resolve([], check_supported_wheels=False)
        return run.resolved == ()


class _Fitted(set[str]):
    """Names that remember which of them was asked for."""

    asked = ""

    def __contains__(self, name: object) -> bool:
        self.asked = str(name)
        return True


def _prove_error(run: Run) -> bool:
    error: Any = import_module("pip._internal.exceptions").DistributionNotFound
    fitted = _Fitted()
    with samples.apart(run, fitted=fitted), contextlib.suppress(error):
        resolver = samples.resolver(RESOLVER, samples.finder())
        resolver.resolve([samples.requirement()], check_supported_wheels=False)
    return fitted.asked == samples.NAME


def _prove_report(run: Run) -> bool:
    direct: Any = import_module("pip._internal.utils.direct_url_helpers").direct_url_from_link
    installed = samples.distribution(run)
    requirement = samples.requirement_at(samples.WHEELS[0])
    requirement.download_info = direct(requirement.link)
    requirement.get_dist = lambda: installed
    report: Any = import_module(REPORT).InstallationReport([requirement])
    with samples.apart(run):
        outcome = Outcome(samples.NAME, "1.0", {})
        run.outcomes[requirement.link.url_without_fragment] = outcome
        return bool(report._install_req_to_dict(requirement)["variant"]["label"] == "a")
