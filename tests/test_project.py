"""Rules that the project sets itself and that no other tool checks."""

from __future__ import annotations

import ast
import configparser
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pipvariant

__all__: list[str] = []

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "pipvariant"
FILES = sorted(SOURCE.rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

# Each module is imported as if it were the first: what an earlier one brought in is thrown out.
IMPORT_EACH_ALONE = """
import importlib, sys
for name in sys.argv[1:]:
    for loaded in [key for key in sys.modules if key.partition(".")[0] == "pipvariant"]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except BaseException as error:
        sys.exit(f"{name}: {error!r}")
"""


def name_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def local_links(page: Path) -> list[str]:
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [target for target in targets if "://" not in target and not target.startswith("#")]


def test_no_module_is_called_utils() -> None:
    assert [path for path in FILES if re.search("util|helper|misc", path.stem)] == []


def test_every_module_can_be_imported_alone_and_without_a_warning() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", IMPORT_EACH_ALONE, *map(name_of, FILES)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={key: value for key, value in os.environ.items() if not key.startswith("COVERAGE")},
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_only_shim_and_commands_name_parts_of_pip() -> None:
    # Import contracts do not see `import_module("pip...")`, so the texts are looked through.
    naming = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        if not {SOURCE / "shim", SOURCE / "commands"} & {*path.parents}
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"pip($|\._)", node.value)
    ]
    assert naming == []


def test_only_commands_prints() -> None:
    printing = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in FILES
        if SOURCE / "commands" not in path.parents
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []


def test_the_changelog_has_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?{re.escape(pipvariant.__version__)}\b", changelog, re.MULTILINE)


def test_tox_and_the_commit_hooks_run_the_same_releases_of_the_tools() -> None:
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    for tool, section in (("ruff", "lint"), ("mypy", "types")):
        pinned = re.search(rf"{tool}==([\d.]+)", tox[f"testenv:{section}"]["deps"])
        hooked = re.search(rf"{tool}(?:-pre-commit)?\n\s+rev: v([\d.]+)", hooks)
        assert pinned is not None
        assert hooked is not None
        assert pinned[1] == hooked[1]


def test_ci_runs_the_command_that_the_readme_gives() -> None:
    command = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1]
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_between_our_pages_leads_somewhere(page: Path) -> None:
    missing = [
        link for link in local_links(page) if not (page.parent / link.partition("#")[0]).exists()
    ]
    assert missing == []
