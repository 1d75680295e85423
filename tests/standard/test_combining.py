"""STANDARD: combining the metadata of several wheels of one version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipvariant.errors import ConflictingMetadata
from pipvariant.standard.metadata import Metadata, Provider, combine, to_json
from pipvariant.standard.properties import Properties

A, B = Provider(requires=("a",)), Provider(requires=("b",))
CU126: Properties = {"nvidia": {"cuda_version_lower_bound": ("12.6",)}}
CU128: Properties = {"nvidia": {"cuda_version_lower_bound": ("12.8",)}}


def made(namespaces: Sequence[str] = ("nvidia",), **variants: Properties) -> Metadata:
    return Metadata(tuple(namespaces), dict.fromkeys(namespaces, A), variants)


def test_variants_are_united() -> None:
    one, other = made(cu126=CU126), made(cu128=CU128)
    assert combine(one, other) == made(cu126=CU126, cu128=CU128)
    assert combine(one) == one
    assert combine(one, other, one, other) == combine(one, other)


def test_equal_labels_must_have_equal_properties() -> None:
    with pytest.raises(ConflictingMetadata, match="the properties of the label cu126 differ"):
        combine(made(cu126=CU126), made(cu126=CU128))


def test_longer_namespace_list_wins_if_it_starts_with_the_other() -> None:
    short, long = made(("a", "b")), made(("a", "b", "c"))
    assert combine(short, long).namespaces == ("a", "b", "c")
    assert combine(long, short) == combine(short, long)


@pytest.mark.parametrize(
    ("other", "conflict"),
    (
        (("b",), "a, b are not the beginning of b"),
        (("b", "a"), "a, b are not the beginning of b, a"),
        (("a", "c", "b"), "a, b are not the beginning of a, c, b"),
        (("b", "a", "c"), "a, b are not the beginning of b, a, c"),
    ),
)
def test_namespace_lists_of_another_order_conflict(other: tuple[str, ...], conflict: str) -> None:
    with pytest.raises(ConflictingMetadata, match=f"^the namespaces {conflict}"):
        combine(made(("a", "b")), made(other))


def test_provider_entries_must_be_equal() -> None:
    one = made()
    for other in (B, replace(A, optional=True), replace(A, plugin_api="x")):
        with pytest.raises(ConflictingMetadata, match="the provider of nvidia differ"):
            combine(one, replace(one, providers={"nvidia": other}))


def test_feature_order_of_static_properties_must_be_equal() -> None:
    straight = Provider(static_properties={"f": (), "g": ()})
    turned = Provider(static_properties={"g": (), "f": ()})
    one = replace(made(), providers={"a": straight, "nvidia": turned})
    other = replace(made(), providers={"a": straight, "nvidia": straight})
    assert one == other
    assert combine(one, one) == one
    with pytest.raises(ConflictingMetadata) as caught:
        combine(one, other, other)
    assert caught.value.what == "the feature order of nvidia differs"


def test_older_priorities_must_be_equal_where_both_list_the_namespace() -> None:
    one = replace(made(), feature_priorities={"nvidia": ("f",)})
    two = replace(made(), property_priorities={"nvidia": {"f": ("v",)}})
    with pytest.raises(ConflictingMetadata, match="the feature priorities of nvidia differ"):
        combine(one, made())
    with pytest.raises(ConflictingMetadata, match="the property priorities of nvidia differ"):
        combine(two, made())
    assert combine(one, made(())).feature_priorities == {"nvidia": ("f",)}
    assert combine(two, made(())).property_priorities == {"nvidia": {"f": ("v",)}}
    assert combine(one, one) == one
    none = replace(made(), feature_priorities={"nvidia": ()}, property_priorities={"nvidia": {}})
    assert combine(none, made()) == made()


def test_all_conflicts_are_told_at_once() -> None:
    one, other = made(cu126=CU126), made(("x86_64",), cu126=CU128)
    with pytest.raises(ConflictingMetadata) as caught:
        combine(one, replace(other, providers={"nvidia": B}))
    assert str(caught.value) == (
        "the namespaces nvidia are not the beginning of x86_64; "
        "the properties of the label cu126 differ; the provider of nvidia differ. "
        "All wheels of one version must agree on these."
    )


def test_format_of_the_result_is_the_newest() -> None:
    older = replace(made(), schema="https://example.org/v0.0.3.json", schema_version=(0, 0, 3))
    assert combine(older, made()).schema_version == (0, 2, 0)
    assert combine(made(), older).schema == made().schema
    assert combine(older, older) == older


namespace_lists = st.sampled_from(((), ("n1",), ("n1", "n2"), ("n1", "n2", "n3"), ("n2",)))
one_wheel = st.builds(
    Metadata,
    namespaces=namespace_lists,
    providers=st.dictionaries(st.sampled_from(("n1", "n2")), st.sampled_from((A, A, A, B))),
    variants=st.dictionaries(
        st.sampled_from(("x", "y", "z")), st.sampled_from((CU126, CU126, CU126, CU128))
    ),
    feature_priorities=st.dictionaries(st.just("n1"), st.just(("f",)), max_size=1),
    schema_version=st.sampled_from(((), (0, 0, 3), (0, 2, 0))),
)


def outcome(*parts: Metadata) -> str | None:
    """Return all that matters about a combination, or None for a conflict."""
    try:
        combined = combine(*parts)
    except ConflictingMetadata:
        return None
    return f"{combined.schema_version} {to_json(combined)}"


@given(st.lists(one_wheel, min_size=1, max_size=4).flatmap(st.permutations))
def test_result_does_not_depend_on_the_order(parts: list[Metadata]) -> None:
    expected = outcome(*parts)
    assert outcome(*reversed(parts)) == expected
    assert outcome(*parts[1:], parts[0]) == expected
    assert outcome(*parts, *parts) == expected


def nested(*parts: object) -> str | None:
    """Combine two by two, as the brackets say."""

    def value(part: object) -> Metadata:
        if isinstance(part, Metadata):
            return part
        assert isinstance(part, tuple)
        return combine(value(part[0]), value(part[1]))

    try:
        return outcome(value(parts))
    except ConflictingMetadata:
        return None


@given(one_wheel, one_wheel, one_wheel)
def test_combining_is_associative(one: Metadata, two: Metadata, three: Metadata) -> None:
    expected = outcome(one, two, three)
    assert nested((one, two), three) == expected
    assert nested(one, (two, three)) == expected
    assert nested((three, one), two) == expected
