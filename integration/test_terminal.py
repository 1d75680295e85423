"""What servers and plugins wrote reaches the terminal as harmless text, without passwords."""

from __future__ import annotations

import pytest

from integration.environments import Pip, Result
from integration.index import HTML, Index, Reply
from integration.test_plugins import ACME, TRUST, answering, plugin
from integration.wheels import cuda, metadata, release, tri
from tests.commands.test_printed import EVIL, OBEYED

NAME = "tri-1.0-variants.json"
WHEEL = "tri-1.0-py3-none-any-cuda13.0.whl"
#: As it can stand in a header and, quoted, in a URL.
HEADER = "\x1b[31m\x07\x9b1mPLANTED"
QUOTED = "%1B[31m%07%C2%9B1m%E2%80%AEPLANTED"


def check_harmless(result: Result, words: str = "planted") -> None:
    assert "Traceback" not in result.output
    assert words in result.output.lower()
    for text in (result.stdout, result.stderr):
        assert OBEYED.search(text) is None, text


@pytest.mark.parametrize(
    "reply",
    (
        Reply(b"{}", headers={"Content-Type": f"text/html;{HEADER}"}),
        Reply(b"{}", headers={"Content-Encoding": HEADER}),
        Reply.json({**metadata(tri()), "variants": {EVIL: {}}}),
    ),
    ids=("type", "encoding", "label"),
)
def test_what_a_server_says_is_printed_as_text(pip: Pip, index: Index, reply: Reply) -> None:
    index.add(*tri())
    index.answer(NAME, reply)
    check_harmless(pip.variant("install", "-v", "tri", driver="12.8").check())


def page(index: Index, *names: str, host: str = "") -> tuple[str, ...]:
    """Options for a page that links these names and nothing else."""
    links = "".join(f'<a href="{host or index.host}/files/{name}">x</a>' for name in names)
    index.answer("page.html", Reply(links.encode(), headers={"Content-Type": HTML}))
    return ("--no-index", "--find-links", f"{host or index.host}/files/page.html")


@pytest.mark.every_pip
def test_what_a_page_says_is_printed_as_text(pip: Pip, index: Index) -> None:
    index.add(*tri())
    foreign = WHEEL.replace("any", f"win_{QUOTED}")
    for command in (("install",), ("variant", "explain")):
        check_harmless(pip.variant(*command, *page(index, foreign, NAME), "tri", driver="13.0"))
    hashed = (WHEEL, f"{NAME}#{QUOTED}=0")
    check_harmless(pip.variant("install", *page(index, *hashed), "tri", driver="13.0"), "cuda13.0")
    index.answer("requirements.txt", Reply(f"--variant x={EVIL}".encode()))
    check_harmless(pip.variant("install", "-r", index.file_url("requirements.txt")), "x1b[31m")


def test_what_a_plugin_says_is_printed_as_text(pip: Pip, index: Index) -> None:
    body = answering(("speed", [EVIL, "high"]), (EVIL, ["a"]), first=f"print({EVIL!r})")
    index.add(plugin(body), *release("tri", labels={"a": ("acme :: size :: b",)}, providers=ACME))
    check_harmless(pip.variant("install", "-vv", *TRUST, "tri").check())


def test_no_output_has_the_password_of_a_url(pip: Pip, index: Index) -> None:
    index.add(*tri())
    host = index.host.replace("//", "//me:s3cret@")
    options = page(index, WHEEL, NAME, host=host)
    # As a page that is not there, and of a metadata file with faults.
    results = [
        pip.variant("variant", "lint", *words, f"{host}/none") for words in ((), ("--json",))
    ]
    results.append(pip.variant("variant", "explain", "--json", *options, "tri", driver="13.0"))
    index.answer(NAME, Reply(b"{"))
    results.append(pip.variant("variant", "lint", options[-1]))
    results.append(pip.variant("install", "-v", *options, "tri", driver="13.0"))
    index.answer("requirements.txt", Reply(b"--variant x=Y"))
    results.append(pip.variant("install", "-r", f"{host}/files/requirements.txt"))
    assert [result for result in results if "s3cret" in result.output] == []
    assert sum("me:****@" in result.output for result in results) == 5
    index.answer(NAME, Reply.json(metadata(tri())))
    pip.variant("install", f"{host}/files/{WHEEL}", driver="13.0").check()
    recorded = [*pip.site.glob("tri-1.0.dist-info/*")]
    assert recorded
    assert all(b"s3cret" not in path.read_bytes() for path in recorded)


def test_at_most_three_properties_are_named_and_the_others_counted(pip: Pip, index: Index) -> None:
    many = [f"nvidia :: cuda_version_lower_bound :: 11.{minor}" for minor in range(9)]
    index.add(*release("tri", labels={"many": (*many, cuda("12.0"))}))
    result = pip.variant("install", "tri", driver="13.0").check()
    (line,) = result.lines_with("variant many")
    assert line.endswith(":: 11.2 and 7 more)")
