"""Names that an old pip takes for those of ordinary wheels (PEP 825)."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, cuda, tri

pytestmark = pytest.mark.every_pip

MACHINE = platform.machine()
# Up to 22.2, pip lets the platform part of a name contain dashes if it is a set.
COMPRESSED = f"py3-none-manylinux_2_17_{MACHINE}.manylinux2014_{MACHINE}"


def test_a_compressed_tag_with_a_label_that_fits(pip: Pip, index: Index) -> None:
    index.add(*tri(tag=COMPRESSED))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.parametrize("options", ([], ["--no-variant"]))
@pytest.mark.parametrize("command", ("install", "download", "wheel"))
def test_a_compressed_tag_with_a_label_that_does_not_fit(
    pip: Pip, index: Index, command: str, options: list[str]
) -> None:
    index.add(*tri("2.0", tag=COMPRESSED, null=False, plain=False))
    result = pip.variant(command, *options, "tri", driver="12.4")
    assert result.code == 1
    assert "No matching distribution found for tri" in result.stderr
    assert pip.installed() == {}
    assert index.requests_for(".whl") == []


@pytest.mark.parametrize("options", ([], ["--no-variant"]))
def test_a_compressed_tag_without_metadata(pip: Pip, index: Index, options: list[str]) -> None:
    index.add(Wheel("tri"), *tri("2.0", tag=COMPRESSED, null=False, plain=False))
    index.unlist("tri-2.0-variants.json")
    pip.variant("install", *options, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.parametrize("options", ([], ["--no-variant"]))
def test_a_compressed_tag_in_a_folder(pip: Pip, index: Index, options: list[str]) -> None:
    wheels = [Wheel("tri"), *tri("2.0", tag=COMPRESSED, null=False, plain=False)]
    write(pip.work / "wheels", wheels)
    source = ("--no-index", "--find-links", "wheels")
    pip.variant("install", *options, *source, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.parametrize("options", ([], ["--no-variant"]))
def test_a_compressed_tag_in_a_build(pip: Pip, index: Index, options: list[str]) -> None:
    index.add(Wheel("tri"), *tri("2.0", tag=COMPRESSED, null=False, plain=False))
    probe = "__import__('tri').LABEL"
    index.add(Sdist(Wheel("made"), build_requires=("tri",), probe=probe))
    pip.variant("install", *options, "made", driver="12.4").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = ''\n"


def test_a_compressed_tag_with_the_legacy_resolver(pip: Pip, index: Index) -> None:
    index.add(Wheel("tri"), *tri("2.0", tag=COMPRESSED, null=False, plain=False))
    legacy = ("--use-deprecated=legacy-resolver",)
    pip.variant("install", *legacy, "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.parametrize("label", ("CUDA", "a-b", "a-b-c"))
@pytest.mark.parametrize("tag", ("py3-none-any", COMPRESSED))
def test_a_name_that_the_standard_does_not_allow_is_left_out(
    pip: Pip, index: Index, tag: str, label: str
) -> None:
    index.add(Wheel("tri"), Wheel("tri", "2.0", label, tag=tag, properties=(cuda("12.0"),)))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")


def write(folder: Path, wheels: list[Wheel]) -> None:
    folder.mkdir()
    for wheel in wheels:
        (folder / wheel.filename).write_bytes(wheel.content)
