"""What the variant markers say about a wheel, by where pip has its metadata from.

Each method returns what is to be asked for it, which costs nothing until it is asked.
"""

from __future__ import annotations

import contextlib
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.shim.core.pip_objects import unsupported_wheel
from pipvariant.shim.core.state import State
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.installed import unreadable

if TYPE_CHECKING:
    from pipvariant.selection.judging import Judge
    from pipvariant.shim.resolving.decisions import Decisions
    from pipvariant.standard.markers import VariantContext

Context = Callable[[], "VariantContext"]


@dataclass(eq=False)
class MarkerContexts(State):
    """Says what the variant markers mean; each wheel file is looked into once."""

    judge: Judge
    decisions: Decisions
    _known: dict[str | None, VariantContext] = field(default_factory=dict, init=False)

    def of_archive(self, archive: zipfile.ZipFile, path: str) -> Context:
        """Return what is asked for the context of a wheel.

        Who speaks for its properties its source has said, if that has been asked, as for a
        separate ``.metadata`` file; its own variant.json says it otherwise.

        :param path: of its METADATA.
        """

        def context() -> VariantContext:
            # A file pip installs from is one that it has read before: nothing new is imported.
            known = self._known.get(archive.filename)
            if known is None:
                from pipvariant.wheelfile.dist_info import read_from_archive

                name = os.path.basename(archive.filename or "wheel")
                try:
                    metadata = read_from_archive(archive, None, name)
                except PipVariantError as error:
                    raise unsupported_wheel(f"Variant wheel refused. {error}") from error
                known = self._of_source(metadata, name, path) or self._of_metadata(metadata)
                if archive.filename is not None:
                    self._known[archive.filename] = known
            return known

        return context

    def of_filename(self, filename: str) -> Context:
        """Return what is asked for the context of a wheel that is known by its name only."""

        def context() -> VariantContext:
            from pipvariant.standard.markers import EMPTY, VariantContext

            label = label_in(filename)
            if label is None:
                return EMPTY
            judgement = self.decisions.judgements.get(filename)
            if judgement is None:
                return VariantContext(label)
            return VariantContext(label, judgement.supported_properties(label))

        return context

    def of_installed(self, read_text: Callable[[str], str]) -> Context:
        """Return what is asked for the context of an installed project."""

        def context() -> VariantContext:
            from pipvariant.standard.metadata import read_variant_json

            # Without a variant.json that can be read it counts as a non-variant wheel.
            metadata = None
            with contextlib.suppress(*unreadable()):
                metadata = read_variant_json(read_text("variant.json"), label=None)
            return self._of_metadata(metadata)

        return context

    def _of_source(self, metadata: Any, name: str, path: str) -> VariantContext | None:
        """Return the context of a wheel by what its source says, None if that is not known."""
        if metadata is None:
            return None
        (label,) = metadata.variants
        judgements = self.decisions.judgements
        if not name.endswith(".whl"):
            # Of a wheel that is read in parts the name is not known here.
            head, tail = f"{path.partition('.dist-info/')[0]}-", f"-{label}.whl"
            names = (each for each in judgements if each.startswith(head) and each.endswith(tail))
            name = next(names, "")
        return self.of_filename(name)() if name in judgements else None

    def _of_metadata(self, metadata: Any) -> VariantContext:
        from pipvariant.standard.markers import EMPTY, VariantContext

        if metadata is None:
            return EMPTY
        (label,) = metadata.variants
        judgement = self.judge.judge(metadata, (label,), of=label)
        return VariantContext(label, judgement.supported_properties(label))
