"""What is made for a while is gone when a signal ends the run, with the usual exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipvariant.providers import short_lived
from tests.providers.drivers import Life

posix = pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says who started whom")

# Stays in its process group, or leaves it as a daemon does, and then holds the pipe open.
HANG = (
    "import os, sys, time\n{}\nos.write(os.open(sys.argv[1], os.O_WRONLY), b'x')\ntime.sleep(600)"
)
DAEMON = """
if os.fork(): time.sleep(600) if sys.argv[2:] else os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
"""
RUN = """
import contextlib, signal, sys, time
from pipvariant.providers import short_lived
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
try:
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(short_lived.folder())
        stack.enter_context(short_lived.child([sys.executable, "-c", *sys.argv[1:]], cwd=folder))
        time.sleep(600)
except KeyboardInterrupt:
    print("cancelled")
    sys.exit(1)
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder for temporary ones."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@posix
@pytest.mark.parametrize(("number", "code"), (("SIGINT", 1), ("SIGTERM", -15), ("SIGHUP", -1)))
def test_a_signal_leaves_no_process_and_no_folder(
    life: Life, temporary: Path, number: str, code: int
) -> None:
    command = [sys.executable, "-c", RUN, HANG.format(""), str(life.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert life.begun()
        process.send_signal(getattr(signal, number))
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, said) == (code, "cancelled\n")
    assert life.over()
    assert list(temporary.iterdir()) == []


@linux
@pytest.mark.parametrize("waits", ((), ("waits",)), ids=("alone", "beside its parent"))
def test_a_daemon_that_left_its_group_ends_with_the_block(
    life: Life, waits: tuple[str, ...]
) -> None:
    command = [sys.executable, "-c", HANG.format(DAEMON), str(life.path), *waits]
    with short_lived.child(command):
        assert life.begun()
    assert life.over()


@linux
def test_children_that_were_there_before_and_come_later_stay() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as other:
        with short_lived.child(["true"]):
            pass
        assert other.poll() is None
    assert other.returncode == 0


@posix
def test_signals_have_their_usual_effect_again_afterwards() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with short_lived.folder() as folder:
        assert folder.is_dir()
        assert signal.getsignal(signal.SIGTERM) is not before[1]
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
    assert not folder.exists()


@posix
def test_a_signal_that_is_ignored_stays_so(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with short_lived.folder():
            signal.raise_signal(signal.SIGHUP)
    finally:
        assert signal.signal(signal.SIGHUP, before) is signal.SIG_IGN


@posix
@pytest.mark.parametrize("when", ("make", "remove"))
def test_a_signal_waits_while_something_is_made_or_removed(when: str) -> None:
    there: list[str] = []

    def make() -> str:
        if when == "make":
            signal.raise_signal(signal.SIGINT)
        there.append("it")
        return "it"

    def remove(made: str) -> None:
        if when == "remove":
            signal.raise_signal(signal.SIGINT)
        there.remove(made)

    def run() -> Iterator[str]:
        with short_lived.held(make, remove) as made:
            yield made

    with pytest.raises(KeyboardInterrupt):
        list(run())
    assert there == []
