"""Reading the variant metadata of one project version from one source.

Everything that comes from a source is bounded, and nothing that is wrong with it stops the
installation: the variant wheels of that source and version are left out, and one warning
says which file and why (PEP 825, "an installer degrades").
"""

from __future__ import annotations

import io
import logging
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
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
from pipvariant.wheelfile.dist_info import read_from_wheel

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["metadata_of"]

logger = logging.getLogger(__name__)

#: Where there is no variants.json, so many wheels of one version are looked into at most.
MAX_WHEELS = 100


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
