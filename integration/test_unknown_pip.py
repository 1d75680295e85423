"""A pip that the shim does not know is refused before anything happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pip as pip_package
import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import tri

INTERNAL = Path(pip_package.__file__).parent


def refused(pip: Pip, index: Index, pips: Path) -> str:
    """The message of an install with the pip of this folder, which must have done nothing."""
    index.add(*tri())
    result = pip.variant("install", "tri", driver="12.8", environ={"PYTHONPATH": str(pips)})
    assert result.code == 1
    assert "Traceback" not in result.output
    assert index.requests == []
    assert pip.installed() == {}
    return result.stderr


def test_a_pip_from_the_future(pip: Pip, index: Index, tmp_path: Path) -> None:
    fake = tmp_path / "pips" / "pip"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text('__version__ = "99.0"\n')
    (fake / "__main__.py").write_text("raise SystemExit(3)\n")
    message = refused(pip, index, fake.parent)
    assert all(word in message for word in ("99.0", "22.2", "26.3", "python -m pip"))


@pytest.mark.parametrize(
    ("module", "old", "new"),
    (
        ("index/package_finder.py", "def evaluate_links", "def assess_links"),
        ("models/wheel.py", "class Wheel:", "class WheelName:"),
        ("resolution/resolvelib/found_candidates.py", "get_infos", "get_answers"),
    ),
)
def test_a_pip_with_a_name_moved(
    pip: Pip, index: Index, tmp_path: Path, module: str, old: str, new: str
) -> None:
    copy = tmp_path / "pips" / "pip"
    shutil.copytree(INTERNAL, copy, ignore=shutil.ignore_patterns("__pycache__"))
    changed = copy / "_internal" / module
    text = changed.read_text()
    assert old in text
    changed.write_text(text.replace(old, new))
    message = refused(pip, index, copy.parent)
    assert pip_package.__version__ in message
    assert "python -m pip" in message
