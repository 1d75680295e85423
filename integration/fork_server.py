"""A process that has imported pip and pip-variant, and forks for each run of either.

It is a program of its own, started by the Python of an environment template with a socket as
its standard input. A request is a JSON object, sent with the two files that the run writes to;
the answer is the exit status. A child sets again whatever Python and pip work out of the
environment when they start; then it runs the module, and ends as any process of Python does.
"""

from __future__ import annotations

import array
import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import runpy
import site
import socket
import struct
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any, NoReturn

#: What runs import beside pip's commands and pip-variant; not all of it is there in each pip.
PRELOADED = (
    "ctypes",
    "difflib",
    "encodings.cp437",
    "encodings.idna",
    "netrc",
    "packaging.requirements",
    "pip._internal.metadata.importlib",
    "pip._internal.operations.install.wheel",
    "pip._internal.resolution.resolvelib.resolver",
    "pip._internal.utils._jaraco_text",
    "pip._vendor.pkg_resources",
    "pip._vendor.pygments.lexers.python",
    "pip._vendor.rich._emoji_codes",
    "pip._vendor.rich._unicode_data.unicode17-0-0",
)

#: These copy what the shim replaces before it lets pip start, so each run imports them itself.
NOT_KEPT = (
    "pip._internal.cli.autocompletion",
    "pip._internal.cli.main",
    "pip._internal.cli.main_parser",
)

#: These are programs.
STARTED = ("pipvariant.__main__", "pipvariant.shim.building.runner")

#: A text that a module keeps: its container, its key there, and the text itself.
Slot = tuple[Any, Any, str]


def serve(connection: socket.socket) -> dict[str, Any] | None:
    """Answer requests one after the other until the other side closes.

    :returns: in a child, the request that it is to carry out; in the server, None at the end.
    """
    while True:
        head, ancillary, _, _ = connection.recvmsg(4, socket.CMSG_LEN(8))
        if not head:
            return None
        files = array.array("i", ancillary[0][2])
        (left,) = struct.unpack("!I", head)
        data = b""
        while len(data) < left:
            data += connection.recv(left - len(data))
        child = os.fork()
        if child == 0:
            connection.close()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for target, file in enumerate(files, start=1):
                os.dup2(file, target)
                os.close(file)
            request: dict[str, Any] = json.loads(data)
            return request
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.sendall(struct.pack("!i", os.waitstatus_to_exitcode(status)))


def preload() -> None:
    """Import, and let pip find out once which Linux this is and which certificates there are.

    Nothing else that pip works out and keeps is kept: it may depend on the environment of a run.
    """
    registry: Any = importlib.import_module("pip._internal.commands")
    project: Any = importlib.import_module("pipvariant")
    names = [command.module_path for command in registry.commands_dict.values()]
    names += [found.name for found in pkgutil.walk_packages(project.__path__, "pipvariant.")]
    for name in (*PRELOADED, *names):
        if name not in STARTED:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    for name in NOT_KEPT:
        sys.modules.pop(name, None)
    importlib.import_module("pip._vendor.distro").info()
    for name, module in list(sys.modules.items()):
        if name.startswith("pip._internal"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    with contextlib.suppress(ImportError, AttributeError):
        commands: Any = importlib.import_module("pip._internal.cli.index_command")
        if hasattr(commands._create_truststore_ssl_context, "cache_info"):
            commands._create_truststore_ssl_context()


def slots(folder: str) -> list[Slot]:
    """Find each text that a module keeps and that names this folder or something in it."""
    seen: set[int] = set()
    return [
        slot for module in list(sys.modules.values()) for slot in _texts(vars(module), folder, seen)
    ]


def _texts(container: Any, folder: str, seen: set[int], depth: int = 0) -> Iterator[Slot]:
    if id(container) in seen or depth > 2:
        return
    seen.add(id(container))
    pairs = container.items() if isinstance(container, dict) else enumerate(container)
    for key, value in list(pairs):
        if isinstance(value, str) and f"{value}/".startswith(f"{folder}/"):
            yield container, key, value
        elif isinstance(value, functools.partial):
            # pip's options: the values that they have by default are among their keywords.
            yield from _texts(value.keywords, folder, seen, depth + 1)
        elif type(value) in (dict, list):
            yield from _texts(value, folder, seen, depth + 1)


def become(request: dict[str, Any], folder: str, kept: list[Slot], path: list[str]) -> None:
    """Make this process one that was started for the request.

    :param folder: where the server's environment and home are, the request's are in its own.
    :param kept: the `slots` of this folder.
    :param path: where Python looks for modules before it knows of the environment.
    """
    os.environ.clear()
    os.environ.update(request["environ"])
    os.chdir(request["work"])
    for container, key, text in kept:
        container[key] = request["folder"] + text[len(folder) :]
    tempfile.tempdir = None
    sys.path[:] = path
    # The steps of `site`, which goes through the packages of an environment twice.
    known = site.removeduppaths()
    site.venv(known)
    site.addsitepackages(known)
    site.execsitecustomize()
    importlib.invalidate_caches()
    sys.path.insert(0, os.getcwd())
    if packages := sys.modules.get("pip._vendor.pkg_resources"):
        # When it is imported, it looks at what is installed.
        packages._initialize_master_working_set()
    sys.argv[1:] = request["args"]


def run(module: str) -> int:
    """Run a module as the main one and return the exit status of the process."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001 - the process ends with it
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def end(code: int) -> NoReturn:
    """End this process as Python does, but leave its memory to the system."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    server_folder = os.path.dirname(sys.prefix)
    before_environment = [entry for entry in sys.path[1:] if not entry.startswith(server_folder)]
    preload()
    found = slots(server_folder)
    # What is there now stays: no collection of a child looks at it, so it stays shared.
    gc.collect()
    gc.freeze()
    if (asked := serve(socket.socket(fileno=0))) is not None:
        become(asked, server_folder, found, before_environment)
        end(run(asked["module"]))
