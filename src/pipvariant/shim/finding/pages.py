"""Pages: no link is made of a file that its name alone excludes, which is most of a large page.

Of an HTML page, such files are not even parsed.
"""

from __future__ import annotations

import json
import logging
from importlib import import_module
from typing import Any

from pipvariant.selection.page_filter import PageFilter, Use, without_anchors
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import make_link
from pipvariant.shim.core.pip_versions import Pip, makes_links_of_json, tags_of
from pipvariant.shim.core.state import aside
from pipvariant.shim.finding.index import IndexState

COLLECTOR = "pip._internal.index.collector"
FINDER = "pip._internal.index.package_finder"
LINK = "pip._internal.models.link"
#: Files of a page for proofs: one that fits, a non-variant and a variant wheel that do not.
PAGE = tuple(f"proof-1.0-py3-none-{end}.whl" for end in ("any", "win32", "win32-a"))


def patches(pip: Pip, index: IndexState) -> list[Patch]:
    """Patch where pip fetches and reads a page, and where it makes a link of a file in JSON."""
    pages = Pages(index)
    made = [
        patch(f"{FINDER}:PackageFinder.process_project_url", _process_project_url, _proves, pages),
        patch(f"{COLLECTOR}:LinkCollector.fetch_response", _fetch_response, _proves, pages),
    ]
    if makes_links_of_json(pip):
        made.append(patch(f"{LINK}:Link.from_json", _from_json, _proves_json, pages))
    return made


class Pages:
    """Leaves files out of the page that is being read.

    :param index: gets the URLs of variant wheels that were left out.
    """

    def __init__(self, index: IndexState) -> None:
        self.index = index
        self._filters: dict[int, tuple[Any, PageFilter]] = {}
        #: The filter of the page that is being read, and the list for variant wheels; or None.
        self._current: tuple[PageFilter, list[str]] | None = None

    def read(self, original: Any, finder: Any, project_url: Any, link_evaluator: Any) -> Any:
        """Let pip read the page of a project, and return what it makes of that."""
        before, self._current = self._current, None
        # pip keeps the links of other pages for the next project, and names each file with -vv.
        if (
            not project_url.cache_link_parsing
            and "binary" in link_evaluator._formats
            and not logging.getLogger(FINDER).isEnabledFor(logging.DEBUG)
        ):
            left_out: list[str] = []
            lists = self.index.other_tags.setdefault(link_evaluator._canonical_name, [])
            lists.append((link_evaluator, left_out))
            self._current = self._filter_for(link_evaluator._target_python), left_out
        try:
            return original(finder, project_url, link_evaluator)
        finally:
            self._current = before

    def reduce(self, page: Any) -> Any:
        """Return an HTML page without the files that their names exclude, any other as it is."""
        if self._current is None or page is None or not page.content_type.startswith("text/html"):
            return page
        content = without_anchors(page.content, self.leaves_out)
        return type(page)(
            content, page.content_type, page.encoding, page.url, page.cache_link_parsing
        )

    def leaves_out(self, url: Any) -> bool:
        """Say whether the name of a file of the page excludes it."""
        if self._current is None or not isinstance(url, str):
            return False
        page_filter, left_out = self._current
        use = page_filter.use(url)
        if use is Use.VARIANT_OF_OTHER_TAGS:
            left_out.append(url)
        return use is not Use.POSSIBLE

    def _filter_for(self, target_python: Any) -> PageFilter:
        known = self._filters.get(id(target_python))
        if known is None:
            parse: Any = import_module("pip._vendor.packaging.tags").parse_tag
            supported = frozenset(tags_of(target_python))
            page_filter = PageFilter(lambda text: not supported.isdisjoint(parse(text)))
            known = self._filters[id(target_python)] = target_python, page_filter
        return known[1]


def _process_project_url(
    pages: Pages, original: Any, /, self: Any, project_url: Any, link_evaluator: Any
) -> Any:
    return pages.read(original, self, project_url, link_evaluator)


def _fetch_response(pages: Pages, original: Any, /, *args: Any, **kwargs: Any) -> Any:
    return pages.reduce(original(*args, **kwargs))


def _from_json(pages: Pages, original: Any, /, cls: Any, file_data: Any, page_url: Any) -> Any:
    # Before a file's name, pip looks at whether it was yanked.
    if not file_data.get("yanked") and pages.leaves_out(file_data.get("url")):
        return None
    return original(cls, file_data, page_url)


# Proofs: pip's own finder reads a page.


def _proves(pages: Pages) -> bool:
    page = "".join(f'\n<a href="{name}">{name}</a>' for name in PAGE)
    return _reads(pages, f"<!DOCTYPE html><body>{page}", "text/html")


def _proves_json(pages: Pages) -> bool:
    page = json.dumps({"files": [{"url": name, "filename": name} for name in PAGE]})
    return _reads(pages, page, "application/vnd.pypi.simple.v1+json")


def _reads(pages: Pages, text: str, content_type: str) -> bool:
    collector: Any = import_module(COLLECTOR)
    url = samples.url("proof/")
    page = collector.IndexContent(text.encode(), content_type, None, url, cache_link_parsing=False)
    finder = samples.finder()
    with aside(collector, _get_index_content=lambda *args, **kwargs: page):
        evaluator = finder.make_link_evaluator(samples.NAME)
        link = make_link(url, cache_link_parsing=False)
        taken = [found.link.filename for found in finder.process_project_url(link, evaluator)]
    left_out = [name for _, names in pages.index.other_tags[samples.NAME] for name in names]
    return taken == [PAGE[0]] and left_out == [PAGE[2]]
