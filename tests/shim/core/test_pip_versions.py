"""Which pips are taken, and what is said to the others."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pip as this_environments_pip
import pytest

from pipvariant import cli, shim
from pipvariant.errors import UnsupportedPip
from pipvariant.shim.building import child_pip
from pipvariant.shim.core.pip_versions import Pip, this_pip


@pytest.mark.parametrize(
    ("text", "version"),
    (
        ("22.2", (22, 2)),
        ("22.2.2", (22, 2)),
        ("23.0.1", (23, 0)),
        ("25.1b1", (25, 1)),
        ("26.3", (26, 3)),
        ("26.3.1", (26, 3)),
        ("26.3.dev0", (26, 3)),
        ("26.4.dev0", (26, 4)),
        ("27.0", (27, 0)),
    ),
)
def test_a_known_release_and_a_newer_one_are_taken(
    monkeypatch: pytest.MonkeyPatch, text: str, version: tuple[int, int]
) -> None:
    monkeypatch.setattr(this_environments_pip, "__version__", text)
    assert this_pip() == Pip(version, text)
    assert this_pip().is_newer is (version > (26, 3))


@pytest.mark.parametrize("text", ("20.3.4", "22.1.2", "", "unknown"))
def test_an_unknown_pip_is_refused_before_anything_is_changed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    monkeypatch.setattr(this_environments_pip, "__version__", text)
    assert cli.main(["--version"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    way_out = "`python -m pip install -U pip` brings a newer one"
    if not text[:1].isdigit():
        way_out = "a newer pip-variant may know this pip"
    assert said.err == (
        f"ERROR: pip {text} is not a pip that pip-variant knows; pip-variant works with pip 22.2 "
        "to 26.3. Nothing was done. Plain `pip` works as always (without variant wheels); "
        f"{way_out}.\n"
    )
    assert shim._applied is None


def test_a_python_that_is_too_old_for_this_pip_is_told_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "__pip-runner__.py").write_text("PYTHON_REQUIRES = (3, 99)\n")
    monkeypatch.setattr(this_environments_pip, "__file__", str(tmp_path / "__init__.py"))
    monkeypatch.setattr(this_environments_pip, "__version__", "26.3")
    running = ".".join(map(str, sys.version_info[:2]))
    expected = f"^pip 26.3 does not support Python {running}, it needs 3.99. Use a newer Python"
    with pytest.raises(UnsupportedPip, match=expected):
        this_pip()


@pytest.mark.parametrize("version", ((2, 7), (3, 6), (3, 8)))
def test_a_python_that_is_too_old_for_pip_variant_is_told_so(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, int]
) -> None:
    # Such a Python has to read the file.
    code = ast.parse(Path(child_pip.RUNNER).read_text(), feature_version=(3, 4))
    assert not [node for node in ast.walk(code) if getattr(node, "module", "") == "__future__"]
    monkeypatch.setattr(sys, "version_info", version)
    with pytest.raises(SystemExit, match=r"^ERROR: pip-variant needs Python 3\.9, .* is older"):
        exec(compile(code, child_pip.RUNNER, "exec"), {"__name__": "__main__"})


def test_an_environment_without_pip_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(UnsupportedPip, match=r"no pip in this environment.*ensurepip"):
        this_pip()
