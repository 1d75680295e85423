"""Installed projects as plain data: which variant each is, and what there was to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.printable import printable
from pipvariant.selection.installed import Installed
from pipvariant.shim.core.pip_objects import default_environment, pip_error

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

#: The file in ``.dist-info`` with the labels that there were when the project was installed.
RECORDED = "variants.json"


def read_installed(distribution: Any) -> Installed:
    """Return what pip's installed distribution is (PEP 825, ``.dist-info/variant.json``).

    Whatever tool installed it: the label is the one key of ``variants``.
    """
    name, version = str(distribution.raw_name), str(distribution.version)
    try:
        text = distribution.read_text("variant.json")
    except FileNotFoundError:
        return Installed(name, version)
    except (OSError, UnicodeError, pip_error("NoneMetadataError")) as error:
        return Installed(name, version, problem=printable(f"variant.json: {error}"))
    from pipvariant.standard.metadata import read_variant_json

    try:
        metadata = read_variant_json(text, label=None, where="variant.json")
    except PipVariantError as error:
        return Installed(name, version, problem=str(error))
    (label,) = metadata.variants
    return Installed(name, version, label, metadata)


def read_recorded(distribution: Any) -> Metadata | None:
    """Return the metadata of the labels that there were when a project was installed.

    :returns: None where that is not known.
    """
    from pipvariant.standard.metadata import read_variants_json

    try:
        return read_variants_json(distribution.read_text(RECORDED), where=RECORDED)
    except (OSError, UnicodeError, PipVariantError, pip_error("NoneMetadataError")):
        return None


def installed_version(name: str, environment: Any = None) -> str | None:
    """Return the version of a project in an environment, None if it is not there.

    :param environment: pip's; that in which it works by default.
    """
    found = (environment or default_environment()).get_distribution(name)
    return None if found is None else str(found.version)
