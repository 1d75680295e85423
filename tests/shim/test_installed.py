"""What is installed: how it is read, judged, and when a file of the index ranks before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.providers.target import Target
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.installed import Installed, fit, keep, read
from pipvariant.shim.resolving.selector import Candidate, judge
from pipvariant.standard.metadata import SCHEMA_URL, Metadata, from_dict

BLAS = {"static-properties": {"library": ["mkl", "openblas", "blis"]}}
PLUGIN = {"requires": ["blas-provider"]}
FILES = "https://index.invalid/files/"
PAGE = "https://index.invalid/simple/lib/"


def described(
    variants: Mapping[str, Mapping[str, list[str]]],
    providers: Mapping[str, Any] | None = None,
    default: Mapping[str, Any] = BLAS,
) -> dict[str, Any]:
    """A variant.json or variants.json whose variants are label -> namespace -> libraries."""
    names = sorted({name for properties in variants.values() for name in properties} | {"blas"})
    given = providers or {}
    return {
        "$schema": SCHEMA_URL,
        "default-priorities": {"namespace": names},
        "providers": {name: given.get(name, default) for name in names},
        "variants": {
            label: {name: {"library": values} for name, values in properties.items()}
            for label, properties in variants.items()
        },
    }


def known(label: str, properties: Mapping[str, list[str]], **how: Any) -> Installed:
    metadata = from_dict(described({label: properties}, **how))
    return Installed("lib", "1.0", label, metadata)


class Distribution:
    """An installed project, as pip shows it: files of its .dist-info by name."""

    raw_name, version, editable = "Lib", "1.0", False
    canonical_name = "lib"

    def __init__(self, files: Mapping[str, str | Exception]) -> None:
        self._files = files

    def read_text(self, path: str) -> str:
        content = self._files.get(path, FileNotFoundError(path))
        if isinstance(content, Exception):
            raise content
        return content


# Read.


def test_the_label_is_the_one_key_of_variants() -> None:
    text = json.dumps(described({"mkl": {"blas": ["mkl"]}}))
    found = read(Distribution({"variant.json": text}))
    assert (found.name, found.version, found.label, found.problem) == ("Lib", "1.0", "mkl", "")
    assert found.metadata is not None
    assert found.metadata.variants == {"mkl": {"blas": {"library": ("mkl",)}}}
    assert (found.is_variant, str(found)) == (True, "variant mkl")


def test_without_a_variant_json_it_is_a_non_variant_wheel() -> None:
    found = read(Distribution({}))
    assert found == Installed("Lib", "1.0")
    assert (found.is_variant, str(found)) == (False, "the non-variant build")


@pytest.mark.parametrize(
    "content",
    (
        "{",
        "",
        "[]",
        json.dumps(described({})),
        json.dumps(described({"mkl": {"blas": ["mkl"]}, "blis": {"blas": ["blis"]}})),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        PermissionError("no"),
    ),
)
def test_a_variant_json_that_cannot_be_read_is_a_variant_that_is_not_known(
    content: str | Exception,
) -> None:
    found = read(Distribution({"variant.json": content}))
    assert found.is_variant
    assert (found.label, found.metadata) == (None, None)
    assert "variant.json" in found.problem
    assert str(found).startswith("a variant that is not known (")


def test_pips_own_error_for_a_file_it_cannot_read_is_one_of_these() -> None:
    error_class = import_module("pip._internal.exceptions").NoneMetadataError
    found = read(Distribution({"variant.json": error_class(Distribution({}), "variant.json")}))
    assert found.problem


# Judged.


def judged(variant: Installed, target: Target | None = None) -> tuple[bool | None, str]:
    """Whether a variant fits a target, by default this machine, with the reason."""
    assert variant.metadata is not None
    assert variant.label is not None
    run = Run()
    run._target = target
    return fit(variant, judge(run, variant.metadata, (variant.label,), of="lib 1.0"))


def test_a_variant_whose_properties_are_all_supported_fits() -> None:
    assert judged(known("mkl", {"blas": ["mkl"]})) == (True, "")
    assert judged(known("null", {})) == (True, "")


def test_a_variant_with_an_unsupported_property_does_not_fit() -> None:
    assert judged(known("acc", {"blas": ["acc"]})) == (
        False,
        "acc needs blas :: library :: acc, the package's own list has mkl, openblas, blis",
    )


def test_where_nobody_may_answer_it_is_not_known() -> None:
    variant = known("mkl", {"blas": ["mkl"]}, default=PLUGIN)
    fits, reason = judged(variant)
    assert fits is None
    assert "blas-provider" in reason
    assert judged(variant, Target(foreign=True)) == (None, "nobody answers for blas")


def test_what_is_known_not_to_fit_outweighs_what_is_not_known() -> None:
    properties = {"blas": ["mkl"], "other": ["acc"]}
    fits, reason = judged(known("both", properties, providers={"blas": PLUGIN}))
    assert fits is False
    assert reason.startswith("both needs other :: library :: acc")


# Compared with the files of the index.


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """A run of `install --upgrade-variant` with everything patched."""
    made = shim.apply()
    made.command, made.upgrade_variant = "install", True
    try:
        shim.activate(made)
        yield made
    finally:
        shim.undo()


def _better(
    run: Run,
    have: Installed,
    labels: Mapping[str, Mapping[str, list[str]]],
    *,
    plain: bool = True,
    index: Metadata | None = None,
) -> list[str]:
    """The labels that replace what is installed, best first; "" for the non-variant wheel."""
    version = import_module("pip._vendor.packaging.version").Version("1.0")
    make_link = import_module("pip._internal.models.link").Link
    candidates = [
        Candidate("lib", version, make_link(f"{FILES}lib-1.0-py3-none-any{end}.whl", PAGE), label)
        for label, end in [
            *((label, f"-{label}") for label in labels),
            *([("", "")] if plain else []),
        ]
    ]
    run.metadata[PAGE, "lib", version] = index or from_dict(described(labels))
    run.replaceable["lib", version] = have
    ordered = run.order(None, candidates, None)
    return [str(payload) for payload in ordered[: ordered.index(keep)]]


LABELS = {label: {"blas": [label]} for label in ("openblas", "mkl", "blis")}


@pytest.mark.parametrize(
    ("have", "better"),
    (("mkl", []), ("openblas", ["mkl"]), ("blis", ["mkl", "openblas"])),
)
def test_labels_that_rank_before_the_installed_one(run: Run, have: str, better: list[str]) -> None:
    assert _better(run, known(have, LABELS[have]), {**LABELS, "null": {}}) == better


def test_every_label_and_null_rank_before_the_non_variant_wheel(run: Run) -> None:
    have = Installed("lib", "1.0")
    assert _better(run, have, {**LABELS, "null": {}}) == ["mkl", "openblas", "blis", "null"]
    assert _better(run, have, {}) == []


def test_every_other_label_ranks_before_null(run: Run) -> None:
    have = known("null", {})
    assert _better(run, have, {**LABELS, "null": {}}) == ["mkl", "openblas", "blis"]
    # Null fits even where the metadata does not list it.
    assert _better(run, have, {"mkl": {"blas": ["mkl"]}}) == ["mkl"]
    assert _better(run, have, {}) == []


def test_all_that_fit_rank_before_what_no_longer_fits(run: Run) -> None:
    have = known("acc", {"blas": ["acc"]})
    labels = {"blis": {"blas": ["blis"]}, "acc": {"blas": ["acc"]}}
    assert _better(run, have, labels) == ["blis", ""]


def test_all_that_fit_rank_before_what_is_not_known(run: Run) -> None:
    have = Installed("lib", "1.0", problem="variant.json: broken")
    assert _better(run, have, {"blis": {"blas": ["blis"]}}) == ["blis", ""]


def test_what_the_source_does_not_know_has_no_place_in_its_order(run: Run) -> None:
    labels = {"mkl": {"blas": ["mkl"]}}
    assert _better(run, known("mine", {"blas": ["blis"]}), labels) == []
    # The same label with other properties is another variant.
    have = known("blis", {"blas": ["blis", "openblas"]})
    assert _better(run, have, {**labels, "blis": {"blas": ["blis"]}}) == []


def test_a_source_is_named_without_its_password(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    version = import_module("pip._vendor.packaging.version").Version("1.0")
    page = "https://user:secret@index.invalid/simple/lib/"
    link = import_module("pip._internal.models.link").Link(
        f"{FILES}lib-1.0-py3-none-any-mkl.whl", page
    )
    run.metadata[page, "lib", version] = from_dict(described(LABELS))
    run.replaceable["lib", version] = known("mine", {"blas": ["blis"]})
    caplog.set_level("INFO")
    assert run.order(None, [Candidate("lib", version, link, "mkl")], None) == [keep, "mkl"]
    (line,) = [text for text in caplog.messages if "does not know it" in text]
    assert line.startswith("lib 1.0: variant mine is kept; it fits, and https://user:****@index")


def test_what_nobody_can_judge_stays(run: Run) -> None:
    have = known("blis", {"blas": ["blis"]}, default=PLUGIN)
    assert _better(run, have, LABELS) == []


def test_the_others_follow_without_the_same_label(run: Run) -> None:
    _better(run, known("openblas", LABELS["openblas"]), LABELS)
    version = import_module("pip._vendor.packaging.version").Version("1.0")
    make_link = import_module("pip._internal.models.link").Link
    candidates = [
        Candidate("lib", version, make_link(f"{FILES}lib-1.0-{tag}-none-any{end}.whl", PAGE), name)
        for tag in ("py311", "py3")
        for end, name in (("-blis", "blis"), ("-openblas", "openblas"), ("-mkl", "mkl"), ("", ""))
    ]
    expected = ["mkl", "mkl", keep, "blis", "blis", "", ""]
    assert run.order(None, candidates, None) == expected


def test_other_versions_are_ordered_as_always(run: Run) -> None:
    version = import_module("pip._vendor.packaging.version").Version("2.0")
    make_link = import_module("pip._internal.models.link").Link
    link = make_link(f"{FILES}lib-2.0-py3-none-any.whl", PAGE)
    run.replaceable["lib", "1.0"] = known("mkl", LABELS["mkl"])
    assert run.order(None, [Candidate("lib", version, link, "file")], None) == ["file"]


def test_a_file_with_a_forbidden_hash_replaces_nothing(run: Run) -> None:
    version = import_module("pip._vendor.packaging.version").Version("1.0")
    link = import_module("pip._internal.models.link").Link(
        f"{FILES}lib-1.0-py3-none-any-mkl.whl#sha256={'0' * 64}", PAGE
    )
    run.metadata[PAGE, "lib", version] = from_dict(described(LABELS))
    run.replaceable["lib", version] = Installed("lib", "1.0")
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: [])
    assert run.order(finder, [Candidate("lib", version, link, "mkl")], hashes) == [keep]
    assert run.order(None, [Candidate("lib", version, link, "mkl")], None) == ["mkl", keep]
