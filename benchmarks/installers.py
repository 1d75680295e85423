"""Plain pip, pip-variant and uv side by side: time and memory of whole processes.

Run from the root of the project: ``python -m benchmarks.installers``, or with ``--only json``.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import picture
from benchmarks.contest import (
    NEWEST_PIP,
    OURS,
    PLAIN,
    ROOT,
    UV,
    Contest,
    Environment,
    Result,
    arguments,
    clean_environment,
    environment,
    hold,
    table,
)
from benchmarks.indexes import DRIVER, log, server
from integration.wheels import Wheel

__all__ = ["main", "make_index"]

DOCUMENT = ROOT / "docs" / "benchmarks.md"
PICTURE = ROOT / "docs" / "benchmarks.svg"
BEGIN, END = "<!-- written by python -m benchmarks.installers --write -->", "<!-- end -->"
#: With an older pip, no row may take more of plain pip's time.
OLDER_GOAL = 1.03
PROJECTS = {"leaf": (), "twig": ("leaf",), "branch": ("twig", "leaf")}


@dataclass(frozen=True)
class Row:
    """What is measured, and against which goal.

    :param command: of pip and pip-variant; ``--index-url`` and the like are added where the last
        word is a project.
    :param share: of the number of runs that are asked for, where one takes long.
    :param ends: how the URL ends of what pip-variant chooses; as that of plain pip if empty.
    :param keeps: the second run is measured, with the cache of the first.
    """

    title: str
    goal: float
    command: str = "install --dry-run big"
    share: float = 1.0
    ends: str = ""
    keeps: bool = False


CHOSEN = f"-cu{DRIVER.replace('.', '')}.whl"
ROWS = {
    "version": Row("`--version`", 0.95, "--version"),
    "list": Row("`list`", 0.95, "list"),
    "dry-run": Row("`install --dry-run`, 3 projects", 0.95, "install --dry-run branch"),
    "install": Row("`install`, 3 projects", 0.95, "install branch"),
    "json": Row("17,280 files", 0.55, ends=CHOSEN),
    "html": Row("17,280 files, HTML", 0.75, ends=CHOSEN),
    "again": Row("17,280 files, the second time", 0.55, ends=CHOSEN, keeps=True),
    "ordinary": Row("4,000 files without variants", 0.80),
    "labelled": Row("100,000 files", 0.50, share=0.4, ends="-cu128_mkl.whl"),
    "labels": Row("5,002 files of one version", 1.20, ends="-cu128_000.whl"),
    "packages": Row(
        "200 projects", 1.03, "install --dry-run package000", share=0.3, ends="-cu128_mkl.whl"
    ),
    "application": Row(
        "110 projects without variants", 1.03, "install --dry-run part000", share=0.5
    ),
}
#: What is served from a folder.
SMALL = ("dry-run", "install")


class Bench:
    """Where the rows are run.

    :param folder: for caches and what is installed.
    :param url: of the server.
    """

    def __init__(self, env: Environment, folder: Path, url: str) -> None:
        self.env, self._folder, self._url = env, folder, url
        # What is not stated would have to be asked, which is a matter of the machine.
        self._variables = clean_environment(
            folder,
            NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=DRIVER,
            NV_VARIANT_PROVIDER_FORCE_SM_ARCH="9.0",
        )
        #: What was not as it should be, beside times and memory.
        self.faults: list[str] = []
        self._numbers = itertools.count()
        self._small_index = make_index(folder / "index")

    def measure(self, name: str, runs: int) -> Result:
        """Measure a row, after each side did once what it should."""
        row = ROWS[name]
        commands = {side: self._command(name, side) for side in self.env.sides}
        if "--dry-run" in row.command:
            self._check(row, commands)
        return hold(
            Contest(
                row.title,
                commands,
                row.goal if self.env.pip == NEWEST_PIP else OLDER_GOAL,
                self._variables,
                # With a folder that is new each time.
                self._target if name == "install" else tuple,
            ),
            max(3, round(runs * row.share)),
        )

    def _target(self) -> list[str]:
        return ["--target", str(self._folder / f"target-{next(self._numbers)}")]

    def _command(self, name: str, side: str) -> list[str]:
        row = ROWS[name]
        words = [self.env.script(side), *row.command.split()]
        if side == UV and name != "version":
            words[1:1] = ["pip"]
            words += ["--no-config", "--python", self.env.script("python")]
        if "install" not in words:
            return words
        index = f"{self._url}/{name}/{'plain' if side == PLAIN else 'variant'}/simple/"
        words += ["--quiet", "--index-url", self._small_index if name in SMALL else index]
        words += ["--preview-features", "wheel-variants"] if side == UV else []
        if row.keeps:
            # pip keeps nothing of other servers that have no TLS.
            words += ["--trusted-host", "127.0.0.1"] if side != UV else []
            words += ["--cache-dir", str(self._folder / f"cache-{side}")]
        else:
            words += ["--no-cache" if side == UV else "--no-cache-dir"]
        # Nothing that is installed in the environment plays a part.
        return [*words, *([] if name == "install" else ["--target", str(self._folder / "none")])]

    def _check(self, row: Row, commands: Mapping[str, Sequence[str]]) -> None:
        """See that each side chooses what it should, so that nobody wins by doing less."""
        chosen, requests = {}, {}
        for side, command in commands.items():
            # The second time, a cache is filled.
            for _ in range(1 + row.keeps):
                log(self._url)
                chosen[side] = self._chosen(command, side)
                requests[side] = log(self._url)
        first, ours = ([Path(url).name for url in chosen[side]] for side in (PLAIN, OURS))
        if len(first) != len(ours) or not (
            all(name.endswith(row.ends) for name in ours) if row.ends else first == ours
        ):
            sys.exit(f"pip chose {first}, pip-variant {ours}")
        asked = ", ".join(f"{side} {len(paths)}" for side, paths in requests.items())
        print(f"{row.title}: requests: {asked}", file=sys.stderr)
        if row.keeps and any(path.endswith("-variants.json") for path in requests[OURS]):
            self.faults.append(f"pip-variant asked for what it had: {requests[OURS]}")

    def _chosen(self, command: Sequence[str], side: str) -> list[str]:
        report = [] if side == UV else ["--report", "-"]
        done = subprocess.run(
            [*command, *report], env=self._variables, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
        installed = json.loads(done.stdout)["install"] if report else ()
        return sorted(str(one["download_info"]["url"]) for one in installed)


def make_index(folder: Path) -> str:
    """Write an index without variants into a folder and return its URL."""
    for name, requires in PROJECTS.items():
        (folder / name).mkdir(parents=True)
        wheels = [Wheel(name, version, requires=requires) for version in ("1.0", "1.1", "2.0")]
        for wheel in wheels:
            (folder / name / wheel.filename).write_bytes(wheel.content)
        links = "\n".join(f'<a href="{wheel.filename}">{wheel.filename}</a>' for wheel in wheels)
        page = f"<!DOCTYPE html>\n<html><body>\n{links}\n</body></html>\n"
        (folder / name / "index.html").write_text(page, encoding="utf-8")
    return folder.as_uri()


def main() -> int:
    """Measure the rows and return the exit code: 1 when a goal is missed, and goals count."""
    parser = arguments("Plain pip, pip-variant and uv side by side.", runs=11)
    parser.add_argument("--only", choices=ROWS, action="append", help="this row; repeatable")
    parser.add_argument("--write", action="store_true", help="write table and picture into docs/")
    options = parser.parse_args()
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
        server() as url,
    ):
        if UV not in env.sides:
            print("uv is not there, and is left out", file=sys.stderr)
        bench = Bench(env, Path(temporary), url)
        results = []
        for name in options.only or ROWS:
            results.append(bench.measure(name, options.runs))
            print(table(results[-1:]).splitlines()[-1], file=sys.stderr)
    words = f"{env.words}; medians of {options.runs} runs, fewer where one takes long."
    print(f"{words}\n\n{table(results)}")
    if options.write:
        before, begin, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
        after = rest[rest.index(END) :]
        text = f"{before}{begin}\n{words}\n\n{table(results)}\n{after}"
        DOCUMENT.write_text(text, encoding="utf-8")
        PICTURE.write_text(picture.draw(results), encoding="utf-8")
    print(*bench.faults, sep="\n")
    missed = bench.faults or any(result.missed for result in results)
    return int(not options.no_goal and bool(missed))


if __name__ == "__main__":
    sys.exit(main())
