"""What pip-variant costs where variants play no part: plain pip's console script against ours.

Run from the root of the project: ``python -m benchmarks.startup``.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.contest import (
    Contest,
    arguments,
    clean_environment,
    environment,
    hold,
    report,
)

__all__ = ["main"]

GOAL = 1.03
PROJECTS = {"leaf": (), "twig": ("leaf",), "branch": ("twig", "leaf")}
VERSIONS = ("1.0", "1.1", "2.0")


def make_wheel(folder: Path, name: str, version: str, requires: Sequence[str]) -> Path:
    """Write a small pure wheel and return its path."""
    info = f"{name}-{version}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    files = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": "\n".join([*metadata, *(f"Requires-Dist: {r}" for r in requires), ""]),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [f"{path},sha256={_digest(text)},{len(text.encode())}" for path, text in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def make_index(folder: Path) -> str:
    """Write an index without variants into a folder and return its URL."""
    for name, requires in PROJECTS.items():
        project = folder / name
        project.mkdir(parents=True)
        wheels = [make_wheel(project, name, version, requires) for version in VERSIONS]
        links = "\n".join(f'<a href="{wheel.name}">{wheel.name}</a>' for wheel in wheels)
        page = f"<!DOCTYPE html>\n<html><body>\n{links}\n</body></html>\n"
        (project / "index.html").write_text(page, encoding="utf-8")
    return folder.as_uri()


def main() -> int:
    """Hold the contests and return the exit code."""
    parser = arguments(f"Start-up and installs without variants: at most {GOAL}.", runs=15)
    options = parser.parse_args()
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
    ):
        folder = Path(temporary)
        index = make_index(folder / "index")
        variables = clean_environment(folder)
        install = ["install", "--quiet", "--no-cache-dir", "--index-url", index, "branch"]
        numbers = itertools.count()

        def fresh_target() -> list[str]:
            return ["--target", str(folder / f"target-{next(numbers)}")]

        contest = functools.partial(Contest, goal=GOAL, variables=variables)
        pip, ours = env.script("pip"), env.script("pip-variant")
        contests = [
            contest("--version", ([pip, "--version"], [ours, "--version"])),
            contest("list", ([pip, "list"], [ours, "list"])),
            contest(
                "install --dry-run", ([pip, *install, "--dry-run"], [ours, *install, "--dry-run"])
            ),
            contest("install --target", ([pip, *install], [ours, *install]), prepare=fresh_target),
        ]
        print(f"{env.words}; medians of {options.runs} runs each")
        results = [hold(each, options.runs) for each in contests]
    return report(results, goals=not options.no_goal)


if __name__ == "__main__":
    sys.exit(main())
