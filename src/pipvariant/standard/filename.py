"""Wheel filenames with a variant label, and the names of variants.json files."""

from __future__ import annotations

import re

from pipvariant.errors import InvalidFilename
from pipvariant.standard.bounds import has_long_number

NULL_LABEL = "null"

_DASHES = 4  # name, version, python tag, abi tag, platform tag
_BUILD_TAG = 2  # the place of a build tag among the parts
_LABEL_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz_."
# Compiled when they are first used: every installation imports this module.
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_SEPARATORS = r"[-_.]+"
_VARIANTS_JSON = (
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)"
    r"-(?P<version>[A-Za-z0-9.!+_]+)-variants\.json"
)


def check_label(label: str, *, where: str = "") -> str:
    """Return *label* if the standard allows it (PEP 825, section "Variant label").

    :raises InvalidFilename: it is empty or has a character outside ``a-z 0-9 _ .``.
    """
    if not label or label.strip(_LABEL_CHARACTERS):
        raise InvalidFilename(
            f"{label!r} is not a variant label",
            where=where,
            remedy="A label has lower case letters, digits, underscores and dots only.",
        )
    return label


def split_label(filename: str) -> tuple[str, str | None]:
    """Split a wheel filename into its name without a label, and the label.

    The label is ``None``, and the name untouched, for a non-variant wheel and for
    everything that is not a wheel filename. A build tag starts with a digit and a python
    tag never does, which tells six parts apart (PEP 825, section "Extended wheel filename").

    :raises InvalidFilename: there is a label part, and the standard does not allow it, or a number
        is too long to be one.
    """
    dashes = filename.count("-")
    if dashes - _DASHES not in {1, 2} or not filename.endswith(".whl"):
        return filename, None
    parts = filename[: -len(".whl")].split("-")
    has_build_tag = parts[_BUILD_TAG][:1].isdigit()
    if dashes != _DASHES + 1 + has_build_tag:
        return filename, None
    label = check_label(parts.pop(), where=filename)
    plain = "-".join(parts) + ".whl"
    if has_long_number(plain):
        raise InvalidFilename("has a number that is too long", where=f"{plain[:60]}...")
    return plain, label


def join_label(filename: str, label: str) -> str:
    """Return the filename of the variant wheel of a non-variant wheel.

    The inverse of :func:`split_label` (PEP 825, section "Extended wheel filename").

    :raises InvalidFilename: *filename* is not the filename of a non-variant wheel, or *label* is
        not a label.
    """
    parts = filename[: -len(".whl")].split("-") if filename.endswith(".whl") else []
    has_build_tag = len(parts) > _BUILD_TAG and parts[_BUILD_TAG][:1].isdigit()
    if len(parts) != _DASHES + 1 + has_build_tag or not all(parts):
        raise InvalidFilename(f"{filename!r} is not the filename of a non-variant wheel")
    return "-".join([*parts, check_label(label)]) + ".whl"


def label_phrase(label: str | None, non_variant: str = "non-variant wheel") -> str:
    """Call a wheel by its label in a message.

    :param non_variant: the words for ``None``.
    """
    if label is None:
        return non_variant
    return "null variant" if label == NULL_LABEL else f"variant {label}"


def variants_json_name(name: str, version: str) -> str:
    """Return the name of the index-level metadata file of one version of a project.

    Both parts are normalised as in wheel filenames (PEP 825, section "Index-level metadata").

    :raises InvalidFilename: *name* is not a project name, or *version* not a version.
    """
    from packaging.version import Version

    if re.fullmatch(_NAME, name) is None:
        raise InvalidFilename(f"{name!r} is not a project name")
    try:
        normalised = str(Version(version))
    except ValueError:  # InvalidVersion, or more digits than Python converts
        raise InvalidFilename(f"{version!r} is not a version", where=name) from None
    return f"{re.sub(_SEPARATORS, '_', name).lower()}-{normalised}-variants.json"


def parse_variants_json_name(filename: str) -> tuple[str, str] | None:
    """Return project name (normalised, ``a-b``) and version (as written) of a metadata file.

    ``None`` when *filename* is not ``{name}-{version}-variants.json`` (PEP 825, section
    "Index-level metadata").
    """
    match = re.fullmatch(_VARIANTS_JSON, filename)
    if match is None or has_long_number(filename):
        return None
    return re.sub(_SEPARATORS, "-", match["name"]).lower(), match["version"]
