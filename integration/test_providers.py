"""Who may answer for the machine: lists, built-in providers, plugins that nobody trusts."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import NVIDIA, Wheel, cuda, release, tri

ACME = {"acme": {"requires": ["acme-provider"], "plugin-api": "acme_provider:Plugin"}}
FAST = {"fast": ("acme :: speed :: high",), "null": ()}


def test_a_plugin_that_is_not_trusted_is_neither_requested_nor_run(pip: Pip, index: Index) -> None:
    index.add(Wheel("acme-provider", modules={"acme_provider": "raise SystemExit('run')"}))
    index.add(*release("tri", labels=FAST, providers=ACME))
    result = pip.variant("install", "tri").check()
    assert pip.build("tri") == ("1.0", "null")
    assert index.requests == [
        "GET /simple/tri/",
        "GET /files/tri-1.0-variants.json",
        "GET /files/tri-1.0-py3-none-any-null.whl",
    ]
    assert "acme-provider" not in pip.installed()
    (warning,) = result.warnings
    assert "acme-provider" in warning
    assert "fast" in warning


def test_another_package_under_a_known_namespace_is_a_plugin(pip: Pip, index: Index) -> None:
    providers = {"nvidia": {"requires": ["evil-provider"]}}
    index.add(*tri(providers=providers))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "null")
    assert result.lines_with("evil-provider")


def test_static_properties_answer_alone(pip: Pip, index: Index) -> None:
    static = {"nvidia": {"static-properties": {"cuda_version_lower_bound": ["12.6"]}}}
    index.add(*tri(providers=static))
    pip.variant("install", "tri", driver="13.0").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


def test_an_optional_provider_is_off(pip: Pip, index: Index) -> None:
    debug = {"debug": {"static-properties": {"build": ["on"]}, "optional": True}}
    labels = {"debug": ("debug :: build :: on",), "null": ()}
    index.add(*release("tri", labels=labels, providers=debug))
    pip.variant("install", "tri").check()
    assert pip.build("tri") == ("1.0", "null")


def test_only_the_namespaces_of_these_wheels_are_asked(pip: Pip, index: Index) -> None:
    index.add(*tri(providers={"nvidia": NVIDIA, **ACME}))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert not result.lines_with("acme")


@pytest.mark.parametrize("value", ("rubbish", "12.x", "-1.0"))
def test_an_override_that_cannot_be_is_named(pip: Pip, index: Index, value: str) -> None:
    index.add(*tri())
    result = pip.variant("install", "tri", driver=value)
    assert result.lines_with("NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION", value)
    assert "Traceback" not in result.output
    assert pip.label("tri") in (None, "null")


def test_an_empty_override_is_none(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "tri", driver="").check()
    assert not result.lines_with("NV_VARIANT_PROVIDER")


def test_for_a_foreign_platform_this_machine_does_not_answer(pip: Pip, index: Index) -> None:
    index.add(*tri())
    foreign = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:", "-d", "out")
    result = pip.variant("download", *foreign, "tri", driver="12.8").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == ["tri-1.0-py3-none-any-null.whl"]
    assert result.lines_with("platform")


def test_a_foreign_platform_leaves_static_lists(pip: Pip, index: Index) -> None:
    blas = {"blas": {"static-properties": {"library": ["mkl"]}}}
    index.add(*release("num", labels={"mkl": ("blas :: library :: mkl",)}, providers=blas))
    foreign = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:", "-d", "out")
    pip.variant("download", *foreign, "num").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == ["num-1.0-py3-none-any-mkl.whl"]


def test_the_machine_is_not_asked_where_no_wheel_needs_it(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    result = pip.variant("install", "solo", driver="rubbish").check()
    assert "NV_VARIANT_PROVIDER" not in result.output


def test_a_label_of_two_namespaces_needs_both(pip: Pip, index: Index) -> None:
    providers = {"nvidia": NVIDIA, "blas": {"static-properties": {"library": ["mkl"]}}}
    labels = {
        "both": (cuda("12.6"), "blas :: library :: mkl"),
        "other": (cuda("12.6"), "blas :: library :: openblas"),
    }
    index.add(*release("tri", labels=labels, providers=providers))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.label("tri") == "both"
