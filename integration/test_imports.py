"""What is not needed is not imported: the modules that are there when pip is done."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, release, tri

SCRIPT = """
import sys
from pipvariant.cli import main
sys.argv[:] = ["pip-variant", *sys.argv[1:]]
code = main()
print("MODULES", *sys.modules)
sys.exit(code)
"""
BLAS = {"blas": {"static-properties": {"library": ["mkl"]}}}


def _modules(pip: Pip, *args: str, driver: str | None = None) -> set[str]:
    result = pip.run(["-c", SCRIPT, *args], driver=driver).check()
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("MODULES ")]
    return set(line.split()[1:])


def _below(modules: set[str], *packages: str) -> list[str]:
    return sorted(
        name
        for name in modules
        if any(name == package or name.startswith(f"{package}.") for package in packages)
    )


PROVIDERS = ("pipvariant.providers", "archspec", "pynvml")


@pytest.mark.parametrize(
    "args", (["list"], ["freeze"], ["install", "solo"], ["install", "--no-variant", "tri"])
)
def test_without_variants_no_provider_is_imported(pip: Pip, index: Index, args: list[str]) -> None:
    index.add(Wheel("solo"), *tri())
    modules = _modules(pip, *args, driver="12.8")
    assert _below(modules, *PROVIDERS) == []
    assert "pipvariant.standard.metadata" not in modules
    assert "pipvariant.standard.ranking" not in modules


def test_a_static_list_imports_no_provider_of_hardware(pip: Pip, index: Index) -> None:
    index.add(*release("lib", labels={"mkl": ("blas :: library :: mkl",)}, providers=BLAS))
    modules = _modules(pip, "install", "lib")
    assert "pipvariant.providers.target" in modules
    hardware = ("pipvariant.providers.nvidia", "pipvariant.providers.x86_64", "archspec", "pynvml")
    assert _below(modules, *hardware) == []


def test_what_is_stated_about_the_machine_imports_no_driver_library(pip: Pip, index: Index) -> None:
    index.add(*tri())
    modules = _modules(pip, "install", "tri", driver="12.8")
    assert "pipvariant.providers.nvidia" in modules
    assert _below(modules, "archspec", "pynvml") == []


def test_with_a_target_file_nothing_that_asks_is_imported(pip: Pip, index: Index) -> None:
    index.add(*tri())
    (pip.work / "gpu.toml").write_text('format = 1\n[namespace.nvidia]\ndriver = "12.8"\n')
    modules = _modules(pip, "install", "--variant-target", "gpu.toml", "tri")
    assert pip.label("tri") == "cuda12.8"
    probes = ("_child", "_nvidia_driver", "plugins", "probe", "probe_cache")
    names = [f"pipvariant.providers.{name}" for name in probes]
    assert _below(modules, *names, "archspec", "pynvml") == []


def test_installed_and_satisfying_imports_no_provider(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    pip.plain("install", "solo").check()
    assert _below(_modules(pip, "install", "solo"), *PROVIDERS) == []


@pytest.mark.parametrize("command", (["list"], ["freeze"], ["config", "list"]))
def test_a_command_without_an_index_imports_next_to_nothing(pip: Pip, command: list[str]) -> None:
    script = "import sys\nfrom pipvariant.cli import main\n"
    script += "sys.argv[:] = ['pip-variant', *sys.argv[1:]]\n"
    script += "try:\n    main()\nexcept SystemExit:\n    pass\n"
    script += "print('MODULES', *[m for m in sys.modules if m.startswith('pipvariant')])"
    result = pip.run(["-c", script, *command]).check()
    names = set(result.stdout.splitlines()[-1].split()[1:])
    assert names <= {
        "pipvariant",
        "pipvariant.cli",
        "pipvariant.errors",
        "pipvariant.shim",
        "pipvariant.shim.building",
        "pipvariant.shim.building.child_pip",
        "pipvariant.shim.core",
        "pipvariant.shim.core.patches",
        "pipvariant.shim.core.pip_versions",
        "pipvariant.shim.core.state",
        "pipvariant.shim.options",
        "pipvariant.shim.options.definitions",
        "pipvariant.shim.options.parser",
        "pipvariant.shim.run",
    }
