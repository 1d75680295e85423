"""Target files: captured on one machine, used on another, in whole installations."""

from __future__ import annotations

import json

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, release, tri

GPU = 'format = 1\n[namespace.nvidia]\ndriver = "12.8"\n'


def test_a_file_captured_on_a_gpu_machine_serves_on_one_without(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("variant", "platform", "--output", "gpu.toml", driver="12.8").check()
    pip.variant("install", "--variant-target", "gpu.toml", "tri").check()
    assert pip.label("tri") == "cuda12.8"


def test_the_variable_states_the_target_and_this_machine_does_not_answer(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text(GPU)
    pip.variant("install", "tri", driver="13.0", environ={"PIP_VARIANT_TARGET": "gpu.toml"}).check()
    assert pip.label("tri") == "cuda12.8"


def test_what_is_not_stated_is_not_supported(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "cpu.toml").write_text("format = 1\n")
    result = pip.variant("install", "--variant-target", "cpu.toml", "tri", driver="13.0").check()
    assert pip.label("tri") == "null"
    assert "stated, not detected" in result.stdout + result.stderr


def test_another_platform_is_known_by_the_stated_target(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text(GPU)
    foreign = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:")
    pip.variant("download", *foreign, "--variant-target", "gpu.toml", "tri").check()
    assert [file.name for file in pip.work.glob("*.whl")] == ["tri-1.0-py3-none-any-cuda12.8.whl"]


def test_a_faulty_file_stops_the_run_with_one_error(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text(GPU + "colour = 1\n")
    result = pip.variant("install", "--variant-target", "gpu.toml", "tri")
    assert result.code == 1
    assert "gpu.toml: namespace.nvidia.colour: unknown" in result.stderr
    assert "Traceback" not in result.stderr
    assert pip.build("tri") == (None, None)


def test_a_file_that_is_no_target_file_is_not_overwritten(pip: Pip, index: Index) -> None:
    (pip.work / "notes.txt").write_text("mine")
    result = pip.variant("variant", "platform", "--output", "notes.txt")
    assert result.code == 1
    assert (pip.work / "notes.txt").read_text() == "mine"


def test_an_empty_file_is_replaced(pip: Pip) -> None:
    (pip.work / "gpu.toml").touch()
    pip.variant("variant", "platform", "--output", "gpu.toml", driver="12.8").check()
    assert "[namespace.nvidia]" in (pip.work / "gpu.toml").read_text()


def test_output_dash_prints_what_a_file_would_hold(pip: Pip) -> None:
    printed = pip.variant("variant", "platform", "--output", "-", driver="12.8").check().stdout
    pip.variant("variant", "platform", "--output", "gpu.toml", driver="12.8").check()
    assert (pip.work / "gpu.toml").read_text() == printed
    assert not (pip.work / "-").exists()


def test_the_configuration_file_of_pip_states_the_target(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text(GPU)
    config = pip.write("pip.conf", ("[global]", "variant-target = gpu.toml"))
    pip.variant("install", "tri", driver="13.0", environ={"PIP_CONFIG_FILE": str(config)}).check()
    assert pip.label("tri") == "cuda12.8"


@pytest.mark.parametrize("how", ("option", "variable"))
def test_a_tilde_is_the_home_folder(pip: Pip, index: Index, how: str) -> None:
    index.add(*tri())
    pip.variant("variant", "platform", "--output", "~/gpu.toml", driver="12.8").check()
    assert (pip.root / "home" / "gpu.toml").exists()
    if how == "option":
        pip.variant("install", "--variant-target", "~/gpu.toml", "tri").check()
    else:
        pip.variant("install", "tri", environ={"PIP_VARIANT_TARGET": "~/gpu.toml"}).check()
    assert pip.label("tri") == "cuda12.8"


IN_PROCESS = pytest.param(
    ("--use-feature", "inprocess-build-deps"),
    marks=pytest.mark.skipif(PIP_VERSION < (26, 0), reason="26.0 is the first pip to do it"),
)


@pytest.mark.every_pip
@pytest.mark.parametrize("how", (pytest.param((), id="child"), IN_PROCESS))
def test_a_build_is_made_for_the_stated_target(
    pip: Pip, index: Index, how: tuple[str, ...]
) -> None:
    index.add(*tri())
    index.add(Sdist(Wheel("made"), build_requires=("tri",), probe="__import__('tri').LABEL"))
    (pip.work / "gpu.toml").write_text(GPU)
    pip.variant("install", *how, "--variant-target", "gpu.toml", "made", driver="12.6").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.8'\n"


def test_what_is_installed_is_judged_for_the_stated_target(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text(GPU)
    (pip.work / "cpu.toml").write_text("format = 1\n")
    pip.variant("install", "tri", driver="12.8").check()
    for target, fits in (("gpu.toml", True), ("cpu.toml", False)):
        listed = pip.variant("variant", "list", "--json", "--variant-target", target, driver="12.8")
        assert [entry["fits"] for entry in json.loads(listed.check().stdout)] == [fits]
        checked = pip.variant("variant", "check", "--variant-target", target, driver="12.8")
        assert checked.code == (0 if fits else 1)
        assert ("stated, not detected" in checked.output) is not fits


def test_a_namespace_that_is_not_built_in_is_shown_used_and_written_again(
    pip: Pip, index: Index
) -> None:
    plugin = {"blas": {"requires": ["blas-provider"]}}
    index.add(*release("lib", labels={"mkl": ("blas :: library :: mkl",)}, providers=plugin))
    (pip.work / "blas.toml").write_text(
        'format = 1\n[namespace.blas.features]\nlibrary = ["mkl"]\n'
    )
    stated = ("--variant-target", "blas.toml")
    shown = pip.variant("variant", "platform", *stated).check()
    assert shown.lines_with("blas", "library", "mkl")
    pip.variant("variant", "platform", *stated, "--output", "again.toml").check()
    pip.variant("install", "--variant-target", "again.toml", "lib").check()
    assert pip.label("lib") == "mkl"


def test_another_value_is_missing_from_the_stated_target_not_from_this_machine(
    pip: Pip, index: Index
) -> None:
    plugin = {"blas": {"requires": ["blas-provider"]}}
    index.add(*release("lib", labels={"mkl": ("blas :: library :: mkl",)}, providers=plugin))
    (pip.work / "x.toml").write_text('format = 1\n[namespace.blas.features]\nlibrary = ["nvpl"]\n')
    result = pip.variant("install", "--variant-target", "x.toml", "lib")
    assert result.lines_with("mkl needs blas :: library :: mkl, the stated target has nvpl")
