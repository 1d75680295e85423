"""Preferences reorder and narrow, and never let in what is not supported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipvariant.errors import InvalidOption
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.preferences import (
    ALL,
    Preferences,
    exclude,
    prefer,
    read_preferences,
)
from pipvariant.standard.properties import Property, from_properties
from pipvariant.standard.ranking import rank

LABELS = {
    "mkl": ("blas :: library :: mkl",),
    "openblas": ("blas :: library :: openblas",),
    "gpu": ("nvidia :: sm_arch :: 90_real",),
    "gpu_mkl": ("nvidia :: sm_arch :: 90_real", "blas :: library :: mkl"),
    "null": (),
}
METADATA = Metadata(
    ("nvidia", "blas"),
    variants={
        label: from_properties(map(Property.parse, texts)) for label, texts in LABELS.items()
    },
)
SUPPORTED = {
    "nvidia": {"bound": ["12"], "sm_arch": ["90_real"]},
    "blas": {"library": ["openblas", "mkl"], "threads": ["on"]},
}
SPECS = st.lists(
    st.sampled_from(
        [
            ("nvidia",),
            ("blas",),
            ("blas", "library"),
            ("blas", "library", "mkl"),
            ("nvidia", "sm_arch", "90_real"),
            ("other", "thing", "1"),
        ]
    ),
    max_size=4,
)


def ranked(**words: list[str]) -> tuple[str, ...]:
    wishes = read_preferences(**words)
    return rank(prefer(METADATA, wishes.preferred), exclude(SUPPORTED, wishes.excluded)).compatible


def test_without_preferences_the_order_is_that_of_the_package() -> None:
    assert ranked() == ("gpu_mkl", "gpu", "openblas", "mkl", "null")


def test_a_preferred_namespace_comes_first() -> None:
    assert ranked(preferred=["blas"]) == ("openblas", "gpu_mkl", "mkl", "gpu", "null")


def test_a_preferred_value_comes_first_with_its_namespace() -> None:
    assert ranked(preferred=["blas :: library :: mkl"])[:2] == ("gpu_mkl", "mkl")


def test_the_first_preference_is_the_foremost() -> None:
    assert ranked(preferred=["nvidia", "blas::library::mkl"])[0] == "gpu_mkl"
    assert ranked(preferred=["blas::library::openblas", "nvidia"])[0] == "openblas"


def test_a_preference_beats_the_priorities_of_older_metadata() -> None:
    older = Metadata(
        ("n",),
        feature_priorities={"n": ("f", "g")},
        property_priorities={"n": {"f": ("1", "2")}},
    )
    preferring = prefer(older, read_preferences(preferred=["m", "n :: h", "n :: f :: 3"]).preferred)
    assert preferring.namespaces == ("m", "n")
    assert preferring.feature_priorities == {"n": ("h", "f", "g")}
    assert preferring.property_priorities == {"n": {"f": ("3", "1", "2")}}


@pytest.mark.parametrize(
    ("spec", "left"),
    (
        ("nvidia", ("openblas", "mkl", "null")),
        ("nvidia :: sm_arch", ("openblas", "mkl", "null")),
        ("blas :: library :: mkl", ("gpu", "openblas", "null")),
        ("blas :: threads", ("gpu_mkl", "gpu", "openblas", "mkl", "null")),
    ),
)
def test_what_is_excluded_counts_as_not_supported(spec: str, left: tuple[str, ...]) -> None:
    assert ranked(excluded=[spec]) == left


@given(SPECS, SPECS)
def test_preferences_never_let_a_misfit_in(
    preferred: list[tuple[str, ...]], excluded: list[tuple[str, ...]]
) -> None:
    supported = {"blas": {"library": ["openblas"]}}
    narrowed = rank(prefer(METADATA, preferred), exclude(supported, excluded)).compatible
    assert set(narrowed) <= set(rank(METADATA, supported).compatible)
    assert sorted(rank(prefer(METADATA, preferred), supported).compatible) == sorted(
        rank(METADATA, supported).compatible
    )


def test_names_are_normalised_and_the_later_label_counts() -> None:
    wishes = read_preferences(labels=["Torch_Vision=cu126", "torch.vision = cu128", ":all:=null"])
    assert wishes.labels == {"torch-vision": "cu128", ALL: "null"}


def test_a_label_for_all_is_for_those_that_have_it() -> None:
    wishes = read_preferences(labels=[":all:=null", "a="])
    assert wishes.label("b", ["null", "cu126"]) == "null"
    assert wishes.label("b", ["cu126"]) is None
    assert wishes.label("a", ["null"]) == ""


def test_required_namespaces_of_one_package_and_of_all() -> None:
    wishes = read_preferences(required=["nvidia", "torch=nvidia", "torch=x86_64"])
    assert wishes.required == {ALL: ("nvidia",), "torch": ("nvidia", "x86_64")}


def test_specs_taken_apart_at_spaces_are_joined_again() -> None:
    split = ["nvidia", "::", "sm_arch", "blas::library", "::", "mkl", "x86_64"]
    assert read_preferences(preferred=split).preferred == (
        ("nvidia", "sm_arch"),
        ("blas", "library", "mkl"),
        ("x86_64",),
    )


def test_a_package_is_insisted_on_by_name_or_with_all_others() -> None:
    for wishes in (read_preferences(labels=["a=x"]), read_preferences(required=["a=n"])):
        assert wishes.is_constrained("a")
        assert not wishes.is_constrained("b")
    assert read_preferences(labels=[":all:=x"]).is_constrained("b")


def test_a_label_is_named_for_a_package_or_for_all() -> None:
    assert read_preferences(labels=["a="]).names_label("a")
    assert read_preferences(labels=[":all:=null"]).names_label("a")
    assert not read_preferences(labels=["b=x"], required=["a=n"]).names_label("a")


def test_a_family_has_a_namespace_and_its_packages() -> None:
    wishes = read_preferences(families=["nvidia=torch, Torch_Audio"])
    (family,) = wishes.families
    assert family.namespace == "nvidia"
    assert family.packages == {"torch", "torch-audio"}
    assert str(family) == "--same-variant nvidia=torch,torch-audio"
    assert wishes.family_of("torch") == (family,)
    assert wishes.family_of("numpy") == ()


LABEL = "it is not PACKAGE=LABEL. Write it as in --variant torch=cu128"
FAMILY = "it takes two packages. Write it as in --same-variant nvidia=torch,torchvision"
NAMESPACE = "a namespace. A namespace has lower case letters, digits and underscores only."
PROPERTY = "A variant property is written namespace :: feature :: value."


@pytest.mark.parametrize(
    ("words", "said"),
    (
        ({"labels": ["torch"]}, f"--variant: 'torch': {LABEL}"),
        ({"labels": ["torch=CU"]}, f"--variant: 'torch=CU': {LABEL}"),
        ({"labels": ["a=b=c"]}, f"--variant: 'a=b=c': {LABEL}"),
        ({"labels": ["-x=a"]}, "--variant: '-x=a': '-x' is not a package name"),
        ({"required": ["a=X"]}, f"--require-variant: 'X' is not {NAMESPACE}"),
        ({"required": ["=nvidia"]}, "--require-variant: '=nvidia': '' is not a package name"),
        ({"required": ["a=b=c"]}, "--require-variant: 'a=b=c': 'a=b' is not a package name"),
        ({"preferred": ["a::b::c::d"]}, f"--prefer-variant: 'a::b::c::d' has 4 parts. {PROPERTY}"),
        ({"excluded": ["A"]}, f"--exclude-variant: 'A' is not {NAMESPACE}"),
        ({"families": ["n=torch"]}, f"--same-variant: 'n=torch': {FAMILY}"),
        ({"families": ["n=torch,:all:"]}, f"--same-variant: 'n=torch,:all:': {FAMILY}"),
        ({"families": ["nvidia"]}, "--same-variant: 'nvidia': '' is not a package name"),
        ({"families": ["n=a,b=c"]}, "--same-variant: 'n=a,b=c': 'b=c' is not a package name"),
        ({"families": ["=a,b"]}, f"--same-variant: '' is not {NAMESPACE}"),
    ),
)
def test_a_wrong_word_is_named_with_its_option(words: dict[str, list[str]], said: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        read_preferences(**words)
    assert str(caught.value) == said


def test_nothing_said_is_nothing_preferred() -> None:
    assert read_preferences() == Preferences()
