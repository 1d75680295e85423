"""The pages of an index: the same facts in both forms, for installers and for people."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest

from integration.wheels import Sdist, Wheel, tri
from pipvariant.authoring.index import build_index
from tests.authoring.test_index import faults, put

HOSTILE = "<script>alert(1)</script> & \"quoted\" 'too'"


class Page(HTMLParser):
    """What an installer sees of a page (anchors), and what people see (cells of tables)."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: dict[str, dict[str, str | None]] = {}
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self._anchor = ""
        self.path = path
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "a":
            self._attributes = dict(attrs)
            self._anchor = "open"

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._anchor = ""
        elif tag == "table":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._anchor:
            self.anchors[data] = self._attributes
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data

    def target(self, name: str) -> Path:
        """The file that an anchor leads to, as a web server of the folder would serve it."""
        url, _ = urldefrag(self.anchors[name]["href"] or "")
        return Path(unquote(urljoin(self.path.as_uri(), url)).removeprefix("file://"))

    def row(self, first: str) -> list[str]:
        return next(row for row in self.rows if row and row[0] == first)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with wheels of two versions and a source distribution."""
    needing = [
        replace(wheel, requires_python=">=3.9,<4", requires=('x; "nvidia" in variant_namespaces',))
        for wheel in tri("2.0")
    ]
    put(tmp_path, *tri(), *needing, Wheel("other-thing"))
    sdist = Sdist(Wheel("tri", "2.0"))
    (tmp_path / sdist.filename).write_bytes(sdist.content)
    build_index(tmp_path, pages=True)
    return tmp_path


def test_every_file_has_an_anchor_with_its_hash(site: Path) -> None:
    page = Page(site / "tri" / "index.html")
    files = {path.name for path in site.iterdir() if path.name.startswith("tri-")}
    assert set(page.anchors) == {name for name in files if not name.endswith(".metadata")}
    assert len(page.anchors) == 13
    for name, attributes in page.anchors.items():
        assert page.target(name) == site / name
        assert urldefrag(attributes["href"] or "")[1] == f"sha256={sha256(site / name)}"


def test_the_metadata_of_each_wheel_is_beside_it_as_it_is_inside(site: Path) -> None:
    page = Page(site / "tri" / "index.html")
    for wheel in tri():
        path = site / f"{wheel.filename}.metadata"
        assert path.read_text() == wheel.metadata_text
        for name in ("data-core-metadata", "data-dist-info-metadata"):
            assert page.anchors[wheel.filename][name] == f"sha256={sha256(path)}"
    assert "data-core-metadata" not in page.anchors["tri-2.0.tar.gz"]


def test_markers_of_variants_are_copied_verbatim(site: Path) -> None:
    text = (site / "tri-2.0-py3-none-any-cuda12.6.whl.metadata").read_text()
    assert 'Requires-Dist: x; "nvidia" in variant_namespaces\n' in text


def test_both_forms_say_the_same(site: Path) -> None:
    page = Page(site / "tri" / "index.html")
    document = json.loads((site / "tri" / "index.json").read_text())
    assert document["meta"]["api-version"] == "1.1"
    assert document["name"] == "tri"
    assert document["versions"] == ["1.0", "2.0"]
    assert {entry["filename"] for entry in document["files"]} == set(page.anchors)
    for entry in document["files"]:
        name = entry["filename"]
        attributes = page.anchors[name]
        assert attributes["href"] == f"{entry['url']}#sha256={entry['hashes']['sha256']}"
        assert attributes.get("data-requires-python") == entry.get("requires-python")
        core = entry.get("core-metadata", {}).get("sha256")
        assert attributes.get("data-core-metadata") == (f"sha256={core}" if core else None)
        assert entry["size"] == (site / name).stat().st_size


def test_the_root_lists_the_projects_in_both_forms(site: Path) -> None:
    page = Page(site / "index.html")
    assert {name: found["href"] for name, found in page.anchors.items()} == {
        "other-thing": "other-thing/",
        "tri": "tri/",
    }
    document = json.loads((site / "index.json").read_text())
    assert document["projects"] == [{"name": "other-thing"}, {"name": "tri"}]


def test_people_read_label_needs_and_size(site: Path) -> None:
    page = Page(site / "tri" / "index.html")
    _, needs, python, size, file = page.row("cuda12.6")
    assert needs.startswith("nvidia :: cuda_version_lower_bound :: 12.6")
    assert "1 dependency" in needs
    assert python == ">=3.9,<4"
    assert size.endswith("kB")
    assert file.strip() == "tri-2.0-py3-none-any-cuda12.6.whl"
    assert page.row("null")[1].startswith("nothing, it fits every machine")
    assert page.row("source")[4].strip() == "tri-2.0.tar.gz"
    said = " ".join(page.texts)
    assert "what a machine supports is said by: nvidia (nvidia-variant-provider)." in said
    assert said.index("2.0") < said.index("1.0")


def test_several_values_are_read_as_any_of_them(tmp_path: Path) -> None:
    properties = ("nvidia :: sm_arch :: 80_real", "nvidia :: sm_arch :: 90_real")
    put(tmp_path, Wheel("tri", label="sm", properties=properties))
    build_index(tmp_path, pages=True)
    page = Page(tmp_path / "tri" / "index.html")
    assert page.row("sm")[1] == "nvidia :: sm_arch :: 80_real or 90_real"


def test_a_page_needs_no_script(site: Path) -> None:
    page = Page(site / "tri" / "index.html")
    assert not page.tags & {"script", "link", "img", "iframe"}
    assert {"main", "h1", "caption", "th"} <= page.tags
    text = page.path.read_text()
    assert '<html lang="en">' in text
    assert "color-scheme: light dark" in text


def test_what_a_wheel_says_is_only_text(tmp_path: Path) -> None:
    put(tmp_path, Wheel("tri", requires_python=HOSTILE, requires=(HOSTILE,)))
    build_index(tmp_path, pages=True)
    page = Page(tmp_path / "tri" / "index.html")
    assert "script" not in page.tags
    assert page.anchors["tri-1.0-py3-none-any.whl"]["data-requires-python"] == HOSTILE
    assert HOSTILE in page.row("ordinary wheel")[1]


def test_a_folder_for_each_project_serves_too(tmp_path: Path) -> None:
    put(tmp_path / "tri", *tri())
    put(tmp_path / "Num_Py", Wheel("num-py", "1.0+local"))
    build_index(tmp_path, pages=True)
    for name in ("tri", "num-py"):
        page = Page(tmp_path / name / "index.html")
        assert all(page.target(found).is_file() for found in page.anchors)
    assert "%2B" in (Page(tmp_path / "num-py" / "index.html").path).read_text()


def test_a_file_beside_another_withdraws_it_with_a_reason(tmp_path: Path) -> None:
    put(tmp_path, *tri())
    (tmp_path / "tri-1.0-py3-none-any-cuda12.6.whl.yanked").write_text("wrong results\n")
    (tmp_path / "tri-1.0-py3-none-any.whl.yanked").touch()
    build_index(tmp_path, pages=True)
    page = Page(tmp_path / "tri" / "index.html")
    yanked = {name: found.get("data-yanked") for name, found in page.anchors.items()}
    assert yanked["tri-1.0-py3-none-any-cuda12.6.whl"] == "wrong results"
    assert yanked["tri-1.0-py3-none-any.whl"] == ""
    assert yanked["tri-1.0-py3-none-any-null.whl"] is None
    assert "withdrawn wrong results" in page.row("cuda12.6")[4]
    files = json.loads((tmp_path / "tri" / "index.json").read_text())["files"]
    found: dict[str, Any] = {entry["filename"]: entry.get("yanked") for entry in files}
    assert found["tri-1.0-py3-none-any-cuda12.6.whl"] == "wrong results"
    assert found["tri-1.0-py3-none-any.whl"] is True


def test_equal_wheels_give_equal_pages(
    site: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    for path in sorted(site.glob("*.whl"), reverse=True) + list(site.glob("*.tar.gz")):
        shutil.copy(path, other)
    build_index(other, pages=True)
    for path in site.rglob("*"):
        if path.is_file():
            assert (other / path.relative_to(site)).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ("index.html", "index.json", "tri/index.json"))
def test_a_page_of_somebody_else_is_not_written_over(tmp_path: Path, name: str) -> None:
    put(tmp_path / "tri", *tri())
    (tmp_path / name).write_text('{"my": "site"}')
    (fault,) = faults(tmp_path)
    assert fault.startswith(f"{tmp_path / name}: is there already and was not made by this command")


@pytest.mark.parametrize(
    "name",
    (
        "secret-1.0-py3-none-any.whl",
        "secret-1.0.tar.gz",
        "tri-1.0-py3-none-any.whl.yanked",
        "tri-1.0-py3-none-any.whl.metadata",
        "tri",
    ),
)
def test_nothing_is_published_or_written_through_a_link_out_of_the_folder(
    tmp_path: Path, name: str
) -> None:
    folder, outside = put(tmp_path / "site", *tri()), tmp_path / "outside"
    if name == "tri":
        outside.mkdir()
    else:
        outside.write_bytes(Wheel("secret").content)
    (folder / name).symlink_to(outside)
    assert faults(folder) == [f"{folder / name}: is a link that leads out of the folder"]


def test_a_link_to_a_file_of_the_same_folder_is_one_of_it(tmp_path: Path) -> None:
    kept = put(tmp_path / "kept", Wheel("tri")) / Wheel("tri").filename
    (tmp_path / "tri-1.0-py2-none-any.whl").symlink_to(kept)
    assert build_index(tmp_path, pages=True).written


def test_what_is_left_of_files_that_are_gone_is_told(site: Path) -> None:
    (site / "other_thing-1.0-py3-none-any.whl").unlink()
    (site / "notes.zip").touch()
    notes = build_index(site, pages=True).notes
    assert [note.partition(": ")[0] for note in notes] == [
        str(site / "notes.zip"),
        str(site / "other-thing" / "index.html"),
        str(site / "other_thing-1.0-py3-none-any.whl.metadata"),
    ]


@pytest.mark.parametrize("name", ("-1.0.tar.gz", "_-1.0.zip", "é-1.0.tar.gz", "x-y.tar.gz"))
def test_what_has_no_name_of_a_project_is_not_listed(tmp_path: Path, name: str) -> None:
    put(tmp_path, Wheel("tri"))
    (tmp_path / name).touch()
    (note,) = build_index(tmp_path, pages=True).notes
    assert name in note
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == {"tri"}


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    put(tmp_path / "a", Wheel("tri"))
    put(tmp_path / "b", Wheel("tri"))
    (fault,) = faults(tmp_path)
    assert "are files of one name" in fault


def test_a_wheel_without_metadata_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tri-1.0-py3-none-any.whl").write_bytes(b"PK\5\6" + bytes(18))
    assert faults(tmp_path) == [f"{tmp_path / 'tri-1.0-py3-none-any.whl'}: has no METADATA inside"]


def test_a_browser_shows_the_table_without_scripts(site: Path) -> None:
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip("there is no Chromium here; the tests above read the same with a parser")
    page = site / "tri" / "index.html"
    # The browser itself needs its scripts to print what it shows; the page has none.
    assert "<script" not in page.read_text()
    profile = f"--user-data-dir={site / 'profile'}"
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            profile,
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    shown = site / "shown.html"
    shown.write_text(done.stdout)
    assert Page(shown).rows == Page(page).rows
