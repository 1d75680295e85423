"""Torch and its family out of the folders of an index, one for each backend."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from urllib.parse import quote

import pytest

from integration.environments import Pip, Result
from integration.index import Index
from integration.torch_index import LINUX, TorchIndex
from integration.torch_machines import TORCH_MACHINES, TorchMachine
from integration.wheels import Sdist, Wheel, cuda, release

ALL = ("torch", "torchvision", "torchaudio")
PLAN = ("--dry-run", "--ignore-installed")


class Torch:
    """Runs `pip-variant install` with the replica, and says what it took."""

    def __init__(self, pip: Pip, index: TorchIndex, driver: str | None = "13.0") -> None:
        self._pip, self._index, self.driver = pip, index, driver

    def install(self, *words: str, backend: str = "auto", check: bool = True) -> Result:
        args = ("install", "--torch-backend", backend, "--torch-index", self._index.base, *words)
        result = self._pip.variant(*args, driver=self.driver)
        return result.check() if check else result

    def planned(self, *words: str, backend: str = "auto") -> dict[str, str]:
        """Project to version, of what would be installed into an empty environment."""
        (line,) = self.install(*PLAN, *words, backend=backend).lines_with("Would install")
        pairs = (word.rpartition("-") for word in line.split()[2:])
        return {name: version for name, _, version in pairs}

    def installed(self) -> dict[str, str]:
        versions = self._pip.installed()
        return {name: version for name, version in versions.items() if name in ALL}


@pytest.fixture
def run(pip: Pip, torch: TorchIndex) -> Torch:
    return Torch(pip, torch)


def _backends(versions: dict[str, str], names: Sequence[str] = ALL) -> list[str]:
    return [versions[name].partition("+")[2] for name in names]


def _build(pip: Pip, torch: TorchIndex, machine: TorchMachine) -> str:
    """The release and the folder that a machine takes torch of."""
    where = [f"--platform={machine.platform}", "--only-binary=:all:"] if machine.platform else []
    if machine.platform:
        pip.write("machine.toml", ["format = 1", machine.target])
        where += ["--variant-target", "machine.toml"]
    args = (
        "download",
        "--no-deps",
        "-d",
        machine.name,
        "--torch-backend",
        "auto",
        machine.requirement,
        *where,
    )
    torch.log.clear()
    pip.variant(*args, environ={"PIP_TORCH_INDEX": torch.base, **machine.environ}).check()
    (path,) = (request.path for request in torch.log if request.path.endswith(".whl"))
    folder, name = path.split("/")[2:]
    return f"{name.split('-')[1].partition('%2B')[0]} {folder}"


def test_each_machine_gets_the_newest_version_of_the_best_folder(
    pip: Pip, torch: TorchIndex
) -> None:
    found = {machine.name: _build(pip, torch, machine) for machine in TORCH_MACHINES}
    assert found == {machine.name: machine.ours for machine in TORCH_MACHINES}
    assert all(bool(each.reason) == (each.ours != each.uv) for each in TORCH_MACHINES)


@pytest.mark.effect_of(
    "torch_pages",
    "SearchScope.get_index_urls_locations",
    "PackageFinder.find_all_candidates",
    "PackageFinder.find_best_candidate",
)
def test_the_family_is_looked_for_in_folders_only_and_nothing_else_is(
    run: Torch, torch: TorchIndex, index: Index
) -> None:
    torch.more["cu130", "nvidia-cublas"] = [Wheel("nvidia-cublas", "99.0")]
    torch.more["cu130", "torch"] = [Wheel("nvidia-cublas", "99.0")]
    result = run.install(*ALL)
    assert result.lines_with("torch 2.9.1: variant cu130 (nvidia :: cuda_version_lower_bound :: ")
    assert _backends(run.installed()) == ["cu130"] * 3
    assert [each for each in index.requests if "nvidia_cublas-13.0" not in each] == [
        "GET /simple/nvidia-cublas/"
    ]
    pages = torch.pages_asked
    assert len(pages) == len(set(pages))
    assert [page for page in pages if not page.endswith("/torch")] == [
        *(f"{folder}/torchaudio" for folder in ("cu130", "cu128", "cu126", "cpu")),
        *(f"{folder}/torchvision" for folder in ("cu130", "cu128", "cu126", "cpu")),
        "cu130/triton",
    ]
    torch.log.clear()
    run.install(*PLAN, "torch==2.8.0")
    assert torch.pages_asked == ["cu130/torch", "cu129/torch", "cu129/triton"]


def test_what_is_installed_decides_the_backend_of_what_comes_later(
    pip: Pip, run: Torch, torch: TorchIndex
) -> None:
    run.driver = "12.8"
    run.install("torch")
    run.driver = "13.0"
    torch.log.clear()
    run.install("torchvision", "torchaudio")
    assert _backends(run.installed()) == ["cu128"] * 3
    assert sorted(torch.pages_asked) == ["cu128/torchaudio", "cu128/torchvision"]
    refused = run.install("--variant=torch=cu126", "torch", check=False)
    assert refused.lines_with("torchvision is installed for cu128, and would have to be named")
    run.install("--variant=torch=cu126", *ALL)
    assert _backends(run.installed()) == ["cu126"] * 3


def test_what_came_from_an_index_without_folders_counts_as_well(
    pip: Pip, run: Torch, index: Index
) -> None:
    says = {"torch/version": "from typing import Optional\n__version__ = '2.9.1+cu128'\n"}
    index.add(Wheel("torch", "2.9.1", modules=says))
    pip.plain("install", "torch==2.9.1").check()
    run.install("torchvision")
    assert run.installed() == {"torch": "2.9.1", "torchvision": "0.24.1+cu128"}


def test_one_backend_is_taken_whatever_narrows_it(pip: Pip, run: Torch, torch: TorchIndex) -> None:
    pip.write("older.txt", ["torchaudio==2.8.0"])
    older = run.planned("-c", "older.txt", *ALL)
    assert (_backends(older), older["torch"]) == (["cu129"] * 3, "2.8.0+cu129")
    narrowed = run.planned("--variant", "torchvision=cu126", *ALL)
    assert _backends(narrowed) == ["cu126"] * 3
    torch.missing.add(("cu130", "torchvision", ""))
    assert _backends(run.planned(*ALL)) == ["cu128"] * 3
    assert _backends(run.planned("torchaudio==2.9.1", *ALL)) == ["cu128"] * 3
    torch.missing.add(("cu130", "torch", ""))
    # There is one file of it, which all folders list.
    assert _backends(run.planned("torchao"), ("torch",)) == ["cu128"]
    torch.missing.add(("cu128", "torchaudio", "2.9.1"))
    assert _backends(run.planned(*ALL)) == ["cu126"] * 3


@pytest.mark.effect_of("same_variant", "BaseReporter.ending_round")
def test_what_was_tried_in_vain_does_not_decide_the_backend(run: Torch, torch: TorchIndex) -> None:
    torch.missing.add(("cu128", "torch", "2.7.1"))
    found = run.planned("torchaudio==2.7.1")
    assert (found["torch"], found["torchaudio"]) == ("2.7.1+cu126", "2.7.1+cu126")
    # What is looked for counts, where it is not the newest that a folder has.
    run.driver = "12.4"
    assert _backends(run.planned("torchvision", "torchaudio", "torch==2.7.1")) == ["cu118"] * 3


def test_a_stated_backend_is_taken_without_a_look_at_the_machine(
    run: Torch, torch: TorchIndex
) -> None:
    run.driver = None
    result = run.install(*PLAN, *ALL, backend="cu126")
    assert result.lines_with("torch 2.9.1: variant cu126 (nvidia :: cuda_version_lower_bound :: ")
    assert not result.warnings
    assert {page.partition("/")[0] for page in torch.pages_asked} == {"cu126"}
    refused = run.install(*PLAN, "torch==2.9.1", backend="cu118", check=False)
    assert (refused.code, torch.pages_asked[-1]) == (1, "cu118/torch")
    missing = run.install(*PLAN, "xformers", backend="cpu", check=False)
    (warning,) = missing.warnings
    assert "xformers is in none of the folders that fit (cpu) of" in warning
    # Of what is built for no backend, any folder's will do.
    torch.missing.add(("cu126", "triton", ""))
    assert run.planned("triton==3.5.0", backend="cu126") == {"triton": "3.5.0"}


@pytest.mark.every_pip
def test_the_option_can_come_from_a_file_or_a_variable(
    pip: Pip, torch: TorchIndex, index: Index
) -> None:
    pip.write("line.txt", ["--torch-backend cu126", "torch==2.9.1"])
    pip.write("comment.txt", ["torch==2.9.1  # pip-variant: --torch-backend cu126"])
    pip.write("nonsense.txt", ["--torch-backend cuda", "torch"])
    environ = {"PIP_TORCH_INDEX": torch.base}
    for words, more in (
        (("-r", "line.txt"), {}),
        (("-r", "comment.txt"), {}),
        (("torch==2.9.1",), {"PIP_TORCH_BACKEND": "cu126"}),
    ):
        result = pip.variant("install", *PLAN, *words, environ={**environ, **more}).check()
        assert result.lines_with("torch-2.9.1+cu126")
        both = ("--torch-backend", "cpu", *words)
        result = pip.variant("install", *PLAN, *both, environ={**environ, **more}).check()
        assert result.lines_with("torch-2.9.1+cpu")
    result = pip.variant("install", "-r", "nonsense.txt", environ=environ)
    assert (result.code, bool(result.lines_with("'cuda' is no backend"))) == (1, True)


def test_what_is_required_of_labels_is_required_of_folders(run: Torch) -> None:
    run.driver = "12.4"
    result = run.install(*PLAN, "torch")
    assert result.lines_with("torch 2.9.1: variant cu128", "by minor version compatibility")
    assert run.planned("torch==2.6.0")["torch"] == "2.6.0+cu124"
    prefer = ("--prefer-variant", "nvidia :: cuda_version_lower_bound :: 12.6")
    assert run.planned(*prefer, "torch==2.6.0")["torch"] == "2.6.0+cu126"
    result = run.install(*PLAN, "--exclude-variant", "nvidia", "torch")
    assert result.lines_with("torch 2.9.1: variant cpu; cu126 needs", "--exclude-variant")
    for null in ("torch=null", ":all:=null"):
        assert run.planned("--variant", null, "torch")["torch"] == "2.9.1+cpu"
    run.driver = "11.4"
    assert run.planned("--require-variant=torch=nvidia", "torch")["torch"] == "2.7.1+cu118"
    for words in (("--variant=torch=cu130", "torch"), ("torch==2.9.1+cu130",)):
        result = run.install(*PLAN, *words, check=False)
        assert result.code == 1
        assert result.lines_with("cu130 needs CUDA driver >= 13.0, this machine has 11.4")
    run.driver = None
    result = run.install(*PLAN, "torch")
    assert result.lines_with("variant cpu; cu126 needs CUDA driver >= 12.6, this machine has no")
    assert "`--torch-backend cpu` says it is meant" in result.warnings[-1]


def test_pins_and_hashes_are_those_of_pip(pip: Pip, run: Torch, torch: TorchIndex) -> None:
    assert run.planned("torch==2.9.1+cu126")["torch"] == "2.9.1+cu126"
    assert torch.pages_asked == ["cu126/torch", "cu126/triton"]
    (wheel,) = (
        wheel
        for wheel in torch.wheels["cu128"]
        if wheel.stem == "torch-2.9.1+cu128" and wheel.tag == LINUX
    )
    digest = hashlib.sha256(wheel.content).hexdigest()
    pip.write("locked.txt", [f"torch==2.9.1 --hash=sha256:{digest}"])
    torch.log.clear()
    assert run.planned("--no-deps", "-r", "locked.txt")["torch"] == "2.9.1+cu128"
    assert torch.requests_for(".whl") == [f"GET /whl/cu128/{quote(wheel.filename)}"]


def test_published_variants_win_over_folders(pip: Pip, run: Torch, torch: TorchIndex) -> None:
    folder = pip.work / "wheels"
    folder.mkdir()
    for wheel in release("torch", "2.9.1", {"ours": (cuda("12.0"),), "null": ()}, plain=False):
        (folder / wheel.filename).write_bytes(wheel.content)
    result = run.install("--find-links", str(folder), "torch==2.9.1")
    assert pip.build("torch") == ("2.9.1", "ours")
    assert result.lines_with("torch 2.9.1: variant ours")
    assert result.lines_with("torch has published variants, for which --torch-backend auto is not")


def test_without_an_index_links_are_chosen_by_their_local_version(
    pip: Pip, run: Torch, torch: TorchIndex
) -> None:
    folder = pip.work / "wheels"
    folder.mkdir()
    for local in ("cpu", "cu128", "rocm6.4"):
        for name in ("torch", "torchvision"):
            wheel = Wheel(name, f"2.9.1+{local}")
            (folder / wheel.filename).write_bytes(wheel.content)
    offline = ("--no-index", "--find-links", str(folder), "torch", "torchvision")
    for backend, local in (("auto", "cu128"), ("cpu", "cpu")):
        found = run.planned(*offline, backend=backend)
        assert found == dict.fromkeys(("torch", "torchvision"), f"2.9.1+{local}")
    assert torch.requests == []


def test_the_index_can_be_a_folder(pip: Pip, torch: TorchIndex) -> None:
    for backend in ("cpu", "cu128"):
        page = pip.work / "whl" / backend / "torch"
        page.mkdir(parents=True)
        wheel = Wheel("torch", f"2.9.1+{backend}")
        (page / wheel.filename).write_bytes(wheel.content)
        link = f'<!DOCTYPE html><a href="{quote(wheel.filename)}">{wheel.filename}</a>'
        (page / "index.html").write_text(link)
    for where in ("whl", (pip.work / "whl").as_uri()):
        result = pip.variant(
            "install",
            *PLAN,
            "torch",
            environ={"PIP_TORCH_BACKEND": "auto", "PIP_TORCH_INDEX": where},
            driver="13.0",
        ).check()
        assert result.lines_with("Would install torch-2.9.1+cu128")
        assert not result.warnings


@pytest.mark.effect_of("torch_pages", "_handle_get_simple_fail")
def test_an_index_that_cannot_be_reached_is_tried_once(pip: Pip) -> None:
    where = ("--torch-index", "http://127.0.0.1:9/whl", "--retries", "0")
    result = pip.variant("install", "--torch-backend", "auto", *where, "torch", driver="13.0")
    (warning,) = result.warnings
    assert "http://127.0.0.1:9/whl/ cannot be reached" in warning
    assert result.code == 1


def test_a_build_that_is_given_by_url_decides_the_backend_too(
    run: Torch, torch: TorchIndex
) -> None:
    name = f"torch-2.9.1%2Bcu126-{LINUX}.whl"
    found = run.planned(f"torch @ {torch.base}cu126/{name}", "torchvision")
    assert _backends(found, ("torch", "torchvision")) == ["cu126", "cu126"]


def test_what_is_built_sees_the_backend_that_is_installed(
    pip: Pip, run: Torch, index: Index
) -> None:
    probe = "__import__('torch').VERSION"
    index.add(Sdist(Wheel("extension"), build_requires=("torch",), probe=probe))
    run.install("--no-deps", "torch", backend="cu126")
    run.install("--no-deps", "extension")
    assert (pip.site / "built_with.py").read_text() == "FOUND = '2.9.1+cu126'\n"
