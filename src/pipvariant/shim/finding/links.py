"""Links: ``variants.json`` files are kept, each with the source it came from."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.standard.filename import parse_variants_json_name, variants_json_name

__all__ = ["json_link", "patches", "source_of"]

FINDER = "pip._internal.index.package_finder"


def source_of(link: Any) -> str:
    """Return where a link was found: the URL of its page, or of its folder.

    Variant metadata speaks only for the wheels of its own source (PEP 825, index metadata).
    """
    comes_from = link.comes_from
    if comes_from is None:
        return str(link.url_without_fragment).rpartition("/")[0]
    # In 22.2 a link can carry the page itself instead of its URL.
    return str(getattr(comes_from, "url", comes_from))


def json_link(run: Run, link: Any, name: str, version: Any) -> Any:
    """Return the link of the ``variants.json`` for a wheel link, None if its source has none.

    :param name: canonical project name; ``version``: pip's version object.
    """
    source = source_of(link)
    # A --find-links folder of new pips hands on wheels and sdists only: look beside them.
    if link.comes_from is None and link.is_file and source not in run.folders:
        run.folders.add(source)
        folder = os.path.dirname(link.file_path)
        to_url: Any = import_module("pip._internal.utils.urls").path_to_url
        link_class = type(link)
        for filename in _names(folder, name, version):
            _keep(run, link_class(to_url(os.path.join(folder, filename))))
    return run.json_links.get((source, name, version))


def _names(folder: str, name: str, version: Any) -> list[str]:
    """Return the names of the variants.json files in a folder, or the one that may be there."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_file()]
    except OSError:
        # A folder can be entered without being listed: then there is one name to look for.
        only = variants_json_name(name, str(version))
        names = [only] if os.path.isfile(os.path.join(folder, only)) else []
    return sorted(found for found in names if found.endswith("-variants.json"))


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the place where all links of a project pass, whatever kind of page they are from."""
    return [
        Patch(
            f"{FINDER}:PackageFinder.evaluate_links",
            lambda original: _evaluate_links(run, original),
            lambda: _prove(run),
        )
    ]


def _evaluate_links(run: Run, original: Any) -> Any:
    def evaluate_links(self: Any, link_evaluator: Any, links: Any) -> Any:
        run.finder = self
        # The first test is cheap; there are thousands of links.
        kept = [link for link in links if "-variants.json" not in link.url or not _keep(run, link)]
        if link_evaluator is not None:
            run.listed.setdefault(link_evaluator._canonical_name, []).append((link_evaluator, kept))
        return original(self, link_evaluator, kept)

    return evaluate_links


def _keep(run: Run, link: Any) -> bool:
    """Keep a link if it is one of a variants.json, and return whether it is."""
    parsed = parse_variants_json_name(link.filename)
    if parsed is None:
        return False
    vendored: Any = import_module("pip._vendor.packaging.version")
    name, version = parsed
    try:
        key = (source_of(link), name, vendored.Version(version))
    except vendored.InvalidVersion:
        return False
    if link.comes_from is not None and not link.is_file:
        run.pages.add(key[0])
    # Should a page list the same file twice, the first one counts.
    run.json_links.setdefault(key, link)
    return True


def _prove(run: Run) -> bool:
    file = "proof-1.0-variants.json"
    with samples.apart(run):
        finder = samples.finder(samples.WHEELS[0], file)
        found = finder.find_all_candidates(samples.NAME)
        listed = [link for _, links in run.listed[samples.NAME] for link in links]
        kept = json_link(run, found[0].link, samples.NAME, found[0].version)
        return listed == [each.link for each in found] and kept.filename == file
