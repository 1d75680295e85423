"""Installed variants: what they are, whether they are compatible, and what ranks before them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from pipvariant.selection.installed import (
    Compatibility,
    Installed,
    advice,
    better_label,
    compatibility,
    upgrade_command,
)
from pipvariant.selection.judging import Judge
from pipvariant.selection.mixed import Mixed, find_mixed
from pipvariant.selection.model import OtherProject
from pipvariant.shim.building.plugin_installer import plugins_of
from pipvariant.shim.core.pip_objects import environment_of
from pipvariant.shim.core.state import CommandOptions, TargetOptions
from pipvariant.shim.finding.index import IndexState
from pipvariant.shim.finding.installed import (
    find_all_installed,
    installed_version,
    read_build,
    read_recorded,
)
from pipvariant.shim.finding.target import make_target
from pipvariant.shim.reporting.mixed_variants import installed_members


class Looked(NamedTuple):
    """What was found out about an installed variant.

    :param better: a label of the same version that ranks before it; empty if there is none, None
        where that cannot be known without asking an index.
    :param command: takes another label; empty where none is wanted, or pip has no such command.
    :param mixed: the mixes that it is part of.
    """

    installed: Installed
    compatibility: Compatibility
    better: str | None
    command: str
    mixed: tuple[Mixed, ...]

    @property
    def advice(self) -> str:
        """What is wrong with the build and what to do about it, empty if nothing is."""
        return advice(self.compatibility, self.better, self.command)


def look(options: TargetOptions, paths: Sequence[str] | None = None) -> list[Looked]:
    """Return the installed variants by name, each judged for the target of these options.

    A non-variant build is among them when there were labels to choose from.

    Only the providers of namespaces in use are asked. An optional one was enabled when the
    variant was installed, so it counts as enabled.

    :param paths: folders to look into instead of the environment.
    :raises InstallationError: pip's, when an override of a probe has an invalid value.
    """
    environment = environment_of(paths or None)
    found = [(each, read_build(each)) for each in find_all_installed(environment)]
    found.sort(key=lambda pair: (pair[1].name.lower(), pair[1].version))
    providers = {name for _, each in found if each.metadata for name in each.metadata.providers}
    judge = _judge_for(
        dataclasses.replace(options, enabled=(*options.enabled, *providers)), environment
    )
    mixes = find_mixed(installed_members((distribution for distribution, _ in found), read_build))
    in_folders = [each for _, each in found if each.is_in_folder]
    looked = []
    for distribution, installed in found:
        recorded = read_recorded(distribution)
        better = None if recorded is None else better_label(installed, recorded, judge)
        if installed.is_variant or better is not None:
            fits = compatibility(installed, judge)
            wanted = not paths and (better or fits.compatible is False)
            together = in_folders if installed.is_in_folder else (installed,)
            command = upgrade_command(*together) if wanted else ""
            project = distribution.canonical_name
            mixed = tuple(each for each in mixes if project in each.projects)
            looked.append(Looked(installed, fits, better, command, mixed))
    return looked


def _judge_for(options: TargetOptions, environment: Any) -> Judge:
    """Return a judge that resolves nothing: what is in the environment decides.

    It tells no problems, as each variant comes with its own reason.
    """

    def other_project(name: str) -> OtherProject:
        return OtherProject(installed_version(name, environment), is_open=False)

    plugins = functools.partial(plugins_of, options, CommandOptions(), IndexState())
    return Judge(make_target(options, plugins), other_project=other_project)
