"""The ``[variant]`` table of pyproject.toml: what is to be written into the wheels of a project."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from pipvariant.standard._faults import Faults, Path, quote
from pipvariant.standard._model import Metadata
from pipvariant.standard._providers import TABLE_KINDS, read_table_providers
from pipvariant.standard._reading import check_namespaces, read_namespaces, read_variants

_KEYS = ("default-priorities", "providers", "variants")
_PROVIDER_KEYS = (*TABLE_KINDS, "feature-order", "optional", "plugin-api")


@dataclass(frozen=True)
class Table:
    """The ``[variant]`` table of a project (PEP 825, PEP 850).

    :param metadata: namespaces, providers, and the variants that the project declares, which may
        be none.
    :param at_build: the namespaces whose plugin is asked when a wheel is made, because
        ``build-requires`` names it; their ``requires`` are those.
    """

    metadata: Metadata
    at_build: frozenset[str] = frozenset()


def read_table(obj: object, *, where: str = "") -> Table:
    """Read the ``[variant]`` table.

    Unlike in the files of an index an unknown key is a fault here: its author is there to mend it.

    :raises InvalidMetadata: with every fault, each with the path to it inside the table.
    """
    faults = Faults()
    table = faults.table(obj, ())
    _check_keys(table, (), _KEYS, faults)
    priorities = faults.required(table, "default-priorities")
    _check_keys(priorities, ("default-priorities",), ("namespace",), faults)
    namespaces = read_namespaces(priorities, faults) if "default-priorities" in table else ()
    providers = read_table_providers(table, faults)
    listed = table.get("providers")
    entries = {
        namespace: entry
        for namespace, entry in (listed.items() if isinstance(listed, dict) else ())
        if isinstance(entry, dict)
    }
    for namespace, entry in entries.items():
        _check_provider(entry, ("providers", namespace), faults)
    variants = read_variants(faults.table(table.get("variants", {}), ("variants",)), faults)
    used = {namespace for properties in variants.values() for namespace in properties}
    if namespaces:
        check_namespaces(namespaces, providers, used, faults)
    faults.raise_any(where)
    at_build = frozenset(name for name, entry in entries.items() if "build-requires" in entry)
    return Table(Metadata(namespaces, providers, variants), at_build)


def _check_provider(entry: Mapping[str, object], path: Path, faults: Faults) -> None:
    """Check what a reader forgives and a writer must not write."""
    _check_keys(entry, path, _PROVIDER_KEYS, faults)
    static = entry.get("static-properties")
    if static == {}:
        faults.add((*path, "static-properties"), "is empty, so no variant could ever fit")
    elif isinstance(static, dict):
        for feature, values in static.items():
            if values == []:
                faults.add((*path, "static-properties", feature), "is empty")
    if "feature-order" in entry and "static-properties" not in entry:
        faults.add((*path, "feature-order"), "has no meaning without static-properties")
    if "plugin-api" in entry and not {"requires", "build-requires"} & set(entry):
        faults.add((*path, "plugin-api"), "has no meaning without requires or build-requires")


def _check_keys(
    table: Mapping[str, object], path: Path, known: Collection[str], faults: Faults
) -> None:
    for key in table:
        if key not in known:
            listed = ", ".join(sorted(known))
            faults.add((*path, key), f"{quote(key)} is not one of the keys here: {listed}")
