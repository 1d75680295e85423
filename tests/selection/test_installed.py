"""What is installed: whether it is compatible, and which files rank before it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipvariant.providers.target import Target
from pipvariant.selection.installed import (
    Installed,
    backend_build,
    better_label,
    compatibility,
    may_have_better,
    ranks_before,
    upgrade_command,
)
from pipvariant.selection.judging import Judge
from pipvariant.selection.ordering import decide
from pipvariant.standard.metadata import Metadata, Provider
from tests.selection.releases import JUDGE, Sources, files

STATIC = Provider(static_properties={"library": ("mkl", "openblas", "blis")})
PLUGIN = Provider(requires=("blas-provider",))
Labels = Mapping[str, Mapping[str, tuple[str, ...]]]
#: Label -> namespace -> libraries.
LABELS: Labels = {label: {"blas": (label,)} for label in ("openblas", "mkl", "blis")}


def described(labels: Labels, **providers: Provider) -> Metadata:
    names = sorted({"blas", *(name for properties in labels.values() for name in properties)})
    return Metadata(
        tuple(names),
        {name: providers.get(name, STATIC) for name in names},
        {
            label: {name: {"library": values} for name, values in properties.items()}
            for label, properties in labels.items()
        },
    )


def known(
    label: str, properties: Mapping[str, tuple[str, ...]], **providers: Provider
) -> Installed:
    return Installed("lib", "1.0", label, described({label: properties}, **providers))


# Judged.


def test_a_variant_whose_properties_are_all_supported_is_compatible() -> None:
    for installed in (known("mkl", {"blas": ("mkl",)}), known("null", {}), Installed("lib", "1")):
        assert compatibility(installed, JUDGE) == (True, "")


def test_a_variant_with_an_unsupported_property_is_incompatible() -> None:
    assert compatibility(known("acc", {"blas": ("acc",)}), JUDGE) == (
        False,
        "acc needs blas :: library :: acc, the package's own list has mkl, openblas, blis",
    )


def test_where_nobody_may_answer_it_is_not_known() -> None:
    variant = known("mkl", {"blas": ("mkl",)}, blas=PLUGIN)
    compatible, reason = compatibility(variant, JUDGE)
    assert compatible is None
    assert "blas-provider" in reason
    foreign = Judge(Target(foreign=True))
    assert compatibility(variant, foreign) == (None, "nobody answers for blas")
    broken = Installed("lib", "1.0", problem="variant.json: broken")
    assert compatibility(broken, JUDGE) == (None, "variant.json: broken")


def test_what_is_known_to_be_incompatible_outweighs_what_is_not_known() -> None:
    variant = known("both", {"blas": ("mkl",), "other": ("acc",)}, blas=PLUGIN)
    compatible, reason = compatibility(variant, JUDGE)
    assert compatible is False
    assert reason.startswith("both needs other :: library :: acc")


# Compared with what there was when it was installed.


@pytest.mark.parametrize(
    ("have", "better"),
    (
        (known("blis", {"blas": ("blis",)}), "mkl"),
        (known("mkl", {"blas": ("mkl",)}), ""),
        (known("null", {}), "mkl"),
        (Installed("lib", "1.0"), "mkl"),
        # The same label with other properties is another variant.
        (known("blis", {"blas": ("blis", "mkl")}), None),
        (Installed("lib", "1.0", problem="variant.json: broken"), None),
    ),
)
def test_a_better_label_is_one_of_those_that_were_recorded(
    have: Installed, better: str | None
) -> None:
    assert better_label(have, described(LABELS), JUDGE) == better


def test_a_null_variant_may_have_a_better_one_where_the_target_has_what_others_are_for() -> None:
    assert may_have_better(known("null", {}), Target())
    assert not may_have_better(known("null", {}, blas=PLUGIN), Target())
    assert not may_have_better(known("mkl", {"blas": ("mkl",)}), Target())


# Compared with the files of an index.


def test_a_provider_that_is_off_says_nothing_against_a_build_unless_it_counts() -> None:
    optional = Provider(static_properties={"library": ("mkl",)}, optional=True)
    have = known("acc", {"blas": ("acc",)}, blas=optional)
    assert compatibility(have, JUDGE).compatible is False
    assert compatibility(have, JUDGE, asks_all=True).compatible is None


def before(have: Installed, labels: Labels) -> list[str]:
    """The compatible files that rank before what is installed, empty for a non-variant wheel."""
    found = files([*labels, ""], "lib")
    decision = decide(found, Sources({"": described(labels)}), JUDGE)
    return [
        file.label or ""
        for file in decision.files
        if ranks_before(file, have, decision, JUDGE, where="page")[0]
    ]


@pytest.mark.parametrize(
    ("have", "better"),
    (("mkl", []), ("openblas", ["mkl"]), ("blis", ["mkl", "openblas"])),
)
def test_labels_that_rank_before_the_installed_one(have: str, better: list[str]) -> None:
    assert before(known(have, LABELS[have]), {**LABELS, "null": {}}) == better


def test_every_label_and_null_rank_before_the_non_variant_wheel() -> None:
    have = Installed("lib", "1.0")
    assert before(have, {**LABELS, "null": {}}) == ["mkl", "openblas", "blis", "null"]
    assert before(have, {}) == []


def test_every_other_label_ranks_before_null() -> None:
    have = known("null", {})
    assert before(have, {**LABELS, "null": {}}) == ["mkl", "openblas", "blis"]
    # Null is compatible even where the metadata does not list it.
    assert before(have, {"mkl": {"blas": ("mkl",)}}) == ["mkl"]
    assert before(have, {}) == []


def test_all_that_is_compatible_ranks_before_what_no_longer_is_or_is_not_known() -> None:
    labels: Labels = {"blis": {"blas": ("blis",)}, "acc": {"blas": ("acc",)}}
    assert before(known("acc", {"blas": ("acc",)}), labels) == ["blis", ""]
    assert before(Installed("lib", "1.0", problem="variant.json: broken"), labels) == ["blis", ""]


def test_what_the_source_does_not_know_has_no_place_in_its_order() -> None:
    labels: Labels = {"mkl": {"blas": ("mkl",)}, "blis": {"blas": ("blis",)}}
    assert before(known("mine", {"blas": ("blis",)}), labels) == []
    # The same label with other properties is another variant.
    assert before(known("blis", {"blas": ("blis", "openblas")}), labels) == []


def test_what_nobody_can_judge_stays() -> None:
    assert before(known("blis", {"blas": ("blis",)}, blas=PLUGIN), LABELS) == []


def test_a_name_that_a_shell_would_run_is_quoted_in_the_command() -> None:
    command = upgrade_command(Installed("tri;reboot", "1.0"))
    assert command == "pip-variant install --upgrade-variant 'tri;reboot==1.0'"


def test_builds_of_torch_are_replaced_together_whatever_their_local_version() -> None:
    torch = backend_build(Installed("torch", "2.9.0+cu126"), "torch")
    audio = backend_build(Installed("torchaudio", "2.9rc1+cpu"), "torchaudio")
    assert (torch.label, audio.label) == ("cu126", "cpu")
    assert upgrade_command(torch, audio) == (
        "pip-variant install --torch-backend auto --upgrade-variant torch==2.9.0 torchaudio==2.9rc1"
    )
    for name, version in (("torch", "2.9.0"), ("torch", "2.9.0+git1"), ("tri", "1.0+cpu")):
        assert not backend_build(Installed(name, version), name).is_variant
