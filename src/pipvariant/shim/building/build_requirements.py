"""Build requirements get the labels that the target environment has, or is about to get.

An extension that is built against ``torch`` has to see the same build of it that it will run
with. The labels are a preference: a label that does not fit, or that the required version does
not have, is not taken for their sake.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pipvariant.shim.building.child_pip import LABELS
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.installed import read

__all__ = ["hand_on", "inherited", "of_target", "patches"]


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the installer of build requirements that works in this process, where it is on."""
    target = pip.inprocess_builds
    if target is None:
        return []
    return [Patch(target, lambda original: _install(run, original), lambda: _prove(run, target))]


def of_target(run: Run) -> Mapping[str, str]:
    """Return the labels of the target environment by canonical project name.

    Those that this run has chosen so far count more than those that are installed.
    """
    labels = dict(inherited())
    if not run.ignores_installed:
        environment: Any = import_module("pip._internal.metadata").get_default_environment()
        for distribution in environment.iter_installed_distributions(local_only=False, skip=()):
            installed = read(distribution)
            if installed.label is not None:
                labels[distribution.canonical_name] = installed.label
    return {**labels, **run.picked}


def inherited() -> Mapping[str, str]:
    """Return the labels that a parent process has handed on, none if this builds nothing."""
    try:
        labels = json.loads(os.environ.get(LABELS, "{}"))
    except ValueError:
        return {}
    return labels if isinstance(labels, dict) else {}


def hand_on(run: Run) -> None:
    """Let a pip that is started for a build know the labels of the target environment."""
    os.environ[LABELS] = json.dumps(of_target(run))


def _install(run: Run, original: Any) -> Any:
    def install(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = run.build_labels, dict(run.picked)
        run.build_labels = run.build_labels or of_target(run)
        try:
            return original(self, *args, **kwargs)
        finally:
            run.build_labels, run.picked = before

    return install


def _prove(run: Run, target: str) -> bool:
    class Seen(BaseException):
        pass

    class Installer:
        """Without any parts: pip asks for one of them at once."""

        def __getattr__(self, name: str) -> None:
            raise Seen(run.build_labels)

    module, _, path = target.partition(":")
    class_name, _, name = path.partition(".")
    install: Any = getattr(getattr(import_module(module), class_name), name)
    before = run.picked, run.build_labels
    run.picked, run.build_labels = {"proof": "label"}, {}
    seen: list[Any] = []
    try:
        with contextlib.suppress(AttributeError):
            install(Installer(), (), None, kind="proof", for_req=None)
    except Seen as error:
        seen = [dict(labels).get("proof") for labels in error.args]
    finally:
        run.picked, run.build_labels = before
    return seen == ["label"]
