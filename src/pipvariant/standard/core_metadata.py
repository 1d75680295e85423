"""Core metadata (``METADATA``): requirements rewritten, every other byte as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

__all__ = ["rewrite_requirements"]

_FIELD = "requires-dist:"


def rewrite_requirements(
    data: bytes, rewrite: Callable[[str], str | None], more: Sequence[str] = ()
) -> bytes:
    """Rewrite each ``Requires-Dist`` of a core metadata file.

    :param data: the file; its description and all other fields come back untouched.
    :param rewrite: takes a requirement and returns the new one, or None to leave it out.
        A requirement that comes back as it was keeps its very bytes.
    :param more: requirements to add after the last field.
    """
    text = data.decode("utf-8", "surrogateescape")
    parts: list[str] = []
    *fields, description = _fields(text)
    for field in fields:
        if field[: len(_FIELD)].lower() != _FIELD:
            parts.append(field)
            continue
        old = " ".join(field[len(_FIELD) :].split())
        new = rewrite(old)
        if new == old:
            parts.append(field)
        elif new is not None:
            ending = "\r\n" if field.endswith("\r\n") else "\n"
            parts.append(f"{field[: len(_FIELD)]} {new}{ending}")
    if more and parts and not parts[-1].endswith("\n"):
        parts.append("\n")
    parts += [f"Requires-Dist: {requirement}\n" for requirement in more]
    parts.append(description)
    return "".join(parts).encode("utf-8", "surrogateescape")


def _fields(text: str) -> Iterator[str]:
    """Yield each field with its continuation lines, then all that follows, empty or not."""
    lines = text.splitlines(keepends=True)
    field = ""
    for number, line in enumerate(lines):
        if not line.strip():
            yield field
            # The first empty line ends the fields; the description is left alone.
            yield "".join(lines[number:])
            return
        if line[0] in " \t":
            field += line
        else:
            yield field
            field = line
    yield field
    yield ""
