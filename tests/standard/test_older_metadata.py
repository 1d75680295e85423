"""STANDARD: every published format of the metadata is understood when reading."""

from __future__ import annotations

from typing import Any

import pytest

from pipvariant.standard.metadata import Provider, from_dict, read_variants_json, to_dict, to_json
from tests.standard import documents

OLDER_URLS = (
    "https://wheelnext.dev/variants.json",
    "https://wheelnext.dev/schema/variant-0.0.2.json",
    "https://variants-schema.wheelnext.dev/v0.0.3.json",
)


def without_providers() -> dict[str, Any]:
    """Return a document of format 0.1.1."""
    document = documents.nvidia()
    document["$schema"] = "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"
    del document["providers"]
    return document


def test_format_0_1_has_no_providers() -> None:
    metadata = from_dict(without_providers())
    assert metadata.schema_version == (0, 1, 1)
    assert metadata.providers == {}
    assert metadata.namespaces == ("nvidia",)
    assert set(metadata.variants) == {"cu126", "cu128", "null"}


@pytest.mark.parametrize(
    ("version", "kept"), (("0.0.3", True), ("0.1.0", True), ("0.1.1", False), ("0.2.0", False))
)
def test_priorities_of_features_and_values_belong_to_formats_before_0_1_1(
    version: str, kept: bool
) -> None:
    document = documents.nvidia()
    document["$schema"] = f"https://variants-schema.wheelnext.dev/v{version}.json"
    document["default-priorities"]["feature"] = {"nvidia": ["sm_arch"]}
    document["default-priorities"]["property"] = {"nvidia": {"sm_arch": ["90_real", "80_real"]}}
    metadata = from_dict(document)
    assert metadata.feature_priorities == ({"nvidia": ("sm_arch",)} if kept else {})
    assert metadata.property_priorities == (
        {"nvidia": {"sm_arch": ("90_real", "80_real")}} if kept else {}
    )


@pytest.mark.parametrize("url", (None, *OLDER_URLS))
def test_older_formats_are_read(url: str | None) -> None:
    document = documents.older()
    if url is None:
        del document["$schema"]
    else:
        document["$schema"] = url
    metadata = from_dict(document)
    assert metadata.schema == (url or "")
    assert metadata.feature_priorities == {"x86_64": ("avx2",)}
    assert metadata.property_priorities == {"x86_64": {"level": ("v2", "v1")}}
    assert metadata.providers == {
        "x86_64": Provider(
            requires=("provider-variant-x86-64; python_version >= '3.9'",),
            plugin_api="provider_variant_x86_64.plugin:X8664Plugin",
            enable_if="platform_machine == 'x86_64'",
        ),
        "blas": Provider(static_properties={"library": ("mkl", "openblas")}, install_time=False),
    }


def test_enable_if_is_a_marker_that_must_hold() -> None:
    provider = from_dict(documents.older()).providers["x86_64"]
    assert provider.is_enabled({"platform_machine": "x86_64"})
    assert not provider.is_enabled({"platform_machine": "aarch64"})
    assert Provider(requires=("a",)).is_enabled({})


@pytest.mark.parametrize(
    ("switch", "static"),
    (
        ({"install-time": False}, {"library": ("mkl", "openblas")}),
        ({"install-time": True}, None),
        ({"plugin-use": "none"}, {"library": ("mkl", "openblas")}),
        ({"plugin-use": "build"}, {"library": ("mkl", "openblas")}),
        ({"plugin-use": "all"}, None),
        ({}, None),
    ),
)
def test_without_install_time_the_static_properties_answer_and_no_plugin(
    switch: dict[str, object], static: dict[str, tuple[str, ...]] | None
) -> None:
    document = documents.older()
    document["providers"]["blas"] = {"requires": ["blas-provider"], **switch}
    provider = from_dict(document).providers["blas"]
    assert provider.static_properties == static
    assert provider.install_time is (static is None)


def test_without_install_time_and_static_properties_nothing_is_supported() -> None:
    document = documents.older()
    del document["static-properties"]
    assert from_dict(document).providers["blas"].static_properties == {}


def test_static_properties_without_provider_are_all_that_there_is() -> None:
    document = documents.older()
    del document["providers"]["blas"]
    expected = Provider(static_properties={"library": ("mkl", "openblas")}, install_time=False)
    assert from_dict(document).providers["blas"] == expected


def test_static_properties_beside_requires_win_in_drafts() -> None:
    document = documents.older()
    document["providers"]["blas"] = {
        "requires": ["blas-provider"],
        "static-properties": {"library": ["openblas"], "threads": ["openmp"]},
    }
    provider = from_dict(document).providers["blas"]
    assert provider.static_properties == {"library": ("openblas",), "threads": ("openmp",)}
    assert provider.requires == ("blas-provider",)


def test_older_formats_may_have_a_builtin_provider() -> None:
    document = documents.older()
    document["providers"]["blas"] = {"builtin": "abi_dependency"}
    assert from_dict(document).providers["blas"].builtin == "abi_dependency"


def test_older_formats_may_leave_out_providers() -> None:
    document = documents.older()
    del document["providers"]["x86_64"]
    assert set(from_dict(document).providers) == {"blas"}


@pytest.mark.parametrize("version", ("0.0.3", "0.1.1", "0.2.0"))
def test_abi_dependency_may_be_missing_from_both_lists(version: str) -> None:
    document = documents.nvidia()
    document["$schema"] = f"https://variants-schema.wheelnext.dev/v{version}.json"
    document["variants"]["torch29"] = {"abi_dependency": {"torch": ["2.9"]}}
    metadata = from_dict(document)
    assert metadata.namespaces == ("nvidia",)
    assert metadata.providers["abi_dependency"] == Provider(builtin="abi_dependency")


def test_abi_dependency_is_listed_like_any_other_when_writing() -> None:
    document = documents.nvidia()
    document["variants"]["torch29"] = {"abi_dependency": {"torch": ["2.9"]}}
    written = to_dict(from_dict(document))
    assert written["default-priorities"] == {"namespace": ["nvidia", "abi_dependency"]}
    again = from_dict(written)
    assert again.namespaces == ("nvidia", "abi_dependency")
    assert again.providers["abi_dependency"] == Provider(builtin="abi_dependency")
    assert to_dict(again) == written


def test_abi_dependency_alone_does_not_make_another_format() -> None:
    document = without_providers()
    document["variants"]["torch29"] = {"abi_dependency": {"torch": ["2.9"]}}
    assert to_dict(from_dict(document)) == document


def test_labels_of_every_length_are_read_though_older_formats_bound_them() -> None:
    document = documents.older()
    document["variants"]["x" * 40] = document["variants"]["v3"]
    assert "x" * 40 in from_dict(document).variants


PROVIDER = ("providers", "x86_64")
PRIORITIES = ("default-priorities",)


@pytest.mark.parametrize(
    ("path", "value", "inner", "message"),
    (
        ((*PROVIDER, "enable-if"), "a b", "", "'a b' is not an environment marker"),
        (
            (*PROVIDER, "enable-if"),
            "python_version < '" + "9" * 5000 + "'",
            "",
            f'"python_version < \'{"9" * 42}"... is not an environment marker',
        ),
        ((*PROVIDER, "enable-if"), 1, "", "must be a string, not a number"),
        ((*PROVIDER, "plugin-use"), "some", "", "'some' is none of all, build, none"),
        ((*PROVIDER, "plugin-use"), 1, "", "must be a string, not a number"),
        ((*PROVIDER, "builtin"), 1, "", "must be a string, not a number"),
        ((*PROVIDER, "install-time"), "no", "", "must be true or false, not a string"),
        ((*PROVIDER, "requires"), None, "", "must be a list of strings, not null"),
        (("providers",), [], "", "must be an object, not a list"),
        (("static-properties",), [], "", "must be an object, not a list"),
        (("static-properties",), {"blas": {"a": ["-"]}}, ".blas.a", "'-' is not a value"),
        ((*PRIORITIES, "feature"), [], "", "must be an object, not a list"),
        ((*PRIORITIES, "feature"), {"a": ["A"]}, ".a", "'A' is not a feature"),
        ((*PRIORITIES, "property"), [], "", "must be an object, not a list"),
        ((*PRIORITIES, "property"), {"a": []}, ".a", "must be an object, not a list"),
        ((*PRIORITIES, "property"), {"a": {"b": ["-"]}}, ".a.b", "'-' is not a value"),
    ),
)
def test_faults_of_older_keys_are_told(
    path: tuple[str, ...], value: object, inner: str, message: str
) -> None:
    data = documents.changed(documents.older(), documents.put(*path, to=value))
    assert documents.faults_of(data) == [(".".join(path) + inner, message)]


@pytest.mark.parametrize(
    "document",
    (documents.older(), without_providers(), documents.nvidia()),
    ids=("older", "without providers", "newest"),
)
def test_writing_loses_nothing_that_selection_depends_on(document: dict[str, Any]) -> None:
    metadata = from_dict(document)
    again = read_variants_json(to_json(metadata))
    assert again.namespaces == metadata.namespaces
    assert again.providers == metadata.providers
    assert again.variants == metadata.variants
    assert again.feature_priorities == metadata.feature_priorities
    assert again.property_priorities == metadata.property_priorities
    assert to_json(again) == to_json(metadata)


@pytest.mark.parametrize(
    ("entry", "priorities"),
    (
        ({"requires": ["a"], "enable-if": "os_name == 'nt'"}, {}),
        ({"requires": [], "static-properties": {"f": ["v"]}, "install-time": False}, {}),
        ({"requires": ["a"], "static-properties": {"f": ["v"]}}, {}),
        ({"requires": [], "static-properties": {"f": ["v"]}, "plugin-api": "a"}, {}),
        ({"requires": []}, {}),
        ({"requires": ["a"]}, {"namespace": ["x86_64", "without_provider"]}),
        ({"requires": ["a"]}, {"feature": {"x86_64": ["f"]}}),
        ({"requires": ["a"]}, {"property": {"x86_64": {"f": ["v"]}}}),
    ),
)
def test_what_only_an_older_format_can_say_is_written_in_it(
    entry: dict[str, Any], priorities: dict[str, Any]
) -> None:
    document = {
        "$schema": OLDER_URLS[-1],
        "default-priorities": {"namespace": ["x86_64"], **priorities},
        "providers": {"x86_64": entry},
        "variants": {},
    }
    assert to_dict(from_dict(document)) == document


def test_newest_format_is_written_when_it_can_say_all() -> None:
    document = documents.older()
    document["default-priorities"] = {"namespace": ["x86_64"]}
    document["providers"] = {"x86_64": {"requires": ["provider-variant-x86-64"]}}
    document["variants"] = {"v3": {"x86_64": {"level": ["v3"]}}}
    del document["static-properties"]
    assert to_dict(from_dict(document)) == {**document, "$schema": documents.URL}
