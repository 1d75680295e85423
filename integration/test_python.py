"""``--python``: the same pip and the same choice, in another environment."""

from __future__ import annotations

import json
import venv
from pathlib import Path

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.wheels import tri
from pipvariant.shim.building.child_pip import RUNNER

pytestmark = [pytest.mark.every_pip, pytest.mark.real_start]


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """The Python of an environment that has nothing at all, not even pip."""
    if PIP_VERSION < (22, 3):
        pytest.skip("--python is new in pip 22.3")
    root = tmp_path / "other"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(root)
    return root / "bin" / "python"


@pytest.mark.effect_of("child_pip", "main_parser:get_runnable_pip")
def test_the_best_label_is_installed_there(pip: Pip, index: Index, other: Path) -> None:
    index.add(*tri())
    result = pip.variant("--python", other, "install", "tri", driver="12.8").check()
    assert result.lines_with("tri 1.0: variant cuda12.8")
    assert pip.installed() == {}
    (site,) = other.parent.parent.glob("lib/python*/site-packages")
    assert pip.label("tri", site) == "cuda12.8"


def test_nothing_of_this_environment_is_seen_there(pip: Pip, index: Index, other: Path) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    result = pip.variant("--python", other, "list", "--format", "json").check()
    assert json.loads(result.stdout) == []


def test_without_variants_it_is_plain_there_too(pip: Pip, index: Index, other: Path) -> None:
    index.add(*tri())
    pip.variant("--python", other, "install", "--no-variant", "tri", driver="12.8").check()
    (site,) = other.parent.parent.glob("lib/python*/site-packages")
    assert pip.label("tri", site) == ""


def test_what_is_installed_there_is_looked_at(pip: Pip, index: Index, other: Path) -> None:
    index.add(*tri())
    pip.variant("--python", other, "install", "tri", driver="12.8").check()
    result = pip.variant("--python", other, "variant", "list", "--json", driver="12.8").check()
    (there,) = json.loads(result.stdout)
    assert (there["name"], there["label"]) == ("tri", "cuda12.8")
    assert pip.variant("--python", other, "variant", "check", driver="12.4").code == 1


def test_a_python_that_cannot_be_used_is_refused_as_by_plain_pip(pip: Pip) -> None:
    # pip 22.2 has no such option.
    variant, plain = (run("--python", "no/such", "list") for run in (pip.variant, pip.plain))
    assert variant.code == plain.code != 0
    assert variant.output.splitlines()[-1] == plain.output.splitlines()[-1]


def test_an_active_environment_that_is_another_one_is_told_before_installing(
    pip: Pip, index: Index, tmp_path: Path
) -> None:
    index.add(*tri())
    result = pip.variant("install", "tri", environ={"VIRTUAL_ENV": str(tmp_path)}).check()
    told = f"not into the active environment {tmp_path}"
    assert told in result.stderr.splitlines()[0]
    assert len(result.lines_with(told)) == 1
    assert pip.build("tri") == ("1.0", "null")


def test_a_python_that_is_too_old_for_this_pip_runs_its_own(pip: Pip, tmp_path: Path) -> None:
    newer = tmp_path / "newer" / "pip"
    newer.mkdir(parents=True)
    (newer / "__init__.py").write_text("__version__ = '26.3'\n")
    (newer / "__pip-runner__.py").write_text("PYTHON_REQUIRES = (9, 9)\n")
    places = json.dumps({"pip": str(newer.parent)})
    result = pip.run([RUNNER, "--version"], environ={"PIPVARIANT_RUNNER": places}).check()
    assert result.stdout.startswith("pip {}.{}".format(*PIP_VERSION))
