"""Options: what ``pip-variant`` adds to every command that looks at an index."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from optparse import OptionGroup
from typing import Any

from pipvariant.errors import InvalidOption
from pipvariant.log import logger
from pipvariant.shim.core.state import CommandOptions, TargetOptions, UserConstraints, set_variable

#: Variable for a child that installs what a build requires: the labels of the environment that is
#: built for, as JSON.
BUILD_LABELS = "PIPVARIANT_BUILD_LABELS"
# pip's variable for the child that --python starts.
_OF_PYTHON_OPTION = "_PIP_RUNNING_IN_SUBPROCESS"

#: Commands that read what installed projects require.
READERS = ("check", "inspect", "show")


def add_to(command: Any) -> None:
    """Add the options to a pip command, if it is one that can look at an index.

    pip's parser reads them from the command line, from ``pip.conf`` and from ``PIP_*``.
    """
    if command.parser.has_option("--index-url"):
        from pipvariant.shim.options.definitions import CHOOSING, TARGET, add_named

        group = OptionGroup(command.parser, "Wheel Variant Options")
        names = [*CHOOSING, "--torch-index", *TARGET]
        if command.parser.has_option("--upgrade"):
            names.append("--upgrade-variant")
        if command.name == "lock":
            names.append("--all-variants")
        known = dict(command.parser._long_opt)
        add_named(group, names)
        command.parser.add_option_group(group)
        _prefer_known(command.parser, known)


def _prefer_known(parser: Any, known: dict[str, Any]) -> None:
    """Let what is short for an option of pip stay so, whatever else it is short for now."""
    match_long_opt = parser._match_long_opt

    def match(text: str) -> str:
        if text not in parser._long_opt:
            found = [name for name in known.keys() & parser._long_opt if name.startswith(text)]
            if len(found) == 1:
                return str(found[0])
        return str(match_long_opt(text))

    parser._match_long_opt = match


def before_run(command: Any, step: Callable[[Any], None], warnings: Iterable[str]) -> None:
    """Let a step run when the options of a command are parsed, before it does anything.

    :param warnings: told after the step, as soon as pip has set up what the user reads.
    """
    parse_args, run = command.parse_args, command.run

    def parse_then_step(args: list[str]) -> Any:
        options, rest = parse_args(args)
        step(options)
        return options, rest

    def warn_then_run(options: Any, args: list[str]) -> Any:
        for sentence in warnings:
            logger.warning("%s", sentence)
        return run(options, args)

    command.parse_args, command.run = parse_then_step, warn_then_run


def active_elsewhere(values: Any) -> str:
    """Say that a command installs into another environment than the active one; empty if not."""
    active = os.environ.get("VIRTUAL_ENV", "")
    named = ("target_dir", "prefix_path", "root_path", "use_user_site")
    # With --python, and for builds, it was said where to install.
    if _OF_PYTHON_OPTION in os.environ or any(getattr(values, name, None) for name in named):
        return ""
    if not os.path.isdir(active) or os.path.samefile(active, sys.prefix):
        return ""
    return (
        f"this pip-variant belongs to {sys.prefix} and installs there, not into the active"
        f" environment {active}; that needs a pip-variant of its own"
    )


def looks_at_an_index(command: str, values: Any) -> bool:
    """Say whether a command with these options will ask an index for files."""
    if command == "list":
        return bool(values.outdated or values.uptodate)
    return hasattr(values, "no_variant")


def lists_as_json(command: str, values: Any) -> bool:
    """Say whether a command lists what is installed for programs to read."""
    return command == "list" and values.list_format == "json"


def configure(
    command: str, values: Any, user: UserConstraints
) -> tuple[CommandOptions, TargetOptions]:
    """Take what the options of a command say, and hand on to other pips what is for them too.

    :param values: pip's own object with all options.
    :param user: gets what the user says about variants.
    :raises InvalidOption: options have words that mean nothing, or do not go together.
    """
    user.no_variant = bool(values.no_variant)
    options, target = _command_options(command, values, user), target_options(values)
    if options.upgrade_variant and options.legacy_resolver:
        raise InvalidOption(
            "--upgrade-variant is not possible with --use-deprecated=legacy-resolver",
            remedy="Leave one of them out, or name the package with --force-reinstall.",
        )
    from pipvariant.shim.options import requirements_files

    requirements_files.configure(values, user, options)
    # A pip that builds in a child process gets its options from the environment only.
    if user.no_variant:
        set_variable("PIP_NO_VARIANT", "1")
    for variable, words in (
        ("PIP_ENABLE_PROVIDER", target.enabled),
        ("PIP_DISABLE_PROVIDER", target.disabled),
        ("PIP_TRUST_PROVIDER", target.trusted),
    ):
        if words:
            set_variable(variable, " ".join(words))
    if target.target_file is not None:
        set_variable("PIP_VARIANT_TARGET", os.path.abspath(target.target_file))
    return options, target


def _command_options(command: str, values: Any, user: UserConstraints) -> CommandOptions:
    def is_given(*names: str) -> bool:
        return any(getattr(values, name, None) for name in names)

    deprecated = getattr(values, "deprecated_features_enabled", None) or ()
    features = getattr(values, "features_enabled", None) or ()
    in_process = "inprocess-build-deps" in features or BUILD_LABELS in os.environ
    return CommandOptions(
        command=command,
        legacy_resolver="legacy-resolver" in deprecated,
        report=is_given("json_report_file"),
        explains=is_given("explains"),
        installs=command == "install" and not is_given("dry_run"),
        ignores_dependencies=is_given("ignore_dependencies"),
        ignores_installed=is_given("ignore_installed", "target_dir"),
        upgrade_variant=is_given("upgrade_variant") and not user.no_variant,
        upgrade_dependencies=getattr(values, "upgrade_strategy", None) == "eager",
        builds=in_process and not user.no_variant,
        all_variants=is_given("all_variants"),
        lock_files=_has_lock_files(values),
    )


def target_options(values: Any) -> TargetOptions:
    """Return what the options say about the machine that is installed for."""
    trusted = tuple(values.trust_provider)
    if trusted:
        from pipvariant.providers.trust import Trust

        # A word that is none is refused before anything is done.
        Trust(trusted)
    return TargetOptions(
        enabled=tuple(values.enable_provider),
        disabled=tuple(values.disable_provider),
        trusted=trusted,
        target_file=values.variant_target,
        refresh_platform=bool(values.refresh_platform),
        foreign=_is_foreign(values),
        pip_options=values,
    )


def _has_lock_files(values: Any) -> bool:
    """Say whether requirements may come from a ``pylock.toml``; pip looks at the name too."""
    groups = (path for path, _ in getattr(values, "dependency_groups", None) or ())
    sources = (*(getattr(values, "requirements", None) or ()), *groups)
    return any("pylock." in str(source) for source in sources)


def _is_foreign(values: Any) -> bool:
    """Say whether the files are for another machine than the one that pip runs on."""
    if any(getattr(values, name, None) for name in ("platforms", "abis", "implementation")):
        return True
    wanted = tuple(getattr(values, "python_version", None) or ())
    return wanted != sys.version_info[: len(wanted)]
