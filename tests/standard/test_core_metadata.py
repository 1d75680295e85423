"""Requirements of a METADATA file are rewritten, every other byte stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipvariant.standard.core_metadata import rewrite_requirements

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


@pytest.mark.parametrize("ending", ("\n", "\r\n"))
def test_the_line_ending_stays(ending: str) -> None:
    text = f"Name: tri{ending}Requires-Dist: a{ending}{ending}text{ending}"
    expected = text.replace(": a", ": b")
    assert rewrite_requirements(text.encode(), lambda _: "b") == expected.encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    (
        (b"Name: tri\n", b"Name: tri\nRequires-Dist: new\n"),
        (b"Name: tri", b"Name: tri\nRequires-Dist: new\n"),
        (b"Name: tri\n\ntext", b"Name: tri\nRequires-Dist: new\n\ntext"),
    ),
)
def test_more_requirements_stand_before_the_description(text: bytes, expected: bytes) -> None:
    assert rewrite_requirements(text, lambda text: text, ["new"]) == expected


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_what_is_not_rewritten_keeps_its_bytes(data: bytes) -> None:
    assert rewrite_requirements(data, lambda text: text) == data
