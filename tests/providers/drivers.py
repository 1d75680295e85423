"""Drivers made of stub libraries, and the processes that they run in."""

from __future__ import annotations

import os
import select
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Answers = Mapping[str, object]


@dataclass(frozen=True)
class Driver:
    """A driver made of stub libraries, and the environment that it is found in."""

    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"LD_LIBRARY_PATH": str(self.folder), "PATH": os.defpath}

    @property
    def calls(self) -> list[tuple[str, int, int]]:
        """What was called in which process and process group, in order."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [
            (what, int(process), int(group))
            for what, process, group in (line.split() for line in lines)
        ]


@dataclass(frozen=True)
class Life:
    """A named pipe that processes open for writing: it is at its end when all of them are gone."""

    path: Path
    stream: int

    def begun(self) -> bool:
        """Whether a process has written one byte into the pipe, or does so in a moment."""
        begun, _, _ = select.select([self.stream], [], [], 30)
        return bool(begun) and len(os.read(self.stream, 1)) == 1

    def over(self) -> bool:
        """Whether every process that opened the pipe is gone, or is so in a moment."""
        ended, _, _ = select.select([self.stream], [], [], 30)
        return bool(ended) and os.read(self.stream, 1) == b""


class MakeDriver(Protocol):
    """Make a driver of stubs; each argument says what a library answers, None leaves it out."""

    def __call__(
        self,
        nvml: Answers | None = None,
        cuda: Answers | None = None,
        *,
        ze: Answers | None = None,
        rocm: Answers | None = None,
        old_names: bool = False,
    ) -> Driver: ...
