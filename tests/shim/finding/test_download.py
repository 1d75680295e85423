"""A fetch ends with the bytes or with one error, whatever a server does."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pip._internal.utils.temp_dir import global_tempdir_manager

from pipvariant.shim.finding.download import (
    Budget,
    Unusable,
    error_phrase,
    fetch,
    hash_fault,
    read_file,
)
from pipvariant.shim.finding.whole_wheels import MAX_WHEEL, WholeWheels
from pipvariant.standard.bounds import MAX_BYTES

LINK: Any = SimpleNamespace(
    url_without_fragment="https://a.invalid/x.json", filename="x.json", is_file=False
)


class Session:
    """A session whose server sends a body in the pieces that it arrives in."""

    def __init__(self, *pieces: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._pieces = list(pieces)
        self._headers = dict(headers or {})
        self.asked: Mapping[str, str] = {}

    def peek(self, size: int) -> bytes:
        return self._pieces[0] if self._pieces else b""

    def read(self, size: int) -> bytes:
        """Give no more than what is there; a connection would wait for the rest."""
        if not self._pieces:
            return b""
        piece = self._pieces.pop(0)
        assert size <= len(piece), "this would keep waiting"
        if piece[size:]:
            self._pieces.insert(0, piece[size:])
        return piece[:size]

    def get(self, url: str, *, headers: Mapping[str, str], stream: bool) -> Session:
        self.asked = headers
        self.raw = SimpleNamespace(_fp=self, release_conn=lambda: None)
        self.status_code, self.reason, self.url, self.headers = 200, "OK", url, self._headers
        return self

    def close(self) -> None:
        pass

    def raise_for_status(self) -> None:
        pass

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def _download(*pieces: bytes, **headers: str) -> bytes:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return fetch(Session(*pieces, headers=named), LINK, Budget())[0]


def test_what_arrives_in_pieces_is_put_together() -> None:
    assert _download(b"a", b"b" * 70_000, b"c") == b"a" + b"b" * 70_000 + b"c"


def test_an_open_connection_is_not_read_beyond_the_content() -> None:
    assert _download(b"ab", b"next answer", Content_Length="2") == b"ab"


def test_a_compressed_answer_is_not_asked_for() -> None:
    session = Session(b"{}")
    fetch(session, LINK, Budget())
    assert session.asked["Accept-Encoding"] == "identity"
    assert "Accept" not in session.asked, "devpi would tell about the file instead"


@pytest.mark.parametrize("pack", (gzip.compress, zlib.compress))
def test_an_answer_that_is_compressed_all_the_same_is_read(pack: Any) -> None:
    encoding = "gzip" if pack is gzip.compress else "deflate"
    assert _download(pack(b"{}" * 100), Content_Encoding=encoding) == b"{}" * 100


@pytest.mark.parametrize(
    ("pieces", "headers", "said"),
    (
        ([b"x"], {"Content-Length": "99999999999"}, "bigger than 10 MB"),
        ([b"x"], {"Content-Length": "9" * 20}, "bigger than 10 MB"),
        ([b"x"], {"Content-Length": "9" * 5000}, "bigger than 10 MB"),
        ([b"x" * (1 << 20)] * 11, {}, "bigger than 10 MB"),
        ([b"x" * 5], {"Content-Length": "9"}, "cut off after 5 of 9 bytes"),
        ([gzip.compress(b" " * (MAX_BYTES * 3))], {"Content-Encoding": "gzip"}, "bigger than"),
        ([gzip.compress(b"x" * 9)[:-9]], {"Content-Encoding": "gzip"}, "cut off"),
        ([b"no gzip"], {"Content-Encoding": "gzip"}, "cannot be decoded"),
        ([b"x"], {"Content-Encoding": "gzip, gzip"}, "encoded as gzip, gzip"),
        ([b"x"], {"Content-Encoding": "br"}, "encoded as br"),
        ([b"<html>"], {"Content-Type": "text/html; charset=utf-8"}, "sent a page"),
    ),
)
def test_what_cannot_be_had_is_said(
    pieces: list[bytes], headers: dict[str, str], said: str
) -> None:
    with pytest.raises(Unusable, match=said):
        fetch(Session(*pieces, headers=headers), LINK, Budget())


def test_a_length_that_is_no_number_is_no_length() -> None:
    assert _download(b"ab", Content_Length="2, 2") == b"ab"


def test_the_time_limit_holds_while_bytes_trickle_in(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    session = Session(*[b"x"] * 500, headers={"Content-Length": "500"})
    with pytest.raises(Unusable, match="more than 60 s"):
        fetch(session, LINK, Budget())
    assert len(session._pieces) > 480


def test_one_budget_is_for_all_that_is_fetched_with_it() -> None:
    budget = Budget()
    fetch(Session(b"x" * (MAX_BYTES - 1)), LINK, budget)
    with pytest.raises(Unusable, match="bigger than 10 MB"):
        fetch(Session(b"xx"), LINK, budget)


def test_each_file_may_have_its_own_bytes_in_the_time_for_all() -> None:
    budget = Budget()
    for _ in range(3):
        budget.renew()
        assert fetch(Session(b"x" * (MAX_BYTES - 1)), LINK, budget)


# Wheels that are downloaded whole.


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Budget]:
    """A budget whose clock goes on by two seconds whenever it is looked at."""
    clock = iter(range(0, 5000, 2))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    with global_tempdir_manager():
        yield Budget()


def test_a_large_wheel_may_take_its_time_and_is_downloaded_once(slow: Budget) -> None:
    wheels, pieces = WholeWheels(), [b"PK" + bytes(1 << 20)] * 40
    slow.renew(MAX_WHEEL)
    path = wheels.download(Session(*pieces), LINK, slow)
    assert Path(path).read_bytes() == b"".join(pieces)
    assert wheels.download(Session(b"another"), LINK, slow) == wheels.path(LINK) == path


@pytest.mark.parametrize(
    ("pieces", "said"),
    (
        ([b"PK" + bytes(1 << 20)] * 40, "bigger than 16 MB"),
        ([b"P", b"K", *[b"x"] * 400], "more than 60 s"),
        ([b"P", b"<html>", *[b"x"] * 40], "is no wheel"),
    ),
)
def test_a_wheel_is_given_up_while_it_arrives(slow: Budget, pieces: list[bytes], said: str) -> None:
    wheels, session = WholeWheels(), Session(*pieces)
    slow.renew(16 << 20)
    with pytest.raises(Unusable, match=said):
        wheels.download(session, LINK, slow)
    assert wheels.path(LINK) is None
    assert len(session._pieces) > 20


def test_only_a_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "nothing"):
        with pytest.raises(Unusable, match="no file"):
            read_file(str(path), Budget())
    (tmp_path / "file").write_bytes(b"x")
    assert read_file(str(tmp_path / "file"), Budget()) == b"x"


X = {
    "md5": "9dd4e461268c8034f5c8564e155c67a6",
    "sha256": "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881",
}


@pytest.mark.parametrize(
    ("hashes", "said"),
    (
        ({}, ""),
        ({"sha256": X["sha256"]}, ""),
        ({"sha256": X["sha256"].upper()}, ""),
        ({"blake3": "aa", "sha256": X["sha256"]}, ""),
        ({"md5": "aa", "sha256": X["sha256"]}, ""),
        ({"md5": X["md5"], "sha256": "aa"}, "its sha256 is not the one"),
        ({"blake3": "aa"}, "no hash that the source gives is known: blake3"),
        ({"shake_128": "ab"}, "no hash that the source gives is known: shake_128"),
        ({"sha256": 5}, "no hash that the source gives is known: sha256"),
    ),
)
def test_the_strongest_hash_counts(hashes: dict[str, Any], said: str) -> None:
    link = SimpleNamespace(_hashes=hashes, hash_name=None, hash=None)
    fault = hash_fault(link, b"x")
    assert fault.startswith(said)
    assert bool(fault) == bool(said)


def test_an_error_is_said_in_one_line() -> None:
    assert error_phrase(OSError("a\n b")) == "a b"
    assert error_phrase(TimeoutError()) == "TimeoutError"
    assert len(error_phrase(ValueError("x" * 5000))) < 400
