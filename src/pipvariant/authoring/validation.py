"""See that the properties of a variant are ones that its providers know (PEP 850)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Optional

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from pipvariant.errors import InvalidOption, InvalidProperty
from pipvariant.providers.builtin import stands_in
from pipvariant.providers.known_properties import VALID, Feature
from pipvariant.providers.plugins import Config
from pipvariant.providers.trust import trust_option
from pipvariant.standard.metadata import ABI_DEPENDENCY, Metadata, Provider
from pipvariant.standard.properties import Properties
from pipvariant.standard.table import Table

_ANY_VERSION = Feature(re.compile(r"\d{1,8}(?:\.\d{1,8}){0,2}"), multi_value=True)
_NAME = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_SKIP = "--skip-validation makes the wheel all the same."


#: Asks a plugin: namespace, its provider, and the name of the method. ``None`` when the user does
#: not trust the plugin package, which then was neither installed nor run.
Ask = Callable[[str, Provider, str], Optional[Sequence[Config]]]


def fill_static_properties(table: Table, ask: Ask) -> Metadata:
    """Ask the plugins that the table names under ``build-requires``.

    What such a plugin supports does not depend on the machine, so it is written into the wheel as
    ``static-properties`` and is not asked again where the wheel is installed.

    :raises InvalidOption: such a plugin is not trusted.
    :raises InvalidProperty: what it supports depends on the machine after all, or it allows several
        values of a feature, which a static list cannot.
    :raises ProbeFailed: it cannot be asked.
    """
    providers = dict(table.metadata.providers)
    for namespace in sorted(table.at_build):
        provider = providers[namespace]
        package = _named(provider)
        configs = ask(namespace, provider, "get_supported_configs")
        known = ask(namespace, provider, "get_all_configs")
        if configs is None or known is None:
            raise InvalidOption(
                f"the plugin package {package} has to be asked for the static properties of"
                f" {namespace}, and is not trusted",
                remedy=f"{_trust(provider)} lets it be installed and run.",
            )
        several = [config.name for config in configs if config.multi_value]
        if several or _sets(configs) != _sets(known):
            reason = (
                f"allows several values of {', '.join(several)}"
                if several
                else "does not support all that it knows, so its answer depends on the machine"
            )
            raise InvalidProperty(
                f"the plugin package {package} of {namespace} {reason}",
                remedy="Name it under `requires` instead of `build-requires`.",
            )
        static = {config.name: config.values for config in configs}
        providers[namespace] = Provider(static_properties=static, optional=provider.optional)
    return replace(table.metadata, providers=providers)


def validate(variants: Mapping[str, Properties], common: Metadata, ask: Ask) -> list[str]:
    """Hold all properties to what their providers know.

    :param variants: label to properties.
    :param common: says who the providers are.
    :returns: for each namespace that could not be validated a sentence that says why.
    :raises InvalidProperty: with every property that no machine could ever support, and every
        feature with several values where it may have one.
    """
    notes = []
    faults = []
    for namespace in common.namespaces:
        used = {label: found[namespace] for label, found in variants.items() if namespace in found}
        if not used:
            continue
        provider = common.providers[namespace]
        features = _known_features(namespace, provider, ask)
        if features is None:
            notes.append(
                f"{namespace}: not validated, the plugin package {_named(provider)} is not trusted"
                f" ({_trust(provider)})"
            )
            continue
        for label, asked in used.items():
            faults += [f"{label}: {fault}" for fault in _faults(namespace, asked, features)]
    if faults:
        raise InvalidProperty("; ".join(faults), remedy=_SKIP)
    return notes


def _known_features(
    namespace: str, provider: Provider, ask: Ask
) -> Callable[[str], Feature | None] | None:
    """Return a function that says what a feature may be; ``None`` where nobody may be asked."""
    if provider.builtin == ABI_DEPENDENCY:
        return lambda name: _ANY_VERSION if _NAME.fullmatch(name) else None
    if provider.static_properties is not None:
        static = provider.static_properties
        return {name: _one_of(static[name], multi_value=True) for name in static}.get
    if namespace in VALID and stands_in(
        namespace, _plugin_packages(provider), provider.object_reference()
    ):
        return VALID[namespace].get
    configs = ask(namespace, provider, "get_all_configs")
    if configs is None:
        return None
    return {each.name: _one_of(each.values, multi_value=each.multi_value) for each in configs}.get


def _one_of(values: Iterable[str], *, multi_value: bool) -> Feature:
    return Feature(re.compile("|".join(map(re.escape, values)) or "(?!)"), multi_value)


def _faults(
    namespace: str, asked: Mapping[str, Sequence[str]], features: Callable[[str], Feature | None]
) -> Iterable[str]:
    for name, values in asked.items():
        feature = features(name)
        if feature is None:
            yield f"{namespace} :: {name} is no feature that the provider knows"
            continue
        for value in values:
            if feature.value.fullmatch(value) is None:
                yield f"{namespace} :: {name} :: {value} is no value that the provider knows"
        if len(values) > 1 and not feature.multi_value:
            yield f"{namespace} :: {name} has one value, not {', '.join(values)}"


def _plugin_packages(provider: Provider) -> tuple[str, ...]:
    # The wheel may be for other systems than this one, so markers do not count.
    return tuple(canonicalize_name(Requirement(text).name) for text in provider.requires)


def _named(provider: Provider) -> str:
    return ", ".join(_plugin_packages(provider)) or "(not named)"


def _trust(provider: Provider) -> str:
    return " ".join(trust_option(Requirement(text)) for text in provider.requires)


def _sets(configs: Iterable[Config]) -> Mapping[str, frozenset[str]]:
    return {config.name: frozenset(config.values) for config in configs}
