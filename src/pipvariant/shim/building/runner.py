"""Start exactly this pip and this pip-variant in a child process.

Run by the script beside it: ``python .../start.py install ...``. The child may be another Python,
or one whose own packages must not be seen (build isolation), so the few packages that are needed
are found by name at the places that the parent wrote into ``PIPVARIANT_RUNNER``; nothing else of
the parent's environment becomes importable. A Python that is too old for the pip of the parent
runs its own, where it has one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

VARIABLE = "PIPVARIANT_RUNNER"


class _Redirect:
    """Finds the top-level packages of the parent where the parent has them."""

    def __init__(self, places: dict[str, str]) -> None:
        self._places = places

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        place = self._places.get(fullname)
        return None if place is None else PathFinder.find_spec(fullname, [place], target)


def run() -> int:
    """Run pip-variant with the places of the parent; return the exit code."""
    # The variable stays for the children of this child; each of them reads the same places.
    places = json.loads(os.environ[VARIABLE])
    # The modules beside this script are no top-level modules.
    if sys.path[:1] == [os.path.dirname(os.path.abspath(__file__))]:
        sys.path.pop(0)
    sys.meta_path.insert(0, _Redirect(places))
    from pipvariant.shim.core.pip_versions import needed_python

    is_too_old = sys.version_info[:2] < needed_python(os.path.join(places["pip"], "pip"))
    if is_too_old and PathFinder.find_spec("pip") is not None:
        # The environment has a pip that goes with its Python.
        del places["pip"]
    from pipvariant.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(run())
