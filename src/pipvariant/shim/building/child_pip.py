"""Builds: a pip that pip starts (build isolation, ``--python``) is variant-aware as well."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run

__all__ = ["LABELS", "RUNNER", "WHEELS_ONLY", "hand_on", "patches", "places"]

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runner.py")
#: Variables for a child: the labels of the environment that it builds for, as JSON; and that it
#: must not build anything.
LABELS = "PIPVARIANT_BUILD_LABELS"
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


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the function that names the file which a child pip is started with."""
    return [
        Patch(
            target,
            lambda original: _get_runnable_pip(run, original),
            functools.partial(_prove, run, target),
        )
        for target in pip.runnable
    ]


def _get_runnable_pip(run: Run, original: Any) -> Callable[[], str]:
    def get_runnable_pip() -> str:
        runnable = str(original())
        # A pip inside a zip file is started as that file, which leaves no room for a runner.
        if not runnable.endswith(".py"):
            return runnable
        run.hand_on()
        return RUNNER

    return get_runnable_pip


def hand_on(run: Run) -> None:
    """Let a pip that is started know where our packages are, and for what it builds."""
    os.environ["PIPVARIANT_RUNNER"] = json.dumps(places())
    # Before a command is known it is another Python that is started, not a build.
    if run.command and not run.no_variant:
        from pipvariant.shim.building import build_requirements

        build_requirements.hand_on(run)


def places() -> dict[str, str]:
    """Return the folder that holds each needed package, for those that are here."""
    places = {}
    for name in NEEDED:
        spec = find_spec(name)
        if spec is not None and spec.origin is not None:
            folder = os.path.dirname(os.path.abspath(spec.origin))
            places[name] = os.path.dirname(folder) if spec.submodule_search_locations else folder
    return places


def _prove(run: Run, target: str) -> bool:
    module, _, name = target.partition(":")
    runnable: Any = getattr(import_module(module), name)
    handed: list[bool] = []
    before, run.hand_on = run.hand_on, lambda: handed.append(True)
    try:
        # A pip inside a zip file is started as that file.
        is_ours = runnable.__module__ == __name__
        return bool(is_ours and (runnable() == RUNNER) == bool(handed))
    finally:
        run.hand_on = before
