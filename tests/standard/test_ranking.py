"""STANDARD: which variants fit, and in which order; with the field cases that are about it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest

from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Properties
from pipvariant.standard.ranking import Cause, Ranking, Rejection, rank, supported_properties


def made(namespaces: Sequence[str], **variants: Properties) -> Metadata:
    return Metadata(tuple(namespaces), variants=variants)


def cuda(version: str) -> Properties:
    return {"nvidia": {"cuda_version_lower_bound": (version,)}}


def driver(version: str) -> Mapping[str, Mapping[str, Sequence[str]]]:
    """What a target with this driver supports."""
    major, minor = map(int, version.split("."))
    values = [f"{major}.{lower}" for lower in range(minor, -1, -1)] + [str(major)]
    for older in range(major - 1, 10, -1):
        values += [f"{older}.{lower}" for lower in range(20, -1, -1)] + [str(older)]
    return {"nvidia": {"cuda_version_lower_bound": values}}


TRI = made(
    ["nvidia"],
    **{"cuda12.6": cuda("12.6"), "cuda12.8": cuda("12.8"), "cuda13.0": cuda("13.0"), "null": {}},
)
TWO = made(["a", "b"], a={"a": {"f": ("1",)}}, b={"b": {"f": ("1",)}}, null={})
BOTH = {"a": {"f": ["1"]}, "b": {"f": ["1"]}}


# Compatible or not.


def test_variant_fits_when_every_feature_has_a_supported_value() -> None:
    metadata = made(["n"], x={"n": {"f": ("1", "2"), "g": ("3",)}})
    assert rank(metadata, {"n": {"f": ["2", "9"], "g": ["3"]}}).compatible == ("x",)
    assert rank(metadata, {"n": {"f": ["2"], "g": ["4"]}}).compatible == ()
    assert rank(metadata, {"n": {"f": ["3"], "g": ["3"]}}).compatible == ()


def test_null_always_fits() -> None:
    assert rank(TRI, {}).compatible == ("null",)
    assert rank(TRI, {"nvidia": {}}).compatible == ("null",)


def test_null_fits_even_where_the_metadata_does_not_list_it() -> None:
    metadata = made(["nvidia"], cu126=cuda("12.6"))
    assert rank(metadata, {}, ["null", "cu126"]).compatible == ("null",)
    assert rank(metadata, {}).compatible == ()


def test_label_that_is_not_in_the_metadata_does_not_fit() -> None:
    ranking = rank(TRI, driver("12.8"), ["cuda12.6", "elsewhere"])
    assert ranking.compatible == ("cuda12.6",)
    assert ranking.rejected == (Rejection("elsewhere", Cause.UNKNOWN_LABEL, "", "", (), ()),)


def test_only_the_labels_asked_for_are_judged() -> None:
    ranking = rank(TRI, driver("13.0"), ["cuda12.6", "cuda12.6"])
    assert ranking == Ranking(("cuda12.6",), ())


def test_other_values_of_a_feature_do_not_matter() -> None:
    metadata = made(["n"], x={"n": {"f": ("1", "unheard_of")}})
    assert rank(metadata, {"n": {"f": ["1"]}}).compatible == ("x",)


# Order.


def test_namespaces_come_in_the_order_of_the_metadata() -> None:
    assert rank(TWO, BOTH).compatible == ("a", "b", "null")
    turned = made(["b", "a"], **TWO.variants)
    assert rank(turned, BOTH).compatible == ("b", "a", "null")
    assert rank(TWO, dict(reversed(BOTH.items()))).compatible == ("a", "b", "null")


def test_features_come_in_the_order_of_the_provider() -> None:
    metadata = made(["n"], a={"n": {"f": ("1",)}}, b={"n": {"g": ("1",)}})
    assert rank(metadata, {"n": {"f": ["1"], "g": ["1"]}}).compatible == ("a", "b")
    assert rank(metadata, {"n": {"g": ["1"], "f": ["1"]}}).compatible == ("b", "a")


def test_values_come_in_the_order_of_the_provider() -> None:
    metadata = made(["n"], a={"n": {"f": ("1",)}}, b={"n": {"f": ("2",)}})
    assert rank(metadata, {"n": {"f": ["1", "2"]}}).compatible == ("a", "b")
    assert rank(metadata, {"n": {"f": ["2", "1"]}}).compatible == ("b", "a")


def test_best_supported_value_of_a_feature_counts() -> None:
    metadata = made(["n"], a={"n": {"f": ("best", "worst")}}, b={"n": {"f": ("middle",)}})
    assert rank(metadata, {"n": {"f": ["best", "middle", "worst"]}}).compatible == ("a", "b")
    assert rank(metadata, {"n": {"f": ["middle", "worst"]}}).compatible == ("b", "a")


def test_first_lower_triple_wins() -> None:
    metadata = made(
        ["n", "m"],
        one={"n": {"f": ("1",)}, "m": {"f": ("1",)}},
        two={"n": {"f": ("2",)}, "m": {"f": ("1",)}},
        six={"n": {"f": ("1",)}, "m": {"f": ("2",)}},
    )
    supported = {"n": {"f": ["1", "2"]}, "m": {"f": ["1", "2"]}}
    assert rank(metadata, supported).compatible == ("one", "six", "two")


def test_earlier_feature_beats_more_features() -> None:
    metadata = made(
        ["n"], first={"n": {"a": ("1",)}}, rest={"n": {"b": ("1",), "c": ("1",), "d": ("1",)}}
    )
    supported = {"n": {"a": ["1"], "b": ["1"], "c": ["1"], "d": ["1"]}}
    assert rank(metadata, supported).compatible == ("first", "rest")


def test_longer_list_wins_when_the_other_is_its_beginning() -> None:
    metadata = made(["n"], a={"n": {"f": ("1",)}}, z={"n": {"f": ("1",), "g": ("2",)}})
    assert rank(metadata, {"n": {"f": ["1"], "g": ["1", "2"]}}).compatible == ("z", "a")


def test_label_decides_between_equal_variants() -> None:
    same: Properties = {"n": {"f": ("1",)}}
    metadata = made(["n"], b=same, a=same, **{"1": same, "_": same, ".": same})
    assert rank(metadata, {"n": {"f": ["1"]}}).compatible == (".", "1", "_", "a", "b")


def test_null_comes_last_of_the_labels() -> None:
    metadata = made(["n"], zzz={"n": {"f": ("9",)}}, null={})
    assert rank(metadata, {"n": {"f": ["1", "9"]}}).compatible == ("zzz", "null")


def test_result_does_not_depend_on_the_order_of_the_labels() -> None:
    expected = rank(TRI, driver("12.8"))
    for labels in itertools.permutations([*TRI.variants, "unknown"]):
        ranking = rank(TRI, driver("12.8"), labels)
        assert ranking.compatible == expected.compatible
        assert [rejection.label for rejection in ranking.rejected] == ["cuda13.0", "unknown"]


def test_listed_features_of_older_formats_come_first() -> None:
    metadata = Metadata(
        ("n",),
        variants={"f": {"n": {"f": ("1",)}}, "g": {"n": {"g": ("1",)}}},
        feature_priorities={"n": ("unsupported", "g")},
    )
    assert rank(metadata, {"n": {"f": ["1"], "g": ["1"]}}).compatible == ("g", "f")


def test_listed_values_of_older_formats_come_first_and_stay_unsupported() -> None:
    metadata = Metadata(
        ("n",),
        variants={"a": {"n": {"f": ("1",)}}, "b": {"n": {"f": ("2",)}}, "c": {"n": {"f": ("3",)}}},
        property_priorities={"n": {"f": ("3", "2"), "other": ("1",)}},
    )
    ranking = rank(metadata, {"n": {"f": ["1", "2"]}})
    assert ranking.compatible == ("b", "a")
    assert [rejection.label for rejection in ranking.rejected] == ["c"]


def test_unlisted_namespace_comes_after_the_listed_ones() -> None:
    metadata = made(
        ["n"],
        torch29={"abi_dependency": {"torch": ("2.9",)}},
        x={"n": {"f": ("1",)}},
        both={"n": {"f": ("1",)}, "abi_dependency": {"torch": ("2.9",)}},
    )
    supported = {"abi_dependency": {"torch": ["2.9"]}, "n": {"f": ["1"]}}
    assert rank(metadata, supported).compatible == ("both", "x", "torch29")


# Reasons.


@pytest.mark.parametrize(
    ("supported", "cause", "offered"),
    (
        ({}, Cause.NAMESPACE, ()),
        ({"n": {}}, Cause.NAMESPACE, ()),
        ({"n": {"f": []}}, Cause.NAMESPACE, ()),
        ({"n": {"g": ["1"]}}, Cause.FEATURE, ()),
        ({"n": {"f": [], "g": ["1"]}}, Cause.FEATURE, ()),
        ({"n": {"f": ["3", "4"]}}, Cause.VALUE, ("3", "4")),
    ),
)
def test_rejection_says_what_is_unmet_and_what_the_target_has(
    supported: Mapping[str, Mapping[str, Sequence[str]]], cause: Cause, offered: tuple[str, ...]
) -> None:
    metadata = made(["n"], x={"n": {"f": ("1", "2")}})
    assert rank(metadata, supported).rejected == (
        Rejection("x", cause, "n", "f", ("1", "2"), offered),
    )


def test_first_unmet_property_follows_namespaces_and_then_feature_names() -> None:
    label: Properties = {"a": {"f": ("1",)}, "b": {"z": ("1",), "y": ("1",)}, "c": {"f": ("1",)}}
    metadata = made(["b", "a"], x=label)
    unmet = []
    supported: dict[str, dict[str, list[str]]] = {}
    for _ in range(4):
        (rejection,) = rank(metadata, supported).rejected
        unmet.append((rejection.namespace, rejection.feature))
        supported.setdefault(rejection.namespace, {})[rejection.feature] = ["1"]
    assert unmet == [("b", "y"), ("b", "z"), ("a", "f"), ("c", "f")]
    assert rank(metadata, supported).rejected == ()


def test_rejections_come_in_the_order_of_the_labels() -> None:
    rejected = rank(TRI, {}, ["cuda13.0", "zzz", "cuda12.6", "aaa"]).rejected
    assert [item.label for item in rejected] == ["aaa", "cuda12.6", "cuda13.0", "zzz"]


# What markers see.


def test_only_properties_that_the_target_supports_are_kept() -> None:
    properties: Properties = {"n": {"f": ("1", "2"), "g": ("3",)}, "m": {"f": ("1",)}}
    supported = {"n": {"f": ["9", "2"], "h": ["1"]}, "x": {"f": ["1"]}}
    assert supported_properties(properties, supported) == {"n": {"f": ("2",)}}
    assert supported_properties({}, supported) == {}
    assert supported_properties(properties, {}) == {}


# Field cases.


def test_c1_newest_cuda_was_never_built_for_the_wanted_release() -> None:
    beta = made(["nvidia"], **{"cuda12.6": cuda("12.6"), "null": {}})
    assert rank(beta, driver("12.8")).compatible[0] == "cuda12.6"


def test_c2_driver_is_a_few_minors_too_old() -> None:
    ranking = rank(TRI, driver("12.4"))
    assert ranking.compatible == ("null",)
    nearest = ranking.rejected[0]
    assert nearest[:5] == (
        "cuda12.6",
        Cause.VALUE,
        "nvidia",
        "cuda_version_lower_bound",
        ("12.6",),
    )
    assert nearest.supported[0] == "12.4"


def test_c3_newest_version_only_has_a_gpu_build_for_newer_drivers() -> None:
    newest = made(["nvidia"], **{"cuda13.0": cuda("13.0"), "null": {}})
    older = made(["nvidia"], **{"cuda12.6": cuda("12.6"), "null": {}})
    assert rank(newest, driver("12.8")).compatible == ("null",)
    assert rank(older, driver("12.8")).compatible == ("cuda12.6", "null")


def test_c4_newest_version_only_has_labels_that_do_not_fit() -> None:
    newest = made(["nvidia"], **{"cuda13.0": cuda("13.0")})
    assert rank(newest, driver("12.8")).compatible == ()
    assert rank(newest, driver("13.0")).compatible == ("cuda13.0",)


@pytest.mark.parametrize(
    ("order", "expected"),
    (
        (["b", "c"], ("single_b", "multi", "null")),
        (["c"], ("multi", "null")),
        (["a", "b"], ("multi", "single_a", "single_b", "null")),
    ),
)
def test_c5_several_values_of_one_feature(order: list[str], expected: tuple[str, ...]) -> None:
    metadata = made(
        ["n"],
        single_a={"n": {"gpu": ("a",)}},
        single_b={"n": {"gpu": ("b",)}},
        multi={"n": {"gpu": ("a", "c")}},
        null={},
    )
    assert rank(metadata, {"n": {"gpu": order}}).compatible == expected


@pytest.mark.parametrize(
    ("namespaces", "expected"),
    ((["nvidia", "amd"], "cuda"), (["amd", "nvidia"], "rocm")),
)
def test_c6_two_vendors_are_present(namespaces: list[str], expected: str) -> None:
    metadata = made(namespaces, cuda=cuda("12.6"), rocm={"amd": {"rocm_version": ("7.0",)}})
    supported = {"amd": {"rocm_version": ["7.0"]}, **driver("12.8")}
    assert rank(metadata, supported).compatible[0] == expected


def test_c7_static_list_orders_builds_that_all_fit() -> None:
    metadata = made(
        ["blas"], mkl={"blas": {"library": ("mkl",)}}, openblas={"blas": {"library": ("openblas",)}}
    )
    static = {"blas": {"library": ("openblas", "mkl")}}
    assert rank(metadata, static).compatible == ("openblas", "mkl")
    preferring = Metadata(
        ("blas",),
        variants=metadata.variants,
        property_priorities={"blas": {"library": ("mkl",)}},
    )
    assert rank(preferring, static).compatible == ("mkl", "openblas")


def test_ten_thousand_labels_are_ranked_as_few_are() -> None:
    variants: dict[str, Properties] = {
        f"l{number:05}": {"n": {f"f{place}": (str((number >> place) % 3),) for place in range(5)}}
        for number in range(10_000)
    }
    supported = {"n": {f"f{place}": ["0", "1"] for place in range(5)}}
    ranking = rank(made(["n"], **variants), supported)
    assert len(ranking.compatible) + len(ranking.rejected) == 10_000
    keys = [list(variants[label]["n"].values()) for label in ranking.compatible]
    assert keys == sorted(keys)
    assert all(item.values == ("2",) for item in ranking.rejected)
