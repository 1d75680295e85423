"""A pip that the shim does not know is refused before anything happens."""

from __future__ import annotations

import shutil
from pathlib import Path

import pip as pip_package
import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import tri

pytestmark = [pytest.mark.every_pip, pytest.mark.real_start]

INTERNAL = Path(pip_package.__file__).parent


def refused(pip: Pip, index: Index, pips: Path) -> str:
    """The message of an install with the pip of this folder, which must have done nothing."""
    index.add(*tri())
    result = pip.variant("install", "tri", driver="12.8", environ={"PYTHONPATH": str(pips)})
    assert result.code == 1
    assert "Traceback" not in result.output
    assert "Plain `pip`" in result.stderr
    assert "22.2 to 26.3" in result.stderr
    assert index.requests == []
    assert pip.installed() == {}
    return result.stderr


@pytest.mark.parametrize("version", ("99.0", "26.9.1", "22.1.2", "20.3.4", "unknown"))
def test_a_pip_out_of_range(pip: Pip, index: Index, tmp_path: Path, version: str) -> None:
    fake = tmp_path / "pips" / "pip"
    fake.mkdir(parents=True)
    (fake / "__init__.py").write_text(f"__version__ = {version!r}\n")
    (fake / "__main__.py").write_text("raise SystemExit(3)\n")
    message = refused(pip, index, fake.parent)
    assert version in message
    assert ("python -m pip install -U pip" in message) is (version in ("22.1.2", "20.3.4"))


@pytest.mark.parametrize("name", ("evaluate_links", "FoundCandidates", "sort_best_candidate"))
def test_a_pip_with_a_name_moved(pip: Pip, index: Index, tmp_path: Path, name: str) -> None:
    # The same name changes everywhere, so that this pip itself works as well as before.
    copy = copied_pip(tmp_path, name, f"other_{name}")
    message = refused(pip, index, copy)
    assert pip_package.__version__ in message
    assert name in message
    pip.plain("install", "tri", environ={"PYTHONPATH": str(copy)}).check()
    assert pip.build("tri") == ("1.0", "")


HASHES = "                {0}name,\n                {1}specifier,\n                {2}hashes,\n"
#: The same pip, but for what its own functions hand on to each other.
SHAPES = {
    "entries by position": ("link=ican.link", "ican.link"),
    "entries without keywords": (
        "func = functools.partial(",
        "func = (lambda make, **given: lambda: make(**given))(",
    ),
    "no entries": ("self._get_infos = get_infos", "self._get_infos = lambda: iter(())"),
    "hashes by position": (
        HASHES.format("project_name=", "specifier=", "hashes="),
        HASHES.format("", "", ""),
    ),
    "another place of the result": ("self._result", "self._found"),
    "another place of the session": ("_link_collector", "_collector"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_pip_that_hands_on_something_else(
    pip: Pip, index: Index, tmp_path: Path, shape: str
) -> None:
    assert pip_package.__version__ in refused(pip, index, copied_pip(tmp_path, *SHAPES[shape]))


def copied_pip(tmp_path: Path, old: str, new: str) -> Path:
    """A folder with the pip of this environment, one text of it replaced by another."""
    folder = linked_pip(tmp_path)
    (folder / "pip" / "_internal").unlink()
    # With its byte code, which stays valid: compiling all of pip would take seconds.
    shutil.copytree(INTERNAL / "_internal", folder / "pip" / "_internal")
    changed = 0
    for module in (folder / "pip" / "_internal").rglob("*.py"):
        text = module.read_text(encoding="utf-8")
        if old in text:
            module.write_text(text.replace(old, new), encoding="utf-8")
            changed += 1
    assert changed
    return folder


def linked_pip(tmp_path: Path) -> Path:
    """A folder with the pip of this environment."""
    copy = tmp_path / "pips" / "pip"
    copy.mkdir(parents=True)
    # Byte code is found by the time and size of its source, which may change here.
    for path in INTERNAL.iterdir():
        if path.name != "__pycache__":
            (copy / path.name).symlink_to(path)
    return copy.parent


def call_it(pips: Path, version: str) -> None:
    """Let a linked pip call itself another version."""
    start = pips / "pip" / "__init__.py"
    text = start.read_text(encoding="utf-8")
    start.unlink()
    start.write_text(f"{text}\n__version__ = {version!r}\n", encoding="utf-8")
