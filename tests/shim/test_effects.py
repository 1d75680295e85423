"""Each patch has a test that notices its loss, and a row in docs/patched-functions.md."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from integration.broken_patches import is_meant, names, noticing
from pipvariant.shim.core import pip_versions

# pip says so of the backend that it no longer uses by default.
pytestmark = pytest.mark.filterwarnings("ignore:.*pkg_resources.* is deprecated")

Patched = dict[str, list[tuple[int, int]]]

#: Releases between which other objects are patched.
RELEASES = ((22, 2), (22, 3), (24, 0), (25, 1), (26, 0), (26, 1), (26, 2), (26, 3))


ROOT = Path(__file__).parents[2]
SHIM = ROOT / "src" / "pipvariant" / "shim"
#: Makes a copy of a patched name, which counts if it is imported; pips before 26.2 do not have it.
COPY = "pip._internal.build_env.installer"


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> Patched:
    """The names of the patches of all releases, with the releases that they are for."""
    import_module("pip._internal.commands.install")
    monkeypatch.setitem(sys.modules, COPY, sys.modules.get(COPY, ModuleType(COPY)))
    found: Patched = {}
    for version in RELEASES:
        pip = pip_versions.Pip(version, "of a test")
        monkeypatch.setattr(pip_versions, "this_pip", lambda pip=pip: pip)
        for name in names():
            found.setdefault(name, []).append(version)
    return found


def test_each_patch_has_a_test_that_fails_without_it(patched: Patched) -> None:
    marks = [(module, target) for module, target, _ in noticing()]
    assert {name for name in patched if not any(is_meant(*mark, name) for mark in marks)} == set()


def test_each_mark_of_a_test_is_about_a_patch(patched: Patched) -> None:
    unmeant = [mark for mark in noticing() if not any(is_meant(*mark[:2], n) for n in patched)]
    assert unmeant == []


def test_the_page_lists_every_patch_with_the_pips_that_it_is_for(patched: Patched) -> None:
    page = (ROOT / "docs" / "patched-functions.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| `(\S+)` \| .+ \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == page.count("\n| `")
    listed = [
        (name if name.startswith("pip.") else f"pip._internal.{name}", module, pips)
        for name, module, pips in rows
    ]
    assert sorted(listed) == sorted(
        (name.split()[1], module_of(name.split()[0]), pips_of(releases))
        for name, releases in patched.items()
    )


def module_of(stem: str) -> str:
    """The one module of this name, as a path below the shim."""
    if stem == "shim":
        return "__init__"
    (path,) = SHIM.rglob(f"{stem}.py")
    return path.relative_to(SHIM).with_suffix("").as_posix()


def pips_of(releases: list[tuple[int, int]]) -> str:
    after = RELEASES[RELEASES.index(releases[-1]) + 1 :]
    words = [f"from {releases[0][0]}.{releases[0][1]}"] if releases[0] != RELEASES[0] else []
    words += [f"before {major}.{minor}" for major, minor in after[:1]]
    return ", ".join(words)
