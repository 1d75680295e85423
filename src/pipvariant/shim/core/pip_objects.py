"""Objects of pip that several modules need, by the names that pip has for them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pipvariant.printable import printable


def canonical_name(name: str) -> str:
    """Return a project name as pip compares it."""
    return str(import_module("pip._vendor.packaging.utils").canonicalize_name(name))


def make_version(text: str) -> Any:
    """Return a version as pip compares it.

    :raises ValueError: pip's ``InvalidVersion``.
    """
    return import_module("pip._vendor.packaging.version").Version(text)


def make_link(url: str, **fields: Any) -> Any:
    """Return pip's object for a URL."""
    return import_module("pip._internal.models.link").Link(url, **fields)


def path_to_link(path: str) -> Any:
    """Return pip's object for a file of this machine."""
    return make_link(import_module("pip._internal.utils.urls").path_to_url(path))


def environment_of(folders: Sequence[str] | None) -> Any:
    """Return the environment in these folders, or that in which pip works."""
    metadata: Any = import_module("pip._internal.metadata")
    if folders is None:
        return metadata.get_default_environment()
    return metadata.get_environment(list(folders))


def requested_link(requirement: Any) -> Any:
    """Return the link that was chosen for a requirement, not that of a wheel cached for it."""
    return requirement.original_link or requirement.link


def pip_error(name: str) -> Any:
    """Return a class of pip's exceptions."""
    return getattr(import_module("pip._internal.exceptions"), name)


def error_for_user(name: str, text: str) -> Exception:
    """Return an error of pip's by the name of its class, with a text that pip prints as it is."""
    error: Exception = pip_error(name)(printable(text))
    return error


def installation_error(text: str) -> Exception:
    """Return the error that ends a command with a text for the user."""
    return error_for_user("InstallationError", text)


def unsupported_wheel(text: str) -> Exception:
    """Return the error for a wheel that cannot be installed."""
    return error_for_user("UnsupportedWheel", text)


def redact(url: str) -> str:
    """Return a URL without the password that may be in it."""
    return str(import_module("pip._internal.utils.misc").redact_auth_from_url(url))


def shown(link: Any) -> str:
    """Return the URL of a link as a user may read it: without credentials and fragment."""
    return redact(link.url_without_fragment)
