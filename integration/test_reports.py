"""What the user reads, and what programs read."""

from __future__ import annotations

import json

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import NVIDIA, Wheel, cuda, release, tri

BOUND = "cuda_version_lower_bound"


@pytest.mark.parametrize("command", ("install", "download", "wheel"))
def test_a_chosen_variant_is_one_line(pip: Pip, index: Index, command: str) -> None:
    index.add(*tri())
    result = pip.variant(command, "tri", driver="12.8").check()
    lines = [line for line in result.stdout.splitlines() if line.startswith("tri 1.0: ")]
    assert lines == [f"tri 1.0: variant cuda12.8 (nvidia :: {BOUND} :: 12.8)"]


def test_a_dry_run_says_the_same(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "--dry-run", "tri", driver="12.8").check()
    assert result.lines_with(f"tri 1.0: variant cuda12.8 (nvidia :: {BOUND} :: 12.8)")


def test_null_is_said_with_the_nearest_miss(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "tri", driver="12.4").check()
    miss = "cuda12.6 needs CUDA driver >= 12.6, this machine has 12.4"
    assert f"tri 1.0: null variant; {miss}" in result.stdout.splitlines()


def test_a_non_variant_wheel_is_said_with_the_nearest_miss(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False))
    result = pip.variant("install", "tri", driver="12.4").check()
    miss = "cuda12.6 needs CUDA driver >= 12.6, this machine has 12.4"
    assert f"tri 1.0: non-variant wheel; {miss}" in result.stdout.splitlines()


def test_a_machine_without_the_hardware_is_told_so(pip: Pip, index: Index) -> None:
    index.add(*tri())
    lines = pip.variant("install", "tri").check().stdout.splitlines()
    assert [line for line in lines if line.startswith("tri 1.0: null variant; cuda")]


def test_several_properties_are_all_said(pip: Pip, index: Index) -> None:
    providers = {"nvidia": NVIDIA, "blas": {"static-properties": {"library": ["mkl"]}}}
    labels = {"x": (cuda("12.6"), "blas :: library :: mkl")}
    index.add(*release("tri", labels=labels, providers=providers))
    (line,) = pip.variant("install", "tri", driver="12.8").check().lines_with("tri 1.0: variant x")
    assert "blas :: library :: mkl" in line
    assert f"nvidia :: {BOUND} :: 12.6" in line


def test_where_variants_play_no_part_nothing_is_said(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    assert "variant" not in pip.variant("install", "solo", driver="12.8").check().output


def test_quiet_is_quiet(pip: Pip, index: Index) -> None:
    index.add(*tri())
    assert pip.variant("install", "-q", "tri", driver="12.8").check().output == ""


def test_verbose_shows_every_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    output = pip.variant("install", "-v", "tri", driver="12.4").check().output
    assert all(label in output for label in ("cuda12.6", "cuda12.8", "cuda13.0", "null"))


def test_the_report_names_label_properties_and_rejections(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (item,) = pip.report("tri", driver="12.6")["install"]
    variant = item["variant"]
    assert variant["label"] == "cuda12.6"
    assert variant["properties"] == {"nvidia": {BOUND: ["12.6"]}}
    assert [entry["label"] for entry in variant["rejected"]] == ["cuda12.8", "cuda13.0"]
    first = variant["rejected"][0]
    assert (first["namespace"], first["feature"], first["values"]) == ("nvidia", BOUND, ["12.8"])
    assert first["supported"][0] == "12.6"
    assert first["reason"].endswith("needs CUDA driver >= 12.8, this machine has 12.6")
    assert item["download_info"]["url"].endswith("-cuda12.6.whl")


def test_the_report_of_null_and_of_a_non_variant_wheel(pip: Pip, index: Index) -> None:
    index.add(*tri(), *tri(name="duo", null=False), Wheel("solo"))
    report = pip.report("tri", "duo", "solo", driver="12.4")
    items = {item["metadata"]["name"]: item for item in report["install"]}
    assert items["tri"]["variant"]["label"] == "null"
    assert items["tri"]["variant"]["properties"] == {}
    assert len(items["duo"]["variant"]["rejected"]) == 3
    assert "variant" not in items["solo"]


def test_stdout_of_a_report_is_json_alone(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", index.respond("/nowhere", ""))
    args = ("install", "--dry-run", "--quiet", "--report", "-", "tri")
    result = pip.variant(*args, driver="12.8").check()
    assert json.loads(result.stdout)["install"][0]["metadata"]["name"] == "tri"
