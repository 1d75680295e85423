"""What is installed: kept, named, replaced when the user asks for it, listed and checked."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from integration.environments import PIP_VERSION, Pip, Result
from integration.index import Index
from integration.wheels import NVIDIA, Sdist, Wheel, cuda, release, tri

BOUND = "cuda_version_lower_bound"
UPGRADE = ("install", "--upgrade-variant")
MISFIT = "tri 1.0: cuda12.6 needs CUDA driver >= 12.6, this machine has 12.4"
TAKES = "`pip-variant install --upgrade-variant tri==1.0` takes the null variant"
JSON_NAME = "tri-1.0-variants.json"
# Where builds prepare their environment in another process, and where they can do it in this one.
BUILDS = ((), ("--use-feature=inprocess-build-deps",)) if PIP_VERSION >= (26, 0) else ((),)


@pytest.fixture
def with_old(pip: Pip, index: Index) -> Pip:
    """An environment with cuda12.6 of tri, where the driver was too old for cuda12.8."""
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")
    index.log.clear()
    return pip


# Kept.


@pytest.mark.effect_of("kept_variants", "resolvelib.resolver:Resolver.resolve")
def test_a_second_install_asks_nothing_and_shows_the_label(with_old: Pip, index: Index) -> None:
    result = with_old.variant("install", "tri", driver="13.0").check()
    assert index.requests == []
    assert result.lines_with("Requirement already satisfied: tri")
    assert "tri 1.0: already installed as variant cuda12.6" in result.stdout.splitlines()


def test_null_is_named_with_the_way_to_a_better_one(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.4").check()
    index.log.clear()
    result = pip.variant("install", "tri", driver="12.8").check()
    assert result.lines_with("tri 1.0: already installed as null variant")
    assert result.lines_with("tri 1.0: variant cuda12.8 would fit better", "--upgrade-variant")
    assert index.requests == []
    assert pip.label("tri") == "null"


@pytest.mark.every_pip
def test_only_what_the_user_named_is_named(with_old: Pip, index: Index) -> None:
    index.add(Wheel("user", requires=("tri",)))
    result = with_old.variant("install", "user", driver="12.6").check()
    assert "already installed as" not in result.output


def test_a_non_variant_install_is_not_spoken_of(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    pip.variant("install", "solo").check()
    ours, plains = pip.variant("install", "solo").check(), pip.plain("install", "solo").check()
    assert ours.output == plains.output


def test_no_variant_says_what_plain_pip_says(with_old: Pip) -> None:
    ours = with_old.variant("install", "--no-variant", "tri").check()
    assert ours.output == with_old.plain("install", "tri").check().output


@pytest.mark.effect_of("kept_variants", "legacy.resolver:Resolver.resolve")
def test_the_legacy_resolver_shows_the_label_too(with_old: Pip) -> None:
    legacy = ("install", "--use-deprecated=legacy-resolver", "tri")
    assert with_old.variant(*legacy, driver="12.8").check().lines_with("as variant cuda12.6")


# Replaced.


@pytest.mark.effect_of(
    "installed_candidate", "FoundCandidates.__init__", "Factory.get_dist_to_uninstall"
)
def test_a_better_label_of_the_same_version_is_taken(with_old: Pip, index: Index) -> None:
    result = with_old.variant(*UPGRADE, "tri", driver="12.8").check()
    assert with_old.build("tri") == ("1.0", "cuda12.8")
    assert "tri 1.0: variant cuda12.8 replaces variant cuda12.6" in result.stdout.splitlines()
    assert f"tri 1.0: variant cuda12.8 (nvidia :: {BOUND} :: 12.8)" in result.stdout
    assert [path.name for path in with_old.site.glob("tri-*")] == ["tri-1.0.dist-info"]
    assert len(index.requests_for(".json")) == 1


def test_the_best_label_stays_and_nothing_is_downloaded(with_old: Pip, index: Index) -> None:
    result = with_old.variant(*UPGRADE, "tri", driver="12.6").check()
    assert with_old.label("tri") == "cuda12.6"
    assert index.requests == ["GET /simple/tri/", f"GET /files/{JSON_NAME}"]
    assert "tri 1.0: already installed as variant cuda12.6" in result.stdout.splitlines()


@pytest.mark.parametrize("driver", (None, "12.4"))
def test_a_label_that_no_longer_fits_gives_way(with_old: Pip, driver: str | None) -> None:
    result = with_old.variant(*UPGRADE, "tri", driver=driver).check()
    assert with_old.label("tri") == "null"
    assert result.lines_with("tri 1.0: null variant replaces variant cuda12.6")


@pytest.mark.every_pip
def test_a_label_that_no_longer_fits_gives_way_to_a_plain_wheel(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant(*UPGRADE, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")


def test_a_label_that_no_longer_fits_stays_where_nothing_does(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False, plain=False))
    pip.variant("install", "tri", driver="12.6").check()
    result = pip.variant(*UPGRADE, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")
    assert result.warnings == [f"WARNING: {MISFIT}"]


@pytest.mark.every_pip
@pytest.mark.parametrize("null", (True, False))
def test_a_non_variant_build_gives_way_to_a_label(pip: Pip, index: Index, null: bool) -> None:
    index.add(*tri(null=null))
    pip.plain("install", "tri").check()
    result = pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.lines_with("variant cuda12.8 replaces the non-variant build")


def test_a_non_variant_build_stays_where_no_label_fits(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False))
    pip.plain("install", "tri").check()
    index.log.clear()
    pip.variant(*UPGRADE, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")
    assert index.requests_for(".whl") == []


def test_a_project_without_variants_is_left_alone(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    pip.variant("install", "solo").check()
    index.log.clear()
    result = pip.variant(*UPGRADE, "solo", driver="12.8").check()
    assert index.requests == ["GET /simple/solo/"]
    assert "replaces" not in result.output


@pytest.mark.every_pip
def test_a_dry_run_agrees(with_old: Pip) -> None:
    result = with_old.variant(*UPGRADE, "--dry-run", "tri", driver="12.8").check()
    assert "Would install tri-1.0" in result.stdout
    assert result.lines_with("tri 1.0: variant cuda12.8 replaces variant cuda12.6")
    assert with_old.label("tri") == "cuda12.6"
    again = with_old.variant(*UPGRADE, "--dry-run", "tri", driver="12.6").check()
    assert "Would install" not in again.stdout


@pytest.mark.every_pip
def test_the_report_holds_what_is_replaced(with_old: Pip) -> None:
    (item,) = with_old.report("--upgrade-variant", "tri", driver="12.8")["install"]
    assert item["variant"]["label"] == "cuda12.8"
    assert with_old.report("--upgrade-variant", "tri", driver="12.6")["install"] == []


@pytest.mark.every_pip
def test_without_upgrade_a_newer_version_is_not_taken(with_old: Pip, index: Index) -> None:
    index.add(*tri("2.0"))
    with_old.variant(*UPGRADE, "tri", driver="12.8").check()
    assert with_old.build("tri") == ("1.0", "cuda12.8")
    assert index.requests_for("tri-2.0-variants.json") == []


@pytest.mark.every_pip
def test_with_upgrade_a_newer_version_comes_first(with_old: Pip, index: Index) -> None:
    index.add(*tri("2.0"))
    with_old.variant(*UPGRADE, "-U", "tri", driver="12.8").check()
    assert with_old.build("tri") == ("2.0", "cuda12.8")
    assert index.requests_for(JSON_NAME) == []


@pytest.mark.every_pip
@pytest.mark.parametrize("options", ((), ("-U",)))
def test_with_upgrade_the_newest_version_gets_its_best_label(
    with_old: Pip, index: Index, options: tuple[str, ...]
) -> None:
    index.add(*tri("0.9"))
    with_old.variant(*UPGRADE, *options, "tri", driver="12.8").check()
    assert with_old.build("tri") == ("1.0", "cuda12.8")
    with_old.variant(*UPGRADE, *options, "tri", driver="12.8").check()
    assert with_old.build("tri") == ("1.0", "cuda12.8")
    assert index.requests_for("tri-0.9-variants.json") == []


@pytest.mark.every_pip
def test_a_version_that_the_index_does_not_have_stays(pip: Pip, index: Index) -> None:
    index.add(*tri("1.5"))
    pip.variant("install", "tri", driver="12.6").check()
    index.unlist("tri-1.5-variants.json")
    for wheel in tri("1.5"):
        index.unlist(wheel.filename)
    index.add(*tri("1.0"))
    for options in ((), ("-U",)):
        pip.variant(*UPGRADE, *options, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.5", "cuda12.6")


@pytest.mark.every_pip
def test_a_dependency_is_not_replaced_as_a_side_effect(with_old: Pip, index: Index) -> None:
    index.add(Wheel("user", requires=("tri",)))
    with_old.variant(*UPGRADE, "user", driver="13.0").check()
    assert with_old.build("user") == ("1.0", "")
    with_old.variant(*UPGRADE, "-U", "user", driver="13.0").check()
    assert with_old.label("tri") == "cuda12.6"


@pytest.mark.every_pip
def test_the_eager_strategy_replaces_dependencies(with_old: Pip, index: Index) -> None:
    index.add(Wheel("user", requires=("tri",)))
    eager = ("--upgrade-strategy", "eager")
    with_old.variant(*UPGRADE, *eager, "user", driver="13.0").check()
    assert with_old.label("tri") == "cuda13.0"


def test_what_is_named_and_a_dependency_is_replaced(with_old: Pip, index: Index) -> None:
    index.add(Wheel("user", requires=("tri",)))
    with_old.variant(*UPGRADE, "user", "tri", driver="13.0").check()
    assert with_old.label("tri") == "cuda13.0"


@pytest.mark.parametrize("spelling", ("Tri", "tri==1.0", "tri>=1,<2", "tri[more]"))
def test_however_the_user_names_it(pip: Pip, index: Index, spelling: str) -> None:
    same: dict[str, Any] = {"extras": ("more",), "requires": ('solo; extra == "more"',)}
    index.add(*tri(**same), Wheel("solo"))
    pip.variant("install", spelling, driver="12.6").check()
    pip.variant(*UPGRADE, spelling, driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert ("solo" in pip.installed()) == ("more" in spelling)


@pytest.mark.every_pip
def test_requirements_files_and_constraints_name_it_or_do_not(with_old: Pip, index: Index) -> None:
    index.add(Wheel("user", requires=("tri",)))
    constraints = with_old.write("constraints.txt", ["tri==1.0"])
    with_old.variant(*UPGRADE, "-c", constraints, "user", driver="13.0").check()
    assert with_old.label("tri") == "cuda12.6"
    requirements = with_old.write("requirements.txt", ["tri"])
    with_old.variant(*UPGRADE, "-r", requirements, driver="13.0").check()
    assert with_old.label("tri") == "cuda13.0"


def test_the_environment_can_ask_for_it(with_old: Pip) -> None:
    ask = {"PIP_UPGRADE_VARIANT": "1"}
    with_old.variant("install", "tri", driver="12.8", environ=ask).check()
    assert with_old.label("tri") == "cuda12.8"
    assert with_old.variant("list", environ=ask).check().lines_with("tri")


def test_no_variant_wins(with_old: Pip) -> None:
    with_old.variant(*UPGRADE, "--no-variant", "tri", driver="12.8").check()
    assert with_old.label("tri") == "cuda12.6"


@pytest.mark.every_pip
def test_an_impossible_better_label_leaves_the_installed_one(pip: Pip, index: Index) -> None:
    older, newer, *rest = tri()
    index.add(older, replace(newer, requires=("nowhere",)), *rest)
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_a_conflict_with_a_better_label_leaves_the_installed_one(pip: Pip, index: Index) -> None:
    older, newer, *rest = tri()
    index.add(older, replace(newer, requires=("solo<2",)), *rest, Wheel("solo", "1.0"))
    index.add(Wheel("solo", "2.0"))
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant(*UPGRADE, "tri", "solo==2.0", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")
    assert pip.build("solo") == ("2.0", "")


def test_a_folder_replaces_like_an_index(with_old: Pip) -> None:
    folder = with_old.work / "wheels"
    folder.mkdir()
    for wheel in tri():
        (folder / wheel.filename).write_bytes(wheel.content)
    links = ("--no-index", "--find-links", str(folder))
    with_old.variant(*UPGRADE, *links, "tri", driver="12.8").check()
    assert with_old.label("tri") == "cuda12.8"


@pytest.mark.every_pip
def test_only_allowed_hashes_replace(with_old: Pip, index: Index) -> None:
    digest = hashlib.sha256(tri()[0].content).hexdigest()
    requirements = with_old.write("requirements.txt", [f"tri==1.0 --hash=sha256:{digest}"])
    with_old.variant(*UPGRADE, "-r", requirements, driver="12.8").check()
    assert with_old.label("tri") == "cuda12.6"


def test_a_label_of_another_source_that_fits_stays(pip: Pip, index: Index) -> None:
    mine = release("tri", labels={"mine": (cuda("12.2"),)}, plain=False)[0]
    (pip.work / mine.filename).write_bytes(mine.content)
    pip.variant("install", f"./{mine.filename}", driver="12.8").check()
    index.add(*tri())
    result = pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert pip.label("tri") == "mine"
    assert result.lines_with("tri 1.0: variant mine is kept; it fits, and", "does not know it")
    pip.variant(*UPGRADE, "tri").check()
    assert pip.label("tri") == "null"


def test_a_label_that_nobody_can_judge_stays(pip: Pip, index: Index) -> None:
    provider = {"static-properties": {"library": ["mkl", "openblas"]}}
    labels = {"mkl": ("blas :: library :: mkl",), "openblas": ("blas :: library :: openblas",)}
    wheels = release("tri", labels=labels, providers={"blas": provider}, plain=False)
    index.add(wheels[1])
    pip.variant("install", "tri").check()
    info = pip.site / "tri-1.0.dist-info" / "variant.json"
    written = json.loads(info.read_text())
    written["providers"]["blas"] = {"requires": ["blas-provider"]}
    info.write_text(json.dumps(written))
    index.add(*wheels)
    result = pip.variant(*UPGRADE, "tri").check()
    assert pip.label("tri") == "openblas"
    assert result.lines_with("tri 1.0: variant openblas is kept", "blas-provider", "not trusted")


def test_a_broken_variant_json_is_replaced(with_old: Pip) -> None:
    (with_old.site / "tri-1.0.dist-info" / "variant.json").write_text("{")
    kept = with_old.variant("install", "tri", driver="12.8").check()
    assert kept.lines_with("tri 1.0: already installed as a variant that is not known")
    result = with_old.variant(*UPGRADE, "tri", driver="12.8").check()
    assert with_old.label("tri") == "cuda12.8"
    assert result.lines_with("variant cuda12.8 replaces a variant that is not known")


@pytest.mark.every_pip
def test_what_was_built_from_a_folder_stays(pip: Pip, index: Index) -> None:
    plain = tri()[-1]
    archive = pip.work / "tri.tar.gz"
    archive.write_bytes(Sdist(plain).content)
    pip.run(["-c", "import tarfile; tarfile.open('tri.tar.gz').extractall()"]).check()
    pip.variant("install", "--no-build-isolation", "./tri-1.0").check()
    index.add(*tri())
    pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")


def test_a_label_for_what_comes_with_it_is_taken(pip: Pip, index: Index) -> None:
    builtin = {"abi_dependency": {"builtin": "abi_dependency"}}
    labels = {f"torch2{n}": (f"abi_dependency :: torch :: 2.{n}",) for n in (7, 8, 9)}
    index.add(*(Wheel("torch", version) for version in ("2.7.1", "2.8.0", "2.9.1")))
    index.add(*release("ext", labels=labels, providers=builtin))
    pip.variant("install", "ext", "torch==2.8.0").check()
    assert pip.label("ext") == "torch28"
    pip.variant(*UPGRADE, "ext").check()
    assert pip.label("ext") == "torch28"
    for version in ("2.9.1", "2.7.1"):
        pip.variant(*UPGRADE, "ext", f"torch=={version}").check()
        assert pip.build("ext") == ("1.0", f"torch{version[0]}{version[2]}")
        assert pip.installed()["torch"] == version
    checked = pip.variant("variant", "check", "--json").check()
    assert [entry["fits"] for entry in json.loads(checked.stdout)] == [True]
    pip.plain("install", "--no-deps", "torch==2.8.0").check()
    result = pip.variant("variant", "check")
    assert result.code == 1
    assert result.lines_with("ext 1.0: torch27 needs abi_dependency :: torch :: 2.7")


def test_a_better_label_of_another_namespace_is_taken(pip: Pip, index: Index) -> None:
    blas = {"static-properties": {"library": ["mkl"]}}
    labels = {"mkl": ("blas :: library :: mkl",), "cuda": (cuda("12.6"),), "null": ()}
    index.add(*release("tri", labels=labels, providers={"nvidia": NVIDIA, "blas": blas}))
    pip.variant("install", "tri").check()
    assert pip.label("tri") == "mkl"
    pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda"


@pytest.mark.parametrize("driver", ("12.6", "12.8"))
@pytest.mark.parametrize("options", BUILDS)
def test_a_build_gets_its_own_copy_all_the_same(
    with_old: Pip, index: Index, options: tuple[str, ...], driver: str
) -> None:
    probe = "__import__('tri').LABEL"
    index.add(Sdist(Wheel("made"), build_requires=("tri==1.0",), probe=probe))
    with_old.variant(*UPGRADE, *options, "tri", "made", driver=driver).check()
    assert with_old.label("tri") == f"cuda{driver}"
    assert (with_old.site / "built_with.py").read_text() == f"FOUND = 'cuda{driver}'\n"


@pytest.mark.every_pip
def test_the_legacy_resolver_refuses_the_option(with_old: Pip) -> None:
    legacy = "--use-deprecated=legacy-resolver"
    result = with_old.variant(*UPGRADE, legacy, "tri", driver="12.8")
    assert result.code == 1
    assert "--upgrade-variant is not possible with" in result.stderr
    assert with_old.label("tri") == "cuda12.6"


@pytest.mark.parametrize("command", ("download", "wheel", "list", "index"))
def test_only_install_has_the_option(pip: Pip, command: str) -> None:
    assert "--upgrade-variant" in pip.variant("install", "--help").check().stdout
    assert "--upgrade-variant" not in pip.variant(command, "--help").check().stdout


# What is said of it works as printed.


def printed_command(result: Result) -> list[str]:
    """The arguments of the one command that was printed."""
    (command,) = re.findall("`pip-variant (.*)`", result.output)
    return list(command.split())


@pytest.mark.parametrize(
    ("version", "yanked"), (("1.0", None), ("2.1.dev5", None), ("2.1+gpu", None), ("2.1", "broken"))
)
def test_the_printed_command_takes_the_better_label(
    pip: Pip, index: Index, version: str, yanked: str | None
) -> None:
    index.add(*tri(version), yanked=yanked)
    index.add(*tri("0.9"))
    pip.variant("install", f"tri=={version}").check()
    result = pip.variant("install", "tri", driver="12.8").check()
    assert result.lines_with(f"tri {version}: variant cuda12.8 would fit better now; `pip-variant")
    pip.variant(*printed_command(result), driver="12.8").check()
    assert pip.build("tri") == (version, "cuda12.8")


def test_a_label_that_no_longer_fits_is_a_warning_with_the_command(with_old: Pip) -> None:
    result = with_old.variant("install", "-q", "tri", driver="12.4").check()
    assert result.output.splitlines() == [f"WARNING: {MISFIT}; {TAKES}"]
    checked = with_old.variant("variant", "check", driver="12.4")
    assert printed_command(checked) == printed_command(result)
    with_old.variant(*printed_command(checked), driver="12.4").check()
    assert with_old.label("tri") == "null"


ABSENT = "no file of 2.1.dev5 is on the index for this machine"
LEFT_OUT = "2.1.dev5 is a pre-release, and left out without --pre or `tri==2.1.dev5`"
YANKED = "2.1.dev5 is yanked, and left out without `tri==2.1.dev5`"


@pytest.mark.parametrize("why", (LEFT_OUT, YANKED, ABSENT))
@pytest.mark.every_pip
def test_an_installed_version_that_pip_leaves_out_is_not_kept_or_lowered_in_silence(
    pip: Pip, index: Index, why: str
) -> None:
    newer = tri("2.1.dev5")
    index.add(*newer, *tri("2.0"))
    pip.variant("install", "--pre", "tri").check()
    if why == YANKED:
        index.add(*newer, yanked="broken")
    if why == ABSENT:
        for name in (*(wheel.filename for wheel in newer), "tri-2.1.dev5-variants.json"):
            index.unlist(name)
    kept = pip.variant(*UPGRADE, "tri", driver="12.8").check()
    assert kept.lines_with(f"tri 2.1.dev5: null variant is kept, as {why}")
    assert pip.build("tri") == ("2.1.dev5", "null")
    label = ("install", "--variant", "tri=cuda12.8")
    lowered = pip.variant(*label, "tri", driver="12.8").check()
    text = f"WARNING: tri: version 2.0 replaces 2.1.dev5, which is newer, as {why}"
    assert (lowered.warnings, pip.build("tri")) == ([text], ("2.0", "cuda12.8"))
    if why != ABSENT:
        pip.variant(*label, "tri==2.1.dev5", driver="12.8").check()
        assert pip.build("tri") == ("2.1.dev5", "cuda12.8")


def test_an_older_version_for_the_sake_of_a_label_is_a_warning(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", ["13.0"]))
    pip.variant("install", "tri", driver="12.8").check()
    required = ("install", "--require-variant", "tri=nvidia", "tri")
    result = pip.variant(*required, driver="12.8").check()
    assert result.warnings == ["WARNING: tri: version 1.0 replaces 2.0, which is newer"]
    assert not pip.variant(*required, driver="12.8").check().warnings


# Listed, checked, frozen, removed.


def test_freeze_stays_name_and_version(with_old: Pip) -> None:
    assert with_old.variant("freeze").check().stdout == "tri==1.0\n"
    assert with_old.plain("freeze").check().stdout == "tri==1.0\n"


@pytest.mark.every_pip
@pytest.mark.parametrize("who", ("variant", "plain"))
def test_uninstall_leaves_nothing(with_old: Pip, who: str) -> None:
    before = {path.name for path in with_old.site.iterdir()} - {"__pycache__"}
    assert {"tri.py", "tri-1.0.dist-info"} <= before
    run = with_old.variant if who == "variant" else with_old.plain
    run("uninstall", "-y", "tri").check()
    after = {path.name for path in with_old.site.iterdir()} - {"__pycache__"}
    assert before - after == {"tri.py", "tri-1.0.dist-info"}


def test_the_list_names_variants_and_whether_they_fit(with_old: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    with_old.variant("install", "solo").check()
    index.log.clear()
    listed = json.loads(with_old.variant("variant", "list", "--json", driver="12.4").check().stdout)
    assert listed == [
        {
            "name": "tri",
            "version": "1.0",
            "label": "cuda12.6",
            "properties": {"nvidia": {BOUND: ["12.6"]}},
            "fits": False,
            "reason": "cuda12.6 needs CUDA driver >= 12.6, this machine has 12.4",
            "better": "null",
            "command": "pip-variant install --upgrade-variant tri==1.0",
            "mixed": [],
        }
    ]
    table = with_old.variant("variant", "list", driver="12.8").check()
    assert table.lines_with("tri", "1.0", "cuda12.6", "yes")
    assert "solo" not in table.stdout
    assert index.requests == []


def test_the_list_of_another_folder(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--target", "there", "tri", driver="12.8").check()
    here = pip.variant("variant", "list", "--json", driver="12.8").check()
    there = pip.variant("variant", "list", "--json", "--path", "there", driver="12.8").check()
    assert json.loads(here.stdout) == []
    assert [entry["label"] for entry in json.loads(there.stdout)] == ["cuda12.8"]


def test_a_broken_variant_json_is_listed_as_unknown(with_old: Pip) -> None:
    info = with_old.site / "tri-1.0.dist-info" / "variant.json"
    for content in (b"{", b"\xff\xfe", b"", b'{"variants": []}'):
        info.write_bytes(content)
        result = with_old.variant("variant", "list", "--json", driver="12.8").check()
        (entry,) = json.loads(result.stdout)
        assert (entry["label"], entry["fits"]) == (None, None)
        assert "variant.json" in entry["reason"]
        assert with_old.variant("variant", "list").check().lines_with("tri", "unknown")
        assert with_old.variant("variant", "check").code == 0


def test_without_its_variant_json_nothing_is_known_to_be_a_variant(with_old: Pip) -> None:
    for name in ("variant.json", "variants.json"):
        (with_old.site / "tri-1.0.dist-info" / name).unlink()
    assert json.loads(with_old.variant("variant", "list", "--json").check().stdout) == []


def test_a_check_passes_while_all_fit(with_old: Pip) -> None:
    assert with_old.variant("variant", "check", driver="12.6").check().lines_with("fit")


def test_a_check_names_the_property_and_the_machine(with_old: Pip) -> None:
    result = with_old.variant("variant", "check", driver="12.4")
    assert result.code == 1
    assert f"{MISFIT}; {TAKES}" in result.stdout.splitlines()
    as_json = with_old.variant("variant", "check", "--json", driver="12.4")
    assert as_json.code == 1
    assert [entry["fits"] for entry in json.loads(as_json.stdout)] == [False]
