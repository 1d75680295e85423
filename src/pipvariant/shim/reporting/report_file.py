"""The key ``variant`` in the entries of an installation report (``--report``)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.printable import printable
from pipvariant.selection.model import Decision, File
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.state import aside

if TYPE_CHECKING:
    from pipvariant.shim.core.state import UserConstraints
    from pipvariant.shim.resolving.decisions import Decided, Decisions

REPORT = "pip._internal.models.installation_report"


def patches(user: UserConstraints, decisions: Decisions) -> list[Patch]:
    """Patch the place where an entry of an installation report is made."""
    target = f"{REPORT}:InstallationReport._install_req_to_dict"
    return [patch(target, _install_req_to_dict, functools.partial(_prove, user), decisions)]


def _install_req_to_dict(decisions: Decisions, original: Any, /, cls: Any, ireq: Any) -> Any:
    result = original(cls, ireq)
    decided = decisions.of_requirement(ireq)
    if decided is not None:
        result["variant"] = _entry(decided)
    return result


def _entry(decided: Decided) -> Mapping[str, Any]:
    from pipvariant.selection.reasons import incompatibility
    from pipvariant.standard.properties import properties_json

    decision, file = decided
    return {
        "label": file.label or "",
        "properties": properties_json(decision.properties(file)),
        "compatible": [
            label for judgement in decision.judged() for label in judgement.ranking.compatible
        ],
        "rejected": [
            {
                "label": rejection.label,
                "namespace": rejection.namespace,
                "feature": rejection.feature,
                "values": list(rejection.values),
                "supported": list(rejection.supported),
                "reason": printable(incompatibility(rejection, judgement)),
            }
            for judgement in decision.judged()
            for rejection in judgement.ranking.rejected
        ],
    }


def _prove(user: UserConstraints, decisions: Decisions) -> bool:
    direct: Any = import_module("pip._internal.utils.direct_url_helpers").direct_url_from_link
    installed = samples.distribution(user)
    requirement = samples.requirement_at(samples.WHEELS[0])
    requirement.download_info = direct(requirement.link)
    requirement.get_dist = lambda: installed
    report: Any = import_module(REPORT).InstallationReport([requirement])
    file = File.named(samples.NAME, "1.0", samples.WHEELS[0], link=requirement.link)
    with aside(decisions):
        decisions.record(Decision(samples.NAME, "1.0"), [file])
        return bool(report._install_req_to_dict(requirement)["variant"]["label"] == "a")
