"""Builds: a pip that pip starts (build isolation, ``--python``) is variant-aware as well."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import aside, set_variable

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start.py")
#: Variable for a child that must not build anything.
WHEELS_ONLY = "PIPVARIANT_WHEELS_ONLY"
#: What a child needs of this environment, by top-level module.
NEEDED = (
    "archspec",
    "importlib_metadata",
    "packaging",
    "pip",
    "pipvariant",
    "pynvml",
    "tomli",
    "zipp",
)


class HandOn:
    """Lets a pip that is started know what it needs from here.

    :param more: hands on the rest: this knows only where our packages are.
    """

    def __init__(self, more: Callable[[], None]) -> None:
        self._more = more

    def hand_on(self) -> None:
        """Set variables for all children that are started from now on."""
        set_variable("PIPVARIANT_RUNNER", json.dumps(places()))
        self._more()


def patches(pip: Pip, hand_on: HandOn) -> list[Patch]:
    """Patch the function that names the file which a child pip is started with."""
    return [patch(target, _get_runnable_pip, _prove, hand_on, target) for target in pip.runnable]


def _get_runnable_pip(hand_on: HandOn, target: str, original: Any) -> str:
    runnable = str(original())
    # A pip inside a zip file is started as that file, which leaves no room for a runner.
    if not runnable.endswith(".py"):
        return runnable
    hand_on.hand_on()
    return RUNNER


def places() -> dict[str, str]:
    """Return the folder that holds each needed package, for those that are here."""
    places = {}
    for name in NEEDED:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            folder = os.path.dirname(os.path.abspath(spec.origin))
            places[name] = os.path.dirname(folder) if spec.submodule_search_locations else folder
    # A newer Python has it not, as it needs it not; the one that is started may.
    vendored = os.path.join(places.get("pip", ""), "pip", "_vendor")
    if "tomli" not in places and os.path.isdir(os.path.join(vendored, "tomli")):
        places["tomli"] = vendored
    return places


def _prove(hand_on: HandOn, target: str) -> bool:
    module, _, name = target.partition(":")
    runnable: Any = getattr(import_module(module), name)
    handed: list[bool] = []
    with aside(hand_on, hand_on=lambda: handed.append(True)):
        # A pip inside a zip file is started as that file.
        is_ours = runnable.__module__ == __name__
        return bool(is_ours and (runnable() == RUNNER) == bool(handed))
