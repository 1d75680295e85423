"""Let tox use every Python that pyenv has installed.

The shims that pyenv puts on the path answer for the selected versions alone, so that tox would
skip the others as missing. The folders are added at the end: what was found before still is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tox.config.cli.parser import ToxParser
from tox.plugin import impl

__all__ = ["tox_add_option"]


def _pyenv_root() -> Path | None:
    """Say where pyenv keeps its versions: the variable, else pyenv itself, else nowhere."""
    if root := os.environ.get("PYENV_ROOT"):
        return Path(root)
    if pyenv := shutil.which("pyenv"):
        answer = subprocess.run([pyenv, "root"], capture_output=True, text=True, check=False)
        return Path(answer.stdout.strip()) if answer.returncode == 0 else None
    return None


@impl
def tox_add_option(parser: ToxParser) -> None:  # noqa: ARG001 - the name is part of the hook
    """Add the folders to the path: of all hooks, this one is called first."""
    root = _pyenv_root()
    folders = sorted(str(path) for path in root.glob("versions/3.*/bin")) if root else []
    os.environ["PATH"] = os.pathsep.join([os.environ.get("PATH", ""), *folders])
