"""STANDARD: reading, checking and writing variant metadata of format 0.2.0."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from pipvariant.errors import InvalidMetadata
from pipvariant.standard.metadata import (
    MAX_BYTES,
    Metadata,
    Provider,
    from_dict,
    read_variant_json,
    read_variants_json,
    to_dict,
    to_json,
)
from tests.standard import documents

Change = Callable[[dict[str, Any]], object]


def changed(document: dict[str, Any], change: Change) -> str:
    """Return the document after a change, as JSON."""
    document = copy.deepcopy(document)
    change(document)
    return documents.text(document)


def faults_of(data: bytes | str) -> list[tuple[str, str]]:
    with pytest.raises(InvalidMetadata) as caught:
        read_variants_json(data, where="https://example.org/a-1-variants.json")
    assert caught.value.where == "https://example.org/a-1-variants.json"
    assert str(caught.value).startswith("https://example.org/a-1-variants.json: ")
    return list(caught.value.faults)


def test_all_of_a_document_is_read() -> None:
    assert read_variants_json(documents.text(documents.nvidia())) == Metadata(
        namespaces=("nvidia",),
        providers={"nvidia": Provider(requires=("nvidia-variant-provider>=0.0.1",))},
        variants={
            "cu126": {"nvidia": {"cuda_version_lower_bound": ("12.6",)}},
            "cu128": {"nvidia": {"cuda_version_lower_bound": ("12.8",)}},
            "null": {},
        },
        schema="https://variants-schema.wheelnext.dev/v0.2.0.json",
        schema_version=(0, 2, 0),
    )


def test_bytes_with_and_without_bom_are_read() -> None:
    text = documents.text(documents.nvidia())
    expected = read_variants_json(text)
    assert read_variants_json(text.encode()) == expected
    assert read_variants_json(text.encode("utf-8-sig")) == expected
    assert read_variants_json("\ufeff" + text) == expected


def test_static_properties_come_in_feature_order() -> None:
    provider = read_variants_json(documents.text(documents.blas())).providers["blas_lapack"]
    assert provider.static_properties is not None
    assert list(provider.static_properties.items()) == [
        ("threads", ("openmp",)),
        ("library", ("openblas", "mkl")),
    ]


def test_values_of_a_variant_are_sorted() -> None:
    document = documents.nvidia()
    document["variants"]["cu128"]["nvidia"]["sm_arch"] = ["90_real", "100_real"]
    metadata = from_dict(document)
    assert metadata.variants["cu128"]["nvidia"]["sm_arch"] == ("100_real", "90_real")


def test_namespace_without_features_is_no_property() -> None:
    document = documents.nvidia()
    document["variants"]["null"] = {"nvidia": {}}
    assert from_dict(document).variants["null"] == {}


def test_optional_defaults_to_false() -> None:
    document = documents.nvidia()
    assert not from_dict(document).providers["nvidia"].optional
    document["providers"]["nvidia"]["optional"] = True
    assert from_dict(document).providers["nvidia"].optional


def test_builtin_provider_is_read() -> None:
    document = documents.nvidia()
    document["default-priorities"]["namespace"].append("abi_dependency")
    document["providers"]["abi_dependency"] = {"builtin": "abi_dependency"}
    assert from_dict(document).providers["abi_dependency"] == Provider(builtin="abi_dependency")


ENVIRONMENT = {"python_version": "3.12", "sys_platform": "linux", "platform_machine": "x86_64"}


@pytest.mark.parametrize(
    ("requires", "plugin_api", "reference"),
    (
        (["a"], "pkg.mod : Class.attr", "pkg.mod:Class.attr"),
        (["a"], "pkg.mod", "pkg.mod"),
        (["Nvidia-Variant.Provider >=1"], None, "nvidia_variant_provider"),
        (["old; python_version < '3.10'", "New-One; python_version >= '3.10'"], None, "new_one"),
        (["old; python_version < '3.10'"], None, ""),
    ),
)
def test_plugin_api_defaults_to_the_name_of_the_first_applicable_requirement(
    requires: list[str], plugin_api: str | None, reference: str
) -> None:
    document = documents.nvidia()
    document["providers"]["nvidia"] = {"requires": requires}
    if plugin_api is not None:
        document["providers"]["nvidia"]["plugin-api"] = plugin_api
    provider = from_dict(document).providers["nvidia"]
    assert provider.object_reference(ENVIRONMENT) == reference


def test_markers_of_requirements_are_judged_for_the_given_environment() -> None:
    texts = ("old; python_version < '3.10'", "new; python_version >= '3.10'", "both")
    provider = Provider(requires=texts)
    assert provider.applicable_requires(ENVIRONMENT) == texts[1:]
    assert provider.applicable_requires({**ENVIRONMENT, "python_version": "3.9"}) == (
        texts[0],
        texts[2],
    )
    assert provider.object_reference() == "old"


REMOVED = object()


def put(*path: object, to: object) -> Change:
    """Return a change that puts a value at a path, or takes away what is there."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        if to is REMOVED:
            del document[path[-1]]
        else:
            document[path[-1]] = to

    return change


LOWER = ("variants", "cu126", "nvidia", "cuda_version_lower_bound")


@pytest.mark.parametrize(
    ("change", "path", "message"),
    (
        (put("$schema", to=3), "$schema", "must be a string, not a number"),
        (put("$schema", to=None), "$schema", "must be a string, not null"),
        (put("default-priorities", to=REMOVED), "default-priorities", "is missing"),
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
        (
            put("providers", "nvidia", "requires", to=["--index-url=https://example.org"]),
            "providers.nvidia.requires[0]",
            "'--index-url=https://example.org' is not a requirement",
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
        (put("variants", to=REMOVED), "variants", "is missing"),
        (put("variants", to=[]), "variants", "must be an object, not a list"),
        (put("variants", "CU", to={}), "variants", "'CU' is not a variant label"),
        (put("variants", "cu126", to=None), "variants.cu126", "must be an object, not null"),
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
    assert (path, message) in faults_of(changed(documents.nvidia(), change))


def test_namespace_list_is_not_empty() -> None:
    data = changed(documents.nvidia(), put("default-priorities", "namespace", to=[]))
    assert ("default-priorities.namespace", "is empty") in faults_of(data)


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
    assert from_dict(document).providers["blas_lapack"].static_properties == {"library": ("mkl",)}


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


def test_unknown_keys_are_ignored() -> None:
    document = documents.nvidia()
    expected = from_dict(document)
    document["x-new"] = {"deep": [1, 2.5, None, {"a": True}]}
    document["default-priorities"]["x-new"] = 1
    document["providers"]["nvidia"]["x-new"] = []
    assert read_variants_json(documents.text(document)) == expected


def test_keys_of_older_formats_are_ignored_in_newer_ones() -> None:
    document = documents.nvidia()
    expected = from_dict(document)
    document["default-priorities"]["feature"] = {"nvidia": ["sm_arch"]}
    document["default-priorities"]["property"] = {"nvidia": {"sm_arch": "nonsense"}}
    document["providers"]["nvidia"]["enable-if"] = "nonsense"
    document["providers"]["nvidia"]["install-time"] = False
    document["static-properties"] = {"nvidia": {"sm_arch": ["90_real"]}}
    assert from_dict(document) == expected


@pytest.mark.parametrize(
    ("schema", "major"),
    (
        ("https://variants-schema.wheelnext.dev/v9.0.0.json", 9),
        ("https://variants-schema.wheelnext.dev/peps/825/v1.json", 1),
        ("https://example.org/schema/variant-2.0.json", 2),
    ),
)
def test_unknown_major_version_is_refused(schema: str, major: int) -> None:
    # Whatever else is wrong with such a document says nothing.
    data = documents.text({"$schema": schema, "variants": 3})
    assert faults_of(data) == [("$schema", f"format {major} is not supported")]


@pytest.mark.parametrize(
    ("schema", "version"),
    (
        ("https://variants-schema.wheelnext.dev/v0.2.0.json", (0, 2, 0)),
        ("https://variants-schema.wheelnext.dev/peps/826/v0.2.0.json", (0, 2, 0)),
        ("https://variants-schema.wheelnext.dev/v0.2.7.json", (0, 2, 7)),
        ("https://variants-schema.wheelnext.dev/v0.3.0.json", (0, 3, 0)),
        ("https://192.168.0.1:8080/v0.11.json", (0, 11)),
    ),
)
def test_newer_minor_version_is_accepted(schema: str, version: tuple[int, ...]) -> None:
    metadata = from_dict({**documents.nvidia(), "$schema": schema})
    assert (metadata.schema, metadata.schema_version) == (schema, version)
    assert metadata.variants == from_dict(documents.nvidia()).variants


def test_newer_minor_version_may_have_another_kind_of_provider() -> None:
    document = documents.nvidia()
    document["$schema"] = "https://variants-schema.wheelnext.dev/v0.3.0.json"
    document["providers"]["nvidia"] = {"oracle": "delphi"}
    assert from_dict(document).providers["nvidia"] == Provider()


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
    document = documents.nvidia()
    document["variants"] = {f"L{number}" + "X" * 1000: 0 for number in range(5000)}
    faults = faults_of(documents.text(document))
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
        (b" " * (MAX_BYTES + 1), "is larger than 10 MiB"),
    ),
)
def test_what_is_no_metadata_at_all_is_said_so(data: bytes | str, message: str) -> None:
    assert faults_of(data) == [("", message)]


def test_repeated_keys_are_faults() -> None:
    text = documents.text(documents.nvidia())
    doubled = text.replace('"cu128"', '"cu126"')
    assert faults_of(doubled) == [("variants", "the key 'cu126' appears more than once")]
    doubled = text.replace('"variants"', '"providers"')
    assert faults_of(doubled) == [("", "the key 'providers' appears more than once")]
    nested = '{"x": [0, {"a": {"b": 1, "b": 1}}]}'
    assert faults_of(nested) == [("x[1].a", "the key 'b' appears more than once")]


def test_path_to_a_fault_has_a_bound() -> None:
    nested = '{"a": 0, "a": 0}'
    for _ in range(50):
        nested = '{"' + "x" * 50 + '": ' + nested + "}"
    ((path, _),) = faults_of(nested)
    assert path.endswith("x...")
    assert len(path) < 500


def test_keys_that_are_no_strings_are_faults() -> None:
    with pytest.raises(InvalidMetadata, match="must be an object whose keys are strings"):
        from_dict({1: 2})


def test_variant_json_has_exactly_one_label() -> None:
    with pytest.raises(InvalidMetadata) as caught:
        read_variant_json(documents.text(documents.nvidia()), label="cu126", where="a.whl")
    assert caught.value.faults == (("variants", "must have exactly one label, not 3"),)
    with pytest.raises(InvalidMetadata, match="exactly one label, not 0"):
        read_variant_json(changed(documents.nvidia(), put("variants", to={})), label=None)
    with pytest.raises(InvalidMetadata, match="exactly one label, not 3"):
        from_dict(documents.nvidia(), single=True)


def test_variant_json_has_the_label_of_the_filename() -> None:
    properties = {"nvidia": {"cuda_version_lower_bound": ["12.6"]}}
    data = changed(documents.nvidia(), put("variants", to={"cu126": properties}))
    for label in ("cu126", None):
        metadata = read_variant_json(data, label=label)
        assert list(metadata.variants) == ["cu126"]
    with pytest.raises(InvalidMetadata) as caught:
        read_variant_json(data, label="cu128", where="a.whl")
    assert str(caught.value) == (
        "a.whl: variants: the label inside is 'cu126', in the filename it is 'cu128'"
    )


def test_variants_json_may_have_no_variants() -> None:
    assert from_dict({**documents.nvidia(), "variants": {}}).variants == {}


@pytest.mark.parametrize("document", (documents.nvidia(), documents.blas()))
def test_writing_gives_what_was_read(document: dict[str, Any]) -> None:
    metadata = from_dict(document)
    assert to_dict(metadata) == document
    assert json.loads(to_json(metadata)) == document
    again = read_variants_json(to_json(metadata))
    assert again == metadata
    assert to_json(again) == to_json(metadata)


def test_written_text_does_not_depend_on_the_order_of_what_was_read() -> None:
    document = documents.blas()
    turned = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(pairs[::-1]))
    assert to_json(from_dict(turned)) == to_json(from_dict(document))


def test_all_keys_of_a_plugin_provider_are_written() -> None:
    document = documents.nvidia()
    entry = {"requires": ["a", "b"], "plugin-api": "a:B", "optional": True}
    document["providers"]["nvidia"] = entry
    assert to_dict(from_dict(document)) == document


def test_order_of_preference_survives_writing() -> None:
    again = read_variants_json(to_json(from_dict(documents.blas()))).providers["blas_lapack"]
    assert again.static_properties is not None
    assert list(again.static_properties) == ["threads", "library"]
    assert again.static_properties["library"] == ("openblas", "mkl")
