"""A run with all patches on the pip of this environment, taken off after each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.shim.core.state import CommandOptions
from pipvariant.shim.run import Run
from tests.shim.finder import Start


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a run with these options, with all of its patches on."""

    def started(*, no_variant: bool = False, **options: Any) -> Run:
        made = shim.apply()
        made.options, made.user.no_variant = CommandOptions(**options), no_variant
        made.label_built = lambda *args: ""
        made.activate()
        return made

    try:
        yield started
    finally:
        shim.undo()


@pytest.fixture
def run(start: Start) -> Run:
    """The run of a shim that is fully on, as for `install --report`."""
    return start(report=True, installs=True)
