"""How pip's installed projects are read as plain data."""

from __future__ import annotations

import json

import pytest

from pipvariant.selection.installed import Installed
from pipvariant.shim.core.pip_objects import pip_error
from pipvariant.shim.finding.installed import RECORDED, read_installed, read_recorded
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
