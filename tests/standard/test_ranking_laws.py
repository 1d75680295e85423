"""Laws of the ranking, and two other implementations that it must agree with."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Property, iter_properties
from pipvariant.standard.ranking import Cause, Supported, rank
from tests.standard import model, strategies
from tests.standard.strategies import LABELS

some_labels = st.lists(st.sampled_from((*LABELS, "unknown")), max_size=9)
any_metadata = st.one_of(strategies.metadata(), strategies.metadata(older=True))


@given(any_metadata, strategies.supported, some_labels)
def test_ranking_agrees_with_the_literal_model(
    metadata: Metadata, supported: Supported, labels: list[str]
) -> None:
    assert list(rank(metadata, supported, labels).compatible) == model.ranked(
        metadata, supported, labels
    )


@given(any_metadata, strategies.supported, some_labels)
def test_each_label_is_either_compatible_or_rejected_once(
    metadata: Metadata, supported: Supported, labels: list[str]
) -> None:
    ranking = rank(metadata, supported, labels)
    rejected = [rejection.label for rejection in ranking.rejected]
    assert sorted([*ranking.compatible, *rejected]) == sorted(set(labels))
    assert rejected == sorted(rejected)


@given(any_metadata, strategies.supported, some_labels.flatmap(st.permutations))
def test_order_is_independent_of_the_order_of_the_input(
    metadata: Metadata, supported: Supported, labels: list[str]
) -> None:
    expected = rank(metadata, supported, labels)
    turned = Metadata(
        metadata.namespaces,
        metadata.providers,
        dict(list(metadata.variants.items())[::-1]),
        feature_priorities=metadata.feature_priorities,
        property_priorities=metadata.property_priorities,
    )
    assert rank(turned, dict(list(supported.items())[::-1]), labels[::-1]) == expected


@given(any_metadata, strategies.supported, some_labels)
def test_null_is_last_and_always_there(
    metadata: Metadata, supported: Supported, labels: list[str]
) -> None:
    assert rank(metadata, supported, [*labels, "null"]).compatible[-1] == "null"


@given(any_metadata, strategies.supported, st.data())
def test_narrower_supported_set_never_makes_another_label_fit(
    metadata: Metadata, supported: Supported, data: st.DataObject
) -> None:
    narrower = {
        namespace: {
            feature: [value for value in values if data.draw(st.booleans())]
            for feature, values in features.items()
            if data.draw(st.booleans())
        }
        for namespace, features in supported.items()
    }
    before, after = rank(metadata, supported), rank(metadata, narrower)
    assert set(after.compatible) <= set(before.compatible)


@given(any_metadata, strategies.supported)
def test_labels_do_not_influence_each_other(metadata: Metadata, supported: Supported) -> None:
    together = rank(metadata, supported).compatible
    for place, label in enumerate(together):
        for worse in together[place + 1 :]:
            assert rank(metadata, supported, [worse, label]).compatible == (label, worse)


@given(any_metadata, strategies.supported)
def test_meeting_what_is_unmet_leads_to_a_label_that_fits(
    metadata: Metadata, supported: Supported
) -> None:
    for label in [rejection.label for rejection in rank(metadata, supported).rejected]:
        wider = {name: dict(features) for name, features in supported.items()}
        for _ in list(iter_properties(metadata.variants[label])):
            rejected = rank(metadata, wider, [label]).rejected
            if not rejected:
                break
            (found,) = rejected
            assert found.cause is not Cause.UNKNOWN_LABEL
            assert found.values == metadata.variants[label][found.namespace][found.feature]
            assert found.supported == tuple(wider.get(found.namespace, {}).get(found.feature, ()))
            assert not set(found.values) & set(found.supported)
            wider.setdefault(found.namespace, {})[found.feature] = [*found.supported, *found.values]
        assert rank(metadata, wider, [label]).compatible == (label,)


def ranked_by_variantlib(lib: Any, metadata: Metadata, supported: Supported) -> list[str]:
    """Let variantlib do the same."""
    descriptions = [
        lib.VariantDescription(
            [lib.VariantProperty(*item) for item in iter_properties(properties)], label
        )
        for label, properties in metadata.variants.items()
    ]
    result = lib.sort_and_filter_supported_variants(
        descriptions,
        [
            lib.VariantProperty(*Property(namespace, feature, value))
            for namespace, features in supported.items()
            for feature, values in features.items()
            for value in values
        ],
        list(metadata.namespaces),
        feature_priorities={
            namespace: list(listed) for namespace, listed in metadata.feature_priorities.items()
        },
        property_priorities={
            namespace: {feature: list(values) for feature, values in features.items()}
            for namespace, features in metadata.property_priorities.items()
        },
        filter_values=True,
    )
    return [description.label for description in result]


@pytest.fixture(scope="module")
def variantlib() -> Any:
    """The reference implementation, which needs Python 3.10."""
    pytest.importorskip("variantlib")  # there is no release of it for Python 3.9
    from variantlib.models.variant import VariantDescription, VariantProperty
    from variantlib.resolver import lib

    class Names:
        sort_and_filter_supported_variants = staticmethod(lib.sort_and_filter_supported_variants)

    Names.VariantDescription = VariantDescription  # type: ignore[attr-defined]  # a bag of names
    Names.VariantProperty = VariantProperty  # type: ignore[attr-defined]  # a bag of names
    return Names


@given(metadata=any_metadata, supported=strategies.supported)
def test_ranking_agrees_with_variantlib(
    variantlib: Any, metadata: Metadata, supported: Supported
) -> None:
    """The order is the same; these are the differences, none of which is about order.

    variantlib ranks all labels of the metadata and none besides; it adds the null variant where
    the metadata does not list it, which the ranking only does when it is asked about it; and it
    takes what ``abi_dependency`` supports from its own environment, which is why that namespace
    is left out here.
    """
    labels = [*metadata.variants, "null"]
    assert list(rank(metadata, supported, labels).compatible) == ranked_by_variantlib(
        variantlib, metadata, supported
    )
