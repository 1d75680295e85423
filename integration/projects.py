"""Projects made at random from a seed, as plain data: what lies on the index, and who asks.

Nothing here decides which file is right; that is left to `integration.model`.
"""

from __future__ import annotations

import hashlib
import json
import platform
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from integration.documents import broken, good
from integration.index import Index, Reply
from integration.wheels import NVIDIA, Sdist, Wheel

__all__ = ["MACHINES", "File", "Machine", "Project", "Release", "make", "publish"]


@dataclass(frozen=True)
class Machine:
    """Who installs: what is in the machine, and what the user wants.

    :param driver: the CUDA driver, None for none; ``capability``: of its GPU.
    :param enable: optional providers that are on; ``disable``: providers that are off.
    :param pre: pre-releases are welcome.
    """

    name: str
    driver: str | None = None
    capability: str | None = None
    enable: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    pre: bool = False

    @property
    def environ(self) -> dict[str, str]:
        if self.capability is None:
            return {}
        return {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": self.capability}

    @property
    def args(self) -> list[str]:
        pre = ["--pre"] if self.pre else []
        enable = [f"--enable-provider={namespace}" for namespace in self.enable]
        return [*pre, *enable, *(f"--disable-provider={namespace}" for namespace in self.disable)]


MACHINES = (
    Machine("no GPU"),
    Machine("old driver", "11.8", "8.6"),
    Machine("driver without GPU", "12.4", enable=("debug",)),
    Machine("GPU", "12.8", "9.0", enable=("debug", "acme")),
    Machine("new GPU", "13.0", "12.0", disable=("blas",)),
    Machine("adventurous", "12.6", "9.0", enable=("debug",), disable=("x86_64",), pre=True),
)


@dataclass(frozen=True)
class File:
    """A file on a project's page."""

    artefact: Wheel | Sdist
    yanked: bool = False

    @property
    def wheel(self) -> Wheel:
        return self.artefact if isinstance(self.artefact, Wheel) else self.artefact.wheel


@dataclass(frozen=True)
class Release:
    """One version.

    :param files: in no order.
    :param inside: what the wheels say, as one document of format 0.2.0; None without labels.
    :param reply: what is served as variants.json; None when there is no such file.
    :param says: the document in `reply`; None when it is not to be had.
    :param kind: what is special about it, in a word.
    """

    version: str
    files: tuple[File, ...]
    inside: Mapping[str, Any] | None = None
    reply: Reply | None = None
    says: Mapping[str, Any] | None = None
    kind: str = ""


@dataclass(frozen=True)
class Project:
    """A project, and what is asked for: ``specifier`` is the rest of the requirement."""

    name: str
    specifier: str
    releases: tuple[Release, ...]

    @property
    def requirement(self) -> str:
        return self.name + self.specifier


ARCHITECTURE = platform.machine()
VERSIONS = ("0.9", "1.0", "1.0.post1", "1.1", "1.2+local", "2.0.dev3", "2.0rc1", "2.0", "10.0")
LABELS = ("a", "b2", "cuda", "cu128", "gpu.x", "openblas", "x86_64_v1", "0zero", "_")
BUILDS = ("", "", "", "1", "2", "2a", "10")

# What a label may ask for; each feature has values that no machine here supports.
VALUES: Mapping[str, Mapping[str, Sequence[str]]] = {
    "acme": {"speed": ("high",)},
    "blas": {"library": ("mkl", "openblas", "blis", "atlas")},
    "debug": {"assertions": ("on",), "symbols": ("some", "all")},
    "nvidia": {
        "cuda_version_lower_bound": ("11.8", "12", "12.4", "12.6", "12.8", "13.0"),
        "cuda_version_upper_bound": ("12.4", "12.6", "12.8", "13", "14"),
        "sm_arch": ("80_real", "80_virtual", "86_real", "90_real", "90_virtual", "120_real"),
    },
    "simd": {"fma": ("on",), "width": ("512", "256", "128", "1024")},
    # Of the levels and flags, those that every x86-64 CPU has, and some that none has.
    "x86_64": {"level": ("v1", "v9"), "mmx": ("on",), "sse2": ("on",), "tea": ("on",)},
}

X86_64 = {"requires": ["x86-64-variant-provider"]}
# Who answers for a namespace. Listed more than once: more likely.
PROVIDERS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "acme": ({"requires": ["acme-provider"], "plugin-api": "acme:Plugin"}, {"requires": ["acme"]}),
    "blas": (
        {"static-properties": {"library": ["mkl", "openblas", "blis"]}},
        {"static-properties": {"library": ["openblas", "blis", "mkl"]}},
    ),
    "debug": (
        {
            "static-properties": {"assertions": ["on"], "symbols": ["some"]},
            "feature-order": ["symbols", "assertions"],
            "optional": True,
        },
        {
            "static-properties": {"assertions": ["on"], "symbols": ["all", "some"]},
            "feature-order": ["symbols", "assertions"],
        },
    ),
    "nvidia": (
        *(NVIDIA,) * 6,
        {"requires": ["other-provider"]},
        {**NVIDIA, "requires": ["nvidia-variant-provider; python_version < '3'"]},
        {"static-properties": {"sm_arch": ["90_real", "80_real"]}},
    ),
    "simd": (
        {
            "static-properties": {"fma": ["on"], "width": ["512", "256", "128"]},
            "feature-order": ["width", "fma"],
        },
        {
            "static-properties": {"fma": ["on"], "width": ["128", "256", "512"]},
            "feature-order": ["fma", "width"],
        },
    ),
    "x86_64": (X86_64, X86_64, {"static-properties": {"level": ["v9", "v1"]}}),
}


def make(seed: int, count: int, python: str) -> list[Project]:
    """Make projects; the first ones are the same however many are asked for.

    :param python: the python tag of the interpreter, such as ``cp311``.
    """
    return [
        _Maker(random.Random(f"{seed}/{number}"), number, python).project()
        for number in range(count)
    ]


def publish(index: Index, projects: Sequence[Project]) -> None:
    """Put projects on an index, each page in an order of its own."""
    for project in projects:
        files = [(release, file) for release in project.releases for file in release.files]
        random.Random(project.name).shuffle(files)
        for _, file in files:
            index.add(file.artefact, yanked="broken" if file.yanked else None)
        for release in project.releases:
            filename = f"{project.name.replace('-', '_')}-{release.version}-variants.json"
            if release.reply is None:
                index.unlist(filename)
                continue
            index.answer(filename, release.reply)
            if release.kind == "wrong hash":
                index.forge(filename)


class _Maker:
    """Makes one project; every choice is drawn from one generator of numbers."""

    def __init__(self, rng: random.Random, number: int, python: str) -> None:
        self.rng = rng
        self.name = f"project-{number:03}" if rng.random() < 0.5 else f"p{number:03}"
        # Linux and manylinux tags in one project would be ordered differently from pip to pip.
        system = rng.choice(("linux", "manylinux_2_17"))
        self.tags = (
            *("py3-none-any",) * 4,
            f"py3-none-{system}_{ARCHITECTURE}",
            f"{python}-{python}-{system}_{ARCHITECTURE}",
            f"cp37-abi3-{system}_{ARCHITECTURE}",
            "py2.py3-none-any",
            "py3-none-win_amd64",
            "cp27-cp27mu-manylinux1_x86_64",
        )
        # Drawn from a list in which some are more likely than others.
        drawn = rng.sample((*VALUES, "nvidia", "nvidia", "simd"), rng.choice((1, 1, 2, 2, 3, 4)))
        namespaces = list(dict.fromkeys(drawn))
        self.providers = {name: rng.choice(PROVIDERS[name]) for name in namespaces}
        # Labels differ in few features, so that they compete with each other.
        features = [(name, feature) for name in namespaces for feature in VALUES[name]]
        self.features = rng.sample(features, min(len(features), rng.choice((2, 2, 3, 4))))

    def often(self, chance: float) -> bool:
        return self.rng.random() < chance

    def project(self) -> Project:
        versions = self.rng.sample(VERSIONS, self.rng.choice((1, 2, 2, 3, 4)))
        releases = [self.release(version) for version in versions]
        if self.often(0.9):
            releases.append(Release("0.1", (File(Wheel(self.name, "0.1")),)))
        return Project(self.name, self.specifier(versions), tuple(releases))

    def specifier(self, versions: Sequence[str]) -> str:
        version = self.rng.choice(versions)
        public = version.partition("+")[0]
        forms = (
            *("",) * 24,
            f"=={version}",
            f"=={public}",
            f"!={public}",
            f">={public}",
            "<2",
            "<=1.1",
            ">=0.1",
            "~=1.0",
        )
        return self.rng.choice(forms)

    def release(self, version: str) -> Release:
        base = Wheel(self.name, version, providers=self.providers)
        if self.often(0.2):
            base = replace(base, requires_python=self.rng.choice((">=3.6", ">=3.6", ">=99")))
        yanked = self.often(0.08)
        if self.often(0.08):
            return Release(version, self.files(base, yanked=yanked))
        wheels = [
            replace(base, label=label, properties=properties)
            for label, properties in self.labels().items()
        ]
        others = [base] if self.often(0.5) else []
        files = [file for wheel in wheels + others for file in self.files(wheel, yanked=yanked)]
        if self.often(0.08):
            files.append(File(Sdist(base), yanked))
        if self.often(0.05):
            # Not a variant label, so not a wheel at all.
            files.append(File(replace(wheels[0], label="UP"), yanked))
        inside = _inside(self.providers, wheels)
        kind, reply, says = self.document(inside)
        return Release(version, tuple(files), inside, reply, says, kind)

    def labels(self) -> dict[str, tuple[str, ...]]:
        """Labels with their properties, as texts."""
        labels: dict[str, tuple[str, ...]] = {}
        for name in self.rng.sample(LABELS, self.rng.choice((0, 2, 4, 6, 8, 9))):
            properties = self.properties()
            labels[_hash(properties) if self.often(0.2) else name] = properties
        if not labels or self.often(0.4):
            labels["null"] = ()
        return labels

    def properties(self) -> tuple[str, ...]:
        texts = []
        number = min(len(self.features), self.rng.choice((1, 1, 1, 2, 3)))
        for namespace, feature in self.rng.sample(self.features, number):
            values = VALUES[namespace][feature]
            number = min(len(values), self.rng.choice((1, 2, 2, 3)))
            texts += [
                f"{namespace} :: {feature} :: {one}" for one in self.rng.sample(values, number)
            ]
        return tuple(sorted(texts))

    def files(self, wheel: Wheel, *, yanked: bool) -> tuple[File, ...]:
        """Builds of one wheel for several tags and with several build numbers."""
        made: dict[tuple[bool, str, str], File] = {}
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            tag, build = self.rng.choice(self.tags), self.rng.choice(BUILDS)
            one = replace(wheel, tag=tag, build=build)
            if self.often(0.03):
                one = replace(one, requires_python=">=99")
            # Two files that pip likes equally well would be decided by the order of the page.
            key = (True, "", build) if tag.endswith("-none-any") else (False, tag, build)
            made[key] = File(one, yanked or self.often(0.03))
        return tuple(made.values())

    def document(
        self, inside: Mapping[str, Any]
    ) -> tuple[str, Reply | None, Mapping[str, Any] | None]:
        """What is served as variants.json: its kind, the reply, and what it says if anything."""
        if self.often(0.08):
            return "missing", None, None
        if self.often(0.12):
            kind = self.rng.choice(sorted(broken(inside)))
            return kind, broken(inside)[kind], None
        forms: Mapping[str, Callable[..., dict[str, Any]]] = good()
        kind = self.rng.choice([*["0.2.0"] * len(forms), *["oldest"] * 8, *sorted(forms)])
        says = forms[kind](inside, self.rng)
        mark = b"\xef\xbb\xbf" if kind == "byte order mark" else b""
        return kind, Reply(mark + json.dumps(says, indent=1).encode()), says


def _inside(providers: Mapping[str, Mapping[str, Any]], wheels: Sequence[Wheel]) -> dict[str, Any]:
    return {
        "$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
        "default-priorities": {"namespace": list(providers)},
        "providers": {name: dict(entry) for name, entry in providers.items()},
        "variants": {str(wheel.label): wheel.variant for wheel in wheels},
    }


def _hash(properties: Sequence[str]) -> str:
    """The label that the standard gives to properties that nobody named."""
    text = "".join(f"{item}\n" for item in properties)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
