"""Whether pip-variant is all there, before anything of it is used in pip's own run."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec

from pipvariant import __file__ as package_file
from pipvariant import __version__
from pipvariant.errors import BrokenInstallation

_NEEDED = ["archspec", "packaging", "pynvml", *(["tomli"] if sys.version_info < (3, 11) else [])]


def check() -> None:
    """Look whether all modules and packages are there that a run may import at some time.

    :raises BrokenInstallation: one is missing, or is not what was installed.
    """
    for name in _NEEDED:
        if find_spec(name) is None:
            raise BrokenInstallation(f"the package {name} is missing")
    folder = os.path.dirname(os.path.dirname(package_file))
    record = os.path.join(folder, f"pip_variant-{__version__}.dist-info", "RECORD")
    try:
        with open(record, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
    except OSError:
        # It runs from where it is developed.
        return
    for line in lines:
        path, _, rest = line.partition(",")
        if path.startswith("pipvariant/") and path.endswith(".py"):
            _check_file(os.path.join(folder, path), rest.rpartition(",")[2])


def _check_file(path: str, size: str) -> None:
    try:
        found = os.stat(path).st_size
    except OSError as error:
        raise BrokenInstallation(f"{path} cannot be read") from error
    if size.isdecimal() and found != int(size):
        raise BrokenInstallation(f"{path} was changed")
