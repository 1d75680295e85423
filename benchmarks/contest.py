"""Commands against each other: whole processes, in turn, in one run; medians compared."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path

__all__ = [
    "OURS",
    "PLAIN",
    "UV",
    "Contest",
    "Environment",
    "Result",
    "arguments",
    "clean_environment",
    "environment",
    "hold",
    "table",
]

ROOT = Path(__file__).parent.parent
NEWEST_PIP = "26.3"
UV_VERSION = "0.13.9"
#: The sides of a contest.
PLAIN, OURS, UV = "pip", "pip-variant", "uv"
#: What the peak memory of ours over that of plain pip must not pass.
MEMORY_GOAL = 1.03

#: What a process needs to start at all; nothing that configures pip or Python.
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")

LOOK = """
import pip, platform, sysconfig
print(pip.__version__, platform.python_version(), sysconfig.get_path("scripts"), sep="\\n")
"""


@dataclass(frozen=True)
class Environment:
    """A Python environment with pip, pip-variant and perhaps uv in it, and words for what it is."""

    scripts: Path
    pip: str
    words: str

    def script(self, name: str) -> str:
        """Return the path of a console script, as a user would start it."""
        return str(self.scripts / name)

    @property
    def sides(self) -> list[str]:
        """What there is to be compared."""
        return [PLAIN, OURS, *([UV] if (self.scripts / UV).exists() else [])]


@dataclass(frozen=True)
class Contest:
    """One thing to do, and how each side does it.

    :param title: what it is called in the table.
    :param commands: side -> command, that of plain pip and ours among them.
    :param goal: the ratio of our processor time to plain pip's that must not be passed.
    :param prepare: called before each run, outside of the time; its result is appended to the
        command (a fresh target folder, say).
    """

    title: str
    commands: Mapping[str, Sequence[str]]
    goal: float
    variables: Mapping[str, str]
    prepare: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True)
class Usage:
    """What a process and its children used: processor time, elapsed time (seconds) and bytes."""

    processor: float
    elapsed: float
    memory: float


@dataclass(frozen=True)
class Result:
    """The medians of what each side used."""

    contest: Contest
    usage: Mapping[str, Usage]

    def ratio(self, of: str) -> float:
        """Return ours over plain pip's, of ``processor``, ``elapsed`` or ``memory``."""
        ours: float = getattr(self.usage[OURS], of)
        plain: float = getattr(self.usage[PLAIN], of)
        return ours / plain

    @property
    def missed(self) -> list[str]:
        """Which goals are missed."""
        goals = {"processor": self.contest.goal, "memory": MEMORY_GOAL}
        return [of for of, goal in goals.items() if round(self.ratio(of), 2) > goal]


def arguments(description: str, *, runs: int) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark of whole processes has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--runs", type=int, default=runs, help="runs of each command (%(default)s)")
    parser.add_argument("--pip", default=NEWEST_PIP, help="release of pip to use (%(default)s)")
    parser.add_argument(
        "--python",
        type=Path,
        help="Python of an environment that has pip and pip-variant; default: make one",
    )
    parser.add_argument(
        "--no-goal", action="store_true", help="print the figures, exit 0 whatever they are"
    )
    return parser


@contextmanager
def environment(python: Path | None, pip: str) -> Iterator[Environment]:
    """Hand out an environment: the given one, or a new one that is removed afterwards."""
    if python is not None:
        yield _look_at(python)
        return
    with tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = Path(folder, "bin", "python")
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"pip=={pip}", str(ROOT)], check=True)
        # It is compared where there is a build of it for this machine.
        subprocess.run([*install, "--only-binary=:all:", f"uv=={UV_VERSION}"], check=False)
        yield _look_at(python)


def _look_at(python: Path) -> Environment:
    answer = subprocess.run([python, "-c", LOOK], capture_output=True, text=True, check=True)
    pip, version, scripts = answer.stdout.splitlines()
    return Environment(Path(scripts), pip, f"pip {pip}, Python {version}")


def clean_environment(folder: Path, **more: str) -> dict[str, str]:
    """Return variables for a child process that no configuration of this machine reaches."""
    return {
        **{name: os.environ[name] for name in KEPT if name in os.environ},
        "HOME": str(folder),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        **more,
    }


def hold(contest: Contest, runs: int) -> Result:
    """Run all commands in turn, the order changing each time, and return what they used."""
    used: dict[str, list[Usage]] = {side: [] for side in contest.commands}
    # Run -1 is not counted: it compiles modules and fills the file cache.
    for run in range(-1, runs):
        for side in sorted(contest.commands, reverse=bool(run % 2)):
            usage = _run([*contest.commands[side], *contest.prepare()], contest.variables)
            if run >= 0:
                used[side].append(usage)
    return Result(contest, {side: _median(each) for side, each in used.items()})


def _median(used: Sequence[Usage]) -> Usage:
    return Usage(*(statistics.median(values) for values in zip(*map(astuple, used))))


def _run(command: Sequence[str], variables: Mapping[str, str]) -> Usage:
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        # Other than `wait`, it tells what this one process used.
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            said = output.read().decode(errors="replace")
            sys.exit(f"{' '.join(command)}\nended with {process.returncode}:\n{said}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Usage(usage.ru_utime + usage.ru_stime, elapsed, usage.ru_maxrss * unit)


def table(results: Iterable[Result]) -> str:
    """Return the results as a table in Markdown; times are processor time / elapsed time."""
    lines = [
        "| | pip | pip-variant | uv | ratio | goal | elapsed, ratio | memory in MB | ratio |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for result in results:
        times = [_times(result.usage.get(side)) for side in (PLAIN, OURS, UV)]
        memory = [f"{usage.memory / 1e6:.0f}" for usage in _in_order(result)]
        ratios = {of: f"{result.ratio(of):.2f}" for of in ("processor", "elapsed", "memory")}
        for of in result.missed:
            ratios[of] += " missed"
        cells = [
            *(result.contest.title, *times, ratios["processor"], f"{result.contest.goal:.2f}"),
            *(ratios["elapsed"], ", ".join(memory), ratios["memory"]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _in_order(result: Result) -> list[Usage]:
    return [result.usage[side] for side in (PLAIN, OURS, UV) if side in result.usage]


def _times(usage: Usage | None) -> str:
    return f"{usage.processor:.2f} / {usage.elapsed:.2f} s" if usage else ""
