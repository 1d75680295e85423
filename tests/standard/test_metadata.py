"""STANDARD: reading, checking and writing variant metadata of format 0.2.0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipvariant.errors import InvalidMetadata
from pipvariant.standard.metadata import (
    Metadata,
    Provider,
    from_dict,
    read_variant_json,
    read_variants_json,
    to_dict,
    to_json,
)
from tests.standard import documents
from tests.standard.documents import changed, put


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
    with pytest.raises(InvalidMetadata) as caught:
        from_dict({"$schema": schema, "variants": 3}, where="a.json")
    assert str(caught.value) == (
        f"a.json: $schema: format {major} is not supported. "
        "A newer release of pip-variant may understand it."
    )


@pytest.mark.parametrize(
    ("schema", "version"),
    (
        ("https://variants-schema.wheelnext.dev/v0.2.0.json", (0, 2, 0)),
        ("https://variants-schema.wheelnext.dev/peps/826/v0.2.0.json", (0, 2, 0)),
        ("https://variants-schema.wheelnext.dev/v0.2.7.json", (0, 2, 7)),
        ("https://variants-schema.wheelnext.dev/v0.3.0.json", (0, 3, 0)),
        ("https://192.168.0.1:8080/v0.11.json", (0, 11)),
        ("https://host-v0.9.9.example/v0.2.0.json", (0, 2, 0)),
        ("https://host-v0.9.9.example/schema.json", ()),
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


def test_variant_json_has_exactly_one_label() -> None:
    with pytest.raises(InvalidMetadata) as caught:
        read_variant_json(documents.text(documents.nvidia()), label="cu126", where="a.whl")
    assert caught.value.faults == (("variants", "must have exactly one label, not 3"),)
    with pytest.raises(InvalidMetadata, match=r"^variants: must have exactly one label, not 0"):
        read_variant_json(changed(documents.nvidia(), put("variants", to={})), label=None)
    with pytest.raises(InvalidMetadata, match="exactly one label, not 3"):
        from_dict(documents.nvidia(), single=True)
    with pytest.raises(InvalidMetadata, match=r"^a\.whl: is empty"):
        read_variant_json("", label=None, where="a.whl")


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
    assert to_json(metadata) == json.dumps(document, indent=2) + "\n"
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
