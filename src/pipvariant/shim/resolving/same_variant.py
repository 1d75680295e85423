"""Families: packages that are kept on equal values of one namespace (``--same-variant``).

What a chosen label has becomes a requirement on a project that exists for the resolver only, so
that pip's own backtracking finds labels that go together. So that it need not go back, and no
wheel is fetched in vain, the other packages' metadata is looked at before a label is chosen.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from operator import itemgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip, this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.installed import read
from pipvariant.shim.finding.links import source_of

if TYPE_CHECKING:
    from pipvariant.shim.resolving.selector import Candidate, Judgement, Outcome
    from pipvariant.standard.preferences import Family

__all__ = ["arrange", "patches", "put"]

CANDIDATES = "pip._internal.resolution.resolvelib.candidates"
FACTORY = "pip._internal.resolution.resolvelib.factory"
PROOF = samples.NAME

#: The features of a label in one namespace; None of a build that no label speaks for.
Values = Optional[Mapping[str, tuple[str, ...]]]


class _Member(NamedTuple):
    """One thing that all members of a family have in common: that they use it, or its values."""

    family: Family
    feature: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        parts = (self.family.namespace, self.feature, " or ".join(self.values) or "not used")
        return " :: ".join(filter(None, parts))


def put(run: Run) -> None:
    """Put these patches on, once, if there is a family: a requirements file can name one late."""
    if run.preferences is not None and run.preferences.families and not run.has_families:
        run.has_families = True
        run.put(patches(this_pip(), run))


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch what candidates depend on, and the words for what cannot be resolved."""
    return [
        *(
            Patch(
                f"{CANDIDATES}:{name}.iter_dependencies",
                lambda original: _iter_dependencies(run, original),
                lambda name=name: _prove_dependencies(run, name),  # type: ignore[misc]  # bound
            )
            for name in ("_InstallRequirementBackedCandidate", "AlreadyInstalledCandidate")
        ),
        Patch(
            f"{FACTORY}:Factory.get_installation_error",
            _get_installation_error,
            lambda: _prove_error(run),
        ),
    ]


# Before a label is chosen.


def arrange(
    run: Run, finder: Any, ordered: Sequence[Candidate], outcome: Outcome
) -> tuple[list[Candidate], str]:
    """Put the labels first that go with a label of every other package of the family.

    :param ordered: the candidates of one version that fit, best first.
    :returns: them in the new order, and why there are none: which package has nothing that
        goes with any of them.
    """
    kept = list(ordered)
    for family in run.preferences.family_of(outcome.name) if run.preferences is not None else ():
        for other in sorted(family.packages - {outcome.name}):
            values = [_values(outcome, found.link, family) for found in kept]
            # To go together because neither uses the namespace is the last resort.
            for used in (True, False):
                theirs = _first_common(run, finder, other, family, values, used=used)
                if theirs is not None:
                    apart = [not _goes_with_any(each, theirs) for each in values]
                    kept = [found for _, found in sorted(zip(apart, kept), key=itemgetter(0))]
                    break
            else:
                if finder.find_all_candidates(other):
                    return [], f"no variant of {other} has equal values (--same-variant {family})"
    return kept, ""


def _first_common(
    run: Run, finder: Any, name: str, family: Family, values: Sequence[Values], *, used: bool
) -> list[Values] | None:
    """Return what the first version of a package offers that goes with one of these values.

    :param used: only values that are there count.
    """
    mine = [each for each in values if each or not used]
    for theirs in _offered(run, finder, name, family) if mine else ():
        if any(_goes_with_any(each, mine) for each in theirs if each or not used):
            return theirs
    return None


def _goes_with_any(values: Values, others: Sequence[Values]) -> bool:
    return any(_go_together(values, other) for other in others)


def _offered(run: Run, finder: Any, name: str, family: Family) -> Iterator[list[Values]]:
    """Yield what a package offers: what is installed, then each version from the newest on."""
    from pipvariant.shim.resolving.selector import Candidate, judged

    if not (run.ignores_installed or run.upgrade_variant):
        environment: Any = import_module("pip._internal.metadata").get_default_environment()
        distribution = environment.get_distribution(name)
        if distribution is not None:
            yield [_values_of_installed(distribution, family)]
    found = sorted(finder.find_all_candidates(name), key=lambda each: each.version, reverse=True)
    for version, group in itertools.groupby(found, key=lambda each: each.version):
        candidates = [Candidate(name, version, each.link, each) for each in group]
        outcome = judged(run, finder, candidates)
        fitting = [
            candidate
            for candidate in candidates
            if (label := label_of(candidate.link)) is None
            or label in _compatible(outcome.judgements.get(source_of(candidate.link)))
        ]
        yield [_values(outcome, candidate.link, family) for candidate in fitting]


def _compatible(judgement: Judgement | None) -> Sequence[str]:
    return () if judgement is None else judgement.ranking.compatible


def _values(outcome: Outcome | None, link: Any, family: Family) -> Values:
    """Return what a file has in the namespace; None where no label of its version uses it."""
    if outcome is None:
        return None
    namespace = family.namespace
    for judgement in outcome.judgements.values():
        if judgement is not None and any(
            namespace in judgement.metadata.variants.get(label, ()) for label in judgement.labels
        ):
            break
    else:
        return None
    of_file = outcome.judgements.get(source_of(link))
    variants = {} if of_file is None else of_file.metadata.variants
    return variants.get(label_of(link) or "", {}).get(namespace, {})


def _go_together(one: Values, other: Values) -> bool:
    if one is None or other is None:
        return True
    if not one or not other:
        return not one and not other
    return all(one[feature] == other[feature] for feature in one.keys() & other.keys())


# In the resolver.


def _iter_dependencies(run: Run, original: Any) -> Any:
    def iter_dependencies(self: Any, with_requires: bool) -> Iterator[Any]:
        yield from original(self, with_requires)
        families = run.preferences.family_of(self.project_name) if run.preferences else ()
        for family in families:
            values = _values_of(run, self, family)
            if values is not None:
                yield _requirement(_Member(family, "", ("used",) if values else ()))
                for feature, listed in values.items():
                    yield _requirement(_Member(family, feature, listed))

    return iter_dependencies


def _values_of(run: Run, candidate: Any, family: Family) -> Values:
    if not candidate.is_installed:
        link = candidate.source_link
        return _values(run.outcomes.get(link.url_without_fragment), link, family)
    return _values_of_installed(candidate.dist, family)


def _values_of_installed(distribution: Any, family: Family) -> Values:
    installed = read(distribution)
    # What has no label may have been built for anything.
    if installed.metadata is None or installed.label is None:
        return None
    return installed.metadata.variants[installed.label].get(family.namespace, {})


def _requirement(member: _Member) -> Any:
    """Return a requirement of pip on something that only members with equal values have."""
    module: Any = import_module("pip._internal.resolution.resolvelib.requirements")
    return module.ExplicitRequirement(_common_class()(member))


def _common_class() -> Any:
    base: Any = import_module("pip._internal.resolution.resolvelib.base").Candidate
    zero: Any = import_module("pip._vendor.packaging.version").Version("0")

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


def _get_installation_error(original: Any) -> Any:
    def get_installation_error(self: Any, e: Any, *args: Any, **kwargs: Any) -> Any:
        apart = [
            (cause.requirement.candidate.member, cause.parent)
            for cause in e.causes
            if hasattr(getattr(cause.requirement, "candidate", None), "member")
        ]
        if not apart:
            return original(self, e, *args, **kwargs)
        lines = {f"\n    {parent.name} {parent.version}: {member}" for member, parent in apart}
        error: Any = import_module("pip._internal.exceptions").DistributionNotFound
        return error(
            f"--same-variant {apart[0][0].family} cannot be kept, the packages have no variants "
            f"with equal values that fit:{''.join(sorted(lines))}"
        )

    return get_installation_error


# Proofs: pip's own candidates and errors, of a member of a made-up family.


def _prove_dependencies(run: Run, name: str) -> bool:
    from pipvariant.shim.resolving.selector import Outcome
    from pipvariant.standard.preferences import Family, Preferences

    judgement: Any = SimpleNamespace(
        labels=("",), metadata=SimpleNamespace(variants={"": {PROOF: {PROOF: ("1",)}}})
    )
    installed = samples.distribution(run, variant=True)
    preferences = Preferences(families=(Family(PROOF, frozenset({PROOF})),))
    with samples.apart(run):
        run.preferences = preferences
        finder = samples.finder("proof-1.0-py3-none-any.whl")
        factory = samples.factory(finder, installed)
        (found,) = finder.find_all_candidates(PROOF)
        run.outcomes[found.link.url_without_fragment] = Outcome(
            PROOF, "1.0", {source_of(found.link): judgement}
        )
        template, extras = samples.requirement(), frozenset[str]()
        if name.startswith("Already"):
            candidate = factory._make_candidate_from_dist(installed, extras, template)
        else:
            factory._link_candidate_cache.clear()
            candidate = factory._make_candidate_from_link(
                found.link, extras, template, PROOF, found.version
            )
        dependencies = candidate.iter_dependencies(False)
        return [str(each) for each in dependencies if each is not None] == [
            f"{PROOF} :: used",
            f"{PROOF} :: {PROOF} :: 1",
        ]


def _prove_error(run: Run) -> bool:
    from pipvariant.standard.preferences import Family

    resolvers: Any = import_module("pip._vendor.resolvelib.resolvers")
    member = _Member(Family(PROOF, frozenset({PROOF})), "", ())
    parent = SimpleNamespace(name=PROOF, version="1.0")
    cause = resolvers.RequirementInformation(_requirement(member), parent)
    impossible = resolvers.ResolutionImpossible([cause])
    with samples.apart(run):
        error = samples.factory(samples.finder()).get_installation_error(impossible, {})
    return "--same-variant" in str(error)
