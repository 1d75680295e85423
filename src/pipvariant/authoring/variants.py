"""Decide which variants to make, and the metadata of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pipvariant.authoring.validation import Ask, fill_static_properties, validate
from pipvariant.errors import InvalidOption
from pipvariant.providers.builtin import BUILT_INS
from pipvariant.standard.filename import NULL_LABEL, check_label
from pipvariant.standard.metadata import ABI_DEPENDENCY, Metadata, Provider
from pipvariant.standard.properties import Properties, Property, from_properties, hash_label
from pipvariant.standard.table import Table

#: Stands for the label that is made of the properties.
HASH = "hash"
_INIT = "`pip-variant variant init` writes a first one."


class Plan(NamedTuple):
    """What is to be made.

    :param variants: the metadata of each variant, in the order in which they are made. All have
        the namespaces and providers of the whole project, so that an index can combine them.
    :param notes: what the user should know.
    """

    variants: tuple[Metadata, ...]
    notes: tuple[str, ...]


def plan_variants(
    properties: Iterable[str],
    labels: Sequence[str],
    *,
    null: bool,
    table: Table | None,
    ask: Ask,
    validating: bool = True,
) -> Plan:
    """Decide which variants to make.

    With properties it is the one that has them, under the given label or that of their hash;
    otherwise those that the table declares, all or the labelled ones.

    :param null: the null variant as well.
    :param table: without one, known providers answer, in the order of the properties.
    :param validating: hold the properties to what their providers know.
    :raises InvalidOption: what is asked for is nothing, or contradicts itself or the table, or
        nobody is known to answer for a namespace.
    :raises InvalidProperty: a text is no property, or one that no provider knows.
    :raises InvalidFilename: a label is none.
    """
    parsed = [Property.parse(text) for text in properties]
    declared = table.metadata.variants if table is not None else {}
    wanted = _given(parsed, labels, declared) if parsed else _declared(labels, declared)
    if null:
        wanted.setdefault(NULL_LABEL, {})
    if not wanted:
        raise InvalidOption(
            "there is no variant to make",
            remedy="Give --property or --null, or declare variants in the [variant] table.",
        )
    table = table or _known_table(parsed)
    for label, needed in wanted.items():
        if missing := sorted(set(needed).difference(table.metadata.namespaces)):
            raise InvalidOption(
                f"the [variant] table has no namespace {', '.join(missing)}, which {label} uses",
                remedy="List it in `default-priorities` and under `providers`.",
            )
    common = fill_static_properties(table, ask)
    notes = validate(wanted, common, ask) if validating else []
    made = tuple(replace(common, variants={label: wanted[label]}) for label in wanted)
    return Plan(made, tuple(notes))


def _given(
    properties: list[Property], labels: Sequence[str], declared: Mapping[str, Properties]
) -> dict[str, Properties]:
    if len(labels) > 1:
        raise InvalidOption(f"one set of properties has one label, not {len(labels)}")
    label = labels[0] if labels and labels[0] != HASH else hash_label(properties)
    grouped = from_properties(properties)
    if label == NULL_LABEL:
        raise InvalidOption(f"the label {NULL_LABEL} is for no properties at all")
    if declared.get(label, grouped) != grouped:
        raise InvalidOption(
            f"the [variant] table declares the label {label} with other properties",
            remedy="One label means one set of properties: leave out --property, or take another"
            " label.",
        )
    return {check_label(label): grouped}


def _declared(labels: Sequence[str], declared: Mapping[str, Properties]) -> dict[str, Properties]:
    possible = {NULL_LABEL: {}, **declared}
    for label in labels:
        if label not in possible:
            raise InvalidOption(
                f"the label {label} is not declared in a [variant] table, so its properties are"
                " not known",
                remedy="Give them with --property, or declare it there under `variants`.",
            )
    return {label: possible[label] for label in labels or sorted(declared)}


def _known_table(properties: Iterable[Property]) -> Table:
    """Return what a table would say for these properties: known providers, in this order."""
    providers = {}
    for namespace in dict.fromkeys(item.namespace for item in properties):
        provider = known_provider(namespace)
        if provider is None:
            raise InvalidOption(
                f"who answers for the namespace {namespace} is not known",
                remedy=f"Say so in the [variant] table of pyproject.toml; {_INIT}",
            )
        providers[namespace] = provider
    if not providers:
        raise InvalidOption(
            "the metadata of a null variant lists the namespaces of the others, and none is known",
            remedy=f"Give --property of another variant too, or a [variant] table; {_INIT}",
        )
    return Table(Metadata(tuple(providers), providers))


def known_provider(namespace: str) -> Provider | None:
    """Return the provider that is published for a namespace, if there is one."""
    if namespace == ABI_DEPENDENCY:
        return Provider(builtin=ABI_DEPENDENCY)
    built_in = BUILT_INS.get(namespace)
    if built_in is None:
        return None
    package = built_in.packages[0]
    plugin_api = None if built_in.is_default else built_in.plugin_apis(package)[-1]
    return Provider(requires=(package,), plugin_api=plugin_api)
