"""Lock files as requirements: what pip reads in a ``pylock.toml``, and which files it takes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import installation_error, pip_error
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import UserConstraints, aside
from pipvariant.shim.finding.filenames import PROOF
from pipvariant.shim.locking.chooser import PYLOCK, TABLE, LockChooser, LockTables
from pipvariant.standard.filename import split_label

COMMAND = "pip._internal.cli.req_command"


def patches(
    pip: Pip, user: UserConstraints, locks: LockTables, chooser: LockChooser
) -> list[Patch]:
    """Patch the reader of lock files, and the place where one file of each package is picked."""
    if not pip.reads_locks:
        return []
    found = [patch(f"{PYLOCK}:Pylock.from_dict", _from_dict, _prove_tables, user, locks)]
    if not user.no_variant:
        target = f"{COMMAND}:select_from_pylock_path_or_url"
        found.append(patch(target, _select, functools.partial(_prove_select, pip), chooser))
    return found


def _from_dict(
    user: UserConstraints, locks: LockTables, original: Any, cls: Any, data: Any, /
) -> Any:
    if user.no_variant:
        return original(cls, _without_variants(user, data))
    lock = original(cls, data)
    # pip's object of a package has no room for the table, so it is kept beside.
    for package, entry in zip(lock.packages, data["packages"]):
        if TABLE in entry:
            locks.tables.append((package, entry[TABLE]))
        if package.version is not None:
            locks.versions.setdefault(package.name, set()).add(str(package.version))
    return lock


def _select(
    chooser: LockChooser, original: Any, /, where: str, session: Any, *args: Any, **kwargs: Any
) -> Iterator[tuple[Any, Any]]:
    for package, picked in original(where, session, *args, **kwargs):
        yield package, chooser.choose(package, picked, where, session)


# Without variants.


def _without_variants(user: UserConstraints, data: Any) -> Any:
    """Return a parsed lock file without the wheels that have a label.

    What is not as it should be is left as it is, for pip to refuse it.
    """
    packages = data.get("packages")
    if not isinstance(packages, list):
        return data
    return {**data, "packages": [_plain_package(user, package) for package in packages]}


def _plain_package(user: UserConstraints, package: Any) -> Any:
    wheels = package.get("wheels") if isinstance(package, dict) else None
    if not isinstance(wheels, list):
        return package
    kept = [wheel for wheel in wheels if not _is_labelled(wheel)]
    if len(kept) == len(wheels):
        return package
    name = str(package.get("name"))
    user.left_out.add(name)
    if not kept and "sdist" not in package:
        raise installation_error(
            f"only variant wheels of {name} are listed, and --no-variant leaves them out"
        )
    plain = {key: value for key, value in package.items() if key != "wheels"}
    return {**plain, "wheels": kept} if kept else plain


def _is_labelled(wheel: Any) -> bool:
    pylock: Any = import_module(PYLOCK)
    try:
        return split_label(pylock.PackageWheel._from_dict(wheel).filename)[1] is not None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, pip will say so
        return False


# Proofs: a lock file that is made up, read by pip's own functions.


def _proof() -> dict[str, Any]:
    wheel = {"name": PROOF, "url": f"https://proof.invalid/{PROOF}", "hashes": {"sha256": "0"}}
    package = {"name": "proof", "version": "1.0", "wheels": [wheel], TABLE: {"proof": True}}
    return {"lock-version": "1.0", "created-by": "proof", "packages": [package]}


def _prove_tables(user: UserConstraints, locks: LockTables) -> bool:
    try:
        lock = import_module(PYLOCK).Pylock.from_dict(_proof())
    except pip_error("InstallationError"):
        return user.no_variant and user.left_out == {"proof"}
    return locks.tables == [(lock.packages[0], {"proof": True})]


def _prove_select(pip: Pip, chooser: LockChooser) -> bool:
    command: Any = import_module(COMMAND)
    names = command.RequirementCommand.get_requirements.__code__.co_names
    text: str = import_module("pip._vendor.tomli_w").dumps(_proof())

    class Session:
        """Answers every request with the lock file."""

        def get(self, url: str) -> Any:
            return SimpleNamespace(text=text, status_code=200, reason="OK", url=url)

    with aside(chooser, choose=lambda *args: "chosen"):
        selected = command.select_from_pylock_path_or_url(
            "https://proof.invalid/pylock.toml", Session(), **pip.select_arguments
        )
        picks = [pick for _, pick in selected]
    return "select_from_pylock_path_or_url" in names and picks == ["chosen"]
