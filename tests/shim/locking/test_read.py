"""What pip reads in a lock file, with and without variants, and the patches for it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pipvariant.shim.core.pip_objects import pip_error
from pipvariant.shim.core.state import UserConstraints
from pipvariant.shim.locking import read
from pipvariant.shim.locking.chooser import LockChooser
from tests.shim.finder import Start, make_parts
from tests.shim.locking.locks import LABELS, PIP, SDIST, TABLE, make_package, make_table, reads


def _from_dict(*packages: Any) -> Any:
    lock = {"lock-version": "1.0", "created-by": "test", "packages": list(packages)}
    return import_module("pip._vendor.packaging.pylock").Pylock.from_dict(lock)


@reads
def test_without_variants_wheels_with_a_label_are_not_there(start: Start) -> None:
    start(lock_files=True, no_variant=True)
    tails = ("py3-none-any-y", "py3-none-any-null", "py3-none-any")
    (package,) = _from_dict(make_package(*tails, **{TABLE: make_table(LABELS)})).packages
    assert [wheel.filename for wheel in package.wheels] == ["tri-1.0-py3-none-any.whl"]
    (package,) = _from_dict(make_package("py3-none-any-null", sdist=SDIST)).packages
    assert (package.wheels, package.sdist.filename) == (None, "tri-1.0.tar.gz")


@reads
def test_without_variants_a_package_of_variants_only_is_an_error(start: Start) -> None:
    start(lock_files=True, no_variant=True)
    words = r"only variant wheels of tri.*--no-variant"
    with pytest.raises(pip_error("InstallationError"), match=words):
        _from_dict(make_package("py3-none-any-y"))


@reads
@pytest.mark.parametrize(
    "lock",
    (
        {"packages": 1},
        {"packages": [1]},
        {"packages": [{"name": "tri", "wheels": 1}]},
        {"packages": [{"name": "tri", "wheels": [1, {}, {"name": "tri-1.0-py3-none-any-Y.whl"}]}]},
    ),
)
@pytest.mark.parametrize("no_variant", (True, False))
def test_what_is_wrong_with_a_lock_is_pips_to_say(
    start: Start, lock: Any, no_variant: bool
) -> None:
    pylock: Any = import_module("pip._vendor.packaging.pylock")
    whole = {"lock-version": "1.0", "created-by": "test", **lock}
    with pytest.raises(pylock.PylockValidationError) as plain:
        pylock.Pylock.from_dict(whole)
    start(lock_files=True, no_variant=no_variant)
    with pytest.raises(pylock.PylockValidationError) as caught:
        pylock.Pylock.from_dict(whole)
    assert str(caught.value) == str(plain.value)


def test_a_pip_without_lock_files_is_not_patched_for_them() -> None:
    user, parts = UserConstraints(), make_parts()
    chooser = LockChooser(
        user, parts.index, parts.metadata, parts.judge, parts.decisions, parts.locks
    )
    assert bool(read.patches(PIP, user, parts.locks, chooser)) == PIP.reads_locks
