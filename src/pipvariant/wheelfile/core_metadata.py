"""Core metadata (``METADATA``): fields are read, requirements rewritten, all else keeps its bytes.

What Python's email parser reads is the practical standard of this format (core metadata
specifications), and pip reads with it. It does not say which bytes a field has, so they are found
here by the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_REQUIREMENT = "Requires-Dist"
#: How the lines of fields begin; the first other line, empty or not, ends the fields.
_HEADER = re.compile(rb"From |[!-9;-~]*:|[ \t]")
#: Such a line stands between the messages of a mailbox. As the last one it is of the description.
_SEPARATOR = b"From "


def field_values(data: bytes, name: str) -> list[str]:
    """Return the values of all fields of one name, in one line each.

    :param data: the file. What is not UTF-8 is replaced.
    """
    fields, _ = _split(data)
    return [_value(field, "replace") for field in fields if _is_of(field, name)]


def one_line(value: str) -> str:
    """Return the value of a field in one line, as it was before it was folded."""
    return " ".join(filter(None, (line.strip(" \t") for line in re.split(r"[\r\n]", value))))


def rewrite_requirements(
    data: bytes, rewrite: Callable[[str], str | None], more: Sequence[str] = ()
) -> bytes:
    """Rewrite each ``Requires-Dist`` of a core metadata file.

    :param data: the file; its description and all other fields come back untouched.
    :param rewrite: takes a requirement and returns the new one, or None to leave it out.
        A requirement that comes back as it was keeps its very bytes.
    :param more: requirements to add after the last field.
    """
    fields, description = _split(data)
    is_mailbox = any(text.startswith(_SEPARATOR) for text in (*fields, description))
    parts = list(_rewritten(fields, rewrite, is_mailbox=is_mailbox))
    found = re.search(rb"\r\n?|\n", data)
    ending = found.group() if found else b"\n"
    if more and parts and not _ending(parts[-1]):
        parts.append(ending)
    parts += [_field(_REQUIREMENT.encode(), text, ending) for text in more]
    if parts and parts[-1].endswith(b"\r") and description.startswith(b"\n"):
        # Side by side the two would be one end of a line.
        parts.append(b"\n")
    return b"".join([*parts, description])


def _rewritten(
    fields: Sequence[bytes], rewrite: Callable[[str], str | None], *, is_mailbox: bool
) -> Iterator[bytes]:
    for field in fields:
        if not _is_of(field, _REQUIREMENT):
            yield field
            continue
        old = _value(field, "surrogateescape")
        new = rewrite(old)
        if new == old:
            yield field
        elif new is not None:
            yield _field(field.partition(b":")[0], new, _ending(field))
        elif is_mailbox:
            # No other line may become the first or the last one. One without a name is ignored.
            yield b":" + _ending(field)


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """Return each field with the lines that continue it, and all that follows the fields.

    Lines that are of no field stand among them.
    """
    # Of bytes, unlike text, only CR, LF and CRLF end a line.
    lines = data.splitlines(keepends=True)
    ends = (number for number, line in enumerate(lines) if not _HEADER.match(line))
    end = next(ends, len(lines))
    if end > 1 and lines[end - 1].startswith(_SEPARATOR):
        end -= 1
    starts = [number for number in range(end) if number == 0 or lines[number][:1] not in b" \t"]
    fields = [b"".join(lines[one:two]) for one, two in zip(starts, [*starts[1:], end])]
    return fields, b"".join(lines[end:])


def _is_of(field: bytes, name: str) -> bool:
    return field.partition(b":")[0].lower() == name.lower().encode()


def _value(field: bytes, errors: str) -> str:
    return one_line(field.partition(b":")[2].decode(errors=errors))


def _field(name: bytes, value: str, ending: bytes) -> bytes:
    return name + b": " + value.encode(errors="surrogateescape") + ending


def _ending(field: bytes) -> bytes:
    return field[len(field.rstrip(b"\r\n")) :]
