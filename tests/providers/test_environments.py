"""Environments of plugin packages: complete or not there, private, few, and made once."""

from __future__ import annotations

import errno
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipvariant.errors import ProbeFailed
from pipvariant.providers import environments
from pipvariant.providers.environments import MAX_KEPT, Environment, Environments

Fill = Callable[[Path], Sequence[str]]


def provide_environment(
    folder: Path | None, key: Sequence[str], fill: Fill, *, refresh: bool
) -> Environment:
    return Environments(folder, refresh=refresh).provide(key, fill)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pip-variant" / "plugins"


def filling(text: str = "1", calls: list[str] | None = None) -> Fill:
    def fill(site: Path) -> Sequence[str]:
        assert list(site.iterdir()) == []
        (site / "module.py").write_text(text)
        if calls is not None:
            calls.append(text)
        return [f"module {text}"]

    return fill


def never(site: Path) -> Sequence[str]:
    raise AssertionError(site)


def test_what_is_filled_is_there_with_the_names_of_its_packages(folder: Path) -> None:
    made = provide_environment(folder, ["a"], filling(), refresh=False)
    assert made.packages == ("module 1",)
    assert (made.site / "module.py").read_text() == "1"
    assert provide_environment(folder, ["a"], never, refresh=False) == made
    assert list(folder.iterdir()) == [made.site.parent]


def test_another_key_is_another_environment(folder: Path) -> None:
    first = provide_environment(folder, ["a"], filling("1"), refresh=False)
    second = provide_environment(folder, ["b"], filling("2"), refresh=False)
    assert first.site != second.site
    assert (first.site / "module.py").read_text() == "1"


def test_refresh_puts_a_new_one_in_place_of_the_old(folder: Path) -> None:
    old = provide_environment(folder, ["a"], filling("1"), refresh=False)
    new = provide_environment(folder, ["a"], filling("22"), refresh=True)
    assert old.site == new.site
    assert (new.site / "module.py").read_text() == "22"
    assert os.listdir(folder) == [new.site.parent.name]
    assert sorted(os.listdir(new.site.parent)) == ["environment.json", "site"]


@pytest.mark.parametrize("text", ("changed", None))
def test_a_file_that_is_missing_or_changed_is_damage(folder: Path, text: str | None) -> None:
    made = provide_environment(folder, ["a"], filling(), refresh=False)
    module = made.site / "module.py"
    module.unlink() if text is None else module.write_text(text)
    calls: list[str] = []
    assert provide_environment(folder, ["a"], filling("1", calls), refresh=False) == made
    assert calls == ["1"]
    assert module.read_text() == "1"


def test_what_a_plugin_writes_beside_its_files_is_no_damage(folder: Path) -> None:
    made = provide_environment(folder, ["a"], filling(), refresh=False)
    (made.site / "written.log").write_text("")
    assert provide_environment(folder, ["a"], never, refresh=False) == made


@pytest.mark.parametrize("text", ("", "[]", "7", "{}", "[" * 100_000, '{"key": 1}', "\0"))
def test_a_damaged_record_is_damage(folder: Path, text: str) -> None:
    made = provide_environment(folder, ["a"], filling(), refresh=False)
    (made.site.parent / "environment.json").write_text(text)
    assert provide_environment(folder, ["a"], filling("2"), refresh=False).packages == ("module 2",)


def test_what_fails_leaves_nothing(folder: Path) -> None:
    def fail(site: Path) -> Sequence[str]:
        (site / "half").write_text("")
        raise ProbeFailed("no")

    with pytest.raises(ProbeFailed, match="no"):
        provide_environment(folder, ["a"], fail, refresh=False)
    assert not folder.exists()


def test_the_faster_of_two_processes_wins(folder: Path) -> None:
    barrier = threading.Barrier(2)
    made = []

    def fill(site: Path) -> Sequence[str]:
        (site / "module.py").write_text("same")
        barrier.wait()
        return ["module 1"]

    def run() -> None:
        made.append(provide_environment(folder, ["a"], fill, refresh=False))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made[0] == made[1]
    assert os.listdir(folder) == [made[0].site.parent.name]


def test_the_longest_unused_ones_go(folder: Path) -> None:
    made = []
    for number in range(MAX_KEPT):
        made.append(provide_environment(folder, [str(number)], filling(), refresh=False))
        os.utime(made[-1].site.parent / "environment.json", (number, number))
    # The first was the longest unused one until now.
    provide_environment(folder, ["0"], never, refresh=False)
    provide_environment(folder, ["new"], filling(), refresh=False)
    assert len(list(folder.iterdir())) == MAX_KEPT
    assert made[0].site.exists()
    assert not made[1].site.exists()


def test_what_was_given_up_half_way_goes_after_a_day(folder: Path) -> None:
    provide_environment(folder, ["a"], filling(), refresh=False)
    old, young = folder / f"{environments._NEW}old", folder / f"{environments._NEW}young"
    old.mkdir()
    young.mkdir()
    os.utime(old, (0, 0))
    provide_environment(folder, ["b"], filling(), refresh=False)
    assert (old.exists(), young.exists()) == (False, True)


posix = pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")


@posix
def test_a_link_in_place_of_an_environment_is_not_followed(folder: Path, tmp_path: Path) -> None:
    made = provide_environment(folder, ["a"], filling(), refresh=False)
    elsewhere = made.site.parent.rename(tmp_path / "elsewhere")
    made.site.parent.symlink_to(elsewhere)
    (elsewhere / "site" / "module.py").write_text("2")
    assert provide_environment(folder, ["a"], filling("1"), refresh=False) == made
    assert (made.site / "module.py").read_text() == "1"


def full(*_arguments: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/disk")


@posix
@pytest.mark.parametrize(
    "call", ("shutil.copytree", "pathlib.Path.write_text", "pathlib.Path.mkdir")
)
def test_what_cannot_be_written_to_the_disk_serves_all_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def fill(site: Path) -> Sequence[str]:
        (site / "module.py").write_bytes(b"1")
        # From here on nothing can be written.
        monkeypatch.setattr(call, full)
        return ["module 1"]

    environments = Environments(folder, refresh=False)
    made = environments.provide(["a"], fill)
    assert (made.packages, made.not_kept) == (("module 1",), "/disk: No space left on device")
    assert (made.site / "module.py").read_text() == "1"
    assert not folder.exists() or not os.listdir(folder)
    del environments
    assert not made.site.exists()


@posix
def test_a_folder_that_leads_elsewhere_is_left_alone(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o700)
    old = [provide_environment(victim, [str(n)], filling(), refresh=False) for n in range(MAX_KEPT)]
    (victim / f"{environments._NEW}old").mkdir()
    os.utime(victim / f"{environments._NEW}old", (0, 0))
    before = sorted(os.listdir(victim))
    folder.parent.mkdir(mode=0o700)
    folder.symlink_to(victim)
    for key in ("0", "new"):
        made = Environments(folder, refresh=False).provide([key], filling())
        assert made.not_kept == f"{folder} is a link"
    assert sorted(os.listdir(victim)) == before
    assert all(made.site.exists() for made in old)


def test_the_key_says_for_which_python(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    made = provide_environment(folder, ["a"], filling(), refresh=False)
    record = json.loads((made.site.parent / "environment.json").read_text())
    assert record["key"][:2] == ["a", sys.version]
    monkeypatch.setattr(sys, "version", "4.0")
    assert provide_environment(folder, ["a"], filling("2"), refresh=False).site != made.site
