"""Wheels in hand: a wheel file is asked itself before pip looks into it.

That covers a wheel given by path or URL or built just now, which no ranking has seen, and a
wheel from an index, which has to be what the index said it is (PEP 825, label and metadata
agree).
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.errors import PipVariantError
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip, this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.resolving.selector import Outcome, judge

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["check", "is_usable", "patches"]

logger = logging.getLogger(__name__)

TARGET = "pip._internal.distributions.wheel"
BUILDER = "pip._internal.wheel_builder"
CACHE = "pip._internal.cache"


class _Built(NamedTuple):
    """A wheel that was built here, as far as it has to look like pip's requirement."""

    name: str
    link: Any
    local_file_path: str


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the places where wheels pass once they lie on the disk."""
    found = [
        Patch(
            f"{TARGET}:WheelDistribution.get_metadata_distribution",
            lambda original: _get_metadata_distribution(run, original),
            lambda: _prove(run),
        ),
        Patch(
            f"{CACHE}:Cache._get_candidates",
            lambda original: _get_candidates(run, original),
            lambda: _prove_candidates(run),
        ),
    ]
    # What is only built, and not installed, may be for another machine.
    if run.installs:
        found.append(
            Patch(
                f"{BUILDER}:_verify_one",
                lambda original: _verify_one(run, original),
                lambda: _prove_verify(run),
            )
        )
    return found


def check(run: Run, req: Any) -> None:
    """Refuse a wheel on the disk that does not fit, or is not what its index said.

    :param req: pip's requirement, with ``link`` and ``local_file_path``.
    :raises pip's UnsupportedWheel: with the unmet property and what the target has.
    """
    link, unsupported = req.link, _unsupported()
    try:
        label = None if link is None else label_of(link)
        if label is None:
            if run.preferences is not None and link is not None and link.is_wheel:
                _refuse_unwanted(run, req, "", None)
            return
        from pipvariant.wheelfile.dist_info import read_from_wheel

        metadata = read_from_wheel(req.local_file_path, label, link.filename)
    except PipVariantError as error:
        raise unsupported(f"Variant wheel refused. {error}") from error
    properties = metadata.variants.get(label, {})

    outcome = run.outcomes.get(link.url_without_fragment)
    judgement = outcome.judgements.get(source_of(link)) if outcome is not None else None
    if judgement is not None:
        promised = judgement.metadata.variants.get(label, {})
        if promised != properties:
            from pipvariant.shim.finding.download import shown

            raise unsupported(
                f"{link.filename}: inside, the wheel has the properties {_listed(properties)}; "
                f"the index said {_listed(promised)} ({shown(link)}). Nothing was installed."
            )
        return

    _refuse_unwanted(run, req, label, metadata)
    version = _version(link.filename)
    judgement = judge(run, metadata, (label,), of=f"{req.name} {version}")
    if judgement.ranking.rejected:
        from pipvariant.shim.resolving.reasons import miss

        rejection = judgement.ranking.rejected[0]
        wanted = f"{rejection.namespace} :: {rejection.feature} :: {' or '.join(rejection.values)}"
        raise unsupported(
            f"{link.filename} does not fit this machine, which does not support {wanted}: "
            f"{miss(rejection, judgement)}. Nothing was installed."
        )
    run.outcomes[link.url_without_fragment] = Outcome(
        req.name, version, {source_of(link): judgement}
    )


def _refuse_unwanted(run: Run, req: Any, label: str, metadata: Metadata | None) -> None:
    """Refuse a wheel that was not chosen, but given, and that is not what the user insists on.

    :raises pip's UnsupportedWheel: with the option that says so.
    """
    link = req.link
    if run.preferences is None or link.url_without_fragment in run.chosen:
        return
    from pipvariant.shim.resolving.constraints import demand_for

    canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
    used = () if metadata is None else metadata.namespaces
    demand = demand_for(run, canonical(req.name), (label,), used.__contains__)
    if demand is not None and not demand.allows(label, metadata):
        raise _unsupported()(f"{link.filename} is not {demand}. Nothing was installed.")


def is_usable(run: Run, folder: str, filename: str) -> bool:
    """Say whether a wheel that was built here once is one for this machine."""
    try:
        run.check(_built(os.path.join(folder, filename)))
    except _unsupported() as error:
        logger.debug("Cached wheel left aside. %s", error)
        return False
    return True


def _built(path: str) -> _Built:
    to_url: Any = import_module("pip._internal.utils.urls").path_to_url
    link: Any = import_module("pip._internal.models.link").Link(to_url(path))
    return _Built(link.filename.partition("-")[0], link, path)


def _unsupported() -> Any:
    return import_module("pip._internal.exceptions").UnsupportedWheel


def _version(filename: str) -> str:
    return str(import_module("pip._internal.models.wheel").Wheel(filename).version)


def _listed(properties: Any) -> str:
    from pipvariant.standard.properties import iter_properties

    return ", ".join(str(item) for item in iter_properties(properties)) or "none"


def _get_metadata_distribution(run: Run, original: Any) -> Any:
    def get_metadata_distribution(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            run.check(self.req)
        except _unsupported() as error:
            # Of a constraint, pip takes this to mean only that nothing can be installed.
            run.refused.append(str(error))
            raise
        return original(self, *args, **kwargs)

    return get_metadata_distribution


def _get_candidates(run: Run, original: Any) -> Any:
    def _get_candidates(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = original(self, *args, **kwargs)
        return [(name, folder) for name, folder in found if run.is_usable(folder, name)]

    return _get_candidates


def _verify_one(run: Run, original: Any) -> Any:
    def _verify_one(req: Any, wheel_path: str) -> Any:
        run.check(_built(wheel_path))
        return original(req, wheel_path)

    return _verify_one


# Proofs: pip's own classes, given a wheel that lies nowhere.


class _Seen(Exception):
    """What a proof stands in for came by, with these arguments."""


def _see(*args: Any) -> Any:
    raise _Seen(*args)


def _prove(run: Run) -> bool:
    make: Any = import_module("pip._internal.distributions")
    requirement = samples.requirement_at(samples.WHEELS[0])
    distribution = make.make_distribution_for_install_requirement(requirement)
    with samples.apart(run, check=_see):
        try:
            distribution.get_metadata_distribution()
        except _Seen as seen:
            return seen.args == (requirement,) and {"link", "local_file_path"} <= set(
                vars(requirement)
            )
    return False


def _prove_candidates(run: Run) -> bool:
    folder, filename = os.path.split(__file__)

    class Cache(import_module(CACHE).SimpleWheelCache):  # type: ignore[misc]  # pip's class
        """A cache that is always the folder of this file."""

        def get_path_for_link(self, link: Any) -> str:
            return folder

    cache = Cache(folder, *this_pip().wheel_cache_arguments)
    seen: list[tuple[str, str]] = []
    link = samples.requirement_at("proof-1.0.tar.gz").link
    with samples.apart(run, is_usable=lambda *args: seen.append(args)):
        cache.get(link, samples.NAME, [])
    return (folder, filename) in seen


def _prove_verify(run: Run) -> bool:
    builder: Any = import_module(BUILDER)
    path = os.path.join(os.path.dirname(__file__), samples.WHEELS[0])
    with samples.apart(run, check=_see):
        try:
            builder._verify_one(samples.requirement(), path)
        except _Seen as seen:
            # Whoever calls it would have something built first.
            used = "_verify_one" in samples.names_used(builder._build_one)
            return used and seen.args[0].local_file_path == path
    return False
