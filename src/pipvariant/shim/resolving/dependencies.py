"""Dependencies: variant markers are decided before pip, or any later tool, reads them.

A requirement such as ``nvidia-cublas; "nvidia" in variant_namespaces`` is reduced for the
chosen wheel (PEP 825, environment markers) wherever pip takes metadata from: a wheel, a
separate ``.metadata`` file, an installed project. What is written into the environment is
reduced too, with its hash in RECORD, because tools that do not know these markers read it
later: plain pip crashes on them or takes the project for broken.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import pip_error, unsupported_wheel
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.filenames import is_variant_wheel
from pipvariant.wheelfile.core_metadata import one_line, rewrite_requirements

if TYPE_CHECKING:
    from pipvariant.shim.core.state import CommandOptions, UserConstraints
    from pipvariant.shim.finding.index import IndexState
    from pipvariant.shim.resolving.again import Resolution
    from pipvariant.shim.resolving.marker_context import Context, MarkerContexts
    from pipvariant.standard.properties import Properties

INSTALL = "pip._internal.operations.install.wheel"
PKG_RESOURCES = "pip._internal.metadata.pkg_resources"
#: In every one of the four markers; a text without it has none of them.
MARK = "variant_"


@dataclass(eq=False)
class Requirements(State):
    """Reduces the requirements of wheels and of installed projects."""

    _options: CommandOptions
    user: UserConstraints
    _index: IndexState
    contexts: MarkerContexts
    resolution: Resolution
    #: (feature, values) of ``abi_dependency`` -> the requirement that they stand for.
    _built_for: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    def reduce(self, requirement: str, context: Context) -> str | None:
        """Reduce one requirement; ``context`` is asked only when it has a variant marker.

        :returns: None when the requirement does not apply to the wheel.
        :raises UnsupportedWheel: pip's, when a variant marker has no meaning.
        """
        if MARK not in requirement:
            return requirement
        from pipvariant.standard.markers import reduce_requirement

        try:
            return reduce_requirement(requirement, context())
        except PipVariantError as error:
            raise unsupported_wheel(str(error)) from error

    def rewrite(self, data: bytes, context: Context, *, is_variant: bool) -> bytes:
        """Reduce the requirements of a wheel's metadata file.

        What a wheel was built for (``abi_dependency``) is added, for the resolver to see to it.
        """
        more = self._abi_dependencies(context().properties) if is_variant else []
        if not more and MARK.encode() not in data:
            return data
        return rewrite_requirements(data, lambda text: self.reduce(text, context), more)

    def rewrite_message(self, message: Any, context: Context) -> Any:
        """Reduce the requirements of an installed project's metadata, in place.

        What has no meaning stays as it is, for pip to take offence at where it needs it.
        """
        texts = message.get_all("Requires-Dist") or []
        if any(MARK in text for text in texts):
            del message["Requires-Dist"]
            for text in texts:
                reduced: str | None = text
                with contextlib.suppress(pip_error("UnsupportedWheel")):
                    reduced = self.reduce(one_line(text), context)
                if reduced is not None:
                    message["Requires-Dist"] = reduced
        return message

    def holds_variant(self, archive: Any, path: str) -> bool:
        """Say whether a wheel is a variant wheel; ``path`` is that of its METADATA."""
        name = _name(archive)
        if name.endswith(".whl"):
            return is_variant_wheel(name)
        # Of a wheel that is read in parts only what is inside is known here.
        return not self.user.no_variant and _has_variant_json(archive, path)

    def abi_dependencies_on_named(self, link: Any) -> list[str]:
        """Return what a chosen wheel was built for, of the projects that are asked for."""
        decided, named = self.contexts.decisions.of_link(link), self.resolution.named
        if decided is None:
            return []
        properties = decided.decision.properties(decided.file)
        return self._abi_dependencies(properties, lambda project: project in named)

    def _abi_dependencies(
        self, properties: Properties, is_meant: Callable[[str], bool] = bool
    ) -> list[str]:
        """Return requirements for what was built for some projects.

        :param is_meant: says of a canonical project name whether it is one of them.
        """
        from pipvariant.standard.abi_dependency import preferred
        from pipvariant.standard.metadata import ABI_DEPENDENCY

        return [
            self._abi_dependency(name, preferred(values, None))
            for name, values in properties.get(ABI_DEPENDENCY, {}).items()
            if is_meant(name.replace("_", "-"))
        ]

    def _abi_dependency(self, name: str, values: tuple[str, ...]) -> str:
        """Return one requirement for some values, the same one throughout a run."""
        from pipvariant.standard.abi_dependency import abi_requirement, needs_versions

        known = self._built_for.get((name, values))
        if known is None:
            versions, finder, project = None, self._index.finder, name.replace("_", "-")
            resolved = not self._options.ignores_dependencies or project in self.resolution.named
            # Only values that lie far apart need to know the versions, which costs a page.
            if resolved and finder is not None and needs_versions(values):
                found = finder.find_all_candidates(project)
                versions = [str(candidate.version) for candidate in found]
            known = self._built_for[name, values] = abi_requirement(name, values, versions)
        return known


def patches(pip: Pip, options: CommandOptions, requirements: Requirements) -> list[Patch]:
    """Patch the metadata backend that this pip uses, and what it writes when it installs."""
    backend = import_module("pip._internal.metadata").select_backend().Distribution.__module__
    found: list[tuple[str, Callable[..., Any], Callable[..., bool]]] = [
        (f"{backend}:read_wheel_metadata_file", _read_wheel_metadata_file, _prove_wheel),
        (f"{backend}:Distribution._metadata_impl", _metadata_impl, _prove_installed),
    ]
    if options.installs:
        found.append((f"{INSTALL}:ZipBackedFile.save", _save, _prove_save))
    if pip.has_metadata_files:
        target = f"{backend}:Distribution.from_metadata_file_contents"
        found.append((target, _from_metadata_file_contents, _prove_file))
    if backend == PKG_RESOURCES:
        # This backend parses requirements of installed projects by itself.
        target = "pip._vendor.pkg_resources:DistInfoDistribution._parsed_pkg_info"
        found.append((target, _parsed_pkg_info, _prove_parsed))
    return [patch(*each, requirements) for each in found]


def _is_metadata(path: str) -> bool:
    """Say whether a path is that of a wheel's METADATA, not of a project that is vendored in it."""
    return path.endswith(".dist-info/METADATA") and path.count("/") == 1


def _name(archive: Any) -> str:
    return os.path.basename(archive.filename or "")


def _has_variant_json(archive: Any, path: str) -> bool:
    with contextlib.suppress(KeyError):
        archive.getinfo(f"{os.path.dirname(path)}/variant.json")
        return True
    return False


# The patches.


def _read_wheel_metadata_file(
    requirements: Requirements, original: Any, /, source: Any, path: str
) -> bytes:
    data: bytes = original(source, path)
    if not _is_metadata(path):
        return data
    if not requirements.user.no_variant:
        _refuse_unnamed(source, path)
    return _rewrite(requirements, data, source, path)


def _rewrite(requirements: Requirements, data: bytes, archive: Any, path: str) -> bytes:
    context = requirements.contexts.of_archive(archive, path)
    return requirements.rewrite(data, context, is_variant=requirements.holds_variant(archive, path))


def _refuse_unnamed(archive: Any, path: str) -> None:
    """Refuse a variant wheel whose filename has no label: nothing has judged it."""
    name = _name(archive)
    if name.endswith(".whl") and not is_variant_wheel(name) and _has_variant_json(archive, path):
        raise unsupported_wheel(
            f"{name} has a variant.json inside but no label in its name. With --no-variant it is "
            "taken for an ordinary wheel."
        )


def _from_metadata_file_contents(
    requirements: Requirements,
    original: Any,
    /,
    cls: Any,
    metadata_contents: bytes,
    filename: str,
    *args: Any,
    **kwargs: Any,
) -> Any:
    context, is_variant = requirements.contexts.of_filename(filename), is_variant_wheel(filename)
    data = requirements.rewrite(metadata_contents, context, is_variant=is_variant)
    return original(cls, data, filename, *args, **kwargs)


def _metadata_impl(requirements: Requirements, original: Any, /, self: Any) -> Any:
    context = requirements.contexts.of_installed(self.read_text)
    return requirements.rewrite_message(original(self), context)


def _parsed_pkg_info(requirements: Requirements, original: Any, /, self: Any) -> Any:
    context = requirements.contexts.of_installed(lambda path: str(self.get_metadata(path)))
    return requirements.rewrite_message(original(self), context)


def _save(requirements: Requirements, original: Any, /, self: Any) -> None:
    original(self)
    if not _is_metadata(self.src_record_path):
        return
    with open(self.dest_path, "rb") as stream:
        data = stream.read()
    reduced = _rewrite(requirements, data, self._zip_file, self.src_record_path)
    if reduced != data:
        with open(self.dest_path, "wb") as stream:
            stream.write(reduced)
        # pip then hashes the file again for RECORD.
        self.changed = True


# Proofs: a requirement with a marker comes out of pip's own reading as the stand-in says.


TEXT = f"{samples.METADATA}Requires-Dist: variant_proof\n"
REDUCED = ["reduced"]


def _reduced(requirement: str, context: Context) -> str:
    return "reduced"


def _installed(requirements: Requirements) -> Any:
    """Return an installed project with a marker in its metadata, which is not reduced yet."""
    with aside(requirements, reduce=lambda text, context: text):
        return samples.distribution(requirements.user, TEXT)


def _prove_wheel(requirements: Requirements) -> bool:
    with aside(requirements, reduce=_reduced):
        distribution = samples.read_wheel(samples.archive(TEXT))
    return "Requires-Dist: reduced\n" in str(distribution.read_text("METADATA"))


def _prove_file(requirements: Requirements) -> bool:
    def see(requirement: str, context: Context) -> str:
        raise samples.Reached

    # What pip makes of the text costs it a folder, so it is stopped before.
    read: Any = import_module("pip._internal.metadata").get_metadata_distribution
    with aside(requirements, reduce=see), contextlib.suppress(samples.Reached):
        read(TEXT.encode(), "proof-1.0-py3-none-any.whl", samples.NAME)
        return False
    return True


def _prove_installed(requirements: Requirements) -> bool:
    distribution = _installed(requirements)
    with aside(requirements, reduce=_reduced):
        return bool(distribution.metadata.get_all("Requires-Dist") == REDUCED)


def _prove_parsed(requirements: Requirements) -> bool:
    distribution = _installed(requirements)
    with aside(requirements, reduce=_reduced):
        return [str(requirement) for requirement in distribution.iter_dependencies()] == REDUCED


def _prove_save(requirements: Requirements) -> bool:
    file_class: Any = import_module(INSTALL).ZipBackedFile
    descriptor, target = tempfile.mkstemp()
    os.close(descriptor)
    try:
        file = file_class("proof-1.0.dist-info/METADATA", target, samples.archive(TEXT))
        with aside(requirements, reduce=_reduced):
            file.save()
        with open(target, "rb") as saved:
            return bool(file.changed) and b"Requires-Dist: reduced\n" in saved.read()
    finally:
        os.remove(target)
