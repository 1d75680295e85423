"""The plan of the house holds: no circle of imports, pure rooms, nothing too large."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "pipvariant"
Function = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.comprehension)


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted(SOURCE.rglob("*.py"))}
TREES = {name: ast.parse(path.read_bytes()) for name, path in MODULES.items()}


def _targets(module: str, tree: ast.Module) -> Iterator[str]:
    """Every module that a module imports: anywhere, for types, or by a name in a text."""
    is_package = MODULES[module].name == "__init__.py"
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")[: len(module.split(".")) - node.level + is_package]
            parent = ".".join([*(base if node.level else []), *filter(None, [node.module])])
            submodules = [f"{parent}.{alias.name}" for alias in node.names]
            yield from submodules
            if not all(name in MODULES for name in submodules):
                yield parent
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            yield from (str(each.value) for each in node.args if isinstance(each, ast.Constant))


IMPORTS = {
    module: {*_targets(module, tree)} & MODULES.keys() - {module} for module, tree in TREES.items()
}


def _circle(graph: dict[str, set[str]]) -> list[str]:
    """Take away what imports nothing that is left, until there is only what is in a circle."""
    left = {module: set(targets) for module, targets in graph.items()}
    while free := {module for module, targets in left.items() if not targets & left.keys()}:
        left = {module: targets for module, targets in left.items() if module not in free}
    return sorted(left)


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert _circle(IMPORTS) == []


def test_a_circle_would_be_found() -> None:
    assert _circle({"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": set()}) == ["a", "b", "c"]


def test_imports_in_functions_for_types_and_by_name_are_counted() -> None:
    assert "pipvariant.shim.parts" in IMPORTS["pipvariant.shim.run"]
    assert "pipvariant.standard.ranking" in IMPORTS["pipvariant.selection.model"]
    assert "pipvariant.providers.answers" in IMPORTS["pipvariant.selection.model"]


@pytest.mark.parametrize("room", ("selection", "standard", "wheelfile"))
def test_what_is_pure_imports_neither_pip_nor_the_shim(room: str) -> None:
    program = "import sys, importlib\nfor name in sys.argv[1:]: importlib.import_module(name)\n"
    program += "print(*(n for n in sys.modules if n.split('.')[0] == 'pip' or '.shim' in n))"
    names = [name for name in MODULES if name.startswith(f"pipvariant.{room}")]
    done = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=True
    )
    named = {target for name in names for target in _targets(name, TREES[name])}
    assert len(names) > 1
    assert done.stdout.split() == []
    assert [name for name in named if name.split(".")[0] == "pip" or ".shim" in name] == []


def test_the_tests_of_what_is_pure_start_no_process_and_need_no_pip() -> None:
    tests = Path(__file__).parent
    files = [*(tests / "selection").glob("*.py"), *(tests / "standard").glob("*.py")]
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    words = ("subprocess", "import pip", "pip._", "pipvariant.shim")
    # These look at what an import brings in, which takes a fresh process.
    alone = {"test_filename.py"}
    assert len(texts) > 10
    assert {name for name, text in texts.items() if any(word in text for word in words)} <= alone


def _functions(*rooms: str) -> Iterator[tuple[str, ast.AST]]:
    for name, tree in TREES.items():
        if name.split(".")[1:2] in [[room] for room in rooms]:
            for node in ast.walk(tree):
                if isinstance(node, Function):
                    yield f"{name}.{node.name}", node


def test_no_function_of_selection_and_shim_is_long_or_has_many_branches() -> None:
    found = []
    for name, node in _functions("selection", "shim"):
        branches = sum(isinstance(each, BRANCHES) for each in ast.walk(node))
        if node.end_lineno - node.lineno + 1 > 60 or branches > 15:  # type: ignore[attr-defined]  # a function has both
            found.append((name, branches))
    assert found == []


def test_no_file_has_more_than_350_lines() -> None:
    lengths = {
        name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()
    }
    assert {name: length for name, length in lengths.items() if length > 350} == {}


def _attributes(node: ast.ClassDef) -> set[str]:
    """The names that an object of a class has for other objects, methods left aside."""
    fields = {
        each.target.id
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    fields |= {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Store)
        and ast.unparse(each.value) == "self"
    }
    fields |= {
        each.name
        for each in node.body
        if isinstance(each, ast.FunctionDef)
        and any("property" in ast.unparse(mark) for mark in each.decorator_list)
    }
    return {name for name in fields if not name.startswith("_")}


def test_no_object_that_is_handed_around_has_more_than_15_attributes() -> None:
    found = {
        f"{name}.{node.name}": sorted(_attributes(node))
        for name, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and len(_attributes(node)) > 15
    }
    assert found == {}
