"""STANDARD: metadata that breaks a rule is refused, with all faults and where they are."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Callable

import pytest

from pipvariant.errors import InvalidMetadata
from pipvariant.standard.bounds import MAX_BYTES
from pipvariant.standard.metadata import decode_json, from_dict, read_variants_json, to_dict
from tests.standard import documents
from tests.standard.documents import REMOVED, Change, changed, faults_of, put

LOWER = ("variants", "cu126", "nvidia", "cuda_version_lower_bound")


@pytest.mark.parametrize(
    ("change", "path", "message"),
    (
        (put("$schema", to=3), "$schema", "must be a string, not a number"),
        (put("$schema", to=None), "$schema", "must be a string, not null"),
        (put("default-priorities", to=[]), "default-priorities", "must be an object, not a list"),
        (put("default-priorities", to={}), "default-priorities.namespace", "is missing"),
        (
            put("default-priorities", "namespace", to="nvidia"),
            "default-priorities.namespace",
            "must be a list of strings, not a string",
        ),
        (
            put("default-priorities", "namespace", to=["nvidia", True]),
            "default-priorities.namespace[1]",
            "must be a string, not true or false",
        ),
        (
            put("default-priorities", "namespace", to=["nvidia", "nvidia"]),
            "default-priorities.namespace",
            "'nvidia' is listed twice",
        ),
        (
            put("default-priorities", "namespace", to=["nvidia", "X"]),
            "default-priorities.namespace",
            "'X' is not a namespace",
        ),
        (put("providers", to=REMOVED), "providers", "is missing"),
        (put("providers", to="x"), "providers", "must be an object, not a string"),
        (put("providers", "X", to={"requires": ["a"]}), "providers", "'X' is not a namespace"),
        (put("providers", "nvidia", to=[]), "providers.nvidia", "must be an object, not a list"),
        (put("providers", "nvidia", "requires", to=[]), "providers.nvidia.requires", "is empty"),
        (
            put("providers", "nvidia", "requires", to="a"),
            "providers.nvidia.requires",
            "must be a list of strings, not a string",
        ),
        (
            put("providers", "nvidia", "requires", to=["a", "b c"]),
            "providers.nvidia.requires[1]",
            "'b c' is not a requirement",
        ),
        *(
            (
                put("providers", "nvidia", "requires", to=[text]),
                "providers.nvidia.requires[0]",
                f"{text[:60]!r}... is not a requirement",
            )
            for text in (f"a=={'9' * 5000}", f"a>=1; python_version < '{'9' * 1000}'")
        ),
        (
            put("providers", "nvidia", "requires", to=["--index-url=https://example.org"]),
            "providers.nvidia.requires[0]",
            "'--index-url=https://example.org' is not a requirement",
        ),
        (
            put("providers", "nvidia", "plugin-api", to=1),
            "providers.nvidia.plugin-api",
            "must be a string, not a number",
        ),
        (
            put("providers", "nvidia", "plugin-api", to="a b"),
            "providers.nvidia.plugin-api",
            "'a b' is not module:object",
        ),
        (
            put("providers", "nvidia", "plugin-api", to="a:b:c"),
            "providers.nvidia.plugin-api",
            "'a:b:c' is not module:object",
        ),
        (
            put("providers", "nvidia", "plugin-api", to="..a"),
            "providers.nvidia.plugin-api",
            "'..a' is not module:object",
        ),
        (
            put("providers", "nvidia", "optional", to="yes"),
            "providers.nvidia.optional",
            "must be true or false, not a string",
        ),
        (
            put("providers", "nvidia", to={"static-properties": {"a": ["B"]}}),
            "providers.nvidia.static-properties.a",
            "'B' is not a value",
        ),
        (
            put("providers", "nvidia", to={"static-properties": {"a.b": ["1"]}}),
            "providers.nvidia.static-properties",
            "'a.b' is not a feature",
        ),
        (
            put("providers", "nvidia", to={"static-properties": {}, "feature-order": ["A"]}),
            "providers.nvidia.feature-order",
            "'A' is not a feature",
        ),
        (
            put("providers", "nvidia", to={"builtin": 1}),
            "providers.nvidia.builtin",
            "must be a string, not a number",
        ),
        (put("variants", to=REMOVED), "variants", "is missing"),
        (put("variants", to=[]), "variants", "must be an object, not a list"),
        (put("variants", "CU", to={}), "variants", "'CU' is not a variant label"),
        (put("variants", "cu126", to=None), "variants.cu126", "must be an object, not null"),
        (
            put("variants", "cu126", to={"X": {"a": ["x"]}}),
            "variants.cu126",
            "'X' is not a namespace",
        ),
        (
            put("variants", "cu126", to={"nvidia": ["x"]}),
            "variants.cu126.nvidia",
            "must be an object, not a list",
        ),
        (
            put("variants", "cu126", to={"nvidia": {"A": ["x"]}}),
            "variants.cu126.nvidia",
            "'A' is not a feature",
        ),
        (
            put(*LOWER, to="12.6"),
            "variants.cu126.nvidia.cuda_version_lower_bound",
            "must be a list of strings, not a string",
        ),
        (
            put(*LOWER, to=[]),
            "variants.cu126.nvidia.cuda_version_lower_bound",
            "is empty, so no target could ever support it",
        ),
        (
            put(*LOWER, to=["12-6"]),
            "variants.cu126.nvidia.cuda_version_lower_bound",
            "'12-6' is not a value",
        ),
        (
            put(*LOWER, to=["12.6", "12.6"]),
            "variants.cu126.nvidia.cuda_version_lower_bound",
            "'12.6' is listed twice",
        ),
        (
            put(*LOWER, to=[12.6]),
            "variants.cu126.nvidia.cuda_version_lower_bound[0]",
            "must be a string, not a number",
        ),
    ),
)
def test_fault_is_told_with_its_path(change: Change, path: str, message: str) -> None:
    assert faults_of(changed(documents.nvidia(), change))[0] == (path, message)


def test_missing_priorities_are_one_fault() -> None:
    data = changed(documents.nvidia(), put("default-priorities", to=REMOVED))
    assert faults_of(data) == [("default-priorities", "is missing")]


def test_namespace_list_is_not_empty() -> None:
    data = changed(documents.nvidia(), put("default-priorities", "namespace", to=[]))
    assert faults_of(data) == [("default-priorities.namespace", "is empty")]


def test_namespace_list_has_all_namespaces_that_variants_use() -> None:
    data = changed(documents.nvidia(), put("variants", "v3", to={"x86_64": {"level": ["v3"]}}))
    assert faults_of(data) == [
        ("default-priorities.namespace", "'x86_64' is missing, yet variants use it")
    ]


def test_priorities_and_providers_have_the_same_namespaces() -> None:
    data = changed(documents.nvidia(), put("providers", "x86_64", to={"requires": ["a"]}))
    assert faults_of(data) == [
        ("default-priorities.namespace", "'x86_64' is missing, yet it has a provider")
    ]
    data = changed(documents.nvidia(), put("default-priorities", "namespace", to=["nvidia", "b"]))
    assert faults_of(data) == [("providers", "'b' is missing, yet it has a priority")]


def test_a_schema_version_may_have_two_numbers() -> None:
    document = {**documents.nvidia(), "$schema": "https://example.org/v0.2.json"}
    document["default-priorities"]["namespace"] = ["nvidia", "b"]
    document["providers"]["nvidia"] = {}
    assert faults_of(documents.text(document)) == [
        ("providers.nvidia", "must have one of requires, static-properties, builtin"),
        ("providers", "'b' is missing, yet it has a priority"),
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    (
        ({}, "must have one of requires, static-properties, builtin"),
        ({"optional": True}, "must have one of requires, static-properties, builtin"),
        (
            {"requires": ["a"], "static-properties": {"f": ["v"]}},
            "must have only one of requires, static-properties",
        ),
        (
            {"requires": ["a"], "builtin": "abi_dependency"},
            "must have only one of requires, builtin",
        ),
    ),
)
def test_provider_is_of_exactly_one_kind(entry: dict[str, object], message: str) -> None:
    data = changed(documents.nvidia(), put("providers", "nvidia", to=entry))
    assert faults_of(data) == [("providers.nvidia", message)]


def test_feature_order_is_required_for_more_than_one_feature() -> None:
    change = put("providers", "blas_lapack", "feature-order", to=REMOVED)
    assert faults_of(changed(documents.blas(), change)) == [
        ("providers.blas_lapack.feature-order", "is missing, yet there are several features")
    ]
    document = documents.blas()
    document["providers"]["blas_lapack"] = {"static-properties": {"library": ["mkl"]}}
    metadata = from_dict(document)
    assert metadata.providers["blas_lapack"].static_properties == {"library": ("mkl",)}
    assert to_dict(metadata) == document


@pytest.mark.parametrize("order", (["library"], ["library", "threads", "x"], []))
def test_feature_order_lists_each_feature_once(order: list[str]) -> None:
    data = changed(documents.blas(), put("providers", "blas_lapack", "feature-order", to=order))
    assert faults_of(data) == [
        (
            "providers.blas_lapack.feature-order",
            "must list the features of static-properties, each once",
        )
    ]


def test_null_has_zero_properties_and_zero_properties_are_null() -> None:
    data = changed(documents.nvidia(), put("variants", "null", to={"nvidia": {"a": ["1"]}}))
    assert faults_of(data) == [("variants.null", "must have no properties")]
    empty: tuple[dict[str, object], ...] = ({}, {"nvidia": {}})
    for nothing in empty:
        data = changed(documents.nvidia(), put("variants", "cpu", to=nothing))
        assert faults_of(data) == [
            ("variants.cpu", "has no properties, which only the label null may")
        ]


def test_all_faults_are_told_at_once() -> None:
    document = documents.nvidia()
    document["default-priorities"]["namespace"] = ["nvidia", "X"]
    document["providers"]["nvidia"]["optional"] = 1
    document["variants"]["cu126"] = []
    paths = [path for path, _ in faults_of(documents.text(document))]
    assert paths[:3] == [
        "default-priorities.namespace",
        "variants.cu126",
        "providers.nvidia.optional",
    ]


def test_faults_of_a_hostile_document_are_counted() -> None:
    labels = [f"L{number}" + "X" * 1000 for number in range(5000)]
    few = put("variants", to=dict.fromkeys(labels[:50], 0))
    assert len(faults_of(changed(documents.nvidia(), few))) == 100
    many = put("variants", to=dict.fromkeys(labels, 0))
    faults = faults_of(changed(documents.nvidia(), many))
    assert len(faults) == 101
    assert faults[-1] == ("", "and 9900 more faults")
    assert sum(len(path) + len(message) for path, message in faults) < 30_000


def test_messages_hold_nothing_that_a_terminal_obeys() -> None:
    document = documents.nvidia()
    document["variants"]["\x1b[2J\u202e"] = {"\x07": {"\x08": ["\ud800"]}}
    document["providers"]["\x1b]0;x"] = 1
    with pytest.raises(InvalidMetadata) as caught:
        read_variants_json(documents.text(document))
    assert str(caught.value).isprintable()
    assert str(caught.value).isascii()


@pytest.mark.parametrize(
    ("data", "message"),
    (
        (b"", "is empty"),
        (" \n ", "is empty"),
        (" " * 1000, "is empty"),
        ("<!DOCTYPE html><html>Log in</html>", "is an HTML page, not JSON"),
        (b"\n\n <html>404</html>", "is an HTML page, not JSON"),
        (b"\xff\xfe{\x00}\x00", "is not UTF-8"),
        ('{"a": ', "is not JSON: Expecting value (line 1, column 7)"),
        ('{"a": NaN}', "is not JSON: NaN is not a JSON value"),
        ('{"a": -Infinity}', "is not JSON: -Infinity is not a JSON value"),
        ("[" * 100_000, "is nested too deeply"),
        ('{"a":' * 100_000, "is nested too deeply"),
        ("[]", "must be an object, not a list"),
        ("null", "must be an object, not null"),
        ('"x"', "must be an object, not a string"),
        ("1" * 100_000, "must be an object, not a number"),
        ("1e999999", "must be an object, not a number"),
        (b" " * MAX_BYTES, "is empty"),
        (b" " * (MAX_BYTES + 1), "is larger than 10 MiB"),
        ("[" + "0," * 249_999 + "0]", "must be an object, not a list"),
        ("[" + "0," * 250_000 + "0]", "has more than 250,000 values"),
        ("[" + "[]" * 250_000, "has more than 250,000 values"),
        ("[" + "{}" * 250_000, "has more than 250,000 values"),
    ),
)
def test_what_is_no_metadata_at_all_is_said_so(data: bytes | str, message: str) -> None:
    assert faults_of(data) == [("", message)]


def test_a_deep_document_with_a_repeated_key_takes_little_memory() -> None:
    deep = "[" * 500 + "0," * 20_000 + "0" + "]" * 500
    tracemalloc.start()
    try:
        (fault,) = faults_of(f'{{"a": 1, "a": 2, "b": {deep}}}')
        assert fault == ("", "the key 'a' appears more than once")
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_every_number_is_decoded_as_zero() -> None:
    assert decode_json("[1, -2.5e3]") == [0, 0]


@pytest.mark.parametrize("reader", (decode_json, read_variants_json))
def test_a_fault_is_told_without_a_file_too(reader: Callable[[str], object]) -> None:
    with pytest.raises(InvalidMetadata, match=r"^is empty$"):
        reader("")


def test_repeated_keys_are_faults() -> None:
    text = documents.text(documents.nvidia())
    doubled = text.replace('"cu128"', '"cu126"')
    assert faults_of(doubled) == [("variants", "the key 'cu126' appears more than once")]
    doubled = text.replace('"variants"', '"providers"')
    assert faults_of(doubled) == [("", "the key 'providers' appears more than once")]
    nested = '{"x": [0, {"a": {"b": 1, "b": 1}}]}'
    assert faults_of(nested) == [("x[1].a", "the key 'b' appears more than once")]


@pytest.mark.parametrize(("depth", "path"), ((8, "x.x.x.x.x.x.x.x"), (9, "x.x.x.x.x.x.x.x...")))
def test_path_to_a_fault_has_a_bound(depth: int, path: str) -> None:
    nested = '{"x": ' * depth + '{"a": 0, "a": 0}' + "}" * depth
    assert faults_of(nested) == [(path, "the key 'a' appears more than once")]


def test_names_in_faults_have_a_bound() -> None:
    whole = "L" * 60
    data = changed(documents.nvidia(), put("variants", to={whole: 0, whole + "L": 0}))
    assert faults_of(data) == [
        ("variants", f"'{whole}' is not a variant label"),
        (f"variants.{whole}", "must be an object, not a number"),
        ("variants", f"'{whole}'... is not a variant label"),
        (f"variants.'{whole}'...", "must be an object, not a number"),
    ]


def test_keys_may_be_strings_of_a_parsers_own() -> None:
    class Key(str):
        __slots__ = ()

    document = {Key(key): value for key, value in documents.nvidia().items()}
    assert from_dict(document) == from_dict(documents.nvidia())


def test_keys_that_are_no_strings_are_faults() -> None:
    with pytest.raises(InvalidMetadata, match=r"^must be an object whose keys are strings$"):
        from_dict({1: 2})


def test_values_that_only_toml_has_are_named_by_their_type() -> None:
    with pytest.raises(InvalidMetadata, match="must be an object, not date"):
        from_dict(dt.date(2026, 1, 1))
