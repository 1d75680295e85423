"""The ``variant`` command of pip: sub-commands by their first word."""

from __future__ import annotations

import sys
from optparse import Values

from pip._internal.cli.base_command import Command
from pip._internal.cli.cmdoptions import list_path
from pip._internal.exceptions import CommandError

from pipvariant.errors import PipVariantError

__all__ = ["VariantCommand"]


class VariantCommand(Command):
    """Show what this machine supports, and try variant wheels out.

    Sub-commands:

    platform  what this machine supports, by namespace, and which probe says so
    list      installed variants, and whether each still fits this machine
    check     the same, as an exit code: 1 when one does not fit
    demo      install from a small index of variant wheels made on the spot
    """

    usage = """
      %prog platform [--json]
      %prog list [--json] [--path DIR]
      %prog check [--json] [--path DIR]
      %prog demo"""
    ignore_require_venv = True

    def add_options(self) -> None:
        """Add the options of all sub-commands."""
        self.cmd_opts.add_option(
            "--json",
            dest="json",
            action="store_true",
            default=False,
            help="Print JSON and nothing else (platform, list, check).",
        )
        self.cmd_opts.add_option(list_path())
        self.parser.insert_option_group(0, self.cmd_opts)

    def run(self, options: Values, args: list[str]) -> int:
        """Run one sub-command and return its exit code."""
        name = args[0] if args else ""
        if len(args) > 1:
            raise CommandError(f"variant {name}: {args[1]!r} is one word too many.")
        try:
            return self._run(name, options)
        except PipVariantError as error:
            raise CommandError(str(error)) from error

    def _run(self, name: str, options: Values) -> int:
        if name == "platform":
            from pipvariant.commands import platform

            return platform.run(sys.stdout, as_json=options.json)
        if name in ("list", "check"):
            from pipvariant.commands import installed

            print_them = installed.show if name == "list" else installed.check
            return print_them(sys.stdout, as_json=options.json, paths=options.path)
        if name == "demo":
            from pipvariant.commands import demo

            return demo.run(sys.stdout)
        given = f"{name!r} is none" if name else "none was given"
        raise CommandError(
            f"`variant` needs a sub-command, {given}. "
            "There are `variant platform`, `variant list`, `variant check` and `variant demo`."
        )
