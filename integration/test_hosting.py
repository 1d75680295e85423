"""A folder becomes an index that Python's own web server hosts and that both pips install from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.test_make import serve
from integration.wheels import Sdist, Wheel, cuda, release, tri

LABEL = "tri-1.0-py3-none-any-cuda12.8.whl"
JSON = "tri-1.0-variants.json"


@pytest.fixture
def folder(pip: Pip) -> Path:
    """A flat folder: two versions of one project, with a dependency of one label only."""
    folder = pip.root / "public"
    folder.mkdir()
    requires = ('dep; "nvidia" in variant_namespaces',)
    wheels = [*tri(requires=requires), *tri("0.9", builds=("12.6",)), Wheel("dep")]
    for wheel in wheels:
        (folder / wheel.filename).write_bytes(wheel.content)
    sdist = Sdist(Wheel("other"))
    (folder / sdist.filename).write_bytes(sdist.content)
    return folder


@pytest.fixture
def url(pip: Pip, folder: Path) -> Iterator[str]:
    """The URL of the index that the command makes of it."""
    pip.variant("variant", "index", "--pages", folder).check()
    yield from serve(folder)


@pytest.mark.parametrize(
    ("driver", "label", "installed"),
    (
        ("12.8", "cuda12.8", {"tri": "1.0", "dep": "1.0"}),
        ("12.7", "cuda12.6", {"tri": "1.0", "dep": "1.0"}),
        (None, "null", {"tri": "1.0"}),
    ),
)
def test_the_pages_are_installed_from(
    pip: Pip, url: str, driver: str | None, label: str, installed: dict[str, str]
) -> None:
    pip.variant("install", "--index-url", url, "tri", driver=driver).check()
    assert pip.label("tri") == label
    assert pip.installed() == installed


def test_a_folder_and_the_page_in_it_are_one_source_to_the_user(pip: Pip, folder: Path) -> None:
    (folder / "tri").mkdir()
    for path in folder.glob("tri-*"):
        path.rename(folder / "tri" / path.name)
    pip.variant("variant", "index", "--pages", folder).check()
    args = ("install", "--no-index", "--find-links", f"{folder}/tri/", "tri==0.9")
    assert pip.variant(*args, driver="12.8").check().warnings == []
    assert pip.build("tri") == ("0.9", "cuda12.6")


def test_plain_pip_installs_ordinary_wheels_from_the_pages(pip: Pip, url: str) -> None:
    # Plain pips differ about tri 1.0, whose dependency has a marker that they do not know.
    pip.plain("install", "--index-url", url, "tri==0.9", "dep").check()
    assert pip.build("tri") == ("0.9", "")
    assert pip.installed() == {"tri": "0.9", "dep": "1.0"}


def test_the_hashes_of_the_pages_are_those_of_the_files(pip: Pip, folder: Path, url: str) -> None:
    (folder / LABEL).write_bytes(tri("1.0", builds=("12.8",))[0].content + b" ")
    result = pip.variant("install", "--index-url", url, "tri", driver="12.8")
    assert result.code == 1
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in result.output


def test_a_withdrawn_file_is_not_chosen(pip: Pip, folder: Path) -> None:
    for path in folder.glob("tri-1.0-*.whl"):
        path.with_name(f"{path.name}.yanked").write_text("wrong results")
    pip.variant("variant", "index", "--pages", folder).check()
    for url in serve(folder):
        pip.variant("install", "--index-url", url, "tri", driver="12.8").check()
    assert pip.build("tri") == ("0.9", "cuda12.6")


def test_a_new_label_is_installed_as_soon_as_the_index_is_made_anew(
    pip: Pip, folder: Path, url: str
) -> None:
    (wheel,) = tri(builds=("12.7",), null=False, plain=False)
    (folder / wheel.filename).write_bytes(wheel.content)
    result = pip.variant("variant", "index", "--pages", folder).check()
    assert str(folder / JSON) in result.stdout
    pip.variant("install", "--index-url", url, "tri", driver="12.7").check()
    assert pip.label("tri") == "cuda12.7"


def test_a_folder_without_pages_serves_machines_without_a_network(pip: Pip, folder: Path) -> None:
    pip.variant("variant", "index", folder).check()
    found = ("--no-index", "--find-links", folder)
    pip.variant("install", *found, "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


def test_a_fault_is_told_and_nothing_is_written(pip: Pip, folder: Path) -> None:
    other = Wheel("tri", label="cuda12.8", properties=(cuda("13.0"),), tag="py2.py3-none-any")
    (folder / other.filename).write_bytes(other.content)
    before = sorted(folder.iterdir())
    result = pip.variant("variant", "index", "--pages", folder)
    assert result.code == 1
    (line,) = result.lines_with("the properties of the label cuda12.8 differ")
    assert LABEL in line
    assert other.filename in line
    assert sorted(folder.iterdir()) == before


def test_index_needs_one_folder(pip: Pip) -> None:
    for words in ((), ("a", "b")):
        result = pip.variant("variant", "index", *words)
        assert (result.code, result.lines_with("which folder? One has to be named") != []) == (
            1,
            True,
        )
    assert pip.variant("variant", "index", "none").code == 1


def test_what_the_command_writes_has_no_finding(pip: Pip, folder: Path, url: str) -> None:
    result = pip.variant("variant", "lint", folder, f"{url}tri/").check()
    assert result.stdout == "Nothing is wrong.\n"


def test_lint_tells_file_place_and_rule_and_its_exit_code_says_it(pip: Pip, folder: Path) -> None:
    # A label in the name that is not the one inside.
    shutil.copy(folder / LABEL, folder / LABEL.replace("cuda12.8", "rocm7"))
    result = pip.variant("variant", "lint", folder / LABEL.replace("cuda12.8", "rocm7"))
    assert result.code == 1
    assert "rocm7.whl: variants: error V333: " in result.stdout
    assert "the label inside is 'cuda12.8', in the filename it is 'rocm7'" in result.stdout
    assert "Errors: 1, warnings: 0." in result.stdout


def test_what_lint_finds_in_a_wheel_is_not_installed(pip: Pip, folder: Path) -> None:
    renamed = folder / LABEL.replace("cuda12.8", "rocm7")
    shutil.copy(folder / LABEL, renamed)
    result = pip.variant("install", "--no-deps", renamed, driver="12.8")
    assert result.code == 1
    assert "the label inside is 'cuda12.8', in the filename it is 'rocm7'" in result.output
    assert pip.installed() == {}


def test_lint_prints_json_and_nothing_else(pip: Pip, folder: Path) -> None:
    (folder / "tri-1.0-py3-none-any-UPPER.whl").write_bytes((folder / LABEL).read_bytes())
    result = pip.variant("variant", "lint", "--json", folder)
    report = json.loads(result.stdout)
    assert (result.code, result.stderr, report["version"]) == (1, "", 1)
    assert [(one["rule"], one["severity"]) for one in report["findings"]] == [("V101", "error")]
    assert set(report["findings"][0]) == {
        *("file", "place", "rule", "severity", "title", "message", "remedy")
    }


def test_a_warning_alone_is_no_failure(pip: Pip, folder: Path) -> None:
    (wheel,) = release("tri", "3.0", {"same": (cuda("12.6"),)}, plain=False)
    (other,) = release("tri", "3.0", {"twin": (cuda("12.6"),)}, plain=False)
    for one in (wheel, other):
        (folder / one.filename).write_bytes(one.content)
    result = pip.variant("variant", "lint", folder).check()
    assert "warning V404" in result.stdout


@pytest.mark.parametrize("ranges", (True, False))
@pytest.mark.parametrize("pages", ("html", "json"))
def test_lint_reads_a_page_its_metadata_and_one_wheel_of_each_label(
    pip: Pip, index: Index, pages: str, ranges: bool
) -> None:
    index.pages, index.ranges = pages, ranges
    index.add(*tri())
    result = pip.variant("variant", "lint", f"{index.url}tri/").check()
    assert result.stdout == "Nothing is wrong.\n"
    wheels = {path for path in map(str, index.log) if path.endswith(".whl") and "GET" in path}
    assert len(wheels) == 4
    assert not any(path.endswith("any.whl") for path in wheels)
    if ranges:
        sent = [one for one in index.log if one.method == "GET" and one.path.endswith(".whl")]
        assert {one.status for one in sent} == {206}


@pytest.mark.parametrize(
    ("rule", "reply"),
    (
        ("V301", Reply(b"<html>login</html>")),
        ("V502", Reply(b"", status=404)),
        ("V502", Reply(b"<html></html>", headers={"Content-Type": "text/html"})),
    ),
)
def test_lint_finds_what_a_server_makes_of_the_metadata(
    pip: Pip, index: Index, rule: str, reply: Reply
) -> None:
    index.add(*tri())
    index.answer(JSON, reply)
    result = pip.variant("variant", "lint", "--json", f"{index.url}tri/")
    assert {one["rule"] for one in json.loads(result.stdout)["findings"]} == {rule}


def test_lint_does_not_fetch_large_wheels_whole(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(LABEL, Reply(bytes(11 << 20)))
    result = pip.variant("variant", "lint", f"{index.url}tri/").check()
    assert f"{LABEL}: warning V505: the server does not send parts of it, and it is bigger" in (
        result.stdout
    )


def test_lint_finds_a_wheel_that_is_not_there(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(LABEL, Reply(status=404))
    result = pip.variant("variant", "lint", f"{index.url}tri/")
    assert result.code == 1
    assert f"{LABEL}: error V502: " in result.stdout


def test_lint_finds_a_wrong_hash_and_a_missing_link(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.forge(JSON)
    assert "V503" in pip.variant("variant", "lint", f"{index.url}tri/").stdout
    index.unlist(JSON)
    assert "V501" in pip.variant("variant", "lint", f"{index.url}tri/").stdout


def test_lint_of_a_page_that_is_not_there(pip: Pip, index: Index) -> None:
    result = pip.variant("variant", "lint", f"{index.url}none/")
    assert result.code == 1
    assert "V504: " in result.stdout
