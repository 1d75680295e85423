"""A wheel from nothing: right name, right record, the same bytes each time."""

from __future__ import annotations

import base64
import hashlib
import io
import zipfile

from pipvariant.authoring.wheel import new_wheel
from pipvariant.standard.metadata import from_dict, read_variant_json

VARIANT = from_dict(
    {
        "$schema": "https://variants-schema.wheelnext.dev/peps/826/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["mkl"]}}},
        "variants": {"mkl": {"blas": {"library": ["mkl"]}}},
    }
)


def test_a_plain_wheel_has_no_label_and_no_variant_json() -> None:
    filename, data = new_wheel("tri", "1.0", {"tri.py": ""})
    assert filename == "tri-1.0-py3-none-any.whl"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert "tri-1.0.dist-info/variant.json" not in archive.namelist()


def test_a_variant_wheel_has_its_label_in_the_name_and_its_metadata_inside() -> None:
    filename, data = new_wheel("tri", "1.0", {"tri.py": ""}, variant=VARIANT)
    assert filename == "tri-1.0-py3-none-any-mkl.whl"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        inside = archive.read("tri-1.0.dist-info/variant.json")
    assert read_variant_json(inside, label="mkl").variants == VARIANT.variants


def test_the_record_names_every_file_with_its_hash_and_size() -> None:
    _, data = new_wheel("tri", "1.0", {"tri.py": "x = 'é'\n"}, variant=VARIANT)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        record = archive.read("tri-1.0.dist-info/RECORD").decode().splitlines()
        rows = {path: (digest, size) for path, digest, size in (r.split(",") for r in record)}
        assert set(rows) == set(archive.namelist())
        for path, (digest, size) in rows.items():
            if path.endswith("RECORD"):
                assert (digest, size) == ("", "")
                continue
            content = archive.read(path)
            expected = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            assert digest == f"sha256={expected.decode()}"
            assert int(size) == len(content)


def test_equal_input_gives_equal_bytes() -> None:
    assert new_wheel("tri", "1.0", {"a.py": "1"}) == new_wheel("tri", "1.0", {"a.py": "1"})
