"""Builds of torch out of folders, in all that speaks of labels: explain, reports, locks, lists."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from integration.environments import PIP_VERSION, Pip, Result
from integration.index import Index
from integration.torch_index import TorchIndex
from pipvariant.selection.torch_backends import WITH_BACKEND, WITHOUT_BACKEND

AUTO = ("install", "--torch-backend", "auto")
LOCK = "pylock.toml"
DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
OFFICIAL = "https://download.pytorch.org/whl/"
ROOT = Path(__file__).parents[1]
Run = Callable[..., Result]


@pytest.fixture
def run(pip: Pip, torch: TorchIndex) -> Run:
    """Run a command with the replica as the index of the backends."""

    def running(*args: str, **how: Any) -> Result:
        return pip.variant(*args, environ={"PIP_TORCH_INDEX": torch.base}, **how)

    return running


def backends(pip: Pip) -> dict[str, str]:
    """What is installed of the family, each with its local version."""
    found = pip.installed()
    return {name: found[name].partition("+")[2] for name in found if name.startswith("torch")}


def printed_command(result: Result) -> list[str]:
    """The arguments of the one command that was printed."""
    (command,) = set(re.findall("`pip-variant (.*)`", result.output))
    return list(command.split())


# Explained.


def test_folders_are_rows_with_verdict_and_reason_and_cost_no_more_requests(
    run: Run, torch: TorchIndex
) -> None:
    run(*AUTO, "--dry-run", "torch", driver="12.4").check()
    asked = torch.pages_asked.copy()
    torch.log.clear()
    explain = ("variant", "explain", "--torch-backend", "auto", "torch")
    document = json.loads(run(*explain, "--json", driver="12.4").check().stdout)
    assert torch.pages_asked == asked
    (project,) = document["projects"]
    assert (project["version"], project["file"][:18]) == ("2.9.1", "torch-2.9.1+cu128-")
    assert [(each["label"], each["status"]) for each in project["builds"]] == [
        ("cu128", "chosen"),
        ("cu126", "fits"),
        ("cpu", "fits"),
        ("cu130", "rejected"),
        ("rocm6.4", "rejected"),
        ("xpu", "rejected"),
    ]
    assert {each["source"] for each in project["builds"]} == {torch.base}
    assert "minor version compatibility" in project["builds"][0]["reason"]
    assert project["builds"][3]["reason"] == "needs CUDA driver >= 13.0, this machine has 12.4"
    assert (project["no_variant"], document["torch_backend"]) == (None, None)


def test_without_the_option_explain_names_it_and_nothing_is_asked(
    pip: Pip, run: Run, torch: TorchIndex
) -> None:
    result = run("variant", "explain", "torch", driver="12.8").check()
    assert result.lines_with("torch: ", "--torch-backend auto would take the first of cu128, cu126")
    document = json.loads(run("variant", "explain", "--json", "torch").check().stdout)
    assert document["torch_backend"]["projects"] == ["torch"]
    assert document["torch_backend"]["backends"] == ["cpu"]
    dry = ("install", "--dry-run", "--no-cache-dir", "torch")
    assert run(*dry, driver="12.8").check().output == pip.plain(*dry).check().output
    assert torch.log == []


# Reported, locked, pinned by hash.


def test_the_report_has_the_backend_beside_what_pip_says(pip: Pip, torch: TorchIndex) -> None:
    environ = {"PIP_TORCH_INDEX": torch.base}
    report = pip.report(*AUTO[1:], "--no-deps", "torch", driver="12.8", environ=environ)
    (item,) = report["install"]
    assert item["metadata"]["version"] == "2.9.1+cu128"
    assert item["variant"]["label"] == "cu128"
    assert item["variant"]["compatible"] == ["cu128", "cu126", "cpu"]
    assert item["download_info"]["url"].startswith(f"{torch.base}cu128/torch-2.9.1%2Bcu128-")


@pytest.mark.skipif(PIP_VERSION < (26, 1), reason="26.1 is the first pip to read locks")
def test_a_lock_names_one_build_and_is_refused_where_that_does_not_fit(
    pip: Pip, run: Run, torch: TorchIndex, index: Index
) -> None:
    run("lock", "--torch-backend", "auto", "torchvision", "-o", LOCK, driver="12.8").check()
    locked = (pip.work / LOCK).read_text()
    assert 'version = "2.9.1+cu128"' in locked
    assert "variants-json" not in locked
    torch.log.clear()
    refused = run(*AUTO, "-r", LOCK, driver="11.8")
    assert refused.lines_with("ERROR: torch 2.9.1+cu128", "cu128 needs CUDA driver >= 12.8")
    other = run("install", "--torch-backend", "cu126", "-r", LOCK)
    assert other.lines_with("ERROR: torch 2.9.1+cu128", "--torch-backend cu126 wants another")
    assert (torch.log, pip.installed()) == ([], {})
    result = run(*AUTO, "-r", LOCK, driver="12.8").check()
    assert result.lines_with("torch 2.9.1+cu128: variant cu128")
    assert not result.lines_with("triton", "wheel", ": ")
    assert backends(pip) == {"torch": "cu128", "torchvision": "cu128"}
    assert torch.pages_asked == []


def test_only_the_folder_whose_file_has_an_allowed_hash_is_taken(
    pip: Pip, run: Run, torch: TorchIndex
) -> None:
    wheels = [each for each in torch.wheels["cu126"] if each.stem == "torch-2.9.1+cu126"]
    hashes = [f"--hash=sha256:{hashlib.sha256(each.content).hexdigest()}" for each in wheels]
    pip.write("req.txt", [f"torch==2.9.1 {' '.join(hashes)}"])
    result = run(*AUTO, "--no-deps", "-r", "req.txt", driver="12.8").check()
    assert result.lines_with("variant cu128 would fit better, but its hash is not allowed")
    assert backends(pip) == {"torch": "cu126"}


# Installed.


def test_a_build_that_no_longer_fits_is_named_with_a_command_that_works(
    pip: Pip, run: Run, torch: TorchIndex
) -> None:
    run(*AUTO, "torch", "torchvision", driver="13.0").check()
    torch.log.clear()
    checked = run("variant", "check", driver="12.8")
    needs = "torch 2.9.1+cu130: cu130 needs CUDA driver >= 13.0, this machine has 12.8"
    assert (checked.code, torch.log) == (1, [])
    assert checked.lines_with(needs)
    warned = run(*AUTO, "torch", driver="12.8").check()
    assert warned.lines_with("WARNING: ", needs)
    assert printed_command(warned) == printed_command(checked)
    alone = run(*AUTO, "--upgrade-variant", "torch", driver="12.8").check()
    assert alone.lines_with(needs, "it stays with torchvision")
    assert printed_command(alone) == printed_command(checked)
    run(*printed_command(checked), driver="12.8").check()
    assert backends(pip) == {"torch": "cu128", "torchvision": "cu128"}
    listed = json.loads(run("variant", "list", "--json", driver="12.8").check().stdout)
    assert [(each["label"], each["fits"]) for each in listed] == [("cu128", True)] * 2


@pytest.mark.every_pip
def test_a_stated_backend_takes_the_place_of_another(pip: Pip, run: Run) -> None:
    run(*AUTO, "--no-deps", "torch").check()
    cu126 = ("install", "--torch-backend", "cu126", "--no-deps")
    kept = run(*cu126, "torch").check()
    assert (printed_command(kept)[2], backends(pip)) == ("cu126", {"torch": "cpu"})
    result = run(*cu126, "--upgrade-variant", "torch").check()
    assert result.lines_with("torch 2.9.1+cpu: variant cu126 replaces variant cpu")
    assert backends(pip) == {"torch": "cu126"}


def test_what_is_installed_gives_way_where_others_cannot_have_its_backend(
    pip: Pip, run: Run, torch: TorchIndex
) -> None:
    run(*AUTO, "torch", driver="13.0").check()
    torch.log.clear()
    run(*AUTO, "torch", "torchvision", driver="12.8").check()
    assert backends(pip) == {"torch": "cu128", "torchvision": "cu128"}
    assert len([each for each in torch.requests if each.endswith(".whl")]) == 2


# What the pages say.


@pytest.mark.parametrize(("page", "number"), (("README.md", 1), ("docs/pytorch.md", 4)))
def test_a_page_shows_what_really_happens(
    pip: Pip, torch: TorchIndex, page: str, number: int
) -> None:
    environ = {"PIP_TORCH_INDEX": torch.base, DRIVER: "12.8"}
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [
        each for each in re.findall(r"```console\n(.*?)```", text, re.DOTALL) if "torch" in each
    ]
    assert len(blocks) == number
    output: list[str] = []
    for line in "".join(blocks).splitlines():
        words = line.partition("  #")[0].split()
        if words[:2] == ["$", "export"]:
            environ[DRIVER] = words[2].rpartition("=")[2]
        elif words[:2] == ["$", "pip-variant"]:
            result = pip.variant(*words[2:], environ={**environ, "COLUMNS": "160"})
            assert "--no-variant" not in result.output
            output = [" ".join(each.split()) for each in result.output.splitlines()]
        elif words and not line.startswith(" ─"):
            assert " ".join(line.replace(OFFICIAL, torch.base).split()) in output


def test_the_page_names_the_whole_family_and_nothing_else() -> None:
    page = (ROOT / "docs" / "pytorch.md").read_text(encoding="utf-8")
    listed = page.partition("## The family")[2].partition("\n## ")[0]
    with_backend, without = re.findall("^- .*?(?=^- |\\Z)", listed, re.DOTALL | re.MULTILINE)
    assert set(re.findall("`(.*?)`", with_backend)) == WITH_BACKEND
    assert set(re.findall("`(.*?)`", without)) == WITHOUT_BACKEND
