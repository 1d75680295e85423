"""Where files are found: the link that a source gives is the one that is requested."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import quote

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.sites import Site, page
from integration.wheels import Wheel, cuda, metadata, release, tri

NAME = "tri-1.0-variants.json"
BEST = "tri-1.0-py3-none-any-cuda12.8.whl"
LEGACY = "tri-1.0-py3-none-any.whl"


def names(wheels: Iterable[Wheel], version: str = "1.0") -> list[str]:
    return [*(wheel.filename for wheel in wheels), f"tri-{version}-variants.json"]


# Links on a page.

RELATIVE = {
    "relative": "../../files/{}",
    "relative to the host": "/files/{}",
    "with a query": "/files/{}?token=a%2Fb&for=tri-9.0-variants.json",
    "with a fragment": "../../files/{}#comment",
    "with a query and a fragment": "/files/{}?token=a#sha256={}",
}


@pytest.mark.parametrize("form", ("html", "json"))
@pytest.mark.parametrize("kind", sorted(RELATIVE))
def test_the_link_of_the_page_is_requested_as_it_is(pip: Pip, kind: str, form: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        wheels = tri()
        site.add(*wheels)
        body = json.dumps(metadata(wheels), indent=1).encode()
        digests = {wheel.filename: hashlib.sha256(wheel.content) for wheel in wheels}
        digests[NAME] = hashlib.sha256(body)
        links = [
            RELATIVE[kind].format(name, digest.hexdigest()) for name, digest in digests.items()
        ]
        site.write("/simple/tri/", page(links, form))
        pip.variant("install", "tri", driver="12.8").check()
        given = {name: link.replace("../..", "") for name, link in zip(digests, links)}
        assert site.requests == [
            "GET /simple/tri/",
            f"GET {given[NAME].partition('#')[0]}",
            f"GET {given[BEST].partition('#')[0]}",
        ]
        assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.parametrize("form", ("html", "json"))
def test_files_and_metadata_can_be_on_other_hosts(pip: Pip, form: str) -> None:
    wheels = tri()
    with Site() as site, Index() as files, Index() as said:
        pip.index_url = site.url
        files.add(*wheels)
        said.add(*wheels)
        links = [files.file_url(wheel.filename) for wheel in wheels] + [said.file_url(NAME)]
        site.write("/simple/tri/", page(links, form))
        pip.variant("install", "tri", driver="12.8").check()
        assert site.requests == ["GET /simple/tri/"]
        assert said.requests == [f"GET /files/{NAME}"]
        assert files.requests == [f"HEAD /files/{BEST}", f"GET /files/{BEST}"]


@pytest.mark.every_pip
def test_where_a_link_of_metadata_is_broken_the_next_one_is_tried(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        wheels = tri()
        site.add(*wheels)
        stale = "tri-1.0-variants.json?stale#sha256=" + "0" * 64
        broken = [f"..%2f..%2f{NAME}", f"../../files/{stale}", "/files/TRI-1.0-variants.json"]
        files = [f"/files/{wheel.filename}" for wheel in wheels]
        site.write(f"/files/{NAME}", Reply(status=404))
        site.write("/files/TRI-1.0-variants.json", Reply(b"<html>"))
        good = site.write(f"/last/{NAME}", Reply.json(metadata(wheels)))
        site.write("/simple/tri/", page([*broken, f"/files/{NAME}", *files, good]))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert result.warnings == []
        assert site.requests_for(NAME) == [f"GET /files/{NAME}", f"GET /last/{NAME}"]
        site.write(f"/last/{NAME}", Reply(b"["))
        (warning,) = pip.variant("download", "tri", driver="12.8").check().warnings
        assert f"/files/{NAME}: the server answered 404" in warning
        assert "and 1 more" in warning


@pytest.mark.parametrize("form", ("html", "json"))
def test_characters_can_be_quoted(pip: Pip, form: str) -> None:
    wheels = tri("1.0+ours")
    with Site() as site:
        pip.index_url = site.url
        site.add(*wheels)
        links = [f"/files/{quote(name)}" for name in names(wheels, "1.0+ours")]
        site.write("/simple/tri/", page(links, form))
        pip.variant("install", "tri", driver="12.8").check()
        assert site.requests_for("-variants.json") == ["GET /files/tri-1.0%2Bours-variants.json"]
        assert pip.build("tri") == ("1.0+ours", "cuda12.8")


def test_the_base_of_an_html_page_counts(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        wheels = tri()
        site.add(*wheels)
        base = f"<head><base href='{site.host}/a/'></head><body>"
        body = page(names(wheels)).body.replace(b"<body>", base.encode())
        site.write("/simple/tri/", Reply(body, headers={"Content-Type": "text/html"}))
        pip.variant("install", "tri", driver="12.8").check()
        assert site.requests[1:] == [f"GET /a/{NAME}", f"GET /a/{BEST}"]


def test_a_wheel_whose_url_only_mentions_metadata_is_a_wheel(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        wheel = Wheel("tri")
        site.add(wheel)
        site.write("/simple/tri/", page([f"/files/{wheel.filename}?not=x-variants.json"]))
        pip.variant("install", "tri").check()
        assert pip.build("tri") == ("1.0", "")


def test_of_a_file_that_is_listed_twice_the_first_counts(pip: Pip) -> None:
    wheels = tri()
    with Site() as site:
        pip.index_url = site.url
        site.add(*wheels)
        links = [f"/files/{name}" for name in names(wheels)]
        site.write("/simple/tri/", page([*links, f"/other/{NAME}"]))
        site.write(f"/other/{NAME}", Reply(b"{}"))
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")


# Several sources.


def sources(kind: str, first: Index, second: Index) -> tuple[str, ...]:
    if kind == "find-links":
        return ("--index-url", first.url, "--find-links", f"{second.url}tri/")
    return ("--index-url", first.url, "--extra-index-url", second.url)


@pytest.mark.every_pip
@pytest.mark.parametrize("kind", ("extra-index-url", "find-links"))
@pytest.mark.parametrize("swapped", (False, True))
def test_the_source_that_plain_pip_takes_from_is_preferred(
    pip: Pip, kind: str, swapped: bool
) -> None:
    with Index(pages="html") as older, Index(pages="html") as newer:
        older.add(*tri(builds=["12.6"]))
        newer.add(*tri(builds=["12.8"]))
        options = sources(kind, *((newer, older) if swapped else (older, newer)))
        pip.plain("install", "--target", "plain", *options, "tri").check()
        label = "cuda12.6" if older.requests_for(LEGACY) else "cuda12.8"
        pip.variant("install", *options, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", label)


def test_metadata_without_wheels_says_nothing_about_wheels_elsewhere(pip: Pip) -> None:
    wheels = release("tri", labels={"x": (cuda("13.0"),)})
    with Index() as index, Site() as other:
        index.add(*wheels)
        index.unlist(NAME)
        other.write("/simple/tri/", page([NAME]))
        said = metadata([replace(wheels[0], properties=(cuda("12.0"),))])
        other.write(f"/simple/tri/{NAME}", Reply.json(said))
        options = ("--index-url", index.url, "--extra-index-url", other.url)
        pip.variant("install", *options, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        assert other.requests_for(NAME) == []


def test_a_source_that_is_named_twice_is_asked_once(pip: Pip, index: Index) -> None:
    index.add(*tri())
    options = ("--extra-index-url", index.url, "--find-links", f"{index.url}tri/")
    result = pip.variant("install", *options, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert index.requests_for(NAME) == [f"GET /files/{NAME}"]
    assert result.warnings == []


# Sources that are no index.


@pytest.mark.every_pip
def test_a_page_as_find_links(pip: Pip, index: Index) -> None:
    index.pages = "html"
    index.add(*tri())
    options = ("--no-index", "--find-links", f"{index.url}tri/")
    pip.variant("install", *options, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert index.requests_for(".json") == [f"GET /files/{NAME}"]


@pytest.mark.every_pip
@pytest.mark.parametrize("beside", (True, False))
def test_urls_of_wheels_as_find_links(pip: Pip, index: Index, beside: bool) -> None:
    wheels = tri(builds=["12.6", "12.8"])
    index.add(*wheels)
    given = names(wheels) if beside else names(wheels)[:-1]
    options = [f"--find-links={index.file_url(name)}" for name in given]
    pip.variant("install", "--no-index", *options, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert bool(index.requests_for(NAME)) == beside


LOCAL = ("folder URL", "page", "wheels", "file: index")


@pytest.mark.parametrize("kind", LOCAL)
def test_files_on_the_disk_answer_as_an_index_does(pip: Pip, index: Index, kind: str) -> None:
    wheels = tri()
    folder = pip.work / "files"
    folder.mkdir()
    for wheel in wheels:
        (folder / wheel.filename).write_bytes(wheel.content)
    # It says less than the wheels do, so the label tells which of the two was asked.
    (folder / NAME).write_bytes(Reply.json(metadata(tri(builds=["12.6"]))).body)
    (pip.work / "page.html").write_bytes(page(f"files/{name}" for name in names(wheels)).body)
    simple = pip.work / "simple" / "tri"
    simple.mkdir(parents=True)
    links = page(f"../../files/{name}" for name in names(wheels))
    (simple / "index.html").write_bytes(links.body)
    options = {
        "folder URL": ["--no-index", f"--find-links={folder.as_uri()}"],
        "page": ["--no-index", "--find-links=page.html"],
        "wheels": ["--no-index", *(f"--find-links=files/{w.filename}" for w in wheels)],
        "file: index": ["--index-url", simple.parent.as_uri()],
    }
    pip.variant("install", *options[kind], "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")
    assert index.requests == []


# A constraint that is a URL.


@pytest.mark.every_pip
def test_a_constraint_that_is_a_url_decides_by_its_own_metadata(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("user", requires=("tri",)))
    pip.write("constraints.txt", [f"tri @ {index.file_url(BEST)}"])
    pip.variant("install", "-c", "constraints.txt", "user", driver="13.0").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert index.requests_for(NAME) == []


@pytest.mark.every_pip
def test_a_constraint_that_does_not_fit_is_refused(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("user", requires=("tri",)))
    pip.write("constraints.txt", [f"tri @ {index.file_url(BEST)}"])
    result = pip.variant("install", "-c", "constraints.txt", "user", driver="12.4")
    assert result.code == 1
    assert result.lines_with("cuda_version_lower_bound", "12.8", "12.4")
    assert "Traceback" not in result.output
    assert pip.installed() == {}


# Metadata that has to be read out of wheels on a server.


def bulky(index: Index, size: int) -> list[Wheel]:
    """A release of wheels that are big and cannot be compressed, and no variants.json."""
    bulk = random.Random(1).randbytes(size // 2).hex()
    wheels = tri(builds=["12.6", "12.8"], modules={"bulk": f"BULK = {bulk!r}\n"})
    index.add(*wheels)
    index.unlist(NAME)
    return wheels


def test_of_big_wheels_only_the_needed_parts_are_fetched(pip: Pip) -> None:
    with Site(ranges=True) as site:
        pip.index_url = site.url
        wheels = bulky(site, 1_000_000)
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        sizes = {wheel.label: len(wheel.content) for wheel in wheels}
        taken = {label: site.sent[f"/files/tri-1.0-py3-none-any-{label}.whl"] for label in sizes}
        assert taken["cuda12.6"] < sizes["cuda12.6"] // 10
        assert taken["null"] < sizes["null"] // 10
        assert taken["cuda12.8"] < sizes["cuda12.8"] * 1.1


def test_rubbish_in_place_of_big_wheels_is_given_up_early(pip: Pip) -> None:
    with Site(ranges=True) as site:
        pip.index_url = site.url
        wheels = bulky(site, 1_000)
        rubbish = random.Random(2).randbytes(4_000_000)
        for wheel in wheels[:-1]:
            site.answer(wheel.filename, Reply(rubbish))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        assert len(result.warnings) == 1
        assert sum(site.sent.values()) < 1_000_000


PARTLY = {
    "says that it sends parts and sends all": Reply(headers={"Accept-Ranges": "bytes"}),
    "does not say how long it is": Reply(chunked=True),
}


@pytest.mark.parametrize("kind", sorted(PARTLY))
def test_a_server_without_parts_sends_small_wheels_whole(pip: Pip, index: Index, kind: str) -> None:
    wheels = tri()
    index.add(*wheels)
    index.unlist(NAME)
    for wheel in wheels:
        index.answer(wheel.filename, replace(PARTLY[kind], body=wheel.content))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


@pytest.mark.parametrize("kind", sorted(PARTLY))
def test_what_is_no_wheel_is_given_up_with_its_first_bytes(pip: Pip, kind: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        site.add(*tri())
        site.unlist(NAME)
        for wheel in tri(plain=False):
            site.answer(wheel.filename, replace(PARTLY[kind], body=bytes(60_000_000)))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        (warning,) = result.warnings
        assert "what the server sends is no wheel" in warning
        # For each of the four what lies between two ends of a socket.
        assert sum(site.sent.values()) < 100_000_000


def test_a_server_that_answers_get_only_sends_small_wheels_whole(pip: Pip) -> None:
    with Site(head=False) as site:
        pip.index_url = site.url
        site.add(*tri())
        site.unlist(NAME)
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert result.warnings == []
