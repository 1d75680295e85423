"""Which variants are made, who answers for them, and whether their properties can be right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from pipvariant.authoring.variants import Plan, plan_variants
from pipvariant.errors import InvalidFilename, InvalidOption, InvalidProperty
from pipvariant.providers.builtin import BUILT_INS
from pipvariant.providers.plugins import Config
from pipvariant.standard.metadata import Provider, from_dict, to_dict
from pipvariant.standard.table import Table, read_table

CU128 = "nvidia :: cuda_version_lower_bound :: 12.8"
V3 = "x86_64 :: level :: v3"
MKL = "blas :: library :: mkl"
HASH_OF_CU128 = "f839a2dd"


@dataclass(frozen=True)
class Plugins:
    """Plugins by namespace: what is asked is what they say, whichever method is meant."""

    configs: Mapping[str, Sequence[Config]]

    def __call__(self, namespace: str, provider: Provider, method: str) -> Sequence[Config] | None:
        return self.configs.get(namespace)


NOBODY = Plugins({})


def table(**variants: Mapping[str, Any]) -> Table:
    return read_table(
        {
            "default-priorities": {"namespace": ["nvidia", "blas"]},
            "providers": {
                "nvidia": {"requires": ["nvidia-variant-provider"]},
                "blas": {"static-properties": {"library": ["openblas", "mkl"]}},
            },
            "variants": variants,
        }
    )


def planned(
    *properties: str,
    labels: Sequence[str] = (),
    null: bool = False,
    table: Table | None = None,
    ask: Plugins = NOBODY,
    validating: bool = True,
) -> Plan:
    return plan_variants(properties, labels, null=null, table=table, ask=ask, validating=validating)


def labels_of(result: Plan) -> list[str]:
    return [label for metadata in result.variants for label in metadata.variants]


DECLARED = {
    "mkl": {"blas": {"library": ["mkl"]}},
    "cu128": {"nvidia": {"cuda_version_lower_bound": ["12.8"]}},
}


@pytest.mark.parametrize("labels", ((), ("hash",)))
def test_without_a_label_it_is_the_hash_of_the_properties(labels: tuple[str, ...]) -> None:
    assert labels_of(planned(CU128, labels=labels)) == [HASH_OF_CU128]


def test_a_label_of_ones_own() -> None:
    (made,) = planned(CU128, labels=["cu128"]).variants
    assert made.variants == {"cu128": {"nvidia": {"cuda_version_lower_bound": ("12.8",)}}}


def test_null_comes_with_the_namespaces_of_the_others() -> None:
    made, null = planned(CU128, V3, null=True).variants
    assert null.variants == {"null": {}}
    assert null.namespaces == made.namespaces == ("nvidia", "x86_64")
    assert null.providers == made.providers


def test_without_a_table_namespaces_are_in_the_order_of_the_properties() -> None:
    assert planned(V3, CU128).variants[0].namespaces == ("x86_64", "nvidia")


@pytest.mark.parametrize("namespace", sorted(BUILT_INS))
def test_without_a_table_known_providers_answer(namespace: str) -> None:
    (made,) = planned(f"{namespace} :: a :: b", validating=False).variants
    (package, *_) = BUILT_INS[namespace].packages
    assert made.providers[namespace].requires == (package,)
    # Of CPUs, uv knows the plugin only without its plugin-api.
    is_cpu = namespace in ("aarch64", "x86_64")
    plugin_api = None if is_cpu else BUILT_INS[namespace].plugin_apis(package)[-1]
    assert made.providers[namespace].plugin_api == plugin_api


def test_what_is_written_can_be_read() -> None:
    for made in planned(CU128, "abi_dependency :: torch :: 2.9", null=True).variants:
        assert to_dict(from_dict(to_dict(made))) == to_dict(made)


def test_an_unknown_namespace_needs_a_table() -> None:
    with pytest.raises(InvalidOption, match=r"namespace foo is not known.*\[variant\] table"):
        planned("foo :: a :: b")


def test_a_null_variant_alone_needs_namespaces() -> None:
    with pytest.raises(InvalidOption, match="none is known"):
        planned(null=True)
    (made,) = planned(null=True, table=table()).variants
    assert made.namespaces == ("nvidia", "blas")


def test_every_declared_variant_is_made() -> None:
    result = planned(table=table(**DECLARED))
    assert labels_of(result) == ["cu128", "mkl"]
    assert {metadata.namespaces for metadata in result.variants} == {("nvidia", "blas")}


def test_null_as_well_as_the_declared_ones() -> None:
    assert labels_of(planned(null=True, table=table(**DECLARED))) == ["cu128", "mkl", "null"]
    declared = {**DECLARED, "null": {}}
    assert labels_of(planned(null=True, table=table(**declared))) == ["cu128", "mkl", "null"]


def test_only_the_labels_that_are_named() -> None:
    assert labels_of(planned(labels=["mkl"], table=table(**DECLARED))) == ["mkl"]
    assert labels_of(planned(labels=["null"], table=table(**DECLARED))) == ["null"]
    assert labels_of(planned(labels=["mkl", "null"], table=table(**DECLARED))) == ["mkl", "null"]


@pytest.mark.parametrize("given", (None, table(**DECLARED)))
def test_a_label_without_properties_has_to_be_declared(given: Table | None) -> None:
    with pytest.raises(InvalidOption, match="the label cu130 is not declared"):
        planned(labels=["cu130"], table=given)


@pytest.mark.parametrize("given", (None, table()))
def test_nothing_to_make_is_a_fault(given: Table | None) -> None:
    with pytest.raises(InvalidOption, match="there is no variant to make"):
        planned(table=given)


def test_one_label_means_one_set_of_properties() -> None:
    assert labels_of(planned(MKL, labels=["mkl"], table=table(**DECLARED))) == ["mkl"]
    with pytest.raises(InvalidOption, match="declares the label mkl with other properties"):
        planned(CU128, labels=["mkl"], table=table(**DECLARED))


def test_one_set_of_properties_has_one_label() -> None:
    with pytest.raises(InvalidOption, match="has one label, not 2"):
        planned(CU128, labels=["a", "b"])


def test_null_is_for_no_properties() -> None:
    with pytest.raises(InvalidOption, match="the label null is for no properties"):
        planned(CU128, labels=["null"])


@pytest.mark.parametrize("label", ("CU128", "", "cu-128", "a b", "../x"))
def test_a_label_of_other_characters_is_refused(label: str) -> None:
    with pytest.raises(InvalidFilename, match="is not a variant label"):
        planned(CU128, labels=[label])


def test_a_namespace_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidOption, match=r"has no namespace x86_64, which .* uses"):
        planned(V3, table=table())


@pytest.mark.parametrize("text", ("nvidia", "a :: b", "a :: b :: c :: d", "A :: b :: c", ""))
def test_what_is_no_property_is_refused(text: str) -> None:
    with pytest.raises(InvalidProperty):
        planned(text)


@pytest.mark.parametrize(
    "text",
    (
        "nvidia :: cuda_version_lower_bound :: 12.8",
        "nvidia :: cuda_version_lower_bound :: 11",
        "nvidia :: cuda_version_upper_bound :: 15.20",
        "nvidia :: sm_arch :: 90_real",
        "nvidia :: sm_arch :: 120_virtual",
        "x86_64 :: level :: v1",
        "x86_64 :: avx512f :: on",
        "aarch64 :: version :: 8a",
        "aarch64 :: version :: 9.0a",
        "aarch64 :: sve2 :: on",
        "abi_dependency :: torch :: 2.9",
        "abi_dependency :: scikit_learn :: 1",
    ),
)
def test_what_a_known_provider_knows_is_accepted(text: str) -> None:
    assert planned(text).notes == ()


@pytest.mark.parametrize(
    ("text", "fault"),
    (
        ("nvidia :: cuda :: 12.8", "nvidia :: cuda is no feature"),
        ("nvidia :: cuda_version_lower_bound :: 12.21", "12.21 is no value"),
        ("nvidia :: cuda_version_lower_bound :: 10.2", "10.2 is no value"),
        ("nvidia :: cuda_version_upper_bound :: 16", "16 is no value"),
        ("nvidia :: sm_arch :: 90", "90 is no value"),
        ("nvidia :: sm_arch :: 86_virtual", "86_virtual is no value"),
        ("nvidia :: sm_arch :: 37_real", "37_real is no value"),
        ("x86_64 :: level :: v5", "v5 is no value"),
        ("x86_64 :: avx512f :: off", "off is no value"),
        ("x86_64 :: sve2 :: on", "x86_64 :: sve2 is no feature"),
        ("aarch64 :: version :: 8.0", "8.0 is no value"),
        ("abi_dependency :: torch :: 2.9.0.1", "2.9.0.1 is no value"),
        ("abi_dependency :: torch_ :: 2.9", "torch_ is no feature"),
    ),
)
def test_what_a_known_provider_does_not_know_is_refused(text: str, fault: str) -> None:
    with pytest.raises(InvalidProperty, match=re.escape(fault)):
        planned(text)
    assert planned(text, validating=False).variants


def test_every_fault_is_told_with_its_label() -> None:
    variants = {
        "a": {"nvidia": {"nope": ["1"]}},
        "b": {"blas": {"library": ["atlas"]}},
    }
    with pytest.raises(InvalidProperty) as raised:
        planned(table=table(**variants))
    assert "a: nvidia :: nope is no feature" in str(raised.value)
    assert "b: blas :: library :: atlas is no value" in str(raised.value)
    assert "--skip-validation" in str(raised.value)


def test_several_values_only_where_a_wheel_may_have_them() -> None:
    arch = ("nvidia :: sm_arch :: 80_real", "nvidia :: sm_arch :: 90_real")
    assert planned(*arch).variants
    with pytest.raises(InvalidProperty, match=r"has one value, not 12\.6, 12\.8"):
        planned(CU128, "nvidia :: cuda_version_lower_bound :: 12.6")


PLUGIN = {
    "default-priorities": {"namespace": ["foo"]},
    "providers": {"foo": {"requires": ["foo-provider"]}},
}
FOO = Plugins({"foo": (Config("size", ("large", "small"), multi_value=False),)})


def test_a_plugin_that_is_not_trusted_is_said_not_to_have_been_asked() -> None:
    result = planned("foo :: size :: huge", table=read_table(PLUGIN))
    (note,) = result.notes
    assert note.startswith("foo: not validated, the plugin package foo-provider is not trusted")
    assert "--trust-provider foo-provider" in note


def test_a_plugin_that_is_trusted_says_what_is_valid() -> None:
    assert planned("foo :: size :: large", table=read_table(PLUGIN), ask=FOO).notes == ()
    for text in ("foo :: size :: huge", "foo :: colour :: red"):
        with pytest.raises(InvalidProperty, match="that the provider knows"):
            planned(text, table=read_table(PLUGIN), ask=FOO)


def test_another_package_of_a_known_namespace_is_a_plugin_like_any_other() -> None:
    other = {
        "default-priorities": {"namespace": ["x86_64"]},
        "providers": {"x86_64": {"requires": ["other-provider"]}},
    }
    assert planned("x86_64 :: level :: v9", table=read_table(other)).notes


def test_markers_of_the_building_machine_do_not_count() -> None:
    other = {
        "default-priorities": {"namespace": ["x86_64"]},
        "providers": {
            "x86_64": {
                "requires": ["provider-variant-x86-64; platform_machine == 'none'"],
                "plugin-api": "provider_variant_x86_64.plugin:X8664Plugin",
            }
        },
    }
    assert planned(V3, table=read_table(other)).notes == ()


AT_BUILD = {
    "default-priorities": {"namespace": ["foo"]},
    "providers": {"foo": {"build-requires": ["foo-provider"], "optional": True}},
}


def test_what_a_plugin_says_at_build_time_becomes_static() -> None:
    configs = (
        Config("size", ("large", "small"), multi_value=False),
        Config("colour", ("red",), multi_value=False),
    )
    ask = Plugins({"foo": configs})
    (made,) = planned("foo :: size :: small", table=read_table(AT_BUILD), ask=ask).variants
    assert to_dict(made)["providers"] == {
        "foo": {
            "static-properties": {"colour": ["red"], "size": ["large", "small"]},
            "feature-order": ["size", "colour"],
            "optional": True,
        }
    }


def test_a_property_that_it_does_not_say_is_refused() -> None:
    with pytest.raises(InvalidProperty, match="foo :: size :: huge is no value"):
        planned("foo :: size :: huge", table=read_table(AT_BUILD), ask=FOO)


def test_a_plugin_at_build_time_has_to_be_trusted() -> None:
    with pytest.raises(InvalidOption, match=r"foo-provider has to be asked.*--trust-provider foo-"):
        planned("foo :: size :: small", table=read_table(AT_BUILD))


def test_what_a_plugin_says_at_build_time_must_not_depend_on_the_machine() -> None:
    def ask(namespace: str, provider: Provider, method: str) -> Sequence[Config]:
        values = ("large", "small") if method == "get_all_configs" else ("small",)
        return (Config("size", values, multi_value=False),)

    with pytest.raises(InvalidProperty, match="its answer depends on the machine"):
        plan_variants(["foo :: size :: small"], [], null=False, table=read_table(AT_BUILD), ask=ask)


def test_a_plugin_at_build_time_allows_no_several_values() -> None:
    ask = Plugins({"foo": (Config("size", ("large", "small"), multi_value=True),)})
    with pytest.raises(InvalidProperty, match="allows several values of size"):
        planned("foo :: size :: small", table=read_table(AT_BUILD), ask=ask)
