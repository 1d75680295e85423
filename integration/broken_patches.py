"""Break each patch on purpose: a test of its effect has to notice that it is lost.

Run in an environment with the pip in question: ``python -m integration.broken_patches``, or with
words that the names of the patches in question have. A test says what it notices with
``@pytest.mark.effect_of(module, *targets)``, where the targets may be cut in front.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from integration.breaking import OTHERS, name_of
from integration.templates import LOST_PATCH
from pipvariant.shim.building import child_pip
from pipvariant.shim.core import pip_versions
from pipvariant.shim.core.patches import Patch, Patches
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import CommandOptions
from pipvariant.shim.options import completion, entry
from pipvariant.shim.run import Run
from pipvariant.standard.preferences import Family, Preferences

__all__ = ["is_meant", "names", "noticing"]

HERE = Path(__file__).parent
READING = ("inspect", "list", "show")


def names() -> list[str]:
    """The names of all patches that some command puts on this pip."""
    metadata: Any = import_module("pip._internal.metadata")
    commands: Any = import_module("pip._internal.commands").commands_dict
    # Modules that have copied what is patched are patched too, once they are imported.
    import_module("pip._internal.commands.install")
    hand_on = child_pip.HandOn(lambda: None)
    hints = entry.Hints(str)
    found = [*child_pip.patches(pip_versions.this_pip(), hand_on)]
    found += [*completion.patches(), *entry.patches(hints)]
    before = dict(os.environ)
    os.environ[child_pip.WHEELS_ONLY] = "1"
    for command in ("install", "lock", "wheel", *READING):
        for legacy in (False, True):
            # Each backend comes with each resolver in one of the commands.
            os.environ["_PIP_USE_IMPORTLIB_METADATA"] = str(int(legacy))
            metadata.select_backend.cache_clear()
            if command in commands and not (legacy and command == "lock"):
                found += _of(command, legacy=legacy)
    os.environ.clear()
    os.environ.update(before)
    metadata.select_backend.cache_clear()
    return sorted({*OTHERS, *map(name_of, found)})


def _of(command: str, *, legacy: bool) -> list[Patch]:
    on = _Collecting(pip_versions.this_pip())
    run = Run(on.pip, on)
    run.options = CommandOptions(
        command=command,
        legacy_resolver=legacy,
        installs=command == "install",
        report=command == "install",
        builds=True,
        lock_files=True,
        all_variants=True,
        ignores_dependencies=True,
    )
    run.user.torch_backend = "cpu"
    run.user.preferences = Preferences(families=(Family("n", frozenset({"a", "b"})),))
    run.label_built = lambda wheel, source, label, folder: ""
    run.activate(only_reading=command in READING)
    return on.found


class _Collecting(Patches):
    """Keeps patches instead of putting them on."""

    def __init__(self, pip: Pip) -> None:
        super().__init__(pip)
        self.pip = pip
        self.found: list[Patch] = []

    def put(self, patches: Iterable[Patch]) -> None:
        self.found.extend(patches)


def noticing() -> Iterator[tuple[str, str, str]]:
    """All marks: module and target, and the test that has it as pytest names it."""
    for path in sorted(HERE.glob("test_*.py")):
        for function in ast.parse(path.read_text()).body:
            if isinstance(function, ast.FunctionDef):
                for mark in function.decorator_list:
                    if isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("effect_of"):
                        module, *targets = map(ast.literal_eval, mark.args)
                        for target in targets:
                            yield module, target, f"{HERE.name}/{path.name}::{function.name}"


def is_meant(module: str, target: str, name: str) -> bool:
    """Say whether the mark of a test is about the patch of this name."""
    return bool(re.fullmatch(rf"{module} (.*[.:])?{re.escape(target)}", name))


class _First:
    """Notes the first test that fails."""

    test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and not self.test:
            self.test = report.nodeid


def _run(lost: str, tests: Iterable[str]) -> str:
    """Run tests with a patch lost, and return the first that fails."""
    first, said = _First(), StringIO()
    os.environ[LOST_PATCH] = lost
    with contextlib.redirect_stdout(said):
        code = pytest.main(["-x", "-p", "no:cacheprovider", *tests], plugins=[first])
    if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
        sys.exit(said.getvalue())
    return first.test


def main(words: list[str]) -> int:
    marks = list(noticing())
    right: dict[str, bool] = {}
    code = 0
    for name in names():
        if words and not any(word in name for word in words):
            continue
        tests = [test for module, target, test in marks if is_meant(module, target, name)]
        failed = _run(name, tests) if tests else ""
        # It is nothing to fail for another reason.
        if failed and failed not in right:
            right[failed] = not _run("nothing", [failed])
        noticed = right.get(failed, False)
        code |= not noticed
        shown = failed.partition("::")[2] if noticed else f"NOT NOTICED {failed}"
        print(f"{pip_versions.this_pip().text}\t{name}\t{shown}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
