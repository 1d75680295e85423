"""Shell completion: pip's own scripts and answers, for this program and its sub-commands."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Mapping
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from optparse import Values
from typing import Any

from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.state import set_variable

PROGRAM = "pip-variant"

_MODULE = "pip._internal.commands.completion"


def patches() -> list[Patch]:
    """Patch what `completion` prints, so that a shell can have the scripts of both programs."""
    return [
        Patch(f"{_MODULE}:get_prog", lambda _: lambda: PROGRAM, _prints_ours),
        Patch(f"{_MODULE}:BASE_COMPLETION", _rename, _prints_ours),
        Patch(
            f"{_MODULE}:COMPLETION_SCRIPTS",
            lambda scripts: {shell: _rename(script) for shell, script in scripts.items()},
            _prints_ours,
        ),
    ]


def narrow(
    name: str, commands: Mapping[str, tuple[str, str, str]], with_files: Container[str]
) -> None:
    """Let pip complete what stands behind one of its commands as if that were all there is.

    pip is told of the sub-commands in place of its commands, and of the words without `name`.
    It ends the process when it has answered, so that nothing has to be put back.

    :param name: a command of pip, which has sub-commands.
    :param commands: its sub-commands, as :func:`pipvariant.shim.apply` takes commands.
    :param with_files: those that take files: pip completes these as arguments of `install`.
    """
    known: Any = import_module("pip._internal.commands")
    words = os.environ.get("COMP_WORDS", "").split()
    cursor = os.environ.get("COMP_CWORD", "")
    count = int(cursor) if cursor.isdecimal() else 0
    before = words[1:count]
    if next((word for word in before if word in known.commands_dict), None) != name:
        return
    words.remove(name)
    before.remove(name)
    current = words[count - 1] if count <= len(words) else ""
    sub_command = next((word for word in before if word in commands), None)
    if sub_command is not None and sub_command in with_files and not current.startswith("-"):
        words[words.index(sub_command)] = "install"
    else:
        if sub_command is None:
            known.commands_dict.clear()
        known.commands_dict.update(
            (each, known.CommandInfo(*described)) for each, described in commands.items()
        )
    set_variable("COMP_WORDS", " ".join(words))
    set_variable("COMP_CWORD", str(count - 1))


def _rename(script: str) -> str:
    # zsh is given a pattern for pip, pip3 and pip3.11; functions must not be those of pip.
    script = script.replace("pip[0-9.]#", PROGRAM).replace("# pip ", f"# {PROGRAM} ")
    return re.sub(r"_pip(?![a-z])", "_pip_variant", script)


def _prints_ours() -> bool:
    """Say whether every script names this program, and plain pip nowhere."""
    module: Any = import_module(_MODULE)
    command = module.CompletionCommand("completion", "")
    for shell in module.COMPLETION_SCRIPTS:
        with redirect_stdout(StringIO()) as out:
            command.run(Values({"shell": shell}), [])
        if PROGRAM not in out.getvalue() or re.search(r"\bpip\b(?!-variant)", out.getvalue()):
            return False
    return True
