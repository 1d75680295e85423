"""Reading the variant metadata of one project version from one source.

Everything that comes from a source is bounded, and nothing that is wrong with it stops the
installation: the variant wheels of that source and version are left out, and one warning
says which file and why (PEP 825, "an installer degrades").
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.log import logger
from pipvariant.printable import some
from pipvariant.selection.model import File
from pipvariant.shim.core.pip_objects import make_link, redact, shown
from pipvariant.shim.core.pip_versions import hashes_of, this_pip
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
from pipvariant.shim.finding.kept_files import keep, kept
from pipvariant.shim.finding.whole_wheels import WholeWheels
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.standard.filename import NULL_LABEL

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

#: Where there is no variants.json, so many wheels of one version are looked into at most.
MAX_WHEELS = 100


class MetadataReader(State):
    """Reads the variant metadata of a version where an index, a folder or a lock file has it.

    :param wheels: downloads what has to be read whole.
    :param in_order: returns those labels of a project that matter, most promising first, by the
        metadata of another version, None where there is none.
    """

    def __init__(
        self,
        index: IndexState,
        wheels: WholeWheels,
        in_order: Callable[[str, Collection[str], Metadata | None], Sequence[str]],
    ) -> None:
        self._index = index
        self._in_order = in_order
        #: Set where labels are those of folders: makes what no source says of them.
        self.of_folders: Callable[[Mapping[str, File]], Metadata] | None = None
        self.wheels = wheels
        #: (source, canonical project name, version) -> what was read, None if nothing usable.
        self.read: dict[tuple[str, str, Any], Metadata | None] = {}
        #: What was too much to read for a hint.
        self._left_alone: set[tuple[str, str, Any]] = set()

    def metadata(self, files: Mapping[str, File]) -> Metadata | None:
        """Return the variant metadata of a version at one source, read once.

        :param files: label -> one file with it, all of one project, version and source.
        :returns: None when there is nothing usable; the user was warned then.
        """
        key, file = _key_of(files)
        if file.is_of_folder and self.of_folders is not None:
            return self.of_folders(files)
        if key not in self.read:
            try:
                self.read[key] = self._read(file, files, self.wheels.largest)
            except Unusable as error:
                self.read[key] = None
                of = f"{file.project} {file.version}"
                logger.warning("%s: its variant wheels are left out. %s", of, error)
        return self.read[key]

    def sparing_metadata(self, files: Mapping[str, File]) -> Metadata | None:
        """Like :meth:`metadata`, where it is only for a hint.

        :returns: None without a warning also where large wheels would have to be downloaded.
        """
        key, file = _key_of(files)
        if file.is_of_folder:
            return self.metadata(files)
        if key not in self.read and key not in self._left_alone:
            try:
                self.read[key] = self._read(file, files, MAX_BYTES)
            except Unusable as error:
                self._left_alone.add(key)
                logger.debug("%s %s is not looked into. %s", file.project, file.version, error)
        return self.read.get(key)

    def read_again(self, files: Mapping[str, File]) -> Metadata | None:
        """Like :meth:`metadata`; where single wheels were read, these are read in their place."""
        key, file = _key_of(files)
        if not self._index.json_links_for(file):
            self.read.pop(key, None)
        return self.metadata(files)

    def _read(self, file: File, files: Mapping[str, File], largest: int) -> Metadata:
        links = self._index.json_links_for(file)
        if not links:
            return self._read_wheels(file, files, largest)
        faults = []
        budget = Budget()
        for link in links:
            budget.renew()
            try:
                return self._read_json(link, files, budget)
            except (PipVariantError, Unusable) as error:
                logger.debug("%s", error)
                faults.append(str(error))
        raise Unusable(some(faults, joint="; "))

    def _read_json(self, link: Any, labels: Collection[str], budget: Budget) -> Metadata:
        """Read a variants.json; anew where the page has labels that a cached copy does not have."""
        from pipvariant.standard.metadata import read_variants_json

        data, is_cached = self._fetch(link, budget)
        if is_cached:
            with contextlib.suppress(PipVariantError):
                metadata = read_variants_json(data, where=shown(link))
                if metadata.variants.keys() >= set(labels) - {"", NULL_LABEL}:
                    return metadata
            data, _ = self._fetch(link, budget, is_new=True)
        return read_variants_json(data, where=shown(link))

    def _fetch(self, link: Any, budget: Budget, *, is_new: bool = False) -> tuple[bytes, bool]:
        """Return the bytes of a variants.json, by the very link that its source gave.

        :param is_new: no cached copy is taken without asking the server.
        :returns: also whether it is a copy that there may be a newer file of.
        """
        session, is_cached = self._index.session, False
        with _unusable(link):
            if link.is_file:
                data = read_file(link.file_path, budget)
            else:
                data = kept(session, link) or b""
                if data and not hash_fault(link, data):
                    return data, False
                budget.renew()
                data, is_cached, sends_parts = fetch(session, link, budget, is_new=is_new)
                if not sends_parts:
                    self.wheels.sends_no_parts.add(link.netloc)
            fault = hash_fault(link, data)
            if fault and is_cached and not is_new:
                return self._fetch(link, budget, is_new=True)
            if fault:
                # A page out of pip's cache may be older than the file.
                newer = budget.within(session, lambda: self._link_now(link))
                if newer is None or hash_fault(newer, data):
                    raise Unusable(fault)
            elif not link.is_file:
                keep(session, link, data)
        return data, is_cached and not hashes_of(link)

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

    def _read_wheels(self, first: File, files: Mapping[str, File], largest: int) -> Metadata:
        """Combine what single wheels say, one per label, where there is no variants.json.

        Each label is looked into that may matter: the one that is read last can be the best.

        :param first: any of the files.
        :param largest: no bigger wheel is downloaded whole.
        """
        from pipvariant.standard.metadata import Metadata, combine

        where = redact(first.source)
        if len(files) > MAX_WHEELS:
            raise Unusable(
                f"{where} has no variants.json for it, and {len(files)} labels are too many to "
                "look into a wheel of each"
            )
        found: list[Metadata] = []
        faults: list[str] = []
        whole: dict[str, Any] = {}
        # Its time is for all of them: a hundred slow wheels take no longer than one.
        budget = Budget()
        for label, file in sorted(files.items()):
            budget.renew()
            with _gathered(faults):
                metadata = self._read_parts(file.link, label, budget)
                if metadata is None:
                    whole[label] = file.link
                else:
                    found.append(metadata)
        known = self._other_version(first) if len(whole) > 1 else None
        for label in self._in_order(first.project, whole, known):
            if found and label == NULL_LABEL:
                # It comes last and has no properties, so nothing is to be learned from it.
                found.append(replace(found[0], variants={NULL_LABEL: {}}))
                continue
            budget.renew(largest)
            with _gathered(faults):
                found.append(self._read_whole(whole[label], label, budget))
        try:
            if found:
                combined = combine(*found)
                for fault in faults:
                    logger.warning("One variant wheel is left out. %s", fault)
                return combined
        except PipVariantError as error:
            faults.append(str(error))
        if not faults:
            return Metadata(())
        raise Unusable(f"{where} has no variants.json for it; {some(faults, joint='; ')}")

    def _other_version(self, file: File) -> Metadata | None:
        """Return the metadata of another version, of which the source has a variants.json."""
        keys = [key for key in self._index.json_links if key[:2] == (file.source, file.project)]
        for key in sorted(keys, key=lambda key: key[2], reverse=True)[:1]:
            return self.sparing_metadata({"": file._replace(version=key[2])})
        return None

    def _read_parts(self, link: Any, label: str, budget: Budget) -> Metadata | None:
        """Read what a wheel says without fetching the rest of it; None where that cannot be."""
        from pipvariant.wheelfile.dist_info import read_from_wheel

        with _unusable(link):
            path = self.wheels.path(link)
            if path is not None:
                return read_from_wheel(path, label, shown(link))
            try:
                with open_parts(self._index.session, link.url_without_fragment, budget) as stream:
                    return read_from_wheel(stream, label, shown(link))
            except PartsUnsupported:
                return None

    def _read_whole(self, link: Any, label: str, budget: Budget) -> Metadata:
        from pipvariant.wheelfile.dist_info import read_from_wheel

        with _unusable(link):
            path = self.wheels.download(self._index.session, link, budget)
            return read_from_wheel(path, label, shown(link))


def _key_of(files: Mapping[str, File]) -> tuple[tuple[str, str, Any], File]:
    """Return what all of the files have in common, and one of them."""
    file = next(iter(files.values()))
    return (file.source, file.project, file.version), file


@contextlib.contextmanager
def _gathered(faults: list[str]) -> Iterator[None]:
    """Add what cannot be had to the faults, and go on."""
    try:
        yield
    except Unusable as error:
        faults.append(str(error))


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
