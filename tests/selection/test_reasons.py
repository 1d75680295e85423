"""Why a label or a version was not chosen, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.target import Target
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import Decision, File, LeftOut
from pipvariant.selection.ordering import decide
from pipvariant.selection.reasons import (
    displaced_phrase,
    incompatibility,
    missing_accelerators,
    nearest_miss,
    skip_phrase,
    why_none,
)
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.ranking import Cause, Rejection
from tests.selection.releases import JUDGE, Sources, bounds, files, metadata

BOUND = "cuda_version_lower_bound"
#: A machine with an NVIDIA driver.
DRIVER = Answer("nvidia", {BOUND: ("12.4", "12.0")}, Origin.BUILT_IN, facts={"driver": "12.4"})


def decided(version: str, *bounds: str, answer: Answer = DRIVER) -> Decision:
    """A version with a label for each lower bound, judged for such a machine."""
    variants = {f"cuda{bound}": {"nvidia": {BOUND: (bound,)}} for bound in bounds}
    judge = Judge(Target(from_target_file={"nvidia": answer}))
    judgement = judge.judge(Metadata(("nvidia",), variants=variants), variants, of="")
    return Decision("tri", version, {"page": judgement})


def test_the_lowest_of_wrong_values_is_the_nearest_miss() -> None:
    found = nearest_miss(decided("1.0", "13.0", "12.10", "12.9"))
    assert found == "cuda12.9 needs CUDA driver >= 12.9, this machine has 12.4"


def test_without_a_miss_there_are_no_words() -> None:
    assert nearest_miss(decided("1.0", "12.0")) == ""


def test_labels_that_gave_way_are_named_best_first_and_the_rest_is_counted() -> None:
    labels = {**bounds(1, 2, 3, 9), "more": "1"}
    decision = decide(files([*labels, ""]), Sources({"": metadata(labels)}), JUDGE)
    assert displaced_phrase("1.0+cpu", decision) == (
        "tri 1.0+cpu has no variants, and counts as newer than 1.0, of which variants fit: "
        "g3, g2, g1 and 1 more; --require-variant tri=gpu goes back to it"
    )
    none = {"g9": "9", "null": ""}
    assert (
        displaced_phrase("1.0+cpu", decide(files(none), Sources({"": metadata(none)}), JUDGE)) == ""
    )


UNMET = Rejection("x", Cause.VALUE, "n", "f", ("1", "2"), ("5", "6", "7"))


@pytest.mark.parametrize(
    ("answer", "rejection", "words"),
    (
        (Answer("n", {}, Origin.BUILT_IN), UNMET, "this machine has 5, 6, 7"),
        (
            Answer("n", {}, Origin.STATIC),
            UNMET._replace(supported=("5", "6", "7", "8")),
            "the package's own list has 5, 6, 7, ...",
        ),
        (
            Answer("n", {"g": ("1",)}, Origin.TARGET_FILE),
            UNMET._replace(supported=()),
            "the stated target has nothing of that kind",
        ),
        (Answer("n", {"f": ("9", "2")}, Origin.BUILT_IN), UNMET, "left out by --exclude-variant"),
        (Answer("n", {}, Origin.DISABLED, "source"), UNMET, "whose provider is off (source)"),
        (Answer("n", {}, Origin.NOT_TRUSTED), UNMET, "whose plugin package is not trusted"),
        (Answer("n", {}, Origin.NOT_ASKED), UNMET, "which is not known for another platform"),
        (Answer("n", {}, Origin.UNKNOWN), UNMET, "whose provider could not be asked"),
    ),
)
def test_a_miss_says_what_is_needed_and_why_it_is_not_there(
    answer: Answer, rejection: Rejection, words: str
) -> None:
    judgement = JUDGE.judge(Metadata(()), (), of="")._replace(answers={"n": answer})
    assert incompatibility(rejection, judgement) == f"x needs n :: f :: 1 or 2, {words}"


def test_a_version_is_skipped_for_its_own_reason_or_for_its_nearest_miss() -> None:
    assert skip_phrase(Decision("a", "1", skip_reason="it is")) == "a 1 skipped: it is"
    assert skip_phrase(Decision("a", "1")) == "a 1 skipped: none of its variants fits"
    assert skip_phrase(decided("1", "13")) == (
        "tri 1 skipped: none of its variants fits; "
        "cuda13 needs CUDA driver >= 13, this machine has 12.4"
    )


def test_only_hardware_of_which_nothing_was_found_is_missing() -> None:
    assert missing_accelerators(decided("1.0", "13.0")) == {}
    nothing = Answer("nvidia", {}, Origin.BUILT_IN)
    assert missing_accelerators(decided("1.0", "13.0", answer=nothing)) == {"nvidia": False}
    broken = replace(nothing, problems=("it is broken",))
    assert missing_accelerators(decided("1.0", "13.0", answer=broken)) == {"nvidia": True}


def test_three_versions_are_spoken_of_one_by_one() -> None:
    skipped = [decided(str(number), "13.0") for number in range(5)]
    assert why_none(skipped[:3], []) == list(map(skip_phrase, skipped[:3]))
    assert why_none(skipped, [])[3:] == ["tri: 2 more versions were skipped likewise"]
    assert why_none([], []) == []


def test_of_what_is_left_out_three_labels_of_the_newest_version_are_named() -> None:
    files = [
        File.named("tri", version, f"tri-{version}-py3-none-win32-{label}.whl")
        for version, label in [*(("10.0", label) for label in "abcd"), ("9.0", "a")]
    ]
    (line,) = why_none([], [LeftOut(file, "is for win32") for file in files])
    assert line == (
        "tri 10.0: none of its variants is for this Python and platform; "
        "a is for win32; b is for win32; c is for win32; and 1 more"
    )
