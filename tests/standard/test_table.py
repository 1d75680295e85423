"""The [variant] table of pyproject.toml: read strictly, all faults with the path to each."""

from __future__ import annotations

import pytest

from pipvariant.errors import InvalidMetadata
from pipvariant.standard.metadata import Metadata, Provider, from_dict, to_dict
from pipvariant.standard.table import Table, read_table
from tests.standard.documents import REMOVED, Change, Document, blas, nvidia, put


def table() -> Document:
    """A table as large as the document of the same variants, without the schema."""
    document = nvidia()
    del document["$schema"]
    document["providers"]["nvidia"]["plugin-api"] = "nvidia.plugin"
    return document


def faults_of(change: Change) -> tuple[tuple[str, str], ...]:
    document = table()
    change(document)
    with pytest.raises(InvalidMetadata) as raised:
        read_table(document, where="pyproject.toml")
    assert raised.value.where == "pyproject.toml"
    return raised.value.faults


@pytest.mark.parametrize("document", (nvidia(), blas()))
def test_it_says_the_same_as_metadata_of_the_newest_format(document: Document) -> None:
    table = {key: value for key, value in document.items() if key != "$schema"}
    assert to_dict(read_table(table).metadata) == to_dict(from_dict(document))


def test_variants_may_be_left_out() -> None:
    document = table()
    del document["variants"]
    assert read_table(document).metadata.variants == {}


def test_build_requires_names_a_plugin_that_is_asked_when_a_wheel_is_made() -> None:
    entry = {"build-requires": ["blas-provider>=1"], "plugin-api": "blas:Plugin", "optional": True}
    document = {
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": entry},
    }
    provider = Provider(requires=("blas-provider>=1",), plugin_api="blas:Plugin", optional=True)
    expected = Table(Metadata(("blas",), {"blas": provider}), frozenset({"blas"}))
    assert read_table(document) == expected


KINDS = ("requires", "static-properties", "builtin", "build-requires")
KEYS = sorted((*KINDS, "feature-order", "optional", "plugin-api"))
PROVIDER = ("providers", "nvidia")


@pytest.mark.parametrize(
    ("change", "path", "message"),
    (
        (
            put("default-priorities", "namespace", to=[]),
            "default-priorities.namespace",
            "is empty",
        ),
        (
            put("default-priorities", "feature", to={}),
            "default-priorities.feature",
            "'feature' is not one of the keys here: namespace",
        ),
        (put("providers", to=REMOVED), "providers", "is missing"),
        (put("providers", to=[]), "providers", "must be an object, not a list"),
        (put(*PROVIDER, to=[]), "providers.nvidia", "must be an object, not a list"),
        (
            put(*PROVIDER, to={}),
            "providers.nvidia",
            f"must have one of {', '.join(KINDS)}",
        ),
        (
            put(*PROVIDER, "build-requires", to=["a"]),
            "providers.nvidia",
            "must have only one of requires, build-requires",
        ),
        (put(*PROVIDER, "requires", to=[]), "providers.nvidia.requires", "is empty"),
        (
            put(*PROVIDER, to={"build-requires": []}),
            "providers.nvidia.build-requires",
            "is empty",
        ),
        (
            put(*PROVIDER, to={"build-requires": ["a b"]}),
            "providers.nvidia.build-requires[0]",
            "'a b' is not a requirement",
        ),
        (
            put(*PROVIDER, "enable-if", to="True"),
            "providers.nvidia.enable-if",
            f"'enable-if' is not one of the keys here: {', '.join(KEYS)}",
        ),
        (
            put(*PROVIDER, to={"static-properties": {}}),
            "providers.nvidia.static-properties",
            "is empty, so no variant could ever fit",
        ),
        (
            put(*PROVIDER, to={"static-properties": {"a": []}}),
            "providers.nvidia.static-properties.a",
            "is empty",
        ),
        (
            put(*PROVIDER, "feature-order", to=["a"]),
            "providers.nvidia.feature-order",
            "has no meaning without static-properties",
        ),
        (
            put(*PROVIDER, to={"static-properties": {"a": ["b"]}, "plugin-api": "a:b"}),
            "providers.nvidia.plugin-api",
            "has no meaning without requires or build-requires",
        ),
        (
            put("providers", "x", to={"requires": ["a"]}),
            "default-priorities.namespace",
            "'x' is missing, yet it has a provider",
        ),
        (put("variants", to=[]), "variants", "must be an object, not a list"),
        (
            put("variants", "cu130", to={}),
            "variants.cu130",
            "has no properties, which only the label null may",
        ),
        (
            put("variants", "CU", to={"nvidia": {"a": ["b"]}}),
            "variants",
            "'CU' is not a variant label",
        ),
        (
            put("variants", "x", to={"amd": {"a": ["b"]}}),
            "default-priorities.namespace",
            "'amd' is missing, yet variants use it",
        ),
        (
            put("$schema", to="x"),
            "$schema",
            "'$schema' is not one of the keys here: default-priorities, providers, variants",
        ),
    ),
)
def test_a_fault_is_told_with_the_path_to_it(change: Change, path: str, message: str) -> None:
    assert faults_of(change)[0] == (path, message)


def test_missing_priorities_are_one_fault() -> None:
    missing = put("default-priorities", to=REMOVED)
    assert faults_of(missing) == (("default-priorities", "is missing"),)


def test_all_faults_are_told_at_once() -> None:
    def change(document: Document) -> None:
        document["providers"]["nvidia"] = {}
        document["variants"]["x"] = {}
        document["more"] = 1

    assert {path for path, _ in faults_of(change)} == {"providers.nvidia", "variants.x", "more"}


@pytest.mark.parametrize("value", (None, 1, "x", [], ["x"], True))
def test_what_is_no_table_is_refused(value: object) -> None:
    with pytest.raises(InvalidMetadata, match=r"^must be an object"):
        read_table(value)
