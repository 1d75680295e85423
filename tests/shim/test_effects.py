"""Each patch has a test that notices its loss, which `integration.broken_patches` runs then."""

from __future__ import annotations

import pytest

from integration.broken_patches import is_meant, names, noticing
from pipvariant.shim.core import pip_versions

# pip says so of the backend that it no longer uses by default.
pytestmark = pytest.mark.filterwarnings("ignore:.*pkg_resources.* is deprecated")

#: Releases between which other objects are patched.
RELEASES = ((22, 2), (22, 3), (24, 0), (25, 1), (26, 0), (26, 1), (26, 2), (26, 3))


@pytest.fixture
def patched(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the patches of all releases."""
    found: set[str] = set()
    for version in RELEASES:
        pip = pip_versions.Pip(version, "of a test")
        monkeypatch.setattr(pip_versions, "this_pip", lambda pip=pip: pip)
        found.update(names())
    return found


def test_each_patch_has_a_test_that_fails_without_it(patched: set[str]) -> None:
    marks = [(module, target) for module, target, _ in noticing()]
    assert {name for name in patched if not any(is_meant(*mark, name) for mark in marks)} == set()


def test_each_mark_of_a_test_is_about_a_patch(patched: set[str]) -> None:
    unmeant = [mark for mark in noticing() if not any(is_meant(*mark[:2], n) for n in patched)]
    assert unmeant == []
