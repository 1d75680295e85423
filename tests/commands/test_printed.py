"""Whatever others wrote into a field of a file, a terminal gets nothing of it to obey."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipvariant.commands import index, init, lint, make, platform, unmake
from pipvariant.commands.output import write_json
from pipvariant.errors import PipVariantError
from pipvariant.printable import printable, some
from tests.authoring.test_lint import DOCUMENT, MKL, variant
from tests.commands.options import parsed
from tests.standard.documents import older
from tests.wheelfile.ordinary import FILES, INFO, NAME, record_of, wheel

#: An escape, a bell, control characters of 8 bits, marks of direction, ends of lines.
EVIL = "\x1b[31m\x07\x7f\x9b1m\x85\u202e\u2066\u2028\rPLANTED\nPLANTED"
OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|^PLANTED",
    re.IGNORECASE | re.MULTILINE,
)
COMMANDS = {
    each.__name__.rpartition(".")[2]: each for each in (index, init, lint, make, platform, unmake)
}


def spoiled(value: Any) -> Iterator[Any]:
    """Yield a document with each of its strings and keys spoiled, one after the other."""
    if isinstance(value, str):
        yield value + EVIL
    elif isinstance(value, dict):
        for key, item in value.items():
            others = {name: other for name, other in value.items() if name != key}
            yield {key + EVIL: item, **others}
            yield from ({**value, key: bad} for bad in spoiled(item))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from ([*value[:place], bad, *value[place + 1 :]] for bad in spoiled(item))


def toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)} = {toml(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return f"[{', '.join(map(toml, value))}]" if isinstance(value, list) else json.dumps(value)


def write_toml(path: Path, document: dict[str, Any]) -> None:
    path.write_text("".join(f"{json.dumps(k)} = {toml(v)}\n" for k, v in document.items()))


def printed(name: str, *words: str | Path, of: tuple[str | Path, ...] = ()) -> str:
    """Run a command; what it printed, and the error that pip would print."""
    out = io.StringIO()
    module = COMMANDS[name]
    try:
        getattr(module, f"run_{name}")(parsed(module, *words), list(map(str, of)), out)
    except PipVariantError as error:
        out.write(str(error))
    assert OBEYED.search(out.getvalue()) is None, (name, words, out.getvalue())
    return out.getvalue()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("document", (dict(DOCUMENT), older()), ids=("new", "older"))
def test_no_field_of_metadata_reaches_a_terminal(here: Path, document: dict[str, Any]) -> None:
    seen = 0
    for bad in spoiled(document):
        (here / "tri-1.0-variants.json").write_text(json.dumps(bad))
        variant(here, data=json.dumps(bad).encode())
        seen += "PLANTED" in printed("lint", of=(here,))
        json.loads(printed("lint", "--json", of=(here,)))
        printed("index", of=(here,))
        printed("unmake", of=(MKL,))
    assert seen > 10


@pytest.mark.parametrize("entry", ("METADATA", "RECORD", "name"))
def test_nothing_inside_a_wheel_reaches_a_terminal(here: Path, entry: str) -> None:
    core = f"{EVIL}\nRequires-Dist: x{EVIL}\nRequires-Dist: x; variant_label == '{EVIL}'\n"
    core += f"Requires-Dist: x; variant_label in '{EVIL}'\nRequires-Python: {EVIL}\n"
    more = {"METADATA": {f"{INFO}/METADATA": FILES[f"{INFO}/METADATA"] + core.encode()}}
    unsafe = {"name": {f"../{EVIL}": b""}, **more}.get(entry, {f"x{EVIL}": b""})
    record = record_of({**FILES, EVIL: b""}) if entry == "RECORD" else None
    for name in (NAME, MKL):
        wheel(here, name=name, more=unsafe, record=record)
    for command in ("lint", "index", "unmake"):
        printed(command, of=(MKL if command == "unmake" else here,))
    printed("index", "--pages", of=(here,))
    printed("make", "--property", "x86_64 :: level :: v3", of=(NAME,))


@pytest.mark.parametrize(
    "name",
    (
        f"tri{EVIL}-1.0-py3-none-any.whl",
        f"tri-1.0{EVIL}-py3-none-any-mkl.whl",
        f"tri-1.0-py3-none-any-mkl{EVIL}.whl",
        f"tri-1.0-py3{EVIL}-none-any.whl",
        f"tri{EVIL}-1.0-variants.json",
        f"tri-1.0{EVIL}.tar.gz",
        f"{EVIL}.html",
    ),
)
def test_no_filename_reaches_a_terminal(here: Path, name: str) -> None:
    variant(here)
    (here / name).write_bytes((here / MKL).read_bytes())
    for command, *words in (("lint",), ("lint", "--json"), ("index",), ("index", "--pages")):
        printed(command, *words, of=(here,))
    for command in ("lint", "make", "unmake", "index"):
        printed(command, of=(name,))
    (here / EVIL).mkdir()
    printed("make", "--null", "-o", EVIL, "--property", "x86_64 :: level :: v3", of=(name,))


def test_no_field_of_a_target_file_reaches_a_terminal(here: Path) -> None:
    entry = {"source": "s", "facts": {"driver": "12.8"}, "features": {"sm_arch": ["90_real"]}}
    short = {"nvidia": {"driver": "12.8"}, "x86_64": {"level": "v3"}}
    stated = {"format": 1, "namespace": {**short, "amd": {**entry, "facts": {"gfx": "a"}}}}
    for bad in spoiled({**stated, "namespace": {**short, "acme": entry}}):
        write_toml(here / "target.toml", bad)
        for words in ((), ("--json",), ("--output", "-"), ("--output", "copy.toml")):
            printed("platform", "--variant-target", "target.toml", *words)
        printed("platform", "--output", "target.toml")


def test_no_field_of_pyproject_reaches_a_terminal(here: Path) -> None:
    table = {key: value for key, value in DOCUMENT.items() if key != "$schema"}
    wheel(here)
    for bad in spoiled({"project": {"name": "tri"}, "variant": table}):
        write_toml(here / "pyproject.toml", bad)
        printed("make", "-o", "made", "--force", of=(NAME,))
        printed("init", of=("nvidia" + EVIL,))


def test_a_line_is_cut_where_it_is_too_long_to_read() -> None:
    assert printable("a" * 2_000_000 + " is no name") == "a" * 400 + "... is no name"
    assert printable("a b " * 1_000_000, 10) == "a b a b a  ..."
    assert some(range(50)) == "0, 1, 2 and 47 more"
    assert some("abcd", joint=" or ") == "a or b or c or 1 more"
    assert some("abc", joint=" or ") == "a or b or c"
    assert some("abcd", joint="; ") == "a; b; c; and 1 more"


@pytest.mark.parametrize(
    ("url", "shown"),
    (
        ("https://me:secret@host/a", "https://me:****@host/a"),
        ("git+https://secret@host/a", "git+https://****@host/a"),
        ("a https://me:sec@ret@host, http://:secret@b", "a https://me:****@host, http://:****@b"),
        ("https://host/a@b?c@d e@f", "https://host/a@b?c@d e@f"),
    ),
)
def test_a_url_is_shown_without_its_password_as_pip_shows_it(url: str, shown: str) -> None:
    assert printable(url) == shown
    assert str(PipVariantError("lost", where=url)) == f"{shown}: lost"
    out = io.StringIO()
    write_json(out, {"file": url})
    assert json.loads(out.getvalue()) == {"file": shown}
