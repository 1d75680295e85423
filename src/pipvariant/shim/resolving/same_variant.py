"""Packages that stay on equal values of one namespace (``--same-variant``), in the resolver.

What a chosen label has becomes a requirement on a project that exists for the resolver only, so
that pip's own backtracking finds labels that go together. So that it need not go back, and no
wheel is fetched in vain, the other packages' metadata is looked at before a label is chosen.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.printable import printable
from pipvariant.selection.same_variant import (
    Values,
    arrange,
    values_of,
    values_of_backend,
    values_of_installed,
)
from pipvariant.selection.torch_backends import backend_in
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import make_version, pip_error
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.index import Search
from pipvariant.shim.finding.installed import find_installed, installed_version, read_installed
from pipvariant.shim.resolving.again import Resolution, ResolveAgain
from pipvariant.shim.resolving.same_backend import arrange_by_folder
from pipvariant.standard.preferences import Family, Preferences

if TYPE_CHECKING:
    from pipvariant.selection.model import Decision, File
    from pipvariant.shim.core.state import CommandOptions, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.finding.torch_folders import TorchFolders
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.shim.resolving.selector import Selector

CANDIDATES = "pip._internal.resolution.resolvelib.candidates"
FACTORY = "pip._internal.resolution.resolvelib.factory"
REPORTER = "pip._vendor.resolvelib.reporters:BaseReporter.ending_round"
PROOF = samples.NAME


class _Member(NamedTuple):
    """One thing that all members of a family have in common: that they use it, or its values."""

    family: Family
    feature: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        parts = (self.family.namespace, self.feature, " or ".join(self.values) or "not used")
        return " :: ".join(filter(None, parts))


@dataclass(eq=False)
class SameVariant:
    """Knows which values a candidate has, and which the other packages offer."""

    options: CommandOptions
    user: UserConstraints
    index: IndexState
    decisions: Decisions
    selector: Selector
    resolution: Resolution
    #: Returns where torch and its family are looked for, if they are kept on one backend.
    folders: Callable[[], TorchFolders]
    #: Members that the resolver came to as dependencies.
    _found: set[str] = field(default_factory=set)
    #: Members whose labels have been put in order.
    _arranged: set[str] = field(default_factory=set)

    def arrange(
        self, files: Sequence[File], decision: Decision, search: Search
    ) -> tuple[list[File], str]:
        """Put the labels first that go with a label of every other member that takes part.

        :param files: of one version, compatible, best first.
        :returns: the files in the new order, and why there are none.
        :raises ResolveAgain: the first time that a member turns out to be a dependency, if
            others were chosen without it.
        """
        preferences, project = self.user.preferences, decision.project
        families = () if preferences is None else preferences.family_of(project)
        if not self._takes_part(project):
            self._found.add(project)
            if any(self._arranged & family.packages for family in families):
                self.decisions.begin_again()
                raise ResolveAgain
        if families:
            self._arranged.add(project)
        for family in families:
            if not family.namespace:
                folders, named = self.folders(), self.resolution.named
                there = {*named, *self._found, *folders.installed}
                others = sorted(family.packages & there - {project})
                files, reason = arrange_by_folder(files, others, folders, search.finder, named)
                if reason:
                    return [], f"{reason} ({family})"
        return arrange(
            files,
            decision,
            [family for family in families if family.namespace],
            functools.partial(self._offered, search),
            functools.partial(self._exists, search),
        )

    def gives_way(self, project: str) -> bool:
        """Say whether others may not come to have the backend of an installed package.

        It is looked up with the newest search; before there is one, it is so if there are others.
        """
        preferences = self.user.preferences
        families = () if preferences is None else preferences.family_of(project)
        families = tuple(family for family in families if not family.namespace)
        folders = self.folders()
        backend = folders.installed.get(project) if families else None
        if backend is None:
            return False
        others = [
            other
            for family in families
            for other in filter(self._takes_part, sorted(family.packages - {project}))
            if folders.installed.get(other, "") not in (None, backend)
        ]
        search = self.index.search
        if search is None:
            return bool(others)
        fixed = folders.installed.keys() - self.resolution.named - self._found
        return any(
            other in fixed or folders.newest_in(search.finder, other, backend) is None
            for other in others
        )

    def _exists(self, search: Search, other: str) -> bool:
        return self._takes_part(other) and bool(self.index.files(search.finder, other))

    def _takes_part(self, project: str) -> bool:
        """Say whether a package is installed, or is going to be as far as is known."""
        return (
            project in self.resolution.named
            or project in self._found
            or not (self.options.ignores_installed or installed_version(project) is None)
        )

    def _offered(self, search: Search, project: str, family: Family) -> Iterator[list[Values]]:
        """Yield what a package offers: what is installed, then each version, newest first.

        What takes no part offers nothing, and so has no say.
        """
        if not self._takes_part(project):
            return
        if not (self.options.ignores_installed or self.user.upgrades(self.options)):
            distribution = find_installed(project)
            if distribution is not None:
                yield [values_of_installed(read_installed(distribution), family)]
        found = self.index.files(search.finder, project)
        found.sort(key=lambda file: file.version, reverse=True)
        for _, group in itertools.groupby(found, key=lambda file: file.version):
            decision = self.selector.decide(list(group), search, constrained=False)
            yield [values_of(decision, file, family) for file in decision.files]

    def members(self, candidate: Any) -> Iterator[_Member]:
        """Yield what one of pip's candidates has in common with the others of its families."""
        preferences = self.user.preferences
        for family in preferences.family_of(candidate.project_name) if preferences else ():
            if candidate.is_installed and not family.namespace:
                values = values_of_backend(self.folders().installed.get(candidate.project_name))
            elif candidate.is_installed:
                values = values_of_installed(read_installed(candidate.dist), family)
            else:
                decided = self.decisions.of_link(candidate.source_link)
                values = None if decided is None else values_of(*decided, family)
                if decided is None and not family.namespace:
                    # It was given by URL.
                    values = values_of_backend(backend_in(str(candidate.version)))
            if values is not None:
                yield _Member(family, "", ("used",) if values else ())
                for feature, listed in values.items():
                    yield _Member(family, feature, listed)


def patches(same_variant: SameVariant) -> list[Patch]:
    """Patch what candidates depend on, and the words for what cannot be resolved."""
    return [
        *(
            patch(
                f"{CANDIDATES}:{name}.iter_dependencies",
                _iter_dependencies,
                functools.partial(_prove_dependencies, name),
                same_variant,
            )
            for name in ("_InstallRequirementBackedCandidate", "AlreadyInstalledCandidate")
        ),
        patch(f"{FACTORY}:Factory.get_installation_error", _get_installation_error, _prove_error),
        patch(REPORTER, _ending_round, _prove_round, same_variant.decisions),
    ]


def _iter_dependencies(
    same_variant: SameVariant, original: Any, /, self: Any, with_requires: bool
) -> Iterator[Any]:
    yield from original(self, with_requires)
    yield from map(_requirement, same_variant.members(self))


def _requirement(member: _Member) -> Any:
    """Return a requirement of pip on something that only members with equal values have."""
    module: Any = import_module("pip._internal.resolution.resolvelib.requirements")
    return module.ExplicitRequirement(_common_class()(member))


def _common_class() -> Any:
    base: Any = import_module("pip._internal.resolution.resolvelib.base").Candidate
    zero = make_version("0")

    class Common(base):
        """What the members of a family have in common, as a project for the resolver only."""

        is_installed = is_editable = False
        name = project_name = ""
        source_link = None
        version = zero

        def __init__(self, member: _Member) -> None:
            self.member = member
            # No project can have such a name.
            self.project_name = self.name = f"<{member.family} {member.feature}>"

        def __eq__(self, other: object) -> bool:
            return getattr(other, "member", None) == self.member

        def __hash__(self) -> int:
            return hash(self.member)

        def __str__(self) -> str:
            return str(self.member)

        format_for_error = __str__

        def iter_dependencies(self, with_requires: bool) -> Sequence[Any]:
            return ()

        def get_install_requirement(self) -> None:
            return None

    return Common


def _get_installation_error(original: Any, /, self: Any, e: Any, *args: Any, **kwargs: Any) -> Any:
    apart = [
        (cause.requirement.candidate.member, cause.parent)
        for cause in e.causes
        if hasattr(getattr(cause.requirement, "candidate", None), "member")
    ]
    if not apart:
        return original(self, e, *args, **kwargs)
    lines = {
        "\n    " + printable(f"{parent.name} {parent.version}: {member}")
        for member, parent in apart
    }
    return pip_error("DistributionNotFound")(
        f"{apart[0][0].family} cannot be kept, the packages have no variants "
        f"with equal values that fit:{''.join(sorted(lines))}"
    )


def _ending_round(
    decisions: Decisions, original: Any, /, self: Any, index: Any, state: Any
) -> None:
    decisions.attempted, decisions.pinned = {}, dict(state.mapping)
    original(self, index, state)


# Proofs: pip's own candidates and errors, of a member of a made-up family.


def _prove_dependencies(name: str, same_variant: SameVariant) -> bool:
    user = same_variant.user
    installed = samples.distribution(user, variant=True)
    finder = samples.finder("proof-1.0-py3-none-any.whl")
    factory = samples.factory(finder, installed)
    (found,) = finder.find_all_candidates(PROOF)
    template, extras = samples.requirement(), frozenset[str]()
    if name.startswith("Already"):
        candidate = factory._make_candidate_from_dist(installed, extras, template)
    else:
        factory._link_candidate_cache.clear()
        candidate = factory._make_candidate_from_link(
            found.link, extras, template, PROOF, found.version
        )
        same_variant.decisions.record(*_decided(found.link))
    family = Family(PROOF, frozenset({PROOF}))
    with aside(user, preferences=Preferences(families=(family,))):
        dependencies = candidate.iter_dependencies(False)
        return [str(each) for each in dependencies if each is not None] == [
            f"{PROOF} :: used",
            f"{PROOF} :: {PROOF} :: 1",
        ]


def _decided(link: Any) -> tuple[Decision, list[File]]:
    """Return a decision about a file with the label and the property of the proofs."""
    from pipvariant.selection.model import Decision, File, Judgement
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.ranking import Ranking

    metadata = Metadata((PROOF,), variants={PROOF: {PROOF: {PROOF: ("1",)}}})
    judgement = Judgement(metadata, Ranking((PROOF,), ()), {}, {})
    file = File(PROOF, "1.0", link.filename, PROOF, link=link)
    return Decision(PROOF, "1.0", {file.source: judgement}), [file]


def _prove_error() -> bool:
    resolvers: Any = import_module("pip._vendor.resolvelib.resolvers")
    member = _Member(Family(PROOF, frozenset({PROOF})), "", ())
    parent = SimpleNamespace(name=PROOF, version="1.0")
    cause = resolvers.RequirementInformation(_requirement(member), parent)
    impossible = resolvers.ResolutionImpossible([cause])
    error = samples.factory(samples.finder()).get_installation_error(impossible, {})
    return "--same-variant" in str(error)


def _prove_round(decisions: Decisions) -> bool:
    reporters: Any = import_module(REPORTER.partition(":")[0])
    resolution: Any = import_module("pip._vendor.resolvelib.resolvers").Resolution
    mapping = {PROOF: object()}
    reporters.BaseReporter().ending_round(index=0, state=SimpleNamespace(mapping=mapping))
    return decisions.pinned == mapping and "ending_round" in samples.names_used(resolution.resolve)
