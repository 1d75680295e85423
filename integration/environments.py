"""Fresh environments in which real pips run, as cut off from this machine as can be."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import venv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

__all__ = ["LOST_PATCH", "PIP_VERSION", "Pip", "Result", "make_template"]

PIP_VERSION = tuple(int(part) for part in importlib.metadata.version("pip").split(".")[:2])
# What runs in the fresh environment: the pip under test, the project, what it depends on.
RUNTIME = (
    *("pip", "pipvariant", "packaging", "archspec", "pynvml"),
    *("importlib_metadata", "tomli", "zipp"),  # for older Pythons
)

# The name of a patch that the pip under test has to do without, see `broken_patches`.
LOST_PATCH = "PIPVARIANT_TEST_LOST_PATCH"

# There on machines with a GPU, whose driver must not answer for the machine of a test.
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")


@dataclass(frozen=True)
class Result:
    """How one run ended."""

    args: Sequence[str]
    code: int
    stdout: str
    stderr: str

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    @property
    def warnings(self) -> list[str]:
        """The warnings that the user reads, without pip's own deprecations."""
        return [line for line in self.output.splitlines() if line.startswith("WARNING: ")]

    def lines_with(self, *words: str) -> list[str]:
        return [line for line in self.output.splitlines() if all(word in line for word in words)]

    def check(self) -> Result:
        """Itself; an exit status other than 0 is an error that shows the whole output."""
        assert self.code == 0, f"{' '.join(self.args)}: {self.code}\n{self.output}"
        return self


def make_template(root: Path) -> Path:
    """An environment without pip that finds pip and the project elsewhere, to be copied.

    What is elsewhere is outside of the environment for pip too: it is not uninstalled.
    """
    runtime = root / "runtime"
    runtime.mkdir()
    for name in RUNTIME:
        _link(name, runtime)
    template = root / "template"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(template)
    lines = [str(runtime)]
    if os.environ.get(LOST_PATCH):
        _link("integration.breaking", runtime)
        lines.append(f"import breaking; breaking.lose({os.environ[LOST_PATCH]!r})")
    (_site(template) / "runtime.pth").write_text("\n".join((*lines, "")))
    return template


def _link(name: str, runtime: Path) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    source = origin.parent if spec.submodule_search_locations else origin
    (runtime / source.name).symlink_to(source)


def _site(root: Path) -> Path:
    return root / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


class Pip:
    """Runs the pip of this environment, with and without the shim, in a fresh one.

    :param template: what `make_template` made.
    :param root: an empty folder for the environment, the home folder and all else.
    :param index_url: the index that pip is told to use.
    """

    def __init__(self, template: Path, root: Path, index_url: str) -> None:
        self.root = root
        self.index_url = index_url
        self.site = _site(root / "env")
        copytree(template, root / "env", symlinks=True)
        for folder in ("home", "work", "tmp"):
            (root / folder).mkdir()
        self.work = root / "work"

    def variant(self, *args: str | Path, **how: Any) -> Result:
        """Run ``python -m pipvariant`` with these arguments; see `run` for the keywords."""
        return self.run(["-m", "pipvariant", *map(str, args)], **how)

    def plain(self, *args: str | Path, **how: Any) -> Result:
        """Run ``python -m pip`` with these arguments; see `run` for the keywords."""
        return self.run(["-m", "pip", *map(str, args)], **how)

    def run(
        self,
        args: Sequence[str],
        *,
        driver: str | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Result:
        """Run this environment's Python in `work`.

        :param driver: the NVIDIA driver that the machine is said to have; None for no GPU.
        :param environ: more environment variables.
        """
        variables = self._variables()
        if driver is not None:
            variables["NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"] = driver
        elif NVIDIA_DRIVER.exists():
            variables["LD_LIBRARY_PATH"] = str(self._no_driver())
        variables.update(environ or {})
        python = str(self.root / "env" / "bin" / "python")
        done = subprocess.run(
            [python, *args],
            cwd=self.work,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Result(args, done.returncode, done.stdout, done.stderr)

    def _no_driver(self) -> Path:
        """A folder of libraries that the loader finds before the driver's and cannot load."""
        folder = self.root / "no-driver"
        folder.mkdir(exist_ok=True)
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            (folder / name).write_text("not a library")
        return folder

    def _variables(self) -> dict[str, str]:
        home = str(self.root / "home")
        return {
            "HOME": home,
            "LANG": "C.UTF-8",
            "PATH": "/usr/bin:/bin",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_INDEX_URL": self.index_url,
            "PIP_NO_CACHE_DIR": "1",
            # Nothing that is installed here is run often enough to be worth compiling.
            "PIP_NO_COMPILE": "1",
            "PIP_NO_INPUT": "1",
            "PIP_PROGRESS_BAR": "off",
            "PIP_RETRIES": "0",
            "PIP_ROOT_USER_ACTION": "ignore",
            "TMPDIR": str(self.root / "tmp"),
            "XDG_CACHE_HOME": f"{home}/.cache",
        }

    # What is there afterwards.

    def installed(self, site: Path | None = None) -> dict[str, str]:
        """Project name to version, of what this environment (or another folder) holds."""
        found = importlib.metadata.distributions(path=[str(site or self.site)])
        return {item.metadata["Name"]: item.version for item in found}

    def label(self, name: str, site: Path | None = None) -> str | None:
        """The label of the wheel whose files are there, or None where there are none."""
        module = (site or self.site) / f"{name.replace('-', '_')}.py"
        if not module.exists():
            return None
        first = module.read_text().splitlines()[0]
        return str(json.loads(first.partition(" = ")[2].replace("'", '"')))

    def build(self, name: str) -> tuple[str | None, str | None]:
        """The version and the label that are installed."""
        return self.installed().get(name), self.label(name)

    def write(self, filename: str, lines: Iterable[str]) -> Path:
        """Write a text file, such as a requirements file, into `work`."""
        path = self.work / filename
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def report(self, *args: str, **how: Any) -> dict[str, Any]:
        """The installation report of a dry run of ``pip-variant install``."""
        quiet = ("install", "--dry-run", "--quiet", "--report", "-", *args)
        loaded: dict[str, Any] = json.loads(self.variant(*quiet, **how).check().stdout)
        return loaded
