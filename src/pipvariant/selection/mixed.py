"""Packages that need each other, and are built for different things: a mix that may break.

Two builds are mixed where one requires the other, both use the namespace of an accelerator, and
for a feature that both have they have no value in common. Both may be compatible with the target
all the same: they are loaded into one process, share one GPU, and bring libraries of different
versions. What differs in another namespace, such as the level of the CPU, is no mix: that every
build is compatible is all there is to it.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from typing import NamedTuple

from pipvariant.printable import some
from pipvariant.selection.installed import Installed, upgrade_command
from pipvariant.selection.reasons import ACCELERATORS
from pipvariant.standard.properties import Properties


class Member(NamedTuple):
    """A build that is installed or going to be.

    :param project: its canonical name.
    :param requires: canonical names of what it requires.
    """

    project: str
    version: str
    properties: Properties
    requires: frozenset[str]


class Mixed(NamedTuple):
    """Builds that belong together, of which at least two are mixed in a feature.

    :param namespace: empty where they are builds of torch's family, out of folders of backends.
    """

    namespace: str
    feature: str
    members: tuple[Member, ...]

    @property
    def projects(self) -> tuple[str, ...]:
        """The canonical names, in order."""
        return tuple(member.project for member in self.members)

    @property
    def option(self) -> str:
        """The option with which equal values are taken."""
        return shlex.join(["--same-variant", f"{self.namespace}={','.join(self.projects)}"])

    @property
    def command(self) -> str:
        """The command that takes equal values in the environment."""
        if not self.namespace:
            found = (Installed(each.project, each.version) for each in self.members)
            return upgrade_command(*(each._replace(is_in_folder=True) for each in found))
        return f"pip-variant install {self.option} {shlex.join(self.projects)}"

    @property
    def reason(self) -> str:
        """What is mixed, in words."""
        having = ", ".join(
            f"{member.project} {member.version} has {some(values, joint=' or ')}"
            for member in self.members
            if (values := member.properties[self.namespace].get(self.feature))
        )
        what = f"{self.namespace} :: {self.feature}" if self.namespace else "backends"
        return f"Packages that need each other are built for different {what}: {having}"

    def advice(self, words: str) -> str:
        """Say what is mixed, and what to do: the option or the command."""
        return f"{self.reason}; `{words}` takes equal ones, if there are any"


def properties_to_compare(installed: Installed) -> Properties:
    """Return the properties of an installed build; of one out of a folder, what folder."""
    if installed.is_in_folder:
        return {"": {"backend": (installed.label or "",)}}
    return installed.properties


def is_for_accelerator(properties: Properties) -> bool:
    """Say whether a build has properties of an accelerator."""
    return not {"", *ACCELERATORS}.isdisjoint(properties)


def find_mixed(members: Collection[Member]) -> list[Mixed]:
    """Return what is mixed, each time with all builds that belong together."""
    found = []
    for namespace in ("", *sorted(ACCELERATORS)):
        using = {each.project: each for each in members if namespace in each.properties}
        for together in _connected(using):
            features = sorted({f for each in together for f in each.properties[namespace]})
            for feature in features:
                if any(_differ(one, using, namespace, feature) for one in together):
                    found.append(Mixed(namespace, feature, together))
                    break
    return found


def _differ(one: Member, using: dict[str, Member], namespace: str, feature: str) -> bool:
    """Say whether a build has no value in common with one that it requires."""
    mine = one.properties[namespace].get(feature, ())
    for name in one.requires & using.keys():
        theirs = using[name].properties[namespace].get(feature, ())
        if mine and theirs and set(mine).isdisjoint(theirs):
            return True
    return False


def _connected(members: dict[str, Member]) -> Iterable[tuple[Member, ...]]:
    """Yield the builds that require each other, directly or over others of them."""
    edges: dict[str, set[str]] = {name: set() for name in members}
    for name, member in members.items():
        for other in member.requires & members.keys():
            edges[name].add(other)
            edges[other].add(name)
    left = set(members)
    while left:
        reached, open_ends = set[str](), {min(left)}
        while open_ends:
            reached |= open_ends
            open_ends = {other for name in open_ends for other in edges[name]} - reached
        left -= reached
        yield tuple(members[name] for name in sorted(reached))
