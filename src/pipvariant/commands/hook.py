"""``variant hook``: make ``pip`` and ``python -m pip`` of an environment variant-aware."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.machinery import PathFinder
from typing import Any, TextIO

from pipvariant.commands.output import write_line
from pipvariant.errors import InvalidOption
from pipvariant.shim.building.child_pip import places
from pipvariant.shim.hook import files
from pipvariant.shim.hook.start import OFF, SWITCH

ACTIONS = ("install", "remove", "status")
# Looks at nothing and installs nothing; only a variant-aware pip knows the second option.
_PROBE = ("install", "--dry-run", "--variant", "probe=null", "--no-index", "-r", os.devnull)


def add_options(group: Any) -> None:
    """Add the options of ``variant hook``, which has none."""


def run_hook(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Write, remove or look at the hook of this environment; return the exit code.

    :returns: 0 when it is done; for `install` and `status` 1 when pip is not variant-aware.
    :raises PipVariantError: the words mean nothing, or a file cannot be written.
    """
    if len(args) != 1 or args[0] not in ACTIONS:
        raise InvalidOption(f"variant hook takes one of {', '.join(ACTIONS)}")
    if args[0] == "remove":
        removed = files.remove()
        for path in removed:
            write_line(out, f"Removed {path}")
        if not removed:
            write_line(out, f"{sys.prefix} has no hook.")
        return 0
    if args[0] == "install":
        # The pip of the environment is used, and no other.
        files.install({name: place for name, place in places().items() if name != "pip"})
    return _status(out)


def _status(out: TextIO) -> int:
    folder = files.installed()
    if folder is None:
        write_line(out, f"{sys.prefix} has no hook: its pip is plain pip.")
        return 1
    write_line(out, f"{sys.prefix} has the hook, in {folder}.")
    if os.environ.get(SWITCH, "").lower() in OFF:
        write_line(out, f"It is turned off by {SWITCH}={os.environ[SWITCH]}.")
        return 1
    fault = _fault()
    write_line(out, f"It does not work: {fault}" if fault else "It works: pip is variant-aware.")
    return int(bool(fault))


def _fault() -> str:
    """Start the pip of this environment, and say why it is not variant-aware; nothing if it is."""
    if PathFinder.find_spec("pip") is None:
        return "there is no pip in this environment yet."
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *_PROBE],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    warned = [line for line in done.stderr.splitlines() if SWITCH in line]
    if warned:
        return warned[0].partition("wheels: ")[2].partition(". See")[0]
    return "" if done.returncode == 0 else done.stderr.strip() or "pip cannot be started."
