"""What the user reads, and what programs read."""

from __future__ import annotations

import json

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import NVIDIA, Wheel, cuda, release, tri

BOUND = "cuda_version_lower_bound"


@pytest.mark.effect_of("messages", "resolvelib.resolver:Resolver.resolve")
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


@pytest.mark.effect_of("report_file", "InstallationReport._install_req_to_dict")
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


@pytest.mark.every_pip
def test_stdout_of_a_report_is_json_alone(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", index.respond("/nowhere", ""))
    args = ("install", "--dry-run", "--quiet", "--report", "-", "tri")
    result = pip.variant(*args, driver="12.8").check()
    assert json.loads(result.stdout)["install"][0]["metadata"]["name"] == "tri"


# Keys in what pip says of installed projects.

PROPERTIES = {"nvidia": {BOUND: ["12.8"]}}


@pytest.fixture
def with_both(pip: Pip, index: Index) -> Pip:
    """An environment with a variant, and with a project that has none."""
    index.add(*tri(), Wheel("solo"))
    pip.variant("install", "tri", "solo", driver="12.8").check()
    index.log.clear()
    return pip


@pytest.mark.effect_of("installed_keys", "InspectCommand._dist_to_dict")
def test_inspect_has_a_key_for_variants_only(with_both: Pip) -> None:
    inspected = json.loads(with_both.variant("inspect", "--local").check().stdout)
    items = {item["metadata"]["name"]: item for item in inspected["installed"]}
    assert items["tri"]["variant"] == {"label": "cuda12.8", "properties": PROPERTIES}
    assert "variant" not in items["solo"]


@pytest.mark.effect_of("installed_keys", "format_for_json")
def test_the_list_has_a_key_for_variants_only(with_both: Pip, index: Index) -> None:
    listed = json.loads(with_both.variant("list", "--format", "json").check().stdout)
    items = {item["name"]: item for item in listed}
    assert items["tri"]["variant"] == {"label": "cuda12.8", "properties": PROPERTIES}
    assert items["solo"] == {"name": "solo", "version": "1.0"}
    assert index.requests == []


@pytest.mark.parametrize("form", ("columns", "freeze"))
def test_other_forms_of_the_list_are_those_of_plain_pip(with_both: Pip, form: str) -> None:
    args = ("list", "--format", form)
    assert with_both.variant(*args).check().stdout == with_both.plain(*args).check().stdout


@pytest.mark.effect_of("installed_keys", "print_results")
def test_show_says_label_and_properties_after_the_fields_of_pip(with_both: Pip) -> None:
    ours = with_both.variant("show", "--verbose", "tri", "solo").check().stdout
    plain = with_both.plain("show", "--verbose", "tri", "solo").check().stdout
    added = [f"Variant: cuda12.8\nVariant-Properties:\n  nvidia :: {BOUND} :: 12.8\n", "", ""]
    parts = plain.split("---\n")
    assert ours == "---\n".join(part + more for part, more in zip(parts, added))


@pytest.mark.every_pip
@pytest.mark.parametrize("content", ("{", "", '{"variants": []}'))
def test_a_damaged_variant_json_is_unknown_everywhere(with_both: Pip, content: str) -> None:
    (with_both.site / "tri-1.0.dist-info" / "variant.json").write_text(content)
    inspected = json.loads(with_both.variant("inspect", "--local").check().stdout)
    (variant,) = [item["variant"] for item in inspected["installed"] if "variant" in item]
    assert variant["label"] is None
    assert "variant.json" in variant["problem"]
    listed = json.loads(with_both.variant("list", "--format", "json").check().stdout)
    assert [item["variant"] for item in listed if item["name"] == "tri"] == [variant]
    assert with_both.variant("show", "tri").check().lines_with("Variant: unknown (variant.json")


@pytest.mark.every_pip
def test_the_list_of_outdated_projects_has_the_key_too(with_both: Pip, index: Index) -> None:
    index.add(*tri("2.0"))
    result = with_both.variant("list", "--outdated", "--format", "json", driver="12.8").check()
    (item,) = json.loads(result.stdout)
    assert (item["latest_version"], item["variant"]["label"]) == ("2.0", "cuda12.8")
