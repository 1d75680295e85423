"""What the user insists on leaves files out, and never lets any in."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pipvariant.shim.core.state import Run
from pipvariant.shim.resolving.selector import order
from pipvariant.standard.preferences import read_preferences
from tests.shim.finder import Finder, Labels

BOUNDS = {f"g{number}": (f"gpu :: bound :: {number}",) for number in (1, 2, 9)}
TRI: dict[str, Labels] = {"2.0": {"": ()}, "1.0": {**BOUNDS, "null": (), "": ()}}


def labels(monkeypatch: pytest.MonkeyPatch, version: str = "1.0", **words: list[str]) -> list[str]:
    """The labels that are left, best first."""
    run, finder = Run(), Finder(monkeypatch, {"tri": TRI})
    run.preferences = read_preferences(**words)
    names: list[str] = order(run, finder, finder.candidates("tri", version), None)
    assert bool(names) == ("tri" in run.fitted)
    if not names:
        (skipped,) = run.skipped.values()
        assert skipped.why.startswith("nothing of it is --")
    return [name[len("tri-1.0-py3-none-any") :].strip("-").rpartition(".")[0] for name in names]


def test_without_a_wish_all_that_fits_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    assert labels(monkeypatch) == ["g2", "g1", "null", ""]


@pytest.mark.parametrize("label", ("g1", "null", ""))
def test_only_the_named_label_is_left(monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    assert labels(monkeypatch, labels=[f"tri={label}"]) == [label]


def test_a_named_label_that_does_not_fit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    error: Any = import_module("pip._internal.exceptions").InstallationError
    with pytest.raises(error, match="--variant tri=g9 never installs"):
        labels(monkeypatch, labels=["tri=g9"])


def test_a_label_that_is_not_there_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert labels(monkeypatch, labels=["tri=other"]) == []


def test_a_wish_for_all_is_for_what_has_the_label(monkeypatch: pytest.MonkeyPatch) -> None:
    assert labels(monkeypatch, labels=[":all:=null"]) == ["null"]
    assert labels(monkeypatch, labels=[":all:=other"]) == ["g2", "g1", "null", ""]


@pytest.mark.parametrize("word", ("gpu", "tri=gpu"))
def test_a_required_namespace_leaves_what_uses_it(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    assert labels(monkeypatch, required=[word]) == ["g2", "g1"]
    assert labels(monkeypatch, "2.0", required=[word]) == []


def test_what_no_version_uses_is_not_required_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert labels(monkeypatch, required=["other"]) == ["g2", "g1", "null", ""]
    assert labels(monkeypatch, required=["tri=other"]) == []


def test_what_was_insisted_on_is_named_with_the_first_label_that_would_be_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, finder = Run(), Finder(monkeypatch, {"tri": TRI})
    run.preferences = read_preferences(required=["tri=gpu"], excluded=["gpu"])
    assert order(run, finder, finder.candidates("tri", "1.0"), None) == []
    (skipped,) = run.skipped.values()
    assert skipped.why == (
        "nothing of it is --require-variant gpu; "
        "g1 needs gpu :: bound :: 1, left out by --exclude-variant"
    )


def test_whether_a_namespace_is_ever_used_is_looked_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, finder = Run(), Finder(monkeypatch, {"tri": {**TRI, "0.9": {"old": ()}}})
    run.preferences = read_preferences(required=["other"])
    for _ in range(2):
        order(run, finder, finder.candidates("tri", "2.0"), None)
    assert finder.read == [("tri", "1.0"), ("tri", "0.9")]


def test_a_preference_and_an_exclusion_change_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    first = labels(monkeypatch, preferred=["gpu :: bound :: 1"])
    assert first == ["g1", "g2", "null", ""]
    assert labels(monkeypatch, excluded=["gpu :: bound :: 2"]) == ["g1", "null", ""]


def test_the_label_of_the_target_environment_comes_first_in_a_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, finder = Run(), Finder(monkeypatch, {"tri": TRI})
    run.build_labels = {"tri": "g1"}
    first, *_ = order(run, finder, finder.candidates("tri", "1.0"), None)
    assert first.endswith("-g1.whl")
    run.build_labels = {"tri": "g9"}
    first, *_ = order(run, finder, finder.candidates("tri", "1.0"), None)
    assert first.endswith("-g2.whl")
