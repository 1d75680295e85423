"""Which backend an installed build of torch or its family is for."""

from __future__ import annotations

import contextlib
import os
import re
from typing import Any

from pipvariant.files import open_regular
from pipvariant.selection.torch_backends import WITH_BACKEND, backend_in
from pipvariant.shim.finding.installed import find_all_installed, unreadable

_VERSION = re.compile(rb"^__version__\s*=\s*['\"]([^'\"\s]{1,100})['\"]", re.MULTILINE)
_LONGEST = 10_000


def installed_backends() -> dict[str, str | None]:
    """Return canonical name -> backend of what is installed, None where it is not known."""
    found = (each for each in find_all_installed() if each.canonical_name in WITH_BACKEND)
    return {each.canonical_name: _backend_of(each) for each in found}


def _backend_of(distribution: Any) -> str | None:
    """Read it from the version, or from that which the package has of itself.

    What is on PyPI is built for a backend too: only the metadata has no local version there.
    """
    with contextlib.suppress(*unreadable()):
        backend = backend_in(str(distribution.version))
        if backend is not None:
            return backend
        module = distribution.canonical_name.replace("-", "_")
        with open_regular(os.path.join(distribution.location, module, "version.py")) as stream:
            version = _VERSION.search(stream.read(_LONGEST))
        return None if version is None else backend_in(version[1].decode())
    return None
