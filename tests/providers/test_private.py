"""Folders for one user alone: what others own, can write to or have linked is not used."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pipvariant.providers.private import make_private

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder that is made below the folder ``base`` of the user."""
    folder = tmp_path / "base" / "pip-variant" / "plugins"
    make_private(folder)
    return folder


def opened(number: int, mode: int) -> Callable[[Path], object]:
    """Let others write to a folder: 0 is the folder itself, 1 the one above it, and so on."""
    return lambda folder: (folder, *folder.parents)[number].chmod(mode)


def linked(number: int) -> Callable[[Path], object]:
    """Put a link to the moved folder in its place."""

    def link(folder: Path) -> None:
        path = (folder, *folder.parents)[number]
        path.symlink_to(path.rename(path.with_name("elsewhere")))

    return link


def below_a_link_to_an_open_folder(folder: Path) -> None:
    base = folder.parent.parent
    target = base.parent / "open" / "target"
    target.parent.mkdir()
    base.rename(target)
    target.parent.chmod(0o777)
    base.symlink_to(target)


def a_file(folder: Path) -> None:
    folder.rmdir()
    folder.touch(mode=0o600)


def of_the_other_group(folder: Path) -> None:
    os.chown(folder.parent, -1, os.getegid() + 1)
    folder.parent.chmod(0o770)


needs_root = pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="gives away files")


def of_another_user(number: int) -> Callable[[Path], object]:
    return lambda folder: os.lchown((folder, *folder.parents)[number], os.geteuid() + 1, -1)


def a_link_of_another_user(folder: Path) -> None:
    linked(2)(folder)
    of_another_user(2)(folder)


@pytest.mark.parametrize(
    ("spoil", "words"),
    (
        (opened(0, 0o777), "others can write"),
        (opened(0, 0o770), "others can write"),
        (opened(1, 0o777), "others can write"),
        (opened(2, 0o777), "others can write"),
        (opened(3, 0o777), "others can write"),
        (linked(0), "is a link"),
        (linked(1), "is a link"),
        (below_a_link_to_an_open_folder, "others can write"),
        (a_file, "is no folder"),
        pytest.param(of_the_other_group, "others can write", marks=needs_root),
        pytest.param(of_another_user(0), "belongs to another user", marks=needs_root),
        pytest.param(of_another_user(1), "belongs to another user", marks=needs_root),
        pytest.param(of_another_user(2), "belongs to another user", marks=needs_root),
        pytest.param(of_another_user(3), "belongs to another user", marks=needs_root),
        pytest.param(a_link_of_another_user, "belongs to another user", marks=needs_root),
    ),
)
def test_a_folder_that_others_can_replace_or_fill_is_refused(
    folder: Path, spoil: Callable[[Path], object], words: str
) -> None:
    spoil(folder)
    with pytest.raises(OSError, match=words):
        make_private(folder)


@pytest.mark.parametrize(
    "shape",
    (
        lambda folder: shutil.rmtree(folder.parent.parent),
        opened(1, 0o770),
        opened(2, 0o770),
        opened(3, 0o1777),
        linked(2),
        linked(3),
    ),
    ids=("missing", "group", "group above", "sticky above", "link above", "link two above"),
)
def test_what_only_the_user_can_change_is_fine(
    folder: Path, shape: Callable[[Path], object]
) -> None:
    shape(folder)
    make_private(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
