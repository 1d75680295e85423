"""Metadata that is damaged, missing, huge or absurd: one warning, and pip goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.wheels import Wheel, metadata, tri

NAME = "tri-1.0-variants.json"


def good(**changes: Any) -> dict[str, Any]:
    return {**metadata(tri()), **changes}


BODY = json.dumps(good()).encode()
MEGABYTE = 1024 * 1024
DAMAGED = {
    "empty": Reply(b""),
    "login page": Reply(
        b"<!DOCTYPE html><title>Sign in</title>", headers={"Content-Type": "text/html"}
    ),
    "not found": Reply(b"gone", status=404),
    "server error": Reply(b"oops", status=500),
    "forbidden": Reply(b"no", status=403),
    "truncated": Reply(BODY[: len(BODY) // 2], length=len(BODY)),
    "cut short": Reply(BODY[:-20]),
    "huge": Reply(BODY.rstrip(b"}") + b"," + b" " * 11 * MEGABYTE + b'"x": 1}'),
    "huge without a length": Reply(b"[" + b" " * 11 * MEGABYTE + b"]", chunked=True),
    "deeply nested": Reply(b"[" * 100_000 + b"]" * 100_000),
    "not UTF-8": Reply(b'{"$schema": "\xff\xfe"}'),
    "an array": Reply(b"[]"),
    "a number": Reply(b"1"),
    "null": Reply(b"null"),
    "NaN": Reply(b'{"variants": NaN}'),
    "an endless integer": Reply(b'{"variants": ' + b"9" * 10_000 + b"}"),
    "duplicate keys": Reply(BODY[:-1] + b', "variants": {}}'),
    "no keys": Reply(b"{}"),
    "variants as a list": Reply.json(good(variants=[])),
    "labels in capitals": Reply.json(good(variants={"CUDA": {}})),
    "a label of wrong type": Reply.json(good(variants={"cuda12.8": 7})),
    "priorities as a string": Reply.json(good(**{"default-priorities": "nvidia"})),
    "format 9": Reply.json(
        good(**{"$schema": "https://variants-schema.wheelnext.dev/v9.0.0.json"})
    ),
}


@pytest.mark.parametrize("kind", sorted(DAMAGED))
def test_damaged_metadata_costs_one_warning(pip: Pip, index: Index, kind: str) -> None:
    index.add(*tri())
    index.answer(NAME, DAMAGED[kind])
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    (warning,) = result.warnings
    assert index.file_url(NAME) in warning
    assert "Traceback" not in result.output
    assert len(warning) < 1000


def test_the_warning_says_which_format_is_too_new(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(NAME, DAMAGED["format 9"])
    (warning,) = pip.variant("install", "tri", driver="12.8").check().warnings
    assert "9" in warning.replace(index.host, "")


def test_metadata_with_another_hash_than_listed_is_damaged(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.forge(NAME)
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    (warning,) = result.warnings
    assert index.file_url(NAME) in warning


def test_metadata_that_never_comes_is_given_up(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(NAME, Reply(hold=True))
    result = pip.variant("install", "--timeout", "1", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    assert [line for line in result.warnings if index.file_url(NAME) in line]


@pytest.mark.every_pip
def test_missing_metadata_is_read_from_small_wheels(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.unlist(NAME)
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


def test_missing_metadata_of_large_wheels_costs_one_warning(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.unlist(NAME)
    for wheel in tri(plain=False):
        index.answer(wheel.filename, Reply(wheel.content, length=200 * MEGABYTE))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    (warning,) = result.warnings
    assert "tri" in warning


def test_damaged_metadata_of_one_version_leaves_the_others(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0", plain=False), *tri("0.9"))
    index.answer(NAME, Reply(b"{"))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("0.9", "cuda12.8")
    assert len(result.warnings) == 1


def test_a_damaged_file_is_asked_for_once(pip: Pip, index: Index) -> None:
    index.add(*tri(), *tri(name="duo", requires=("tri",)))
    index.answer(NAME, Reply(b"{"))
    result = pip.variant("install", "duo", "tri", driver="12.8").check()
    assert index.requests_for(NAME) == [f"GET /files/{NAME}"]
    assert len(result.warnings) == 1


@pytest.mark.parametrize("kind", ("BOM", "newer minor", "unknown keys"))
def test_metadata_that_is_only_unusual_is_read(pip: Pip, index: Index, kind: str) -> None:
    newer = {"$schema": "https://variants-schema.wheelnext.dev/v0.9.0.json", "extra": {"a": 1}}
    replies = {
        "BOM": Reply(b"\xef\xbb\xbf" + BODY),
        "newer minor": Reply.json(good(**newer)),
        "unknown keys": Reply.json(good(comment=["hello"])),
    }
    index.add(*tri())
    index.answer(NAME, replies[kind])
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


def test_metadata_without_providers_is_answered_by_what_is_built_in(pip: Pip, index: Index) -> None:
    older = good(**{"$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.0.json"})
    del older["providers"]
    index.add(*tri())
    index.answer(NAME, Reply.json(older))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_label_that_is_not_in_the_metadata_is_incompatible(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(NAME, Reply.json(metadata(tri(builds=["12.6"]))))
    pip.variant("install", "tri", driver="13.0").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


def test_null_fits_even_where_the_metadata_does_not_list_it(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer(NAME, Reply.json(metadata(tri(null=False))))
    pip.variant("install", "tri", driver="12.4").check()
    assert pip.build("tri") == ("1.0", "null")


def test_metadata_of_a_project_without_variant_wheels_is_not_asked_for(
    pip: Pip, index: Index
) -> None:
    labelled, plain = tri(builds=["12.8"], null=False)
    index.add(labelled, plain)
    index.unlist(labelled.filename)
    result = pip.variant("install", "tri", driver="12.8").check()
    assert index.requests_for("-variants.json") == []
    assert result.warnings == []


def test_names_are_normalised_as_in_wheels(pip: Pip, index: Index) -> None:
    index.add(*tri(name="tri-angle"))
    pip.variant("install", "Tri.Angle", driver="12.8").check()
    assert pip.label("tri-angle") == "cuda12.8"
    assert index.requests_for("tri_angle-1.0-variants.json")


def test_a_local_version_has_its_own_metadata(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("1.0+ours"))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0+ours", "cuda12.8")
    assert len(index.requests_for("-variants.json")) == 1


@pytest.mark.every_pip
def test_the_next_best_is_taken_for_a_wheel_that_lies_about_its_label(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    other = Wheel(
        "tri", label="cuda13.0", properties=("nvidia :: cuda_version_lower_bound :: 13.0",)
    )
    name = "tri-1.0-py3-none-any-cuda12.8.whl"
    index.answer(name, Reply(other.content))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert [line for line in result.warnings if "cuda12.8" in line and "cuda13.0" in line]
    assert pip.build("tri") == ("1.0", "cuda12.6")
