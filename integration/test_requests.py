"""What the index is asked for, to the request: metadata only of versions that are visited."""

from __future__ import annotations

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.wheels import Wheel, tri

PAGE = "GET /simple/tri/"


def ten_releases(index: Index) -> None:
    for minor in range(10):
        index.add(*tri(f"1.{minor}"))


@pytest.mark.effect_of("links", "PackageFinder.evaluate_links")
def test_ten_releases_cost_page_metadata_and_wheel(pip: Pip, index: Index) -> None:
    ten_releases(index)
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.9", "cuda12.8")
    assert index.requests == [
        PAGE,
        "GET /files/tri-1.9-variants.json",
        "GET /files/tri-1.9-py3-none-any-cuda12.8.whl",
    ]


@pytest.mark.every_pip
def test_with_metadata_files_the_wheel_is_described_first(pip: Pip, index: Index) -> None:
    # Up to 22.2 pip knows no such files, and 22.3 to 23.0 download the wheel twice.
    index.pages = "html"
    index.metadata_files = True
    ten_releases(index)
    pip.plain("install", "--target", "there", "tri").check()
    page, *files = index.requests
    index.log.clear()
    pip.variant("install", "tri", driver="12.8").check()
    labelled = [name.replace("any.whl", "any-cuda12.8.whl") for name in files]
    assert index.requests == [page, "GET /files/tri-1.9-variants.json", *labelled]
    assert labelled[0].endswith(".metadata") == (PIP_VERSION >= (22, 3))


def test_a_pinned_version_costs_its_own_metadata(pip: Pip, index: Index) -> None:
    ten_releases(index)
    pip.variant("install", "tri==1.3", driver="12.8").check()
    assert index.requests == [
        PAGE,
        "GET /files/tri-1.3-variants.json",
        "GET /files/tri-1.3-py3-none-any-cuda12.8.whl",
    ]


def test_versions_that_are_skipped_cost_one_request_each(pip: Pip, index: Index) -> None:
    ten_releases(index)
    for minor in range(3):
        index.add(*tri(f"2.{minor}", ["13.0"], null=False, plain=False))
    pip.variant("install", "tri", driver="12.8").check()
    assert index.requests == [
        PAGE,
        "GET /files/tri-2.2-variants.json",
        "GET /files/tri-2.1-variants.json",
        "GET /files/tri-2.0-variants.json",
        "GET /files/tri-1.9-variants.json",
        "GET /files/tri-1.9-py3-none-any-cuda12.8.whl",
    ]


@pytest.mark.every_pip
def test_what_is_satisfied_costs_nothing(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    index.log.clear()
    again = pip.variant("install", "tri", driver="13.0").check()
    assert index.requests == []
    assert "Requirement already satisfied: tri" in again.stdout
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_an_upgrade_to_what_is_installed_costs_the_page(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    index.log.clear()
    pip.variant("install", "-U", "tri", driver="13.0").check()
    assert index.requests == [PAGE]
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_version_without_variants_costs_no_metadata(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), Wheel("tri", "2.0"))
    pip.variant("install", "tri", driver="12.8").check()
    assert index.requests == [PAGE, "GET /files/tri-2.0-py3-none-any.whl"]


def test_two_projects_cost_one_metadata_file_each(pip: Pip, index: Index) -> None:
    index.add(*tri(), *tri(name="duo", requires=("tri",)))
    pip.variant("install", "tri", "duo", driver="12.8").check()
    assert sorted(index.requests_for("-variants.json")) == [
        "GET /files/duo-1.0-variants.json",
        "GET /files/tri-1.0-variants.json",
    ]


def test_a_dry_run_fetches_metadata_once(pip: Pip, index: Index) -> None:
    ten_releases(index)
    pip.variant("install", "--dry-run", "tri", driver="12.8").check()
    assert index.requests_for("-variants.json") == ["GET /files/tri-1.9-variants.json"]
    assert pip.installed() == {}


def test_for_a_label_that_the_user_names_no_older_version_is_looked_at(
    pip: Pip, index: Index
) -> None:
    index.add(*tri("2.0", ("13.0",)), *tri("1.0", ("12.6",)))
    pip.variant("install", "--variant", "tri=null", "tri", driver="12.8").check()
    assert index.requests == [
        PAGE,
        "GET /files/tri-2.0-variants.json",
        "GET /files/tri-2.0-py3-none-any-null.whl",
    ]


@pytest.mark.parametrize("new_labels", (False, True))
def test_a_namespace_that_a_project_never_uses_is_not_looked_for_in_all_versions(
    pip: Pip, index: Index, new_labels: bool
) -> None:
    for minor in range(15):
        index.add(*tri(f"1.{minor}", (f"12.{minor}",) if new_labels else ("12.6",)))
    pip.variant("install", "--require-variant", "amd", "tri", driver="12.0").check()
    assert len(index.requests_for("-variants.json")) == (10 if new_labels else 1)
    assert pip.build("tri") == ("1.14", "null")


@pytest.mark.every_pip
@pytest.mark.parametrize("command", (["install"], ["install", "-v"], ["variant", "explain"]))
def test_after_the_first_download_nothing_more_is_asked(
    pip: Pip, index: Index, command: list[str]
) -> None:
    index.add(*tri("2.0", ("13.0",)), *tri("1.0", ("12.6",)))
    result = pip.variant(*command, "tri", driver="12.8").check()
    # What is said of the older version was found while the resolver worked.
    assert result.lines_with("tri 1.0 has variant cuda12.6, which fits")
    assert index.requests == [
        PAGE,
        "GET /files/tri-2.0-variants.json",
        "GET /files/tri-1.0-variants.json",
        "GET /files/tri-2.0-py3-none-any-null.whl",
    ]
