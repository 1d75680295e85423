"""Reading the variant metadata of one project version from one source.

Everything that comes from a source is bounded, and nothing that is wrong with it stops the
installation: the variant wheels of that source and version are left out, and one warning
says which file and why (PEP 825, "an installer degrades").
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.selection.model import File
from pipvariant.shim.core.pip_objects import make_link, redact, shown
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import State
from pipvariant.shim.finding.download import (
    Budget,
    PartsUnsupported,
    Unusable,
    error_phrase,
    fetch,
    fetch_errors,
    hash_fault,
    open_parts,
    read_file,
)
from pipvariant.shim.finding.index import IndexState, source_of

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

logger = logging.getLogger(__name__)

#: Where there is no variants.json, so many wheels of one version are looked into at most.
MAX_WHEELS = 100


class MetadataReader(State):
    """Reads the variant metadata of a version where an index, a folder or a lock file has it."""

    def __init__(self, index: IndexState) -> None:
        self._index = index
        #: (source, canonical project name, version) -> what was read, None if nothing usable.
        self.read: dict[tuple[str, str, Any], Metadata | None] = {}

    def metadata(self, files: Mapping[str, File]) -> Metadata | None:
        """Return the variant metadata of a version at one source, read once.

        :param files: label -> one file with it, all of one project, version and source.
        :returns: None when there is nothing usable; the user was warned then.
        """
        file = next(iter(files.values()))
        key = (file.source, file.project, file.version)
        if key not in self.read:
            try:
                self.read[key] = self._read(file, files)
            except Unusable as error:
                self.read[key] = None
                of = f"{file.project} {file.version}"
                logger.warning("%s: its variant wheels are left out. %s", of, error)
        return self.read[key]

    def read_again(self, files: Mapping[str, File]) -> Metadata | None:
        """Like :meth:`metadata`; where single wheels were read, these are read in their place."""
        file = next(iter(files.values()))
        if not self._index.json_links_for(file):
            self.read.pop((file.source, file.project, file.version), None)
        return self.metadata(files)

    def _read(self, file: File, files: Mapping[str, File]) -> Metadata:
        from pipvariant.standard.metadata import read_variants_json

        links = self._index.json_links_for(file)
        if not links:
            return self._read_wheels(redact(file.source), files)
        faults = []
        budget = Budget()
        for link in links:
            budget.renew()
            try:
                return read_variants_json(self._fetch(link, budget), where=shown(link))
            except (PipVariantError, Unusable) as error:
                logger.debug("%s", error)
                faults.append(str(error))
        raise Unusable(_listed(faults))

    def _fetch(self, link: Any, budget: Budget) -> bytes:
        """Return the bytes of a variants.json, by the very link that its source gave."""
        with _unusable(link):
            if link.is_file:
                data = read_file(link.file_path, budget)
            else:
                data = fetch(self._index.session, link, budget)
            fault = hash_fault(link, data)
            if fault:
                # A page out of pip's cache may be older than the file, which is always asked for.
                newer = self._link_now(link)
                if newer is None or hash_fault(newer, data):
                    raise Unusable(fault)
        return data

    def _link_now(self, link: Any) -> Any:
        """Return the same link as its page has it at present, None if that cannot be told."""
        page = source_of(link)
        if page not in self._index.pages or not this_pip().keeps_pages:
            return None
        collector: Any = import_module("pip._internal.index.collector")
        content = collector._get_index_content(
            make_link(page), session=self._index.session, force_revalidate=True
        )
        links = () if content is None else collector.parse_links(content)
        same = (new for new in links if new.url_without_fragment == link.url_without_fragment)
        return next(same, None)

    def _read_wheels(self, where: str, files: Mapping[str, File]) -> Metadata:
        """Combine what single wheels say, one per label, where there is no variants.json."""
        from pipvariant.standard.metadata import combine

        if len(files) > MAX_WHEELS:
            raise Unusable(
                f"{where} has no variants.json for it, and {len(files)} labels are too many to "
                "look into a wheel of each"
            )
        found: list[Metadata] = []
        faults = []
        # One for all of them: a hundred slow wheels take no longer than one.
        budget = Budget()
        for label, file in sorted(files.items()):
            try:
                found.append(self._read_wheel(file.link, label, budget))
            except Unusable as error:
                faults.append(str(error))
        try:
            if found:
                combined = combine(*found)
                for fault in faults:
                    logger.warning("One variant wheel is left out. %s", fault)
                return combined
        except PipVariantError as error:
            faults.append(str(error))
        raise Unusable(f"{where} has no variants.json for it; {_listed(faults)}")

    def _read_wheel(self, link: Any, label: str, budget: Budget) -> Metadata:
        from pipvariant.wheelfile.dist_info import read_from_wheel

        with _unusable(link):
            if link.is_file:
                return read_from_wheel(link.file_path, label, shown(link))
            session = self._index.session
            try:
                with open_parts(session, link.url_without_fragment, budget) as stream:
                    return read_from_wheel(stream, label, shown(link))
            except PartsUnsupported:
                # A server that cannot send parts of a file sends small wheels whole.
                whole = io.BytesIO(fetch(session, link, budget))
                return read_from_wheel(whole, label, shown(link))


def _listed(faults: Sequence[str]) -> str:
    return "; ".join(faults[:3]) + (f"; and {len(faults) - 3} more" * (len(faults) > 3))


@contextlib.contextmanager
def _unusable(link: Any) -> Iterator[None]:
    """Say of which file it is that something cannot be had, whatever the reason."""
    try:
        yield
    except Unusable as error:
        raise Unusable(f"{shown(link)}: {error}") from None
    except PipVariantError as error:
        raise Unusable(str(error)) from error
    except fetch_errors() as error:
        raise Unusable(f"{shown(link)}: {error_phrase(error)}") from error
