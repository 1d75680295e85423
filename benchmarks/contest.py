"""Two commands against each other: whole processes, in turn, in one run; medians compared."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Contest",
    "Environment",
    "Result",
    "arguments",
    "clean_environment",
    "environment",
    "hold",
    "report",
]

ROOT = Path(__file__).parent.parent
NEWEST_PIP = "26.3"

#: What a process needs to start at all; nothing that configures pip or Python.
KEPT = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LD_LIBRARY_PATH")

LOOK = """
import pip, platform, sysconfig
print(pip.__version__, platform.python_version(), sysconfig.get_path("scripts"), sep="\\n")
"""


@dataclass(frozen=True)
class Environment:
    """A Python environment with pip and pip-variant in it, and words for what it is."""

    scripts: Path
    words: str

    def script(self, name: str) -> str:
        """Return the path of a console script, as a user would start it."""
        return str(self.scripts / (f"{name}.exe" if os.name == "nt" else name))


@dataclass(frozen=True)
class Contest:
    """One question, how long two commands take, and the answer that is wanted.

    :param commands: plain pip's command and ours.
    :param goal: the ratio of the medians that must not be passed.
    :param prepare: called before each run, outside of the time; its result is appended to the
        command (a fresh target folder, say).
    """

    name: str
    commands: tuple[Sequence[str], Sequence[str]]
    goal: float
    variables: Mapping[str, str]
    prepare: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True)
class Result:
    """What the two took in seconds, plain first.

    :param elapsed: the medians; the goal is about them.
    :param processor: the least processor time of any run, which other work on the machine
        hardly changes.
    """

    name: str
    elapsed: tuple[float, float]
    processor: tuple[float, float]
    goal: float

    @property
    def ratio(self) -> float:
        """Our median over plain pip's."""
        return self.elapsed[1] / self.elapsed[0]

    @property
    def reached(self) -> bool:
        """Whether the goal is kept."""
        return self.ratio <= self.goal


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
        python = Path(folder, "Scripts" if os.name == "nt" else "bin", "python")
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"pip=={pip}", str(ROOT)], check=True)
        yield _look_at(python)


def _look_at(python: Path) -> Environment:
    answer = subprocess.run([python, "-c", LOOK], capture_output=True, text=True, check=True)
    pip, version, scripts = answer.stdout.splitlines()
    return Environment(Path(scripts), f"pip {pip}, Python {version}")


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
    """Run both commands in turn, the order changing each time, and return what they took."""
    elapsed: tuple[list[float], list[float]] = ([], [])
    processor: tuple[list[float], list[float]] = ([], [])
    # Run -1 is not counted: it compiles modules and fills the file cache.
    for run in range(-1, runs):
        for side in (0, 1) if run % 2 else (1, 0):
            command = [*contest.commands[side], *contest.prepare()]
            real, used = _time(command, contest.variables)
            if run >= 0:
                elapsed[side].append(real)
                processor[side].append(used)
    return Result(
        contest.name,
        (statistics.median(elapsed[0]), statistics.median(elapsed[1])),
        (min(processor[0]), min(processor[1])),
        contest.goal,
    )


def _time(command: Sequence[str], variables: Mapping[str, str]) -> tuple[float, float]:
    before, start = _processor_time(), time.perf_counter()
    done = subprocess.run(
        command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    real, used = time.perf_counter() - start, _processor_time() - before
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    return real, used


def _processor_time() -> float:
    """Return the seconds that all ended children have used; 0 where nobody counts."""
    try:
        import resource
    except ImportError:  # Windows
        return 0.0
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(results: Sequence[Result], *, goals: bool) -> int:
    """Print a table; return the exit code: 1 when a goal is missed and goals count."""
    width = max(len(result.name) for result in results)
    print(f"{'':{width}}  {'plain':>9}  {'ours':>9}  {'ratio':>6}  {'CPU':>6}  {'goal':>5}")
    for result in results:
        plain, ours = (f"{seconds * 1000:.1f} ms" for seconds in result.elapsed)
        used = result.processor[1] / result.processor[0] if result.processor[0] else 0.0
        verdict = "" if result.reached else "  MISSED"
        print(
            f"{result.name:{width}}  {plain:>9}  {ours:>9}  {result.ratio:6.3f}  {used:6.3f}"
            f"  {result.goal:5.2f}{verdict}"
        )
    return int(goals and not all(result.reached for result in results))
