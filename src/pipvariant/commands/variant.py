"""The ``variant`` command of pip: sub-commands by their first word, each with its own options."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from optparse import Values
from typing import Any, NamedTuple

from pip._internal.cli.base_command import Command
from pip._internal.exceptions import CommandError

from pipvariant.errors import PipVariantError
from pipvariant.printable import printable


class SubCommand(NamedTuple):
    """One sub-command.

    :param arguments: what stands behind the name, for the help.
    :param summary: one line for the list of sub-commands.
    :param module: if it has not the name of the sub-command; imported only when that is asked for.
        It has ``add_options(group)``, and ``run_NAME``, which takes options, arguments and the
        stream to print to and returns the exit code.
    """

    arguments: str
    summary: str
    module: str = ""


#: Name -> sub-command, in the order in which the help lists them.
SUB_COMMANDS = {
    "platform": SubCommand("", "what this machine supports, by namespace, and which probe says so"),
    "explain": SubCommand("REQ...", "which build `install` would take, and why no other"),
    "list": SubCommand(
        "", "installed variants, and whether each still fits this machine", "installed"
    ),
    "check": SubCommand("", "the same, as an exit code: 1 when one does not fit", "installed"),
    "init": SubCommand("[NAMESPACE...]", "write a first `variant` table into pyproject.toml"),
    "make": SubCommand("WHEEL...", "make variant wheels of ordinary wheels"),
    "unmake": SubCommand("WHEEL...", "make ordinary wheels of variant wheels"),
    "index": SubCommand("DIR", "write the metadata of variant wheels, and pages, for an index"),
    "lint": SubCommand("PATH...", "find what is wrong with variant wheels and their metadata"),
    "hook": SubCommand("install|remove|status", "let plain `pip` of this environment do the same"),
    "demo": SubCommand("", "install from a small index of variant wheels made on the spot"),
}

#: The sub-commands as commands of pip, for the completion of shells.
COMPLETED = {
    name: (__name__, "make_sub_command", sub.summary) for name, sub in SUB_COMMANDS.items()
}
#: Those with arguments that are files or folders.
WITH_FILES = frozenset(
    name
    for name, sub in SUB_COMMANDS.items()
    if sub.arguments.strip(".") in ("DIR", "PATH", "REQ", "WHEEL")
)


class VariantCommand(Command):
    """Understand, make and publish variant wheels."""

    usage = "\n      %prog SUB-COMMAND [options]"
    ignore_require_venv = True

    def main(self, args: list[str]) -> int:
        """Run one sub-command; `explain` is pip's own `install`, with all of its options."""
        if sys.stdout is None:
            # It was closed by whoever started this process: what is printed goes nowhere.
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
        name = _sub_command_in(args)
        if name != "explain":
            code: int = super().main(args)
            return code
        args = list(args)
        args.remove(name)
        from pipvariant.commands import explain
        from pipvariant.shim import current_run

        return explain.run_explain(current_run(), args)

    def add_options(self) -> None:
        """Say which sub-commands there are; the options are those of the one that is asked for."""
        listed = "".join(f"\n{name:9} {sub.summary}" for name, sub in SUB_COMMANDS.items())
        head = "Sub-commands; `variant NAME --help` shows the options of each:"
        self.parser.description = f"{self.__doc__}\n\n{head}\n{listed}"
        # Taken out of the help only: what parses them is shared by all groups of a parser.
        self._general_options = self.parser.option_groups.pop()

    def parse_args(self, args: list[str]) -> tuple[Any, Any]:
        """Parse the arguments with the options of the sub-command among them."""
        name = _sub_command_in(args)
        if name in SUB_COMMANDS:
            self.add_sub_command(name)
        parsed: tuple[Any, Any] = super().parse_args(args)
        return parsed

    def add_sub_command(self, name: str) -> None:
        """Add the options of a sub-command, and its words for the help."""
        sub = SUB_COMMANDS[name]
        usage = " ".join(filter(None, ("%prog", name, "[options]", sub.arguments)))
        self.parser.set_usage(f"\n      {usage}")
        self.parser.description = f"{sub.summary[0].upper()}{sub.summary[1:]}."
        _module_of(name).add_options(self.cmd_opts)
        # A heading without options under it says nothing.
        groups = [self.cmd_opts] if self.cmd_opts.option_list else []
        self.parser.option_groups += [*groups, self._general_options]

    def run(self, options: Values, args: list[str]) -> int:
        """Run one sub-command and return its exit code."""
        if not args:
            self.parser.print_help()
            return 0
        name, *rest = args
        if name not in SUB_COMMANDS:
            raise CommandError(printable(_unknown(name)))
        sub = SUB_COMMANDS[name]
        if rest and not sub.arguments:
            raise CommandError(printable(f"variant {name}: {rest[0]!r} is one word too many."))
        try:
            code: int = getattr(_module_of(name), f"run_{name}")(options, rest, sys.stdout)
        except PipVariantError as error:
            raise CommandError(str(error)) from error
        return code


def make_sub_command(name: str, summary: str, **keywords: Any) -> Command:
    """Make a command of pip that has all options of a sub-command, and is not run."""
    if name == "explain":
        from pip._internal.commands.install import InstallCommand

        from pipvariant.commands import explain

        install = InstallCommand("install", summary, **keywords)
        explain.shape_install(install)
        return install
    command = VariantCommand("variant", summary, **keywords)
    command.add_sub_command(name)
    return command


def _unknown(name: str) -> str:
    """Return what to say of a word that is no sub-command, in the words of pip."""
    similar = get_close_matches(name.lower(), SUB_COMMANDS, n=1)
    hint = f' - maybe you meant "variant {similar[0]}"' if similar else ""
    return f'unknown sub-command "variant {name}"{hint}. Known: {", ".join(SUB_COMMANDS)}.'


def _sub_command_in(args: list[str]) -> str:
    # What stands before it may be the value of one of pip's own options.
    return next((word for word in args if word in SUB_COMMANDS), "")


def _module_of(name: str) -> Any:
    return import_module(f"pipvariant.commands.{SUB_COMMANDS[name].module or name}")
