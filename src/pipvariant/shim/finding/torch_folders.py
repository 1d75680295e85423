"""Where torch and its family are looked for: in a folder of an index for each backend.

They are in these folders and in ``--find-links`` only, and nothing else is in these folders. A
folder is asked for a project at most once, and not before it may have what is looked for.
"""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.selection.torch_backends import (
    AUTO,
    BACKENDS,
    PROJECTS,
    WITH_BACKEND,
    backend_in,
    metadata_of,
    shown_labels,
)
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.index import Search
from pipvariant.shim.finding.installed import find_all_installed

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import File, Judgement
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.standard.metadata import Metadata

SCOPE = "pip._internal.models.search_scope"
FINDER = "pip._internal.index.package_finder"


class _Asking:
    """What the folders are asked for at present.

    :param folder: that is being asked.
    :param search: that a project is looked for with.
    :param most: so many sets of folders that have something are asked, None for all.
    :param left: whether there were more to ask.
    """

    folder: str | None = None
    search: Search | None = None
    most: int | None = None
    left = False


@dataclass(eq=False)
class TorchFolders(State):
    """Asks the folders of the backends that fit.

    :param judge: says which backends fit, in which order.
    :param last_label: canonical project name -> label that the resolver was given last.
    """

    options: CommandOptions
    user: UserConstraints
    index: IndexState
    judge: Judge
    messages: Messages
    last_label: Mapping[str, str]
    asking: _Asking = field(default_factory=_Asking)
    #: (identity of a finder, project, folder) -> that finder, and pip's candidates.
    _found: dict[tuple[int, str, str], tuple[Any, list[Any]]] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The URL of the index that the folders are in."""
        return f"{self.user.torch_index.rstrip('/')}/"

    def has(self, project: str) -> bool:
        """Say whether a project is looked for in the folders."""
        return bool(self.user.torch_backend) and project in PROJECTS and not self.user.no_variant

    def metadata(self, files: Mapping[str, File]) -> Metadata:
        """Return what the labels of folders mean.

        :param files: label -> one file with it, all of one project and version.
        """
        if self.user.torch_backend != AUTO:
            return metadata_of(files, stated=self.user.torch_backend)
        project = next(iter(files.values())).project
        preferences = self.user.preferences
        named = None if preferences is None else preferences.label(project, BACKENDS)
        rejected = (each.label for each in self.judgement.ranking.rejected)
        return metadata_of(shown_labels(files, rejected, named))

    def fitting(self, project: str) -> Sequence[str]:
        """Return the folders that may have files of a project, best first."""
        stated = self.user.torch_backend
        folders = self.judgement.ranking.compatible if stated == AUTO else (stated,)
        if project in WITH_BACKEND:
            return folders
        return tuple(dict.fromkeys((*folders, *BACKENDS)))

    @functools.cached_property
    def judgement(self) -> Judgement:
        """Which of all backends fit the target, in which order."""
        return self.judge.judge(metadata_of(BACKENDS), BACKENDS, of="torch")

    @functools.cached_property
    def installed(self) -> Mapping[str, str | None]:
        """The projects with a backend that are installed, each with what its version says."""
        if self.options.ignores_installed:
            return {}
        return {
            each.canonical_name: backend_in(str(each.version))
            for each in find_all_installed()
            if each.canonical_name in WITH_BACKEND
        }

    def of_links(self, project: str, candidates: Iterable[Any]) -> Iterator[Any]:
        """Yield those of ``--find-links`` that may be taken: their version says the backend."""
        stated = self.user.torch_backend
        for each in candidates:
            backend = backend_in(str(each.version)) if project in WITH_BACKEND else None
            if backend is not None:
                self.index.of_folder[id(each.link)] = (each.link, self.base, backend)
            if backend is None or stated in (AUTO, backend):
                yield each

    def exists(self, finder: Any, project: str) -> bool:
        """Say whether there is any file of a project."""
        return any(self.in_folder(finder, project, folder) for folder in self.fitting(project))

    def newest_in(self, finder: Any, project: str, folder: str) -> Any:
        """Return the newest version of a project that a folder has for the target, None for none.

        Local versions count as what they are a build of, and pre-releases only without others.
        """
        found = self.in_folder(finder, project, folder) if folder in self.fitting(project) else ()
        versions = [self.index.version_of(each.link, each.version) for each in found]
        return max(versions, key=lambda each: (not each.is_prerelease, each), default=None)

    def in_folder(self, finder: Any, project: str, folder: str) -> list[Any]:
        """Return pip's candidates of a project in a folder, which is asked once."""
        key = (id(finder), project, folder)
        if key not in self._found:
            read = functools.partial(
                finder.process_project_url, link_evaluator=finder.make_link_evaluator(project)
            )
            with aside(self.asking, folder=folder):
                sources = finder._link_collector.collect_sources(project, read).index_urls
            found = [each for source in sources if source for each in source.page_candidates()]
            if project in WITH_BACKEND:
                for each in found:
                    self.index.of_folder[id(each.link)] = (each.link, self.base, folder)
            self._found[key] = finder, found
        return self._found[key][1]

    def urls(self, project: str) -> list[str]:
        """Return the URL of the page that is being asked for, in place of those of indexes."""
        folder = self.asking.folder
        return [] if folder is None else [f"{self.base}{folder}/{project}/"]

    def candidates(self, finder: Any, project: str) -> Iterator[Any]:
        """Yield pip's candidates of a project, of as many folders as are needed.

        Who does not look for something, but at what there is, has those that were asked before.
        """
        search, left = self.asking.search, self.asking.most
        if search is None:
            asked = [key[2] for key in self._found if key[:2] == (id(finder), project)]
            for folder in asked or self.fitting(project):
                yield from self.in_folder(finder, project, folder)
            return
        for folders in self._sets(project, search.specifier):
            if left == 0:
                self.asking.left = True
                return
            found = [each for one in folders for each in self.in_folder(finder, project, one)]
            yield from found
            if left and search.evaluator(project).get_applicable_candidates(found):
                left -= 1

    def _sets(self, project: str, specifier: Any) -> list[Sequence[str]]:
        """Return sets of folders: of each the whole has to be known before anything is taken."""
        folders = self.fitting(project)
        pins = [each for each in specifier or () if _is_pin(each)]
        decided = next(filter(None, (backend_in(pin.version) for pin in pins)), None)
        if decided is None:
            decided = self._decided(project)
        elif decided not in folders:
            self._tell_unfit(project, decided)
        if decided is not None and decided in folders:
            folders = (decided, *(folder for folder in folders if folder != decided))
        if pins:
            return [(folder,) for folder in folders]
        return [folders[:1], folders[1:]] if decided in folders else [folders]

    def _tell_unfit(self, project: str, backend: str) -> None:
        """Say why nothing of a backend is taken that a version names."""
        from pipvariant.selection.reasons import incompatibility

        stated = self.user.torch_backend
        reasons = [f"{stated} was asked for"] if stated != AUTO else []
        reasons += [
            incompatibility(each, self.judgement)
            for each in ([] if reasons else self.judgement.ranking.rejected)
            if each.label == backend
        ]
        reason = reasons[0] if reasons else f"{backend} is not known"
        self.messages.tell(
            logging.WARNING,
            f"{project}: no build for {backend} is looked for, as {reason}; "
            f"`--torch-backend {backend}` takes one all the same",
        )

    def _decided(self, project: str) -> str | None:
        """Return the backend of the others of the family, as far as they are known."""
        # With --upgrade-variant the others may be replaced too.
        installed = {} if self.user.upgrades(self.options) else self.installed
        for name, label in reversed([*installed.items(), *self.last_label.items()]):
            if name in WITH_BACKEND and name != project and label:
                return label
        return None

    def in_stages(self, get_infos: Callable[[], Iterator[Any]]) -> Iterator[list[Any]]:
        """Yield pip's entries for files, folder by folder where one may be enough."""
        seen: set[int] = set()
        most = 0
        left = True
        while left:
            most += 1
            with aside(self.asking, most=most, left=False):
                entries = list(get_infos())
                left = self.asking.left
            new = [each for each in entries if id(each[1].keywords["link"]) not in seen]
            seen.update(id(each[1].keywords["link"]) for each in new)
            yield new


def _is_pin(specifier: Any) -> bool:
    return specifier.operator in ("==", "===") and not specifier.version.endswith(".*")


def patches(folders: TorchFolders) -> list[Patch]:
    """Patch which pages pip looks at for a project, and what it finds there."""
    finder = f"{FINDER}:PackageFinder"
    return [
        patch(f"{SCOPE}:SearchScope.get_index_urls_locations", _locations, _prove_all, folders),
        patch(f"{finder}.find_all_candidates", _find_all_candidates, _prove_all, folders),
        patch(f"{finder}.find_best_candidate", _find_best_candidate, _prove_best, folders),
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
    # Without an index there are none of the folders either.
    return [*found, *folders.candidates(self, project)] if self.index_urls else found


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


def _is_locked(finder: Any, project: str) -> bool:
    return project in getattr(finder, "_locked_links", ())


# Proofs: pip's own finder, which has an index, and a page that has a file.

INDEX, PROOF, WHEEL = "https://proof.invalid/", "torch", "torch-1.0-py3-none-any.whl"


@contextlib.contextmanager
def _finder(folders: TorchFolders) -> Iterator[tuple[Any, list[str]]]:
    """Yield a finder, and the URLs of the pages that it has asked for."""
    content: Any = import_module("pip._internal.index.collector").IndexContent
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
