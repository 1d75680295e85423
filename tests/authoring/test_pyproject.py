"""pyproject.toml: its [variant] table is read, or a first one is added and all else is kept."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from pipvariant.authoring.pyproject import COMMON, add_table, read_pyproject
from pipvariant.authoring.variants import plan_variants
from pipvariant.errors import InvalidMetadata, InvalidOption
from pipvariant.standard.filename import check_label

PROJECT = '[project]\nname = "My.Project"  # a comment\n\n[tool.x]\ny = [ 1,2 ]\n'
TABLE = """
[variant.default-priorities]
namespace = ["blas"]
[variant.providers.blas]
static-properties.library = ["mkl"]
[variant.variants.mkl.blas]
library = ["mkl"]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A pyproject.toml without a table."""
    path = tmp_path / "pyproject.toml"
    path.write_bytes(PROJECT.encode())
    return path


def test_the_table_and_the_normalised_name_are_read(path: Path) -> None:
    path.write_text(PROJECT + TABLE)
    project = read_pyproject(path)
    assert project.name == "my-project"
    assert project.table is not None
    assert project.table.metadata.variants == {"mkl": {"blas": {"library": ("mkl",)}}}


def test_without_a_table_there_is_none(path: Path) -> None:
    assert read_pyproject(path) == ("my-project", None)


@pytest.mark.parametrize("text", ("", "project = 1", "[project]\nname = 1", "[tool.x]"))
def test_without_a_name_there_is_none(path: Path, text: str) -> None:
    path.write_text(text)
    assert read_pyproject(path) == (None, None)


def test_a_fault_of_the_table_names_the_file(path: Path) -> None:
    path.write_text(TABLE + "[variant.more]\n")
    with pytest.raises(InvalidMetadata, match=r"pyproject\.toml, table \[variant\]: more: 'more'"):
        read_pyproject(path)


def test_a_date_is_no_string(path: Path) -> None:
    path.write_text(TABLE.replace('library = ["mkl"]', "library = [1979-05-27]"))
    with pytest.raises(InvalidMetadata, match="must be a string, not date"):
        read_pyproject(path)


@pytest.mark.parametrize(
    ("content", "fault"),
    (
        (b"[variant", "is not TOML"),
        (b"\xff", "is not UTF-8"),
        (b"x = " + b"9" * 5000, "is not TOML"),
        (b"a" + b".a" * 400_000 + b" = 1", "has a key of more than 100 parts"),
        (b"x = " + b"[" * 9999 + b"]" * 9999, "is not TOML"),
    ),
)
def test_what_is_no_toml_is_refused(path: Path, content: bytes, fault: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InvalidMetadata, match=fault):
        read_pyproject(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"none\.toml: cannot be read: No such file"):
        read_pyproject(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "before",
    (
        PROJECT,
        PROJECT.rstrip("\n"),
        PROJECT.replace("\n", "\r\n"),
        "",
        "# é\n",
        "[tool]\nvariant = 1\n",
    ),
    ids=("usual", "no last newline", "crlf", "empty", "not ascii", "another variant"),
)
def test_a_first_table_is_added_and_all_else_keeps_its_bytes(path: Path, before: str) -> None:
    path.write_bytes(before.encode())
    add_table(path, [])
    after = path.read_bytes()
    assert after.startswith(before.encode())
    assert (b"\r\n" in after) == ("\r\n" in before)
    assert after.count(b"\n") == after.count(b"\r\n") or "\r\n" not in before
    assert read_pyproject(path).table is not None


def test_without_namespaces_all_common_ones_are_in_it(path: Path) -> None:
    add_table(path, [])
    table = read_pyproject(path).table
    assert table is not None
    assert table.metadata.namespaces == tuple(COMMON)
    assert set(COMMON) == {"nvidia", "amd", "intel", "x86_64", "aarch64", "blas"}


def test_with_namespaces_only_those_in_their_order(path: Path) -> None:
    add_table(path, ["blas", "x86_64", "blas"])
    table = read_pyproject(path).table
    assert table is not None
    assert table.metadata.namespaces == ("blas", "x86_64")
    assert set(table.metadata.providers) == {"blas", "x86_64"}


def test_the_examples_can_be_made_when_they_are_uncommented(path: Path) -> None:
    add_table(path, [])
    head, _, examples = path.read_text().partition("# The variants that are made")
    lines = examples.splitlines()[1:]
    path.write_text(head + "\n".join(line.removeprefix("# ") for line in lines))
    table = read_pyproject(path).table
    assert table is not None
    result = plan_variants([], [], null=False, table=table, ask=lambda *_: None)
    assert result.notes == ()
    labels = [label for metadata in result.variants for label in metadata.variants]
    assert sorted(map(check_label, labels)) == sorted(item.label for item in COMMON.values())


def test_a_table_that_is_there_is_left_alone(path: Path) -> None:
    path.write_text(PROJECT + TABLE)
    with pytest.raises(InvalidOption, match=r"has a \[variant\] table already"):
        add_table(path, [])
    assert path.read_text() == PROJECT + TABLE


def test_an_unknown_namespace_is_told_the_known_ones(path: Path) -> None:
    with pytest.raises(InvalidOption, match=r"namespace foo is not known\. Known are nvidia, amd"):
        add_table(path, ["foo"])
    assert path.read_bytes() == PROJECT.encode()


def test_the_file_keeps_its_permissions(path: Path) -> None:
    path.chmod(0o640)
    add_table(path, [])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(path.parent.iterdir()) == [path]
