"""A pip that is newer than the known ones is used where all that is patched holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.test_unknown_pip import call_it, copied_pip, linked_pip, refused
from integration.wheels import tri
from pipvariant.shim.core.pip_versions import NEWEST

pytestmark = pytest.mark.real_start


@pytest.mark.parametrize("version", ("26.4", "27.0"))
def test_a_newer_pip_in_which_all_holds_is_used_with_one_warning(
    pip: Pip, index: Index, tmp_path: Path, version: str
) -> None:
    pips = linked_pip(tmp_path)
    call_it(pips, version)
    if PIP_VERSION < NEWEST:
        # An older one does not look like what comes after the newest.
        assert version in refused(pip, index, pips)
        return
    index.add(*tri())
    environ = {"PYTHONPATH": str(pips)}
    result = pip.variant("install", "tri", driver="12.8", environ=environ).check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    (warning,) = result.warnings
    assert warning.startswith(f"WARNING: pip {version} is newer than those that pip-variant")


# The second is no target of a patch, only taken for granted.
@pytest.mark.parametrize(
    ("version", "name"), (("26.4", "evaluate_links"), ("27.0", "create_command"))
)
def test_a_newer_pip_with_a_name_moved_is_refused(
    pip: Pip, index: Index, tmp_path: Path, version: str, name: str
) -> None:
    pips = copied_pip(tmp_path, name, f"other_{name}")
    call_it(pips, version)
    message = refused(pip, index, pips)
    assert f"pip {version}" in message
    assert PIP_VERSION < NEWEST or name in message
