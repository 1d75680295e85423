"""Run a probe in a child process that cannot hang, flood or outlive the installation."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

from pipvariant.errors import ProbeFailed
from pipvariant.providers import short_lived

#: Seconds that a probe may take.
TIME_LIMIT = 5.0

#: Bytes that a probe may answer.
MAX_OUTPUT = 256 * 1024

# What drivers and the loader need; everything else, credentials above all, stays here.
_PASSED_ON = (
    "CUDA_DEVICE_ORDER",
    "CUDA_MODULE_LOADING",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_VISIBLE_DEVICES",
    "DYLD_LIBRARY_PATH",
    "HIP_PATH",
    "LD_LIBRARY_PATH",
    "PATH",
    "PROGRAMFILES",
    "ROCM_HOME",
    "ROCM_PATH",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "WINDIR",
    "ZE_AFFINITY_MASK",
    "ZE_ENABLE_ALT_DRIVERS",
)

# What variables such as CUDA_VISIBLE_DEVICES hide every GPU with, for a program without one.
_HIDES_ALL = ("-1", "NoDevFiles")

# Variables that name a folder of the user's; a plugin gets one of its own instead.
_FOLDERS = ("HOME", "TEMP", "TMP", "TMPDIR", "USERPROFILE")

# Providers call the variables so that state what they cannot see, such as the GPU of another host.
_FORCED = "_VARIANT_PROVIDER_FORCE_"

# Linux: the child ends when its parent is gone, which cannot end it any more.
_TOGETHER = """
import sys
if sys.platform == "linux":
    try:
        import ctypes
        ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass
"""

# The child finds modules where this process does, whatever its own start-up would have added.
_BOOT = f"""{_TOGETHER}
import json
sys.path[:] = json.loads(sys.argv[1])
from pipvariant.providers import _child
_child.report_to_parent(*sys.argv[2:])
"""

# A plugin finds its own packages and the standard library, nothing of the user's environment.
_BOOT_APART = f"""{_TOGETHER}
library = sys.path[:]
sys.path.append(sys.argv[1])
from pipvariant.providers import _child, _query
sys.path[:] = [sys.argv[2], *library]
_child.report_to_parent(_query.__name__, *sys.argv[3:])
"""

# What a child prints is kept up to here.
_MAX_PRINTED = 16 * 1024


def run_probe(module: str, *arguments: str, environ: Mapping[str, str]) -> object:
    """Call ``report(*arguments)`` of a module in a child process and return what it reports.

    The child has a clean environment, no standard input, and a session of its own that is ended
    as a whole at the time limit. What libraries print there is thrown away.

    :param module: the module; it must be importable here.
    :param arguments: what its ``report`` is given.
    :param environ: the variables to choose from for the child's environment.
    :returns: the report, made of what JSON has.
    :raises ProbeFailed: the child could not start, took too long, crashed, raised, or answered
        too much or no JSON.
    """
    start = ["-c", _BOOT, json.dumps(_search_path()), module, *arguments]
    return _run_child(start, module, clean_environment(environ))


def run_plugin(
    site: str, *arguments: str, environ: Mapping[str, str], printed: list[str]
) -> object:
    """Ask a plugin in a child process that sees the packages in one folder and nothing else.

    The child is kept as that of :func:`run_probe` is, and its home, temporary and current folder is
    one that is made for it and removed afterwards.

    :param site: the folder of the plugin's packages.
    :param arguments: what the ``report`` of :mod:`pipvariant.providers._query` is given.
    :param environ: the variables to choose from for the child's environment.
    :param printed: what it prints is added to this list.
    :returns: the report, made of what JSON has.
    :raises ProbeFailed: as by :func:`run_probe`.
    """
    variables = clean_environment(environ)
    variables.update({name: environ[name] for name in environ if _FORCED in name})
    with short_lived.folder() as folder:
        variables.update(dict.fromkeys(_FOLDERS, str(folder)))
        start = ["-c", _BOOT_APART, _root(), site, *arguments]
        return _run_child(start, arguments[0], variables, folder, printed)


def _run_child(
    start: list[str],
    where: str,
    variables: dict[str, str],
    folder: Path | None = None,
    printed: list[str] | None = None,
) -> object:
    """Start Python apart from the user's settings, wait for its report, and end what is left."""
    if not sys.executable:
        raise ProbeFailed("there is no interpreter to run the probe with", where=where)
    bytecode = ["-B"] if sys.dont_write_bytecode or folder is not None else []
    read: list[bytes] = []
    said: list[bytes] = []
    try:
        # Also after an answer: what the driver's libraries started must not stay.
        with short_lived.child(
            [sys.executable, "-I", "-S", *bytecode, *start],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if printed is None else subprocess.PIPE,
            env=variables,
            cwd=folder,
        ) as process:
            stdout, stderr = cast("IO[bytes]", process.stdout), process.stderr
            reader = threading.Thread(target=_read_answer, args=(stdout, read), daemon=True)
            listener = threading.Thread(target=_read_printed, args=(stderr, said), daemon=True)
            reader.start()
            listener.start()
            reader.join(TIME_LIMIT)
            answered = not reader.is_alive()
    except OSError as error:
        raise ProbeFailed(f"the probe could not be started: {error}", where=where) from error
    for thread, stream in ((reader, stdout), (listener, stderr)):
        thread.join(short_lived.GRACE)
        if not thread.is_alive() and stream is not None:
            stream.close()
    if printed is not None:
        printed += [part.decode(errors="replace") for part in said if part]
    if not answered:
        raise ProbeFailed(f"no answer within {TIME_LIMIT:g} seconds", where=where)
    return _parse_answer(read[0], process.returncode, where)


def _read_printed(stream: IO[bytes] | None, into: list[bytes]) -> None:
    """Keep the beginning of what is printed; the rest is read too, or the child would wait."""
    if stream is not None:
        into.append(stream.read(_MAX_PRINTED))
        while stream.read(_MAX_PRINTED):
            pass


def _read_answer(stream: IO[bytes], into: list[bytes]) -> None:
    """Read to the end or one byte past the limit, whichever comes first."""
    into.append(stream.read(MAX_OUTPUT + 1))


def _parse_answer(output: bytes, code: int | None, module: str) -> object:
    """Take the report out of the child's answer."""
    if len(output) > MAX_OUTPUT:
        raise ProbeFailed(f"more than {MAX_OUTPUT} bytes of answer", where=module)
    if not output:
        ended = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        raise ProbeFailed(f"no answer, ended by {ended}", where=module)
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        raise ProbeFailed("the answer is not JSON", where=module) from None
    if not isinstance(answer, dict) or answer.keys() not in ({"report"}, {"error"}):
        raise ProbeFailed("the answer is not a report", where=module)
    if "error" in answer:
        raise ProbeFailed(str(answer["error"]), where=module)
    return answer["report"]


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables that the child may see: nothing else can change what it reports."""
    given = {name: environ.get(name, "") for name in _PASSED_ON}
    picked = {name: value for name, value in given.items() if value and value not in _HIDES_ALL}
    picked["LC_ALL"] = "C"
    return picked


def _search_path() -> list[str]:
    """Give the absolute folders that modules are found in here, this project's own among them."""
    path = [entry for entry in sys.path if os.path.isabs(entry)]
    root = _root()
    return path if root in path else [*path, root]


def _root() -> str:
    return str(Path(__file__).resolve().parents[2])
