"""What is read out of a wheel: bounded, and one kind of error for whatever is wrong."""

from __future__ import annotations

import io
import tracemalloc
import zipfile

import pytest

from pipvariant.errors import InvalidMetadata, InvalidWheel
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.wheelfile.dist_info import METADATA, VARIANT_JSON, read, read_from_wheel

INFO = "tri-1.0.dist-info"
JSON = (
    '{"$schema": "https://variants-schema.wheelnext.dev/peps/826/v0.2.0.json",'
    '"default-priorities": {"namespace": ["blas"]},'
    '"providers": {"blas": {"static-properties": {"library": ["a"]}}},'
    '"variants": {"x": {"blas": {"library": ["a"]}}}}'
)


def _wheel(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for path, data in entries.items():
            archive.writestr(path, data)
    return stream


def test_variant_json_of_the_dist_info_is_read() -> None:
    wheel = _wheel({"other/variant.json": b"", f"{INFO}/variant.json": JSON.encode()})
    metadata = read_from_wheel(wheel, "x", "w")
    assert metadata.variants == {"x": {"blas": {"library": ("a",)}}}


@pytest.mark.parametrize(
    ("entries", "said"),
    (
        ({f"{INFO}/METADATA": b""}, "no variant.json inside"),
        (
            {f"{INFO}/variant.json": JSON.encode(), "b-1.dist-info/variant.json": b"{}"},
            "2 variant.json inside",
        ),
        ({f"{INFO}/variant.json": b" " * (MAX_BYTES + 1)}, "bigger than 10 MB"),
        ({f"{INFO}/variant.json": b"{"}, "not"),
        ({f"{INFO}/variant.json": JSON.replace('"x"', '"y"').encode()}, "y"),
    ),
)
def test_a_wheel_with_something_else_inside_is_refused(
    entries: dict[str, bytes], said: str
) -> None:
    with pytest.raises((InvalidMetadata, InvalidWheel), match=said) as caught:
        read_from_wheel(_wheel(entries), "x", "tri.whl")
    assert str(caught.value).startswith("tri.whl: ")


@pytest.mark.parametrize("damage", (b"", b"no zip at all", b"cut"))
def test_a_file_that_is_no_zip_is_refused(damage: bytes) -> None:
    data = _wheel({f"{INFO}/variant.json": JSON.encode()}).getvalue()
    broken = data[: len(data) // 2] if damage == b"cut" else damage
    with pytest.raises(InvalidWheel, match="not a readable wheel"):
        read_from_wheel(io.BytesIO(broken), "x", "tri.whl")


def test_a_damaged_entry_is_refused() -> None:
    data = bytearray(_wheel({f"{INFO}/variant.json": JSON.encode() * 20}).getvalue())
    data[60] ^= 0xFF
    with pytest.raises(InvalidWheel, match="not a readable wheel"):
        read_from_wheel(io.BytesIO(bytes(data)), "x", "tri.whl")


@pytest.mark.parametrize("method", (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
def test_damage_is_one_error_however_a_file_is_compressed(method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr(f"{INFO}/{METADATA}", b"abc" * 999)
    data = bytearray(stream.getvalue())
    data[70:80] = bytes(10)
    with pytest.raises(InvalidWheel, match="no readable wheel: "):
        read(io.BytesIO(bytes(data)), {METADATA})


@pytest.fixture(scope="module")
def bomb() -> bytes:
    return _wheel({f"{INFO}/variant.json": bytes(160 << 20)}).getvalue()


@pytest.mark.parametrize("declared", (10, 80 << 20))
@pytest.mark.parametrize("names", ((), (VARIANT_JSON,)), ids=("variant.json", "any file"))
def test_no_more_is_inflated_than_is_taken_whatever_size_is_declared(
    bomb: bytes, declared: int, names: tuple[str, ...]
) -> None:
    data = bytearray(bomb)
    at = data.index(b"PK\1\2") + 24
    data[at : at + 4] = declared.to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises((InvalidWheel, InvalidMetadata)):
            read(io.BytesIO(data), names) if names else read_from_wheel(io.BytesIO(data), "x", "w")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 80 << 20


@pytest.mark.parametrize("method", (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
def test_what_cannot_be_inflated_in_parts_is_refused(method: int) -> None:
    stream = _wheel({f"{INFO}/variant.json": JSON.encode()}, method)
    with pytest.raises(InvalidWheel, match="neither stored nor deflated"):
        read_from_wheel(stream, "x", "w")
    with pytest.raises(InvalidWheel, match="neither stored nor deflated"):
        read(stream, {VARIANT_JSON})
