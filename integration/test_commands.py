"""Every command that meets variants, and those that must not notice them."""

from __future__ import annotations

import importlib.metadata
import json

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, tri

BEST = "tri-1.0-py3-none-any-cuda12.8.whl"


@pytest.fixture
def with_tri(pip: Pip, index: Index) -> Pip:
    """An environment with a variant of tri in it."""
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    index.log.clear()
    return pip


@pytest.mark.every_pip
def test_a_dry_run_installs_nothing(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "--dry-run", "tri", driver="12.8").check()
    assert "Would install tri-1.0" in result.stdout
    assert pip.installed() == {}


def test_target_gets_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--target", "there", "tri", driver="12.8").check()
    assert pip.label("tri", pip.work / "there") == "cuda12.8"
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_download_keeps_the_label_in_the_name(pip: Pip, index: Index) -> None:
    wheels = tri(requires=("solo",))
    index.add(*wheels, Wheel("solo"))
    pip.variant("download", "-d", "out", "tri", driver="12.8").check()
    found = sorted(path.name for path in (pip.work / "out").iterdir())
    assert found == ["solo-1.0-py3-none-any.whl", BEST]
    assert (pip.work / "out" / BEST).read_bytes() == wheels[1].content


@pytest.mark.every_pip
def test_wheel_collects_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("wheel", "-w", "out", "tri", driver="12.8").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == [BEST]


@pytest.mark.every_pip
def test_what_was_installed_is_recorded(with_tri: Pip) -> None:
    info = with_tri.site / "tri-1.0.dist-info"
    assert "cuda12.8" in json.loads((info / "variant.json").read_text())["variants"]
    assert "tri-1.0.dist-info/variant.json" in (info / "RECORD").read_text()


@pytest.mark.parametrize("command", ("freeze", "list", "show"))
def test_what_is_installed_reads_as_with_plain_pip(with_tri: Pip, command: str) -> None:
    names = ["tri"] if command == "show" else []
    ours = with_tri.variant(command, *names).check()
    plains = with_tri.plain(command, *names).check()
    assert set(plains.stdout.split()) <= set(ours.stdout.split())
    assert "1.0" in ours.stdout


@pytest.mark.every_pip
def test_freeze_gives_what_plain_pip_can_install(with_tri: Pip) -> None:
    frozen = with_tri.variant("freeze").check().stdout
    assert frozen == "tri==1.0\n"
    with_tri.write("frozen.txt", [frozen])
    with_tri.plain("install", "--target", "there", "-r", "frozen.txt").check()
    assert with_tri.installed(with_tri.work / "there") == {"tri": "1.0"}


def test_list_as_json_is_json(with_tri: Pip) -> None:
    (entry,) = json.loads(with_tri.variant("list", "--format", "json").check().stdout)
    assert (entry["name"], entry["version"]) == ("tri", "1.0")


@pytest.mark.effect_of("single_best", "CandidateEvaluator.sort_best_candidate")
def test_list_knows_what_is_outdated(with_tri: Pip, index: Index) -> None:
    index.add(*tri("2.0", plain=False), *tri("3.0", ["13.0"], null=False, plain=False))
    outdated = ("list", "--outdated", "--format", "json")
    (entry,) = json.loads(with_tri.variant(*outdated, driver="12.8").check().stdout)
    assert (entry["name"], entry["latest_version"]) == ("tri", "2.0")


@pytest.mark.every_pip
def test_index_versions_works(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", plain=False))
    result = pip.variant("index", "versions", "tri", driver="12.8").check()
    assert "Available versions: 2.0, 1.0" in result.stdout


@pytest.mark.every_pip
@pytest.mark.parametrize("runner", ("variant", "plain"))
def test_uninstall_leaves_nothing(with_tri: Pip, runner: str) -> None:
    getattr(with_tri, runner)("uninstall", "-y", "tri").check()
    assert with_tri.installed() == {}
    assert not list(with_tri.site.glob("tri*"))


@pytest.mark.parametrize("runner", ("variant", "plain"))
def test_check_is_content(with_tri: Pip, runner: str) -> None:
    result = getattr(with_tri, runner)("check").check()
    assert "No broken requirements found." in result.stdout


@pytest.mark.every_pip
def test_check_finds_what_is_missing(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("solo",)))
    pip.variant("install", "--no-deps", "tri", driver="12.8").check()
    result = pip.variant("check")
    assert result.code == 1
    assert "solo" in result.output


def test_the_version_names_the_pip(pip: Pip) -> None:
    result = pip.variant("--version").check()
    assert f"pip {importlib.metadata.version('pip')} from " in result.stdout


@pytest.mark.parametrize("command", ("install", "download", "wheel", "list", "index"))
def test_help_shows_the_option(pip: Pip, command: str) -> None:
    result = pip.variant("help", command).check()
    assert "--no-variant" in result.stdout
    assert "--no-variant" in pip.variant(command, "--help").check().stdout


def test_help_without_a_command_lists_the_commands(pip: Pip) -> None:
    ours = pip.variant("help").check().stdout
    _, _, plains = pip.plain("help").check().stdout.partition("Commands:")
    assert [line for line in plains.splitlines() if line not in ours] == []


def test_completion_prints_a_script(pip: Pip) -> None:
    assert "COMP_WORDS" in pip.variant("completion", "--bash").check().stdout


@pytest.mark.every_pip
def test_completion_knows_the_option(pip: Pip) -> None:
    words = {
        "PIP_AUTO_COMPLETE": "1",
        "COMP_WORDS": "pip-variant install --no-v",
        "COMP_CWORD": "2",
    }
    assert pip.variant(environ=words).stdout.split() == ["--no-variant"]


def test_a_command_that_is_not_there_is_an_error(pip: Pip) -> None:
    ours, plains = pip.variant("instal"), pip.plain("instal")
    assert (ours.code, ours.stderr) == (plains.code, plains.stderr)


@pytest.mark.every_pip
def test_the_plain_pip_of_the_environment_stays_plain(with_tri: Pip) -> None:
    with_tri.plain("install", "--force-reinstall", "tri", driver="12.8").check()
    assert with_tri.build("tri") == ("1.0", "")
