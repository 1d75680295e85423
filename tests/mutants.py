"""Change the code in one place after the other, and tell which changes no unit test notices.

`tox run -e mutants` starts it. `mutants.toml` names the changes that make no difference.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mutmut.mutation.diff_apply import get_diff_for_mutant
from mutmut.utils.format_utils import orig_function_and_class_names_from_key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CHECKOUT = Path(__file__).resolve().parents[1]
CHOOSING = (
    "finding/installed",
    "locking/chooser",
    "locking/read",
    "resolving/found_candidates",
    "resolving/installed_candidate",
    "resolving/same_variant",
    "resolving/selector",
)
#: The files that are changed, by room; only the tests of that room are there to notice.
ROOMS = {
    "standard": ["src/pipvariant/standard/*"],
    "wheelfile": ["src/pipvariant/wheelfile/core_metadata.py"],
    "selection": ["src/pipvariant/selection/*"],
    "shim": [f"src/pipvariant/shim/{name}.py" for name in CHOOSING],
}
#: One repeats other tests at length, one is about the integration suite.
LEFT_OUT = {"__pycache__", "test_fuzz.py", "test_effects.py"}
#: Where every change that is not noticed needs an explanation.
EXPLAINED = ("standard", "wheelfile")
#: How the tests end when they notice: one of them fails, pytest does, or they take too long.
NOTICED = (1, 3, 24, -24, 36, 152, 255)
#: Each call of a function that is changed goes through three functions of the tool.
RUN = "import sys; sys.setrecursionlimit(5000); from mutmut.__main__ import cli; cli(['run'])"


class Mutant(NamedTuple):
    """A change, described so that it stays the same when the code around it moves."""

    file: str
    function: str
    line: str
    becomes: str

    def __str__(self) -> str:
        return f"{self.file}, {self.function}\n    - {self.line}\n    + {self.becomes}"


def main() -> int:
    """Run the rooms that are named; return 1 when there is something left to explain."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where to work")
    parser.add_argument("rooms", nargs="*", default=list(ROOMS))
    arguments = parser.parse_args()
    left = False
    for room in arguments.rooms:
        folder = arguments.folder.resolve() / room
        prepare(folder, room)
        os.chdir(folder)
        subprocess.run([sys.executable, "-c", RUN], check=True)
        left = report(room) or left
    return int(left)


def prepare(folder: Path, room: str) -> None:
    """Copy what a room needs: of the tests its own alone."""

    def others(place: str, names: list[str]) -> set[str]:
        tests = {name for name in names if name.startswith("test_")}
        return LEFT_OUT | (set() if room in Path(place).relative_to(CHECKOUT).parts else tests)

    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(CHECKOUT / "src", folder / "src")
    shutil.copytree(CHECKOUT / "tests", folder / "tests", ignore=others)
    settings = (CHECKOUT / "pyproject.toml").read_text("utf-8")
    # The table of the tool is the last one there.
    settings += f"only_mutate = {ROOMS[room]}\n"
    (folder / "pyproject.toml").write_text(settings, "utf-8")


def report(room: str) -> bool:
    """Print what came out in the current folder; say whether something is left to explain."""
    survivors: list[Mutant] = []
    rows: list[tuple[int, int, str]] = []
    for path in sorted(Path("mutants/src").rglob("*.meta")):
        file = path.relative_to("mutants").with_suffix("")
        codes = json.loads(path.read_text("utf-8"))["exit_code_by_key"]
        alive = [key for key, code in codes.items() if code not in NOTICED]
        survivors += (described(key, file) for key in alive)
        rows.append((len(codes), len(codes) - len(alive), str(file)))
    own = f"src/pipvariant/{room}/"
    explained = {mutant for mutant in explanations() if mutant.file.startswith(own)}
    unexplained = [mutant for mutant in survivors if mutant not in explained]
    outdated = sorted(explained.difference(survivors))
    for mutant in unexplained:
        print(f"Survived: {mutant}")
    for mutant in outdated:
        print(f"Explained, but it did not survive: {mutant}")
    print(f"mutants, killed; {len(explained)} are explained")
    rows.append((sum(row[0] for row in rows), sum(row[1] for row in rows), room))
    for count, killed, name in rows:
        print(f"{count:7}{killed:8}  {name}")
    return room in EXPLAINED and bool(unexplained or outdated)


def described(key: str, file: Path) -> Mutant:
    """Describe the mutant that the tool calls *key*."""
    name, owner = orig_function_and_class_names_from_key(key)
    changes = get_diff_for_mutant(key, path=file).splitlines()[2:]
    line, becomes = (
        " ".join(text[1:].strip() for text in changes if text.startswith(sign)) for sign in "-+"
    )
    return Mutant(str(file), f"{owner}.{name}" if owner else name, line, becomes)


def explanations() -> Iterator[Mutant]:
    """Read the mutants that are explained."""
    text = (CHECKOUT / "tests/mutants.toml").read_text("utf-8")
    for entry in tomllib.loads(text)["mutant"]:
        for becomes in entry["becomes"]:
            yield Mutant(entry["file"], entry["function"], entry["line"], becomes)


if __name__ == "__main__":
    sys.exit(main())
