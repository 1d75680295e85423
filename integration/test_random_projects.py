"""Of hundreds of random projects, the file that is chosen is the one that the model chooses."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle
from typing import Any
from urllib.parse import unquote

import pytest
from pip._internal.utils.compatibility_tags import get_supported

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.model import choose
from integration.projects import MACHINES, Machine, Project, make, publish
from pipvariant.shim.core.pip_versions import NEWEST

SEED = 1
# All of them with the newest pip; the others get the first of the same ones.
COUNT = 300 if PIP_VERSION == NEWEST else 60
PYTHON = f"cp{sys.version_info[0]}{sys.version_info[1]}"
PROJECTS = make(SEED, COUNT, PYTHON)
TAGS = [str(tag) for tag in get_supported()]


def projects_for(machine: Machine) -> list[Project]:
    """Each project is installed on one machine."""
    return PROJECTS[MACHINES.index(machine) :: len(MACHINES)]


@pytest.fixture(params=MACHINES, ids=lambda machine: str(machine.name))
def machine(request: pytest.FixtureRequest) -> Machine:
    chosen: Machine = request.param
    return chosen


@pytest.fixture
def index(machine: Machine) -> Iterator[Index]:
    """All projects of a machine; every other index can send parts of files."""
    with Index(ranges=bool(MACHINES.index(machine) % 2), metadata_files=True) as server:
        publish(server, projects_for(machine))
        yield server


def chosen_files(pip: Pip, machine: Machine, requirements: Sequence[str]) -> set[str]:
    """The names of the files that a dry run reports."""
    args = ("--no-deps", *machine.args, *requirements)
    report = pip.report(*args, driver=machine.driver, environ=machine.environ)
    urls = [str(entry["download_info"]["url"]) for entry in report["install"]]
    return {unquote(url.rpartition("/")[2]) for url in urls}


def test_the_file_is_the_one_that_the_model_chooses(pip: Pip, machine: Machine) -> None:
    chosen = {one.requirement: choose(one, machine, TAGS) for one in projects_for(machine)}
    expected = {filename for filename in chosen.values() if filename is not None}
    requirements = [requirement for requirement, filename in chosen.items() if filename]
    assert chosen_files(pip, machine, requirements) == expected


def test_nothing_is_installed_where_the_model_finds_nothing(pip: Pip, machine: Machine) -> None:
    for project in projects_for(machine):
        if choose(project, machine, TAGS) is not None:
            continue
        args = ("install", "--no-deps", *machine.args, project.requirement)
        result = pip.variant(*args, driver=machine.driver, environ=machine.environ)
        assert result.code == 1, project
        assert result.lines_with("No matching distribution found for", project.name), project
        assert pip.installed() == {}


def test_the_same_seed_makes_the_same_projects() -> None:
    again = make(SEED, 10, PYTHON)
    assert again == PROJECTS[:10]
    assert [file.artefact.content for file in again[0].releases[0].files] == [
        file.artefact.content for file in PROJECTS[0].releases[0].files
    ]


@pytest.mark.parametrize(
    ("table", "key"),
    (
        ("default-priorities", "feature"),
        ("default-priorities", "property"),
        ("providers", "enable-if"),
        ("providers", "feature-order"),
        ("providers", "optional"),
    ),
)
def test_each_key_decides_in_some_project(table: str, key: str) -> None:
    def without(project: Project) -> Project:
        releases = [replace(one, says=_without(one.says, table, key)) for one in project.releases]
        return replace(project, releases=tuple(releases))

    projects = list(zip(make(SEED, 300, PYTHON), cycle(MACHINES)))
    assert [
        project.name
        for project, machine in projects
        if choose(project, machine, TAGS) != choose(without(project), machine, TAGS)
    ]


def _without(says: Mapping[str, Any] | None, table: str, key: str) -> Mapping[str, Any] | None:
    if says is None or table not in says:
        return says
    entries = says[table]
    if table == "providers":
        entries = {
            name: {k: entry[k] for k in entry if k != key} for name, entry in entries.items()
        }
    return {**says, table: {k: entry for k, entry in entries.items() if k != key}}
