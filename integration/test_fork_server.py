"""A forked run is a started run: the same exit code, words, files and requests."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.templates import Template
from integration.wheels import Sdist, Wheel, cuda, release, tri

# Each is run in order, in one machine by starts and in another one by forks. The first word of
# a command is `plain`, `backend` (plain, with the other backend for metadata) or the driver that
# pip-variant is told of.
INSTALLS = (
    "12.8 install tri",
    "12.8 list",
    "12.8 list --format json",
    "12.8 inspect",
    "12.8 freeze",
    "12.8 check",
    "12.8 variant list",
    "12.4 variant check",
    "12.8 install tri",
    "13.0 install --upgrade-variant tri",
    "13.0 install --force-reinstall --verbose tri",
    "plain check",
    "backend list",
    "backend inspect",
    "plain list",
    "12.8 uninstall --yes tri solo",
    "12.8 uninstall --yes tri",
)
PLACES = (
    "12.8 install --target there tri",
    "12.8 install --prefix there tri",
    "12.8 install --report report.json --dry-run needs[more]",
    "12.8 install --quiet --requirement requirements.txt --constraint constraints.txt",
    "12.8 install --no-variant --ignore-installed tri",
    "12.8 download --dest wheels tri",
    "12.8 download --dest wheels --no-binary :all: made",
    "12.8 wheel --wheel-dir wheels needs",
    "12.8 install --no-index --find-links wheels tri",
    "plain install --force-reinstall wheels/tri-1.0-py3-none-any-cuda12.8.whl",
    "plain cache list",
    "plain debug",
)
WORDS = (
    "12.8 --version",
    "12.8",
    "12.8 config list",
    "12.8 config --user set global.timeout 7",
    "12.8 config list",
    "12.8 completion --bash",
    "12.8 index versions tri",
    "12.8 variant platform --json",
    "12.4 variant explain tri",
    "12.4 variant explain --json tri needs",
    "12.8 variant lint wheels",
    "12.8 install absent",
    "12.8 install --variant tri=absent tri",
    "twelve install tri",
    "12.8 variant dance",
    "plain install absent",
    "plain dance",
)


def test_a_sample_is_large_enough() -> None:
    assert len({*INSTALLS, *PLACES, *WORDS}) >= 40


@pytest.mark.parametrize(
    "commands",
    (
        pytest.param(INSTALLS, id="installs"),
        pytest.param(PLACES, id="places"),
        pytest.param(WORDS, id="words"),
    ),
)
def test_a_forked_run_is_a_started_one(
    template: Template, tmp_path: Path, index: Index, commands: Sequence[str]
) -> None:
    index.add(*tri(), Wheel("solo"), Sdist(Wheel("made")))
    index.add(Wheel("needs", requires=("solo", "tri; extra == 'more'"), extras=("more",)))
    index.add(*release("blas", labels={"cuda": (cuda("12.6"),)}, requires=("solo",)))
    started, forked = (
        list(_outcomes(Pip(template, tmp_path / name, index.url, forks=forks), index, commands))
        for name, forks in (("started", False), ("forked", True))
    )
    for command, one, other in zip(commands, started, forked):
        different = {key for key in {*one, *other} if one.get(key) != other.get(key)}
        shown = [(key, one.get(key), other.get(key)) for key in sorted(different)]
        assert (command, shown) == (command, [])


@pytest.mark.effect_of("child_pip", "build_env.installer:get_runnable_pip")
def test_a_build_sees_the_best_label_where_its_pip_was_imported_before(
    pip: Pip, index: Index
) -> None:
    probe = "__import__('tri').LABEL"
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=probe))
    pip.variant("install", "made", driver="12.8").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'cuda12.8'\n"


def test_what_an_environment_does_at_each_start_is_done(
    template: Template, tmp_path: Path, index: Index
) -> None:
    said = []
    for forks in (False, True):
        pip = Pip(template, tmp_path / str(forks), index.url, forks=forks)
        for name in ("said.pth", "sitecustomize.py"):
            (pip.site / name).write_text(f"import sys; sys.stderr.write('{name} ')\n")
        said.append(pip.plain("--version").check().stderr.split())
    assert said[0][-2:] == ["said.pth", "sitecustomize.py"]
    assert said[1] == said[0]


def _outcomes(pip: Pip, index: Index, commands: Sequence[str]) -> Iterator[dict[str, object]]:
    pip.write("requirements.txt", ["tri", "blas", "# pip-variant: --variant tri=cuda12.6"])
    pip.write("constraints.txt", ["solo==1.0"])
    for command in commands:
        how, *args = command.split()
        before = len(index.log)
        # A wide terminal, or pip breaks lines where a path ends.
        environ = {"COLUMNS": "999"}
        if how == "backend":
            environ["_PIP_USE_IMPORTLIB_METADATA"] = str(int(sys.version_info < (3, 11)))
        if how in ("plain", "backend"):
            result = pip.plain(*args, environ=environ)
        else:
            result = pip.variant(*args, driver=how, environ=environ)
        yield {
            "exit code": result.code,
            "stdout": _without_places(pip, result.stdout),
            "stderr": _without_places(pip, result.stderr),
            "requests": [request._replace(port=0) for request in index.log[before:]],
            **dict(_files(pip)),
        }


def _files(pip: Pip) -> Iterator[tuple[str, object]]:
    for path in pip.root.rglob("*"):
        content: object = path.is_dir()
        if path.suffix in (".whl", ".gz"):
            content = path.stat().st_size
        elif path.is_file() and not path.is_symlink():
            text = path.read_bytes().decode("utf-8", "surrogateescape")
            content = (path.stat().st_mode, _without_places(pip, text))
        yield _without_places(pip, f"/{path.relative_to(pip.root)}"), content


def _without_places(pip: Pip, text: str) -> str:
    """The text without what is another one in every machine and every run."""
    text = text.replace(str(pip.root), "MACHINE")
    return re.sub(r"\bpip-(?!variant)([a-z-]+)-\w{8}\b", r"pip-\1-RANDOM", text)
