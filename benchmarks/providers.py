"""What the first question to a built-in provider costs, in a process that has pip's modules.

Run from the root of the project: ``python -m benchmarks.providers``.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.contest import arguments, clean_environment, environment

__all__ = ["main"]

#: What is asked: namespace, the machine that it is asked about, and milliseconds it may take.
QUESTIONS = (
    ("nvidia", "no driver", 2.0),
    ("x86_64", "this CPU", 10.0),
    ("aarch64", "this CPU", 10.0),
    ("amd", "no GPU", None),
    ("intel", "no driver", None),
    ("amd", "a GPU, asked", None),
    ("amd", "a GPU, remembered", None),
)

ASK = """
import sys, time
from pathlib import Path
import pip._internal.commands.install
from pipvariant.providers import builtin, target
namespace, root = sys.argv[1:]
if root:
    from pipvariant.providers import _driver_files
    _driver_files.ROOT = Path(root)
import os
start = time.perf_counter()
answer = builtin.query_builtin(namespace, os.environ)
print(time.perf_counter() - start, len(answer.problems))
"""


def make_gpu(root: Path) -> None:
    """Describe an AMD GPU below a root as the kernel does."""
    node = root / "sys/class/kfd/kfd/topology/nodes/1"
    node.mkdir(parents=True)
    (node / "properties").write_text("simd_count 1216\ngfx_target_version 90402\n")
    (root / "dev").mkdir()
    (root / "dev/kfd").touch()


def ask(python: Path, namespace: str, root: str, variables: Mapping[str, str]) -> float:
    """Ask once, in a fresh process; return the milliseconds that the answer took."""
    command = [str(python), "-c", ASK, namespace, root]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{namespace} could not be asked:\n{done.stderr}")
    seconds, problems = done.stdout.split()
    if int(problems):
        print(f"{namespace}: the answer has {problems} problem(s), see `variant platform`")
    return float(seconds) * 1000


def main() -> int:
    """Ask all questions, print what they took and return the exit code."""
    parser = arguments("The first question to each provider.", runs=15)
    options = parser.parse_args()
    missed = False
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
    ):
        python = Path(env.script("python"))
        folder = Path(temporary)
        make_gpu(folder / "gpu")
        (folder / "bare").mkdir()
        print(f"{env.words}; medians of {options.runs} runs each")
        for namespace, machine, goal in QUESTIONS:
            root = {"this CPU": "", "no GPU": "bare", "no driver": "bare"}.get(machine, "gpu")
            variables = clean_environment(folder)
            # A driver of this machine is left out of it, with what leads there.
            variables.pop("LD_LIBRARY_PATH", None)
            if machine.endswith("asked"):
                variables["PIP_NO_CACHE_DIR"] = "1"
            place = str(folder / root) if root else ""
            # The first run is not counted: it compiles modules, and its answer is remembered.
            times = [ask(python, namespace, place, variables) for _ in range(options.runs + 1)][1:]
            median = statistics.median(times)
            late = goal is not None and median > goal
            missed = missed or late
            verdict = "" if goal is None else f"  goal {goal:2.0f} ms{'  MISSED' if late else ''}"
            print(f"{namespace:8}  {machine:18}  {median:6.2f} ms{verdict}")
    return int(missed and not options.no_goal)


if __name__ == "__main__":
    sys.exit(main())
