"""Reading the variant metadata of one project version from one source.

Everything that comes from a source is bounded, and nothing that is wrong with it stops the
installation: the variant wheels of that source and version are left out, and one warning
says which file and why (PEP 825, "an installer degrades").
"""

from __future__ import annotations

import io
import logging
import zipfile
import zlib
from collections.abc import Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from pipvariant.errors import InvalidMetadata, PipVariantError
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.download import (
    Budget,
    PartsUnsupported,
    Unusable,
    download,
    errors,
    hash_fault,
    open_parts,
    read_file,
    redact,
    shown,
    words,
)
from pipvariant.shim.finding.links import json_link, source_of
from pipvariant.standard.bounds import MAX_BYTES

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["ARCHIVE_ERRORS", "metadata_of", "read_from_archive", "read_from_wheel"]

logger = logging.getLogger(__name__)

#: Where there is no variants.json, so many wheels of one version are looked into at most.
MAX_WHEELS = 100
#: What zipfile answers a damaged or hostile archive with.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


def metadata_of(
    run: Run, finder: Any, name: str, version: Any, wheels: Mapping[str, Any]
) -> Metadata | None:
    """Return the variant metadata of a version at the source of the given wheels.

    :param wheels: label -> link of one candidate wheel with that label, all of one source.
    :returns: None when there is nothing usable; the user was warned then.
    """
    source = source_of(next(iter(wheels.values())))
    key = (source, name, version)
    if key not in run.metadata:
        try:
            run.metadata[key] = _read(run, finder, name, version, wheels)
        except Unusable as error:
            run.metadata[key] = None
            logger.warning("%s %s: its variant wheels are left out. %s", name, version, error)
    return run.metadata[key]


def _read(run: Run, finder: Any, name: str, version: Any, wheels: Mapping[str, Any]) -> Metadata:
    from pipvariant.standard.metadata import read_variants_json

    session = finder._link_collector.session
    any_wheel = next(iter(wheels.values()))
    link = json_link(run, any_wheel, name, version)
    if link is None:
        return _read_wheels(session, wheels)
    try:
        return read_variants_json(_fetch(run, session, link), where=shown(link))
    except PipVariantError as error:
        raise Unusable(str(error)) from error


def _fetch(run: Run, session: Any, link: Any) -> bytes:
    """Return the bytes of a variants.json, by the very link that its source gave."""
    try:
        if link.is_file:
            data = read_file(link.file_path, Budget())
        else:
            data = download(session, link, Budget())
        fault = hash_fault(link, data)
        if fault:
            # A page out of pip's cache may be older than the file, which is always asked for.
            newer = _link_now(run, session, link)
            if newer is None or hash_fault(newer, data):
                raise Unusable(fault)
    except Unusable as error:
        raise Unusable(f"{shown(link)}: {error}") from None
    except errors() as error:
        raise Unusable(f"{shown(link)}: {words(error)}") from error
    return data


def _link_now(run: Run, session: Any, link: Any) -> Any:
    """Return the same link as its page has it at present, None if that cannot be told."""
    page = source_of(link)
    if page not in run.pages or not this_pip().keeps_pages:
        return None
    collector: Any = import_module("pip._internal.index.collector")
    content = collector._get_index_content(type(link)(page), session=session, force_revalidate=True)
    links = () if content is None else collector.parse_links(content)
    same = (new for new in links if new.url_without_fragment == link.url_without_fragment)
    return next(same, None)


def _read_wheels(session: Any, wheels: Mapping[str, Any]) -> Metadata:
    """Combine what single wheels say, one wheel per label, where there is no variants.json."""
    from pipvariant.standard.metadata import combine

    source = redact(source_of(next(iter(wheels.values()))))
    if len(wheels) > MAX_WHEELS:
        raise Unusable(
            f"{source} has no variants.json for it, and {len(wheels)} labels are too many to look "
            "into a wheel of each"
        )
    found: list[Metadata] = []
    faults = []
    # One for all of them: a hundred slow wheels take no longer than one.
    budget = Budget()
    for label, link in sorted(wheels.items()):
        try:
            found.append(_read_remote_wheel(session, link, label, budget))
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
    shown_faults = "; ".join(faults[:3]) + (f"; and {len(faults) - 3} more" * (len(faults) > 3))
    raise Unusable(f"{source} has no variants.json for it; {shown_faults}")


def _read_remote_wheel(session: Any, link: Any, label: str, budget: Budget) -> Metadata:
    try:
        if link.is_file:
            return read_from_wheel(link.file_path, label, shown(link))
        try:
            with open_parts(session, link.url_without_fragment, budget) as stream:
                return read_from_wheel(stream, label, shown(link))
        except PartsUnsupported:
            # A server that cannot send parts of a file sends small wheels whole.
            whole = io.BytesIO(download(session, link, budget))
            return read_from_wheel(whole, label, shown(link))
    except Unusable as error:
        raise Unusable(f"{shown(link)}: {error}") from None
    except PipVariantError as error:
        raise Unusable(str(error)) from error
    except errors() as error:
        raise Unusable(f"{shown(link)}: {words(error)}") from error


def read_from_wheel(file: str | IO[bytes], label: str, where: str) -> Metadata:
    """Return the ``variant.json`` inside a wheel (PEP 825, ``.dist-info/variant.json``).

    :param file: path or seekable stream of the wheel; ``where``: how errors call it.
    :raises InvalidMetadata: when there is none, or it is broken, huge or for another label.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            metadata = read_from_archive(archive, label, where)
    except ARCHIVE_ERRORS as error:
        if isinstance(error, PipVariantError):
            raise
        raise InvalidMetadata([("", f"not a readable wheel: {error}")], where=where) from error
    if metadata is None:
        raise InvalidMetadata([("", "the wheel has no variant.json inside")], where=where)
    return metadata


def read_from_archive(archive: zipfile.ZipFile, label: str | None, where: str) -> Metadata | None:
    """Return the ``variant.json`` of an open wheel, None if it has none.

    :param label: the label that it has to be for; None accepts any.
    :raises InvalidMetadata: when it is broken, huge or for another label.
    :raises zipfile.BadZipFile: or another of :data:`ARCHIVE_ERRORS`, when it cannot be read.
    """
    from pipvariant.standard.metadata import read_variant_json

    entries = [
        entry
        for entry in archive.infolist()
        if entry.filename.count("/") == 1 and entry.filename.endswith(".dist-info/variant.json")
    ]
    if not entries:
        return None
    (entry, *others) = entries
    if others:
        fault = f"the wheel has {len(entries)} variant.json inside"
    elif entry.file_size > MAX_BYTES:
        fault = f"it is bigger than {MAX_BYTES >> 20} MB"
    elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fault = "it is compressed in an odd way"
    else:
        return read_variant_json(archive.read(entry), label=label, where=where)
    raise InvalidMetadata([("variant.json", fault)], where=where)
