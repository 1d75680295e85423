"""Metadata files for a folder of wheels: what is written where, and what is refused (PEP 825)."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from integration.wheels import Wheel, cuda, metadata, release, tri
from pipvariant.authoring.index import build_index
from pipvariant.errors import InvalidFolder, InvalidOption

BLAS = {"blas": {"static-properties": {"library": ["openblas", "mkl"]}}}
NAME = "tri-1.0-variants.json"


def put(folder: Path, *wheels: Wheel) -> Path:
    """Write wheels into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in wheels:
        (folder / wheel.filename).write_bytes(wheel.content)
    return folder


def loaded(path: Path) -> Any:
    return json.loads(path.read_text())


def faults(folder: Path) -> list[str]:
    """What is refused, after which there is no file more than before."""
    before = sorted(folder.rglob("*"))
    with pytest.raises(InvalidFolder) as caught:
        build_index(folder, pages=True)
    assert sorted(folder.rglob("*")) == before
    return [str(fault) for fault in caught.value.faults]


def test_one_file_for_each_version_has_all_labels(tmp_path: Path) -> None:
    put(tmp_path, *tri(), *tri("2.0", builds=("13.0",), null=False))
    built = build_index(tmp_path)
    assert built.written == (tmp_path / NAME, tmp_path / "tri-2.0-variants.json")
    assert loaded(tmp_path / NAME) == metadata(tri())
    assert set(loaded(tmp_path / "tri-2.0-variants.json")["variants"]) == {"cuda13.0"}


def test_a_folder_for_each_project_has_the_file_beside_the_wheels(tmp_path: Path) -> None:
    put(tmp_path / "tri", *tri())
    put(tmp_path / "Num_Py", *release("num", labels={"a": (cuda("12.6"),)}))
    assert build_index(tmp_path).written == (
        tmp_path / "Num_Py" / "num-1.0-variants.json",
        tmp_path / "tri" / NAME,
    )


def test_only_plain_wheels_need_no_file(tmp_path: Path) -> None:
    put(tmp_path, Wheel("tri"))
    assert build_index(tmp_path).written == ()


def test_the_name_of_the_file_is_normalised(tmp_path: Path) -> None:
    wheel = Wheel("tri", label="cu", properties=(cuda("12.6"),))
    path = put(tmp_path, wheel) / wheel.filename
    path.rename(tmp_path / wheel.filename.replace("tri-1.0", "Tri.Angle-1.0.0"))
    assert [path.name for path in build_index(tmp_path).written] == [
        "tri_angle-1.0.0-variants.json"
    ]


def test_what_is_written_does_not_depend_on_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, *tri())
    build_index(tmp_path)
    expected = (tmp_path / NAME).read_bytes()
    real_walk = os.walk
    for seed in range(5):

        def shuffled(*args: Any, seed: int = seed, **how: Any) -> Any:
            for root, folders, names in real_walk(*args, **how):
                random.Random(seed).shuffle(names)
                yield root, folders, names

        monkeypatch.setattr(os, "walk", shuffled)
        (tmp_path / NAME).unlink()
        build_index(tmp_path)
        assert (tmp_path / NAME).read_bytes() == expected


def test_files_that_are_right_are_not_written_again(tmp_path: Path) -> None:
    put(tmp_path, *tri())
    first = build_index(tmp_path, pages=True)
    times = {path: path.stat().st_mtime_ns for path in first.written}
    again = build_index(tmp_path, pages=True)
    assert (again.written, again.same) == ((), len(first.written))
    assert {path: path.stat().st_mtime_ns for path in first.written} == times


def test_a_new_label_changes_the_file(tmp_path: Path) -> None:
    put(tmp_path, *tri(builds=("12.6",)))
    build_index(tmp_path)
    put(tmp_path, *tri(builds=("12.8",)))
    assert build_index(tmp_path).written == (tmp_path / NAME,)
    assert set(loaded(tmp_path / NAME)["variants"]) == {"cuda12.6", "cuda12.8", "null"}


def test_a_file_without_wheels_is_told_and_stays(tmp_path: Path) -> None:
    put(tmp_path, Wheel("tri"))
    (tmp_path / NAME).write_text("{}")
    (note,) = build_index(tmp_path).notes
    assert NAME in note
    assert (tmp_path / NAME).exists()


def test_one_label_with_other_properties_names_both_files(tmp_path: Path) -> None:
    one = Wheel("tri", label="cu", properties=(cuda("12.6"),))
    other = Wheel("tri", label="cu", properties=(cuda("12.8"),), tag="py2-none-any")
    put(tmp_path, one, other)
    (fault,) = faults(tmp_path)
    assert one.filename in fault
    assert other.filename in fault
    assert "the properties of the label cu differ" in fault


def test_other_providers_of_a_namespace_name_both_files(tmp_path: Path) -> None:
    mkl = Wheel("tri", label="mkl", properties=("blas :: library :: mkl",), providers=BLAS)
    changed = {"blas": {"static-properties": {"library": ["mkl"]}}}
    open_blas = Wheel(
        "tri", label="open", properties=("blas :: library :: openblas",), providers=changed
    )
    put(tmp_path, mkl, open_blas)
    (fault,) = faults(tmp_path)
    assert fault.startswith(f"{tmp_path / mkl.filename} and {tmp_path / open_blas.filename}: ")
    assert "the provider of blas differ" in fault


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    good, bad, *_ = tri(null=False)
    put(tmp_path, good)
    (tmp_path / bad.filename).write_bytes(b"no zip")
    plain = Wheel("tri")
    (tmp_path / f"{plain.stem}-py3-none-any-bare.whl").write_bytes(plain.content)
    (tmp_path / f"{plain.stem}-py3-none-any-other.whl").write_bytes(good.content)
    (tmp_path / f"{plain.stem}-py3-none-any-UPPER.whl").write_bytes(good.content)
    (tmp_path / "nonsense.whl").write_bytes(b"")
    told = "\n".join(faults(tmp_path))
    for words in (
        "no readable wheel",
        "has no variant.json inside",
        "the label inside is 'cuda12.6', in the filename it is 'other'",
        "'UPPER' is not a variant label",
        "nonsense.whl: is not the filename of a wheel",
    ):
        assert words in told


def test_the_variant_wheels_of_a_version_are_in_one_folder(tmp_path: Path) -> None:
    first, second, *_ = tri()
    put(tmp_path / "a", first)
    put(tmp_path / "b", second)
    (fault,) = faults(tmp_path)
    assert "in several folders" in fault


def test_hidden_folders_are_left_out(tmp_path: Path) -> None:
    put(tmp_path / ".cache", *tri())
    assert build_index(tmp_path).written == ()


def test_a_folder_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidOption, match="cannot be read"):
        build_index(tmp_path / "none")


def test_nothing_is_left_of_a_file_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, *tri())
    build_index(tmp_path)
    before = (tmp_path / NAME).read_bytes()
    put(tmp_path, *tri(builds=("13.1",)))

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(Exception, match="No space left"):
        build_index(tmp_path)
    assert (tmp_path / NAME).read_bytes() == before
    assert not list(tmp_path.glob(".new-*"))


def test_variantlib_writes_an_equal_file(tmp_path: Path) -> None:
    pytest.importorskip("variantlib")  # there is no release of it for Python 3.9
    from variantlib.commands.generate_index_json import generate_index_json

    labels = {
        "cu126": (cuda("12.6"), "nvidia :: sm_arch :: 80_real", "nvidia :: sm_arch :: 90_real"),
        "null": (),
        "f839a2dd": (cuda("12.8"),),
    }
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    put(ours, *release("tri", labels=labels))
    shutil.copytree(ours, theirs)
    generate_index_json(["--directory", str(theirs)])
    build_index(ours)
    assert loaded(ours / NAME) == loaded(theirs / NAME)
