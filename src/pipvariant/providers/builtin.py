"""The providers that are built in: which plugin packages they stand in for, and their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from pipvariant.providers.answers import Answer, Origin


class _Module(Protocol):
    """What the module of a built-in provider offers."""

    def query_machine(self, environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
        """Say what this machine supports: see :func:`query_builtin`."""

    def unmet_reason(self, feature: str, values: Sequence[str], answer: Answer) -> str | None:
        """Say why none of the values is supported: see :func:`reason_for`."""


@dataclass(frozen=True)
class BuiltIn:
    """A built-in provider, and the plugin that it stands in for.

    :param namespace: the only namespace that it answers for, and the name of its module.
    :param packages: the normalised names that the plugin package is published under; the first is
        the one that is written into wheels.
    :param plugin_class: the name of the class in the plugin package's ``plugin`` module.
    :param is_default: it is written without a plugin-api; uv 0.13.9 knows no other form.
    """

    namespace: str
    packages: tuple[str, ...]
    plugin_class: str
    is_default: bool = False

    def plugin_apis(self, package: str) -> tuple[str, ...]:
        """Every plugin-api that means this plugin: the default, its module, its class."""
        default = package.replace("-", "_")
        return (default, f"{default}.plugin", f"{default}.plugin:{self.plugin_class}")

    def load(self) -> _Module:
        """Import the module of this provider."""
        return cast("_Module", import_module(f"pipvariant.providers.{self.namespace}"))


# A further provider is one more entry here, and its module.
_ALL = (
    BuiltIn(
        "aarch64", ("aarch64-variant-provider", "provider-variant-aarch64"), "AArch64Plugin", True
    ),
    BuiltIn("amd", ("amd-variant-provider",), "AMDVariantPlugin"),
    BuiltIn("intel", ("intel-variant-provider",), "IntelVariantPlugin"),
    BuiltIn("nvidia", ("nvidia-variant-provider",), "NvidiaVariantPlugin"),
    BuiltIn("x86_64", ("x86-64-variant-provider", "provider-variant-x86-64"), "X8664Plugin", True),
)

#: Namespace to built-in provider.
BUILT_INS: Mapping[str, BuiltIn] = {built_in.namespace: built_in for built_in in _ALL}


def stands_in(namespace: str, packages: Sequence[str], plugin_api: str) -> bool:
    """Whether a built-in provider stands in for a plugin (PEP 850, built-in providers).

    :param namespace: the namespace that the metadata gives the plugin.
    :param packages: the normalised names of the packages that the plugin requires here.
    :param plugin_api: the object reference of the plugin, or the default for it.
    :returns: true only for the namespace, package and plugin-api of one and the same built-in:
        another package under a known namespace is a plugin like any other.
    """
    built_in = BUILT_INS.get(namespace)
    reference = "".join(plugin_api.split())
    return built_in is not None and any(
        package in built_in.packages and reference in built_in.plugin_apis(package)
        for package in packages
    )


def query_builtin(namespace: str, environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Ask the built-in provider of a namespace; this may start a probe.

    :param namespace: a key of :data:`BUILT_INS`.
    :param environ: the environment variables that overrides and probes look at.
    :param refresh: run the probe even if its report is remembered, and remember the new one.
    :raises KeyError: no provider of that namespace is built in.
    :raises InvalidOverride: a variable that replaces the probe has a value that cannot be.
    """
    return BUILT_INS[namespace].load().query_machine(environ, refresh=refresh)


def reason_for(namespace: str, feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say in plain words why none of the values of one feature is supported.

    :param namespace: the namespace of the unmet property.
    :param feature: its feature.
    :param values: the values of which any one would have been enough.
    :param answer: what the target answered for the namespace.
    :returns: a phrase such as ``needs CUDA driver >= 12.6, this machine has 12.4``, or None where
        no better words are known than the property itself.
    """
    built_in = BUILT_INS.get(namespace)
    if built_in is None or not values:
        return None
    stated = answer.origin is Origin.TARGET_FILE
    # Features that are stated without facts leave open what the words would be about.
    if not stated and answer.origin is not Origin.BUILT_IN:
        return None
    if stated and answer.features and not answer.facts:
        return None
    words = built_in.load().unmet_reason(feature, values, answer)
    if words is None or not stated:
        return words
    words = words.replace("this machine", "the stated target").replace("this CPU", "its CPU")
    return f"{words} (stated, not detected)"
