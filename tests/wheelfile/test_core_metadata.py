"""METADATA is read as Python's email parser does; what is not rewritten keeps its bytes."""

from __future__ import annotations

import email
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipvariant.wheelfile.core_metadata import field_values, rewrite_requirements

TEXT = (
    b"Metadata-Version: 2.1\n"
    b"Name: tri\n"
    b"Requires-Dist: one\n"
    b"Summary: about\n"
    b"  Requires-Dist: no field\n"
    b"requires-dist: two;\n"
    b"   python_version > '3'\n"
    b"\n"
    b"Requires-Dist: in the description\n"
)


def test_only_requirements_are_rewritten_and_folded_ones_are_unfolded() -> None:
    seen = []

    def rewrite(text: str) -> str | None:
        seen.append(text)
        return None if text == "one" else "changed"

    assert rewrite_requirements(TEXT, rewrite) == (
        b"Metadata-Version: 2.1\n"
        b"Name: tri\n"
        b"Summary: about\n"
        b"  Requires-Dist: no field\n"
        b"requires-dist: changed\n"
        b"\n"
        b"Requires-Dist: in the description\n"
    )
    assert seen == ["one", "two; python_version > '3'"]


@pytest.mark.parametrize(
    "field",
    (
        "License: two paragraphs\n        \n        the second\n         \t\n",
        "License: a form feed\n        \x0c\n        and vertical tabs \x0b\n",
        "Description: a text\n        |\n        |Requires-Dist: no field\n",
        "Author: Ren\u00e9 \u2028 line separator \x85 next line\n\t\u3000\n",
        "Summary: in Latin-1, \udce4\n",
        "Keywords: group \x1d record \x1e unit \x1f\n",
        "Summary:\n  on the second line\n",
        "UNKNOWN:\n:no name\n",
    ),
)
@pytest.mark.parametrize("ending", ("\n", "\r\n", "\r"))
def test_all_fields_after_an_odd_one_are_fields(field: str, ending: str) -> None:
    lines = f"Name: tri\n{field}Requires-Dist: old\n\ntext\n\nRequires-Dist: in the text\n"
    data = lines.replace("\n", ending).encode("utf-8", "surrogateescape")
    assert field_values(data, "requires-dist") == ["old"]
    expected = data.replace(b": old", f": b{ending}Requires-Dist: c".encode())
    assert rewrite_requirements(data, lambda _: "b", ["c"]) == expected


def test_a_requirement_that_is_not_utf_8_can_be_rewritten() -> None:
    data = b"X: y\nRequires-Dist: X\xff\nX: z\n"
    assert field_values(data, "requires-dist") == ["X\ufffd"]
    expected = b"X: y\nRequires-Dist: X\xffX\nX: z\n"
    assert rewrite_requirements(data, lambda text: f"{text}X") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    (
        (b"Name: tri\n", b"Name: tri\nRequires-Dist: new\n"),
        (b"Name: tri", b"Name: tri\nRequires-Dist: new\n"),
        (b"Name: tri\n\ntext", b"Name: tri\nRequires-Dist: new\n\ntext"),
        (b"Name: tri\nno colon\n", b"Name: tri\nRequires-Dist: new\nno colon\n"),
        (b"", b"Requires-Dist: new\n"),
    ),
)
def test_more_requirements_stand_before_the_description(text: bytes, expected: bytes) -> None:
    assert rewrite_requirements(text, lambda text: text, ["new"]) == expected


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_what_is_not_rewritten_keeps_its_bytes(data: bytes) -> None:
    assert rewrite_requirements(data, lambda text: text) == data


# Held against the parser itself.

BEGINNINGS = (
    *(b"Requires-Dist:", b"Requires-Dist: ", b"rEQUIRES-dIST:\t", b"Requires-Dist : ", b"Name: "),
    *(
        b" ",
        b"\t \t",
        b"",
        b"",
        b":",
        b"From ",
        b"From: ",
        b" Requires-Dist:",
        b"\xef\xbb\xbfName:",
    ),
    *(b"Requires-Dist: from ", b"Requires-Dist:\t"),
)
MIDDLES = (
    *(b"", b"", b"a", b"b >=1; c ", b"two  blanks", b" ", b"From ", b"Requires-Dist: d"),
    *(b"\x0b", b"\x0c", b"\x1c", b"\x1f", b"\xc2\x85", b"\xe2\x80\xa8", b"\xff", b"\0"),
)
ENDINGS = (b"\n", b"\n", b"\r\n", b"\r\n", b"\r", b"\r\r\n", b"\n\r", b"")


def _read(data: bytes) -> tuple[list[tuple[str, str]], object]:
    message = email.message_from_bytes(data)
    return list(message.raw_items()), (message.get_payload(), message.get_unixfrom())


@settings(max_examples=1_000, deadline=None)
@given(st.binary(min_size=250, max_size=250))
def test_reading_and_rewriting_agree_with_the_email_parser(drawn: bytes) -> None:
    # Ten files of up to twelve lines each: a draw takes longer than what is done with it.
    for start in range(0, 250, 25):
        count = drawn[start] % 13
        _check(drawn[start + 1 : start + 1 + count], drawn[start + 13 : start + 13 + count])


def _check(lines: bytes, texts: bytes) -> None:
    data = b"".join(
        BEGINNINGS[one % 16] + MIDDLES[two % 16] + ENDINGS[one // 16 % 8]
        for one, two in zip(lines, texts)
    )
    fields, rest = _read(data)
    values = [value for name, value in fields if name.lower() == "requires-dist"]
    unfolded = [re.sub(r"[ \t]*[\r\n][ \t\r\n]*", " ", value).strip(" \t") for value in values]
    raw = [line.encode("ascii", "surrogateescape") for line in unfolded]
    assert field_values(data, "Requires-Dist") == [line.decode("utf-8", "replace") for line in raw]
    assert rewrite_requirements(data, lambda text: text) == data

    old = [line.decode("utf-8", "surrogateescape") for line in raw]
    new = [(text, None, "new")[byte // 16 % 3] for text, byte in zip(old, texts)]
    seen: list[str] = []

    def rewrite(text: str) -> str | None:
        seen.append(text)
        return new[len(seen) - 1]

    more = ["more"][: len(lines) % 2]
    rewritten = rewrite_requirements(data, rewrite, more)
    assert seen == old
    pairs = iter(zip(old, new))
    expected = []
    for name, value in fields:
        before, after = next(pairs) if name.lower() == "requires-dist" else ("", "")
        if after is not None:
            expected.append((name, value if after == before else after))
    expected += [("Requires-Dist", text) for text in more]
    assert _read(rewritten) == (expected, rest)
