"""What the user asked for and has already is named, and what another label replaces."""

from __future__ import annotations

import functools
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, requested_link
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.installed import read_installed, read_recorded
from pipvariant.standard.filename import label_phrase

if TYPE_CHECKING:
    from pipvariant.selection.installed import Installed
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import Target
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.resolving.installed_candidate import Replacements

RESOLVER = "pip._internal.resolution.resolvelib.resolver"
LEGACY_RESOLVER = "pip._internal.resolution.legacy.resolver"


@dataclass(eq=False)
class KeptVariants:
    """Tells what is kept or replaced of what the user asked for.

    :param settled: judges by what the environment has, and tells nothing.
    """

    options: CommandOptions
    user: UserConstraints
    replacements: Replacements
    target: Target
    settled: Judge
    messages: Messages

    def tell(self, resolver: Any, result: Any) -> None:
        """Name the variants that the user asked for and has, and those that are replaced."""
        legacy = self.options.legacy_resolver
        if legacy:
            kept = [req.satisfied_by for req in result.requirements.values()]
        else:
            kept = [
                getattr(found, "dist", None)
                for found in resolver._result.mapping.values()
                if found.is_installed
            ]
        for distribution in kept:
            if distribution is None or distribution.canonical_name not in self.replacements.named:
                continue
            installed = read_installed(distribution)
            head = f"{installed.name} {installed.version}"
            if installed.is_variant:
                self.messages.tell(logging.INFO, f"{head}: already installed as {installed}")
            if not self.user.upgrades(self.options) and not legacy:
                self._tell_better(head, distribution, installed)
        for req in result.requirements.values():
            link = requested_link(req)
            old = None if link is None else self.replacements.replacing.get(link.url)
            if old is not None:
                new = label_phrase(label_in(link.filename), "the non-variant build")
                self.messages.tell(logging.INFO, f"{req.name} {old.version}: {new} replaces {old}")

    def _tell_better(self, head: str, distribution: Any, installed: Installed) -> None:
        """Say that another label would fit better now, without asking an index."""
        from pipvariant.selection.installed import better_label, may_have_better

        recorded = read_recorded(distribution)
        label = None if recorded is None else better_label(installed, recorded, self.settled)
        if label:
            text = f"variant {label} would fit better now; --upgrade-variant takes it"
            self.messages.tell(logging.INFO, f"{head}: {text}")
        elif label is None and may_have_better(installed, self.target):
            text = "a variant may fit better now; --upgrade-variant looks for one"
            self.messages.tell(logging.INFO, f"{head}: {text}")


def patches(options: CommandOptions, kept: KeptVariants) -> list[Patch]:
    """Patch the end of the resolver of ``install``."""
    if options.command != "install":
        return []
    resolver = LEGACY_RESOLVER if options.legacy_resolver else RESOLVER
    prove = functools.partial(_prove, resolver)
    return [patch(f"{resolver}:Resolver.resolve", _resolve, prove, kept)]


def _resolve(
    kept: KeptVariants, original: Any, /, self: Any, root_reqs: Any, *args: Any, **kwargs: Any
) -> Any:
    named = frozenset(
        canonical_name(req.name)
        for req in root_reqs
        if req.user_supplied and not req.constraint and req.name
    )
    replacements = kept.replacements
    # New pips may resolve what a build requires on the way, into an environment of its own.
    with aside(replacements, named=named, unwanted=replacements.unwanted):
        result = original(self, root_reqs, *args, **kwargs)
        kept.tell(self, result)
        return result


class _Seen(Exception):
    """What is kept was asked for."""


def _prove(module: str, kept: KeptVariants) -> bool:
    """Let pip's own resolver find that what it looks for is installed."""

    def read_text(path: str) -> str:
        if path == "variant.json":
            raise _Seen
        raise FileNotFoundError(path)

    installed = samples.distribution(kept.user)
    installed.read_text = read_text
    requirement = samples.requirement()
    # The legacy resolver has the requirement look for itself.
    requirement.check_if_exists = lambda *args: setattr(requirement, "satisfied_by", installed)
    try:
        resolver = samples.resolver(module, samples.finder(), installed)
        resolver.resolve([requirement], check_supported_wheels=False)
    except _Seen:
        return True
    return False
