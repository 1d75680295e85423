"""Damaged environments: what plain pip survives is survived, and what ends it ends alike."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.environments import PIP_VERSION, Pip, Result
from integration.index import Index
from integration.templates import Template
from integration.wheels import Sdist, Wheel


def metadata(name: str, version: str = "1.0", more: str = "") -> str:
    return f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"


# Path in the environment -> content; None is a folder.
SURVIVED: Mapping[str, str | bytes | None] = {
    "odd-2010i.dist-info/METADATA": metadata("odd", "2010i"),
    "no_version-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: no-version\n",
    "egg-1.0.egg-info/PKG-INFO": metadata("egg"),
    "file-1.0-py3.egg-info": metadata("file"),
    "requires-1.0.dist-info/METADATA": metadata("requires", more="Requires-Dist: no ( thing\n"),
    "marker-1.0.dist-info/METADATA": metadata("marker", more="Requires-Dist: a; variant_x ~ (\n"),
    "twice-1.0.dist-info/METADATA": metadata("twice"),
    "twice-2.0.dist-info/METADATA": metadata("twice", "2.0"),
    "~eft-1.0.dist-info/METADATA": metadata("left"),
    "~ip/__init__.py": "",
    "broken-1.0.dist-info/METADATA": metadata("broken"),
    "broken-1.0.dist-info/RECORD": b"\xff\0",
    "broken-1.0.dist-info/variants.json": b"\xff",
    "broken-1.0.dist-info/direct_url.json": "{",
    "folders-1.0.dist-info/METADATA": metadata("folders"),
    "folders-1.0.dist-info/variant.json": None,
    "folders-1.0.dist-info/direct_url.json": None,
}
# Up to 24.1 pip reads names in METADATA only.
NAMELESS: Mapping[str, str | bytes | None] = {
    "no_file-1.0.dist-info/RECORD": "",
    "no_text-1.0.dist-info/METADATA": "",
    "no_name-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nVersion: 1.0\n",
    "nothing-1.0.dist-info": None,
    "nameless.dist-info": None,
}
if PIP_VERSION >= (24, 2):
    SURVIVED = {**SURVIVED, **NAMELESS}
# These end several commands of plain pip, so nothing that is installed comes after them.
ENDING: Mapping[str, str | bytes | None] = {
    "latin-1.0.dist-info/METADATA": metadata("latin", more="Author: José\n").encode("latin-1"),
    "latin-1.0.dist-info/variant.json": "{",
    "url-1.0.dist-info/METADATA": metadata("url"),
    "url-1.0.dist-info/direct_url.json": "[1]",
    "zero-1.0-py3.egg-info": b"\xff\0",
}
# Told of by us, and by nobody else.
UNKNOWN = {"unknown-2010i.dist-info/METADATA": metadata("unknown", "2010i")}
UNKNOWN["unknown-2010i.dist-info/variant.json"] = "{"

COMMANDS = (
    *("list", "list --format=json", "list --outdated", "freeze", "inspect", "check"),
    "show odd no-name no-file egg twice broken latin",
    *("install --dry-run --quiet --report - fresh", "install fresh", "uninstall -y fresh"),
    *("install -U twice", "install -U broken"),
    *(["lock -o - fresh"] if PIP_VERSION >= (25, 1) else []),
)


@pytest.fixture
def other(template: Template, tmp_path: Path, index: Index) -> Pip:
    """A second machine, for plain pip."""
    return Pip(template, tmp_path / "other", index.url, forks=True)


def damage(pip: Pip, files: Mapping[str, str | bytes | None]) -> None:
    for name, content in files.items():
        path = pip.site / name
        path.parent.mkdir(exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def outcome(result: Result, pip: Pip) -> tuple[int, str, list[str]]:
    """Exit code, stdout and stderr, without what no two runs have in common.

    The order of stderr is left out: pip tells of its backend where it is asked for it first.
    """
    out, err = (
        re.sub(r"(pip-[a-z-]+-|size=|sha256=|directory: )\S+", r"\1", text)
        for text in (text.replace(str(pip.root), "ROOT") for text in (result.stdout, result.stderr))
    )
    if "Traceback" in err:
        err = re.sub(r"(?m)^(  File .*|    .*)\n", "", err)
    return result.code, out, sorted(err.splitlines())


@pytest.mark.parametrize(
    ("files", "environ"),
    (
        pytest.param(SURVIVED, {}, marks=pytest.mark.every_pip),
        (SURVIVED, {"_PIP_USE_IMPORTLIB_METADATA": "0"}),
        ({**NAMELESS, **ENDING}, {}),
    ),
    ids=("survived", "pkg_resources", "ending"),
)
def test_every_command_ends_as_plain_pips(
    pip: Pip, other: Pip, index: Index, files: Mapping[str, Any], environ: dict[str, str]
) -> None:
    index.add(Wheel("fresh"), Wheel("twice", "3.0"), Wheel("broken", "3.0"))
    for machine in (pip, other):
        damage(machine, files)
    for command in COMMANDS:
        ours = outcome(pip.variant(*command.split(), environ=environ), pip)
        assert ours == outcome(other.plain(*command.split(), environ=environ), other), command
    damage(pip, UNKNOWN)
    for command in ("list", "check"):
        result = pip.variant("variant", command, environ=environ).check()
        assert "Traceback" not in result.output
        assert result.lines_with("unknown") or result.lines_with("Only a part of")


def test_a_source_distribution_is_built_as_plain_pip_does(
    pip: Pip, other: Pip, index: Index
) -> None:
    index.add(Wheel("tool"))
    sdist = Sdist(Wheel("made"), build_requires=("tool",))
    for machine in (pip, other):
        damage(machine, SURVIVED)
        (machine.work / sdist.filename).write_bytes(sdist.content)
    caches = [
        {"PIP_NO_CACHE_DIR": "", "PIP_CACHE_DIR": str(each.root / "c")} for each in (pip, other)
    ]
    # Without isolation the build sees what is damaged.
    bare = "--no-build-isolation"
    for command in ("download -d to", f"wheel -w to {bare}", f"install {bare}"):
        args = (*command.split(), f"./{sdist.filename}")
        ours = outcome(pip.variant(*args, environ=caches[0]), pip)
        assert ours == outcome(other.plain(*args, environ=caches[1]), other), command
    assert (pip.site / "made.py").exists()
