"""Every rule finds what breaks it and nothing else; what is valid breaks none."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipvariant.authoring.index import build_index
from pipvariant.authoring.lint import ERROR, RULES, Finding, Page, find_faults
from pipvariant.authoring.making import make_wheel
from pipvariant.errors import InvalidOption, Unreachable, Unread
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.standard.metadata import Metadata
from tests.standard.strategies import metadata
from tests.wheelfile.ordinary import FILES, INFO, NAME, record_of, wheel

ROOT = Path(__file__).parent.parent.parent
INSIDE = f"{INFO}/variant.json"
DOCUMENT: Mapping[str, Any] = {
    "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
    "default-priorities": {"namespace": ["blas", "nvidia"]},
    "providers": {
        "blas": {
            "static-properties": {"library": ["mkl", "openblas"], "bits": ["32", "64"]},
            "feature-order": ["library", "bits"],
        },
        "nvidia": {"requires": ["nvidia-variant-provider"], "plugin-api": "nvidia.plugin:Plugin"},
    },
    "variants": {"mkl": {"blas": {"library": ["mkl"]}}},
}
MKL = "tri-1.0-py3-none-any-mkl.whl"
JSON = "tri-1.0-variants.json"
OTHER = {"blas": {"library": ["openblas"]}}


def document(*edits: tuple[str, Any]) -> dict[str, Any]:
    """The valid document with changes: a path with slashes, and what is there instead."""
    changed: dict[str, Any] = json.loads(json.dumps(DOCUMENT))
    for path, value in edits:
        *way, last = path.split("/")
        table = changed
        for key in way:
            table = table[key]
        if value is None:
            table.pop(last, None)
        else:
            table[last] = value
    return changed


def variant(
    folder: Path,
    *edits: tuple[str, Any],
    name: str = MKL,
    data: bytes | None = None,
    core: str = "",
    **how: Any,
) -> Path:
    """Write a variant wheel with an edited document, or other bytes, inside."""
    text = data if data is not None else json.dumps(document(*edits)).encode()
    more = {INSIDE: text, f"{INFO}/METADATA": FILES[f"{INFO}/METADATA"] + core.encode()}
    return wheel(folder, name=name, more=more, **how)


def labelled(label: str, properties: Any) -> tuple[str, Any]:
    return "variants", {label: properties}


def named(label: str) -> str:
    return MKL.replace("mkl", label)


def write(folder: Path, *edits: tuple[str, Any], name: str = JSON) -> Path:
    (folder / name).write_text(json.dumps(document(*edits)))
    return folder / name


def none(*args: Any) -> Any:
    raise Unreachable("there is no network in this test")


class Offline:
    """Reads nothing."""

    page = read = wheel = staticmethod(none)


def found(*paths: Path | str, source: Any = None) -> list[Finding]:
    return find_faults(map(str, paths), source or Offline())


Plant = Callable[[Path], object]


def inside(*edits: tuple[str, Any]) -> Plant:
    """Plant a wheel with these changes of its metadata."""
    return lambda folder: variant(folder, *edits)


def beside(*edits: tuple[str, Any], name: str = JSON) -> Plant:
    """Plant a right wheel with a changed variants.json beside it."""
    return lambda folder: (variant(folder), write(folder, *edits, name=name))


def holding(data: bytes) -> Plant:
    """Plant a wheel with these bytes as its metadata."""
    return lambda folder: variant(folder, data=data)


def needing(requirement: str) -> Plant:
    """Plant a wheel with this dependency."""
    return lambda folder: variant(folder, core=f"Requires-Dist: {requirement}\n")


def called(name: str) -> Plant:
    """Plant a right wheel under another name."""
    return lambda folder: variant(folder, name=name)


def paged(change: Callable[[Path], object]) -> Plant:
    """Plant a folder with pages in which something was changed afterwards."""

    def plant(folder: Path) -> None:
        variant(folder)
        build_index(folder, pages=True)
        change(folder)

    return plant


def rewrite(path: Path, pattern: str, new: str) -> None:
    path.write_text(re.sub(pattern, new, path.read_text(), count=1))


BLAS = "providers/blas"
NVIDIA = "providers/nvidia"
FAULTS: list[tuple[str, str, Plant]] = [
    ("V101", "upper case in the label", called(named("MKL"))),
    ("V101", "a plus sign in the label", called(named("mkl+x"))),
    ("V102", "no label behind the dash", called(named(""))),
    ("V103", "four parts", called("tri-1.0-py3-none.whl")),
    ("V103", "no version", called("tri-x.y-py3-none-any.whl")),
    ("V103", "no name", called("-1.0-py3-none-any-mkl.whl")),
    ("V104", "digit before py", called("tri-1.0-3py-none-any-mkl.whl")),
    ("V104", "digit before py behind a build tag", called("tri-1.0-1-3py-none-any-mkl.whl")),
    ("V105", "a dash in the label", called(named("mkl-2025"))),
    ("V105", "a dash in the label, build tag", called("tri-1.0-1-py3-none-any-mkl-2.whl")),
    ("V106", "letter before the build", called("tri-1.0-b1-py3-none-any-mkl.whl")),
    (
        "V106",
        "letter before the build, no label",
        lambda f: wheel(f, name="tri-1.0-b1-py3-none-any.whl"),
    ),
    ("V107", "long", lambda f: variant(f, labelled("x" * 80, OTHER), name=named("x" * 80))),
    (
        "V108",
        "wrong hash",
        lambda f: variant(f, labelled("0badcafe", OTHER), name=named("0badcafe")),
    ),
    ("V201", "no zip", lambda f: (f / MKL).write_bytes(b"PK")),
    ("V201", "cut off", lambda f: (p := variant(f)).write_bytes(p.read_bytes()[:-40])),
    ("V202", "no variant.json", lambda f: wheel(f, name=MKL)),
    ("V203", "no label", called(NAME)),
    ("V204", "two", lambda f: variant(f, unlisted=[("a-1.dist-info/variant.json", b"{}")])),
    ("V205", "not in RECORD", lambda f: variant(f, record=record_of(FILES))),
    ("V206", "other hash", lambda f: variant(f, record=record_of({**FILES, INSIDE: b"{}"}))),
    ("V207", "RECORD is no CSV", lambda f: variant(f, record=b"a\n")),
    (
        "V208",
        "no METADATA",
        lambda f: wheel(f, name=MKL, files={INSIDE: json.dumps(DOCUMENT).encode()}),
    ),
    ("V209", "set compared", needing('x; variant_features == "blas :: library"')),
    ("V209", "label ordered", needing('x; variant_label ~= "mkl"')),
    ("V210", "misspelt namespace", needing('x; "bals" in variant_namespaces')),
    ("V210", "misspelt property", needing('x; "blas::library::mlk" in variant_properties')),
    ("V210", "misspelt label", needing('x; python_version > "3" and variant_label == "mlk"')),
    ("V211", "two contents", lambda f: (variant(f / "a"), variant(f / "b", core="Summary: b\n"))),
    ("V301", "no JSON", holding(b"variants = 1")),
    ("V301", "empty", holding(b"")),
    ("V301", "a login page", holding(b"<html></html>")),
    ("V301", "UTF-16", holding(json.dumps(DOCUMENT).encode("utf-16"))),
    ("V302", "too large", holding(json.dumps(DOCUMENT).encode() + b" " * MAX_BYTES)),
    ("V302", "too deep", holding(b"[" * 100_000)),
    ("V302", "too many values", holding(b"[" + b"[]," * 200_000)),
    ("V303", "key twice", holding(json.dumps(DOCUMENT)[:-1].encode() + b', "variants": {}}')),
    ("V304", "BOM", holding(b"\xef\xbb\xbf" + json.dumps(DOCUMENT).encode())),
    ("V305", "no schema", inside(("$schema", None), ("providers/blas/feature-order", None))),
    ("V306", "major 9", inside(("$schema", "https://x.example/v9.0.0.json"))),
    ("V307", "minor 0.7", inside(("$schema", "https://x.example/v0.7.0.json"))),
    ("V307", "older", inside(("$schema", "https://x.example/v0.0.3.json"))),
    ("V308", "unknown key", inside(("extra", 1))),
    ("V308", "key of older formats", inside(("default-priorities/feature", {}))),
    ("V308", "unknown key of a provider", inside((f"{NVIDIA}/enable-if", "os_name"))),
    ("V309", "priorities missing", inside(("default-priorities", None))),
    ("V309", "a string for a list", inside((f"{NVIDIA}/requires", "x"))),
    ("V309", "a string for a flag", inside((f"{NVIDIA}/optional", "yes"))),
    (
        "V310",
        "namespace twice",
        inside(("default-priorities/namespace", ["blas", "nvidia", "blas"])),
    ),
    ("V311", "not listed", inside(labelled("mkl", {**OTHER, "amd": {"rocm_version": ["7.0"]}}))),
    ("V312", "no provider", inside((NVIDIA, None))),
    ("V313", "no priority", inside(("default-priorities/namespace", ["blas"]))),
    ("V314", "upper case value", inside(labelled("mkl", {"blas": {"library": ["MKL", "mkl"]}}))),
    ("V314", "dash in a feature", inside(labelled("mkl", {"blas": {"lib-rary": ["mkl"]}}))),
    ("V315", "two forms", inside((f"{NVIDIA}/builtin", "abi_dependency"))),
    ("V315", "no form", inside((NVIDIA, {"optional": True}))),
    ("V316", "no requirement", inside((f"{NVIDIA}/requires", ["a b c"]))),
    ("V316", "empty requires", inside((f"{NVIDIA}/requires", []))),
    ("V317", "no object", inside((f"{NVIDIA}/plugin-api", "nvidia:plugin:Plugin"))),
    ("V318", "no order", inside((f"{BLAS}/feature-order", None))),
    ("V318", "feature not in order", inside((f"{BLAS}/feature-order", ["library"]))),
    ("V319", "value twice", inside((f"{BLAS}/static-properties/library", ["mkl", "mkl"]))),
    ("V319", "no value", inside((f"{BLAS}/static-properties/bits", []))),
    ("V320", "unknown builtin", inside((NVIDIA, {"builtin": "cuda"}))),
    ("V321", "order of nothing", inside((f"{NVIDIA}/feature-order", ["a"]))),
    (
        "V330",
        "null with properties",
        lambda f: variant(f, labelled("null", OTHER), name=named("null")),
    ),
    ("V331", "no properties", inside(labelled("mkl", {}))),
    ("V332", "two labels", inside(("variants/other", OTHER))),
    ("V333", "another label inside", called(named("openblas"))),
    ("V334", "not sorted", inside(labelled("mkl", {"blas": {"library": ["openblas", "mkl"]}}))),
    ("V335", "value twice", inside(labelled("mkl", {"blas": {"library": ["mkl", "mkl"]}}))),
    ("V336", "no value", inside(labelled("mkl", {"blas": {"library": []}}))),
    (
        "V337",
        "no version",
        inside(
            ("default-priorities/namespace", ["blas", "nvidia", "abi_dependency"]),
            ("providers/abi_dependency", {"builtin": "abi_dependency"}),
            labelled("mkl", {"abi_dependency": {"torch": ["2.9.0.1"]}}),
        ),
    ),
    ("V338", "not in the list", inside(labelled("mkl", {"blas": {"library": ["blis"]}}))),
    (
        "V401",
        "other properties",
        lambda f: (variant(f), variant(f, labelled("mkl", OTHER), name=MKL.replace("py3", "py2"))),
    ),
    (
        "V402",
        "other order",
        lambda f: (
            variant(f),
            variant(
                f,
                ("default-priorities/namespace", ["nvidia", "blas"]),
                labelled("open", OTHER),
                name=named("open"),
            ),
        ),
    ),
    (
        "V403",
        "other provider",
        lambda f: (
            variant(f),
            variant(
                f, (f"{NVIDIA}/requires", ["other"]), labelled("open", OTHER), name=named("open")
            ),
        ),
    ),
    (
        "V404",
        "equal properties",
        lambda f: (
            variant(f),
            variant(f, labelled("one", DOCUMENT["variants"]["mkl"]), name=named("one")),
        ),
    ),
    (
        "V405",
        "label missing in JSON",
        lambda f: (variant(f), variant(f, labelled("open", OTHER), name=named("open")), write(f)),
    ),
    ("V406", "other properties in JSON", beside(labelled("mkl", OTHER))),
    ("V407", "label without wheel", beside(("variants/open", OTHER))),
    ("V408", "other provider in JSON", beside((f"{NVIDIA}/requires", ["other"]))),
    (
        "V408",
        "namespace missing in JSON",
        beside((NVIDIA, None), ("default-priorities/namespace", ["blas"])),
    ),
    ("V409", "upper case in the name", beside(name="Tri-1.0-variants.json")),
    ("V409", "dash in the name", lambda f: write(f, name="a-tri-1.0-variants.json")),
    (
        "V410",
        "other version",
        lambda f: (variant(f), write(f), write(f, name="tri-2.0-variants.json")),
    ),
    ("V410", "no variant wheel", lambda f: (wheel(f), write(f))),
    ("V501", "not linked", paged(lambda f: rewrite(f / "tri" / "index.html", r"<p>.*</p>", ""))),
    ("V502", "plain wheel gone", paged(lambda f: (f / JSON).unlink())),
    ("V503", "hash", paged(lambda f: rewrite(f / "tri" / "index.html", "#sha256=.", "#sha256=x"))),
]


@pytest.mark.parametrize(
    ("rule", "plant"),
    [(rule, plant) for rule, _, plant in FAULTS],
    ids=[f"{rule} {words}" for rule, words, _ in FAULTS],
)
def test_a_planted_fault_is_found_by_its_rule_alone(
    tmp_path: Path, rule: str, plant: Plant
) -> None:
    plant(tmp_path)
    assert {finding.rule for finding in found(tmp_path)} == {rule}


def test_every_rule_has_a_planted_fault() -> None:
    # What only servers show is planted further down.
    assert {rule for rule, _, _ in FAULTS} == set(RULES) - {"V504", "V505"}


def test_valid_files_have_no_finding(tmp_path: Path) -> None:
    variant(tmp_path, core='Requires-Dist: x; "blas :: library" in variant_features\n')
    variant(tmp_path, labelled("null", {}), name=named("null"))
    wheel(tmp_path)
    assert found(tmp_path) == []
    build_index(tmp_path, pages=True)
    assert found(tmp_path) == []
    assert found(tmp_path / MKL, tmp_path / JSON) == []


@given(metadata(), st.sampled_from(("py3-none-any", "cp311-cp311-win_amd64")))
def test_wheels_that_are_made_have_no_finding(whole: Metadata, tag: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain = wheel(folder, name=f"tri-1.0-{tag}.whl")
        for label, properties in whole.variants.items():
            one = Metadata(whole.namespaces, whole.providers, {label: properties})
            make_wheel(plain, one, folder)
        build_index(folder, pages=True)
        # Two labels that were drawn alike are not what this is about.
        assert [finding for finding in found(folder) if finding.rule != "V404"] == []


def test_wheels_of_variantlib_have_no_finding(tmp_path: Path) -> None:
    pytest.importorskip("variantlib")  # there is no release of it for Python 3.9
    from variantlib.commands.generate_index_json import generate_index_json
    from variantlib.commands.make_variant import make_variant

    (tmp_path / "pyproject.toml").write_text(
        '[variant.default-priorities]\nnamespace = ["blas"]\n'
        "[variant.providers.blas]\n"
        'static-properties = {library = ["openblas", "mkl"], bits = ["64"]}\n'
        'feature-order = ["library", "bits"]\n'
    )
    (tmp_path / "dist").mkdir()
    plain = wheel(tmp_path / "in")
    kinds = (
        ("--property", "blas :: library :: mkl", "--variant-label", "mkl"),
        ("--property", "blas :: bits :: 64"),
        ("--null-variant",),
    )
    for kind in kinds:
        make_variant(
            [
                *("--file", str(plain), "--output-directory", str(tmp_path / "dist")),
                *("--pyproject-toml", str(tmp_path / "pyproject.toml"), "--no-isolation"),
                *kind,
            ]
        )
    generate_index_json(["--directory", str(tmp_path / "dist")])
    assert len(list((tmp_path / "dist").iterdir())) == 4
    assert found(tmp_path / "dist") == []


def test_a_finding_names_file_and_place(tmp_path: Path) -> None:
    path = variant(tmp_path, (f"{NVIDIA}/requires", ["fine", "a b"]))
    (finding,) = found(path)
    assert finding.file == str(path)
    assert finding.place == "providers.nvidia.requires[1]"
    assert finding.message == "'a b' is not a requirement"


def test_both_labels_are_shown_when_they_differ(tmp_path: Path) -> None:
    (finding,) = found(variant(tmp_path, name=named("openblas")))
    assert "'mkl'" in finding.message
    assert "'openblas'" in finding.message


def test_both_files_of_a_contradiction_are_named(tmp_path: Path) -> None:
    first = variant(tmp_path)
    second = variant(tmp_path, labelled("mkl", OTHER), name=MKL.replace("py3", "py2"))
    (finding,) = found(tmp_path)
    assert {str(first), str(second)} == set(finding.file.split(" and "))


def test_all_faults_of_a_file_are_found_at_once(tmp_path: Path) -> None:
    variant(
        tmp_path,
        (f"{NVIDIA}/plugin-api", "!"),
        (f"{BLAS}/feature-order", None),
        ("extra", 1),
        core='Requires-Dist: x; variant_features == "a"\n',
        record=record_of(FILES),
    )
    assert {one.rule for one in found(tmp_path)} == {"V205", "V209", "V308", "V317", "V318"}


def test_a_single_wheel_is_not_held_against_labels_that_are_elsewhere(tmp_path: Path) -> None:
    path = variant(tmp_path, core='Requires-Dist: x; "nvidia" in variant_namespaces\n')
    assert found(path) == []


def test_a_file_of_one_wheel_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "variant.json"
    path.write_text(json.dumps(document(("variants/other", OTHER))))
    assert [one.rule for one in found(path)] == ["V332"]


def test_what_is_not_there_is_no_finding_but_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="is no folder, wheel, metadata file or page"):
        found(tmp_path / "none.whl")


class Site:
    """A server of the files of a folder."""

    def __init__(self, folder: Path, page: str = "index.html") -> None:
        self.folder = folder
        self.name = page
        self.read_urls: list[str] = []

    def page(self, url: str) -> Page:
        return Page(url, self._path(f"{url}{self.name}").read_bytes())

    def read(self, url: str) -> bytes:
        return self._path(url).read_bytes()

    def wheel(self, url: str) -> AbstractContextManager[IO[bytes]]:
        return self._path(url).open("rb")

    def _path(self, url: str) -> Path:
        self.read_urls.append(url)
        path = self.folder / url.partition("://")[2].partition("/")[2]
        if not os.path.isfile(path):
            raise Unreachable("404 Not Found")
        return path


URL = "https://index.example/tri/"
MANY = json.dumps({"files": [{"url": f"{n}.whl"} for n in range(130_000)]})


@pytest.fixture(params=("index.html", "index.json"))
def site(tmp_path: Path, request: pytest.FixtureRequest) -> Site:
    """An index with two labels, one of them for two platforms, and an ordinary wheel."""
    variant(tmp_path)
    variant(tmp_path, name=MKL.replace("py3", "py2"))
    variant(tmp_path, labelled("open", OTHER), name=named("open"))
    wheel(tmp_path)
    build_index(tmp_path, pages=True)
    return Site(tmp_path, request.param)


def test_a_right_page_has_no_finding_and_one_wheel_of_each_label_is_read(site: Site) -> None:
    assert found(URL, source=site) == []
    assert len([url for url in site.read_urls if url.endswith(".whl")]) == 2
    assert len(site.read_urls) == 4


@pytest.mark.parametrize(
    ("rule", "change"),
    (
        ("V502", lambda folder: (folder / JSON).unlink()),
        ("V502", lambda folder: (folder / named("open")).unlink()),
        ("V503", lambda folder: rewrite(folder / JSON, "\n$", "")),
        ("V504", lambda folder: (folder / "tri" / "index.html").write_text("<a href='x/'>x</a>")),
        ("V504", lambda folder: (folder / "tri" / "index.json").write_text('{"files": [1, {}]}')),
        ("V504", lambda folder: (folder / "tri" / "index.json").write_text("{")),
        ("V504", lambda folder: (folder / "tri" / "index.json").write_text(MANY)),
    ),
)
def test_a_fault_behind_a_page_is_found(
    site: Site, rule: str, change: Callable[[Path], object]
) -> None:
    change(site.folder)
    rules = {finding.rule for finding in found(URL, source=site)}
    assert rules <= {rule}
    if rule != "V504":
        assert rules


def test_versions_of_thousands_of_digits_are_found_on_a_page(tmp_path: Path) -> None:
    long = "9" * 5000
    names = (f"tri-{long}-py3-none-any.whl", f"tri-{long}-py3-none-any-x.whl", f"tri-{long}{JSON}")
    (tmp_path / "tri").mkdir()
    page = tmp_path / "tri" / "index.html"
    page.write_text("".join(f'<a href="{name}">x</a>' for name in names))
    rules = ["V103", "V103", "V409", "V502"]
    assert [one.rule for one in found(URL, source=Site(tmp_path))] == rules
    assert {one.rule for one in found(tmp_path)} == {"V502"}


def test_a_page_has_to_link_the_metadata(site: Site) -> None:
    page = site.folder / "tri" / site.name
    page.write_text(page.read_text().replace(JSON, "else.txt"))
    (finding,) = found(URL, source=site)
    assert (finding.rule, finding.place) == ("V501", JSON)


def test_a_wheel_that_is_too_large_to_be_read_is_only_a_warning(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def large(url: str) -> Any:
        raise Unread("it has 3 GB")

    monkeypatch.setattr(site, "wheel", large)
    assert {one.rule for one in found(URL, source=site)} == {"V505"}


def test_a_page_that_is_not_there(tmp_path: Path) -> None:
    (finding,) = found(URL, source=Site(tmp_path))
    assert finding == Finding(URL, "", "V504", "404 Not Found")


def test_metadata_of_a_version_without_variant_wheels_is_found_on_a_page(tmp_path: Path) -> None:
    (tmp_path / "tri").mkdir()
    write(tmp_path / "tri")
    (tmp_path / "tri" / "index.html").write_text(f'<a href="{JSON}">{JSON}</a>')
    assert [one.rule for one in found(URL, source=Site(tmp_path))] == ["V410"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
places = st.sampled_from(
    (
        "$schema",
        "default-priorities",
        "default-priorities/namespace",
        *("providers", "providers/blas", "providers/blas/static-properties"),
        *("providers/nvidia/requires", "providers/nvidia/builtin", "providers/nvidia/plugin-api"),
        *("variants", "variants/mkl", "variants/mkl/blas", "variants/mkl/blas/library"),
    )
)


@given(places, json_values, st.text(max_size=30))
def test_whatever_is_in_a_wheel_ends_in_findings(place: str, value: Any, core: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        # Characters that cannot be written as UTF-8 never come out of a file either.
        core = core.encode("utf-8", "replace").decode()
        variant(Path(name), (place, value), core=f"Requires-Dist: x; {core}\n")
        write(Path(name), (place, value))
        found(name)


@given(
    st.sampled_from(('<a href="{}">', '<base href="{}"><a href="x-1-py3-none-any-a.whl">', "<![{}"))
    | st.just('{{"files": [{{"url": "{}"}}]}}'),
    st.text(max_size=12) | st.sampled_from(("http://[", "//[x", "a-1-variants.json#sha256=")),
)
def test_whatever_is_on_a_page_ends_in_findings(form: str, text: str) -> None:
    class Hostile(Offline):
        @staticmethod
        def page(url: str) -> Page:
            return Page(url, form.format(text).encode("utf-8", "replace"))

    assert found(URL, source=Hostile())


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)

    def denied(path: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InvalidOption, match=f"{JSON}: cannot be read: Permission denied"):
        found(tmp_path)


def test_the_documentation_lists_every_rule() -> None:
    listed = re.findall(
        r"^\| `(V\d+)` \| (\w+) \| (.*?) \|$",
        (ROOT / "docs" / "hosting.md").read_text(),
        re.MULTILINE,
    )
    assert listed == [(name, rule.severity, rule.title) for name, rule in RULES.items()]


def test_rules_are_in_order_and_each_has_a_remedy() -> None:
    assert list(RULES) == sorted(RULES)
    assert all(rule.remedy.endswith(".") for rule in RULES.values())
    assert {rule.severity for rule in RULES.values()} == {ERROR, "warning"}
