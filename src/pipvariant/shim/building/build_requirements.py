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

from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import CommandOptions, aside, set_variable
from pipvariant.shim.finding.installed import find_all_installed, read_installed
from pipvariant.shim.options.parser import BUILD_LABELS
from pipvariant.shim.resolving.decisions import Decisions


def patches(pip: Pip, options: CommandOptions, decisions: Decisions) -> list[Patch]:
    """Patch the installer of build requirements that works in this process, where it is on."""
    target = pip.inprocess_builds
    return [] if target is None else [patch(target, _install, _prove, target, options, decisions)]


def of_target(options: CommandOptions, decisions: Decisions) -> Mapping[str, str]:
    """Return the labels of the target environment by canonical project name.

    Those that this run has chosen so far count more than those that are installed.
    """
    labels = dict(inherited())
    if not options.ignores_installed:
        for distribution in find_all_installed():
            installed = read_installed(distribution)
            if installed.label is not None:
                labels[distribution.canonical_name] = installed.label
    backends = decisions.installed_backends()
    labels.update((name, backend) for name, backend in backends.items() if backend is not None)
    return {**labels, **decisions.last_label}


def inherited() -> Mapping[str, str]:
    """Return the labels that a parent process has handed on, none if this builds nothing."""
    try:
        labels = json.loads(os.environ.get(BUILD_LABELS, "{}"))
    except ValueError:
        return {}
    return labels if isinstance(labels, dict) else {}


def hand_on(options: CommandOptions, decisions: Decisions) -> None:
    """Let a pip that is started for a build know the labels of the target environment."""
    set_variable(BUILD_LABELS, json.dumps(of_target(options, decisions)))


def _install(
    target: str,
    options: CommandOptions,
    decisions: Decisions,
    original: Any,
    self: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    before = decisions.build_labels, dict(decisions.last_label)
    at = decisions.attempted, decisions.pinned
    decisions.build_labels = decisions.build_labels or of_target(options, decisions)
    decisions.begin_again()
    try:
        return original(self, *args, **kwargs)
    finally:
        decisions.build_labels, decisions.last_label = before
        decisions.attempted, decisions.pinned = at


def _prove(target: str, options: CommandOptions, decisions: Decisions) -> bool:
    class Seen(BaseException):
        pass

    class Installer:
        """Without any parts: pip asks for one of them at once."""

        def __getattr__(self, name: str) -> None:
            raise Seen(decisions.build_labels)

    module, _, path = target.partition(":")
    class_name, _, name = path.partition(".")
    install: Any = getattr(getattr(import_module(module), class_name), name)
    with aside(decisions, last_label={"proof": "label"}), contextlib.suppress(AttributeError):
        try:
            install(Installer(), (), None, kind="proof", for_req=None)
        except Seen as error:
            (labels,) = error.args
            return bool(labels.get("proof") == "label")
    return False
