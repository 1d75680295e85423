"""``variant make`` and ``variant unmake``: what is written where, and what is said about it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from pipvariant.commands import init, make, unmake
from pipvariant.errors import InvalidFilename, InvalidOption, InvalidProperty
from tests.commands.options import parsed
from tests.wheelfile.ordinary import NAME, contents, wheel

MKL = "blas :: library :: mkl"
CU128 = "nvidia :: cuda_version_lower_bound :: 12.8"
TABLE = """
[project]
name = "Tri"

[variant.default-priorities]
namespace = ["blas"]
[variant.providers.blas]
static-properties.library = ["openblas", "mkl"]
[variant.variants.mkl.blas]
library = ["mkl"]
[variant.variants.openblas.blas]
library = ["openblas"]
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of a test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: Any, *words: str, wheels: tuple[str, ...] = (NAME,)) -> list[str]:
    """Run a command with these options; the lines that it printed."""
    out = io.StringIO()
    function = getattr(command, f"run_{command.__name__.rpartition('.')[2]}")
    assert function(parsed(command, *words), list(wheels), out) == 0
    return out.getvalue().splitlines()


def wheels(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.whl")}


def test_a_variant_is_made_beside_the_wheel_and_named_with_its_properties(here: Path) -> None:
    wheel(here)
    (line,) = run(make, "--property", CU128, "--label", "cu128")
    assert line == f"tri-1.0-py3-none-any-cu128.whl: variant cu128 ({CU128})"
    assert wheels(here) == {NAME, "tri-1.0-py3-none-any-cu128.whl"}


def test_a_call_that_writes_beside_what_it_reads_can_be_repeated(here: Path) -> None:
    wheel(here)
    words = ("--property", CU128, "--label", "cu128", "--null")
    first = run(make, *words)
    content = {name: (here / name).read_bytes() for name in wheels(here)}
    assert run(make, *words, wheels=tuple(sorted(content))) == first
    assert {name: (here / name).read_bytes() for name in wheels(here)} == content
    with pytest.raises(InvalidFilename, match="is a variant wheel already"):
        run(make, *words, wheels=("tri-1.0-py3-none-any-cu128.whl",))


def test_null_is_made_too(here: Path) -> None:
    wheel(here)
    lines = run(make, "--property", CU128, "--null")
    assert lines[1] == "tri-1.0-py3-none-any-null.whl: null variant"
    assert wheels(here) == {
        NAME,
        "tri-1.0-py3-none-any-f839a2dd.whl",
        "tri-1.0-py3-none-any-null.whl",
    }


def test_a_folder_of_its_own_is_made(here: Path) -> None:
    wheel(here)
    run(make, "--property", CU128, "--label", "cu128", "-o", "a/b")
    assert wheels(here / "a" / "b") == {"tri-1.0-py3-none-any-cu128.whl"}


def test_the_table_of_the_project_in_the_working_directory_is_taken(here: Path) -> None:
    wheel(here)
    (here / "pyproject.toml").write_text(TABLE)
    run(make, "--null", "-o", "dist")
    labels = {name.rpartition("-")[2] for name in wheels(here / "dist")}
    assert labels == {"mkl.whl", "openblas.whl", "null.whl"}


def test_the_table_of_another_project_in_the_working_directory_is_not(here: Path) -> None:
    wheel(here)
    (here / "pyproject.toml").write_text(TABLE.replace("Tri", "other"))
    with pytest.raises(InvalidOption, match="there is no variant to make"):
        run(make)
    run(make, "--pyproject", "pyproject.toml", "--label", "mkl")


def test_a_file_that_is_named_has_to_have_a_table(here: Path) -> None:
    wheel(here)
    (here / "x.toml").write_text("")
    with pytest.raises(InvalidOption, match=r"x\.toml: has no \[variant\] table.*variant init"):
        run(make, "--pyproject", "x.toml", "--null")


def test_several_wheels_of_one_project_in_one_call(here: Path) -> None:
    names = (NAME, "tri-1.0-cp311-cp311-win_amd64.whl")
    for name in names:
        wheel(here, name=name)
    lines = run(make, "--property", CU128, "--label", "cu128", "--null", wheels=names)
    assert len(lines) == 4
    assert len(wheels(here)) == 6


def test_wheels_of_several_projects_are_refused(here: Path) -> None:
    with pytest.raises(InvalidOption, match="of several projects: other, tri"):
        run(make, "--null", wheels=(NAME, "other-1.0-py3-none-any.whl"))


@pytest.mark.parametrize("command", (make, unmake))
def test_no_wheel_is_a_fault(command: Any) -> None:
    with pytest.raises(InvalidOption, match="which wheels"):
        run(command, wheels=())


def test_properties_are_validated_unless_that_is_skipped(here: Path) -> None:
    wheel(here)
    wrong = "nvidia :: cuda_version_lower_bound :: 9"
    with pytest.raises(InvalidProperty, match="no value that the provider knows"):
        run(make, "--property", wrong)
    assert wheels(here) == {NAME}
    assert run(make, "--property", wrong, "--skip-validation")


def test_what_could_not_be_validated_is_said_once(here: Path) -> None:
    wheel(here)
    (here / "pyproject.toml").write_text(
        '[project]\nname = "tri"\n[variant.default-priorities]\nnamespace = ["foo"]\n'
        '[variant.providers.foo]\nrequires = ["foo-provider"]\n'
    )
    note, made = run(make, "--property", "foo :: a :: b", "--label", "x")
    assert note.startswith("foo: not validated, the plugin package foo-provider is not trusted")
    assert made.endswith("variant x (foo :: a :: b)")


def test_unmake_prints_the_ordinary_wheel(here: Path) -> None:
    plain = wheel(here)
    run(make, "--property", CU128, "--label", "cu128", "-o", "dist")
    lines = run(unmake, "-o", "back", wheels=("dist/tri-1.0-py3-none-any-cu128.whl",))
    assert lines == [str(Path("back", NAME))]
    assert contents(here / "back" / NAME) == contents(plain)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("smallest", "shown"), ((1, True), (1 << 40, False)))
def test_large_wheels_have_a_progress_bar_on_a_terminal(
    here: Path, monkeypatch: pytest.MonkeyPatch, smallest: int, shown: bool
) -> None:
    monkeypatch.setattr(make, "SHOWN_FROM", smallest)
    wheel(here)
    for out in (io.StringIO(), Terminal()):
        options = parsed(make, "--property", CU128, "--label", "cu128")
        make.run_make(options, [NAME], out)
        assert ("kB" in out.getvalue()) == (shown and out.isatty())


def test_init_writes_a_table_that_make_takes(here: Path) -> None:
    wheel(here)
    (here / "pyproject.toml").write_text('[project]\nname = "tri"\n')
    assert run(init, wheels=("nvidia", "blas")) == [
        "pyproject.toml: a [variant] table was added. Take out what does not apply."
    ]
    run(make, "--property", MKL, "--label", "mkl", "--null")
    assert "tri-1.0-py3-none-any-null.whl" in wheels(here)
