"""Builds: a pip that pip starts (build isolation, ``--python``) is variant-aware as well."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pipvariant.shim.patches import Patch
from pipvariant.shim.pips import Pip

__all__ = ["patches"]

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
#: What a child needs of this environment, by top-level module.
NEEDED = ("archspec", "importlib_metadata", "packaging", "pip", "pipvariant", "pynvml", "zipp")


def patches(pip: Pip) -> list[Patch]:
    """Patch the function that names the file which a child pip is started with."""
    return [Patch(target, _get_runnable_pip, _proof(target)) for target in pip.runnable]


def _get_runnable_pip(original: Any) -> Callable[[], str]:
    def get_runnable_pip() -> str:
        runnable = str(original())
        # A pip inside a zip file is started as that file, which leaves no room for a runner.
        if not runnable.endswith(".py"):
            return runnable
        os.environ["PIPVARIANT_RUNNER"] = json.dumps(_places())
        return RUNNER

    return get_runnable_pip


def _places() -> dict[str, str]:
    """Return the folder that holds each needed package, for those that are here."""
    places = {}
    for name in NEEDED:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            folder = os.path.dirname(os.path.abspath(spec.origin))
            places[name] = os.path.dirname(folder) if spec.submodule_search_locations else folder
    return places


def _proof(target: str) -> Callable[[], bool]:
    module, _, name = target.partition(":")

    def prove() -> bool:
        function: Any = getattr(import_module(module), name)
        return function.__module__ == __name__ and callable(function)

    return prove
