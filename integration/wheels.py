"""Tiny valid wheels and sdists, made from a few words: the same words give the same bytes.

Nothing here comes from the project under test, so that a fault of its writers cannot hide
one of its readers.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

__all__ = [
    "NVIDIA",
    "PROVIDERS",
    "SCHEMA",
    "Sdist",
    "Wheel",
    "cuda",
    "metadata",
    "padded",
    "release",
    "tri",
]

SCHEMA = "https://variants-schema.wheelnext.dev/v0.2.0.json"
NVIDIA: Mapping[str, Any] = {
    "requires": ["nvidia-variant-provider"],
    "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
}
# The providers that a wheel names when its maker says nothing else, most preferred first.
PROVIDERS: Mapping[str, Mapping[str, Any]] = {"nvidia": NVIDIA}
EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Wheel:
    """One wheel; with a label it is a variant wheel and carries its own variant.json.

    :param properties: texts such as ``nvidia :: cuda_version_lower_bound :: 12.8``.
    :param providers: the ``providers`` object, most preferred namespace first.
    :param schema: the ``$schema`` that its metadata names.
    :param modules: more modules of the wheel, name to source.
    :param headers: more lines of METADATA, before its requirements.
    :param entry_points: the content of ``entry_points.txt``.
    """

    name: str
    version: str = "1.0"
    label: str | None = None
    properties: tuple[str, ...] = ()
    tag: str = "py3-none-any"
    build: str = ""
    requires: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    requires_python: str = ""
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: PROVIDERS)
    schema: str = SCHEMA
    modules: Mapping[str, str] = field(default_factory=dict)
    headers: str = ""
    entry_points: str = ""

    @property
    def stem(self) -> str:
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def filename(self) -> str:
        parts = [self.stem, self.build, self.tag, self.label or ""]
        return "-".join(part for part in parts if part) + ".whl"

    @property
    def metadata_text(self) -> str:
        """What METADATA holds, and what an index serves beside the wheel (PEP 658)."""
        lines = ["Metadata-Version: 2.1", f"Name: {self.name}", f"Version: {self.version}"]
        if self.requires_python:
            lines.append(f"Requires-Python: {self.requires_python}")
        lines += [f"Provides-Extra: {extra}" for extra in self.extras]
        requires = "".join(f"Requires-Dist: {text}\n" for text in self.requires)
        return "\n".join(lines) + f"\n{self.headers}{requires}"

    @property
    def variant(self) -> dict[str, dict[str, list[str]]]:
        """The properties of this wheel as an entry of ``variants``."""
        entry: dict[str, dict[str, list[str]]] = {}
        for text in sorted(self.properties):
            namespace, feature, value = (part.strip() for part in text.split("::"))
            entry.setdefault(namespace, {}).setdefault(feature, []).append(value)
        return entry

    @cached_property
    def content(self) -> bytes:
        info = f"{self.stem}.dist-info"
        module = self.name.replace("-", "_")
        files = {f"{module}.py": f"LABEL = {self.label or ''!r}\nVERSION = {self.version!r}\n"}
        files.update({f"{name}.py": source for name, source in self.modules.items()})
        files[f"{info}/METADATA"] = self.metadata_text
        files[f"{info}/WHEEL"] = "".join(
            ["Wheel-Version: 1.0\nGenerator: integration\nRoot-Is-Purelib: true\n"]
            + [f"Build: {self.build}\n" for _ in self.build[:1]]
            + [f"Tag: {tag}\n" for tag in _expand(self.tag)]
        )
        if self.label is not None:
            files[f"{info}/variant.json"] = json.dumps(metadata([self]), indent=1)
        if self.entry_points:
            files[f"{info}/entry_points.txt"] = self.entry_points
        record = f"{info}/RECORD"
        rows = [f"{name},{_record_hash(text)},{len(text)}" for name, text in files.items()]
        files[record] = "\n".join([*rows, f"{record},,"]) + "\n"
        return _zip(files)


@dataclass(frozen=True)
class Sdist:
    """A source distribution that builds the given wheel, with a backend of its own.

    :param build_requires: what the build needs, as in ``build-system.requires``.
    :param probe: an expression that the build evaluates; the wheel gets a module
        ``built_with`` whose ``FOUND`` is the result.
    """

    wheel: Wheel
    build_requires: tuple[str, ...] = ()
    probe: str = "None"

    @property
    def filename(self) -> str:
        return f"{self.wheel.stem}.tar.gz"

    @property
    def metadata_text(self) -> str:
        return self.wheel.metadata_text

    @cached_property
    def content(self) -> bytes:
        system = (
            f"[build-system]\nrequires = {list(self.build_requires)!r}\n"
            'build-backend = "backend"\nbackend-path = ["."]\n'
        )
        backend = BACKEND.format(name=self.wheel.filename, probe=self.probe)
        files = {
            "PKG-INFO": self.wheel.metadata_text.encode(),
            "pyproject.toml": system.encode(),
            "backend.py": backend.encode(),
            self.wheel.filename: self.wheel.content,
        }
        raw = io.BytesIO()
        # Mode "w:gz" would write the clock into the header of the compressed file.
        with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for name, data in files.items():
                member = tarfile.TarInfo(f"{self.wheel.stem}/{name}")
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return gzip.compress(raw.getvalue(), mtime=0)


BACKEND = """\
import pathlib
import sys
import zipfile

WHEEL = pathlib.Path(__file__).with_name({name!r})


def prepare_metadata_for_build_wheel(directory, config_settings=None):
    with zipfile.ZipFile(WHEEL) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" in name]
        archive.extractall(directory, names)
    return names[0].split("/")[0]


def build_wheel(directory, config_settings=None, metadata_directory=None):
    target = pathlib.Path(directory, WHEEL.name)
    target.write_bytes(WHEEL.read_bytes())
    found = {probe}
    with zipfile.ZipFile(target, "a") as archive:
        archive.writestr("built_with.py", f"FOUND = {{found!r}}\\n")
    return WHEEL.name
"""


def cuda(version: str) -> str:
    """The property that a build for this CUDA version or newer has."""
    return f"nvidia :: cuda_version_lower_bound :: {version}"


def metadata(wheels: Iterable[Wheel]) -> dict[str, Any]:
    """Variant metadata, version 0.2.0, of wheels of one release (PEP 825)."""
    labelled = [wheel for wheel in wheels if wheel.label is not None]
    providers = max((wheel.providers for wheel in labelled), key=len)
    return {
        "$schema": labelled[0].schema,
        "default-priorities": {"namespace": list(providers)},
        "providers": {namespace: dict(entry) for namespace, entry in providers.items()},
        "variants": {str(wheel.label): wheel.variant for wheel in labelled},
    }


def release(
    name: str,
    version: str = "1.0",
    labels: Mapping[str, Iterable[str]] | None = None,
    *,
    plain: bool = True,
    **same: Any,
) -> list[Wheel]:
    """The wheels of one release: one for each label, and a non-variant one.

    :param labels: label to property texts.
    :param same: fields that all its wheels share.
    """
    base = Wheel(name, version, **same)
    wheels = [
        replace(base, label=label, properties=tuple(properties))
        for label, properties in (labels or {}).items()
    ]
    return [*wheels, base] if plain else wheels


def padded(wheel: Wheel, megabytes: int) -> bytes:
    """The content of a wheel that is bigger by so much."""
    raw = io.BytesIO(wheel.content)
    with zipfile.ZipFile(raw, "a") as archive:
        archive.writestr("bulk.bin", bytes(megabytes << 20))
    return raw.getvalue()


def tri(
    version: str = "1.0",
    builds: Iterable[str] = ("12.6", "12.8", "13.0"),
    *,
    name: str = "tri",
    null: bool = True,
    plain: bool = True,
    **same: Any,
) -> list[Wheel]:
    """A release with a build for each of some CUDA versions, null, and a non-variant wheel."""
    labels: dict[str, tuple[str, ...]] = {f"cuda{build}": (cuda(build),) for build in builds}
    if null:
        labels["null"] = ()
    return release(name, version, labels, plain=plain, **same)


def _expand(tag: str) -> list[str]:
    python, abi, platform = (part.split(".") for part in tag.split("-"))
    return [f"{one}-{two}-{three}" for one in python for two in abi for three in platform]


def _record_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256=" + base64.urlsafe_b64encode(digest).decode().rstrip("=")


def _zip(files: Mapping[str, str]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)
    return raw.getvalue()
