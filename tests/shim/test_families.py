"""Which labels of a package go with those of the others of its family."""

from __future__ import annotations

import pytest

from pipvariant.shim.core.state import Run
from pipvariant.shim.resolving.selector import order
from pipvariant.standard.preferences import read_preferences
from tests.shim.finder import Finder, Labels


def bounds(*numbers: int, null: bool = True) -> Labels:
    labels = {f"g{number}": (f"gpu :: bound :: {number}",) for number in numbers}
    return {**labels, "null": ()} if null else labels


def ordered(
    monkeypatch: pytest.MonkeyPatch, mine: Labels, **theirs: dict[str, Labels]
) -> tuple[list[str], Run]:
    """The labels of alpha that are left, best first, and the run."""
    run = Run()
    run.ignores_installed = run.has_families = True
    run.preferences = read_preferences(families=[f"gpu=alpha,{','.join(theirs)}"])
    finder = Finder(monkeypatch, {"alpha": {"1.0": mine}, **theirs})
    names = order(run, finder, finder.candidates("alpha", "1.0"), None)
    head = "alpha-1.0-py3-none-any"
    return [name[len(head) :].strip("-").rpartition(".")[0] for name in names], run


def test_what_the_other_has_too_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 2, 3), beta={"1.0": bounds(1, 2)})
    assert labels == ["g2", "g1", "null", "g3"]


def test_an_older_version_with_a_common_value_counts_more_than_null(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels, _ = ordered(
        monkeypatch, bounds(1, 2), beta={"2.0": bounds(3), "1.0": bounds(1), "0.9": bounds(2)}
    )
    assert labels == ["g1", "null", "g2"]


def test_null_is_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 2), beta={"1.0": bounds(3)})
    assert labels == ["null", "g2", "g1"]


def test_null_does_not_go_with_a_label(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 2), beta={"1.0": bounds(1, null=False)})
    assert labels == ["g1", "g2", "null"]


def test_all_of_three_count(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(
        monkeypatch, bounds(1, 2, 3), beta={"1.0": bounds(1, 2)}, gamma={"1.0": bounds(1, 3)}
    )
    assert labels[:2] == ["g1", "null"]


@pytest.mark.parametrize("theirs", ({"": ()}, {"other": (), "": ()}))
def test_what_has_no_such_variants_goes_with_anything(
    monkeypatch: pytest.MonkeyPatch, theirs: Labels
) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 2), beta={"1.0": theirs})
    assert labels == ["g2", "g1", "null"]


def test_what_is_on_no_index_goes_with_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 2), beta={})
    assert labels == ["g2", "g1", "null"]


def test_nothing_in_common_leaves_nothing_and_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels, run = ordered(monkeypatch, bounds(1, null=False), beta={"1.0": bounds(2, null=False)})
    assert labels == []
    (skipped,) = run.skipped.values()
    assert skipped.why == "no variant of beta has equal values (--same-variant gpu=alpha,beta)"


def test_a_label_that_does_not_fit_is_nothing_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    labels, _ = ordered(monkeypatch, bounds(1, 9), beta={"1.0": bounds(1, 9)})
    assert labels == ["g1", "null"]
