"""What the user requires leaves files out, and never lets any in."""

from __future__ import annotations

import pytest

from pipvariant.providers.target import Target
from pipvariant.selection.constraints import VariantConstraint, constraint_for, incompatible
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import Decision
from pipvariant.selection.ordering import decide
from pipvariant.standard.preferences import read_preferences
from tests.selection.releases import Sources, bounds, files, metadata

LABELS = {"2.0": [""], "1.0": ["g1", "g2", "g9", "null", ""]}


def decided(version: str = "1.0", **words: list[str]) -> tuple[Decision, str]:
    """What is decided, and why the one label that is required is incompatible."""
    preferences, labels = read_preferences(**words), LABELS[version]
    required = constraint_for(preferences, "tri", labels, lambda namespace: namespace == "gpu")
    judge = Judge(Target(), preferences=lambda: preferences)
    sources = Sources({"": metadata(bounds(1, 2, 9))})
    decision = decide(files(labels), sources, judge, constraint=lambda judgements: required)
    return decision, "" if required is None else incompatible(required, decision.judged())


def labels(version: str = "1.0", **words: list[str]) -> list[str]:
    """The labels that are left, best first."""
    decision, _ = decided(version, **words)
    assert bool(decision.files) != decision.skip_reason.startswith("nothing of it is --")
    return [file.label or "" for file in decision.files]


def test_without_a_constraint_all_that_is_compatible_is_left() -> None:
    assert labels() == ["g2", "g1", "null", ""]


@pytest.mark.parametrize("label", ("g1", "null", ""))
def test_only_the_named_label_is_left(label: str) -> None:
    assert labels(labels=[f"tri={label}"]) == [label]


def test_a_named_label_that_is_incompatible_has_a_reason() -> None:
    assert decided(labels=["tri=g1"])[1] == ""
    reason = decided(labels=["tri=g9"])[1]
    assert reason == "g9 needs gpu :: bound :: 9, the package's own list has 3, 2, 1"


def test_a_label_that_is_not_there_leaves_nothing() -> None:
    assert labels(labels=["tri=other"]) == []


def test_where_a_label_is_not_there_those_that_exist_are_named_up_to_a_bound() -> None:
    constraint = VariantConstraint("other", (), "--variant tri=other")
    for labels, words in (
        ((), "it has no labels"),
        (("b", "a"), "its labels are a, b"),
        (
            [f"v{n:02}" for n in range(12)],
            "its labels are v00, v01, v02, v03, v04, v05, v06, v07, v08, v09 and 2 more",
        ),
    ):
        reason = f"nothing of it is --variant tri=other; {words}"
        assert constraint.unmet((), labels, by_hash=False) == reason


def test_a_label_for_all_is_for_what_has_it() -> None:
    assert labels(labels=[":all:=null"]) == ["null"]
    assert labels(labels=[":all:=other"]) == ["g2", "g1", "null", ""]


@pytest.mark.parametrize("word", ("gpu", "tri=gpu"))
def test_a_required_namespace_leaves_what_uses_it(word: str) -> None:
    assert labels(required=[word]) == ["g2", "g1"]
    assert labels("2.0", required=[word]) == []


def test_what_no_version_uses_is_not_required_of_it() -> None:
    assert labels(required=["other"]) == ["g2", "g1", "null", ""]
    assert labels(required=["tri=other"]) == []


def test_what_was_required_is_named_with_the_first_label_that_would_be_it() -> None:
    decision, _ = decided(required=["tri=gpu"], excluded=["gpu"])
    assert decision.files == ()
    assert decision.skip_reason == (
        "nothing of it is --require-variant gpu; "
        "g1 needs gpu :: bound :: 1, left out by --exclude-variant"
    )


def test_a_preference_and_an_exclusion_change_the_order() -> None:
    assert labels(preferred=["gpu :: bound :: 1"]) == ["g1", "g2", "null", ""]
    assert labels(excluded=["gpu :: bound :: 2"]) == ["g1", "null", ""]
