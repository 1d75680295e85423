"""Temporary files, folders and child processes, removed also when a signal ends the run.

SIGTERM and SIGHUP end a process at once, with nothing removed. While something that was made here
is there, they raise KeyboardInterrupt as Ctrl-C does, and then end the process as they do.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

# Seconds for killed processes to be gone; one that waits for hardware may take for ever.
GRACE = 1.0

_FATAL = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

# Linux: orphans below this process become its children (prctl).
_SET_SUBREAPER, _GET_SUBREAPER = 36, 37

T = TypeVar("T")

_held: dict[object, Callable[[], None]] = {}


@contextmanager
def held(make: Callable[[], T], remove: Callable[[T], None]) -> Iterator[T]:
    """Make something for the time of the block.

    :param make: makes it; a signal waits until that is done.
    :param remove: removes it again, whatever ends the block; a signal waits for that too.
    """
    key = object()
    try:
        with _undisturbed():
            made = make()
            _held[key] = lambda: remove(made)
        yield made
    finally:
        with _undisturbed():
            _held.pop(key, lambda: None)()


def folder(
    prefix: str = "pip-variant-", within: Path | None = None
) -> AbstractContextManager[Path]:
    """Make an empty folder for the time of a block, for this user alone.

    :param within: the folder to make it in; the system's folder for such things by default.
    """
    return held(
        lambda: Path(tempfile.mkdtemp(prefix=prefix, dir=within)),
        lambda path: shutil.rmtree(path, ignore_errors=True),
    )


def file(within: Path) -> AbstractContextManager[Path]:
    """Make an empty file for the time of a block, for this user alone, to be given another name."""

    def make() -> Path:
        handle, name = tempfile.mkstemp(prefix=".new-", dir=within)
        os.close(handle)
        return Path(name)

    return held(make, lambda path: path.unlink(missing_ok=True))


@contextmanager
def child(command: Sequence[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process for the time of a block, which is ended with what it started.

    On Linux that is everything below it, elsewhere on POSIX its process group, and on Windows what
    is still below it.

    :param how: keywords for ``Popen``.
    :raises OSError: it could not be started.
    """
    with held(lambda: _start(command, how), _end) as started:
        yield started.process


def run(command: Sequence[str], environ: Mapping[str, str], seconds: float) -> tuple[int, str]:
    """Run a process to its end, and return its exit code and all that it has printed.

    :raises OSError: it could not be started.
    :raises subprocess.TimeoutExpired: it took longer, and was ended.
    """
    with child(
        command,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        printed, _ = process.communicate(timeout=seconds)
        return int(process.returncode), printed


class _Started(NamedTuple):
    """A process, and what stood below this one before.

    :param adopting: whether orphans became children of this process then already.
    """

    process: subprocess.Popen[Any]
    before: set[tuple[int, str]]
    adopting: bool


def _start(command: Sequence[str], how: dict[str, Any]) -> _Started:
    before, adopting = _descendants(), _adopt(orphans=True)
    group = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        process = subprocess.Popen(command, start_new_session=True, creationflags=group, **how)
    except BaseException:
        _adopt(orphans=adopting)
        raise
    return _Started(process, before, adopting)


def _end(started: _Started) -> None:
    """End a process with what it started; nothing is lost when it has done its work."""
    process = started.process
    if os.name == "posix":
        # The number of the group cannot be anybody else's before the process is waited for.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        system = os.environ.get("SYSTEMROOT", r"C:\Windows")
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                [rf"{system}\System32\taskkill.exe", "/T", "/F", "/PID", str(process.pid)],
                capture_output=True,
                timeout=GRACE,
                check=False,
            )
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    limit = time.monotonic() + GRACE
    while (left := _descendants() - started.before) and time.monotonic() < limit:
        for number, _ in left:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.waitpid(number, os.WNOHANG)
        time.sleep(0.001)
    _adopt(orphans=started.adopting)


def _adopt(*, orphans: bool) -> bool:
    """On Linux, say whether this process becomes the parent of orphans below it.

    :returns: what was said before.
    """
    before = False
    if sys.platform == "linux":
        # Some Pythons are built without it.
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            library, number = ctypes.CDLL(None), ctypes.c_int()
            library.prctl(_GET_SUBREAPER, ctypes.byref(number), 0, 0, 0)
            before = bool(number.value)
            library.prctl(_SET_SUBREAPER, int(orphans), 0, 0, 0)
    return before


def _descendants() -> set[tuple[int, str]]:
    """On Linux, list the processes below this one: number and time of the start of each."""
    below: set[int] = set()
    if sys.platform != "linux":
        return set()
    try:
        # Asks whether there is a child, and takes nothing from those who wait for it.
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return set()
    found: dict[int, tuple[int, str]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            # The name of the program is in parentheses, and may have anything in it.
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2].split()
            found[int(name)] = int(fields[1]), fields[19].decode()
    new = {os.getpid()}
    while new:
        new = {number for number, (parent, _) in found.items() if parent in new} - below
        below |= new
    return {(number, found[number][1]) for number in below}


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals wait until the end of the block; they reach the main thread only."""
    came: list[int] = []
    before: dict[int, Any] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, *_FATAL):
                handler = signal.getsignal(number)
                if handler not in (None, signal.SIG_IGN):
                    before[number] = handler
                    signal.signal(number, lambda number, _: came.append(number))
        yield
    finally:
        for number, handler in before.items():
            is_ours = number in _FATAL and handler in (signal.SIG_DFL, _interrupt)
            now = _interrupt if _held else signal.SIG_DFL
            signal.signal(number, now if is_ours else handler)
        if came:
            signal.raise_signal(max(came))


def _interrupt(number: int, _frame: object) -> None:
    """End the run as Ctrl-C does, and the process by this signal in the end."""
    atexit.register(_end_by_signal, number)
    raise KeyboardInterrupt


def _end_by_signal(number: int) -> None:
    while _held:
        _held.popitem()[1]()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(number)
