"""What is installed, and going to be, as far as it is built for an accelerator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

from pipvariant.selection.mixed import (
    Member,
    find_mixed,
    is_for_accelerator,
    properties_to_compare,
)
from pipvariant.shim.core.pip_objects import canonical_name, requested_link
from pipvariant.shim.finding.installed import find_all_installed, read_installed, unreadable

if TYPE_CHECKING:
    from pipvariant.selection.installed import Installed
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.standard.properties import Properties


def mixed_after(resolver: Any, decisions: Decisions) -> list[str]:
    """Say what will be mixed, and has a part that is going to be installed; and what to do.

    Nothing is asked for: the resolver has it all, and the environment is looked at only where
    something new is built for an accelerator.

    :param resolver: pip's, when it is done.
    """
    members, new = [], set()
    for requirement in decisions.resolved:
        if requested_link(requirement) is None:
            continue
        new.add(canonical_name(requirement.name))
        decided = decisions.of_requirement(requirement)
        properties = {} if decided is None else decided.decision.properties(decided.file)
        if is_for_accelerator(properties):
            members.append(_member(requirement.get_dist(), properties, requirement.extras))
    if members:
        rest = (dist for dist in _installed(resolver) if dist.canonical_name not in new)
        members += installed_members(rest)
    return [
        # The option alone leaves a package as it is that the user's command is not about.
        mixed.advice(mixed.option if new.issuperset(mixed.projects) else mixed.command)
        for mixed in find_mixed(members)
        if not new.isdisjoint(mixed.projects)
    ]


def installed_members(
    distributions: Iterable[Any], read: Callable[[Any], Installed] = read_installed
) -> list[Member]:
    """Return those of pip's installed distributions that are built for an accelerator.

    :param read: says what each is.
    """
    members = []
    for distribution in distributions:
        # What is too damaged to be read is no part of a mix that can be known.
        with contextlib.suppress(*unreadable()):
            properties = properties_to_compare(read(distribution))
            if is_for_accelerator(properties):
                members.append(_member(distribution, properties))
    return members


def _member(distribution: Any, properties: Properties, extras: Collection[str] = ()) -> Member:
    required = {canonical_name(each.name) for each in distribution.iter_dependencies(extras)}
    name, version = str(distribution.canonical_name), str(distribution.version)
    return Member(name, version, properties, frozenset(required))


def _installed(resolver: Any) -> Iterable[Any]:
    """Return what is installed in the environment that a resolver works for."""
    if hasattr(resolver, "factory"):
        installed: dict[str, Any] = resolver.factory._installed_dists
        return installed.values()
    if resolver.ignore_installed:
        return ()
    return find_all_installed()
