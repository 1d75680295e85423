"""Hypothesis strategies for metadata and targets that have something to do with each other."""

from __future__ import annotations

from hypothesis import strategies as st

from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.properties import Properties

NAMESPACES = ("n1", "n2", "n3")
FEATURES = ("f1", "f2", "f3")
VALUES = ("a", "b", "c", "1.0")
LABELS = ("cpu", "cu126", "cu128", "null", "x", "y", "z")

value_lists = st.lists(st.sampled_from(VALUES), unique=True, max_size=4)
features_supported = st.dictionaries(st.sampled_from(FEATURES), value_lists, max_size=3)
supported = st.dictionaries(st.sampled_from(NAMESPACES), features_supported, max_size=3)

values = st.lists(st.sampled_from(VALUES), unique=True, min_size=1, max_size=3).map(
    lambda items: tuple(sorted(items))
)
features = st.dictionaries(st.sampled_from(FEATURES), values, min_size=1, max_size=3)


@st.composite
def variant_tables(draw: st.DrawFn) -> dict[str, Properties]:
    labels = draw(st.lists(st.sampled_from(LABELS), unique=True, max_size=7))
    properties = st.dictionaries(st.sampled_from(NAMESPACES), features, min_size=1, max_size=3)
    return {label: {} if label == "null" else draw(properties) for label in labels}


@st.composite
def metadata(draw: st.DrawFn, *, older: bool = False) -> Metadata:
    """Metadata in which every namespace is listed and has a provider."""
    namespaces = tuple(draw(st.permutations(NAMESPACES)))
    provider = Provider(requires=("plugin",))
    first_features = st.lists(st.sampled_from(FEATURES), unique=True, max_size=3).map(tuple)
    first_values = st.dictionaries(st.sampled_from(FEATURES), value_lists.map(tuple), max_size=2)
    return Metadata(
        namespaces=namespaces,
        providers=dict.fromkeys(namespaces, provider),
        variants=draw(variant_tables()),
        feature_priorities=draw(
            st.dictionaries(st.sampled_from(NAMESPACES), first_features, max_size=2)
        )
        if older
        else {},
        property_priorities=draw(
            st.dictionaries(st.sampled_from(NAMESPACES), first_values, max_size=2)
        )
        if older
        else {},
    )
