"""Work that a server can hold up, left behind when its time is over.

A server can ask to be asked again in an hour, and send headers or the sizes of chunks byte by
byte: no timeout of a connection ends that. So the work is done in a thread of its own.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class TimeIsOverError(Exception):
    """The work did not end in time."""


class PasswordNeededError(Exception):
    """Somebody would have to be asked for a password, which is not for a thread to do."""


class _Worker(threading.Thread):
    """A thread for one work after the other, which the end of the process does not wait for."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def run(self) -> None:
        while True:
            self.work.get()()


#: Threads that ended their work in time, for the next.
_idle: list[_Worker] = []


def run_within(seconds: float, session: Any, work: Callable[[], T]) -> T:
    """Return what the work returns, or raise what it raises.

    :param session: pip's, with which the work is done.
    :raises TimeIsOverError: there is no result after so many seconds.
    :raises PasswordNeededError: pip would ask for a password.
    """
    if isinstance(threading.current_thread(), _Worker):
        # The time of this thread is limited already.
        return work()
    _ask_outside_only(session)
    ended: queue.SimpleQueue[tuple[list[T], BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            ended.put(([work()], None))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            ended.put(([], error))

    worker = _idle.pop() if _idle else _Worker()
    if not worker.is_alive():
        # A fork of this process has no such thread.
        worker = _Worker()
        worker.start()
    worker.work.put(run)
    try:
        result, error = ended.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise TimeIsOverError from None
    _idle.append(worker)
    if error is not None:
        raise error
    return result[0]


def _ask_outside_only(session: Any) -> None:
    """Let pip ask for a password in no thread of ours, also in one that was left behind."""
    auth: Any = getattr(session, "auth", None)
    ask = getattr(auth, "_prompt_for_password", None)
    if ask is None or "_prompt_for_password" in vars(auth):
        return

    def prompt(netloc: str) -> Any:
        if isinstance(threading.current_thread(), _Worker):
            raise PasswordNeededError
        return ask(netloc)

    auth._prompt_for_password = prompt
