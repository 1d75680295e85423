"""Variant metadata: read every published format, check, combine, write the newest."""

from __future__ import annotations

from pipvariant.standard._combining import combine
from pipvariant.standard._json import decode_json
from pipvariant.standard._model import ABI_DEPENDENCY, SCHEMA_URL, Metadata, Provider
from pipvariant.standard._reading import from_dict
from pipvariant.standard._writing import to_dict, to_json

__all__ = [
    "ABI_DEPENDENCY",
    "SCHEMA_URL",
    "Metadata",
    "Provider",
    "combine",
    "decode_json",
    "from_dict",
    "read_variant_json",
    "read_variants_json",
    "to_dict",
    "to_json",
]


def read_variants_json(data: bytes | str, *, where: str = "") -> Metadata:
    """Read ``{name}-{version}-variants.json`` (PEP 825, section "Index-level metadata").

    :raises InvalidMetadata: with every fault; no other error, whatever *data* is.
    """
    return from_dict(decode_json(data, where=where), where=where)


def read_variant_json(data: bytes | str, *, label: str | None, where: str = "") -> Metadata:
    """Read ``variant.json`` of one wheel (PEP 825, section "Variant metadata").

    :param label: the label in the wheel's filename, which the metadata must have too; ``None``
        accepts any label.
    :raises InvalidMetadata: with every fault; no other error, whatever *data* is.
    """
    return from_dict(decode_json(data, where=where), where=where, single=True, label=label)
