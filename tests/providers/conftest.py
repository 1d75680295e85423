"""Machines that the tests of providers run on: recorded CPUs, and drivers made of stubs."""

from __future__ import annotations

import io
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.providers import _amd_kernel, _cpu, _driver_files
from tests.providers.drivers import Answers, Driver, Life, MakeDriver

HERE = Path(__file__).parent
STUBS = HERE / "stubs"
MACHINES = HERE / "machines"
SOURCES = {
    "cuda.c": _driver_files.LIBCUDA,
    "nvml.c": _driver_files.NVML,
    "rocm.c": _amd_kernel.ROCM_CORE,
    "ze.c": _driver_files.LEVEL_ZERO,
}


@pytest.fixture(scope="session")
def stub_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("stub driver libraries are compiled with cc, on Linux")
    folder = tmp_path_factory.mktemp("stubs")
    old_names = folder / "old"
    old_names.mkdir()
    for source, name in SOURCES.items():
        for target, option in ((folder, "-O1"), (old_names, "-DOLD_NAMES")):
            command = [compiler, "-shared", "-fPIC", option, "-o", str(target / name)]
            subprocess.run([*command, STUBS / source, "-ldl"], check=True)
    return folder


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """Give a pipe in a folder of its own; what holds it open lives."""
    path = tmp_path / "driver" / "life"
    path.parent.mkdir()
    os.mkfifo(path)
    stream = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    yield Life(path, stream)
    os.close(stream)


@pytest.fixture
def no_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Take the file system with whatever driver this machine has away; the empty one is given."""
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setattr(_driver_files, "ROOT", root)
    return root


@pytest.fixture
def make_driver(stub_libraries: Path, tmp_path: Path, life: Life, no_driver: Path) -> MakeDriver:
    """Make a driver; each argument says what a library answers, None leaves it out."""

    def make(
        nvml: Answers | None = None,
        cuda: Answers | None = None,
        *,
        ze: Answers | None = None,
        rocm: Answers | None = None,
        old_names: bool = False,
    ) -> Driver:
        folder = life.path.parent
        given = {"cuda": cuda, "nvml": nvml, "rocm": rocm, "ze": ze}
        lines = []
        for library, answers in given.items():
            name = SOURCES[f"{library}.c"]
            if answers is None:
                # The loader stops here, and never finds a real library of the machine.
                (folder / name).write_text("not a library\n")
            else:
                compiled = stub_libraries / "old" if old_names else stub_libraries
                shutil.copy(compiled / name, folder / name)
                lines += [f"{library}.{key}={value}\n" for key, value in answers.items()]
        (folder / "answers").write_text("".join(lines))
        return Driver(folder)

    return make


@pytest.fixture
def on_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Let archspec and the providers see a recorded machine."""
    from archspec.cpu import detect

    def forget() -> None:
        for name in ("host", "_machine", "_darwin_sysctl_data"):
            clear = getattr(getattr(detect, name, None), "cache_clear", None)
            if clear is not None:
                clear()

    def put(name: str) -> None:
        recorded: dict[str, Any] = json.loads((MACHINES / f"{name}.json").read_text())
        system, machine = recorded["system"], recorded["machine"]
        monkeypatch.setattr(platform, "system", lambda: system)
        monkeypatch.setattr(platform, "machine", lambda: machine)
        monkeypatch.setattr(sys, "platform", "win32" if system == "Windows" else system.lower())
        if system == "Windows":
            monkeypatch.setattr(sysconfig, "get_platform", lambda: recorded["interpreter"])
            monkeypatch.setattr(detect, "CPUID", lambda: Cpuid(recorded["cpuid"]))
            monkeypatch.setattr(_cpu, "_kept_registers", lambda: recorded["xcr0"])
        elif system == "Darwin":
            folder = fake_sysctl(tmp_path, recorded["sysctl"])
            monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
        else:
            capture = MACHINES / f"{name}.cpuinfo"
            monkeypatch.setattr(_cpu, "CPUINFO", capture)
            monkeypatch.setattr(
                detect, "open", lambda *_a, **_k: io.StringIO(capture.read_text()), raising=False
            )
        forget()

    yield put
    forget()


class Cpuid:
    """A processor that was recorded: what its CPUID instruction gives for each question."""

    def __init__(self, answers: Mapping[str, list[int]]) -> None:
        self.answers = answers

    def registers_for(self, eax: int, ecx: int) -> SimpleNamespace:
        registers = self.answers[f"{eax:#x} {ecx:#x}"]
        return SimpleNamespace(**dict(zip(("eax", "ebx", "ecx", "edx"), registers)))


def fake_sysctl(folder: Path, values: Mapping[str, str]) -> Path:
    """Put a ``sysctl`` into a folder that knows only these values; missing keys are ignored."""
    lines = [
        "#!/bin/sh",
        'bare="" ; case $1 in -n) bare=1 ; shift ;; -i) shift ;; esac',
        "for key ; do",
        "  value= ; case $key in",
        *(f"    {key}) value={shlex.quote(value)} ;;" for key, value in values.items()),
        "  esac",
        '  if [ -n "$bare" ] ; then echo "$value"',
        '  elif [ -n "$value" ] ; then echo "$key: $value" ; fi',
        "done",
    ]
    script = folder / "sysctl"
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return folder
