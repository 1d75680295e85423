"""Small files in pip's cache, found by their hash: what has the hash is the file, however old.

They are kept under the hash that a page gives, so whoever gives the same hash means the same bytes.
"""

from __future__ import annotations

from typing import Any

from pipvariant.shim.core.pip_versions import hashes_of

#: Hashes that nobody can make another file for.
STRONG = ("sha512", "sha384", "sha256")


def kept(session: Any, link: Any) -> bytes | None:
    """Return the content that a file had in an earlier run, yet to be checked by its hash.

    :returns: None where there is none, or the source of the link gives no strong hash.
    """
    cache, key = _cache(session), _key(link)
    return cache.get(key) if cache is not None and key else None


def keep(session: Any, link: Any, data: bytes) -> None:
    """Keep the content of a file, which was checked by its hash, if that is a strong one."""
    cache, key = _cache(session), _key(link)
    if cache is not None and key:
        cache.set(key, data)
        # From 23.3 an entry counts when it has two parts.
        if hasattr(cache, "set_body"):
            cache.set_body(key, b"")


def _key(link: Any) -> str:
    hashes = hashes_of(link)
    found = (f"pip-variant:{name}:{hashes[name].lower()}" for name in STRONG if name in hashes)
    return next(found, "")


def _cache(session: Any) -> Any:
    """Return the cache of pip's session, None where it has none."""
    return getattr(session.get_adapter("https://"), "cache", None)
