"""Why nothing of a project can be taken, in words; and what is worth asking an older version."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.providers.answers import Answer, Origin
from pipvariant.shim.core.state import Run
from pipvariant.shim.resolving.reasons import (
    left_out_by_pip,
    miss,
    missing_accelerators,
    nearest_miss,
    why_none,
    why_skipped,
)
from pipvariant.shim.resolving.selector import Outcome, judge
from pipvariant.standard.metadata import SCHEMA_URL, Metadata, from_dict
from pipvariant.standard.ranking import Cause, Rejection

DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"


def outcome(run: Run, version: str, *bounds: str) -> Outcome:
    """A version with a label for each lower bound, judged for this machine."""
    metadata = from_dict(
        {
            "$schema": SCHEMA_URL,
            "default-priorities": {"namespace": ["nvidia"]},
            "providers": {"nvidia": {"requires": ["nvidia-variant-provider"]}},
            "variants": {
                f"cuda{bound}": {"nvidia": {"cuda_version_lower_bound": [bound]}}
                for bound in bounds
            },
        }
    )
    return Outcome("tri", version, {"page": judge(run, metadata, tuple(metadata.variants), of="")})


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver, as the variable says."""
    monkeypatch.setenv(DRIVER, "12.4")


def test_the_lowest_of_wrong_values_is_the_nearest_miss(run: Run) -> None:
    found = nearest_miss(outcome(run, "1.0", "13.0", "12.10", "12.9"))
    assert found == "cuda12.9 needs CUDA driver >= 12.9, this machine has 12.4"


def test_without_a_miss_there_are_no_words(run: Run) -> None:
    assert nearest_miss(outcome(run, "1.0", "12.0")) == ""


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
    run: Run, answer: Answer, rejection: Rejection, words: str
) -> None:
    judgement = judge(run, Metadata(()), (), of="")._replace(answers={"n": answer})
    assert miss(rejection, judgement) == f"x needs n :: f :: 1 or 2, {words}"


def test_a_version_is_skipped_for_its_own_reason_or_for_its_nearest_miss(run: Run) -> None:
    assert why_skipped(Outcome("a", "1", {}, "it is")) == "a 1 skipped: it is"
    assert why_skipped(Outcome("a", "1", {})) == "a 1 skipped: none of its variants fits"
    assert why_skipped(outcome(run, "1", "13")) == (
        "tri 1 skipped: none of its variants fits; "
        "cuda13 needs CUDA driver >= 13, this machine has 12.4"
    )


def test_hardware_that_answers_is_not_missing(run: Run) -> None:
    assert missing_accelerators(outcome(run, "1.0", "13.0")) == set()


def test_only_the_versions_of_the_project_are_spoken_of(run: Run) -> None:
    run.skipped["tri", "1.0"] = outcome(run, "1.0", "13.0")
    assert len(why_none(run, "tri")) == 1
    assert why_none(run, "other") == []


def test_three_versions_are_spoken_of_one_by_one(run: Run) -> None:
    for number in range(3):
        run.skipped["tri", str(number)] = outcome(run, str(number), "13.0")
    assert len(why_none(run, "tri")) == 3
    for number in range(3, 5):
        run.skipped["tri", str(number)] = outcome(run, str(number), "13.0")
    run.left_out.add("Tri")
    assert why_none(run, "tri")[3:] == [
        "tri: 2 more versions were skipped likewise",
        "--no-variant leaves out the variant wheels of: tri",
    ]


class Evaluator:
    """Pip's, as far as it says of what kind a link is."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def evaluate_link(self, link: Any) -> tuple[Any, str]:
        return SimpleNamespace(name=self._kind), "pip's own words"


def links(*filenames: str) -> list[Any]:
    make: Any = import_module("pip._internal.models.link").Link
    return [make(f"https://index.invalid/{filename}") for filename in filenames]


@pytest.mark.parametrize(
    ("kind", "filename", "reason"),
    (
        ("platform_mismatch", "tri-1.0-py3-none-win_arm64-a.whl", "is for win_arm64"),
        ("platform_mismatch", "tri-1.0-cp39-cp39-any-a.whl", "is for cp39-cp39-any"),
        ("yanked", "tri-1.0-py3-none-any-a.whl", "is left out: pip's own words"),
    ),
)
def test_what_pip_leaves_out_has_a_reason(run: Run, kind: str, filename: str, reason: str) -> None:
    run.listed["tri"] = [(Evaluator(kind), links(filename))]
    (found,) = left_out_by_pip(run, "tri")
    assert (found.label, found.version, found.reason) == ("a", "1.0", reason)
    (line,) = why_none(run, "tri")
    assert line.startswith("tri 1.0: none of its variants is for this Python and platform; a is ")


def test_of_what_pip_leaves_out_three_labels_of_the_newest_version_are_named(run: Run) -> None:
    names = ["tri-9.0-py3-none-win32-a.whl"]
    names += [f"tri-10.0-py3-none-win32-{label}.whl" for label in "abcd"]
    run.listed["tri"] = [(Evaluator("platform_mismatch"), links(*names))]
    (line,) = why_none(run, "tri")
    assert line == (
        "tri 10.0: none of its variants is for this Python and platform; "
        "a is for win32; b is for win32; c is for win32; and 1 more"
    )


@pytest.mark.parametrize(
    ("kind", "filename"),
    (
        ("candidate", "tri-1.0-py3-none-any-a.whl"),
        ("different_project", "tri-1.0-py3-none-any-a.whl"),
        ("format_invalid", "tri-1.0-py3-none-any-a.whl"),
        ("platform_mismatch", "tri-1.0-py3-none-any.whl"),
        ("platform_mismatch", "tri-1.0-py3-none-any-UP.whl"),
        ("platform_mismatch", "tri-1.0.tar.gz"),
    ),
)
def test_what_is_no_variant_or_a_candidate_is_not_left_out(
    run: Run, kind: str, filename: str
) -> None:
    run.listed["tri"] = [(Evaluator(kind), links(filename))]
    assert left_out_by_pip(run, "tri") == []
