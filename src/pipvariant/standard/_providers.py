"""Read the provider entries of variant metadata, in the newest form and in the older ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pipvariant.standard._faults import Faults, Path, quote
from pipvariant.standard._model import SCHEMA_VERSION, Provider
from pipvariant.standard.bounds import has_long_number
from pipvariant.standard.properties import FEATURE, NAMESPACE, VALUE

_NEW_FORM = (0, 2)  # since then an entry is of exactly one kind
_NEWEST = SCHEMA_VERSION[:2]
_KINDS = ("requires", "static-properties", "builtin")
#: The kinds of providers in the table of pyproject.toml.
TABLE_KINDS = (*_KINDS, "build-requires")
_PLUGIN_USES = ("all", "build", "none")

_MODULE = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*"
_PLUGIN_API = re.compile(rf"({_MODULE})(?:\s*:\s*({_MODULE}))?")


def read_providers(
    document: dict[str, object], version: tuple[int, ...], faults: Faults
) -> dict[str, Provider]:
    """Read ``providers``, and in older formats what belongs to it (PEP 850, PEP 817).

    :param version: of its format; empty when it does not say.
    """
    if version >= _NEW_FORM:
        return _new_providers(document, version, faults, _KINDS)
    entries = _entries(document.get("static-properties", {}), ("static-properties",), faults)
    static = {name: read_value_lists(table, path, faults) for name, table, path in entries}
    # Where nothing may be asked, the static list is all that there is.
    providers = {
        namespace: Provider(static_properties=lists, install_time=False)
        for namespace, lists in static.items()
    }
    for namespace, table, path in _entries(document.get("providers", {}), ("providers",), faults):
        providers[namespace] = _older_form(table, path, static.get(namespace, {}), faults)
    return providers


def read_table_providers(document: dict[str, object], faults: Faults) -> dict[str, Provider]:
    """Read ``providers`` of a table in pyproject.toml, where ``build-requires`` is one more kind.

    The packages that it names are the ``requires`` of the result.
    """
    return _new_providers(document, SCHEMA_VERSION, faults, TABLE_KINDS)


def _new_providers(
    document: dict[str, object], version: tuple[int, ...], faults: Faults, kinds: tuple[str, ...]
) -> dict[str, Provider]:
    entries = _entries(faults.required(document, "providers"), ("providers",), faults)
    return {
        namespace: _new_form(table, path, version, faults, kinds)
        for namespace, table, path in entries
    }


def _entries(
    value: object, path: Path, faults: Faults
) -> list[tuple[str, dict[str, object], Path]]:
    result = []
    for namespace, item in faults.table(value, path).items():
        faults.name(namespace, path, "namespace", NAMESPACE)
        result.append((namespace, faults.table(item, (*path, namespace)), (*path, namespace)))
    return result


def read_value_lists(value: object, path: Path, faults: Faults) -> dict[str, tuple[str, ...]]:
    """Read an object of features, each with a list of values in order of preference."""
    result: dict[str, tuple[str, ...]] = {}
    for feature, values in faults.table(value, path).items():
        faults.name(feature, path, "feature", FEATURE)
        result[feature] = faults.names(values, (*path, feature), "value", VALUE)
    return result


def _new_form(
    table: dict[str, object],
    path: Path,
    version: tuple[int, ...],
    faults: Faults,
    known: tuple[str, ...],
) -> Provider:
    provider = _common(table, path, faults)
    kinds = [kind for kind in known if kind in table]
    if len(kinds) > 1:
        faults.add(path, f"must have only one of {', '.join(kinds)}")
    elif not kinds and version[:2] <= _NEWEST:
        # A newer format may have a kind of provider that is not known here.
        faults.add(path, f"must have one of {', '.join(known)}")
    for kind in kinds:
        if table[kind] == [] and kind.endswith("requires"):
            faults.add((*path, kind), "is empty")
    if "build-requires" in kinds:
        provider = replace(provider, requires=_read_requires(table, path, faults, "build-requires"))
    return replace(
        provider,
        static_properties=_read_static(table, path, faults, ordered=True),
        builtin=faults.string(table, "builtin", path),
    )


def _older_form(
    table: dict[str, object],
    path: Path,
    static: dict[str, tuple[str, ...]],
    faults: Faults,
) -> Provider:
    provider = _common(table, path, faults)
    use = faults.string(table, "plugin-use", path)
    if use is not None and use not in _PLUGIN_USES:
        faults.add((*path, "plugin-use"), f"{quote(use)} is none of {', '.join(_PLUGIN_USES)}")
    install_time = faults.flag(table, "install-time", path, default=use in (None, "all"))
    own = _read_static(table, path, faults)
    if own is None and not install_time:
        own = static
    return replace(
        provider,
        static_properties=own,
        builtin=faults.string(table, "builtin", path),
        enable_if=_read_marker(table, path, faults),
        install_time=install_time,
    )


def _common(table: dict[str, object], path: Path, faults: Faults) -> Provider:
    plugin_api = faults.string(table, "plugin-api", path)
    if plugin_api is not None:
        match = _PLUGIN_API.fullmatch(plugin_api.strip())
        if match is None:
            faults.add((*path, "plugin-api"), f"{quote(plugin_api)} is not module:object")
        else:
            plugin_api = ":".join(part for part in match.groups() if part)
    return Provider(
        requires=_read_requires(table, path, faults),
        plugin_api=plugin_api,
        optional=faults.flag(table, "optional", path, default=False),
    )


def _read_requires(
    table: dict[str, object], path: Path, faults: Faults, key: str = "requires"
) -> tuple[str, ...]:
    path = (*path, key)
    items = faults.strings(table.get(key, []), path)
    if not items:
        return ()
    from packaging.requirements import Requirement

    for index, item in enumerate(items):
        if not _is_readable(Requirement, item):
            faults.add((*path, index), f"{quote(item)} is not a requirement")
    return items


def _read_marker(table: dict[str, object], path: Path, faults: Faults) -> str | None:
    text = faults.string(table, "enable-if", path)
    if text is None:
        return None
    from packaging.markers import Marker

    if not _is_readable(Marker, text):
        faults.add((*path, "enable-if"), f"{quote(text)} is not an environment marker")
    return text


def _is_readable(read: Callable[[str], object], text: str) -> bool:
    """Say whether packaging can read a text, and compare the versions that are in it."""
    try:
        read(text)
    except (ValueError, RecursionError):
        return False
    return not has_long_number(text)


def _read_static(
    table: dict[str, object], path: Path, faults: Faults, *, ordered: bool = False
) -> dict[str, tuple[str, ...]] | None:
    if "static-properties" not in table:
        return None
    lists = read_value_lists(table["static-properties"], (*path, "static-properties"), faults)
    path = (*path, "feature-order")
    if "feature-order" not in table:
        if ordered and len(lists) > 1:
            faults.add(path, "is missing, yet there are several features")
        return lists
    order = faults.names(table["feature-order"], path, "feature", FEATURE)
    if set(order) != set(lists):
        faults.add(path, "must list the features of static-properties, each once")
        return lists
    return {feature: lists[feature] for feature in order}
