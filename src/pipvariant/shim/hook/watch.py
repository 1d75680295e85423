# ruff: noqa: I002, UP - it is read by whatever Python is there, older ones too
"""Wait for pip to start, or pip-tools, for `start.py` beside this.

``pip-variant variant hook install`` copies this file into an environment, where each start of
Python runs it: it imports nothing that is not there, and makes no class, which takes long.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

#: What each way to call pip imports, and what of pip-tools uses pip's modules without it.
ENTRIES = ("pip._internal.cli.main", "piptools.repositories.pypi", "piptools.sync")


def watch() -> None:
    """Wait for pip to start, in the environment that this file is in."""
    # A virtual environment can see the packages of another one, with the hook of that one.
    is_own = sys.prefix == sys.base_prefix or __file__.startswith(sys.prefix + os.sep)
    this = sys.modules[__name__]
    # Python may call this twice.
    if is_own and this not in sys.meta_path:
        sys.meta_path.insert(0, this)


def find_spec(fullname: str, path: object = None, target: object = None) -> "ModuleSpec | None":
    """Find nothing but the entries."""
    if fullname not in ENTRIES:
        return None
    # The other finders are asked for it.
    sys.meta_path.remove(sys.modules[__name__])
    try:
        from _pip_variant_start import entry  # type: ignore[import-not-found]  # a copy

        spec: ModuleSpec | None = entry(fullname)
    except Exception as error:  # noqa: BLE001 - whatever it is, pip goes on
        if sys.stderr is not None:
            sys.stderr.write(f"WARNING: this is plain pip, without variant wheels: {error!r}\n")
        spec = None
    watch()
    return spec
