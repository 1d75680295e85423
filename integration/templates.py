"""The environment that is copied for each test, and a process that runs pip in the copies."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree

__all__ = ["LOST_PATCH", "TIME_LIMIT", "Template", "site_of", "variables"]

# What runs in the fresh environment: the pip under test, the project, what it depends on.
RUNTIME = (
    *("pip", "pipvariant", "packaging", "archspec", "pynvml"),
    *("importlib_metadata", "tomli", "zipp"),  # for older Pythons
)
#: The name of a patch that the pip under test has to do without, see `broken_patches`.
LOST_PATCH = "PIPVARIANT_TEST_LOST_PATCH"
FORK_SERVER = Path(__file__).with_name("fork_server.py")
#: Seconds that a run may take.
TIME_LIMIT = 120


def site_of(environment: Path) -> Path:
    """The folder that an environment's packages are in."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return environment / "lib" / version / "site-packages"


def variables(machine: Path) -> dict[str, str]:
    """The environment variables of a run; none of this machine's are among them.

    :param machine: the folder of the run, with ``home`` and ``tmp`` in it.
    """
    home = str(machine / "home")
    return {
        "HOME": home,
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_CACHE_DIR": "1",
        # Nothing that is installed here is run often enough to be worth compiling. pip reads
        # this as a value of `compile`.
        "PIP_NO_COMPILE": "0",
        "PIP_NO_INPUT": "1",
        "PIP_PROGRESS_BAR": "off",
        "PIP_RETRIES": "0",
        "PIP_ROOT_USER_ACTION": "ignore",
        "TMPDIR": str(machine / "tmp"),
        "XDG_CACHE_HOME": f"{home}/.cache",
    }


class Template:
    """A machine with an environment without pip, which finds pip and the project elsewhere.

    What is elsewhere is outside of the environment for pip too: it is not uninstalled.

    :param root: an empty folder.
    """

    def __init__(self, root: Path) -> None:
        runtime = root / "runtime"
        runtime.mkdir()
        for name in RUNTIME:
            _link(name, runtime)
        self._machine = root / "machine"
        environment = self._machine / "env"
        venv.EnvBuilder(symlinks=True, with_pip=False).create(environment)
        lines = [str(runtime)]
        if lost := os.environ.get(LOST_PATCH):
            _link("integration.breaking", runtime)
            lines.append(f"import breaking; breaking.lose({lost!r})")
        (site_of(environment) / "runtime.pth").write_text("\n".join((*lines, "")))
        for name in ("home", "tmp", "work"):
            (self._machine / name).mkdir()
        self._server: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def copy(self, machine: Path) -> None:
        """Make a machine like this one in an empty folder."""
        copytree(self._machine, machine, symlinks=True, dirs_exist_ok=True)

    def fork(self, request: Mapping[str, object], files: Sequence[int]) -> int:
        """Run a module in a process that is forked from one that has imported pip.

        :param request: the keys ``module``, ``args``, ``environ``, ``folder`` (of the machine)
            and ``work`` (the folder to run in).
        :param files: descriptors of its standard output and its standard error.
        :returns: the exit status, as `subprocess` gives it.
        :raises TimeoutError: when it has not ended within the time limit.
        """
        _, connection = self._server = self._server or self._start()
        data = json.dumps(request).encode()
        try:
            socket.send_fds(connection, [struct.pack("!I", len(data))], list(files))
            connection.sendall(data)
            status = connection.recv(4)
        except TimeoutError:
            self.close()
            raise
        assert status, "the fork server has ended"
        return int(struct.unpack("!i", status)[0])

    def _start(self) -> tuple[subprocess.Popen[bytes], socket.socket]:
        ours, theirs = socket.socketpair()
        ours.settimeout(TIME_LIMIT)
        with theirs:
            process = subprocess.Popen(
                [self._machine / "env" / "bin" / "python", FORK_SERVER],
                cwd=self._machine / "work",
                env=variables(self._machine),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        return process, ours

    def close(self) -> None:
        """End the process and whatever is forked from it."""
        if self._server is not None:
            process, connection = self._server
            connection.close()
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._server = None


def _link(name: str, runtime: Path) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return
    origin = Path(spec.origin)
    source = origin.parent if spec.submodule_search_locations else origin
    (runtime / source.name).symlink_to(source)
