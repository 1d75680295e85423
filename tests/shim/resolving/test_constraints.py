"""What the user requires of a project, in a run: which versions are looked at for it."""

from __future__ import annotations

import pytest

from pipvariant.shim.core.pip_objects import pip_error
from pipvariant.standard.preferences import read_preferences
from tests.shim.finder import Finder, Labels, make_parts

BOUNDS = {f"g{number}": (f"gpu :: bound :: {number}",) for number in (1, 2, 9)}
TRI: dict[str, Labels] = {"2.0": {"": ()}, "1.0": {**BOUNDS, "null": (), "": ()}}


def labels(version: str = "1.0", **words: list[str]) -> list[str]:
    """The labels that are left, best first."""
    parts = make_parts(read_preferences(**words))
    finder = Finder(parts, {"tri": TRI})
    names: list[str] = parts.selector.order(finder.files("tri", version), finder.search())
    assert bool(names) == ("tri" in parts.decisions.fitted)
    if not names:
        (skipped,) = parts.decisions.skipped.values()
        assert skipped.skip_reason.startswith("nothing of it is --")
    return [name[len("tri-1.0-py3-none-any") :].strip("-").rpartition(".")[0] for name in names]


def test_a_named_label_that_does_not_fit_is_an_error() -> None:
    with pytest.raises(pip_error("InstallationError"), match="--variant tri=g9 never installs"):
        labels(labels=["tri=g9"])


@pytest.mark.parametrize("word", ("gpu", "tri=gpu"))
def test_a_required_namespace_leaves_what_uses_it(word: str) -> None:
    assert labels(required=[word]) == ["g2", "g1"]
    assert labels("2.0", required=[word]) == []


def test_what_no_version_uses_is_not_required_of_it() -> None:
    assert labels(required=["other"]) == ["g2", "g1", "null", ""]
    assert labels(required=["tri=other"]) == []


def test_whether_a_namespace_is_ever_used_is_looked_up_once() -> None:
    parts = make_parts(read_preferences(required=["other"]))
    finder = Finder(parts, {"tri": {**TRI, "0.9": {"old": ()}}})
    for _ in range(2):
        parts.selector.order(finder.files("tri", "2.0"), finder.search())
    assert finder.read == [("tri", "1.0"), ("tri", "0.9")]


def test_the_label_of_the_target_environment_comes_first_in_a_build() -> None:
    parts = make_parts()
    finder = Finder(parts, {"tri": TRI})
    for label, expected in (("g1", "-g1.whl"), ("g9", "-g2.whl")):
        parts.decisions.build_labels = {"tri": label}
        first, *_ = parts.selector.order(finder.files("tri", "1.0"), finder.search())
        assert first.endswith(expected)
