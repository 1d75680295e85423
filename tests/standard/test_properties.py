"""STANDARD: variant properties, their characters, and the label that is made from them."""

from __future__ import annotations

import itertools

import pytest

from pipvariant.errors import InvalidProperty
from pipvariant.standard.properties import (
    Property,
    from_properties,
    hash_label,
    iter_properties,
    parse_namespace,
    parse_spec,
)


@pytest.mark.parametrize("text", ("a::b::1.0", "a :: b :: 1.0", "  a::  b\t::1.0 ", "a  ::b:: 1.0"))
def test_spaces_around_colons_never_matter_when_reading(text: str) -> None:
    assert Property.parse(text) == Property("a", "b", "1.0")


def test_one_space_each_side_when_writing() -> None:
    assert str(Property("nvidia", "sm_arch", "90_real")) == "nvidia :: sm_arch :: 90_real"


@pytest.mark.parametrize(
    "text",
    (
        "",
        "a",
        "a :: b",
        "a :: b :: c :: d",
        "A :: b :: c",
        "a :: B :: c",
        "a :: b :: C",
        "a.b :: c :: d",
        "a :: b.c :: d",
        "a-b :: c :: d",
        "a :: b :: c-d",
        "a :: b c :: d",
        "a :: b :: ",
        ":: b :: c",
        "a : b : c",
        "ä :: b :: c",
        "a :: b ::: c",
    ),
)
def test_namespace_and_feature_have_no_dots_and_nothing_has_other_characters(text: str) -> None:
    with pytest.raises(InvalidProperty):
        Property.parse(text)


def test_value_may_have_dots() -> None:
    assert Property.parse("a :: b :: 12.8").value == "12.8"


def test_spec_has_one_to_three_parts() -> None:
    assert parse_spec(" a ") == ("a",)
    assert parse_spec("a::b") == ("a", "b")
    assert parse_spec("a :: b :: c.d") == ("a", "b", "c.d")
    with pytest.raises(InvalidProperty, match="4 parts"):
        parse_spec("a :: b :: c :: d")


def test_a_namespace_is_parsed_alone() -> None:
    assert parse_namespace(" nvidia ") == "nvidia"
    with pytest.raises(InvalidProperty, match="not of the form namespace"):
        parse_namespace("nvidia :: sm_arch")


def test_error_says_which_part_is_wrong() -> None:
    with pytest.raises(InvalidProperty) as caught:
        Property.parse("nvidia :: sm-arch :: 1")
    assert str(caught.value) == (
        "nvidia :: sm-arch :: 1: 'sm-arch' is not a feature. "
        "A feature has lower case letters, digits and underscores only."
    )
    with pytest.raises(
        InvalidProperty, match=r"has lower case letters, digits, underscores and dots only\.$"
    ):
        Property.parse("nvidia :: sm_arch :: 90-real")


def test_properties_are_ordered_by_namespace_feature_value() -> None:
    ordered = [
        Property("a", "a", "2"),
        Property("a", "a_b", "1"),
        Property("a_b", "a", "1"),
        Property("b", "a", "1"),
    ]
    assert all(sorted(some) == ordered for some in itertools.permutations(ordered))


def test_properties_are_hashable_and_frozen() -> None:
    item = Property("a", "b", "c")
    assert {item, Property("a", "b", "c")} == {item}
    with pytest.raises(AttributeError):
        item.value = "d"  # type: ignore[misc]  # that this is refused is the test


def test_hash_label_is_the_start_of_the_sha_256_of_the_sorted_properties() -> None:
    lower = Property("nvidia", "cuda_version_lower_bound", "12.8")
    assert hash_label([lower]) == "f839a2dd"
    some = [lower, Property("nvidia", "sm_arch", "90_real"), Property("x86_64", "level", "v3")]
    assert {hash_label(order) for order in itertools.permutations(some)} == {"a1a45001"}
    assert hash_label([*some, lower]) == hash_label(some)


def test_null_label_is_for_zero_properties() -> None:
    assert hash_label([]) == "null"


def test_properties_are_grouped_and_listed_in_order() -> None:
    some = [
        Property("b", "y", "1"),
        Property("a", "x", "2"),
        Property("a", "x", "10"),
        Property("a", "w", "3"),
        Property("a", "x", "2"),
    ]
    grouped = from_properties(some)
    assert grouped == {"a": {"w": ("3",), "x": ("10", "2")}, "b": {"y": ("1",)}}
    assert list(grouped) == ["a", "b"]
    assert list(iter_properties(grouped)) == sorted(set(some))
    assert from_properties([]) == {}
