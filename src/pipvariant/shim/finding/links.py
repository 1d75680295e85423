"""Links: ``variants.json`` files are kept, each with the source it came from."""

from __future__ import annotations

from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.finding.index import IndexState

FINDER = "pip._internal.index.package_finder"


def patches(index: IndexState) -> list[Patch]:
    """Patch the place where all links of a project pass, whatever kind of page they are from."""
    return [patch(f"{FINDER}:PackageFinder.evaluate_links", _evaluate_links, _prove, index)]


def _evaluate_links(
    index: IndexState, original: Any, /, self: Any, link_evaluator: Any, links: Any
) -> Any:
    index.finder, index.session = self, self._link_collector.session
    # The first test is cheap; there are thousands of links.
    kept = [link for link in links if "-variants.json" not in link.url or not index.keep(link)]
    kept = [link for link in kept if not link.url.startswith("file:") or index.is_usable(link)]
    if link_evaluator is not None:
        seen = index.listed.setdefault(link_evaluator._canonical_name, [])
        seen.append((link_evaluator, kept))
    return original(self, link_evaluator, kept)


def _prove(index: IndexState) -> bool:
    name = "proof-1.0-variants.json"
    # With --no-variant a label would leave the file out.
    finder = samples.finder(f"{samples.NAME}-1.0-py3-none-any.whl", name)
    (file,) = index.files(finder, samples.NAME)
    listed = [link for _, links in index.listed[samples.NAME] for link in links]
    return listed == [file.link] and [link.filename for link in index.json_links_for(file)] == [
        name
    ]
