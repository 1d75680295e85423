"""TOML is bounded before it is parsed."""

from __future__ import annotations

import pytest

from pipvariant.standard.toml import parse_toml


@pytest.mark.parametrize(
    ("text", "fault"),
    (
        ("x = ", "is not TOML: "),
        ("x = " + "9" * 5000, "is not TOML: Exceeds the limit"),
        ("x = " + "[" * 10_000, "is not TOML: "),
        ("x = [" + "1," * 50_000 + "]", "has more than 50,000 values"),
        ("[[a]]\n" * 25_001, "has more than 50,000 values"),
        ("[t]\n" + "x = {}\n" * 25_000, "has more than 50,000 values"),
        ("a" + ".a" * 101 + " = 1", "has a key of more than 100 parts"),
        ("x = 1\n[a" + ".a" * 101 + "]", "has a key of more than 100 parts"),
    ),
)
def test_what_cannot_be_parsed_is_said(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{fault}"):
        parse_toml(text)


def test_what_stands_in_strings_is_no_key_and_no_value() -> None:
    texts = ("1." * 200, "[" * 50_001, "=" * 50_001)
    document = parse_toml("".join(f"a{n} = '{text}'\n" for n, text in enumerate(texts)))
    assert tuple(document.values()) == texts
    assert parse_toml('x = "\\"' + "1." * 200 + '"') == {"x": '"' + "1." * 200}
    assert len(parse_toml("x = [" + "1," * 49_998 + "]")["x"]) == 49_998
