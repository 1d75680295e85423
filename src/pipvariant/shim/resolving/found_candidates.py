"""The resolver's lazy sequence: versions as always, and of each the best file.

The metadata of a version is read, and providers are asked, only when the resolver visits
that version. That is the only lazy point which all pips have in common.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, pip_error
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.index import Search

if TYPE_CHECKING:
    from pipvariant.selection.model import File
    from pipvariant.shim.core.state import CommandOptions, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.shim.resolving.installed_candidate import Replacements
    from pipvariant.shim.resolving.selector import Orders

FOUND = "pip._internal.resolution.resolvelib.found_candidates"
FINDER = "pip._internal.index.package_finder"


def patches(options: CommandOptions, index: IndexState, found: FoundVariants) -> list[Patch]:
    """Patch what the finder is asked, and the sequence that the resolver gets."""
    target = f"{FINDER}:PackageFinder.find_best_candidate"
    prove_search = functools.partial(_prove_search, options)
    patched = [patch(target, _find_best_candidate, prove_search, index)]
    # What a build requires is resolved by the new resolver, whatever the user says.
    if options.builds or not options.legacy_resolver:
        target = f"{FOUND}:FoundCandidates.__init__"
        patched.append(patch(target, _found_candidates, _prove_found, found))
    return patched


def _find_best_candidate(
    index: IndexState, original: Any, /, self: Any, project_name: str, *args: Any, **kwargs: Any
) -> Any:
    search = Search(self, kwargs.get("specifier"), kwargs.get("hashes"))
    index.search = index.searches[canonical_name(project_name)] = search
    return original(self, project_name, *args, **kwargs)


def _found_candidates(
    found: FoundVariants, original: Any, /, self: Any, get_infos: Any, *args: Any, **kwargs: Any
) -> None:
    original(self, functools.partial(found.infos, get_infos), *args, **kwargs)


@dataclass(eq=False)
class FoundVariants:
    """Turns what pip has found of a project into one entry for each version with variants.

    :param orders: puts the files of a version in order.
    """

    user: UserConstraints
    index: IndexState
    decisions: Decisions
    replacements: Replacements
    orders: Orders

    def infos(self, get_infos: Any) -> Iterator[Any]:
        """Yield one entry per version with variants, and pip's own entries for all others."""
        for stage in self.index.in_stages(get_infos):
            yield from self._infos(stage)

    def _infos(self, found: Iterable[Any]) -> Iterator[Any]:
        search: Any = None
        for version, entries in itertools.groupby(found, key=self._version_of):
            # The finder was asked just now, by the step to the first entry.
            search = search or self.index.search
            group = list(entries)
            if self.index.contradicted:
                group = [
                    entry
                    for entry in group
                    if not self.index.is_contradicted(entry[1].keywords["link"])
                ]
                if not group:
                    continue
            builds = [build for _, build in group]
            project = builds[0].keywords["name"]
            files = [
                self.index.file(
                    project, version, build.keywords["link"], hashes=search.hashes, payload=build
                )
                for build in builds
            ]
            if (
                (project, version) in self.replacements.replaceable
                or self.user.is_constrained(project)
                or any(file.label is not None for file in files)
                or (search.hashes and self.index.disallowed(search, project, version))
            ):
                yield from self._alternatives(files, search)
            else:
                yield from group

    def _version_of(self, entry: Any) -> Any:
        return self.index.version_of(entry[1].keywords["link"], entry[0])

    def _alternatives(self, files: Sequence[File], search: Search) -> Iterator[Any]:
        """Yield the best file of a version; and if the resolver comes back for more, the others.

        Others are offered only where labels were built for some versions of another project, or
        are to have something in common with its labels: if one does not go with the rest of the
        installation, the next one may.
        """
        project, version = files[0].project, files[0].version
        by_payload = {id(file.payload): file for file in files}
        left: list[Any] | None = None

        def build_next() -> Any:
            nonlocal left
            if left is None:
                left = self.orders.order(files, search)
            while left:
                payload = left.pop(0)
                built = payload()
                # None is pip's word for a file that it cannot use after all.
                if built is not None:
                    # What is installed is none of these files, and speaks for itself.
                    self.decisions.last_label.pop(project, None)
                    self.decisions.attempted.pop(project, None)
                    if id(payload) in by_payload:
                        label = by_payload[id(payload)].label or ""
                        self.decisions.last_label[project] = label
                        self.decisions.attempted[project] = label
                    return built
            return None

        yield _distinct(version), build_next
        while left and self._has_others(files[0]):
            yield _distinct(version), build_next

    def _has_others(self, file: File) -> bool:
        """Say whether it may be for the sake of another project that the best cannot stay."""
        decided = self.decisions.of_link(file.link)
        if decided is None:
            return False
        preferences = self.user.preferences
        if preferences is not None and preferences.family_of(file.project):
            return True
        from pipvariant.standard.metadata import ABI_DEPENDENCY

        return any(ABI_DEPENDENCY in judged.answers for judged in decided.decision.judged())


def _distinct(version: Any) -> Any:
    """Return an equal version that pip does not take for another file's of the same version.

    pip goes past every further file of a version that it has seen. Such a version is equal to
    pip's own versions, so an installed one counts as seen, but not to another of its kind.
    """
    kind: Any = type(version)
    return _distinct_class(kind)(str(version))


@functools.cache
def _distinct_class(base: Any) -> Any:
    class Distinct(base):  # pip's class, known when it runs
        __slots__ = ()
        __hash__ = base.__hash__
        is_distinct = True

        def __eq__(self, other: object) -> bool:
            if hasattr(other, "is_distinct"):
                return self is other
            return bool(super().__eq__(other))

    return Distinct


# Proofs: pip's own finder and factory, with two files of the same version and tags.


class Turned:
    """Turns the files round, and keeps what it was given."""

    links: Sequence[Any] = ()

    def order(self, files: Sequence[File], search: Search) -> list[Any]:
        """Return the payloads, the last one first."""
        self.links = [file.link for file in files]
        return [file.payload for file in reversed(files)]

    def is_last(self, link: Any) -> bool:
        """Say whether two files were given, and this is the link of the last one."""
        return len(self.links) == 2 and link is self.links[-1]


@contextlib.contextmanager
def turned(orders: Orders) -> Iterator[Turned]:
    """Let the files of a version be turned round for a while."""
    seen = Turned()
    with aside(orders, order=seen.order):
        yield seen


def _prove_found(found: FoundVariants) -> bool:
    with turned(found.orders) as seen:
        factory = samples.factory(samples.finder(*samples.WHEELS))
        # Only walked through: the sequence refuses to be measured, as `list` would do first.
        matches = list(iter(samples.matches(factory, samples.requirement())))
        return len(matches) == 1 and seen.is_last(matches[0])


def _prove_search(options: CommandOptions, index: IndexState) -> bool:
    digest = "0" * 64
    requirement = samples.requirement(f"{samples.NAME}==1.0", hash_options={"sha256": [digest]})
    finder = samples.finder()
    if options.legacy_resolver:
        with contextlib.suppress(pip_error("PipError")):
            finder.find_requirement(requirement, upgrade=False)
    else:
        list(iter(samples.matches(samples.factory(finder), requirement)))
    search = index.searches[samples.NAME]
    return (
        search.finder is finder
        and finder._link_collector.session is not None
        and str(search.specifier) == "==1.0"
        and bool(search.hashes.is_hash_allowed("sha256", digest))
        and index.search is search
    )
