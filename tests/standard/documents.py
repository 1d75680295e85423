"""Small metadata documents that the tests of this folder start from."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from pipvariant.errors import InvalidMetadata
from pipvariant.standard.metadata import read_variants_json

URL = "https://variants-schema.wheelnext.dev/v0.2.0.json"

Document = dict[str, Any]
Change = Callable[[Document], object]

#: Stands for a value that a change takes away.
REMOVED = object()


def nvidia() -> Document:
    """Two CUDA labels and the null variant, in format 0.2.0."""
    return {
        "$schema": URL,
        "default-priorities": {"namespace": ["nvidia"]},
        "providers": {"nvidia": {"requires": ["nvidia-variant-provider>=0.0.1"]}},
        "variants": {
            "cu126": {"nvidia": {"cuda_version_lower_bound": ["12.6"]}},
            "cu128": {"nvidia": {"cuda_version_lower_bound": ["12.8"]}},
            "null": {},
        },
    }


def blas() -> Document:
    """BLAS builds by static properties, in format 0.2.0."""
    return {
        "$schema": URL,
        "default-priorities": {"namespace": ["blas_lapack"]},
        "providers": {
            "blas_lapack": {
                "static-properties": {"library": ["openblas", "mkl"], "threads": ["openmp"]},
                "feature-order": ["threads", "library"],
            }
        },
        "variants": {
            "mkl": {"blas_lapack": {"library": ["mkl"]}},
            "openblas": {"blas_lapack": {"library": ["openblas"]}},
        },
    }


def older() -> Document:
    """Everything that only the older formats have."""
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json",
        "default-priorities": {
            "namespace": ["x86_64", "blas"],
            "feature": {"x86_64": ["avx2"]},
            "property": {"x86_64": {"level": ["v2", "v1"]}},
        },
        "providers": {
            "x86_64": {
                "requires": ["provider-variant-x86-64; python_version >= '3.9'"],
                "plugin-api": "provider_variant_x86_64.plugin : X8664Plugin",
                "enable-if": "platform_machine == 'x86_64'",
            },
            "blas": {"requires": [], "install-time": False},
        },
        "static-properties": {"blas": {"library": ["mkl", "openblas"]}},
        "variants": {
            "v3": {"x86_64": {"level": ["v3"]}},
            "mkl": {"blas": {"library": ["mkl"]}},
        },
    }


def text(document: Document) -> str:
    """The document as JSON."""
    return json.dumps(document)


def put(*path: object, to: object) -> Change:
    """Return a change that puts a value at a path, or takes away what is there."""

    def change(document: Any) -> None:
        for key in path[:-1]:
            document = document[key]
        if to is REMOVED:
            del document[path[-1]]
        else:
            document[path[-1]] = to

    return change


def changed(document: Document, change: Change) -> str:
    """Return the document after a change, as JSON."""
    document = copy.deepcopy(document)
    change(document)
    return text(document)


def faults_of(data: bytes | str) -> list[tuple[str, str]]:
    """Read what is no good, and return its faults."""
    with pytest.raises(InvalidMetadata) as caught:
        read_variants_json(data, where="https://example.org/a-1-variants.json")
    assert caught.value.where == "https://example.org/a-1-variants.json"
    assert str(caught.value).startswith("https://example.org/a-1-variants.json: ")
    return list(caught.value.faults)
