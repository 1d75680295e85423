"""Which pips are taken, and what is said to the others."""

from __future__ import annotations

import sys

import pip as this_environments_pip
import pytest

from pipvariant import cli, shim
from pipvariant.errors import UnsupportedPip
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


def test_an_environment_without_pip_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pip", None)
    with pytest.raises(UnsupportedPip, match=r"no pip in this environment.*ensurepip"):
        this_pip()
