"""Where torch and its family are looked for: in a folder of an index for each backend.

They are in these folders and in ``--find-links`` only, and nothing else is in these folders. A
folder is asked for a project at most once, and not before it may have what is looked for.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.printable import some
from pipvariant.selection.torch_backends import (
    AUTO,
    BACKENDS,
    PROJECTS,
    WITH_BACKEND,
    backend_in,
    metadata_of,
    shown_labels,
)
from pipvariant.shim.core.pip_objects import redact
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.torch_installed import installed_backends

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.selection.model import File, Judgement
    from pipvariant.shim.core.state import CommandOptions, Messages, UserConstraints
    from pipvariant.shim.finding.index import IndexState, Search
    from pipvariant.standard.metadata import Metadata


class _Asking:
    """What the folders are asked for at present.

    :param folder: that is being asked.
    :param search: that a project is looked for with.
    :param most: so many sets of folders that have something are asked, None for all.
    :param left: whether there were more to ask.
    :param failure: why the index cannot be reached, empty if it can.
    """

    folder: str | None = None
    search: Search | None = None
    most: int | None = None
    left = False
    failure = ""


@dataclass(eq=False)
class TorchFolders(State):
    """Asks the folders of the backends that fit.

    :param judge: says which backends fit, in which order.
    :param settled_labels: returns the labels that the resolver is at, by canonical project name,
        the newest last.
    """

    options: CommandOptions
    user: UserConstraints
    index: IndexState
    judge: Judge
    messages: Messages
    settled_labels: Callable[[], Mapping[str, str]]
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
        """The projects with a backend that are installed, each with its backend if it is known."""
        counts = self.options.command == "install" and not self.options.ignores_installed
        return installed_backends() if counts else {}

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

        It comes with whether it is one that is looked for, as far as that is known. Local versions
        count as what they are a build of, and pre-releases only without others.
        """
        found = self.in_folder(finder, project, folder) if folder in self.fitting(project) else []
        search = self.index.searches.get(project)
        sought = (
            [] if search is None else search.evaluator(project).get_applicable_candidates(found)
        )
        versions = [self.index.version_of(each.link, each.version) for each in sought or found]
        newest = max(versions, key=lambda each: (not each.is_prerelease, each), default=None)
        return None if newest is None else (bool(sought), newest)

    def in_folder(self, finder: Any, project: str, folder: str) -> list[Any]:
        """Return pip's candidates of a project in a folder, which is asked once.

        Without an index (``--no-index``) there is none of the folders either.
        """
        key = (id(finder), project, folder)
        if key not in self._found:
            # The other folders are on the same server, and pip would try each for long.
            if self.asking.failure or not finder.index_urls:
                return []
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
        url = f"{self.base}{self.asking.folder}/{project}/"
        is_there = self.asking.folder is not None and not _is_missing(url)
        return [url] if is_there else []

    def candidates(self, finder: Any, project: str, *, is_elsewhere: bool) -> Iterator[Any]:
        """Yield pip's candidates of a project, of as many folders as are needed.

        Who does not look for something, but at what there is, has those that were asked before.

        :param is_elsewhere: there are some of ``--find-links``.
        """
        search, left = self.asking.search, self.asking.most
        if search is None:
            yield from self._known(finder, project)
            return
        has_any = is_elsewhere
        for folders in self._sets(project, search.specifier):
            if left == 0:
                self.asking.left = True
                return
            found = [each for one in folders for each in self.in_folder(finder, project, one)]
            yield from found
            has_any = has_any or bool(found)
            if left and search.evaluator(project).get_applicable_candidates(found):
                left -= 1
        if not has_any and not self.asking.failure and finder.index_urls:
            named = some(self.fitting(project))
            text = f"{project} is in none of the folders that fit ({named}) of {redact(self.base)}"
            self.messages.tell(logging.WARNING, text)

    def _known(self, finder: Any, project: str) -> Iterator[Any]:
        asked = [
            folder for key, name, folder in self._found if (key, name) == (id(finder), project)
        ]
        for folder in asked or self.fitting(project):
            found = self.in_folder(finder, project, folder)
            yield from found
            if found and not asked and project not in WITH_BACKEND:
                return

    def _sets(self, project: str, specifier: Any) -> list[Sequence[str]]:
        """Return sets of folders: of each the whole has to be known before anything is taken."""
        folders = self.fitting(project)
        fits = len(folders) if project in WITH_BACKEND else len(self.fitting("torch"))
        pins = [each for each in specifier or () if _is_pin(each)]
        named = next(filter(None, (backend_in(pin.version) for pin in pins)), None)
        if named is not None and named not in folders:
            self._tell_unfit(project, named)
        first = named or (self._decided(project) if len(folders) > 1 else None)
        if first is not None and first in folders:
            folders = (first, *(folder for folder in folders if folder != first))
            fits = 1
        if pins:
            fits = 0
        elif project in WITH_BACKEND:
            return list(filter(None, (folders[:fits], folders[fits:])))
        one_by_one = ((folder,) for folder in folders[fits:])
        return list(filter(None, (folders[:fits], *one_by_one)))

    def tell_failure(self, reason: str) -> None:
        """Say that the index cannot be reached, and ask none of its folders any more."""
        self.asking.failure = reason
        text = f"{redact(self.base)} cannot be reached, so none of its folders is asked: {reason}"
        self.messages.tell(logging.WARNING, text)

    def _tell_unfit(self, project: str, backend: str) -> None:
        """Say why nothing of a backend is taken that a version names."""
        from pipvariant.selection.reasons import incompatibility

        stated = self.user.torch_backend
        reason = f"{stated} was asked for"
        if stated == AUTO:
            rejected = {each.label: each for each in self.judgement.ranking.rejected}
            reason = "it is not known"
            if backend in rejected:
                reason = incompatibility(rejected[backend], self.judgement)
        self.messages.tell(
            logging.WARNING,
            f"{project}: no build for {backend} is looked for, as {reason}; "
            f"`--torch-backend {backend}` takes one all the same",
        )

    def _decided(self, project: str) -> str | None:
        """Return the backend of the others of the family, as far as they are known."""
        # With --upgrade-variant the others may be replaced too.
        installed = {} if self.user.upgrades(self.options) else self.installed
        for name, label in reversed([*installed.items(), *self.settled_labels().items()]):
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


def _is_missing(url: str) -> bool:
    """Say whether it is a folder of this machine that is not there, of which pip would warn."""
    if url.startswith("file:"):
        url = import_module("pip._internal.utils.urls").url_to_path(url)
    return "://" not in url and not os.path.isdir(url)


def _is_pin(specifier: Any) -> bool:
    return specifier.operator in ("==", "===") and not specifier.version.endswith(".*")
