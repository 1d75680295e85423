"""How much of what comes from outside is read; a module of its own, as it is needed first."""

from __future__ import annotations

#: Larger metadata is refused unread; real files have some kilobytes.
MAX_BYTES = 10 * 1024 * 1024
