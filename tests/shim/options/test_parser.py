"""What is taken from the command line and the environment."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pipvariant.shim.options.parser import active_elsewhere


@pytest.mark.parametrize(
    ("active", "variables", "options", "is_told"),
    (
        ("other", {}, {}, True),
        ("this", {}, {}, False),
        ("removed", {}, {}, False),
        ("other", {"_PIP_RUNNING_IN_SUBPROCESS": "1"}, {}, False),
        ("other", {}, {"target_dir": "there"}, False),
        ("other", {}, {"prefix_path": "there"}, False),
        ("other", {}, {"use_user_site": True}, False),
    ),
)
def test_an_active_environment_counts_unless_it_was_said_where_to_install(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    active: str,
    variables: dict[str, str],
    options: dict[str, str],
    is_told: bool,
) -> None:
    for name in ("other", "this"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "this"))
    for name, value in {"VIRTUAL_ENV": str(tmp_path / active), **variables}.items():
        monkeypatch.setenv(name, value)
    assert bool(active_elsewhere(SimpleNamespace(**options))) is is_told
