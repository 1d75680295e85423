"""Entries of lock files, and the marks of tests that only some pips are for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pipvariant.shim.core.pip_versions import this_pip

__all__ = [
    "LABELS",
    "PIP",
    "SDIST",
    "TABLE",
    "make_package",
    "make_table",
    "make_wheel",
    "reads",
    "writes",
]

PIP = this_pip()
TABLE = "variants-json"
LABELS = {"x": ["a"], "y": ["b"], "null": [], "z": ["d"]}
SDIST = {
    "name": "tri-1.0.tar.gz",
    "url": "https://files.invalid/tri-1.0.tar.gz",
    "hashes": {"sha256": "0" * 64},
}

reads = pytest.mark.skipif(not PIP.reads_locks, reason="26.1 is the first pip to read lock files")
writes = pytest.mark.skipif(PIP.version < (25, 1), reason="`lock` is new in pip 25.1")


def make_table(labels: Mapping[str, list[str]]) -> dict[str, Any]:
    """Metadata in which `blas :: library` supports b, then a, then c."""
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["b", "a", "c"]}}},
        "variants": {
            label: {"blas": {"library": values}} if values else {}
            for label, values in labels.items()
        },
    }


def make_wheel(tail: str, digest: str = "0" * 64, where: str = "https://files.invalid") -> Any:
    name = f"tri-1.0-{tail}.whl"
    return {"name": name, "url": f"{where}/{name}", "hashes": {"sha256": digest}}


def make_package(*tails: str, **more: Any) -> dict[str, Any]:
    return {"name": "tri", "version": "1.0", "wheels": [make_wheel(tail) for tail in tails], **more}
