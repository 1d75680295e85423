"""Resolving again, after something came out that the resolver should have known before.

A resolver cannot take back what it was given. pip keeps what it has found, fetched and built so
far, so that the second time costs little.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.log import logger
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.filenames import is_variant_wheel

if TYPE_CHECKING:
    from pipvariant.shim.core.state import CommandOptions

RESOLVER = "pip._internal.resolution.resolvelib.resolver"


class ResolveAgain(Exception):
    """The resolver has to begin anew, as more is known now; the text, if any, warns the user."""


@dataclass(eq=False)
class Resolution:
    """What is known of the resolution that is going on.

    :param named: canonical names of the projects that it was asked for.
    :param can_restart: there is one, which :class:`ResolveAgain` begins anew.
    """

    named: frozenset[str] = frozenset()
    can_restart: bool = False


def patches(options: CommandOptions, resolution: Resolution) -> list[Patch]:
    """Patch pip's new resolver; the legacy one takes the first file that it finds."""
    if options.legacy_resolver and not options.builds:
        return []
    return [patch(f"{RESOLVER}:Resolver.resolve", _resolve, _prove, options, resolution)]


def named_in(root_reqs: Iterable[Any]) -> frozenset[str]:
    """Return the canonical names of the projects that a resolver is asked for."""
    return frozenset(
        canonical_name(req.name)
        for req in root_reqs
        if req.name and not req.constraint and req.match_markers()
    )


def _resolve(
    options: CommandOptions,
    resolution: Resolution,
    original: Any,
    /,
    self: Any,
    root_reqs: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    preparer = self.factory.preparer
    prepare_more = functools.partial(_variants_first, preparer.prepare_linked_requirements_more)
    with aside(resolution, named=named_in(root_reqs), can_restart=True):
        while True:
            try:
                with aside(preparer, prepare_linked_requirements_more=prepare_more):
                    result = original(self, root_reqs, *args, **kwargs)
                if options.installs or options.command in ("download", "wheel"):
                    # From 25.3 pip fetches them only when nothing can be resolved again.
                    prepare_more(result.requirements.values(), only_variants=True)
                return result
            except ResolveAgain as again:
                if again.args:
                    logger.warning("%s", again)


def _variants_first(
    original: Any, reqs: Iterable[Any], *args: Any, only_variants: bool = False, **kwargs: Any
) -> None:
    """Fetch variant wheels of which only metadata was read (PEP 658) before anything else.

    Each may turn out not to be what its source says, and then what is not fetched yet can wait.
    """
    reqs = list(reqs)
    for req in reqs:
        if req.needs_more_preparation and is_variant_wheel(req.link.filename):
            original([req], *args, **kwargs)
            req.needs_more_preparation = False
    if not only_variants:
        original(reqs, *args, **kwargs)


def _prove(options: CommandOptions, resolution: Resolution) -> bool:
    resolver = samples.resolver(RESOLVER, samples.finder())
    errors: list[Exception] = [ResolveAgain(), samples.Reached()]

    def begin(root_reqs: Any) -> Any:
        raise errors.pop(0)

    prepare: Any = import_module("pip._internal.operations.prepare")
    try:
        with aside(resolver.factory, collect_root_requirements=begin):
            resolver.resolve([samples.requirement()], check_supported_wheels=False)
    except samples.Reached:
        return hasattr(prepare.RequirementPreparer, "prepare_linked_requirements_more")
    return False
