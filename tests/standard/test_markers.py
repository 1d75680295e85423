"""STANDARD: the four markers are decided, and everything else is left to any tool."""

from __future__ import annotations

from typing import Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement

from pipvariant.errors import InvalidMarker
from pipvariant.standard.markers import EMPTY, VariantContext, reduce_requirement

CU128 = VariantContext(
    "cu128",
    {
        "nvidia": {"cuda_version_lower_bound": ("12.8",), "sm_arch": ("100_real", "90_real")},
        "x86_64": {"level": ("v3",)},
    },
)
NULL = VariantContext("null")


def holds(marker: str, context: VariantContext = CU128) -> bool:
    """Whether a requirement with only variant markers applies."""
    result = reduce_requirement(f"dep; {marker}", context)
    assert result in {"dep", None}
    return result is not None


@pytest.mark.parametrize(
    "text",
    (
        "dep",
        "dep>=1; os_name == 'posix'",
        "dep @ https://example.org/a;b.whl",
        "dep[variant] ; extra == 'x'",
        "dep; extra == 'variant_label'",
        "variant_label >= 1; os_name == 'nt'",
        "dep @ https://example.org/variant_label;x==1",
        "",
    ),
)
def test_requirement_without_variant_markers_stays_the_same_object(text: str) -> None:
    assert reduce_requirement(text, CU128) is text


@pytest.mark.parametrize(
    ("marker", "cu128", "null", "plain"),
    (
        ("variant_label == 'cu128'", True, False, False),
        ("variant_label != 'cu128'", False, True, True),
        ("variant_label == 'null'", False, True, False),
        ('variant_label == ""', False, False, True),
        ("'cu128' == variant_label", True, False, False),
        ("variant_label === 'cu128'", True, False, False),
        ("variant_label in 'cu126 cu128'", True, False, True),
        ("'cu' in variant_label", True, False, False),
        ("variant_label not in 'cu126 cu128'", False, True, False),
        ("'nvidia' in variant_namespaces", True, False, False),
        ("'nvidia' not in variant_namespaces", False, True, True),
        ("'amd' in variant_namespaces", False, False, False),
        ("'nvidia :: sm_arch' in variant_features", True, False, False),
        ("'nvidia :: gfx_arch' in variant_features", False, False, False),
        ("'nvidia :: sm_arch :: 90_real' in variant_properties", True, False, False),
        ("'nvidia :: sm_arch :: 80_real' in variant_properties", False, False, False),
        ("'nvidia :: sm_arch :: 80_real' not   in variant_properties", True, True, True),
        ("'nvidia' in variant_features", False, False, False),
        ("'nvidia :: sm_arch' in variant_properties", False, False, False),
        ("variant_label < 'd'", True, False, True),
    ),
)
def test_markers_are_decided_for_each_kind_of_wheel(
    marker: str, cu128: bool, null: bool, plain: bool
) -> None:
    assert (holds(marker), holds(marker, NULL), holds(marker, EMPTY)) == (cu128, null, plain)


def test_label_is_a_string_and_no_version() -> None:
    assert not holds("variant_label == '1.0'", VariantContext("1.0.0"))
    assert holds("variant_label == '1.0'", VariantContext("1.0"))


@pytest.mark.parametrize(
    "written",
    ("nvidia::sm_arch::90_real", " nvidia ::sm_arch  :: 90_real", "nvidia\t:: sm_arch::90_real "),
)
def test_spaces_around_colons_do_not_matter(written: str) -> None:
    assert holds(f"'{written}' in variant_properties")
    assert holds(f"'{written.rpartition('::')[0]}' in variant_features")


@pytest.mark.parametrize(
    ("text", "reduced"),
    (
        ("dep>=1 ; variant_label == 'cu128'", "dep>=1"),
        ("dep[a,b] (>=1,<2);variant_label=='cu128'", "dep[a,b] (>=1,<2)"),
        ("dep; variant_label == 'cu126'", None),
        ("dep; variant_label == 'cu128' and os_name == 'nt'", "dep; os_name == 'nt'"),
        ("dep; os_name=='nt' and variant_label == 'cu128'", "dep; os_name=='nt'"),
        ("dep; variant_label == 'cu126' or os_name == 'nt'", "dep; os_name == 'nt'"),
        ("dep; variant_label == 'cu128' or os_name == 'nt'", "dep"),
        ("dep; variant_label == 'cu126' and os_name == 'nt'", None),
        (
            "dep; (os_name == 'a' or variant_label == 'x' or os_name == 'b') and extra == 'e'",
            "dep; (os_name == 'a' or os_name == 'b') and extra == 'e'",
        ),
        (
            "dep; os_name == 'a' and variant_label == 'cu128' and extra == 'e' or extra == 'f'",
            "dep; os_name == 'a' and extra == 'e' or extra == 'f'",
        ),
        (
            "dep; variant_label == 'cu128' and (os_name  ==  'a' or (extra == 'e'))",
            "dep; (os_name  ==  'a' or (extra == 'e'))",
        ),
        ("dep; ((variant_label == 'cu128'))", "dep"),
        (
            "dep @ https://example.org/a;b.whl ; variant_label == 'cu128' and os_name == 'nt'",
            "dep @ https://example.org/a;b.whl ; os_name == 'nt'",
        ),
        (
            "dep@https://example.org/a.whl ;variant_label == 'cu128'",
            "dep@ https://example.org/a.whl",
        ),
        ("dep @ git+https://h/x@v1 ; variant_label != ''", "dep @ git+https://h/x@v1"),
        ("dep; variant_label != ';'", "dep"),
        ("dep; platform_version == variant_label", 'dep; platform_version == "cu128"'),
        ("dep; variant_label == platform_version", 'dep; "cu128" == platform_version'),
        ("dep; variant_label in platform_version", 'dep; "cu128" in platform_version'),
        (
            "dep; extra == 'e' and 'variant_label' in os_name and variant_label != ''",
            "dep; extra == 'e' and 'variant_label' in os_name",
        ),
        ("dep; \"it's\" == os_name and variant_label != ''", 'dep; "it\'s" == os_name'),
        (
            "dep; platform_version == 'a@b' and variant_label != ''",
            "dep; platform_version == 'a@b'",
        ),
    ),
)
def test_what_is_left_is_what_was_there(text: str, reduced: str | None) -> None:
    assert reduce_requirement(text, CU128) == reduced
    if reduced is not None:
        Requirement(reduced)


def test_one_requirement_is_read_differently_for_each_wheel() -> None:
    text = "dep; 'nvidia' in variant_namespaces or extra == 'gpu'"
    assert reduce_requirement(text, CU128) == "dep"
    assert reduce_requirement(text, NULL) == "dep; extra == 'gpu'"


SETS = {
    name: f'Write "..." in {name}, or "..." not in {name}.'
    for name in ("variant_namespaces", "variant_features", "variant_properties")
}


@pytest.mark.parametrize(
    ("marker", "what", "remedy"),
    (
        ("variant_namespaces == 'n'", "variant_namespaces is a set", SETS["variant_namespaces"]),
        (
            "'n' == variant_namespaces",
            "variant_namespaces is a set, which == cannot be used with",
            SETS["variant_namespaces"],
        ),
        ("variant_features in 'n :: f'", "variant_features is a set", SETS["variant_features"]),
        (
            "'n :: f' < variant_features",
            "variant_features is a set, which < cannot be used with",
            SETS["variant_features"],
        ),
        (
            "os_name in variant_namespaces",
            "os_name cannot be looked up in variant_namespaces",
            SETS["variant_namespaces"],
        ),
        (
            "variant_features in variant_properties",
            "variant_features cannot be looked up in variant_properties",
            SETS["variant_properties"],
        ),
        (
            "variant_label ~= 'cu128'",
            "~= has no meaning for variant_label",
            "Compare it with == or !=.",
        ),
        (
            "os_name == 'nt' and variant_properties != 'x'",
            "variant_properties is a set",
            SETS["variant_properties"],
        ),
        (
            "variant_label == 'no' and variant_properties != 'x'",
            "variant_properties is a set",
            SETS["variant_properties"],
        ),
    ),
)
def test_use_without_meaning_is_an_error_that_says_so(marker: str, what: str, remedy: str) -> None:
    with pytest.raises(InvalidMarker) as caught:
        reduce_requirement(f"dep; {marker}", CU128)
    assert str(caught.value) == f"dep; {marker}: {what}. {remedy}"


def test_label_may_be_looked_up_in_the_sets() -> None:
    assert holds("variant_label in variant_namespaces", VariantContext("n", {"n": {"f": ("v",)}}))
    assert not holds("variant_label in variant_namespaces")


@pytest.mark.parametrize(
    "text",
    (
        "dep; variant_label",
        "dep; variant_label ==",
        "dep; variant_label == 'x' and",
        "dep; variant_label == 'x",
        "dep; (variant_label == 'x'",
        "dep; variant_label == 'x')",
        "dep; variant_label == 'x' 'y'",
        "dep; variant_label = 'x'",
        "dep; variant_label == 'x' && os_name == 'nt'",
        "dep; not variant_label == 'x'",
        "dep; " + "(" * 5000 + "variant_label == 'x'" + ")" * 5000,
        "dep; variant_label == 'x' xor os_name == 'nt'",
        "dep; ",
    ),
)
def test_what_cannot_be_parsed_is_left_for_the_tool_to_refuse(text: str) -> None:
    assert reduce_requirement(text, CU128) is text


def test_brackets_are_read_a_hundred_deep() -> None:
    one, hundred = (f"{'(' * depth}variant_label == 'x'{')' * depth}" for depth in (1, 100))
    side_by_side = " or ".join([one] * 200)
    assert reduce_requirement(f"dep; {side_by_side} or {hundred}", CU128) is None
    deeper = f"dep; {side_by_side} or ({hundred})"
    assert reduce_requirement(deeper, CU128) is deeper


def test_long_and_hostile_requirements_take_no_time() -> None:
    long = "dep; " + " or ".join(["variant_label == 'x'"] * 20_000)
    assert reduce_requirement(long, CU128) is None
    spaces = "dep" + " " * 200_000 + "@" + " " * 200_000 + "variant_label ; x"
    assert reduce_requirement(spaces, CU128) is spaces
    spaces = "dep ; variant_label" + " " * 200_000 + "=="
    assert reduce_requirement(spaces, CU128) is spaces


# Against packaging: a variant marker is replaced by one that is as true on this interpreter.

Tree = Union[str, tuple[str, "Tree", "Tree"]]
DECIDED = {
    "variant_label == 'cu128'": True,
    "variant_label != 'cu128'": False,
    "'nvidia' in variant_namespaces": True,
    "'amd::x' in variant_features": False,
    "'x86_64 :: level :: v3' not in variant_properties": False,
}
OTHERS = ("os_name == 'a'", "extra == 'b'", "python_version>='3'", "'x' in platform_version")

atoms = st.sampled_from((*DECIDED, *OTHERS))
combinations: st.SearchStrategy[Tree] = st.recursive(
    atoms,
    lambda inner: st.tuples(st.sampled_from(("and", "or")), inner, inner),
    max_leaves=7,
)
environments = st.fixed_dictionaries(
    {
        "os_name": st.sampled_from(("a", "z")),
        "extra": st.sampled_from(("b", "z")),
        "python_version": st.sampled_from(("2.7", "3.12")),
        "platform_version": st.sampled_from(("x1", "z1")),
    }
)


def written(tree: Tree, *, decided: bool, brackets: bool) -> str:
    """Write a combination with variant markers, or with their values in place of them."""
    if isinstance(tree, str):
        if not decided or tree not in DECIDED:
            return tree
        return "implementation_name != 'q'" if DECIDED[tree] else "implementation_name == 'q'"
    word, left, right = tree
    texts = [written(side, decided=decided, brackets=brackets) for side in (left, right)]
    sides = [
        f"({text})"
        if not isinstance(side, str) and (brackets or (word == "and" and side[0] == "or"))
        else text
        for side, text in zip((left, right), texts)
    ]
    return f" {word} ".join(sides)


@given(combinations, environments, st.booleans())
def test_reducing_agrees_with_evaluating(
    tree: Tree, environment: dict[str, str], brackets: bool
) -> None:
    reduced = reduce_requirement(f"dep; {written(tree, decided=False, brackets=brackets)}", CU128)
    values = {**environment, "implementation_name": "cpython"}
    expected = Marker(written(tree, decided=True, brackets=brackets)).evaluate(values)
    if reduced is None:
        assert not expected
        return
    assert "variant_" not in reduced
    marker = Requirement(reduced).marker
    assert expected is (marker is None or marker.evaluate(values))


@given(st.text(alphabet="()'\" =<>~!;a", max_size=12), st.text(alphabet="()'\" =<ino", max_size=12))
def test_any_text_is_reduced_or_left(before: str, after: str) -> None:
    text = f"dep{before};variant_label{after}"
    try:
        reduced = reduce_requirement(text, CU128)
    except InvalidMarker:
        return
    if reduced is text:
        with pytest.raises(InvalidRequirement):
            Requirement(reduced)
