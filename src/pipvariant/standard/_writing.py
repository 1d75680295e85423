"""Write variant metadata."""

from __future__ import annotations

from collections.abc import Mapping

from pipvariant.standard._model import ABI_DEPENDENCY, SCHEMA_URL, Metadata, Provider
from pipvariant.standard.properties import properties_json

_SCHEMA_WITHOUT_PROVIDERS = "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json"
_IMPLIED = Provider(builtin=ABI_DEPENDENCY)
_OLDER_SCHEMA = "https://variants-schema.wheelnext.dev/v0.0.3.json"


def to_dict(metadata: Metadata) -> dict[str, object]:
    """Return *metadata* as an object for JSON or TOML (PEP 825, section "Variant metadata").

    The format is 0.2.0. What was read in an older format and says something that 0.2.0 cannot
    say is written in the older format, because dropping it would select other wheels: without
    providers in 0.1.1, with priorities of features, ``enable-if`` or the like in 0.0.3. Reading
    the result gives equal metadata, apart from the schema.
    """
    namespaces = list(metadata.namespaces)
    providers = dict(sorted(metadata.providers.items()))
    if ABI_DEPENDENCY not in namespaces and providers.get(ABI_DEPENDENCY) == _IMPLIED:
        del providers[ABI_DEPENDENCY]
        if providers:
            namespaces.append(ABI_DEPENDENCY)
            providers = {ABI_DEPENDENCY: _IMPLIED, **providers}
    priorities: dict[str, object] = {"namespace": namespaces}
    result: dict[str, object] = {"$schema": SCHEMA_URL, "default-priorities": priorities}
    if _has_older_words(metadata, providers, namespaces):
        result["$schema"] = _OLDER_SCHEMA
        result["providers"] = {
            namespace: _older_provider(provider) for namespace, provider in providers.items()
        }
        _write_priorities(metadata, priorities)
    elif providers:
        result["providers"] = {
            namespace: _new_provider(provider) for namespace, provider in providers.items()
        }
    else:
        result["$schema"] = _SCHEMA_WITHOUT_PROVIDERS
    result["variants"] = {
        label: properties_json(properties)
        for label, properties in sorted(metadata.variants.items())
    }
    return result


def to_json(metadata: Metadata) -> str:
    """Return *metadata* as JSON text that is the same byte for byte for equal metadata.

    What the format is, :func:`to_dict` says.
    """
    import json

    return json.dumps(to_dict(metadata), indent=2) + "\n"


def _has_older_words(
    metadata: Metadata, providers: Mapping[str, Provider], namespaces: list[str]
) -> bool:
    return bool(
        metadata.feature_priorities
        or metadata.property_priorities
        or (providers and set(providers) != set(namespaces))
        or any(_is_older(provider) for provider in providers.values())
    )


def _is_older(provider: Provider) -> bool:
    kinds = (bool(provider.requires), provider.static_properties is not None, provider.builtin)
    return (
        provider.enable_if is not None
        or not provider.install_time
        or sum(map(bool, kinds)) != 1
        or (provider.plugin_api is not None and not provider.requires)
    )


def _new_provider(provider: Provider) -> dict[str, object]:
    entry: dict[str, object] = {}
    if provider.requires:
        entry["requires"] = list(provider.requires)
    if provider.plugin_api is not None:
        entry["plugin-api"] = provider.plugin_api
    if provider.static_properties is not None:
        static = provider.static_properties
        entry["static-properties"] = {key: list(values) for key, values in sorted(static.items())}
        if len(static) > 1:
            entry["feature-order"] = list(static)
    if provider.builtin is not None:
        entry["builtin"] = provider.builtin
    if provider.optional:
        entry["optional"] = True
    return entry


def _older_provider(provider: Provider) -> dict[str, object]:
    entry = {"requires": [], **_new_provider(provider)}
    if provider.enable_if is not None:
        entry["enable-if"] = provider.enable_if
    if not provider.install_time:
        entry["install-time"] = False
    return entry


def _write_priorities(metadata: Metadata, priorities: dict[str, object]) -> None:
    if metadata.feature_priorities:
        priorities["feature"] = {
            namespace: list(features)
            for namespace, features in sorted(metadata.feature_priorities.items())
        }
    if metadata.property_priorities:
        priorities["property"] = {
            namespace: {feature: list(values) for feature, values in sorted(features.items())}
            for namespace, features in sorted(metadata.property_priorities.items())
        }
