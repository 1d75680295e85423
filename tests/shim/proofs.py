"""What becomes of the proofs of patches that are not on."""

from __future__ import annotations

from collections.abc import Iterable

from pipvariant.shim.core.patches import Patch

__all__ = ["proven"]


def proven(patches: Iterable[Patch]) -> list[str]:
    """The targets of those that are proven; how a proof fails otherwise is pip's own affair."""
    return [patch.target for patch in patches if _is_proven(patch)]


def _is_proven(patch: Patch) -> bool:
    try:
        return patch.prove()
    except Exception:  # noqa: BLE001 - pip's own affair, see above
        return False
