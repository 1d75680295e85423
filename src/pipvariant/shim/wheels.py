"""Wheels in hand: a wheel file is asked itself before pip looks into it.

That covers a wheel given by path or URL, which no ranking has seen, and a wheel from an
index, which has to be what the index said it is (PEP 825, label and metadata agree).
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import Any

from pipvariant.errors import PipVariantError
from pipvariant.shim.choosing import Outcome, judge
from pipvariant.shim.filenames import label_of
from pipvariant.shim.links import source_of
from pipvariant.shim.patches import Patch
from pipvariant.shim.pips import Pip
from pipvariant.shim.run import Run
from pipvariant.shim.sources import read_from_wheel, shown

__all__ = ["check", "patches"]

logger = logging.getLogger(__name__)

TARGET = "pip._internal.distributions.wheel"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the place where every wheel passes once it lies on the disk."""
    return [
        Patch(
            f"{TARGET}:WheelDistribution.get_metadata_distribution",
            lambda original: _get_metadata_distribution(run, original),
            lambda: _prove(run),
        )
    ]


def check(run: Run, req: Any) -> None:
    """Refuse a wheel on the disk that does not fit, or is not what its index said.

    :param req: pip's requirement, with ``link`` and ``local_file_path``.
    :raises pip's UnsupportedWheel: with the unmet property and what the target has.
    """
    link = req.link
    label = None if link is None else label_of(link)
    if label is None:
        return
    try:
        metadata = read_from_wheel(req.local_file_path, label, link.filename)
    except PipVariantError as error:
        raise _refusal(run, f"Variant wheel refused. {error}") from error
    properties = metadata.variants.get(label, {})

    outcome = run.outcomes.get(link.url_without_fragment)
    judgement = outcome.judgements.get(source_of(link)) if outcome is not None else None
    if judgement is not None:
        promised = judgement.metadata.variants.get(label, {})
        if promised != properties:
            raise _refusal(
                run,
                f"{link.filename}: inside, the wheel has the properties {_listed(properties)}; "
                f"the index said {_listed(promised)} ({shown(link)}). Nothing was installed.",
            )
        return

    version = _version(link.filename)
    judgement = judge(run, metadata, (label,), of=f"{req.name} {version}")
    if judgement.ranking.rejected:
        from pipvariant.shim.reports import miss

        rejection = judgement.ranking.rejected[0]
        wanted = f"{rejection.namespace} :: {rejection.feature} :: {' or '.join(rejection.values)}"
        raise _refusal(
            run,
            f"{link.filename} does not fit this machine, which does not support {wanted}: "
            f"{miss(rejection, judgement)}. Nothing was installed.",
        )
    run.outcomes[link.url_without_fragment] = Outcome(
        req.name, version, {source_of(link): judgement}
    )


def _refusal(run: Run, sentence: str) -> Exception:
    """Return pip's error for a wheel that cannot be used, and keep what it says."""
    # Of a constraint, pip only takes this error to mean that nothing can be installed.
    run.refused.append(sentence)
    error: Exception = import_module("pip._internal.exceptions").UnsupportedWheel(sentence)
    return error


def _version(filename: str) -> str:
    return str(import_module("pip._internal.models.wheel").Wheel(filename).version)


def _listed(properties: Any) -> str:
    from pipvariant.standard.properties import iter_properties

    return ", ".join(str(item) for item in iter_properties(properties)) or "none"


def _get_metadata_distribution(run: Run, original: Any) -> Any:
    def get_metadata_distribution(self: Any, *args: Any, **kwargs: Any) -> Any:
        run.check(self.req)
        return original(self, *args, **kwargs)

    return get_metadata_distribution


def _prove(run: Run) -> bool:
    class Seen(Exception):
        pass

    def refuse(req: Any) -> None:
        raise Seen

    distribution_class: Any = import_module(TARGET).WheelDistribution
    distribution = object.__new__(distribution_class)
    distribution.req = None
    run.check, before = refuse, run.check
    try:
        distribution.get_metadata_distribution()
    except Seen:
        return True
    finally:
        run.check = before
    return False
