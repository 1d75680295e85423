"""Built wheels: which of them pip's cache of wheels keeps for whom.

What a build sees of variants is in what it makes, and pip's key for a cached wheel says nothing of
that. So a wheel that was built against variant wheels is kept under a key with their labels, where
plain pip never looks. Which labels a build sees is known when its requirements are installed. The
cache is asked then, unless a note beside a wheel says that variants play no part in its build.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from dataclasses import dataclass, field
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pipvariant.log import logger
from pipvariant.shim.building.build_requirements import of_target
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, environment_of
from pipvariant.shim.core.pip_versions import build_folders
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.installed import find_all_installed, read_installed, read_recorded

if TYPE_CHECKING:
    from pipvariant.shim.core.state import CommandOptions, UserConstraints
    from pipvariant.shim.resolving.decisions import Decisions

BUILDER = "pip._internal.wheel_builder"
CACHE = "pip._internal.cache"
#: The file beside wheels whose builds see no variants: what they require, as a list of names.
NOTE = "pip-variant.json"


@dataclass(eq=False)
class BuiltWheels(State):
    """Says where a built wheel is kept, and which one serves instead of a build."""

    options: CommandOptions
    user: UserConstraints
    decisions: Decisions
    #: Folders that pip has looked into. Of a file that is named by its path alone it does not.
    searched: set[str] = field(default_factory=set)
    #: Folder of the cache -> the wheel in it that serves.
    cached: dict[str, str] = field(default_factory=dict)
    #: Where pip's cache looks, if not where it would.
    folder: str | None = None

    def is_taken(self, folder: str) -> bool:
        """Say whether the wheels of a folder serve, before it is known what a build would see."""
        if self.user.no_variant:
            return True
        try:
            with open(os.path.join(folder, NOTE), encoding="utf-8") as stream:
                required = set(json.load(stream))
        except (OSError, ValueError, TypeError):
            return False
        return required.isdisjoint(of_target(self.options, self.decisions))

    def keep(self, req: Any, wheel_cache: Any, folder: str) -> str:
        """Return the folder for what is going to be built, and keep which wheel there serves.

        :param req: pip's requirement, with all that its build requires installed.
        :param folder: that of plain pip.
        """
        if self.user.no_variant:
            return folder
        found = find_all_installed(environment_of(build_folders(req.build_env)))
        installed = list(map(read_installed, found))
        labels = sorted(
            f"{each.name}=={each.version} {each.label}" for each in installed if each.is_variant
        )
        note = os.path.join(folder, NOTE)
        with contextlib.suppress(OSError):
            if labels or any(read_recorded(each) is not None for each in found):
                # There are labels now, if there were none before.
                os.remove(note)
            else:
                os.makedirs(folder, exist_ok=True)
                with open(note, "w", encoding="utf-8") as stream:
                    json.dump(sorted(canonical_name(each.name) for each in installed), stream)
        is_searched = folder in self.searched
        if labels:
            folder += f"-{hashlib.sha256(repr(labels).encode()).hexdigest()[:16]}"
        if is_searched:
            tags = import_module("pip._internal.utils.compatibility_tags").get_supported()
            with aside(self, folder=folder):
                link = wheel_cache.get(req.link, req.name, tags)
            if link is not req.link:
                self.cached[folder] = link.file_path
        return folder


def patches(built: BuiltWheels) -> list[Patch]:
    """Patch pip's cache of built wheels, and the places where a build looks for its own."""
    return [
        patch(f"{CACHE}:Cache._get_candidates", _get_candidates, _prove_candidates, built),
        patch(f"{BUILDER}:_get_cache_dir", _get_cache_dir, _prove_folder, built),
        patch(f"{BUILDER}:_build_one_inside_env", _build_one, _prove_build, built),
    ]


def _get_candidates(
    built: BuiltWheels, original: Any, /, self: Any, link: Any, *args: Any, **kwargs: Any
) -> Any:
    if built.folder is not None:
        folder = built.folder
        with aside(self, get_path_for_link=lambda link: folder):
            return original(self, link, *args, **kwargs)
    found = original(self, link, *args, **kwargs)
    if self.cache_dir:
        built.searched.add(self.get_path_for_link(link))
    if isinstance(self, import_module(CACHE).EphemWheelCache):
        # What is in there was built in this very run.
        return found
    return [(name, folder) for name, folder in found if built.is_taken(folder)]


def _get_cache_dir(built: BuiltWheels, original: Any, /, req: Any, wheel_cache: Any) -> str:
    folder = str(original(req, wheel_cache))
    if wheel_cache.cache_dir and folder == wheel_cache.get_path_for_link(req.link):
        return built.keep(req, wheel_cache, folder)
    return folder


def _build_one(
    built: BuiltWheels, original: Any, /, req: Any, output_dir: str, *args: Any, **kwargs: Any
) -> Any:
    cached = built.cached.pop(output_dir, None)
    if cached is None:
        return original(req, output_dir, *args, **kwargs)
    logger.info("Using the cached wheel of %s: a build would see the same variants", req.name)
    return cached


# Proofs: pip's own functions, with a cache that is nowhere.


def _prove_candidates(built: BuiltWheels) -> bool:
    folder = os.path.dirname(__file__)
    seen: list[str] = []
    link = samples.requirement_at("proof-1.0.tar.gz").link
    with aside(built, is_taken=seen.append):
        samples.wheel_cache(folder).get(link, samples.NAME, [])
    return folder in seen


def _prove_folder(built: BuiltWheels) -> bool:
    builder: Any = import_module(BUILDER)
    requirement = samples.requirement_at("proof-1.0.tar.gz")
    cache = SimpleNamespace(cache_dir="proof", get_path_for_link=str, get_ephem_path_for_link=str)
    with aside(built, keep=lambda *args: samples.NAME):
        kept = builder._get_cache_dir(requirement, cache)
    # Whoever calls it would have something built next.
    return bool(kept == samples.NAME) and "_get_cache_dir" in samples.names_used(builder.build)


def _prove_build(built: BuiltWheels) -> bool:
    builder: Any = import_module(BUILDER)
    built.cached[samples.NAME] = "proof.whl"
    found = builder._build_one_inside_env(samples.requirement(), samples.NAME)
    used = samples.names_used(builder._build_one)
    return bool(found == "proof.whl") and "_build_one_inside_env" in used
