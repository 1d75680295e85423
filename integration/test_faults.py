"""What a server can do wrong: for the JSON it costs one warning, for all else pip decides."""

from __future__ import annotations

import gzip
import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from integration.environments import Pip, Result
from integration.index import JSON, Index, Reply
from integration.sites import Site, page
from integration.wheels import Wheel, metadata, tri

NAME = "tri-1.0-variants.json"
BEST = "tri-1.0-py3-none-any-cuda12.8.whl"
PLAIN = "tri-1.0-py3-none-any.whl"
BODY = json.dumps(metadata(tri())).encode()
MEGABYTE = 1024 * 1024


def listed(site: Site) -> None:
    """Serve tri on a page without hashes, so that they cannot be what is wrong."""
    site.add(*tri())
    names = [*(wheel.filename for wheel in tri()), NAME]
    site.write("/simple/tri/", page(f"/files/{name}" for name in names))


# The JSON. Replies that are broken in themselves are in test_metadata.py.


@pytest.mark.every_pip
@pytest.mark.parametrize("status", (302, 308))
def test_a_redirect_of_the_json_is_followed(pip: Pip, status: int) -> None:
    with Site() as site, Index() as other:
        pip.index_url = site.url
        listed(site)
        other.answer(NAME, Reply(BODY))
        there = {"Location": other.file_url(NAME)}
        site.write(f"/files/{NAME}", Reply(status=status, headers=there))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert result.warnings == []
        assert other.requests == [f"GET /files/{NAME}"]


DEGRADED: Mapping[str, Callable[[Site], Reply]] = {
    "a redirect to itself": lambda site: Reply(
        status=302, headers={"Location": site.file_url(NAME)}
    ),
    "a redirect to a login page": lambda site: Reply(
        status=302, headers={"Location": f"{site.host}/login"}
    ),
    "a redirect to nowhere": lambda site: Reply(
        status=302, headers={"Location": f"{site.host}/nowhere"}
    ),
    "a redirect to a closed port": lambda site: Reply(
        status=302, headers={"Location": "http://127.0.0.1:9/x.json"}
    ),
    "a redirect to another scheme": lambda site: Reply(
        status=302, headers={"Location": "file:///etc/hostname"}
    ),
    "a redirect that is no URL": lambda site: Reply(status=302, headers={"Location": "http://["}),
    "cut in the middle": lambda site: Reply(BODY[:100], length=len(BODY)),
    "cut in the middle of a chunk": lambda site: Reply(
        b"40\r\n{", headers={"Transfer-Encoding": "chunked"}, length=99
    ),
    "JSON as a page": lambda site: Reply(BODY, headers={"Content-Type": "text/html"}),
    "coded as something else": lambda site: Reply(BODY, headers={"Content-Encoding": "gzip"}),
    "partial content of nothing": lambda site: Reply(b"", status=206),
    "no content": lambda site: Reply(b"", status=204),
    "not modified": lambda site: Reply(b"", status=304),
    "too many requests": lambda site: Reply(b"", status=429),
    "unauthorized": lambda site: Reply(
        b"", status=401, headers={"WWW-Authenticate": 'Basic realm="x"'}
    ),
    "an odd status": lambda site: Reply(BODY, status=799),
    "compressed to nearly nothing": lambda site: Reply(
        gzip.compress(b" " * 30 * MEGABYTE, mtime=0), headers={"Content-Encoding": "gzip"}
    ),
}


@pytest.mark.parametrize("kind", sorted(DEGRADED))
def test_a_fault_of_the_json_costs_one_warning(pip: Pip, kind: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site)
        site.write(f"/files/{NAME}", DEGRADED[kind](site))
        site.write("/login", Reply(b"<!DOCTYPE html>", headers={"Content-Type": "text/html"}))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        # Of redirects and of headers that contradict each other pip itself warns as well.
        (warning,) = [line for line in result.warnings if "tri 1.0" in line]
        assert site.file_url(NAME) in warning
        assert len(warning) < 1000
        assert "Traceback" not in result.output


@pytest.mark.parametrize("args", (["install"], ["variant", "explain"]))
def test_without_a_terminal_nobody_is_asked_for_a_password(
    pip: Pip, index: Index, args: list[str]
) -> None:
    index.add(*tri())
    index.answer(NAME, Reply(status=401, headers={"WWW-Authenticate": 'Basic realm="x"'}))
    result = pip.variant(*args, "tri", driver="12.8", environ={"PIP_NO_INPUT": "0"}).check()
    (warning,) = result.warnings
    assert "asks for a password" in warning
    assert "User for" not in result.output


@pytest.mark.parametrize("kind", ("application/octet-stream", "text/plain; charset=utf-8"))
def test_a_plain_web_server_may_not_know_the_type(pip: Pip, index: Index, kind: str) -> None:
    index.add(*tri())
    index.answer(NAME, Reply(BODY, headers={"Content-Type": kind}))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


def test_json_may_come_compressed(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site)
        packed = gzip.compress(BODY, mtime=0)
        site.write(f"/files/{NAME}", Reply(packed, headers={"Content-Encoding": "gzip"}))
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.parametrize("chunked", (True, False))
def test_of_a_huge_file_little_is_taken(pip: Pip, chunked: bool) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site)
        site.write(f"/files/{NAME}", Reply(b" " * 100 * MEGABYTE, chunked=chunked))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        (warning,) = result.warnings
        assert "bigger than 10 MB" in warning
        # The bound, and what lies between the two ends of a connection.
        assert site.sent[f"/files/{NAME}"] < 25 * MEGABYTE


# The program of a run whose patience is at its end soon.
IMPATIENT = """\
import sys
from pipvariant.cli import main
from pipvariant.shim.finding import download
download.MAX_SECONDS = 0.4
sys.exit(main(sys.argv[1:]))
"""
CHUNKED = {"Transfer-Encoding": "chunked"}
SLOW: Mapping[str, Reply] = {
    "to answer": Reply(hold=True),
    "to be asked again": Reply(status=503, headers={"Retry-After": "3600"}),
    "to say how long a chunk is": Reply(b"0", headers=CHUNKED, drip=True),
    "to send a content without end": Reply(b" ", drip=True),
}


def test_a_length_beyond_all_files_costs_one_warning(pip: Pip) -> None:
    with Site(ranges=True) as site:
        pip.index_url = site.url
        null, plain = tri(builds=())
        site.add(null, plain)
        site.unlist(NAME)
        site.answer(null.filename, Reply(null.content, length=10**20))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        (warning,) = result.warnings
        assert "bigger than" in warning


@pytest.mark.parametrize(
    ("kind", "name"), tuple(zip(sorted(SLOW), itertools.cycle((NAME, "any-null.whl"))))
)
def test_a_server_that_is_slow_costs_one_warning(pip: Pip, kind: str, name: str) -> None:
    with Site(ranges=True) as site:
        pip.index_url = site.url
        site.add(*tri(builds=()))
        if name != NAME:
            site.unlist(NAME)
        site.answer(name if name == NAME else f"tri-1.0-py3-none-{name}", SLOW[kind])
        args = ("-c", IMPATIENT, "install", "tri")
        result = pip.run(args, driver="12.8", environ={"PIP_RETRIES": "5"}).check()
        assert pip.build("tri") == ("1.0", "")
        (warning,) = result.warnings
        assert "took more than 0 s" in warning


def test_a_redirect_to_a_file_of_this_machine_is_not_followed(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site)
        secret = pip.write("secret.json", [BODY.decode()])
        site.write(f"/files/{NAME}", Reply(status=302, headers={"Location": secret.as_uri()}))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        assert [line for line in result.warnings if "tri 1.0" in line]


def test_a_fault_of_one_project_leaves_the_others(pip: Pip, index: Index) -> None:
    index.add(*tri(), *tri(name="duo"))
    index.answer(NAME, Reply(status=500))
    pip.variant("install", "tri", "duo", driver="12.8").check()
    assert (pip.label("tri"), pip.label("duo")) == ("", "cuda12.8")


# Pages and wheels: what pip makes of them, with variants or without.


def alike(ours: Result, plains: Result) -> None:
    """The same exit status and the same errors, but for the name of the wheel."""
    assert ours.code == plains.code
    assert ours.stderr.replace(BEST, PLAIN) == plains.stderr


PAGES: Mapping[str, Reply] = {
    "not found": Reply(status=404),
    "forbidden": Reply(status=403),
    "server error": Reply(status=500),
    "empty": Reply(b"", headers={"Content-Type": "text/html"}),
    "cut": Reply(b"<!DOCTYPE html><a hr", headers={"Content-Type": "text/html"}, length=900),
    "another type": Reply(b"{}", headers={"Content-Type": "text/plain"}),
    "a login page": Reply(b"<!DOCTYPE html>Who?", headers={"Content-Type": "text/html"}),
    "an empty list": Reply(b'{"files": []}', headers={"Content-Type": JSON}),
    "to itself": Reply(status=302, headers={"Location": "/simple/tri/"}),
    "to nowhere": Reply(status=302, headers={"Location": "/nowhere/"}),
}


@pytest.mark.parametrize("kind", sorted(PAGES))
def test_a_fault_of_a_page_is_for_pip_to_say(pip: Pip, kind: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        site.add(*tri())
        site.write("/simple/tri/", PAGES[kind])
        install = ("install", "tri")
        ours, plains = pip.variant(*install, driver="12.8"), pip.plain(*install)
        alike(ours, plains)
        assert ours.stdout == plains.stdout
        assert plains.code == 1
        assert pip.installed() == {}


def test_a_page_that_is_no_json_ends_as_with_plain_pip(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        site.write("/simple/tri/", Reply(b"{", headers={"Content-Type": JSON}))
        install = ("install", "tri")
        ours, plains = pip.variant(*install, driver="12.8"), pip.plain(*install)
        # pip itself has a traceback here, whose inner lines are ours in one case.
        assert (ours.code, ours.output.splitlines()[-1]) == (
            plains.code,
            plains.output.splitlines()[-1],
        )
        assert plains.code != 0


def test_a_redirect_of_a_page_is_followed_and_links_are_relative_to_its_end(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        site.add(*tri())
        names = [*(wheel.filename for wheel in tri()), NAME]
        site.write("/simple/tri/", Reply(status=302, headers={"Location": "/moved/tri/page"}))
        site.write("/moved/tri/page", page(names))
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert site.requests[2:] == [f"GET /moved/tri/{NAME}", f"GET /moved/tri/{BEST}"]


WHEELS: Mapping[str, Reply] = {
    "not found": Reply(status=404),
    "forbidden": Reply(status=403),
    "server error": Reply(status=500),
    "empty": Reply(b""),
    "a login page": Reply(b"<!DOCTYPE html>Who?", headers={"Content-Type": "text/html"}),
    "to itself": Reply(status=302, headers={"Location": "/files/loop"}),
}


@pytest.mark.parametrize("kind", sorted(WHEELS))
def test_a_fault_of_a_wheel_ends_the_installation(pip: Pip, kind: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site)
        site.write("/files/loop", WHEELS["to itself"])
        for name in (PLAIN, BEST):
            site.write(f"/files/{name}", WHEELS[kind])
        install = ("install", "tri")
        ours, plains = pip.variant(*install, driver="12.8"), pip.plain(*install)
        assert ours.code == plains.code == 1
        assert pip.installed() == {}
        assert site.requests_for("-null.whl") == []
        # A variant wheel is asked for its properties before pip looks into it.
        if kind not in ("empty", "a login page"):
            alike(ours, plains)


def test_a_redirect_of_a_wheel_is_followed(pip: Pip) -> None:
    with Site() as site, Index() as other:
        pip.index_url = site.url
        site.add(*tri())
        other.add(*tri())
        there = {"Location": other.file_url(BEST)}
        site.write(f"/files/{BEST}", Reply(status=302, headers=there))
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert other.requests == [f"GET /files/{BEST}"]


@pytest.mark.every_pip
def test_a_wheel_that_is_cut_is_not_installed(pip: Pip, index: Index) -> None:
    index.add(*tri())
    wheel = next(wheel for wheel in tri() if wheel.label == "cuda12.8")
    cut = Reply(wheel.content[: len(wheel.content) // 2])
    index.answer(BEST, cut)
    result = pip.variant("install", "tri", driver="12.8")
    assert result.code == 1
    assert pip.installed() == {}
    index.answer(PLAIN, replace(cut, body=Wheel("tri").content[:99]))
    assert pip.plain("install", "tri").code in (1, 2)
