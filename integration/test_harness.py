"""The wheels, the server and the environments are right, as plain pip sees them."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import urllib.request
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.wheels import Sdist, Wheel, cuda, tri

pytestmark = pytest.mark.every_pip


def fetch(url: str, accept: str = "*/*") -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept})) as reply:
        body: bytes = reply.read()
    return body


def test_the_same_words_give_the_same_bytes() -> None:
    wheel = Wheel("tri", label="cuda12.8", properties=(cuda("12.8"),))
    assert replace(wheel).content == wheel.content
    assert Sdist(replace(wheel)).content == Sdist(wheel).content


def test_a_labelled_wheel_carries_its_properties() -> None:
    wheel = Wheel("a-b", build="2", label="x", properties=("n :: f :: 2", "n :: f :: 1"))
    assert wheel.filename == "a_b-1.0-2-py3-none-any-x.whl"
    with zipfile.ZipFile(BytesIO(wheel.content)) as archive:
        carried = json.loads(archive.read("a_b-1.0.dist-info/variant.json"))
    assert carried["variants"] == {"x": {"n": {"f": ["1", "2"]}}}


def test_pages_follow_the_accept_header(index: Index) -> None:
    index.add(*tri(builds=["12.8"]))
    page = json.loads(fetch(index.url + "tri/", "application/vnd.pypi.simple.v1+json"))
    names = [entry["filename"] for entry in page["files"]]
    assert names == [
        "tri-1.0-py3-none-any-cuda12.8.whl",
        "tri-1.0-py3-none-any-null.whl",
        "tri-1.0-py3-none-any.whl",
        "tri-1.0-variants.json",
    ]
    assert all(name in fetch(index.url + "tri/").decode() for name in names)


def test_listed_hashes_are_those_of_the_files(index: Index) -> None:
    index.add(*tri())
    page = json.loads(fetch(index.url + "tri/", "application/vnd.pypi.simple.v1+json"))
    for entry in page["files"]:
        body = fetch(index.file_url(entry["filename"]))
        assert hashlib.sha256(body).hexdigest() == entry["hashes"]["sha256"]


def test_a_declared_answer_is_served_to_the_letter(index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", Reply(b"no", headers={"X-Odd": "1"}, chunked=True))
    assert fetch(index.file_url("tri-1.0-variants.json")) == b"no"


def test_the_pip_under_test_is_the_one_that_was_meant(pip: Pip) -> None:
    meant = os.environ.get("PIPVARIANT_TEST_PIP") or importlib.metadata.version("pip")
    assert pip.plain("--version").check().stdout.startswith(f"pip {meant} from ")


@pytest.mark.parametrize("pages", ("html", "json"))
def test_plain_pip_takes_the_wheel_without_a_label(pip: Pip, index: Index, pages: str) -> None:
    index.pages = pages
    index.add(*tri())
    pip.plain("install", "tri").check()
    assert pip.build("tri") == ("1.0", "")
    assert index.requests == ["GET /simple/tri/", "GET /files/tri-1.0-py3-none-any.whl"]


def test_plain_pip_builds_an_sdist(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("made")))
    pip.plain("install", "made").check()
    assert pip.build("made") == ("1.0", "")
    assert (pip.site / "built_with.py").read_text() == "FOUND = None\n"


def test_an_environment_sees_nothing_of_this_machine(pip: Pip, tmp_path: Path) -> None:
    listed = pip.plain("list", "--format", "json").check()
    assert json.loads(listed.stdout) == []
    where = pip.run(["-c", "import sys; print(sys.prefix)"]).stdout.strip()
    assert where == str(tmp_path / "env")
