"""Lose one patch in the pip under test, with no proof to tell: see `broken_patches`.

A ``.pth`` file of the environment imports this module, where `integration` is not there.
"""

from __future__ import annotations

from typing import Any

__all__ = ["OTHERS", "lose", "name_of"]

#: What is replaced without a `Patch` -> the function of `shim.options.parser` that does it.
OTHERS = {
    "parser pip._internal.cli.base_command:Command.parse_args": "before_run",
    "parser pip._internal.cli.parser:ConfigOptionParser._match_long_opt": "_prefer_known",
    "shim pip._internal.commands:create_command": "",
}


def name_of(patch: Any) -> str:
    """The module that makes a patch and the target: two modules may patch the same object."""
    wrap = getattr(patch.wrap, "func", patch.wrap)
    return f"{wrap.__module__.rpartition('.')[2]} {patch.target}"


def _same(original: Any) -> Any:
    return original


def lose(lost: str) -> None:
    """Leave the original in place of one patch.

    :param lost: its name; one that no patch has leaves all on.
    """
    from pipvariant.shim.core.patches import Patches
    from pipvariant.shim.options import parser

    put, replace = Patches.put, Patches.replace

    def put_without(self: Any, patches: Any) -> None:
        # It is looked up all the same, which imports modules of pip.
        put(self, (p._replace(wrap=_same) if name_of(p) == lost else p for p in patches))

    def replace_without(self: Any, owner: Any, name: str, replacement: Any) -> None:
        if f"shim {owner.__name__}:{name}" != lost:
            replace(self, owner, name, replacement)

    changed: Any = Patches
    changed.put, changed.replace = put_without, replace_without
    changed._prove = lambda self, patch: None
    if OTHERS.get(lost):
        setattr(parser, OTHERS[lost], lambda *args: None)
