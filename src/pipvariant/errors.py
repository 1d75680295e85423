"""Every error of this project: what is wrong, where, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterable

from pipvariant.printable import printable


class PipVariantError(Exception):
    """The base of every error that this project raises on purpose.

    :param what: what is wrong, as a phrase that names the thing.
    :param where: the file, URL, key or variable where it is wrong.
    :param remedy: what the user can do about it, as a sentence.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.remedy = remedy

    def __str__(self) -> str:
        where, what, remedy = map(printable, (self.where, self.what, self.remedy))
        text = f"{where}: {what}" if where else what
        return f"{text}. {remedy}" if remedy else text


class InvalidFilename(PipVariantError, ValueError):
    """A wheel or variants.json filename that the standard does not allow."""


class InvalidProperty(PipVariantError, ValueError):
    """A variant property, or a part of one, that the standard does not allow."""


class InvalidWheel(PipVariantError, ValueError):
    """A file that is damaged, or is not the wheel that it has to be."""


class InvalidOutput(PipVariantError):
    """A file that cannot be written, or is there already and has other content."""


class InvalidFolder(PipVariantError, ValueError):
    """A folder of wheels with faults: all of them at once.

    :param faults: each names its own file.
    """

    def __init__(self, faults: Iterable[PipVariantError]) -> None:
        self.faults = tuple(faults)
        super().__init__(f"{len(self.faults)} faults")

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class InvalidMarker(PipVariantError, ValueError):
    """A requirement that uses a variant marker in a way that has no meaning."""


class InvalidMetadata(PipVariantError, ValueError):
    """Variant metadata that breaks the standard: all faults of one file at once.

    :param faults: ``(path, message)`` pairs; the path leads to the key, such as
        ``providers.nvidia.requires[0]``, and is empty for the file as a whole.
    """

    def __init__(
        self, faults: Iterable[tuple[str, str]], *, where: str = "", remedy: str = ""
    ) -> None:
        self.faults = tuple(faults)
        what = "; ".join(f"{path}: {text}" if path else text for path, text in self.faults)
        super().__init__(what, where=where, remedy=remedy)


class InvalidTargetFile(InvalidMetadata):
    """A target file that cannot be read, or states what cannot be: all faults at once."""


class ConflictingMetadata(PipVariantError, ValueError):
    """Two pieces of variant metadata that cannot both be true."""


class InvalidOption(PipVariantError, ValueError):
    """Options on the command line that have no meaning together."""


class InvalidOverride(PipVariantError, ValueError):
    """An environment variable that overrides a probe has a value that cannot be."""


class ProbeFailed(PipVariantError):
    """A probe of the machine crashed, hung or answered nonsense."""


class Unreachable(PipVariantError):
    """A file or page of a server that cannot be had."""


class Unread(Unreachable):
    """A file that is there, and too large or too slow to be read."""


class UnsupportedPip(PipVariantError):
    """The pip of this environment is one that the shim does not know how to patch."""


class BrokenInstallation(PipVariantError):
    """A part of pip-variant itself, or of what it needs, is not there or was changed."""
