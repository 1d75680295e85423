"""What is kept beside what is installed: a better label is known later, without a request."""

from __future__ import annotations

import csv
import json

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, cuda, release, tri

NAME = "variants.json"
COMMAND = "`pip-variant install --upgrade-variant tri==1.0`"
BETTER = f"tri 1.0: variant cuda12.8 would fit better now; {COMMAND} takes it"


def kept(pip: Pip) -> list[str] | None:
    """The labels that are kept beside tri, None where nothing is kept."""
    path = pip.site / "tri-1.0.dist-info" / NAME
    return sorted(json.loads(path.read_text())["variants"]) if path.exists() else None


@pytest.mark.parametrize("driver", ("12.4", "12.6"))
def test_a_new_driver_makes_a_better_label_known(pip: Pip, index: Index, driver: str) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver=driver).check()
    index.log.clear()
    assert BETTER not in pip.variant("install", "tri", driver=driver).check().stdout
    assert BETTER in pip.variant("install", "tri", driver="12.8").check().stdout.splitlines()
    assert pip.variant("variant", "list", driver="12.8").check().lines_with("tri", "cuda12.8")
    assert BETTER in pip.variant("variant", "check", driver="12.8").check().stdout.splitlines()
    assert pip.variant("variant", "check", "--better", driver="12.8").code == 1
    assert pip.variant("variant", "check", "--better", driver=driver).code == 0
    assert index.requests == []
    pip.variant("install", "--upgrade-variant", "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"
    assert pip.variant("variant", "check", "--better", driver="12.8").code == 0


def test_a_build_without_a_label_has_a_better_one_later(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False))
    pip.variant("install", "tri", driver="12.4").check()
    assert pip.label("tri") == ""
    assert BETTER in pip.variant("install", "tri", driver="12.8").check().stdout.splitlines()
    as_json = pip.variant("variant", "list", "--json", driver="12.8").check()
    (entry,) = json.loads(as_json.stdout)
    assert (entry["label"], entry["fits"], entry["better"]) == ("", True, "cuda12.8")


def test_all_labels_for_this_platform_are_kept(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=("12.6",)), *tri(builds=("13.0",), tag="py3-none-win_arm64"))
    pip.variant("install", "tri", driver="12.6").check()
    assert kept(pip) == ["cuda12.6", "null"]


def test_nothing_is_kept_where_there_was_no_choice(pip: Pip, index: Index) -> None:
    index.add(Wheel("tri"))
    pip.variant("install", "tri").check()
    assert kept(pip) is None


@pytest.mark.parametrize("options", (("--no-variant",), ("--dry-run",)))
def test_nothing_is_kept_otherwise(pip: Pip, index: Index, options: tuple[str, ...]) -> None:
    index.add(*tri())
    pip.variant("install", *options, "tri", driver="12.6").check()
    assert kept(pip) is None


@pytest.mark.effect_of("recorded_variants", "get_csv_rows_for_installed")
def test_record_has_it_and_plain_pip_removes_it(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    info = pip.site / "tri-1.0.dist-info"
    rows = list(csv.reader((info / "RECORD").read_text().splitlines()))
    (row,) = [row for row in rows if row[0] == f"tri-1.0.dist-info/{NAME}"]
    assert row[1].startswith("sha256=")
    assert row[2] == str((info / NAME).stat().st_size)
    pip.plain("uninstall", "-y", "tri").check()
    assert not info.exists()


@pytest.mark.every_pip
def test_it_is_kept_in_another_folder_too(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--target", "there", "tri", driver="12.6").check()
    result = pip.variant("variant", "check", "--better", "--path", "there", driver="12.8")
    assert (result.code, result.stdout.splitlines()) == (1, [BETTER.partition(";")[0], FIT])


FIT = "All installed variants fit this machine."


def test_a_name_with_dashes_is_found(pip: Pip, index: Index) -> None:
    index.add(*tri(name="tri-angle"))
    pip.variant("install", "Tri.Angle", driver="12.6").check()
    result = pip.variant("install", "tri-angle", driver="12.8").check()
    assert result.lines_with("1.0: variant cuda12.8 would fit better now")


@pytest.mark.parametrize("content", (b"{", b"\xff\xfe", b"", b"[]"))
def test_a_damaged_file_is_nothing_known(pip: Pip, index: Index, content: bytes) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    (pip.site / "tri-1.0.dist-info" / NAME).write_bytes(content)
    for command in (("install", "tri"), ("variant", "list"), ("variant", "check", "--better")):
        assert "would fit better" not in pip.variant(*command, driver="12.8").check().output


def test_null_of_another_tool_may_have_a_better_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.4").check()
    (pip.site / "tri-1.0.dist-info" / NAME).unlink()
    result = pip.variant("install", "tri", driver="12.8").check()
    assert result.lines_with(f"tri 1.0: a variant may fit better now; {COMMAND} looks for one")
    no_driver = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": ""}
    assert not pip.variant("install", "tri", environ=no_driver).check().lines_with("may fit")


def test_a_label_built_for_another_project_is_not_better_than_the_right_one(
    pip: Pip, index: Index
) -> None:
    providers = {"abi_dependency": {"builtin": "abi_dependency"}}
    labels = {f"base{n}": (f"abi_dependency :: base :: {n}",) for n in ("1", "2")}
    index.add(*release("tri", labels=labels, providers=providers))
    index.add(Wheel("base", "1.0"), Wheel("base", "2.0"))
    pip.variant("install", "base==1.0", "tri").check()
    assert pip.label("tri") == "base1"
    assert "better" not in pip.variant("install", "tri").check().output


def test_a_source_build_beside_labels_is_kept_too(pip: Pip, index: Index) -> None:
    index.add(Wheel("tri", label="cuda12.8", properties=(cuda("12.8"),)), Sdist(Wheel("tri")))
    pip.variant("install", "tri", driver="12.4").check()
    assert BETTER in pip.variant("install", "tri", driver="12.8").check().stdout.splitlines()


def test_a_folder_that_is_not_there_is_an_error(pip: Pip) -> None:
    for command in ("check", "list"):
        result = pip.variant("variant", command, "--path", "typo")
        assert result.code == 1
        assert "ERROR: --path typo: there is no such folder" in result.stderr


def test_quiet_leaves_the_exit_code(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    result = pip.variant("variant", "check", "-q", driver="12.4")
    assert (result.code, result.output) == (1, "")
