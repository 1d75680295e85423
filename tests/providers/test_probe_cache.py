"""What probes reported is kept until the machine is started again, for this user alone."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.errors import ProbeFailed
from pipvariant.providers import builtin, probe, probe_cache
from pipvariant.providers.answers import Reading
from pipvariant.providers.target import Target
from tests.providers.drivers import MakeDriver

H100 = {"cuda": 12080, "cuda_v2": 12080, "devices": "9.0"}


@dataclass(frozen=True)
class Judged(Reading):
    """A report, and what is wrong with it."""

    report: Any = None


def judge(report: object) -> Judged:
    """Take a number for a good report, a list for one with problems, all else for nonsense."""
    if isinstance(report, int):
        return Judged(report=report)
    if isinstance(report, list):
        return Judged(report=report, problems=("not good",))
    raise ProbeFailed("no sense")


class Machine:
    """A machine whose probe reports what it is told to, with a user who has a home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.reports: list[Any] = []
        self.runs = 0

    @property
    def place(self) -> Path:
        return self.home / ".cache/pip-variant/probes"

    @property
    def file(self) -> Path:
        (file,) = self.place.iterdir()
        return file

    def run(self, *_arguments: str, environ: Mapping[str, str]) -> object:
        self.runs += 1
        report = self.reports.pop(0)
        if isinstance(report, Exception):
            raise report
        return report

    def ask(self, *signs: str, refresh: bool = False, **environ: str) -> Any:
        environ = {"HOME": str(self.home), **environ}
        return probe_cache.query_probe(
            "a.probe", "/", judge=judge, environ=environ, signs=signs, refresh=refresh
        ).report


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    made = Machine(home)
    monkeypatch.setattr(probe, "run_probe", made.run)
    boot = tmp_path / "boot_id"
    boot.write_text("first\n")
    monkeypatch.setattr(probe_cache, "BOOT_ID", boot)
    monkeypatch.setattr("sys.platform", "linux")
    return made


def test_a_report_is_remembered(machine: Machine) -> None:
    machine.reports = [1, 2]
    assert [machine.ask(), machine.ask()] == [1, 1]
    assert machine.runs == 1


def test_it_is_kept_for_this_user_alone(machine: Machine) -> None:
    machine.reports = [1]
    machine.ask()
    assert stat.S_IMODE(machine.place.stat().st_mode) == 0o700
    assert stat.S_IMODE(machine.file.stat().st_mode) == 0o600


def test_refresh_asks_again_and_remembers_the_new_report(machine: Machine) -> None:
    machine.reports = [1, 2]
    assert [machine.ask(), machine.ask(refresh=True), machine.ask()] == [1, 2, 2]


def test_refresh_forgets_the_old_report_where_the_new_one_has_problems(machine: Machine) -> None:
    machine.reports = [1, [], 3]
    assert [machine.ask(), machine.ask(refresh=True), machine.ask()] == [1, [], 3]


def test_another_start_of_the_machine_asks_again(machine: Machine) -> None:
    machine.reports = [1, 2]
    machine.ask()
    probe_cache.BOOT_ID.write_text("second\n")
    assert machine.ask() == 2


def test_a_change_of_signs_asks_again(machine: Machine) -> None:
    machine.reports = [1, 2]
    assert [machine.ask("driver 1"), machine.ask("driver 2"), machine.ask("driver 1")] == [1, 2, 1]


@pytest.mark.parametrize("variable", ("CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "ROCM_PATH"))
def test_a_variable_that_the_probe_sees_asks_again(machine: Machine, variable: str) -> None:
    machine.reports = [1, 2]
    environ: dict[str, Any] = {variable: "1"}
    assert [machine.ask(), machine.ask(**environ)] == [1, 2]


def test_other_variables_do_not_matter(machine: Machine) -> None:
    machine.reports = [1]
    assert [machine.ask(), machine.ask(PATH="/venv/bin", TERM="dumb")] == [1, 1]


def test_another_container_asks_again(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.reports = [1, 2]
    machine.ask()
    monkeypatch.setattr(probe_cache, "_container", lambda: "another")
    assert machine.ask() == 2


def test_another_version_of_this_project_asks_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.reports = [1, 2]
    machine.ask()
    monkeypatch.setattr(probe_cache, "__version__", "99")
    assert machine.ask() == 2


def test_a_report_with_problems_is_not_kept(machine: Machine) -> None:
    machine.reports = [[], 2]
    assert [machine.ask(), machine.ask()] == [[], 2]


@pytest.mark.parametrize("report", (ProbeFailed("no answer within 5 seconds"), "nonsense"))
def test_a_failed_probe_is_not_kept(machine: Machine, report: object) -> None:
    machine.reports = [report, 2]
    with pytest.raises(ProbeFailed):
        machine.ask()
    assert machine.ask() == 2


@pytest.mark.parametrize("value", ("1", "0", "false"))
def test_pips_variable_turns_it_off(machine: Machine, value: str) -> None:
    machine.reports = [1, 2]
    assert [machine.ask(PIP_NO_CACHE_DIR=value) for _ in range(2)] == [1, 2]
    assert not machine.place.exists()


def test_where_the_start_of_the_machine_is_not_known_nothing_is_kept(machine: Machine) -> None:
    machine.reports = [1, 2]
    probe_cache.BOOT_ID.unlink()
    assert [machine.ask(), machine.ask()] == [1, 2]
    assert not machine.place.exists()


@pytest.mark.parametrize("home", ("", "relative", "/no/such/home"))
def test_without_a_home_nothing_is_kept(machine: Machine, home: str) -> None:
    machine.reports = [1, 2]
    assert [machine.ask(HOME=home) for _ in range(2)] == [1, 2]
    assert not Path("/no").exists()


def damage(text: str) -> Callable[[Machine], None]:
    return lambda machine: (machine.file.write_text(text), None)[1]


def of_another_key(machine: Machine) -> None:
    kept = json.loads(machine.file.read_text())
    kept["key"][0] = "another"
    machine.file.write_text(json.dumps(kept))


def without_sense(machine: Machine) -> None:
    kept = json.loads(machine.file.read_text())
    machine.file.write_text(json.dumps({**kept, "report": "nonsense"}))


def writable_for_others(machine: Machine) -> None:
    machine.file.chmod(0o666)


def in_a_folder_that_is_writable_for_others(machine: Machine) -> None:
    machine.place.chmod(0o777)


def a_link(machine: Machine) -> None:
    file = machine.file
    file.replace(machine.home / "elsewhere")
    file.symlink_to(machine.home / "elsewhere")


def a_pipe(machine: Machine) -> None:
    file = machine.file
    file.unlink()
    os.mkfifo(file, 0o600)


@pytest.mark.parametrize(
    "spoil",
    (
        damage(""),
        damage("{"),
        damage("[]"),
        damage("[" * 100_000),
        damage(" " * 500_000 + "{}"),
        of_another_key,
        without_sense,
        writable_for_others,
        in_a_folder_that_is_writable_for_others,
        a_link,
        a_pipe,
    ),
)
def test_a_file_that_cannot_be_trusted_is_ignored(
    machine: Machine, spoil: Callable[[Machine], None]
) -> None:
    machine.reports = [1, 2]
    machine.ask()
    spoil(machine)
    assert machine.ask() == 2


def test_files_of_another_user_are_ignored_and_left_alone(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.reports = [1, 2]
    machine.ask()
    kept = machine.file.read_text()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert machine.ask() == 2
    assert machine.file.read_text() == kept


def test_nothing_is_written_into_the_home_of_another_user(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.reports = [1]
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert machine.ask() == 1
    assert list(machine.home.iterdir()) == []


def test_a_home_that_cannot_be_written_to_is_no_error(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise PermissionError("read only")

    machine.reports = [1, 2]
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert [machine.ask(), machine.ask()] == [1, 2]


def test_a_write_that_breaks_off_leaves_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_options: object) -> None:
        raise OSError("disk full")

    machine.reports = [1]
    monkeypatch.setattr(os, "replace", refuse)
    assert machine.ask() == 1
    assert list(machine.place.iterdir()) == []


def test_only_so_many_reports_are_kept_the_newest(machine: Machine) -> None:
    machine.reports = list(range(probe_cache.MAX_FILES + 5))
    for number in range(len(machine.reports)):
        machine.ask(f"driver {number}")
        for file in machine.place.iterdir():
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 10))
    assert len(list(machine.place.iterdir())) == probe_cache.MAX_FILES
    newest = probe_cache.MAX_FILES + 4
    assert machine.ask(f"driver {newest}") == newest


def test_files_that_a_link_leads_to_stay(machine: Machine) -> None:
    victim = machine.home / "victim"
    victim.mkdir(mode=0o700)
    for number in range(probe_cache.MAX_FILES + 5):
        (victim / f"{number}.json").touch(mode=0o600)
    machine.place.parent.mkdir(mode=0o700, parents=True)
    machine.place.symlink_to(victim)
    machine.reports = [1, 2]
    assert [machine.ask(), machine.ask()] == [1, 2]
    assert len(os.listdir(victim)) == probe_cache.MAX_FILES + 5


def test_what_else_is_in_the_folder_stays_and_is_no_obstacle(machine: Machine) -> None:
    machine.place.mkdir(mode=0o700, parents=True)
    (machine.place / "a.json").symlink_to("nowhere")
    (machine.place / "other").touch()
    machine.reports = list(range(probe_cache.MAX_FILES + 5))
    for number in range(len(machine.reports)):
        machine.ask(f"driver {number}")
    assert len(list(machine.place.iterdir())) == probe_cache.MAX_FILES + 2


# Where it is, and what tells a start of the machine


@pytest.mark.parametrize(
    ("system", "environ", "place"),
    (
        ("linux", {}, ".cache/pip-variant/probes"),
        ("linux", {"XDG_CACHE_HOME": "relative"}, ".cache/pip-variant/probes"),
        ("linux", {"XDG_CACHE_HOME": "{home}/mine"}, "mine/pip-variant/probes"),
        ("darwin", {"XDG_CACHE_HOME": "{home}/mine"}, "Library/Caches/pip-variant/probes"),
        ("win32", {"LOCALAPPDATA": "{home}"}, "pip-variant/probes"),
    ),
)
def test_the_folder_is_that_of_the_platform(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    environ: Mapping[str, str],
    place: str,
) -> None:
    monkeypatch.setattr("sys.platform", system)
    given = {name: value.format(home=tmp_path) for name, value in environ.items()}
    assert probe_cache.cache_folder({"HOME": str(tmp_path), **given}) == tmp_path / place


def test_windows_counts_its_starts_in_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    class Key(SimpleNamespace):
        def __enter__(self) -> Key:
            return self

        def __exit__(self, *_arguments: object) -> None:
            pass

    def query(key: Key, name: str) -> tuple[int, int]:
        assert key.path.endswith(r"Memory Management\PrefetchParameters")
        return {"BootId": 41}[name], 4

    registry = SimpleNamespace(
        HKEY_LOCAL_MACHINE=1, OpenKey=lambda _root, path: Key(path=path), QueryValueEx=query
    )
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setitem(sys.modules, "winreg", registry)
    assert probe_cache._boot() == "41"


def test_macos_names_its_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def query(name: bytes, text: Any, *_arguments: object) -> int:
        assert name == b"kern.bootsessionuuid"
        text.value = b"3E6BDA3F-1B4E"
        return 0

    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda _name: SimpleNamespace(sysctlbyname=query))
    assert probe_cache._boot() == "3E6BDA3F-1B4E"


def test_linux_names_its_starts() -> None:
    assert len(probe_cache.BOOT_ID.read_text()) > 30
    assert probe_cache._boot() == probe_cache.BOOT_ID.read_text().strip()


# With a driver


@pytest.fixture
def user(make_driver: MakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a driver and the environment of a user of it."""
    monkeypatch.setattr(probe, "TIME_LIMIT", 60.0)
    driver = make_driver(nvml=H100)
    return SimpleNamespace(driver=driver, environ={**driver.environ, "HOME": str(tmp_path)})


def test_the_driver_is_asked_once_until_it_changes(user: Any) -> None:
    first, second = (builtin.query_builtin("nvidia", user.environ) for _ in range(2))
    assert first == second
    assert len(user.driver.calls) == 1
    os.utime(user.driver.folder / "libnvidia-ml.so.1", (1, 1))
    builtin.query_builtin("nvidia", user.environ)
    assert len(user.driver.calls) == 2


def test_a_target_asks_again_where_the_user_wants_it(user: Any) -> None:
    for refresh in (False, False, True):
        answer = Target(environ=user.environ, refresh=refresh).built_in("nvidia")
        assert answer.facts["driver"] == "12.8"
    assert len(user.driver.calls) == 2


def test_without_cache_the_driver_is_asked_each_time(user: Any, tmp_path: Path) -> None:
    for _ in range(2):
        builtin.query_builtin("nvidia", {**user.environ, "PIP_NO_CACHE_DIR": "1"})
    assert len(user.driver.calls) == 2
    assert not (tmp_path / ".cache").exists()
