"""Variant metadata as frozen dataclasses; what they mean is in ``metadata``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pipvariant.standard.properties import Properties

#: The namespace whose provider the standard defines itself (PEP 850).
ABI_DEPENDENCY = "abi_dependency"

#: The format that gets written.
SCHEMA_URL = "https://variants-schema.wheelnext.dev/v0.2.0.json"
SCHEMA_VERSION = (0, 2, 0)


@dataclass(frozen=True)
class Provider:
    """Who says what the target supports in one namespace (PEP 850).

    :param requires: requirements (PEP 508) of the plugin package.
    :param plugin_api: ``module.path`` or ``module.path:object.path``; ``None`` is the default.
    :param static_properties: the supported values of each feature, features and values most
        preferred first; ``None`` when the metadata does not say.
    :param builtin: the name of a provider that the standard defines.
    :param optional: off unless the user enables it.
    :param enable_if: a marker that must hold (older formats only).
    :param install_time: ``False`` when no plugin may be asked (older formats only).
    """

    requires: tuple[str, ...] = ()
    plugin_api: str | None = None
    static_properties: Mapping[str, tuple[str, ...]] | None = None
    builtin: str | None = None
    optional: bool = False
    enable_if: str | None = None
    install_time: bool = True

    def applicable_requires(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Return the requirements whose markers hold in *environment*, as they are written.

        :param environment: every marker name with its value, as ``default_environment()`` of
            packaging has them.
        """
        from packaging.requirements import Requirement

        values = dict(environment)
        return tuple(
            text
            for text in self.requires
            if (marker := Requirement(text).marker) is None or marker.evaluate(values)
        )

    def is_enabled(self, environment: Mapping[str, str]) -> bool:
        """Tell whether ``enable-if`` holds in *environment*; always so in newer formats."""
        if self.enable_if is None:
            return True
        from packaging.markers import Marker

        return Marker(self.enable_if).evaluate(dict(environment))

    def object_reference(self, environment: Mapping[str, str] | None = None) -> str:
        """Return where the plugin object is: ``plugin-api``, or the default for it.

        The default is the name of the first requirement that applies in *environment* (of the
        first at all when that is ``None``), normalised, with ``-`` written as ``_``. Empty when
        there is no such requirement (PEP 850).
        """
        if self.plugin_api is not None:
            return self.plugin_api
        texts = self.requires if environment is None else self.applicable_requires(environment)
        if not texts:
            return ""
        from packaging.requirements import Requirement
        from packaging.utils import canonicalize_name

        return canonicalize_name(Requirement(texts[0]).name).replace("-", "_")


@dataclass(frozen=True)
class Metadata:
    """Variant metadata of one wheel, or of all wheels of one version (PEP 825, PEP 850).

    :param namespaces: ``default-priorities.namespace``, most preferred first.
    :param providers: by namespace; a format without providers leaves it empty.
    :param variants: by label.
    :param schema: the ``$schema`` URL as it was read.
    :param schema_version: the version in that URL; empty when it has none.
    :param feature_priorities: by namespace, features that come first (older formats only).
    :param property_priorities: by namespace and feature, values that come first (older formats
        only).
    :param published: false where an installer made it of folders that nobody describes.
    """

    namespaces: tuple[str, ...]
    providers: Mapping[str, Provider] = field(default_factory=dict)
    variants: Mapping[str, Properties] = field(default_factory=dict)
    schema: str = SCHEMA_URL
    schema_version: tuple[int, ...] = SCHEMA_VERSION
    feature_priorities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    property_priorities: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    published: bool = True
