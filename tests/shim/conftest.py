"""A run with all patches on the pip of this environment, taken off after each test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipvariant import shim
from pipvariant.shim.core.state import Run


@pytest.fixture
def run() -> Iterator[Run]:
    """The run of a shim that is fully on, as for `install --report`."""
    made = shim.apply()
    made.report = made.installs = True
    try:
        shim.activate(made)
        yield made
    finally:
        shim.undo()
