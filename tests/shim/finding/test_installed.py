"""How pip's installed projects are read as plain data."""

from __future__ import annotations

import json
import logging
from importlib import import_module
from pathlib import Path

import pytest

from pipvariant.selection.installed import Installed
from pipvariant.shim.core.pip_objects import pip_error
from pipvariant.shim.finding.installed import (
    RECORDED,
    find_all_installed,
    find_installed,
    installed_version,
    read_installed,
    read_recorded,
)
from pipvariant.standard.metadata import SCHEMA_URL
from tests.shim.finder import Distribution

MKL, BLIS = ({label: {"blas": {"library": [label]}}} for label in ("mkl", "blis"))


def described(variants: object) -> str:
    provider = {"static-properties": {"library": ["mkl", "openblas", "blis"]}}
    return json.dumps(
        {
            "$schema": SCHEMA_URL,
            "default-priorities": {"namespace": ["blas"]},
            "providers": {"blas": provider},
            "variants": variants,
        }
    )


def test_the_label_is_the_one_key_of_variants() -> None:
    found = read_installed(Distribution({"variant.json": described(MKL)}))
    assert (found.name, found.version, found.label, found.problem) == ("Lib", "1.0", "mkl", "")
    assert found.metadata is not None
    assert found.metadata.variants == {"mkl": {"blas": {"library": ("mkl",)}}}
    assert (found.is_variant, str(found)) == (True, "variant mkl")


def test_without_a_variant_json_it_is_a_non_variant_wheel() -> None:
    found = read_installed(Distribution({}))
    assert found == Installed("Lib", "1.0")
    assert (found.is_variant, str(found)) == (False, "the non-variant build")


@pytest.mark.parametrize(
    "content",
    (
        "{",
        "",
        "[]",
        described({}),
        described({**MKL, **BLIS}),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        PermissionError("no"),
    ),
)
def test_a_variant_json_that_cannot_be_read_is_a_variant_that_is_not_known(
    content: str | Exception,
) -> None:
    found = read_installed(Distribution({"variant.json": content}))
    assert found.is_variant
    assert (found.label, found.metadata) == (None, None)
    assert "variant.json" in found.problem
    assert str(found).startswith("a variant that is not known (")


def test_pips_own_error_for_a_file_it_cannot_read_is_one_of_these() -> None:
    error = pip_error("NoneMetadataError")(Distribution({}), "variant.json")
    assert read_installed(Distribution({"variant.json": error})).problem
    assert read_recorded(Distribution({RECORDED: error})) is None


def test_the_labels_that_there_were_are_read_or_not_known() -> None:
    recorded = read_recorded(Distribution({RECORDED: described({**MKL, **BLIS})}))
    assert recorded is not None
    assert recorded.variants.keys() == {"mkl", "blis"}
    for files in ({}, {RECORDED: "{"}):
        assert read_recorded(Distribution(files)) is None


# Damaged environments, by pip's own two ways to read them.

WHOLE = "Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n"


@pytest.mark.parametrize("backend", ("importlib", "pkg_resources"))
@pytest.mark.parametrize(
    ("folder", "content", "version"),
    (
        ("lib-2010i.dist-info", WHOLE.replace("1.0", "2010i").encode(), "2010i"),
        ("lib-1.0.dist-info", b"", "1.0"),
        ("lib-1.0.dist-info", None, "1.0"),
        ("lib-1.0.dist-info", b"Metadata-Version: 2.1\nVersion: 1.0\n", "1.0"),
        ("lib-1.0.dist-info", b"Metadata-Version: 2.1\nName: lib\n", "1.0"),
        ("lib-1.0.dist-info", f"{WHOLE}Author: José\n".encode("latin-1"), "1.0"),
        ("lib.egg-info", b"", ""),
        ("~ib-1.0.dist-info", WHOLE.encode(), None),
    ),
)
def test_what_is_damaged_is_read_as_far_as_it_goes(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    backend: str,
    folder: str,
    content: bytes | None,
    version: str | None,
) -> None:
    for each, name in ((folder, "variant.json"), ("other-1.0.dist-info", RECORDED)):
        (tmp_path / each).mkdir()
        (tmp_path / each / name).write_text("{")
    if content is not None:
        (tmp_path / folder / "METADATA").write_bytes(content)
    module = import_module(f"pip._internal.metadata.{backend}")
    environment = module.Environment.from_paths([str(tmp_path)])
    found = {each.canonical_name: each for each in find_all_installed(environment)}
    assert read_recorded(found["other"]) is None
    assert (found.keys() == {"other"}) == (version is None)
    if version is not None:
        assert installed_version("lib", environment) == version
        assert read_installed(find_installed("lib", environment)).problem
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
