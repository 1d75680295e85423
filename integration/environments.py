"""Fresh environments in which real pips run, as cut off from this machine as can be."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from integration.templates import TIME_LIMIT, Template, site_of, variables

__all__ = ["PIP_VERSION", "Pip", "Result"]

PIP_VERSION = tuple(int(part) for part in importlib.metadata.version("pip").split(".")[:2])
# There on machines with a GPU, whose driver must not answer for the machine of a test.
NVIDIA_DRIVER = Path("/proc/driver/nvidia/version")
# Variables that Python or the system's loader reads once, when a process starts.
AT_START = ("LANG", "LC_", "LD_", "PYTHON")


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


def _is_same_forked(args: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Whether a forked process can do what a start of Python with these arguments would do."""
    is_pip = args[0] == "-m" and args[1] in ("pip", "pipvariant")
    at_start = any(name.startswith(AT_START) for name in environ)
    return is_pip and not at_start and hasattr(os, "fork")


class Pip:
    """Runs the pip of this environment, with and without the shim, in a fresh one.

    :param template: what the environment is a copy of.
    :param root: an empty folder for the environment, the home folder and all else.
    :param index_url: the index that pip is told to use.
    :param forks: run pip in processes forked from one that has imported it, where that shows
        the same; otherwise each run is a start of Python.
    """

    def __init__(self, template: Template, root: Path, index_url: str, *, forks: bool) -> None:
        self.root = root
        self.index_url = index_url
        self.site = site_of(root / "env")
        self.work = root / "work"
        self._template = template
        self._forks = forks
        template.copy(root)

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
        more = dict(environ or {})
        if driver is not None:
            more = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": driver, **more}
        all_variables = {**variables(self.root), "PIP_INDEX_URL": self.index_url, **more}
        if driver is None and NVIDIA_DRIVER.exists():
            all_variables.setdefault("LD_LIBRARY_PATH", str(self._no_driver()))
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            if self._forks and _is_same_forked(args, more):
                code = self._template.fork(
                    {
                        "module": args[1],
                        "args": args[2:],
                        "environ": all_variables,
                        "folder": str(self.root),
                        "work": str(self.work),
                    },
                    (out.fileno(), err.fileno()),
                )
            else:
                code = subprocess.run(
                    [self.root / "env" / "bin" / "python", *args],
                    cwd=self.work,
                    env=all_variables,
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    timeout=TIME_LIMIT,
                    check=False,
                ).returncode
            for stream in (out, err):
                stream.seek(0)
            return Result(args, code, out.read(), err.read())

    def _no_driver(self) -> Path:
        """A folder of libraries that the loader finds before the driver's and cannot load."""
        folder = self.root / "no-driver"
        folder.mkdir(exist_ok=True)
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            (folder / name).write_text("not a library")
        return folder

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
