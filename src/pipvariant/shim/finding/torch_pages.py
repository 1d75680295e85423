"""What pip is made to see of the folders that torch and its family are in."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.index import Search

if TYPE_CHECKING:
    from pipvariant.shim.finding.torch_folders import TorchFolders

SCOPE = "pip._internal.models.search_scope"
COLLECTOR = "pip._internal.index.collector"
FINDER = "pip._internal.index.package_finder"


def patches(folders: TorchFolders) -> list[Patch]:
    """Patch which pages pip looks at for a project, and what it finds there."""
    finder = f"{FINDER}:PackageFinder"
    return [
        patch(f"{SCOPE}:SearchScope.get_index_urls_locations", _locations, _prove_all, folders),
        patch(f"{finder}.find_all_candidates", _find_all_candidates, _prove_all, folders),
        patch(f"{finder}.find_best_candidate", _find_best_candidate, _prove_best, folders),
        patch(f"{COLLECTOR}:_handle_get_simple_fail", _handle_failure, _prove_failure, folders),
    ]


def _locations(folders: TorchFolders, original: Any, /, self: Any, project_name: str) -> Any:
    project = canonical_name(project_name)
    return folders.urls(project) if folders.has(project) else original(self, project_name)


def _find_all_candidates(
    folders: TorchFolders, original: Any, /, self: Any, project_name: str
) -> Any:
    found, project = original(self, project_name), canonical_name(project_name)
    if not folders.has(project) or _is_locked(self, project):
        return found
    found = [*folders.of_links(project, found)]
    return [*found, *folders.candidates(self, project, is_elsewhere=bool(found))]


def _find_best_candidate(
    folders: TorchFolders, original: Any, /, self: Any, project_name: str, *args: Any, **kwargs: Any
) -> Any:
    project = canonical_name(project_name)
    if not folders.has(project) or _is_locked(self, project):
        return original(self, project_name, *args, **kwargs)
    search = Search(self, kwargs.get("specifier"), kwargs.get("hashes"))
    folders.index.search = folders.index.searches[project] = search
    # pip remembers what it has found, and there may be more the next time.
    with aside(folders.asking, search=search):
        found = self.find_all_candidates(project_name)
    return search.evaluator(project_name).compute_best_candidate(found)


def _handle_failure(
    folders: TorchFolders, original: Any, /, link: Any, reason: Any, *args: Any, **kwargs: Any
) -> None:
    # What a server answers is an error object.
    if folders.asking.folder is not None and isinstance(reason, str):
        folders.tell_failure(reason)
    original(link, reason, *args, **kwargs)


def _is_locked(finder: Any, project: str) -> bool:
    return project in getattr(finder, "_locked_links", ())


# Proofs: pip's own finder, which has an index, and a page that has a file.

INDEX, PROOF, WHEEL = "https://proof.invalid/", "torch", "torch-1.0-py3-none-any.whl"


@contextlib.contextmanager
def _finder(folders: TorchFolders) -> Iterator[tuple[Any, list[str]]]:
    """Yield a finder, and the URLs of the pages that it has asked for."""
    content: Any = import_module(COLLECTOR).IndexContent
    finder, seen = samples.finder(), []
    finder.index_urls.append(INDEX)

    def fetch(location: Any, *args: Any, **kwargs: Any) -> Any:
        seen.append(location.url)
        page = f'<!DOCTYPE html><a href="{WHEEL}">{WHEEL}</a>'.encode()
        return content(page, "text/html", None, location.url, cache_link_parsing=False)

    collector = finder._link_collector
    read, user = aside(collector, fetch_response=fetch), folders.user
    secure = aside(collector.session, is_secure_origin=lambda location: True)
    with read, secure, aside(user, torch_backend="cpu", torch_index=INDEX, no_variant=False):
        yield finder, seen


def _prove_all(folders: TorchFolders) -> bool:
    with _finder(folders) as (finder, seen):
        found = [each.link.filename for each in finder.find_all_candidates(PROOF)]
        return found == [WHEEL] and seen == [f"{INDEX}cpu/{PROOF}/"]


def _prove_best(folders: TorchFolders) -> bool:
    with _finder(folders) as (finder, _):
        with aside(folders.asking, most=0):
            none = finder.find_best_candidate(PROOF).best_candidate
        found = finder.find_best_candidate(PROOF).best_candidate
        search = folders.index.searches[PROOF]
        return none is None and found.link.filename == WHEEL and search.finder is finder


def _prove_failure(folders: TorchFolders) -> bool:
    collector: Any = import_module(COLLECTOR)
    with aside(folders.asking, folder="cpu", failure=""), aside(folders.user, torch_index=INDEX):
        collector._handle_get_simple_fail(INDEX, PROOF)
        is_used = "_handle_get_simple_fail" in samples.names_used(collector._get_index_content)
        return is_used and folders.asking.failure == PROOF
