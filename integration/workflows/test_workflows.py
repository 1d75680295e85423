"""Tools that call pip, each run from the text of the documentation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from integration.index import Index
from integration.templates import variables
from integration.wheels import Wheel, tri

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "workflows.md").read_text(encoding="utf-8")
BLOCKS = {
    match[1]: match[2] for match in re.finditer(r"```\w+\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
}
SCRIPTS = Path(sys.executable).parent
REGISTRY = "https://pypi.org/simple"
#: What the variables of this machine say about the way to the registry.
NETWORK = {
    name: os.environ[name]
    for name in ("PIP_CERT", "SSL_CERT_FILE", "https_proxy")
    if name in os.environ
}


class Machine:
    """A folder with a home, and tools on the path; the wheel index is ours."""

    def __init__(self, root: Path, index: Index) -> None:
        for name in ("home", "tmp", "work"):
            (root / name).mkdir()
        self.work = root / "work"
        self.environ = {
            **NETWORK,
            **variables(root),
            "PATH": f"{SCRIPTS}:/usr/bin:/bin",
            "PIP_INDEX_URL": index.url,
            "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "12.8",
        }

    def block(self, name: str) -> str:
        return BLOCKS[name].replace("torch", "vw_tri")

    def write(self, name: str, more: str = "") -> None:
        (self.work / name).write_text(self.block(name) + more)

    def run(self, script: str, **environ: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", script],
            cwd=self.work,
            env={**self.environ, **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def label(self, python: str, **environ: str) -> str:
        told = self.run(f'{python} -c "import vw_tri; print(vw_tri.LABEL)"', **environ)
        return told.splitlines()[-1]


@pytest.fixture
def machine(tmp_path: Path, index: Index) -> Machine:
    script = "[console_scripts]\nmy-tool = my_tool:main\n"
    index.add(*tri(name="vw-tri"), Wheel("my-tool", requires=("vw-tri",), entry_points=script))
    return Machine(tmp_path, index)


@pytest.mark.parametrize("tool", ("venv", "virtualenv", "uv"))
def test_an_environment_without_pip_gets_its_label(machine: Machine, tool: str) -> None:
    machine.run(machine.block(tool))
    assert machine.label(".venv/bin/python") == "cuda12.8"
    assert machine.run("pip-variant --python .venv freeze") == "vw-tri==1.0\n"


def test_tox_installs_with_pip_variant(machine: Machine) -> None:
    machine.write("tox.ini", "skip_install = true\npass_env = NV_VARIANT_PROVIDER_*\n")
    machine.run("tox run -e py")
    assert machine.label(".tox/py/bin/python") == "cuda12.8"


def test_a_session_of_nox_installs_with_the_hook(machine: Machine) -> None:
    machine.write("noxfile.py")
    machine.run("nox")
    assert machine.label(".nox/tests/bin/python") == "cuda12.8"


def test_an_environment_of_hatch_is_made_with_the_hook(machine: Machine) -> None:
    project = '[project]\nname = "vw-project"\nversion = "1.0"\n[build-system]\n'
    project += 'requires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    machine.write("pyproject.toml", project)
    (machine.work / "vw_project.py").touch()
    assert machine.label("hatch run python", PIP_EXTRA_INDEX_URL=REGISTRY) == "cuda12.8"


def test_a_tool_of_pipx_gets_its_variants_afterwards(machine: Machine) -> None:
    # Its pip is downloaded.
    machine.run(machine.block("pipx"), PIP_EXTRA_INDEX_URL=REGISTRY)
    python = '"$(pipx environment --value PIPX_LOCAL_VENVS)/my-tool/bin/python"'
    assert machine.label(python) == "cuda12.8"


def test_an_environment_of_pre_commit_gets_its_variants_afterwards(machine: Machine) -> None:
    hook = {"id": "vw", "name": "vw", "entry": "vw", "language": "python"}
    needs = {"additional_dependencies": ["vw_tri"]}
    config = {"repos": [{"repo": "local", "hooks": [{**hook, **needs}]}]}
    (machine.work / ".pre-commit-config.yaml").write_text(json.dumps(config))
    machine.run("git init -q")
    # It installs an empty project of its own, which is built.
    machine.run(machine.block("pre-commit"), PIP_EXTRA_INDEX_URL=REGISTRY)
    assert machine.label("$HOME/.cache/pre-commit/*/py_env-*/bin/python") == "cuda12.8"


@pytest.mark.parametrize("release", ("24.0", "26.3"))
def test_one_file_of_pip_tools_serves_two_machines(machine: Machine, release: str) -> None:
    installed = f"pip=={release} pip-tools"
    if release == "26.3":
        # Here pip-variant is in the environment itself.
        installed += f" {ROOT}"
    machine.run("python -m venv --without-pip .venv")
    machine.run(f"pip-variant --python .venv install {installed}", PIP_INDEX_URL=REGISTRY)
    (machine.work / "requirements.in").write_text("my-tool\n")
    machine.run(machine.block("pip-tools"))
    assert (machine.work / "requirements.txt").read_text().count("--hash") == 6
    before = machine.run("pip-variant --python .venv list")
    assert machine.label(".venv/bin/python") == "cuda12.8"
    # The other machine.
    machine.run(".venv/bin/python -m pip uninstall --yes vw-tri")
    machine.environ["NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"] = "12.6"
    machine.run(".venv/bin/pip-sync")
    assert machine.label(".venv/bin/python") == "cuda12.6"
    assert machine.run("pip-variant --python .venv list") == before
