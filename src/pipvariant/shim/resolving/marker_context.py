"""What the variant markers say about a wheel, by where pip has its metadata from.

Each function returns what is to be asked for it, which costs nothing until it is asked.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core.state import Run
from pipvariant.standard.filename import split_label

if TYPE_CHECKING:
    from pipvariant.standard.markers import VariantContext

__all__ = ["Context", "of_archive", "of_filename", "of_installed", "unsupported"]

Context = Callable[[], "VariantContext"]


def of_archive(run: Run, archive: zipfile.ZipFile) -> Context:
    """Return what is asked for the context of a wheel: its own variant.json says it."""

    def context() -> VariantContext:
        # A file pip installs from is one that it has read before: nothing new is imported.
        known = run.contexts.get(archive.filename)
        if known is None:
            from pipvariant.shim.finding.metadata import ARCHIVE_ERRORS, read_from_archive

            name = os.path.basename(archive.filename or "wheel")
            try:
                metadata = read_from_archive(archive, None, name)
            # An error of the reader is a ValueError too, so it is among these.
            except ARCHIVE_ERRORS as error:
                raise unsupported(f"Variant wheel refused. {error}") from error
            known = _context(run, metadata)
            if archive.filename is not None:
                run.contexts[archive.filename] = known
        return known

    return context


def of_filename(run: Run, filename: str) -> Context:
    """Return what is asked for the context of a wheel that is known by its name only so far."""

    def context() -> VariantContext:
        from pipvariant.standard.markers import EMPTY, VariantContext

        label = split_label(filename)[1]
        if label is None:
            return EMPTY
        judgement = run.judgements.get(filename)
        if judgement is None:
            return VariantContext(label)
        return VariantContext(label, judgement.supported_properties(label))

    return context


def of_installed(run: Run, read_text: Callable[[str], str]) -> Context:
    """Return what is asked for the context of an installed project."""

    def context() -> VariantContext:
        from pipvariant.standard.metadata import read_variant_json

        # Without a variant.json that can be read it counts as a non-variant wheel.
        unreadable = import_module("pip._internal.exceptions").NoneMetadataError
        metadata = None
        with contextlib.suppress(OSError, KeyError, ValueError, unreadable):
            metadata = read_variant_json(read_text("variant.json"), label=None)
        return _context(run, metadata)

    return context


def _context(run: Run, metadata: Any) -> VariantContext:
    from pipvariant.shim.resolving.selector import judge
    from pipvariant.standard.markers import EMPTY, VariantContext

    if metadata is None:
        return EMPTY
    (label,) = metadata.variants
    judgement = judge(run, metadata, (label,), of=label)
    return VariantContext(label, judgement.supported_properties(label))


def unsupported(text: str) -> Exception:
    """Return pip's error for a wheel that it cannot install."""
    error: Exception = import_module("pip._internal.exceptions").UnsupportedWheel(text)
    return error
