"""Reading the variant metadata of one project version from one source.

Everything that comes from a source is bounded, and nothing that is wrong with it stops the
installation: the variant wheels of that source and version are left out, and one warning
says which file and why (PEP 825, "an installer degrades").
"""

from __future__ import annotations

import hashlib
import io
import logging
import time
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from pipvariant.errors import InvalidMetadata, PipVariantError
from pipvariant.shim.links import json_link, source_of
from pipvariant.shim.pips import this_pip
from pipvariant.shim.run import Run

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["ARCHIVE_ERRORS", "metadata_of", "read_from_archive", "read_from_wheel", "shown"]

logger = logging.getLogger(__name__)

#: A file of metadata is refused above this size (bytes) and after this time (seconds).
MAX_BYTES = 10 * 1024 * 1024
MAX_SECONDS = 60.0
#: What zipfile answers a damaged or hostile archive with.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class Unusable(Exception):
    """Metadata that cannot be had, with the reason as text."""


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
    """Return the bytes of a small file, by the very link that the source gave."""
    try:
        if link.is_file:
            with open(link.file_path, "rb") as stream:
                data = _bounded(iter(lambda: stream.read(1 << 16), b""))
        else:
            data = _download(session, link)
    except Unusable as error:
        raise Unusable(f"{shown(link)}: {error}") from None
    except _network_errors() as error:
        raise Unusable(f"{shown(link)}: {error}") from error
    if not _has_its_hash(link, data):
        # A page out of pip's cache may be older than the file, which is always asked for.
        newer = _link_now(run, session, link)
        if newer is None or not _has_its_hash(newer, data):
            raise Unusable(
                f"{shown(link)}: its {link.hash_name} is not the one that the source gives, "
                f"{link.hash}"
            )
    return data


def _has_its_hash(link: Any, data: bytes) -> bool:
    expected = link.hash
    return expected is None or hashlib.new(link.hash_name, data).hexdigest() == expected.lower()


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


def _download(session: Any, link: Any) -> bytes:
    # As for pages, a cached copy is asked about: metadata gains labels when wheels are added.
    headers = {"Accept": "application/json, */*;q=0.1", "Cache-Control": "max-age=0"}
    with session.get(link.url_without_fragment, headers=headers, stream=True) as response:
        if response.status_code not in (200, 203):
            raise Unusable(f"the server answered {response.status_code} {response.reason}")
        if not response.url.lower().startswith(("http://", "https://")):
            # Up to 26.2 pip follows a redirect to a file of this machine.
            raise Unusable(f"the server redirects to {response.url}")
        kind = response.headers.get("Content-Type", "")
        if kind.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"):
            raise Unusable(f"the server sent a page ({kind}) where JSON was due")
        if int(response.headers.get("Content-Length") or 0) > MAX_BYTES:
            raise Unusable(_too_big())
        return _bounded(response.iter_content(1 << 16))


def _bounded(chunks: Iterable[bytes]) -> bytes:
    end = time.monotonic() + MAX_SECONDS
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > MAX_BYTES:
            raise Unusable(_too_big())
        if time.monotonic() > end:
            raise Unusable(_too_slow())
    return bytes(data)


def _too_big() -> str:
    return f"it is bigger than {MAX_BYTES >> 20} MB"


def _too_slow() -> str:
    return f"it took more than {MAX_SECONDS:.0f} s to arrive"


def _read_wheels(session: Any, wheels: Mapping[str, Any]) -> Metadata:
    """Combine what single wheels say, one wheel per label, where there is no variants.json."""
    from pipvariant.standard.metadata import combine

    found: list[Metadata] = []
    faults = []
    for label, link in sorted(wheels.items()):
        try:
            found.append(_read_remote_wheel(session, link, label))
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
    source = source_of(next(iter(wheels.values())))
    raise Unusable(f"{_redact(source)} has no variants.json for it; {'; '.join(faults)}")


def _read_remote_wheel(session: Any, link: Any, label: str) -> Metadata:
    try:
        if link.is_file:
            return read_from_wheel(link.file_path, label, shown(link))
        try:
            with _open_parts(session, link.url_without_fragment) as stream:
                return read_from_wheel(stream, label, shown(link))
        except _PartsUnsupported:
            # A server that cannot send parts of a file sends small wheels whole.
            return read_from_wheel(io.BytesIO(_download(session, link)), label, shown(link))
    except Unusable as error:
        raise Unusable(f"{shown(link)}: {error}") from None
    except PipVariantError as error:
        raise Unusable(str(error)) from error
    except _network_errors() as error:
        raise Unusable(f"{shown(link)}: {error}") from error


class _PartsUnsupported(Exception):
    """The server does not send parts of a file, or not as it should."""


def _open_parts(session: Any, url: str) -> Any:
    """Return a wheel on a server as pip's seekable stream, which fetches the parts it reads.

    :raises _PartsUnsupported: here or while it is read.
    :raises Unusable: while it is read, when too much of it would have to be fetched.
    """
    lazy: Any = import_module("pip._internal.network.lazy_wheel")
    exceptions: Any = import_module("pip._internal.exceptions")
    end = time.monotonic() + MAX_SECONDS
    left = MAX_BYTES

    class Parts(lazy.LazyZipOverHTTP):
        def _check_zip(self) -> None:
            """Leave it to the reader, which needs the end of the file only once."""

        def _stream_response(self, start: int, stop: int, *args: Any) -> Any:
            nonlocal left
            left -= stop - start + 1
            if left < 0:
                raise Unusable(f"more than {MAX_BYTES >> 20} MB of it would have to be read")
            if time.monotonic() > end:
                raise Unusable(_too_slow())
            response = super()._stream_response(start, stop, *args)
            length = response.headers.get("Content-Length")
            # Whatever else is sent in its place may be the whole file, or have no end.
            if response.status_code != 206 or length != str(stop - start + 1):
                response.close()
                raise _PartsUnsupported
            return response

    try:
        return Parts(url, session)
    except (
        lazy.HTTPRangeRequestUnsupported,
        # A HEAD request that is refused, or answered with no length or another success.
        exceptions.NetworkConnectionError,
        KeyError,
        AssertionError,
    ) as error:
        raise _PartsUnsupported from error


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
        fault = _too_big()
    elif entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        fault = "it is compressed in an odd way"
    else:
        return read_variant_json(archive.read(entry), label=label, where=where)
    raise InvalidMetadata([("variant.json", fault)], where=where)


def _network_errors() -> tuple[type[Exception], ...]:
    requests: Any = import_module("pip._vendor.requests")
    urllib3: Any = import_module("pip._vendor.urllib3")
    exceptions: Any = import_module("pip._internal.exceptions")
    return (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        exceptions.PipError,
        OSError,
        ValueError,
    )


def shown(link: Any) -> str:
    """Return the URL of a link as a user may read it: without credentials and fragment."""
    return _redact(link.url_without_fragment)


def _redact(url: str) -> str:
    misc: Any = import_module("pip._internal.utils.misc")
    return str(misc.redact_auth_from_url(url))
