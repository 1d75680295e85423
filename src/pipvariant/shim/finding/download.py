"""Fetching small files over pip's session, bounded in bytes and in time.

A server can be wrong, slow or hostile. Whatever it does, a fetch ends with the bytes or with
one error that says what was wrong.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.client
import os
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from pipvariant.printable import printable, some
from pipvariant.shim.core.pip_versions import hashes_of
from pipvariant.shim.finding.time_limit import (
    PasswordNeededError,
    TimeIsOverError,
    run_within,
)
from pipvariant.standard.bounds import MAX_BYTES

T = TypeVar("T")

#: A file is given up after this time (seconds), and above the size that the reader takes.
MAX_SECONDS = 60.0
#: Of a wheel that is read in parts, so many bytes are fetched at once.
BLOCK = 1 << 14
#: From the strongest to the weakest, the hashes that an index can give for a file.
HASHES = ("sha512", "sha384", "sha256", "sha224", "sha1", "md5")


_NO_TERMINAL = "the server asks for a password, and there is no terminal to type it at"


class Unusable(Exception):
    """Something that cannot be had, with the reason as text."""


class PartsUnsupported(Exception):
    """The server does not send parts of a file, or not as it should."""


class Fetched(NamedTuple):
    """A file of a server.

    :param is_cached: it is a copy that was kept in an earlier run.
    :param sends_parts: the server says that it sends parts of files.
    """

    data: bytes
    is_cached: bool
    sends_parts: bool


class Budget:
    """How much may still be fetched, and for how long.

    :raises Unusable: from :meth:`expect` and :meth:`spend`, when it is used up.
    """

    def __init__(self) -> None:
        self.renew()
        self._end = time.monotonic() + MAX_SECONDS

    def renew(self, size: int = MAX_BYTES) -> None:
        """Allow so many bytes for another file, in the time that is left for all of them."""
        self._size = self._left = size

    def extend(self, seconds: float) -> None:
        """Allow more time."""
        self._end += seconds

    def expect(self, size: int) -> None:
        """See that so many bytes are left."""
        if size > self._left:
            raise Unusable(f"it is bigger than {self._size >> 20} MB")

    def spend(self, size: int) -> None:
        """Take some bytes, and the time that has passed, from the budget."""
        self.expect(size)
        self._left -= size
        if time.monotonic() > self._end:
            raise _too_slow()

    def within(self, session: Any, work: Callable[[], T]) -> T:
        """Return what the work returns in the time that is left.

        :param session: pip's, with which the work is done.
        :raises Unusable: it takes longer, or the server wants a password that nobody can type.
        """
        start = time.monotonic()
        try:
            return run_within(self._end - start, session, work)
        except TimeIsOverError:
            raise _too_slow() from None
        except PasswordNeededError:
            if sys.stdin is None or not sys.stdin.isatty():
                raise Unusable(_NO_TERMINAL) from None
        try:
            result = work()
        except EOFError:
            raise Unusable(_NO_TERMINAL) from None
        # The time for typing does not count.
        self.extend(time.monotonic() - start)
        return result


def _too_slow() -> Unusable:
    return Unusable(f"it took more than {MAX_SECONDS:.0f} s to arrive")


def read_file(path: str, budget: Budget) -> bytes:
    """Return the content of a file of this machine.

    :raises Unusable: when it is no file, or more than the budget.
    """
    if not os.path.isfile(path):
        raise Unusable("it is no file")
    budget.spend(os.path.getsize(path))
    with open(path, "rb") as stream:
        return stream.read()


def fetch(session: Any, link: Any, budget: Budget, *, is_new: bool = False) -> Fetched:
    """Return the content of a file of a server, by the very link that its source gave.

    :param is_new: a cached copy is asked about, also where the server lets it be kept.
    :raises Unusable: when the server answers with something else, too much, or too slowly;
        or one of :func:`fetch_errors`.
    """
    headers = {
        # No type is asked for: asked for JSON, devpi tells about the file in place of sending it.
        # What is decoded on the way can be any number of times as big as what was sent.
        "Accept-Encoding": "identity",
        **({"Cache-Control": "max-age=0"} if is_new else {}),
    }

    def work() -> Fetched:
        with open_response(session, link, headers, budget) as response:
            kind = response.headers.get("Content-Type", "")
            if kind.partition(";")[0].strip().lower() in ("text/html", "application/xhtml+xml"):
                raise Unusable(f"the server sent a page ({kind}) where JSON was due")
            is_cached = bool(getattr(response, "from_cache", False))
            sends_parts = "bytes" in response.headers.get("Accept-Ranges", "")
            return Fetched(receive(session, response, budget), is_cached, sends_parts)

    return budget.within(session, work)


@contextlib.contextmanager
def open_response(
    session: Any, link: Any, headers: Mapping[str, str], budget: Budget
) -> Iterator[Any]:
    """Yield the answer of a server that has a file; its content is yet to arrive.

    :raises Unusable: when the server answers with something else, or too late.
    """
    url = link.url_without_fragment
    get = functools.partial(session.get, url, headers=headers, stream=True)
    response = budget.within(session, get)
    try:
        if response.status_code not in (200, 203):
            raise Unusable(f"the server answered {response.status_code} {response.reason}")
        if not response.url.lower().startswith(("http://", "https://")):
            # Up to 26.2 pip follows a redirect to a file of this machine.
            raise Unusable(f"the server redirects to {response.url}")
        yield response
    finally:
        # It waits for a thread that still reads.
        with contextlib.suppress(Unusable):
            budget.within(session, response.close)


def receive(session: Any, response: Any, budget: Budget) -> bytes:
    """Return the content of a response, of which no more is decoded than the budget has.

    :raises Unusable: it is too much, too slow, cut off or encoded in an odd way.
    """
    data = b"".join(arriving(session, response, budget))
    return _decoded(data, response.headers.get("Content-Encoding", ""), budget)


def declared_length(response: Any) -> int | None:
    """Return how long a server says that a file is, None if it does not say."""
    given = response.headers.get("Content-Length", "")
    # What has more digits is more than anybody reads in any case.
    return int(given[:20]) if given.isdecimal() else None


def arriving(session: Any, response: Any, budget: Budget) -> Iterator[bytes]:
    """Yield what has arrived, a second later at most."""
    pieces = _pieces(response, budget)
    while lot := budget.within(session, functools.partial(_next_lot, pieces)):
        yield from lot


def _next_lot(pieces: Iterator[bytes]) -> list[bytes]:
    """Return what arrives within a second, of a fast server a megabyte; empty at the end."""
    lot: list[bytes] = []
    end = time.monotonic() + 1
    for piece in pieces:
        lot.append(piece)
        if sum(map(len, lot)) >= 1 << 20 or time.monotonic() > end:
            break
    return lot


def _pieces(response: Any, budget: Budget) -> Iterator[bytes]:
    """Yield each piece as soon as it has arrived."""
    length = declared_length(response)
    budget.expect(length or 0)
    body = getattr(response.raw, "_fp", response.raw)
    # Only a connection can keep us waiting, and only a connection can be looked into.
    peek = getattr(body, "peek", None)
    arrived = 0
    # Before Python 3.12 a connection that stays open is read on after the end of its content.
    while length is None or arrived < length:
        # Read, not only looked at: pip's cache keeps what it sees read up to the end.
        chunk = body.read((1 << 16) if peek is None else len(peek(1 << 16)) or 1)
        if not chunk:
            break
        arrived += len(chunk)
        budget.spend(len(chunk))
        yield chunk
    if length is not None and arrived < length:
        raise Unusable(f"it was cut off after {arrived} of {length} bytes")
    if length is not None:
        # All of it was read past urllib3, which would close the connection.
        response.raw.release_conn()


def _decoded(data: bytes, encoding: str, budget: Budget) -> bytes:
    """Undo what a server does to a file although nobody asked for it."""
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise Unusable(f"the server sent it encoded as {encoding}")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
    try:
        decoded = decoder.decompress(data, MAX_BYTES + 1)
    except zlib.error as error:
        raise Unusable(f"it cannot be decoded: {error}") from error
    budget.spend(len(decoded))
    if not decoder.eof and len(decoded) <= MAX_BYTES:
        raise Unusable("it was cut off")
    return decoded


def hash_fault(link: Any, data: bytes) -> str:
    """Say what is wrong with a file by the hashes that its source gives; empty if nothing.

    The strongest of them counts.
    """
    hashes = hashes_of(link)
    others = sorted(name for name in hashlib.algorithms_guaranteed if "shake" not in name)
    for name in (*HASHES, *others):
        expected = hashes.get(name)
        if isinstance(expected, str):
            if hashlib.new(name, data).hexdigest() == expected.lower():
                return ""
            return f"its {name} is not the one that the source gives, {expected}"
    return f"no hash that the source gives is known: {some(hashes)}" if hashes else ""


def open_parts(session: Any, url: str, budget: Budget) -> Any:
    """Return a wheel on a server as pip's seekable stream, which fetches the parts it reads.

    :raises PartsUnsupported: here or while it is read.
    :raises Unusable: while it is read, when too much of it would have to be fetched.
    """
    lazy: Any = import_module("pip._internal.network.lazy_wheel")
    exceptions: Any = import_module("pip._internal.exceptions")

    class Parts(lazy.LazyZipOverHTTP):
        def _download(self, start: int, end: int) -> None:
            # In blocks: what is read next often lies beside it.
            start, end = start - start % BLOCK, min(end | (BLOCK - 1), self._length - 1)
            budget.within(session, functools.partial(super()._download, start, end))

        def _check_zip(self) -> None:
            """Leave it to the reader, which needs the end of the file only once."""

        def _stream_response(self, start: int, stop: int, *args: Any) -> Any:
            budget.spend(stop - start + 1)
            response = super()._stream_response(start, stop, *args)
            length = response.headers.get("Content-Length")
            # Whatever else is sent in its place may be the whole file, or have no end.
            if response.status_code != 206 or length != str(stop - start + 1):
                response.close()
                raise PartsUnsupported
            return response

    try:
        return budget.within(session, functools.partial(Parts, url, session))
    except (
        lazy.HTTPRangeRequestUnsupported,
        # A HEAD request that is refused, or answered with no length or another success.
        exceptions.NetworkConnectionError,
        KeyError,
        AssertionError,
        # A length that is no number, or larger than any file.
        ValueError,
        OverflowError,
    ) as error:
        raise PartsUnsupported from error


def fetch_errors() -> tuple[type[Exception], ...]:
    """Return what a fetch can end with when server, network or disk are at fault."""
    requests: Any = import_module("pip._vendor.requests")
    urllib3: Any = import_module("pip._vendor.urllib3")
    exceptions: Any = import_module("pip._internal.exceptions")
    return (
        requests.RequestException,
        urllib3.exceptions.HTTPError,
        exceptions.PipError,
        http.client.HTTPException,
        OSError,
        ValueError,
    )


def error_phrase(error: BaseException) -> str:
    """Return what an error says, in one line that is not too long to read."""
    text = str(getattr(error, "message", "") or error) or type(error).__name__
    # Some errors of pip are written with the colours of rich.
    line = re.sub(
        r"\[/?(?:blue|bold|cyan|dim|green|magenta|red|yellow)?\]", "", " ".join(text.split())
    )
    return printable(line, 300)
