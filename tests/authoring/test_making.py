"""A variant wheel is the ordinary one with a label, variant.json and a line in RECORD (PEP 825)."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.version import InvalidVersion

from pipvariant.authoring import folder, making
from pipvariant.authoring.folder import parse_wheel_name
from pipvariant.authoring.making import make_wheel, name_and_version, unmake_wheel
from pipvariant.errors import InvalidFilename, InvalidOutput, InvalidWheel
from pipvariant.standard.metadata import read_variant_json
from tests.wheelfile.ordinary import FILES, INFO, NAME, blas, contents, record_of, verified, wheel

LABELLED = "tri-1.0-py3-none-any-mkl.whl"
RECORD = f"{INFO}/RECORD"
VARIANT_JSON = f"{INFO}/variant.json"


class Kept(NamedTuple):
    """What must not change about an entry; its raw bytes are those between name and next entry."""

    date_time: tuple[int, ...]
    external_attr: int
    compress_type: int
    flag_bits: int
    extra: bytes
    comment: bytes
    raw: bytes


def kept(path: Path) -> dict[str, Kept]:
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        result = {}
        for info in archive.infolist():
            local = data[info.header_offset : info.header_offset + 30]
            begin = (
                info.header_offset
                + 30
                + sum(int.from_bytes(local[n : n + 2], "little") for n in (26, 28))
            )
            raw = data[info.header_offset : begin + info.compress_size]
            result[info.filename] = Kept(
                info.date_time,
                info.external_attr,
                info.compress_type,
                info.flag_bits,
                info.extra,
                info.comment,
                raw,
            )
        return result


def test_the_label_is_in_the_filename(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path), blas(), tmp_path / "out")
    assert made == tmp_path / "out" / LABELLED
    assert made.exists()


def test_a_build_tag_comes_before_the_label(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path, name="tri-1.0-7-py3-none-any.whl"), blas(), tmp_path)
    assert made.name == "tri-1.0-7-py3-none-any-mkl.whl"


def test_the_metadata_is_in_the_wheel(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path), blas(), tmp_path)
    inside = read_variant_json(contents(made)[VARIANT_JSON], label="mkl")
    assert inside == blas()


def test_the_record_is_last_and_right(tmp_path: Path) -> None:
    found = verified(make_wheel(wheel(tmp_path), blas(), tmp_path))
    assert list(found)[-2:] == [VARIANT_JSON, RECORD]


def test_the_own_line_of_the_record_stays_last(tmp_path: Path) -> None:
    found = contents(make_wheel(wheel(tmp_path), blas(), tmp_path))
    lines = found[RECORD].decode().splitlines()
    assert lines[-1] == f"{RECORD},,"
    assert lines[-2].startswith(f"{VARIANT_JSON},sha256=")


def test_only_record_and_variant_json_change(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    made = make_wheel(plain, blas(), tmp_path)
    before, after = kept(plain), kept(made)
    assert {name for name in after if after[name] != before.get(name)} == {RECORD, VARIANT_JSON}
    assert before.keys() < after.keys()


def test_what_is_added_has_time_and_permissions_of_the_record(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    after = kept(make_wheel(plain, blas(), tmp_path))
    for name in (RECORD, VARIANT_JSON):
        assert after[name][:3] == kept(plain)[RECORD][:3]


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    first, second = (make_wheel(plain, blas(), tmp_path / name).read_bytes() for name in "ab")
    assert first == second


def test_two_labels_of_one_wheel_differ(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    made = [make_wheel(plain, blas(label), tmp_path) for label in ("mkl", "openblas", "null")]
    assert len({path.read_bytes() for path in made}) == 3
    assert all(verified(path) for path in made)


def test_the_file_has_the_permissions_of_the_ordinary_one(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    plain.chmod(0o640)
    made = make_wheel(plain, blas(), tmp_path)
    assert stat.S_IMODE(made.stat().st_mode) == 0o640


def test_unmake_gives_back_every_byte(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    back = unmake_wheel(make_wheel(plain, blas(), tmp_path), tmp_path / "back")
    assert back.name == NAME
    assert back.read_bytes() == plain.read_bytes()


def test_a_record_that_was_not_last_comes_last_and_all_files_stay(tmp_path: Path) -> None:
    late = {"tri/": b"", f"{INFO}/licenses/": b"", f"{INFO}/licenses/LICENSE": b"words"}
    record = record_of({**FILES, f"{INFO}/licenses/LICENSE": b"words"})
    plain = wheel(tmp_path, record=record, unlisted=late.items())
    made = make_wheel(plain, blas(), tmp_path)
    assert list(verified(made))[-2:] == [VARIANT_JSON, RECORD]
    before, after = kept(plain), kept(made)
    assert {name for name in after if after[name] != before.get(name)} == {RECORD, VARIANT_JSON}
    assert contents(unmake_wheel(made, tmp_path / "back")) == contents(plain)


@pytest.mark.parametrize(
    "change",
    (
        lambda record: record.replace(b"\n", b"\r\n"),
        lambda record: record.rstrip(b"\n"),
        lambda record: b"".join(reversed(record.splitlines(keepends=True))),
        lambda record: record.replace(f"{RECORD},,\n".encode(), b""),
        lambda record: record.replace(f"{RECORD},,".encode(), f'"{RECORD}",,'.encode()),
        lambda record: record + b"\n",
    ),
    ids=("crlf", "no last newline", "reversed", "without itself", "quoted", "empty line"),
)
def test_the_lines_of_a_record_keep_their_bytes(tmp_path: Path, change: object) -> None:
    assert callable(change)
    record = change(record_of(FILES))
    plain = wheel(tmp_path, record=record)
    made = make_wheel(plain, blas(), tmp_path)
    lines = contents(made)[RECORD].splitlines(keepends=True)
    added = [line for line in lines if line.startswith(VARIANT_JSON.encode())]
    assert len(added) == 1
    assert b"".join(line for line in lines if line not in added) == record
    assert unmake_wheel(made, tmp_path / "back").read_bytes() == plain.read_bytes()


def test_names_that_csv_has_to_quote(tmp_path: Path) -> None:
    lines = f"tri/x\n{RECORD},,\u2028\r{VARIANT_JSON},,\n"
    more = {"tri/a,b.txt": b"1", 'tri/"q".txt': b"2", "tri/é.txt": b"3", lines: b"4"}
    plain = wheel(tmp_path, more=more)
    made = make_wheel(plain, blas(), tmp_path)
    assert verified(made)["tri/a,b.txt"] == b"1"
    assert unmake_wheel(made, tmp_path / "back").read_bytes() == plain.read_bytes()


def test_a_variant_wheel_is_not_labelled_twice(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path), blas(), tmp_path)
    with pytest.raises(InvalidFilename, match=r"already, its label is mkl\. .*unmake"):
        make_wheel(made, blas("openblas"), tmp_path)


def test_a_renamed_variant_wheel_is_not_labelled_twice(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path / "in"), blas(), tmp_path)
    renamed = made.rename(tmp_path / NAME)
    with pytest.raises(InvalidWheel, match=r"has a variant\.json but no label"):
        make_wheel(renamed, blas("openblas"), tmp_path)


def test_an_ordinary_wheel_cannot_be_unmade(tmp_path: Path) -> None:
    with pytest.raises(InvalidFilename, match="is no variant wheel"):
        unmake_wheel(wheel(tmp_path), tmp_path / "back")


@pytest.mark.parametrize(
    "name",
    (
        "tri.whl",
        "tri-1.0-py3-none-any.zip",
        "tri-x-py3-none-any.whl",
        "tri-1.0-py3-none.whl",
        "tri",
    ),
)
def test_another_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidFilename, match="is not the filename of a wheel"):
        make_wheel(wheel(tmp_path, name=name), blas(), tmp_path)


@pytest.mark.parametrize("name", (f"tri-{'9' * 5000}-py3-none-any.whl", "tri-x-py3-none-any.whl"))
@pytest.mark.parametrize("parse", (name_and_version, lambda name: parse_wheel_name(Path(name))))
def test_whatever_packaging_raises_for_a_version_is_one_error(
    monkeypatch: pytest.MonkeyPatch, name: str, parse: Callable[[str], object]
) -> None:
    def older(filename: str) -> None:
        raise InvalidVersion(filename)

    for _ in range(2):
        with pytest.raises(InvalidFilename, match="is not the filename of a wheel"):
            parse(name)
        for module in (making, folder):
            monkeypatch.setattr(module, "parse_wheel_filename", older)


@pytest.mark.parametrize("name", ("other-1.0-py3-none-any.whl", "tri-2.0-py3-none-any.whl"))
def test_the_wheel_has_to_be_the_one_that_its_name_says(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidWheel, match=r"needs one \.dist-info folder.*it has 'tri-1\.0"):
        make_wheel(wheel(tmp_path, name=name), blas(), tmp_path)


def test_names_are_compared_normalised(tmp_path: Path) -> None:
    made = make_wheel(wheel(tmp_path, name="TRI-1.0.0-py3-none-any.whl"), blas(), tmp_path)
    assert made.name == "TRI-1.0.0-py3-none-any-mkl.whl"


def test_a_vendored_dist_info_does_not_count(tmp_path: Path) -> None:
    plain = wheel(tmp_path, more={"tri/_vendor/six-1.0.dist-info/RECORD": b"x"})
    found = verified_but_vendored(make_wheel(plain, blas(), tmp_path))
    assert VARIANT_JSON in found


def verified_but_vendored(path: Path) -> dict[str, bytes]:
    found = contents(path)
    assert found["tri/_vendor/six-1.0.dist-info/RECORD"] == b"x"
    return found


@pytest.mark.parametrize("signature", ("RECORD.jws", "RECORD.p7s"))
def test_a_signed_wheel_is_refused(tmp_path: Path, signature: str) -> None:
    plain = wheel(tmp_path, unlisted=[(f"{INFO}/{signature}", b"x")])
    with pytest.raises(InvalidWheel, match=f"is signed: {signature} would not match"):
        make_wheel(plain, blas(), tmp_path)


@pytest.mark.parametrize(
    ("record", "fault"),
    (
        (
            record_of({**FILES, "tri/gone.py": b""}),
            r"RECORD lists 'tri/gone\.py', which is not there",
        ),
        (record_of({}), r"RECORD does not list .*tri/__init__\.py"),
        (b"tri/__init__.py,sha256=x\n", r"RECORD cannot be read: 'tri/__init__\.py' has 2 fields"),
        (b"\xff", "RECORD cannot be read"),
    ),
)
def test_a_record_that_does_not_fit_is_refused(tmp_path: Path, record: bytes, fault: str) -> None:
    with pytest.raises(InvalidWheel, match=fault) as raised:
        make_wheel(wheel(tmp_path, record=record), blas(), tmp_path)
    assert raised.value.where == str(tmp_path / NAME)


def test_many_faults_are_counted(tmp_path: Path) -> None:
    files = {f"tri/{number}.py": b"" for number in range(20)}
    plain = wheel(tmp_path, record=record_of({**FILES, **files}))
    with pytest.raises(InvalidWheel, match="and 15 more"):
        make_wheel(plain, blas(), tmp_path)


def test_a_changed_variant_json_is_not_thrown_away(tmp_path: Path) -> None:
    changed = {**FILES, VARIANT_JSON: b"{}"}
    record = record_of({**FILES, VARIANT_JSON: b"{ }"})
    path = wheel(tmp_path, name=LABELLED, files=changed, record=record)
    with pytest.raises(InvalidWheel, match=r"variant\.json is not the file that RECORD lists"):
        unmake_wheel(path, tmp_path / "back")


def test_a_labelled_wheel_without_variant_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidWheel, match=r"has no 'tri-1\.0\.dist-info/variant\.json'"):
        unmake_wheel(wheel(tmp_path, name=LABELLED), tmp_path / "back")


def test_an_output_with_other_content_is_kept(tmp_path: Path) -> None:
    (tmp_path / LABELLED).write_text("mine")
    with pytest.raises(InvalidOutput, match="is there already, with other content"):
        make_wheel(wheel(tmp_path), blas(), tmp_path)
    assert (tmp_path / LABELLED).read_text() == "mine"
    assert {path.name for path in tmp_path.iterdir()} == {NAME, LABELLED}


def test_an_output_with_equal_content_is_no_fault(tmp_path: Path) -> None:
    plain = wheel(tmp_path)
    assert make_wheel(plain, blas(), tmp_path) == make_wheel(plain, blas(), tmp_path)


def test_force_writes_over_it(tmp_path: Path) -> None:
    (tmp_path / LABELLED).write_text("mine")
    assert verified(make_wheel(wheel(tmp_path), blas(), tmp_path, force=True))


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InvalidOutput, match="cannot be written"):
        make_wheel(wheel(tmp_path), blas(), tmp_path / "out")


def test_after_a_fault_nothing_is_left(tmp_path: Path) -> None:
    plain = wheel(tmp_path)

    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_wheel(plain, blas(), tmp_path / "out", tell=stop)
    assert list((tmp_path / "out").iterdir()) == []


def test_every_byte_that_is_copied_is_told(tmp_path: Path) -> None:
    told: list[int] = []
    plain = wheel(tmp_path)
    make_wheel(plain, blas(), tmp_path, tell=told.append)
    with zipfile.ZipFile(plain) as archive:
        assert sum(told) == archive.getinfo(RECORD).header_offset
