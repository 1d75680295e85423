"""What the target system supports: the six steps of the standard, each namespace asked once."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipvariant.providers import builtin
from pipvariant.providers.answers import NOTHING, Answer, Origin, not_trusted
from pipvariant.providers.requirements import (
    marker_environment,
    plugin_packages,
    plugin_requirements,
)
from pipvariant.providers.trust import trust_option

if TYPE_CHECKING:
    from pipvariant.providers.plugins import Plugins
    from pipvariant.standard.metadata import Provider

__all__ = ["Answer", "Origin", "Target"]


@dataclass(eq=False)
class Target:
    """The system that is installed for; it remembers what it was asked.

    :param enabled: namespaces of optional providers that the user turned on.
    :param disabled: namespaces of providers that the user turned off.
    :param from_target_file: what a target file states, by namespace; it then speaks for all.
    :param foreign: the target is another machine than this one, which is then never asked.
    :param refresh: ask again what is remembered since this machine started.
    :param environ: environment variables for overrides and probes.
    :param plugins: makes what asks plugin packages when there is one to ask; None trusts none.
    """

    enabled: Collection[str] = ()
    disabled: Collection[str] = ()
    from_target_file: Mapping[str, Answer] | None = None
    foreign: bool = False
    refresh: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    plugins: Callable[[], Plugins] | None = None
    _built_in: dict[str, Answer] = field(default_factory=dict, init=False)
    _answered: list[tuple[Provider | None, Answer]] = field(default_factory=list, init=False)

    @functools.cached_property
    def _plugins(self) -> Plugins | None:
        return self.plugins and self.plugins()

    def answer(self, namespace: str, provider: Provider | None, source: str = "") -> Answer:
        """Say what the target supports in one namespace (PEP 825, section on providers).

        :param namespace: the namespace.
        :param provider: its entry in the metadata; None for metadata that has no providers, for
            which only built-in providers answer.
        :param source: the page or folder that the metadata is from, and nowhere else a plugin
            package that it names; empty where there is no such place.
        :returns: the answer; the same object again when the same is asked again.
        :raises InvalidOverride: a variable that replaces a probe has a value that cannot be.
        """
        for asked, answer in self._answered:
            if answer.namespace == namespace and asked == provider:
                return answer
        decided = self._decide(namespace, provider)
        if decided is None:
            # Two sources may have two plugins of one name, so these remember for themselves.
            return self._ask_plugin(namespace, provider, source)
        self._answered.append((provider, decided))
        return decided

    def built_in(self, namespace: str) -> Answer:
        """Ask the target file, or else the built-in provider, whatever metadata may say.

        :param namespace: the namespace; one without a built-in provider supports nothing.
        :raises InvalidOverride: a variable that replaces the probe has a value that cannot be.
        """
        if self.from_target_file is not None:
            return self.from_target_file.get(
                namespace, Answer(namespace, NOTHING, Origin.TARGET_FILE, "target file")
            )
        if namespace not in builtin.BUILT_INS:
            problem = f"no provider for namespace {namespace} is built in"
            return Answer(namespace, NOTHING, Origin.UNKNOWN, problems=(problem,))
        if namespace not in self._built_in:
            answer = builtin.query_builtin(namespace, self.environ, refresh=self.refresh)
            self._built_in[namespace] = answer
        return self._built_in[namespace]

    def _decide(self, namespace: str, provider: Provider | None) -> Answer | None:
        """Go through steps 1 to 4 in their order; the first that applies answers."""
        # 1. Provider disabled: nothing is supported.
        if reason := self._why_disabled(namespace, provider):
            return Answer(namespace, NOTHING, Origin.DISABLED, reason)
        # 2. Static properties in the metadata: those, exclusively. The older form's
        # ``install-time: false`` is static without any property too.
        if provider and (provider.static_properties is not None or not provider.install_time):
            stated = provider.static_properties or {}
            features = {feature: tuple(values) for feature, values in stated.items() if values}
            return Answer(namespace, features, Origin.STATIC, "metadata")
        # 3. The user gave a static list for the target: that, exclusively.
        if self.from_target_file is None and self.foreign:
            # Another machine is known by such lists only.
            return Answer(namespace, NOTHING, Origin.NOT_ASKED)
        if self.from_target_file is not None or provider is None:
            return self.built_in(namespace)
        # 4. A provider that is built in, for that plugin package and plugin-api: its answer.
        return self._built_in_one(namespace, provider)

    def _built_in_one(self, namespace: str, provider: Provider) -> Answer | None:
        if provider.builtin is not None:
            problem = (
                f"the built-in provider {provider.builtin} of namespace {namespace}"
                " is not supported by this version of pip-variant"
            )
            return Answer(namespace, NOTHING, Origin.UNKNOWN, provider.builtin, (problem,))
        packages = plugin_packages(provider)
        if provider.requires and not packages:
            return Answer(namespace, NOTHING, Origin.DISABLED, "no requirement applies here")
        if builtin.stands_in(namespace, packages, provider.object_reference(marker_environment())):
            return self.built_in(namespace)
        return None

    def _why_disabled(self, namespace: str, provider: Provider | None) -> str:
        """Step 1: optional and not enabled, disabled by the user, or not for such a target."""
        if namespace in self.disabled:
            return "disabled by the user"
        if provider is not None and provider.optional and namespace not in self.enabled:
            return "optional, not enabled"
        # A marker is about the target: of another machine, this one cannot evaluate it.
        if provider is not None and provider.enable_if is not None and not self.foreign:
            # One that compares what cannot be compared never holds.
            with contextlib.suppress(ValueError):
                if provider.is_enabled(marker_environment()):
                    return ""
            return f"only if {provider.enable_if}"
        return ""

    def _ask_plugin(self, namespace: str, provider: Provider | None, source: str) -> Answer:
        """Steps 5 and 6: a trusted plugin package is asked; no other is installed or run."""
        if provider is None or self._plugins is None:
            required = [] if provider is None else plugin_requirements(provider)
            return not_trusted(namespace, {name: trust_option(each) for name, each in required})
        return self._plugins.answer(namespace, provider, source)
