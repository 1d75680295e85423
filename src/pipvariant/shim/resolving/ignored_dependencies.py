"""``abi_dependency`` with ``--no-deps``: it holds between the projects of the same command.

Nothing else is installed for the sake of a label. But ``ext`` in ``install --no-deps torch==2.8.0
ext`` has to be built for that torch, whatever pip takes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.state import aside

if TYPE_CHECKING:
    from pipvariant.shim.core.state import CommandOptions
    from pipvariant.shim.resolving.dependencies import Requirements

CANDIDATES = "pip._internal.resolution.resolvelib.candidates"


def patches(options: CommandOptions, requirements: Requirements) -> list[Patch]:
    """Patch what files depend on for the new resolver; the legacy one never goes back."""
    if options.legacy_resolver:
        return []
    target = f"{CANDIDATES}:_InstallRequirementBackedCandidate.iter_dependencies"
    return [patch(target, _iter_dependencies, _prove, requirements)]


def _iter_dependencies(
    requirements: Requirements, original: Any, /, self: Any, with_requires: bool
) -> Iterator[Any]:
    yield from original(self, with_requires)
    if not with_requires:
        constructors: Any = import_module("pip._internal.req.constructors")
        module: Any = import_module("pip._internal.resolution.resolvelib.requirements")
        for text in requirements.abi_dependencies_on_named(self.source_link):
            made = constructors.install_req_from_req_string(text, self.get_install_requirement())
            yield module.SpecifierRequirement(made)


def _prove(requirements: Requirements) -> bool:
    finder = samples.finder("proof-1.0-py3-none-any.whl")
    factory = samples.factory(finder, samples.distribution(requirements.user))
    (found,) = finder.find_all_candidates(samples.NAME)
    factory._link_candidate_cache.clear()
    candidate = factory._make_candidate_from_link(
        found.link, frozenset(), samples.requirement(), samples.NAME, found.version
    )
    with aside(requirements, abi_dependencies_on_named=lambda link: [f"{link.filename[:5]}==1.*"]):
        dependencies = candidate.iter_dependencies(False)
        return [each.name for each in dependencies if each is not None] == [samples.NAME]
