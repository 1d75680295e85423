# ruff: noqa: I002 - it is read by whatever Python is there, older ones too
"""Wait for pip to start, which is what `start.py` beside this is about.

``pip-variant variant hook install`` copies this file into an environment, where each start of
Python runs it: it imports nothing that is not there, and makes no class, which takes long.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

#: What each way to call pip imports: its console script, `python -m pip`, `pip.main`.
ENTRY = "pip._internal.cli.main"


def watch() -> None:
    """Wait for pip to start, in the environment that this file is in."""
    # A virtual environment can see the packages of another one, with the hook of that one.
    is_own = sys.prefix == sys.base_prefix or __file__.startswith(sys.prefix + os.sep)
    this = sys.modules[__name__]
    # Python may call this twice.
    if is_own and this not in sys.meta_path:
        sys.meta_path.insert(0, this)


def find_spec(fullname: str, path: object = None, target: object = None) -> "ModuleSpec | None":
    """Find nothing but the entry of pip, once."""
    if fullname != ENTRY:
        return None
    sys.meta_path.remove(sys.modules[__name__])
    try:
        from _pip_variant_start import entry  # type: ignore[import-not-found]  # a copy

        spec: ModuleSpec | None = entry(fullname)
        return spec
    except Exception as error:  # noqa: BLE001 - whatever it is, pip goes on
        if sys.stderr is not None:
            sys.stderr.write(f"WARNING: this is plain pip, without variant wheels: {error!r}\n")
        return None
