"""Target files: captured on one machine, used on another, in whole installations."""

from __future__ import annotations

from integration.environments import Pip
from integration.index import Index
from integration.wheels import tri

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
