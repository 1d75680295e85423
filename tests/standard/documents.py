"""Small metadata documents that the tests of this folder start from."""

from __future__ import annotations

import json
from typing import Any

URL = "https://variants-schema.wheelnext.dev/v0.2.0.json"

Document = dict[str, Any]


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
