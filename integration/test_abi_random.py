"""Random projects with labels built for each other: resolved as a naive resolver would.

The other resolver is resolvelib by itself with a literal provider: each version and label is a
candidate, in the order of the standard. It visits projects in another order than pip, so two
right answers may differ. What is compared is what every right answer has in common: whether
there is one; that the set holds together; the file of the one project that was asked for, which
is decided before all others; and the whole set where every project's first choice goes with
all the others.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest
from packaging.requirements import Requirement
from packaging.version import Version
from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, Resolver

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel

SEED = 4
COUNT = 100
# One run for some worlds spares processes, and for too many it visits their files too often.
BATCHES = 6
VERSIONS = ("1.0", "1.1", "2.0", "2.1.0")
SPECIFIERS = ("", ">=1.1", "<2", ">=2", "!=2.1", "==1.*", "==2.0")
ABI = ("1", "1.0", "1.1", "2", "2.0", "2.0.0", "2.1")
LIBRARIES = ("openblas", "mkl")  # a third, which labels may need, is not supported
PROVIDERS: Mapping[str, Mapping[str, Any]] = {
    "blas": {"static-properties": {"library": list(LIBRARIES)}},
    "abi_dependency": {"builtin": "abi_dependency"},
}
MARKERS = ("", "", "variant_label == 'a'", "'blas' in variant_namespaces", "variant_label == ''")


class Needs(NamedTuple):
    """What a file asks of another project: a specifier, or to have any of some values."""

    name: str
    specifier: str = ""
    values: tuple[str, ...] = ()

    def allows(self, version: str) -> bool:
        if self.values:
            return any(_has(version, value) for value in self.values)
        return version in Requirement(f"x{self.specifier}").specifier


def _has(version: str, value: str) -> bool:
    components = value.split(".")
    return [*version.split("."), "0", "0"][: len(components)] == components


@dataclass(frozen=True)
class File:
    """A wheel, and what the resolver is to know of it."""

    wheel: Wheel

    @property
    def name(self) -> str:
        return self.wheel.name

    @property
    def version(self) -> str:
        return self.wheel.version

    @property
    def label(self) -> str:
        return self.wheel.label or ""

    @cached_property
    def abi(self) -> dict[str, tuple[str, ...]]:
        return {k: tuple(v) for k, v in self.wheel.variant.get("abi_dependency", {}).items()}

    @cached_property
    def libraries(self) -> list[str]:
        return self.wheel.variant.get("blas", {}).get("library", [])

    @property
    def fits(self) -> bool:
        return not self.libraries or any(one in LIBRARIES for one in self.libraries)

    @cached_property
    def needs(self) -> list[Needs]:
        found = [Needs(name, values=values) for name, values in self.abi.items()]
        for text in self.wheel.requires:
            requirement, _, marker = text.partition("; ")
            holds = {
                "": True,
                MARKERS[2]: self.label == "a",
                MARKERS[3]: bool(self.libraries),
                MARKERS[4]: not self.label,
            }[marker]
            if holds:
                parsed = Requirement(requirement)
                found.append(Needs(parsed.name, str(parsed.specifier)))
        return found


@dataclass(frozen=True)
class World:
    """Some projects, the one that is asked for first, and what is installed before."""

    projects: Mapping[str, Sequence[File]]
    installed: Mapping[str, File] = field(default_factory=dict)

    @property
    def root(self) -> str:
        return next(iter(self.projects))

    def candidates(self, name: str) -> list[File]:
        """All files of a project that fit, best first."""
        files = [file for file in self.projects[name] if file.fits]
        ranked = sorted(files, key=lambda file: self._place(file, files))
        ranked.sort(key=lambda file: Version(file.version), reverse=True)
        there = self.installed.get(name)
        if there is None:
            return ranked
        # What is installed comes first, and stands for its version.
        return [there, *(file for file in ranked if file.version != there.version)]

    def _place(self, file: File, files: Sequence[File]) -> Any:
        """The place of a label among those of its version; the non-variant wheel is last."""
        best = [LIBRARIES.index(one) for one in file.libraries if one in LIBRARIES]
        positions = [(0, 0, min(best))] if best else []
        peers = [peer for peer in files if peer.version == file.version]
        features = sorted({name for peer in peers for name in peer.abi})
        for name, values in file.abi.items():
            wanted = {value for peer in peers for value in peer.abi.get(name, ())}
            order = sorted(wanted, key=lambda text: [*map(int, text.split("."))], reverse=True)
            if name in self.installed:
                order.sort(key=lambda text: not _has(self.installed[name].version, text))
            positions.append((1, features.index(name), min(map(order.index, values))))
        # Of two lists that begin alike, the longer is better.
        return not file.label, [*sorted(positions), (9, 9, 9)], file.label

    def first_choices(self) -> dict[str, File]:
        """The best file of each project that these files need, whether they go together or not."""
        firsts = {name: self.candidates(name)[:1] for name in self.projects}
        return self._closure({name: files[0] for name, files in firsts.items() if files})

    def closure(self, files: Mapping[str, File]) -> dict[str, File]:
        """What the project that is asked for needs, out of these."""
        return self._closure({**self.installed, **files})

    def _closure(self, files: Mapping[str, File]) -> dict[str, File]:
        found: dict[str, File] = {}
        names = [self.root]
        while names:
            name = names.pop()
            if name in files and name not in found:
                found[name] = files[name]
                names += [need.name for need in files[name].needs]
        return found


def faults(files: Mapping[str, File]) -> list[str]:
    """What does not hold together in a set of files."""
    return [
        f"{file.wheel.filename} needs {need}"
        for file in files.values()
        for need in file.needs
        if need.name not in files or not need.allows(files[need.name].version)
    ]


class Naive(AbstractProvider):  # type: ignore[type-arg]  # generic in the newest release only
    """The literal provider; projects are decided in the order of their discovery."""

    def __init__(self, world: World) -> None:
        self._world = world

    def identify(self, requirement_or_candidate: Any) -> str:
        return str(requirement_or_candidate.name)

    def get_preference(self, identifier: Any, resolutions: Any, *others: Any, **more: Any) -> int:
        return 0

    def find_matches(self, identifier: Any, requirements: Any, incompatibilities: Any) -> Any:
        needs = list(requirements[identifier])
        bad = list(incompatibilities[identifier])
        return [
            file
            for file in self._world.candidates(identifier)
            if file not in bad and all(need.allows(file.version) for need in needs)
        ]

    def is_satisfied_by(self, requirement: Any, candidate: Any) -> bool:
        return bool(requirement.allows(candidate.version))

    def get_dependencies(self, candidate: Any) -> Any:
        return candidate.needs


def solve(world: World) -> Mapping[str, File] | None:
    resolver: Any = Resolver(Naive(world), BaseReporter())
    try:
        mapping: Mapping[str, File] = resolver.resolve([Needs(world.root)], 5000).mapping
    except ResolutionImpossible:
        return None
    return mapping


# The worlds.


def make(seed: int, count: int) -> list[World]:
    """The same seed gives the same worlds; no two of them share a project."""
    return [_world(random.Random(f"{seed}-{number}"), f"w{number}") for number in range(count)]


def _world(rng: random.Random, prefix: str) -> World:
    names = [f"{prefix}{letter}" for letter in "abcdef"[: rng.randint(3, 6)]]
    projects = {
        name: [
            File(wheel)
            for version in rng.sample(VERSIONS, rng.randint(1, 4))
            # Only later ones: resolvelib, by itself and in pip, does not get out of some circles.
            for wheel in _release(rng, name, version, names[names.index(name) + 1 :])
        ]
        for name in names
    }
    installed: dict[str, File] = {}
    if rng.random() < 0.4:
        for name in rng.sample(names[1:], rng.randint(1, 2)):
            installed[name] = rng.choice(
                [f for f in projects[name] if f.fits and not f.abi] or [File(Wheel(name, "1.0"))]
            )
    return World(projects, installed)


def _release(rng: random.Random, name: str, version: str, others: list[str]) -> list[Wheel]:
    def some(most: int) -> list[str]:
        return rng.sample(others, min(rng.randint(0, most), len(others)))

    requires = []
    for other in some(2):
        marker = rng.choice(MARKERS)
        requires.append(f"{other}{rng.choice(SPECIFIERS)}{marker and '; '}{marker}")
    wheels = [
        Wheel(
            name,
            version,
            label,
            properties=(
                *(
                    f"blas :: library :: {library}"
                    for library in rng.sample((*LIBRARIES, "other"), rng.choice((0, 0, 1, 1, 2)))
                ),
                *(
                    f"abi_dependency :: {other} :: {value}"
                    for other in some(2)
                    for value in rng.sample(ABI, rng.choice((1, 1, 2, 3)))
                ),
            ),
            requires=tuple(requires),
            providers=PROVIDERS,
        )
        for label in "abcd"[: rng.randint(0, 4)]
    ]
    wheels = [wheel for wheel in wheels if wheel.properties]
    if not wheels or rng.random() < 0.3:
        wheels.append(Wheel(name, version, requires=tuple(requires)))
    return wheels


WORLDS = make(SEED, COUNT)
SOLUTIONS = [(world, solve(world)) for world in WORLDS]


@pytest.fixture
def index() -> Iterator[Index]:
    """All worlds, with metadata files."""
    with Index(metadata_files=True) as server:
        for world in WORLDS:
            for files in world.projects.values():
                server.add(*(file.wheel for file in files))
        yield server


@pytest.fixture
def pip(pip: Pip) -> Pip:
    """An environment that holds what each world has installed before."""
    for world in WORLDS:
        for file in world.installed.values():
            info = pip.site / f"{file.wheel.stem}.dist-info"
            info.mkdir()
            needs = [f"Requires-Dist: {need.name}{need.specifier}\n" for need in file.needs]
            text = f"Metadata-Version: 2.1\nName: {file.name}\nVersion: {file.version}\n"
            (info / "METADATA").write_text("".join([text, *needs]))
            (info / "INSTALLER").write_text("pip\n")
            (info / "RECORD").write_text(f"{info.name}/METADATA,,\n")
    return pip


def resolved(pip: Pip, *worlds: World) -> dict[str, File] | None:
    """What pip-variant would install; None if it finds that nothing goes together."""
    quiet = ("install", "--dry-run", "--quiet", "--report", "-")
    result = pip.variant(*quiet, *(world.root for world in worlds))
    if result.code:
        assert result.lines_with("ResolutionImpossible") or result.lines_with("No matching"), (
            result.output
        )
        return None
    by_filename = {
        file.wheel.filename: file
        for world in worlds
        for files in world.projects.values()
        for file in files
    }
    urls = [str(entry["download_info"]["url"]) for entry in json.loads(result.stdout)["install"]]
    taken = [by_filename[unquote(url.rpartition("/")[2])] for url in urls]
    return {file.name: file for file in taken}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_what_can_be_resolved_is_resolved_and_holds_together(pip: Pip, batch: int) -> None:
    solved = [(world, mapping) for world, mapping in SOLUTIONS if mapping is not None]
    part = solved[batch::BATCHES]
    taken = resolved(pip, *(world for world, _ in part))
    assert taken is not None
    for world, mapping in part:
        ours = world.closure({name: taken[name] for name in world.projects if name in taken})
        assert faults(ours) == []
        assert ours[world.root] == mapping[world.root]
        first_choices = world.first_choices()
        if not faults(first_choices):
            assert ours == first_choices


def test_what_cannot_be_resolved_is_an_error(pip: Pip) -> None:
    for world, mapping in SOLUTIONS:
        if mapping is None:
            assert resolved(pip, world) is None, world


def test_the_worlds_are_of_every_kind() -> None:
    solved = [(world, mapping) for world, mapping in SOLUTIONS if mapping is not None]
    assert 5 <= COUNT - len(solved) < COUNT / 3
    assert sum(bool(faults(world.first_choices())) for world, _ in solved) > COUNT / 10
    assert sum(not faults(world.first_choices()) for world, _ in solved) > COUNT / 10
    assert sum(bool(world.installed) for world, _ in solved) > COUNT / 10
    assert sum(any(f.abi for f in mapping.values()) for _, mapping in solved) > COUNT / 4
    assert all(not faults(mapping) for _, mapping in solved)
