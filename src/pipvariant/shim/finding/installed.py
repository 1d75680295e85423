"""Installed projects as plain data: which variant each is, and what there was to choose from.

An environment can be damaged in many ways, and pip works on as long as it does not need what is
damaged. So nothing here fails, and pip's own warnings are left to where it looks by itself.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.log import logger
from pipvariant.printable import printable
from pipvariant.selection.installed import Installed
from pipvariant.shim.core.pip_objects import canonical_name, environment_of, pip_error
from pipvariant.shim.core.state import silence

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

#: The file in ``.dist-info`` with the labels that there were when the project was installed.
RECORDED = "variants.json"


def read_installed(distribution: Any) -> Installed:
    """Return what pip's installed distribution is (PEP 825, ``.dist-info/variant.json``).

    Whatever tool installed it: the label is the one key of ``variants``.
    """
    name = _field(distribution, "raw_name", "canonical_name")
    version = _field(distribution, "version", "raw_version")
    try:
        text = distribution.read_text("variant.json")
    except FileNotFoundError:
        return Installed(name, version)
    except unreadable() as error:
        return Installed(name, version, problem=printable(f"variant.json: {error}"))
    from pipvariant.standard.metadata import read_variant_json

    try:
        metadata = read_variant_json(text, label=None, where="variant.json")
    except PipVariantError as error:
        return Installed(name, version, problem=str(error))
    (label,) = metadata.variants
    return Installed(name, version, label, metadata)


def read_build(distribution: Any) -> Installed:
    """Return what pip's installed distribution is, also by the backend in a version of torch's."""
    from pipvariant.selection.installed import backend_build

    installed = read_installed(distribution)
    return backend_build(installed, canonical_name(installed.name))


def read_recorded(distribution: Any) -> Metadata | None:
    """Return the metadata of the labels that there were when a project was installed.

    :returns: None where that is not known.
    """
    from pipvariant.standard.metadata import read_variants_json

    try:
        return read_variants_json(distribution.read_text(RECORDED), where=RECORDED)
    except unreadable(PipVariantError):
        return None


def find_all_installed(environment: Any = None) -> list[Any]:
    """Return pip's objects for all that is installed, as far as pip can read the environment.

    :param environment: pip's; that in which it works by default.
    """
    found: list[Any] = []
    environment = environment or environment_of(None)
    try:
        with silence():
            found.extend(environment.iter_installed_distributions(local_only=False, skip=()))
    except unreadable() as error:
        logger.warning("Only a part of what is installed can be read: %r", error)
    return found


def all_together(installed: Installed) -> list[Installed]:
    """Return what is replaced together with an installed build: all that stays on one backend."""
    if not installed.is_in_folder:
        return [installed]
    builds = map(read_build, find_all_installed())
    return sorted(each for each in builds if each.is_in_folder)


def find_installed(name: str, environment: Any = None) -> Any:
    """Return pip's object for an installed project, None if it is not there or not readable."""
    with silence(), contextlib.suppress(*unreadable()):
        return (environment or environment_of(None)).get_distribution(name)
    return None


def installed_version(name: str, environment: Any = None) -> str | None:
    """Return the version of a project in an environment, None if it is not there.

    :param environment: pip's; that in which it works by default.
    """
    found = find_installed(name, environment)
    return None if found is None else _field(found, "version", "raw_version")


def _field(distribution: Any, *names: str) -> str:
    """Return the first of these attributes that is there and can be read; empty if none is."""
    for name in names:
        with silence(), contextlib.suppress(*unreadable()):
            value = getattr(distribution, name)
            if value is not None:
                return printable(str(value))
    return ""


def unreadable(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """Return what reading a damaged environment can raise, from pip and from Python, and more."""
    none: type[Exception] = pip_error("NoneMetadataError")
    return (*more, none, OSError, ValueError, KeyError, TypeError, AttributeError)
