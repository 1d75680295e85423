"""Which label is installed: the order of the standard, on machines that differ (PEP 825)."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import NVIDIA, Wheel, cuda, release, tri

BLAS = {"blas": {"static-properties": {"library": ["openblas", "mkl"]}}}


@pytest.mark.parametrize(
    ("driver", "label"),
    (
        ("99.0", "cuda13.0"),
        ("13.0", "cuda13.0"),
        ("12.9", "cuda12.8"),
        ("12.8", "cuda12.8"),
        ("12.7", "cuda12.6"),
        ("12.4", "null"),
        (None, "null"),
    ),
)
def test_the_best_label_for_the_driver(
    pip: Pip, index: Index, driver: str | None, label: str
) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver=driver).check()
    assert pip.build("tri") == ("1.0", label)


@pytest.mark.effect_of("filenames", "Wheel.__init__")
@pytest.mark.effect_of("parser", "Command.parse_args")
@pytest.mark.effect_of("shim", "commands:create_command")
@pytest.mark.effect_of("found_candidates", "FoundCandidates.__init__")
@pytest.mark.parametrize("pages", ("html", "json"))
def test_both_forms_of_pages_serve(pip: Pip, index: Index, pages: str) -> None:
    index.pages = pages
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_without_null_the_non_variant_wheel_is_left(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False))
    pip.variant("install", "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.every_pip
def test_without_anything_that_fits_it_is_not_found(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False, plain=False))
    result = pip.variant("install", "tri", driver="12.4")
    assert result.code == 1
    assert "No matching distribution found for tri" in result.stderr
    assert pip.build("tri") == (None, None)


def test_a_label_with_every_feature_beats_one_with_fewer(pip: Pip, index: Index) -> None:
    narrow = (*BLAS_MKL, "blas :: threads :: on")
    providers = {
        "blas": {
            "static-properties": {"library": ["mkl"], "threads": ["on"]},
            "feature-order": ["library", "threads"],
        }
    }
    index.add(*release("num", labels={"few": BLAS_MKL, "more": narrow}, providers=providers))
    pip.variant("install", "num").check()
    assert pip.label("num") == "more"


BLAS_MKL = ("blas :: library :: mkl",)


def test_a_label_is_out_when_one_of_its_features_is_not_supported(pip: Pip, index: Index) -> None:
    labels = {"both": (cuda("12.6"), "nvidia :: sm_arch :: 90_real"), "one": (cuda("12.6"),)}
    index.add(*release("tri", labels=labels))
    machine = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "8.0"}
    pip.variant("install", "tri", driver="12.8", environ=machine).check()
    assert pip.label("tri") == "one"


def test_the_project_orders_the_values_of_a_static_list(pip: Pip, index: Index) -> None:
    labels = {"a_mkl": BLAS_MKL, "b_openblas": ("blas :: library :: openblas",)}
    index.add(*release("num", labels=labels, providers=BLAS))
    pip.variant("install", "num").check()
    assert pip.label("num") == "b_openblas"


@pytest.mark.parametrize(
    ("order", "label"),
    ((("b", "c"), "single_b"), (("c",), "multi"), (("a", "b"), "multi"), (("z",), "null")),
)
def test_a_feature_with_several_values_needs_any_of_them(
    pip: Pip, index: Index, order: tuple[str, ...], label: str
) -> None:
    labels = {
        "multi": ("gpu :: arch :: a", "gpu :: arch :: c"),
        "single_a": ("gpu :: arch :: a",),
        "single_b": ("gpu :: arch :: b",),
        "null": (),
    }
    providers = {"gpu": {"static-properties": {"arch": list(order)}}}
    index.add(*release("tri", labels=labels, providers=providers))
    pip.variant("install", "tri").check()
    assert pip.label("tri") == label


@pytest.mark.parametrize(("first", "label"), (("nvidia", "cuda"), ("amd", "rocm")))
def test_the_project_orders_the_namespaces(pip: Pip, index: Index, first: str, label: str) -> None:
    amd = {"static-properties": {"gfx_arch": ["gfx942"]}}
    both = {"nvidia": NVIDIA, "amd": amd}
    providers = {first: both[first], **both}
    labels = {"cuda": (cuda("12.6"),), "rocm": ("amd :: gfx_arch :: gfx942",), "null": ()}
    index.add(*release("tri", labels=labels, providers=providers))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.label("tri") == label


@pytest.mark.every_pip
def test_the_newest_version_first_then_its_labels(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0", ["12.6"]), *tri("2.0", ["13.0"]))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("2.0", "null")


@pytest.mark.every_pip
@pytest.mark.parametrize(("driver", "version"), (("12.8", "1.0"), ("13.0", "2.0")))
def test_a_version_with_nothing_that_fits_is_skipped(
    pip: Pip, index: Index, driver: str, version: str
) -> None:
    index.add(Wheel("tri", "1.0"), *tri("2.0", ["13.0"], null=False, plain=False))
    result = pip.variant("install", "tri", driver=driver).check()
    assert pip.installed()["tri"] == version
    assert bool(result.lines_with("2.0", "skipped", "cuda13.0")) == (version == "1.0")


@pytest.mark.parametrize("order", ("alpha beta", "beta alpha", "beta"))
def test_each_project_takes_the_best_of_what_it_has(pip: Pip, index: Index, order: str) -> None:
    index.add(*tri("1.0", ["12.6", "12.8"], name="alpha"))
    index.add(*tri("1.0", ["12.6"], name="beta", requires=("alpha==1.0",)))
    pip.variant("install", *order.split(), driver="12.8").check()
    assert (pip.label("alpha"), pip.label("beta")) == ("cuda12.8", "cuda12.6")


def test_a_cpu_level_is_asked_from_the_machine(pip: Pip, index: Index) -> None:
    providers = {
        "x86_64": {"requires": ["provider-variant-x86-64"]},
        "aarch64": {"requires": ["provider-variant-aarch64"]},
    }
    labels = {"x1": ("x86_64 :: level :: v1",), "a8": ("aarch64 :: version :: 8a",)}
    index.add(*release("num", labels=labels, providers=providers))
    pip.variant("install", "num").check()
    expected = {"x86_64": "x1", "aarch64": "a8"}
    machine = pip.run(["-c", "import platform; print(platform.machine())"]).stdout.strip()
    assert pip.label("num") == expected.get(machine, "")


@pytest.mark.effect_of("messages", "legacy.resolver:Resolver.resolve")
@pytest.mark.effect_of(
    "single_best",
    "PackageFinder.find_requirement",
    "CandidateEvaluator.compute_best_candidate",
)
def test_the_legacy_resolver_takes_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    legacy = ("--use-deprecated=legacy-resolver",)
    result = pip.variant("install", *legacy, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.lines_with("tri 1.0: variant cuda12.8")
