"""What the hook costs: a Python that does not run pip, and pip itself where variants play no part.

Run from the root of the project: ``python -m benchmarks.hook``.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping
from pathlib import Path

from benchmarks.contest import (
    OURS,
    PLAIN,
    Contest,
    Environment,
    arguments,
    clean_environment,
    environment,
    hold,
    table,
)
from benchmarks.installers import make_index

__all__ = ["main"]

GOAL = 1.03
#: Seconds that a start of Python may take longer.
START_GOAL = 0.0003
SITE = "import sysconfig; print(sysconfig.get_path('purelib'))"
# What Python does with a folder of packages when it starts, in a process that has imported nothing.
START = """
import site, sys, time
begin = time.perf_counter()
site.addsitedir(sys.argv[1])
print(time.perf_counter() - begin)
"""


def make_two(folder: Path, env: Environment, variables: Mapping[str, str]) -> tuple[Path, Path]:
    """Make two environments that find the pip of another one, the second with the hook.

    :returns: their folders of packages.
    """
    sites = []
    for name in ("without", "with"):
        venv.EnvBuilder(symlinks=True, with_pip=False).create(folder / name)
        done = subprocess.run(
            [folder / name / "bin" / "python", "-c", SITE],
            capture_output=True,
            text=True,
            check=True,
        )
        sites.append(Path(done.stdout.strip()))
    packages = subprocess.run(
        [env.scripts / "python", "-c", SITE], capture_output=True, text=True, check=True
    )
    for site in sites:
        (site / "packages.pth").write_text(packages.stdout)
    command = [env.script("pip-variant"), "--python", str(folder / "with")]
    command += ["variant", "hook", "install"]
    subprocess.run(command, env=variables, stdout=subprocess.DEVNULL, check=True)
    return sites[0], sites[1]


def start_costs(sites: tuple[Path, Path], runs: int) -> float:
    """Return how many seconds longer a start of Python takes.

    The least of some runs is compared, which other work on the machine hardly changes.
    """
    elapsed: tuple[list[float], list[float]] = ([], [])
    for _ in range(runs):
        for side in (0, 1):
            command = [sys.executable, "-I", "-S", "-c", START, str(sites[side])]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            elapsed[side].append(float(done.stdout))
    return min(elapsed[1]) - min(elapsed[0])


def main() -> int:
    """Hold the contests and return the exit code."""
    options = arguments(f"pip with the hook: at most {GOAL}.", runs=15).parse_args()
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
    ):
        folder = Path(temporary)
        index = make_index(folder / "index")
        variables = clean_environment(folder)
        sites = make_two(folder, env, variables)
        install = ["install", "--quiet", "--no-cache-dir", "--dry-run", "--index-url", index]
        contest = functools.partial(Contest, goal=GOAL, variables=variables)
        plain, ours = (
            [str(folder / name / "bin" / "python"), "-m", "pip"] for name in ("without", "with")
        )
        print(f"{env.words}; medians of {options.runs} runs each")
        results = [
            hold(
                contest(" ".join(args[:2]), {PLAIN: [*plain, *args], OURS: [*ours, *args]}),
                options.runs,
            )
            for args in (["--version"], ["list"], [*install, "branch"])
        ]
        print(table(results))
        # A start is short, so more of them are needed.
        costs = start_costs(sites, options.runs * 5)
        print(f"start of Python: {costs * 1000:+.2f} ms, goal {START_GOAL * 1000:.1f} ms")
    missed = costs > START_GOAL or any(result.missed for result in results)
    return int(not options.no_goal and missed)


if __name__ == "__main__":
    sys.exit(main())
