"""What is installed stands among the files of its version, where the user may want another."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pipvariant.selection.installed import Installed
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import make_version, redact
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.installed import read_build, read_installed, unreadable

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import File
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState, Search
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.shim.resolving.same_variant import SameVariant
    from pipvariant.shim.resolving.selector import Orders, Selector

FOUND = "pip._internal.resolution.resolvelib.found_candidates"
FACTORY = "pip._internal.resolution.resolvelib.factory"

#: What :func:`keep` returns in place of a candidate.
KEPT = object()


def keep() -> object:
    """Stand for what is installed, among the functions that build a candidate from a file."""
    return KEPT


class Replacements(State):
    """What is installed and may give way to another label."""

    def __init__(self) -> None:
        #: Canonical names of the projects that the user asked for.
        self.named: frozenset[str] = frozenset()
        #: (canonical project name, version) of what is installed and may give way.
        self.replaceable: dict[tuple[str, Any], Installed] = {}
        #: URL of a file -> what is installed of the same version and ranks lower.
        self.replacing: dict[str, Installed] = {}
        #: (canonical project name, version) of what is installed and pip was offered no file of.
        self.not_offered: set[tuple[str, Any]] = set()
        #: (canonical project name, version) of what is installed and is not what is required.
        self.unwanted: set[tuple[str, Any]] = set()


@dataclass(eq=False)
class InstalledOrder:
    """Puts the files of a version in order, and what is installed among them, as :func:`keep`.

    :param inner: the order for a project and version that is not installed.
    """

    options: CommandOptions
    user: UserConstraints
    decisions: Decisions
    replacements: Replacements
    judge: Judge
    messages: Messages
    inner: Selector
    #: Set where packages stay on the same variant.
    same_variant: SameVariant | None = None

    def order(self, files: Sequence[File], search: Search) -> list[Any]:
        """Return the payloads of the files that may be taken, best first: see ``Orders``."""
        payloads = self.inner.order(files, search)
        replacements = self.replacements
        key = (files[0].project, files[0].version)
        installed = replacements.replaceable.get(key)
        if installed is None:
            return payloads
        names = [name for file in files for name in file.names]
        if not self.is_wanted(key, names, search):
            replacements.unwanted.add(key)
            replacements.replacing.update((file.link.url, installed) for file in files)
            return payloads
        by_payload = {id(file.payload): file for file in files}
        better: list[Any] = []
        others: list[Any] = []
        upgrades = self.user.upgrades(self.options)
        gives_way = self.same_variant is not None and self.same_variant.gives_way(key[0])
        stays = False
        for payload in payloads:
            file = by_payload[id(payload)]
            if not file.allowed:
                break
            stays = stays or not (gives_way or (upgrades and self._is_better(file, installed)))
            if stays and file.label == installed.label:
                # The same label again would be no other choice.
                continue
            (others if stays else better).append(payload)
            replacements.replacing[file.link.url] = installed
        return [*better, keep, *others]

    def is_wanted(self, key: tuple[str, Any], offered: Sequence[str], search: Search) -> bool:
        """Say whether what is installed may stay: it is all that the user requires, if anything.

        :param key: of ``replaceable``.
        :param offered: the labels that the index has of the same version.
        """
        required = self.inner.constraint(key[0], offered, search)
        installed = self.replacements.replaceable[key]
        return required is None or required.allows(installed.label, installed.metadata)

    def is_replaceable(self, candidate: Any) -> bool:
        """Say whether the user may want another label of what is installed, and keep what it is.

        :param candidate: pip's.
        """
        name = candidate.project_name
        named = self.options.upgrade_dependencies or name in self.replacements.named
        preferences = self.user.preferences
        constrained = preferences is not None and (
            name in preferences.labels
            or name in preferences.required
            or preferences.family_of(name, by_namespace=True)
            or (named and self.user.is_constrained(name))
        )
        gives_way = self.same_variant is not None and self.same_variant.gives_way(name)
        if candidate.is_editable or not (
            constrained or gives_way or (self.user.upgrades(self.options) and named)
        ):
            return False
        # A candidate with extras is made of the one without.
        distribution = getattr(candidate, "base", candidate).dist
        if _is_local_build(distribution):
            return False
        installed = self._read(distribution)
        stays = not (gives_way or self.user.upgrades(self.options))
        if stays and self._is_as_required(name, installed):
            return False
        key = (name, self.version_of(candidate))
        self.replacements.replaceable.setdefault(key, installed)
        return True

    def _read(self, distribution: Any) -> Installed:
        return (read_build if self.user.torch_backend else read_installed)(distribution)

    def version_of(self, candidate: Any) -> Any:
        """Return the version that what is installed counts as among those that pip is offered.

        :param candidate: pip's.
        """
        distribution = getattr(candidate, "base", candidate).dist
        if self._read(distribution).is_in_folder:
            return make_version(candidate.version.public)
        return candidate.version

    def _is_as_required(self, project: str, installed: Installed) -> bool:
        """Say whether what is installed is all that the user can mean, so no index is asked."""
        preferences = self.user.preferences
        if preferences is None or preferences.family_of(project, by_namespace=True):
            return False
        from pipvariant.selection.constraints import constraint_if_all

        required = constraint_if_all(preferences, project)
        return required.allows(installed.label, installed.metadata)

    def _is_better(self, file: File, installed: Installed) -> bool:
        """Say whether a compatible file ranks before what is installed of the same version."""
        from pipvariant.selection.installed import ranks_before

        decided = self.decisions.of_link(file.link)
        decision = None if decided is None else decided.decision
        where = redact(file.source)
        better, reason = ranks_before(file, installed, decision, self.judge, where=where)
        if reason:
            head = f"{installed.name} {installed.version}"
            self.messages.tell(logging.INFO, f"{head}: {installed} is kept; {reason}")
        return better


def patches(
    options: CommandOptions, index: IndexState, order: InstalledOrder, orders: Orders
) -> list[Patch]:
    """Patch the new resolver of ``install`` to put what is installed among the files.

    :param orders: what the files are put in order by in the end.
    """
    if options.command != "install" or options.legacy_resolver:
        return []
    prove_found = functools.partial(_prove_found, orders)
    target = f"{FACTORY}:Factory.get_dist_to_uninstall"
    return [
        patch(f"{FOUND}:FoundCandidates.__init__", _found_candidates, prove_found, index, order),
        patch(target, _get_dist_to_uninstall, _prove_uninstall, order),
    ]


# pip takes a better label for another version.


def _found_candidates(
    index: IndexState,
    order: InstalledOrder,
    original: Any,
    /,
    self: Any,
    get_infos: Any,
    installed: Any,
    prefers_installed: Any,
    *args: Any,
    **kw: Any,
) -> None:
    asked = order.user.upgrades(order.options) or order.user.preferences is not None
    if asked and installed is not None and order.is_replaceable(installed):
        get_infos = functools.partial(_infos, index, order, get_infos, installed, prefers_installed)
        installed = None
    elif asked and order.replacements.replaceable:
        # The resolver found it impossible before, and pip keeps it back.
        get_infos = functools.partial(_without_installed, get_infos)
    original(self, get_infos, installed, prefers_installed, *args, **kw)


def _is_local_build(distribution: Any) -> bool:
    """Say whether it was built from a folder or a repository, for which no label can stand."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json"))
    except unreadable(RecursionError):
        return False
    return isinstance(origin, dict) and ("dir_info" in origin or "vcs_info" in origin)


def _infos(
    index: IndexState,
    order: InstalledOrder,
    get_infos: Any,
    installed: Any,
    prefers_installed: bool,
) -> Iterator[Any]:
    """Yield pip's entries with the installed candidate among those of its own version.

    The order says where. It comes once more after them, should a better label turn out to be
    impossible for the resolver, unless it is not what the user requires.
    """
    version = order.version_of(installed)
    key = (installed.project_name, version)
    offered = False

    def build_kept() -> Any:
        if not offered:
            order.replacements.not_offered.add(key)
        search: Any = index.search
        unwanted = key in order.replacements.unwanted or not order.is_wanted(key, (), search)
        return None if unwanted else installed

    # pip takes one candidate for each key, hence a key of its own.
    kept = (f"{version} (installed)", build_kept)

    def among(entry: Any) -> Any:
        return entry[0], functools.partial(_build, entry[1], installed)

    if prefers_installed:
        for entry in get_infos():
            if entry[0] == version:
                offered = True
                yield among(entry)
        yield kept
        yield from (entry for entry in get_infos() if entry[0] != version)
        return
    passed = False
    for entry in get_infos():
        if not passed and entry[0] < version:
            passed = True
            yield kept
        offered = offered or entry[0] == version
        yield among(entry) if entry[0] == version else entry
    if not passed:
        yield kept


def _without_installed(get_infos: Any) -> Iterator[Any]:
    for version, build in get_infos():
        yield version, functools.partial(_build, build, None)


def _build(build: Any, installed: Any) -> Any:
    built = build()
    return installed if built is KEPT else built


def _get_dist_to_uninstall(
    order: InstalledOrder, original: Any, /, self: Any, candidate: Any
) -> Any:
    distribution = original(self, candidate)
    link = candidate.source_link
    if distribution is None or link is None or link.url not in order.replacements.replacing:
        return distribution
    # Asked only by the resolver, which looks at these two: of another version than the
    # candidate's it is reinstalled, with no need for --force-reinstall.
    return SimpleNamespace(version=None, editable=distribution.editable)


# Proofs: pip's own factory, with what is installed and other versions of it.


def _prove_found(orders: Orders, index: IndexState, order: InstalledOrder) -> bool:
    def keep_second(files: Sequence[File], search: Search) -> list[Any]:
        return [files[0].payload, keep]

    installed = samples.distribution(order.user)
    upgrade = dataclasses.replace(order.options, upgrade_variant=True)
    named = frozenset({samples.NAME})
    stand_ins = aside(order, options=upgrade), aside(orders, order=keep_second)
    with aside(order.replacements, named=named), stand_ins[0], stand_ins[1]:
        finder = samples.finder("proof-2.0-py3-none-any.whl", "proof-1.0-py3-none-any.whl")
        factory = samples.factory(finder, installed)
        found = samples.matches(factory, samples.requirement(), upgrade=False)
        # Only walked through: the sequence refuses to be measured, as `list` would do first.
        better, kept, newer = iter(found)
        return (better.filename[6:9], kept.is_installed, newer.filename[6:9]) == (
            "1.0",
            True,
            "2.0",
        )


def _prove_uninstall(order: InstalledOrder) -> bool:
    installed = samples.distribution(order.user)
    template = samples.requirement_at("proof-1.0-py3-none-any.whl")
    link, extras = template.link, frozenset[str]()
    factory = samples.factory(samples.finder(), installed)
    candidate = factory._make_candidate_from_link(link, extras, template, samples.NAME, None)
    if factory.get_dist_to_uninstall(candidate) is not installed:
        return False
    order.replacements.replacing[link.url] = Installed(samples.NAME, "1.0")
    return factory.get_dist_to_uninstall(candidate).version is None
