"""Wheels on the disk: a wheel file is asked itself before pip looks into it.

That covers a wheel given by path or URL or built just now, which nothing has ranked, and a
wheel from an index, which has to be what the index said it is (PEP 825, label and metadata
agree). One that is not is left out, and the next best file is taken; the wheel that the user
names, also by its hash, is refused.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.errors import PipVariantError
from pipvariant.log import logger
from pipvariant.printable import some
from pipvariant.selection.model import Decision, File
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import (
    canonical_name,
    path_to_link,
    pip_error,
    shown,
    unsupported_wheel,
)
from pipvariant.shim.core.state import CommandOptions, UserConstraints, aside
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.index import IndexState, source_of
from pipvariant.shim.resolving.again import Resolution, ResolveAgain
from pipvariant.shim.resolving.decisions import Decisions

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.standard.metadata import Metadata

TARGET = "pip._internal.distributions.wheel"
BUILDER = "pip._internal.wheel_builder"
CACHE = "pip._internal.cache"


class _Built(NamedTuple):
    """A wheel that was built here, as far as it has to look like pip's requirement."""

    name: str
    link: Any
    local_file_path: str


@dataclass(eq=False)
class WheelCheck:
    """Checks wheels on the disk."""

    user: UserConstraints
    index: IndexState
    decisions: Decisions
    judge: Judge
    resolution: Resolution

    def check(self, req: Any) -> None:
        """Refuse a wheel that is incompatible, or is not what its index said.

        :param req: pip's requirement, with ``link`` and ``local_file_path``.
        :raises UnsupportedWheel: pip's, with the unmet property and what the target has.
        :raises ResolveAgain: the next best file can be taken in its place.
        """
        link = req.link
        if link is None:
            return
        try:
            label = label_in(link.filename)
            if label is None:
                if link.is_wheel:
                    self._refuse_unwanted(req, "", None)
                return
            from pipvariant.wheelfile.dist_info import read_from_wheel

            metadata = read_from_wheel(req.local_file_path, label, shown(link))
        except PipVariantError as error:
            # Of a file that is cut or no wheel at all, pip says the same whatever its name.
            if zipfile.is_zipfile(req.local_file_path):
                self.leave_out(req, str(error))
            raise unsupported_wheel(f"Variant wheel refused. {error}") from error
        inside, decided = metadata.variants.get(label, {}), self.decisions.of_link(link)
        promised = decided and decided.decision.judgements.get(decided.file.source)
        if promised is None:
            self._refuse_unwanted(req, label, metadata)
            self._judge_given(req, label, metadata)
        elif promised.properties(label) != inside:
            told = promised.properties(label)
            what = (
                f"{shown(link)}: inside, the wheel has the properties {_listed(inside, told)}; the "
                f"index said {_listed(told, inside)}"
            )
            self.leave_out(req, what)
            raise unsupported_wheel(f"{what}. Nothing was installed.")

    def leave_out(self, req: Any, what: str) -> None:
        """Have the next best file taken in place of a wheel that contradicts its source.

        :param what: the contradiction, in words.
        :raises ResolveAgain: unless the wheel was named by the user, by path, URL or hash, or
            nothing can be resolved again.
        """
        if not (self.resolution.can_restart and self.index.has_found(req.link)):
            return
        search = self.index.searches.get(canonical_name(req.name))
        if search is None or not search.hashes:
            self.index.leave_out(req.link)
            self.decisions.forget(req.link)
            raise ResolveAgain(f"One wheel is left out. {what}")

    def leave_out_unnamed(self, req: Any, what: str) -> None:
        """Like :meth:`leave_out`, of a wheel that is refused because it has a label only inside."""
        from pipvariant.wheelfile.dist_info import VARIANT_JSON, read

        # A damaged one has been refused for that.
        with contextlib.suppress(PipVariantError):
            path = Path(req.local_file_path)
            if label_in(req.link.filename) is None and read(path, {VARIANT_JSON}):
                self.leave_out(req, what)

    def check_resolved(self, req: Any) -> None:
        """Check the wheel of a requirement that pip resolves, and keep why it is refused."""
        try:
            self.check(req)
        except pip_error("UnsupportedWheel") as error:
            # Of a constraint, pip takes this to mean only that nothing can be installed.
            self.decisions.refused.append(str(error))
            raise

    def is_usable(self, folder: str, filename: str) -> bool:
        """Say whether a wheel that was built here once is one for this machine."""
        try:
            self.check(_built(os.path.join(folder, filename)))
        except pip_error("UnsupportedWheel") as error:
            logger.debug("Cached wheel left aside. %s", error)
            return False
        return True

    def _judge_given(self, req: Any, label: str, metadata: Metadata) -> None:
        """Judge a wheel that was given, and keep what was decided about it."""
        link = req.link
        version = str(import_module("pip._internal.models.wheel").Wheel(link.filename).version)
        judgement = self.judge.judge(metadata, (label,), of=f"{req.name} {version}")
        if judgement.ranking.rejected:
            from pipvariant.selection.reasons import incompatibility

            rejection = judgement.ranking.rejected[0]
            values = some(rejection.values, joint=" or ")
            raise unsupported_wheel(
                f"{link.filename} does not fit this machine, which does not support "
                f"{rejection.namespace} :: {rejection.feature} :: {values}: "
                f"{incompatibility(rejection, judgement)}. Nothing was installed."
            )
        project, source = canonical_name(req.name), source_of(link)
        file = File.named(project, version, link.filename, source=source, link=link)
        self.decisions.record(Decision(project, version, {source: judgement}, (file,)), [file])

    def _refuse_unwanted(self, req: Any, label: str, metadata: Metadata | None) -> None:
        """Refuse a wheel that was not chosen, but given, and that is not what the user requires.

        :raises UnsupportedWheel: pip's, with the option that says so.
        """
        link, preferences = req.link, self.user.preferences
        if preferences is None or link.url_without_fragment in self.decisions.constrained:
            return
        from pipvariant.selection.constraints import constraint_for

        used = () if metadata is None else metadata.namespaces
        required = constraint_for(
            preferences, canonical_name(req.name), (label,), used.__contains__
        )
        if required is not None and not required.allows(label, metadata):
            raise unsupported_wheel(f"{link.filename} is not {required}. Nothing was installed.")


def patches(options: CommandOptions, wheel_check: WheelCheck) -> list[Patch]:
    """Patch the places where wheels pass once they lie on the disk."""
    target = f"{TARGET}:WheelDistribution.get_metadata_distribution"
    found = [
        patch(target, _get_metadata_distribution, _prove, wheel_check),
        patch(f"{CACHE}:Cache._get_candidates", _get_candidates, _prove_candidates, wheel_check),
    ]
    # What is only built, and not installed, may be for another machine.
    if options.installs:
        found.append(patch(f"{BUILDER}:_verify_one", _verify_one, _prove_verify, wheel_check))
    return found


def _built(path: str) -> _Built:
    link = path_to_link(path)
    return _Built(link.filename.partition("-")[0], link, path)


def _listed(properties: Any, others: Any) -> str:
    """Name properties, first those in which the others differ."""
    from pipvariant.standard.properties import iter_properties

    return (
        some(sorted(iter_properties(properties), key={*iter_properties(others)}.__contains__))
        or "none"
    )


def _get_metadata_distribution(
    wheel_check: WheelCheck, original: Any, /, self: Any, *args: Any, **kwargs: Any
) -> Any:
    wheel_check.check_resolved(self.req)
    try:
        return original(self, *args, **kwargs)
    except pip_error("UnsupportedWheel") as error:
        wheel_check.leave_out_unnamed(self.req, str(error))
        raise


def _get_candidates(
    wheel_check: WheelCheck, original: Any, /, self: Any, *args: Any, **kwargs: Any
) -> Any:
    found = original(self, *args, **kwargs)
    return [(name, folder) for name, folder in found if wheel_check.is_usable(folder, name)]


def _verify_one(wheel_check: WheelCheck, original: Any, /, req: Any, wheel_path: str) -> Any:
    wheel_check.check(_built(wheel_path))
    return original(req, wheel_path)


# Proofs: pip's own classes, given a wheel that lies nowhere.


def _see(*args: Any) -> Any:
    raise samples.Reached(*args)


def _prove(wheel_check: WheelCheck) -> bool:
    make: Any = import_module("pip._internal.distributions")
    requirement = samples.requirement_at(samples.WHEELS[0])
    distribution = make.make_distribution_for_install_requirement(requirement)
    with aside(wheel_check, check=_see):
        try:
            distribution.get_metadata_distribution()
        except samples.Reached as seen:
            return seen.args == (requirement,) and {"link", "local_file_path"} <= set(
                vars(requirement)
            )
    return False


def _prove_candidates(wheel_check: WheelCheck) -> bool:
    folder, filename = os.path.split(__file__)
    seen: list[tuple[str, str]] = []
    link = samples.requirement_at("proof-1.0.tar.gz").link
    with aside(wheel_check, is_usable=lambda *args: seen.append(args)):
        samples.wheel_cache(folder).get(link, samples.NAME, [])
    return (folder, filename) in seen


def _prove_verify(wheel_check: WheelCheck) -> bool:
    builder: Any = import_module(BUILDER)
    path = os.path.join(os.path.dirname(__file__), samples.WHEELS[0])
    with aside(wheel_check, check=_see):
        try:
            builder._verify_one(samples.requirement(), path)
        except samples.Reached as seen:
            # Whoever calls it would have something built first.
            used = "_verify_one" in samples.names_used(builder._build_one)
            return used and seen.args[0].local_file_path == path
    return False
