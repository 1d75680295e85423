"""`variant explain`: the same answer as an installation, with every reason."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from pip._internal.utils.compatibility_tags import get_supported

from integration.environments import Pip, Result
from integration.index import Index, Reply
from integration.model import choose
from integration.projects import MACHINES, Machine, make, publish
from integration.wheels import NVIDIA, Sdist, Wheel, cuda, release, tri

BOUND = "cuda_version_lower_bound"
TAGS = [str(tag) for tag in get_supported()]
PROJECTS = make(1, 60, f"cp{sys.version_info[0]}{sys.version_info[1]}")


def explained(pip: Pip, *args: str, code: int = 0, **how: Any) -> dict[str, Any]:
    """The document that is all of stdout."""
    result = pip.variant("variant", "explain", "--json", *args, **how)
    assert result.code == code, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def statuses(project: dict[str, Any]) -> list[tuple[str | None, str]]:
    return [(build["label"], build["status"]) for build in project["builds"]]


def text(result: Result) -> str:
    """What was printed, each run of blanks as one."""
    return " ".join(result.stdout.split())


# The same answer as an installation.


@pytest.fixture(params=MACHINES, ids=lambda machine: str(machine.name))
def machine(request: pytest.FixtureRequest) -> Machine:
    chosen: Machine = request.param
    return chosen


@pytest.fixture
def projects_of(machine: Machine) -> Iterator[tuple[Index, list[str]]]:
    mine = PROJECTS[MACHINES.index(machine) :: len(MACHINES)]
    with Index(ranges=True, metadata_files=True) as server:
        publish(server, mine)
        yield server, [one.requirement for one in mine if choose(one, machine, TAGS) is not None]


def test_it_takes_what_an_installation_takes(
    pip: Pip, machine: Machine, projects_of: tuple[Index, list[str]]
) -> None:
    server, requirements = projects_of
    args = ("--no-deps", "--index-url", server.url, *machine.args, *requirements)
    how: dict[str, Any] = {"driver": machine.driver, "environ": machine.environ}
    reported = {
        item["metadata"]["name"]: unquote(item["download_info"]["url"].rpartition("/")[2])
        for item in pip.report(*args, **how)["install"]
    }
    document = explained(pip, *args, **how)
    files = {project["name"]: project["file"] for project in document["projects"]}
    assert files
    assert files == {name: reported[name] for name in files}
    assert files.keys() | set(document["without_variants"]) == reported.keys()


@pytest.mark.every_pip
def test_nothing_is_installed_and_no_other_wheel_is_fetched(pip: Pip, index: Index) -> None:
    index.add(*tri())
    explained(pip, "tri", driver="12.8")
    assert pip.installed() == {}
    assert [each for each in index.requests if each.endswith(".whl")] == [
        "GET /files/tri-1.0-py3-none-any-cuda12.8.whl"
    ]


def test_what_is_installed_makes_no_difference(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    (project,) = explained(pip, "tri", driver="12.8")["projects"]
    assert project["file"] == "tri-1.0-py3-none-any-cuda12.8.whl"


# The reasons.


def test_every_label_has_its_place_and_its_reason(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("tri")))
    (project,) = explained(pip, "tri", driver="12.6")["projects"]
    assert (project["name"], project["version"]) == ("tri", "1.0")
    assert statuses(project) == [
        ("cuda12.6", "chosen"),
        ("null", "fits"),
        (None, "fits"),
        (None, "fits"),
        ("cuda12.8", "rejected"),
        ("cuda13.0", "rejected"),
    ]
    assert [build["kind"] for build in project["builds"][2:4]] == [
        "non-variant wheel",
        "source distribution",
    ]
    rejected = project["builds"][4]
    assert rejected["reason"] == "needs CUDA driver >= 12.8, this machine has 12.6"
    assert rejected["unmet"]["feature"] == BOUND
    assert rejected["unmet"]["values"] == ["12.8"]
    assert rejected["unmet"]["supported"][0] == "12.6"
    assert rejected["source"] == f"{index.url}tri/"
    assert project["answers"]["nvidia"] == {
        "origin": "built-in",
        "source": "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION",
        "facts": {"driver": "12.6"},
        "problems": [],
    }
    assert project["no_variant"] == {"version": "1.0", "file": "tri-1.0-py3-none-any.whl"}


def test_the_table_says_it_in_eighty_columns_without_colours(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("variant", "explain", "tri", driver="12.4").check()
    assert result.stdout.splitlines()[:2] == ["tri 1.0: null variant", f"from {index.url}tri/"]
    assert result.lines_with("null", "chosen")
    assert result.lines_with("cuda12.6", "no", "needs CUDA driver >= 12.6, this machine has 12.4")
    assert "driver 12.4" in result.stdout
    assert result.lines_with("--no-variant would take: tri 1.0, tri-1.0-py3-none-any.whl")
    assert "\x1b" not in result.stdout
    table = [line for line in result.stdout.splitlines() if "cuda" in line or "null" in line]
    assert max(map(len, table)) <= 80


def test_skipped_versions_are_listed_with_all_their_labels(pip: Pip, index: Index) -> None:
    index.add(Wheel("tri"), *tri("2.0", ["13.0", "13.1"], null=False, plain=False))
    (project,) = explained(pip, "tri", driver="12.8")["projects"]
    assert (project["version"], project["file"]) == ("1.0", "tri-1.0-py3-none-any.whl")
    (skipped,) = project["skipped"]
    assert skipped["version"] == "2.0"
    assert skipped["reason"].endswith("cuda13.0 needs CUDA driver >= 13.0, this machine has 12.8")
    assert [build["label"] for build in skipped["builds"]] == ["cuda13.0", "cuda13.1"]


def test_a_requirement_that_nothing_satisfies_is_explained_even_so(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False, plain=False))
    document = explained(pip, "tri", driver="12.4", code=1)
    assert document["problem"] == "No matching distribution found for tri"
    (project,) = document["projects"]
    assert (project["version"], project["file"], project["no_variant"]) == (None, None, None)
    assert len(project["skipped"][0]["builds"]) == 3
    result = pip.variant("variant", "explain", "tri", driver="12.4")
    assert result.code == 1
    assert "tri: nothing would be installed" in result.stdout.splitlines()
    assert result.lines_with("cuda12.8", "needs CUDA driver >= 12.8, this machine has 12.4")


def test_a_wheel_that_is_not_what_its_index_says_is_listed(pip: Pip, index: Index) -> None:
    index.add(*tri("2.0", builds=["12.8"], null=False, plain=False))
    index.answer("tri-2.0-py3-none-any-cuda12.8.whl", Reply(Wheel("tri", "2.0").content))
    left_out = ("cuda12.8", "left out")
    result = pip.variant("variant", "explain", "--json", "tri", driver="12.8")
    (project,) = json.loads(result.stdout)["projects"]
    assert (result.code, statuses(project)) == (1, [left_out])
    index.add(*tri("2.0", builds=["12.6"], null=False))
    (project,) = explained(pip, "tri", driver="12.8")["projects"]
    assert statuses(project) == [("cuda12.6", "chosen"), (None, "fits"), left_out]
    assert project["builds"][2]["reason"] == "is not what its source says"


def test_labels_for_other_platforms_are_listed(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6"], null=False, plain=False, tag="py3-none-win_arm64"))
    index.add(Wheel("tri"))
    (project,) = explained(pip, "tri", driver="12.8")["projects"]
    assert statuses(project) == [(None, "chosen"), ("cuda12.6", "left out")]
    assert project["builds"][1]["reason"] == "is for win_arm64"


def test_what_was_only_looked_at_on_the_way_is_not_explained(pip: Pip, index: Index) -> None:
    index.add(*tri(null=False, plain=False), Wheel("user", "1.0"))
    index.add(Wheel("user", "2.0", requires=("tri",)))
    document = explained(pip, "user", driver="12.4")
    assert (document["projects"], document["without_variants"]) == ([], ["user"])


def test_projects_without_variants_are_named(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("one", "two")), Wheel("one"), Wheel("two"))
    result = pip.variant("variant", "explain", "tri", driver="12.8").check()
    assert result.stdout.splitlines()[-1] == "Without variants: one, two"
    assert explained(pip, "one")["without_variants"] == ["one"]


def test_who_says_so_is_named(pip: Pip, index: Index) -> None:
    providers = {
        "blas": {"static-properties": {"library": ["openblas"]}},
        "debug": {"static-properties": {"build": ["on"]}, "optional": True},
        "nvidia": NVIDIA,
        "rocket": {"requires": ["rocket-provider"]},
    }
    labels = {
        "a": ("blas :: library :: mkl",),
        "b": ("debug :: build :: on",),
        "c": (cuda("13.0"),),
        "d": ("rocket :: engine :: ion",),
    }
    index.add(*release("tri", labels=labels, providers=providers))
    result = pip.variant("variant", "explain", "tri", driver="12.8").check()
    assert "blas (static metadata): library openblas" in result.stdout.splitlines()
    assert "debug (off: optional, not enabled): supports nothing" in result.stdout.splitlines()
    variable = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
    assert f"nvidia (set by {variable}): driver 12.8" in result.stdout.splitlines()
    assert "rocket (not trusted rocket-provider): supports nothing" in result.stdout.splitlines()


def test_a_label_that_the_user_named_is_chosen_and_the_better_one_says_so(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    (project,) = explained(pip, "--variant", "tri=null", "tri", driver="12.6")["projects"]
    assert statuses(project)[:2] == [("cuda12.6", "fits"), ("null", "chosen")]
    assert "options" in project["builds"][0]["reason"]


def test_credentials_are_not_shown(pip: Pip, index: Index) -> None:
    index.add(*tri())
    url = index.url.replace("http://", "http://user:secret@")
    result = pip.variant("variant", "explain", "--index-url", url, "tri", driver="12.8").check()
    assert "secret" not in result.output


def test_requirements_files_and_all_options_of_install_work(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0"))
    file = pip.write("requirements.txt", ["tri"])
    constraints = pip.write("constraints.txt", ["tri<2"])
    args = ("-r", str(file), "-c", str(constraints), "--platform", "any", "--only-binary", ":all:")
    (project,) = explained(pip, *args, "--target", "t", driver="12.8")["projects"]
    assert (project["version"], statuses(project)[0]) == ("1.0", ("null", "chosen"))


def test_wrong_options_are_an_error(pip: Pip) -> None:
    result = pip.variant("variant", "explain", "--no-such-option")
    assert (result.code, result.stdout) == (2, "")
    assert pip.variant("variant", "explain", "--dry-run", "tri").code == 2
    nothing = pip.variant("variant", "explain")
    problem = explained(pip, code=1)["problem"]
    assert problem.startswith("You must give at least one requirement to install")
    assert nothing.stdout == f"Nothing would be installed: {problem}\n"


def test_the_help_is_about_explaining(pip: Pip) -> None:
    words = text(pip.variant("variant", "explain", "--help").check())
    assert "why no other" in words
    assert "--dry-run" not in words


@pytest.mark.every_pip
def test_what_hashes_leave_out_is_listed_and_does_not_fit(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("tri")))
    by_hash = {wheel.label or "": hashlib.sha256(wheel.content).hexdigest() for wheel in tri()}

    def with_hash(label: str) -> dict[str, Any]:
        file = pip.write("requirements.txt", [f"tri==1.0 --hash=sha256:{by_hash[label]}"])
        (project,) = explained(pip, "-r", str(file), driver="12.6")["projects"]
        return dict(project)

    null, plain = with_hash("null"), with_hash("")
    labels = ["cuda12.6", "cuda12.8", "cuda13.0"]
    assert statuses(null)[0] == ("null", "chosen")
    assert statuses(plain)[0] == (None, "chosen")
    assert [status for _, status in statuses(null)[1:] + statuses(plain)[1:]] == ["left out"] * 10
    assert {build["label"] for build in null["builds"]} == {*labels, "null", None}
    assert {build["label"] for build in plain["builds"]} == {*labels, "null", None}
    assert {build["reason"] for build in null["builds"][1:]} == {"its hash is not allowed"}
    assert (null["no_variant"], plain["no_variant"]["version"]) == (None, "1.0")


def test_the_version_of_a_given_sdist_is_what_is_inside(pip: Pip, index: Index) -> None:
    index.add(*tri("2.0", ["13.0"], null=False, plain=False), *tri("1.0"))
    archive = pip.work / "tri.tar.gz"
    archive.write_bytes(Sdist(Wheel("tri", "3.0")).content)
    index.add(Wheel("user", requires=(f"tri @ {archive.as_uri()}",)))
    (project,) = explained(pip, "tri", "user", driver="12.6")["projects"]
    assert (project["version"], project["file"]) == ("3.0", "tri.tar.gz")
    assert [skipped["version"] for skipped in project["skipped"]] == ["2.0"]


def test_no_variant_does_not_say_that_there_are_none(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("variant", "explain", "--no-variant", "tri").check()
    assert result.stdout == "Taken as plain pip does (--no-variant): tri\n"


# An older version that fits.


def test_an_older_version_with_a_label_that_fits_is_named(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0", ["12.6"]), *tri("2.0", ["13.0"]))
    hint = "tri 1.0 has variant cuda12.6, which fits; --require-variant tri=nvidia goes back to it"
    assert explained(pip, "tri", driver="12.8")["projects"][0]["hint"] == hint
    index.log.clear()
    result = pip.variant("install", "tri", driver="12.8").check()
    assert hint in result.stdout.splitlines()
    assert pip.build("tri") == ("2.0", "null")
    assert len([each for each in index.requests if each.endswith("variants.json")]) == 2
    pip.variant("install", "--require-variant", "tri=nvidia", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.parametrize("driver", ("11.0", None, "13.0"))
def test_no_older_version_is_named_where_none_is_better(
    pip: Pip, index: Index, driver: str | None
) -> None:
    index.add(*tri("1.0", ["12.6"]), *tri("2.0", ["13.0"]))
    result = pip.variant("install", "tri", driver=driver).check()
    assert not result.lines_with("goes back to it")


def test_versions_with_the_same_labels_are_not_asked(pip: Pip, index: Index) -> None:
    for version in ("1.0", "2.0", "3.0"):
        index.add(*tri(version))
    pip.variant("install", "tri", driver="12.4").check()
    assert len([each for each in index.requests if each.endswith("variants.json")]) == 1


# A version without variants that counts as newer.


def put(pip: Pip, wheel: Wheel) -> tuple[str, str]:
    """Options for a second source that has one wheel."""
    folder = pip.work / "other"
    folder.mkdir()
    (folder / wheel.filename).write_bytes(wheel.content)
    return "--find-links", str(folder)


@pytest.mark.parametrize(("newer", "named"), (("2.0+cpu", "tri==2.0"), ("2.0.1", "tri")))
def test_variants_that_give_way_to_a_wheel_of_another_source_are_named_with_the_way_back(
    pip: Pip, index: Index, newer: str, named: str
) -> None:
    index.add(*tri("2.0"), *tri("1.0"))
    args = (*put(pip, Wheel("tri", newer)), named)
    hint = (
        f"tri {newer} has no variants, and counts as newer than 2.0, of which variants fit: "
        "cuda12.8, cuda12.6; --require-variant tri=nvidia goes back to it"
    )
    assert hint in pip.variant("install", *args, driver="12.8").check().stdout.splitlines()
    document = explained(pip, *args, driver="12.8")
    (project,) = document["projects"]
    assert (document["without_variants"], project["hint"]) == ([], hint)
    assert (project["version"], statuses(project)) == (newer, [(None, "chosen")])
    assert statuses(project["skipped"][0])[0] == ("cuda12.8", "fits")
    pip.variant("install", "--require-variant", "tri=nvidia", *args, driver="12.8").check()
    assert pip.build("tri") == ("2.0", "cuda12.8")


def test_variants_that_nobody_can_go_back_to_are_not_named(pip: Pip, index: Index) -> None:
    index.add(*tri("2.0"), yanked="broken")
    other = put(pip, Wheel("tri", "2.0+cpu"))
    yanked = pip.variant("install", *other, "tri", driver="12.8").check()
    index.add(*tri("1.0"))
    meant = ("install", "--force-reinstall", "--variant", "tri=", *other, "tri")
    assert "counts as newer" not in yanked.output + pip.variant(*meant, driver="12.8").output
    assert pip.build("tri") == ("2.0+cpu", "")


def test_an_index_that_has_dropped_its_variants_costs_no_request(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), Wheel("tri", "2.0"))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert "counts as newer" not in result.output
    assert index.requests_for(".json") == []
    (project,) = explained(pip, "tri", driver="12.8")["projects"]
    assert project["skipped"][0]["reason"] == "tri 1.0 skipped: 2.0 counts as newer"
