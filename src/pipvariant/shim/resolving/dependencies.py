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
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import InvalidFilename, PipVariantError
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.resolving.marker_context import (
    Context,
    of_archive,
    of_filename,
    of_installed,
    unsupported,
)
from pipvariant.standard.core_metadata import one_line, rewrite_requirements
from pipvariant.standard.filename import split_label

if TYPE_CHECKING:
    from pipvariant.standard.markers import VariantContext

__all__ = ["patches", "reduce"]

INSTALL = "pip._internal.operations.install.wheel"
IMPORTLIB = "pip._internal.metadata.importlib._dists"
PKG_RESOURCES = "pip._internal.metadata.pkg_resources"
#: In every one of the four markers; a text without it has none of them.
MARK = "variant_"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the metadata backend that this pip uses, and what it writes when it installs."""
    backend = import_module("pip._internal.metadata").select_backend().Distribution.__module__
    found = [
        Patch(
            f"{backend}:read_wheel_metadata_file",
            lambda original: _read_wheel_metadata_file(run, original),
            lambda: _prove_wheel(run),
        ),
        Patch(
            f"{backend}:Distribution._metadata_impl",
            lambda original: _metadata_impl(run, original),
            lambda: _prove_installed(run),
        ),
    ]
    if run.installs:
        found.append(
            Patch(
                f"{INSTALL}:ZipBackedFile.save",
                lambda original: _save(run, original),
                lambda: _prove_save(run),
            )
        )
    if pip.has_metadata_files:
        found.append(
            Patch(
                f"{backend}:Distribution.from_metadata_file_contents",
                lambda original: _from_metadata_file_contents(run, original),
                lambda: _prove_file(run),
            )
        )
    if backend == PKG_RESOURCES:
        # This backend parses requirements of installed projects by itself.
        found.append(
            Patch(
                "pip._vendor.pkg_resources:DistInfoDistribution._parsed_pkg_info",
                lambda original: _parsed_pkg_info(run, original),
                lambda: _prove_parsed(run),
            )
        )
    return found


def reduce(run: Run, requirement: str, context: Context) -> str | None:
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
        raise unsupported(str(error)) from error


def _rewrite(run: Run, data: bytes, context: Context, *, is_variant: bool) -> bytes:
    """Reduce the requirements of a wheel's metadata file.

    What a wheel was built for (``abi_dependency``) is added, for the resolver to see to it.
    """
    more = _built_for(run, context()) if is_variant else []
    if not more and MARK.encode() not in data:
        return data
    return rewrite_requirements(data, lambda text: run.reduce(text, context), more)


def _is_metadata(path: str) -> bool:
    """Say whether a path is that of a wheel's METADATA, not of a project that is vendored in it."""
    return path.endswith(".dist-info/METADATA") and path.count("/") == 1


def _is_variant(filename: str) -> bool:
    with contextlib.suppress(InvalidFilename):
        return split_label(filename)[1] is not None
    return False


def _holds_variant(run: Run, archive: Any, path: str) -> bool:
    """Say whether a wheel is a variant wheel; ``path`` is that of its METADATA."""
    name = _name(archive)
    if name.endswith(".whl"):
        return _is_variant(name)
    # Of a wheel that is read in parts only what is inside is known here.
    return not run.no_variant and _has_variant_json(archive, path)


def _name(archive: Any) -> str:
    return os.path.basename(archive.filename or "")


def _has_variant_json(archive: Any, path: str) -> bool:
    with contextlib.suppress(KeyError):
        archive.getinfo(f"{os.path.dirname(path)}/variant.json")
        return True
    return False


def _built_for(run: Run, context: VariantContext) -> list[str]:
    from pipvariant.standard.abi_dependency import preferred
    from pipvariant.standard.metadata import ABI_DEPENDENCY

    features = context.properties.get(ABI_DEPENDENCY, {})
    return [_requirement(run, name, preferred(values, None)) for name, values in features.items()]


def _requirement(run: Run, name: str, values: tuple[str, ...]) -> str:
    """Return one requirement for some values, the same one throughout a run."""
    from pipvariant.standard.abi_dependency import abi_requirement

    known = run.built_for.get((name, values))
    if known is None:
        versions = None
        # Only values that lie far apart need to know the versions, which costs a page.
        far_apart = len({value.rpartition(".")[0] for value in values}) > 1
        if far_apart and run.finder is not None and not run.ignores_dependencies:
            found = run.finder.find_all_candidates(name.replace("_", "-"))
            versions = [str(candidate.version) for candidate in found]
        known = run.built_for[name, values] = abi_requirement(name, values, versions)
    return known


def _rewrite_message(run: Run, message: Any, context: Context) -> Any:
    """Reduce the requirements of a parsed metadata file, in place."""
    texts = message.get_all("Requires-Dist") or []
    if any(MARK in text for text in texts):
        del message["Requires-Dist"]
        for text in texts:
            reduced = run.reduce(one_line(text), context)
            if reduced is not None:
                message["Requires-Dist"] = reduced
    return message


# The patches.


def _read_wheel_metadata_file(run: Run, original: Any) -> Any:
    def read_wheel_metadata_file(source: Any, path: str) -> bytes:
        data: bytes = original(source, path)
        if _is_metadata(path):
            if not run.no_variant:
                _refuse_unnamed(source, path)
            is_variant = _holds_variant(run, source, path)
            return _rewrite(run, data, of_archive(run, source), is_variant=is_variant)
        return data

    return read_wheel_metadata_file


def _refuse_unnamed(archive: Any, path: str) -> None:
    """Refuse a variant wheel whose filename has no label: nothing has judged it."""
    name = _name(archive)
    if name.endswith(".whl") and not _is_variant(name) and _has_variant_json(archive, path):
        raise unsupported(
            f"{name} has a variant.json inside but no label in its name. With --no-variant it is "
            "taken for an ordinary wheel."
        )


def _from_metadata_file_contents(run: Run, original: Any) -> Any:
    def from_metadata_file_contents(
        cls: Any, metadata_contents: bytes, filename: str, *args: Any, **kwargs: Any
    ) -> Any:
        context, is_variant = of_filename(run, filename), _is_variant(filename)
        data = _rewrite(run, metadata_contents, context, is_variant=is_variant)
        return original.__get__(None, cls)(data, filename, *args, **kwargs)

    return classmethod(from_metadata_file_contents)


def _metadata_impl(run: Run, original: Any) -> Any:
    def _metadata_impl(self: Any) -> Any:
        return _rewrite_message(run, original(self), of_installed(run, self.read_text))

    return _metadata_impl


def _parsed_pkg_info(run: Run, original: Any) -> Any:
    def _parsed_pkg_info(self: Any) -> Any:
        def read_text(path: str) -> str:
            return str(self.get_metadata(path))

        return _rewrite_message(run, original.fget(self), of_installed(run, read_text))

    return property(_parsed_pkg_info)


def _save(run: Run, original: Any) -> Any:
    def save(self: Any) -> None:
        original(self)
        if not _is_metadata(self.src_record_path):
            return
        with open(self.dest_path, "rb") as stream:
            data = stream.read()
        archive = self._zip_file
        is_variant = _holds_variant(run, archive, self.src_record_path)
        reduced = _rewrite(run, data, of_archive(run, archive), is_variant=is_variant)
        if reduced != data:
            with open(self.dest_path, "wb") as stream:
                stream.write(reduced)
            # pip then hashes the file again for RECORD.
            self.changed = True

    return save


# Proofs: a requirement with a marker comes out of pip's own reading as the stand-in says.


TEXT = f"{samples.METADATA}Requires-Dist: variant_proof\n"
REDUCED = ["reduced"]


def _reduced(requirement: str, context: Context) -> str:
    return "reduced"


def _required(distribution: Any) -> list[str]:
    return [str(requirement) for requirement in distribution.iter_dependencies()]


def _prove_wheel(run: Run) -> bool:
    with samples.apart(run, reduce=_reduced):
        distribution = samples.read_wheel(samples.archive(TEXT))
    return "Requires-Dist: reduced\n" in str(distribution.read_text("METADATA"))


def _prove_file(run: Run) -> bool:
    class Seen(Exception):
        pass

    def see(requirement: str, context: Context) -> str:
        raise Seen

    # What pip makes of the text costs it a folder, so it is stopped before.
    read: Any = import_module("pip._internal.metadata").get_metadata_distribution
    with samples.apart(run, reduce=see), contextlib.suppress(Seen):
        read(TEXT.encode(), "proof-1.0-py3-none-any.whl", samples.NAME)
        return False
    return True


def _prove_installed(run: Run) -> bool:
    distribution = samples.distribution(run, TEXT)
    with samples.apart(run, reduce=_reduced):
        return bool(distribution.metadata.get_all("Requires-Dist") == REDUCED)


def _prove_parsed(run: Run) -> bool:
    distribution = samples.distribution(run, TEXT)
    with samples.apart(run, reduce=_reduced):
        return _required(distribution) == REDUCED


def _prove_save(run: Run) -> bool:
    file_class: Any = import_module(INSTALL).ZipBackedFile
    descriptor, target = tempfile.mkstemp()
    os.close(descriptor)
    try:
        file = file_class("proof-1.0.dist-info/METADATA", target, samples.archive(TEXT))
        with samples.apart(run, reduce=_reduced):
            file.save()
        with open(target, "rb") as saved:
            return bool(file.changed) and b"Requires-Dist: reduced\n" in saved.read()
    finally:
        os.remove(target)
