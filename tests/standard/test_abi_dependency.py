"""What a value of the namespace ``abi_dependency`` means, as a match and as a requirement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from pipvariant.standard.abi_dependency import abi_requirement, is_meant, needs_versions, preferred

NUMBERS = st.integers(0, 12)


@pytest.mark.parametrize(
    ("version", "value", "expected"),
    (
        ("2.9.1", "2.9", True),
        ("2.9", "2.9", True),
        ("2.9.1", "2", True),
        ("2.9.1", "2.9.1", True),
        ("2.9", "2.9.0", True),
        ("2", "2.0.0", True),
        ("2.9.1+cu128", "2.9", True),
        ("2.9.0rc1", "2.9", True),
        ("2.10.0", "2.1", False),
        ("2.8.0", "2.9", False),
        ("12.9", "2.9", False),
        ("2.9.1", "2.9.x", False),
        ("2.9.1", "2.9.1.0", False),
        ("unknown", "2.9", False),
    ),
)
def test_a_value_means_every_version_that_starts_with_its_components(
    version: str, value: str, expected: bool
) -> None:
    assert is_meant(version, value) is expected


def test_the_newest_is_preferred_where_nothing_is_installed() -> None:
    assert preferred(["2.9", "2.10", "2.7.1", "bad"], None) == ("2.10", "2.9", "2.7.1")


def test_what_the_installed_version_matches_is_preferred() -> None:
    assert preferred(["2.9", "2.10", "2.7"], "2.7.3") == ("2.7", "2.10", "2.9")


@pytest.mark.parametrize(
    ("feature", "values", "text"),
    (
        ("torch", ("2.9",), "torch==2.9.*"),
        ("torch_geometric", ("2",), "torch-geometric==2.*"),
        ("torch", ("2.9", "2.8"), "torch>=2.8,<2.10"),
        ("torch", ("2.9", "2.7"), "torch>=2.7,<2.10,!=2.8.*"),
        ("torch", ("2.9.3", "2.9.1"), "torch>=2.9.1,<2.9.4,!=2.9.2.*"),
        ("torch", ("2.9", "2"), "torch==2.*"),
    ),
)
def test_values_become_one_requirement(feature: str, values: tuple[str, ...], text: str) -> None:
    assert abi_requirement(feature, values) == text
    Requirement(text)


@pytest.mark.parametrize(
    ("versions", "text"),
    (
        # All that lies between cannot be named, so those beside the preferred one count.
        (None, "torch>=2.0,<2.2"),
        ((), "torch>=1.13,<2.2"),
        (("1.12", "1.13.1", "1.14.0", "1.14.1", "2.1.5", "3"), "torch>=1.13,<2.2,!=1.14.*"),
    ),
)
def test_what_exists_between_values_far_apart_is_left_out(
    versions: tuple[str, ...] | None, text: str
) -> None:
    assert abi_requirement("torch", ("2.1", "2.0", "1.13"), versions) == text
    assert (
        abi_requirement("torch", ("4.0", "1.13"), ("2.1", "3.9")) == "torch>=1.13,<4.1,!=2.*,!=3.*"
    )


@pytest.mark.parametrize(
    ("values", "needed", "left_out"),
    (
        (("2.9", "2.7"), False, 1),
        (("2.0", "1.13"), True, 0),
        (("101", "0"), False, 100),
        (("102", "0"), True, 0),
    ),
)
def test_what_lies_in_a_narrow_gap_is_left_out_unseen(
    values: tuple[str, ...], needed: bool, left_out: int
) -> None:
    assert needs_versions(values) is needed
    assert abi_requirement("torch", values, ()).count("!=") == left_out


def test_without_versions_what_is_near_the_preferred_value_counts() -> None:
    text = abi_requirement("torch", ("150", "100", "99"))
    assert text.startswith("torch>=100,<151,!=101.*,")
    assert text.count("!=") == 49


@pytest.mark.parametrize(
    ("versions", "text"),
    ((None, "torch==99999999.*"), (("1.5", "2.3", "20250101"), "torch>=1,<100000000,!=2.*,!=3.*")),
)
def test_only_what_exists_is_left_out_of_a_wide_gap(
    versions: tuple[str, ...] | None, text: str
) -> None:
    values = ("99999999", "1", "20250101", "4")[: 2 + 2 * (versions is not None)]
    assert needs_versions(values)
    versions = None if versions is None else (*versions, "3.0", "4.2")
    assert abi_requirement("torch", values, versions) == text


def test_the_requirement_does_not_ask_for_pre_releases() -> None:
    specifier = Requirement(abi_requirement("torch", ("2.9", "2.8"))).specifier
    assert not specifier.prereleases
    assert list(specifier.filter(["2.8.0", "2.9.0rc1", "2.10.0rc1"])) == ["2.8.0"]


VALUES = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda it: ".".join(map(str, it)))
VERSIONS = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(
    lambda it: ".".join(map(str, it))
)


@given(st.sets(VALUES, min_size=1, max_size=5), st.sets(VERSIONS, max_size=12))
def test_of_what_exists_the_requirement_admits_exactly_what_matches(
    values: set[str], versions: set[str]
) -> None:
    text = abi_requirement("torch", preferred(values, None), versions)
    admitted = {one for one in versions if Requirement(text).specifier.contains(one)}
    assert admitted == {one for one in versions if any(is_meant(one, value) for value in values)}


@given(st.sets(NUMBERS, min_size=1, max_size=5), NUMBERS, NUMBERS)
def test_the_requirement_admits_exactly_the_versions_that_match(
    minors: set[int], minor: int, patch: int
) -> None:
    values = preferred([f"2.{number}" for number in minors], None)
    version = f"2.{minor}.{patch}"
    admitted = Requirement(abi_requirement("torch", values)).specifier.contains(version)
    assert admitted == any(is_meant(version, value) for value in values)
