"""Installed projects and the resolver: what is kept is named, what may give way is put in line."""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.installed import (
    KEPT,
    Installed,
    better,
    is_wanted,
    keep,
    may_have_better,
    read,
)
from pipvariant.standard.filename import label_phrase

__all__ = ["patches"]

logger = logging.getLogger(__name__)

RESOLVER = "pip._internal.resolution.resolvelib.resolver"
LEGACY_RESOLVER = "pip._internal.resolution.legacy.resolver"
FOUND = "pip._internal.resolution.resolvelib.found_candidates"
FACTORY = "pip._internal.resolution.resolvelib.factory"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the resolver of ``install`` to name what is kept, and, if asked, to replace it."""
    if run.command != "install":
        return []
    resolver = LEGACY_RESOLVER if run.legacy_resolver else RESOLVER
    found = [
        Patch(
            f"{resolver}:Resolver.resolve",
            lambda original: _resolve(run, original),
            lambda: _prove_resolve(run, resolver),
        )
    ]
    if not run.legacy_resolver:
        found += [
            Patch(
                f"{FOUND}:FoundCandidates.__init__",
                lambda original: _found_candidates(run, original),
                lambda: _prove_found(run),
            ),
            Patch(
                f"{FACTORY}:Factory.get_dist_to_uninstall",
                lambda original: _get_dist_to_uninstall(run, original),
                lambda: _prove_uninstall(run),
            ),
        ]
    return found


# What the user asked for, and what became of it.


def _resolve(run: Run, original: Any) -> Any:
    def resolve(self: Any, root_reqs: Any, *args: Any, **kwargs: Any) -> Any:
        canonical: Any = import_module("pip._vendor.packaging.utils").canonicalize_name
        # New pips may resolve what a build requires on the way, into an environment of its own.
        before = run.named, run.replaceable, run.replacing
        run.named = frozenset(
            canonical(req.name)
            for req in root_reqs
            if req.user_supplied and not req.constraint and req.name
        )
        run.replaceable, run.replacing = {}, {}
        try:
            result = original(self, root_reqs, *args, **kwargs)
            _tell(run, self, result)
            return result
        finally:
            run.named, run.replaceable, run.replacing = before

    return resolve


def _tell(run: Run, resolver: Any, result: Any) -> None:
    """Name the variants that the user asked for and has, and those that are replaced."""
    if run.legacy_resolver:
        kept = [req.satisfied_by for req in result.requirements.values()]
    else:
        kept = [
            getattr(found, "dist", None)
            for found in resolver._result.mapping.values()
            if found.is_installed
        ]
    for distribution in kept:
        if distribution is None or distribution.canonical_name not in run.named:
            continue
        installed = read(distribution)
        head = f"{installed.name} {installed.version}"
        if installed.is_variant:
            logger.info("%s: already installed as %s", head, installed)
        if not run.upgrade_variant and not run.legacy_resolver:
            _tell_better(run, head, distribution, installed)
    for req in result.requirements.values():
        link = req.original_link or req.link
        old = None if link is None else run.replacing.get(link.url)
        if old is not None:
            new = label_phrase(label_of(link), "the non-variant build")
            logger.info("%s %s: %s replaces %s", req.name, old.version, new, old)


def _tell_better(run: Run, head: str, distribution: Any, installed: Installed) -> None:
    """Say that another label would fit better now, without asking an index."""
    label = better(run, distribution, installed)
    if label:
        logger.info("%s: variant %s would fit better now; --upgrade-variant takes it", head, label)
    elif label is None and may_have_better(run, installed):
        logger.info("%s: a variant may fit better now; --upgrade-variant looks for one", head)


# Replacing: pip takes a better label for another version.


def _found_candidates(run: Run, original: Any) -> Any:
    def __init__(
        self: Any, get_infos: Any, installed: Any, prefers_installed: Any, *args: Any, **kw: Any
    ) -> None:
        asked = run.upgrade_variant or run.preferences is not None
        if asked and installed is not None and _is_replaceable(run, installed):
            get_infos = functools.partial(_infos, run, get_infos, installed, prefers_installed)
            installed = None
        elif asked and run.replaceable:
            # The resolver found it impossible before, and pip keeps it back.
            get_infos = functools.partial(_without_installed, get_infos)
        original(self, get_infos, installed, prefers_installed, *args, **kw)

    return __init__


def _is_replaceable(run: Run, candidate: Any) -> bool:
    """Say whether the user may want another label of this project, and remember what it is."""
    name = candidate.project_name
    named = run.upgrade_dependencies or name in run.named
    preferences = run.preferences
    wishes = preferences is not None and (
        name in preferences.labels
        or name in preferences.required
        or preferences.family_of(name)
        or (named and preferences.is_constrained(name))
    )
    if candidate.is_editable or not (wishes or (run.upgrade_variant and named)):
        return False
    # A candidate with extras is made of the one without.
    distribution = getattr(candidate, "base", candidate).dist
    if _is_local_build(distribution):
        return False
    key = (name, candidate.version)
    found = read(distribution)
    if not run.upgrade_variant and _is_as_wanted(run, name, found):
        return False
    run.replaceable.setdefault(key, found)
    return True


def _is_as_wanted(run: Run, name: str, installed: Installed) -> bool:
    """Say whether what is installed is all that the user can mean, so that no index is asked."""
    preferences = run.preferences
    if preferences is None or preferences.family_of(name):
        return False
    from pipvariant.shim.resolving.constraints import Demand
    from pipvariant.standard.preferences import ALL

    label = preferences.labels.get(name, preferences.labels.get(ALL))
    wanted = {*preferences.required.get(name, ()), *preferences.required.get(ALL, ())}
    return Demand(label, tuple(wanted), "").allows(installed.label, installed.metadata)


def _is_local_build(distribution: Any) -> bool:
    """Say whether it was built from a folder or a repository, for which no label can stand."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json"))
    except (OSError, ValueError):
        return False
    return isinstance(origin, dict) and ("dir_info" in origin or "vcs_info" in origin)


def _infos(run: Run, get_infos: Any, installed: Any, prefers_installed: bool) -> Iterator[Any]:
    """Yield pip's entries with the installed candidate among those of its own version.

    ``run.order`` says where. It comes once more after them, should a better label turn out to
    be impossible for the resolver, unless it is not what the user wants.
    """
    version = installed.version
    key = (installed.project_name, version)

    def build_kept() -> Any:
        unwanted = key in run.unwanted or not is_wanted(run, run.finder, key, ())
        return None if unwanted else installed

    # pip takes one candidate for each key, hence a key of its own.
    kept = (f"{version} (installed)", build_kept)

    def among(entry: Any) -> Any:
        return entry[0], functools.partial(_build, entry[1], installed)

    if prefers_installed:
        yield from (among(entry) for entry in get_infos() if entry[0] == version)
        yield kept
        yield from (entry for entry in get_infos() if entry[0] != version)
        return
    passed = False
    for entry in get_infos():
        if not passed and entry[0] < version:
            passed = True
            yield kept
        yield among(entry) if entry[0] == version else entry
    if not passed:
        yield kept


def _without_installed(get_infos: Any) -> Iterator[Any]:
    for version, build in get_infos():
        yield version, functools.partial(_build, build, None)


def _build(build: Any, installed: Any) -> Any:
    built = build()
    return installed if built is KEPT else built


def _get_dist_to_uninstall(run: Run, original: Any) -> Any:
    def get_dist_to_uninstall(self: Any, candidate: Any) -> Any:
        distribution = original(self, candidate)
        link = candidate.source_link
        if distribution is None or link is None or link.url not in run.replacing:
            return distribution
        # Asked only by the resolver, which looks at these two: of another version than the
        # candidate's it is reinstalled, with no need for --force-reinstall.
        return SimpleNamespace(version=None, editable=distribution.editable)

    return get_dist_to_uninstall


# Proofs: pip's own resolver and factory, with what is installed and other versions of it.


class _Seen(Exception):
    """What is kept was asked for its label."""


def _prove_resolve(run: Run, module: str) -> bool:
    def read_text(path: str) -> str:
        if path == "variant.json":
            raise _Seen
        raise FileNotFoundError(path)

    kept = samples.distribution(run)
    kept.read_text = read_text
    requirement = samples.requirement()
    # The legacy resolver has the requirement look for itself.
    requirement.check_if_exists = lambda *args: setattr(requirement, "satisfied_by", kept)
    with samples.apart(run, named=frozenset(), upgrade_variant=False):
        try:
            resolver = samples.resolver(module, samples.finder(), kept)
            resolver.resolve([requirement], check_supported_wheels=False)
        except _Seen:
            return True
    return False


def _prove_found(run: Run) -> bool:
    def order(finder: Any, candidates: Any, hashes: Any) -> list[Any]:
        return [candidates[0].payload, keep]

    installed = samples.distribution(run)
    names = frozenset({samples.NAME})
    with samples.apart(run, named=names, upgrade_variant=True, order=order):
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


def _prove_uninstall(run: Run) -> bool:
    installed = samples.distribution(run)
    template = samples.requirement_at("proof-1.0-py3-none-any.whl")
    link, extras = template.link, frozenset[str]()
    with samples.apart(run):
        factory = samples.factory(samples.finder(), installed)
        candidate = factory._make_candidate_from_link(link, extras, template, samples.NAME, None)
        if factory.get_dist_to_uninstall(candidate) is not installed:
            return False
        run.replacing[link.url] = Installed(samples.NAME, "1.0")
        return factory.get_dist_to_uninstall(candidate).version is None
