"""Labels beside everything else that pip chooses by: versions, tags, builds, hashes."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import replace

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, tri

LINUX = f"py3-none-linux_{platform.machine()}"


@pytest.mark.parametrize(
    ("requirement", "version"),
    (
        ("tri", "3.0"),
        ("tri==1.0", "1.0"),
        ("tri<3", "2.0"),
        ("tri~=2.0", "2.0"),
        ("tri!=3.0", "2.0"),
    ),
)
def test_a_specifier_decides_the_version(
    pip: Pip, index: Index, requirement: str, version: str
) -> None:
    index.add(*tri("1.0"), *tri("2.0"), *tri("3.0"))
    pip.variant("install", requirement, driver="12.8").check()
    assert pip.build("tri") == (version, "cuda12.8")


@pytest.mark.every_pip
@pytest.mark.parametrize(
    ("args", "version"),
    ((["tri"], "1.0"), (["--pre", "tri"], "2.0rc1"), (["tri>=2.0rc1"], "2.0rc1")),
)
def test_pre_releases_are_taken_when_asked_for(
    pip: Pip, index: Index, args: list[str], version: str
) -> None:
    index.add(*tri("1.0"), *tri("2.0rc1"))
    pip.variant("install", *args, driver="12.8").check()
    assert pip.build("tri") == (version, "cuda12.8")


@pytest.mark.every_pip
@pytest.mark.parametrize(("requirement", "version"), (("tri", "1.0"), ("tri==2.0", "2.0")))
def test_a_yanked_version_is_taken_only_by_its_pin(
    pip: Pip, index: Index, requirement: str, version: str
) -> None:
    index.add(*tri("1.0"))
    index.add(*tri("2.0"), yanked="broken")
    result = pip.variant("install", requirement, driver="12.8").check()
    assert pip.build("tri") == (version, "cuda12.8")
    assert bool(result.lines_with("yanked")) == (version == "2.0")


@pytest.mark.every_pip
def test_a_yanked_label_leaves_the_others(pip: Pip, index: Index) -> None:
    older, yanked, *rest = tri()
    index.add(older, *rest)
    index.add(yanked, yanked="broken")
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_a_version_for_other_pythons_is_passed_over(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", requires_python=">=99"))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_label_for_other_pythons_leaves_the_others(pip: Pip, index: Index) -> None:
    older, newer, *rest = tri()
    index.add(older, replace(newer, requires_python=">=99"), *rest)
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_a_label_for_another_platform_leaves_the_others(pip: Pip, index: Index) -> None:
    older, newer, *rest = tri()
    index.add(older, replace(newer, tag="py3-none-win_amd64"), *rest)
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_the_label_comes_before_the_platform_tag(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6"], tag=LINUX), *tri(builds=["12.8"], null=False, plain=False))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_within_a_label_the_platform_tag_decides(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.8"]), *tri(builds=["12.8"], tag=LINUX))
    pip.variant("install", "tri", driver="12.8").check()
    assert index.requests[-1] == f"GET /files/tri-1.0-{LINUX}-cuda12.8.whl"


def test_the_label_comes_before_the_build_number(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6"], build="9"), *tri(builds=["12.8"], null=False, plain=False))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_within_a_label_and_tag_the_build_number_decides(pip: Pip, index: Index) -> None:
    index.add(*tri(build="2"), *tri(build="10"), *tri())
    pip.variant("install", "tri", driver="12.8").check()
    assert index.requests[-1] == "GET /files/tri-1.0-10-py3-none-any-cuda12.8.whl"


def test_the_platform_tag_comes_before_the_build_number(pip: Pip, index: Index) -> None:
    index.add(*tri(build="10"), *tri(tag=LINUX))
    pip.variant("install", "tri", driver="12.8").check()
    assert index.requests[-1] == f"GET /files/tri-1.0-{LINUX}-cuda12.8.whl"


@pytest.mark.every_pip
def test_allowed_hashes_come_before_the_label(pip: Pip, index: Index) -> None:
    wheels = tri()
    index.add(*wheels)
    allowed = [
        hashlib.sha256(wheel.content).hexdigest()
        for wheel in wheels
        if wheel.label in ("null", "cuda12.6")
    ]
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in allowed)
    pip.write("locked.txt", [f"tri==1.0 {hashes}"])
    pip.variant("install", "-r", "locked.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.effect_of("found_candidates", "PackageFinder.find_best_candidate")
@pytest.mark.parametrize(
    ("allowed", "told"),
    (("cuda12.6", "cuda12.8"), (None, "cuda12.8"), ("null", "cuda12.8"), ("cuda12.8", None)),
)
def test_a_better_label_that_the_hashes_leave_out_is_named(
    pip: Pip, index: Index, allowed: str | None, told: str | None
) -> None:
    wheels = tri()
    index.add(*wheels)
    (digest,) = (
        hashlib.sha256(wheel.content).hexdigest() for wheel in wheels if wheel.label == allowed
    )
    pip.write("locked.txt", [f"tri==1.0 --hash=sha256:{digest}"])
    result = pip.variant("install", "-r", "locked.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", allowed or "")
    lines = result.lines_with("would fit better")
    expected = f"tri 1.0: variant {told} would fit better, but its hash is not allowed"
    assert lines == ([expected] if told else [])


def test_a_hash_that_no_file_has_is_an_error(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.write("locked.txt", [f"tri==1.0 --hash=sha256:{'0' * 64}"])
    result = pip.variant("install", "-r", "locked.txt", driver="12.8")
    assert result.code == 1
    assert "DO NOT MATCH THE HASHES" in result.stderr
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_a_wheel_with_another_hash_than_listed_is_refused(pip: Pip, index: Index) -> None:
    # 22.3 looks at no hash that a JSON page gives, which is its own affair.
    index.pages = "html"
    index.add(*tri())
    index.forge("tri-1.0-py3-none-any-cuda12.8.whl")
    assert pip.variant("install", "tri", driver="12.8").code == 1
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_an_sdist_comes_after_every_wheel(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri")), *tri(plain=False))
    pip.variant("install", "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "null")


@pytest.mark.every_pip
def test_an_sdist_is_built_when_no_wheel_fits(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri")), *tri(plain=False, null=False))
    pip.variant("install", "tri", driver="12.4").check()
    assert (pip.site / "built_with.py").exists()


@pytest.mark.every_pip
def test_no_binary_keeps_variant_wheels_out(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri")), *tri())
    pip.variant("install", "--no-binary", "tri", "tri", driver="12.8").check()
    assert (pip.site / "built_with.py").exists()
    assert index.requests == ["GET /simple/tri/", "GET /files/tri-1.0.tar.gz"]
