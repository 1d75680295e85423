"""What pages and folders have offered so far: each link once, with its label and its source."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote

from pipvariant.log import logger
from pipvariant.selection.model import File
from pipvariant.shim.core.pip_objects import make_version, path_to_link
from pipvariant.shim.core.pip_versions import hashes_of, page_of
from pipvariant.shim.core.state import State
from pipvariant.shim.finding.filenames import label_in
from pipvariant.standard.filename import parse_variants_json_name, variants_json_name

#: Of one variants.json so many links are looked at; a page may list it at several places.
MAX_LINKS = 10


class Search(NamedTuple):
    """What pip looked for.

    :param hashes: those that are allowed, None or empty for any.
    :param is_lazy: files are taken one by one; false where pip wants the one best at once.
    """

    finder: Any
    specifier: Any = None
    hashes: Any = None
    is_lazy: bool = True

    def evaluator(self, project: str) -> Any:
        """Return pip's object that says which files of a project the search allows."""
        return self.finder.make_candidate_evaluator(
            project, specifier=self.specifier, hashes=self.hashes
        )

    def applicable(self, project: str) -> list[Any]:
        """Return pip's candidates of a project that the search allows."""
        found = self.finder.find_all_candidates(project)
        return list(self.evaluator(project).get_applicable_candidates(found))


class IndexState(State):
    """Links, pages and folders of one run."""

    def __init__(self) -> None:
        #: (source, canonical project name, version) -> links of a variants.json, as listed.
        self.json_links: dict[tuple[str, str, Any], list[Any]] = {}
        #: Pages on a server that list a variants.json.
        self.pages: set[str] = set()
        self._folders: set[str] = set()
        #: Paths of what is named like a wheel and is a pipe or device.
        self._irregular: set[str] = set()
        #: Canonical project name -> for each set of links that was looked at, by which evaluator,
        #: those of variant wheels; of all files for a lock of all variants.
        self.listed: dict[str, list[tuple[Any, list[Any]]]] = {}
        #: Canonical project name -> for each page, by which evaluator, the URLs of variant wheels
        #: that were left out because of their tags.
        self.other_tags: dict[str, list[tuple[Any, list[str]]]] = {}
        #: Canonical project name -> the newest search for it.
        self.searches: dict[str, Search] = {}
        #: The newest search of all, None before there is one.
        self.search: Search | None = None
        #: URL -> file that turned out to be something else than its source says.
        self.contradicted: dict[str, File] = {}
        #: pip's finder that looked at links last.
        self.finder: Any = None
        #: pip's session, with which files are fetched.
        self.session: Any = None
        #: How pip's entries for files are taken: all at once, or what is enough first.
        self.in_stages: Callable[[Callable[[], Iterator[Any]]], Iterable[Iterable[Any]]] = _at_once
        #: Identity of a link from a folder of one backend -> the link, the index and the backend.
        self.of_folder: dict[int, tuple[Any, str, str]] = {}
        # By identity: two sources may offer the same URL. The link is kept, so it stays unique.
        self._files: dict[int, tuple[Any, Any, File]] = {}

    def file(
        self, project: str, version: Any, link: Any, *, hashes: Any = None, payload: Any = None
    ) -> File:
        """Return a link as plain data; label, source and hashes are looked at once.

        :param project: its canonical name.
        :param hashes: pip's allowed hashes, None or empty for any.
        :raises InvalidFilename: the label is one that the standard does not allow.
        """
        known = self._files.get(id(link))
        if known is None or known[1] != hashes:
            label = label_in(link.filename)
            allowed = not hashes or is_allowed(link, hashes)
            file = File(project, version, link.filename, label, source_of(link), allowed, link)
            if label is None and id(link) in self.of_folder:
                _, source, label = self.of_folder[id(link)]
                version = self.version_of(link, version)
                file = file._replace(version=version, label=label, source=source, is_of_folder=True)
            known = self._files[id(link)] = (link, hashes, file)
        file = known[2]
        return file if payload is None else file._replace(payload=payload)

    def version_of(self, link: Any, version: Any) -> Any:
        """Return the version that a file counts as: a folder's label stands for the local part."""
        return make_version(version.public) if id(link) in self.of_folder else version

    def has_found(self, link: Any) -> bool:
        """Say whether it is one of the links that pip has found, and still counts."""
        known = self._files.get(id(link))
        found = known is not None and known[0] is link
        return found and not self.is_contradicted(link)

    def is_contradicted(self, link: Any) -> bool:
        """Say whether a file turned out to be something else than its source says."""
        return link.url_without_fragment in self.contradicted

    def leave_out(self, link: Any) -> None:
        """Offer a file, which pip has found, no more: it is not what its source says."""
        self.contradicted[link.url_without_fragment] = self._files[id(link)][2]

    def files(self, finder: Any, project: str, hashes: Any = None) -> list[File]:
        """Return all files of a project that fit by tags, in pip's order."""
        return [
            self.file(project, found.version, found.link, hashes=hashes, payload=found)
            for found in finder.find_all_candidates(project)
            if not self.is_contradicted(found.link)
        ]

    def disallowed(self, search: Search, project: str, version: Any) -> list[File]:
        """Return the variant wheels of a version that pip left out because of their hashes."""
        return [
            file
            for file in self.files(search.finder, project, search.hashes)
            if file.version == version and file.label is not None and is_left_out_by_hash(file)
        ]

    def keep(self, link: Any) -> bool:
        """Keep a link if it is one of a variants.json, and return whether it is."""
        parsed = parse_variants_json_name(_folder_and_name(link)[1])
        if parsed is None:
            return False
        name, version = parsed
        try:
            key = (source_of(link), name, make_version(version))
        except ValueError:
            return False
        if link.comes_from is not None and not link.is_file:
            self.pages.add(key[0])
        links = self.json_links.setdefault(key, [])
        if len(links) < MAX_LINKS and link not in links:
            links.append(link)
        return True

    def is_usable(self, link: Any) -> bool:
        """Say whether a link to this machine is to a regular file, or to none; tell it if not."""
        path = link.file_path
        if not link.is_wheel or not os.path.exists(path) or os.path.isfile(path):
            return True
        if path not in self._irregular:
            self._irregular.add(path)
            logger.warning("%s is left out: it is no regular file", path)
        return False

    def json_links_for(self, file: File) -> list[Any]:
        """Return the links of a ``variants.json`` for a file that its source has, best first.

        One beside the file comes before one elsewhere, a normalised name before another spelling.
        """
        link, source = file.link, file.source
        # A --find-links folder of new pips hands on wheels and sdists only: look beside them.
        if link.comes_from is None and link.is_file and source not in self._folders:
            self._folders.add(source)
            folder = os.path.dirname(link.file_path)
            for name in _json_names(folder, file.project, file.version):
                self.keep(path_to_link(os.path.join(folder, name)))
        links = self.json_links.get((source, file.project, file.version), [])
        if len(links) < 2:
            return links
        name = variants_json_name(file.project, str(file.version))
        wanted = (_folder_and_name(link)[0], name)
        return sorted(links, key=lambda one: [*map(str.__ne__, _folder_and_name(one), wanted)])


def _at_once(get_infos: Callable[[], Iterator[Any]]) -> Iterator[Iterator[Any]]:
    yield get_infos()


def is_left_out_by_hash(file: File) -> bool:
    """Say whether pip leaves a file out because of its hash; one that is not known it fetches."""
    return not file.allowed and bool(hashes_of(file.link))


def labelled_by_version(files: Iterable[File]) -> Iterator[dict[str, File]]:
    """Yield label -> one file with it, for each version and source; the newest version first."""
    labelled = [file for file in files if file.label is not None]
    labelled.sort(key=lambda file: file.version, reverse=True)
    for _, group in itertools.groupby(labelled, key=lambda file: (file.version, file.source)):
        yield {file.label or "": file for file in group}


def _folder_and_name(link: Any) -> tuple[str, str]:
    """Return the URL of the folder that a link leads to, and the name of the file there.

    pip may decode a name twice, and a slash that was encoded then ends the folder.
    """
    folder, _, name = link.url_without_fragment.partition("?")[0].rpartition("/")
    return folder, unquote(name)


def source_of(link: Any) -> str:
    """Return where a link was found: the URL of its page, or of its folder.

    Variant metadata speaks only for the wheels of its own source (PEP 825, index metadata).
    """
    page = page_of(link)
    return link.url_without_fragment.rpartition("/")[0] if page is None else page


def is_allowed(link: Any, hashes: Any) -> bool:
    """Say whether this file is among those with an allowed hash."""
    given = hashes_of(link)
    return any(hashes.is_hash_allowed(name, hex_digest=given[name]) for name in given)


def _json_names(folder: str, project: str, version: Any) -> Iterable[str]:
    """Return the names of the variants.json files in a folder, or the one that may be there."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError:
        # A folder can be entered without being listed: then there is one name to look for.
        only = variants_json_name(project, str(version))
        names = [only] if os.path.isfile(os.path.join(folder, only)) else []
    return sorted(name for name in names if name.endswith("-variants.json"))
