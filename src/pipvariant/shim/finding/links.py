"""Links: ``variants.json`` files are kept, each with the source it came from."""

from __future__ import annotations

from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.state import CommandOptions
from pipvariant.shim.finding.index import IndexState

FINDER = "pip._internal.index.package_finder"


def patches(options: CommandOptions, index: IndexState) -> list[Patch]:
    """Patch the place where all links of a project pass, whatever kind of page they are from."""
    target = f"{FINDER}:PackageFinder.evaluate_links"
    return [patch(target, _evaluate_links, _prove, options, index)]


def _evaluate_links(
    options: CommandOptions,
    index: IndexState,
    original: Any,
    /,
    self: Any,
    link_evaluator: Any,
    links: Any,
) -> Any:
    index.finder, index.session = self, self._link_collector.session
    # The first test is cheap; there are thousands of links.
    kept = [link for link in links if "-variants.json" not in link.url or not index.keep(link)]
    kept = [link for link in kept if not link.url.startswith("file:") or index.is_usable(link)]
    if link_evaluator is not None:
        # Only a lock of all variants asks for other files than variant wheels later.
        listed = kept if options.all_variants else [link for link in kept if _may_have_label(link)]
        seen = index.listed.setdefault(link_evaluator._canonical_name, [])
        seen.append((link_evaluator, listed))
    return original(self, link_evaluator, kept)


def _may_have_label(link: Any) -> bool:
    """Say whether a filename has as many parts as that of a variant wheel."""
    return bool(link.url.count("-", link.url.rfind("/")) > 4)


def _prove(options: CommandOptions, index: IndexState) -> bool:
    name = "proof-1.0-variants.json"
    # With --no-variant a label would leave the file out.
    finder = samples.finder(f"{samples.NAME}-1.0-1-py3-none-any.whl", name)
    (file,) = index.files(finder, samples.NAME)
    listed = [link for _, links in index.listed[samples.NAME] for link in links]
    return listed == [file.link] and [link.filename for link in index.json_links_for(file)] == [
        name
    ]
