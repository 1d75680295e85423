"""What the user asked for and has already is named, and what another label replaces."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.printable import some
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, requested_link
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.installed import (
    all_together,
    read_build,
    read_installed,
    read_recorded,
)
from pipvariant.standard.filename import label_phrase

if TYPE_CHECKING:
    from pipvariant.selection.installed import Installed
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import Target
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.decisions import Decisions
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
    index: IndexState
    decisions: Decisions
    replacements: Replacements
    target: Target
    settled: Judge
    messages: Messages

    def tell(self, resolver: Any, result: Any) -> None:
        """Name the variants that the user asked for and has, and those that are replaced."""
        if self.options.legacy_resolver:
            kept = [req.satisfied_by for req in result.requirements.values()]
        else:
            found = resolver._result.mapping.values()
            kept = [getattr(each, "dist", None) for each in found if each.is_installed]
            self._tell_older(each for each in found if not each.is_installed)
        for distribution in kept:
            if distribution is None or distribution.canonical_name not in self.replacements.named:
                continue
            read = read_build if self.user.torch_backend else read_installed
            installed = read(distribution)
            if installed.is_variant:
                head = f"{installed.name} {installed.version}"
                self.messages.tell(logging.INFO, f"{head}: already installed as {installed}")
            self._tell_better(distribution, installed)
        for req in result.requirements.values():
            link = requested_link(req)
            old = None if link is None else self.replacements.replacing.get(link.url)
            if old is not None:
                decided = self.decisions.of_link(link)
                label = label_in(link.filename) if decided is None else decided.file.label
                new = label_phrase(label, "the non-variant build")
                self.messages.tell(logging.INFO, f"{req.name} {old.version}: {new} replaces {old}")

    def _tell_better(self, distribution: Any, installed: Installed) -> None:
        """Say that what is kept does not fit, or that another label would fit better now.

        No index is asked, unless the user looks for a better one and so has asked it.
        """
        from pipvariant.selection.installed import (
            advice,
            better_label,
            compatibility,
            may_have_better,
            upgrade_command,
        )
        from pipvariant.selection.torch_backends import AUTO

        head, project = f"{installed.name} {installed.version}", distribution.canonical_name
        fits = compatibility(installed, self.settled, asks_all=True)
        level = logging.WARNING if fits.compatible is False else logging.INFO
        together = all_together(installed)
        if self.user.upgrades(self.options):
            reasons = [fits.reason] if fits.compatible is False else []
            if (project, distribution.version) in self.replacements.not_offered:
                why = why_not_offered(self.index, project, distribution.version)
                reasons.append(f"{installed} is kept, as {why}")
            apart = [each.name for each in together if self._is_apart(each)]
            if apart:
                command = upgrade_command(*together, backend=self.user.torch_backend)
                reasons.append(f"it stays with {some(apart)}; `{command}` replaces all, if need be")
            if reasons:
                self.messages.tell(level, f"{head}: {'; '.join(reasons)}")
            return
        stated = self.user.torch_backend
        if installed.is_in_folder and stated != AUTO:
            if installed.label != stated:
                command = upgrade_command(*together, backend=stated)
                self.messages.tell(
                    logging.INFO, f"{head}: `{command}` looks for its build for {stated}"
                )
            return
        recorded = read_recorded(distribution)
        label = None if recorded is None else better_label(installed, recorded, self.settled)
        command = upgrade_command(*together)
        text = advice(fits, label, command)
        if not text and label is None and may_have_better(installed, self.target):
            text = f"a variant may fit better now; `{command}` looks for one"
        if text:
            self.messages.tell(level, f"{head}: {text}")

    def _is_apart(self, installed: Installed) -> bool:
        return canonical_name(installed.name) not in self.replacements.named

    def _tell_older(self, candidates: Iterable[Any]) -> None:
        """Warn of each version that replaces a newer one for the sake of what the user requires.

        :param candidates: pip's, of what is going to be installed.
        """
        installed = dict(self.replacements.replaceable.keys())
        for candidate in candidates:
            project, new = candidate.project_name, candidate.version
            old = installed.get(project)
            if old is None or new >= old:
                continue
            text = f"{project}: version {new} replaces {old}, which is newer"
            if (project, old) in self.replacements.not_offered:
                text += f", as {why_not_offered(self.index, project, old)}"
            self.messages.tell(logging.WARNING, text)


def why_not_offered(index: IndexState, project: str, version: Any) -> str:
    """Say why pip was offered no file of an installed version, and what would let one in."""
    search, pin = index.searches.get(project), f"`{project}=={version}`"
    found = [] if search is None else search.finder.find_all_candidates(project)
    links = [each.link for each in found if each.version == version]
    if not links:
        return f"no file of {version} is on the index for this machine"
    if all(link.is_yanked for link in links):
        return f"{version} is yanked, and left out without {pin}"
    if version.is_prerelease:
        return f"{version} is a pre-release, and left out without --pre or {pin}"
    return f"pip takes no file of {version}"


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


def _prove(module: str, kept: KeptVariants) -> bool:
    """Let pip's own resolver find that what it looks for is installed."""

    def read_text(path: str) -> str:
        if path == "variant.json":
            raise samples.Reached
        raise FileNotFoundError(path)

    installed = samples.distribution(kept.user)
    installed.read_text = read_text
    requirement = samples.requirement()
    # The legacy resolver has the requirement look for itself.
    requirement.check_if_exists = lambda *args: setattr(requirement, "satisfied_by", installed)
    try:
        resolver = samples.resolver(module, samples.finder(), installed)
        resolver.resolve([requirement], check_supported_wheels=False)
    except samples.Reached:
        return True
    return False
