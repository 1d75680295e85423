"""A pipe or device in the place of a file ends a command with words, and does not hang it."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from pipvariant.commands import index, init, lint, make, platform, unmake
from pipvariant.errors import PipVariantError
from tests.commands.options import parsed
from tests.wheelfile.ordinary import NAME, wheel

VARIANT = NAME.replace("any", "any-mkl")
PROPERTY = ("--property", "x86_64 :: level :: v3")


@pytest.mark.parametrize("kind", ("pipe", "device"))
@pytest.mark.parametrize(
    ("command", "name", "words", "arguments"),
    (
        (make, NAME, PROPERTY, (NAME,)),
        (make, "pyproject.toml", PROPERTY, (NAME,)),
        (make, "other.toml", (*PROPERTY, "--pyproject", "other.toml"), (NAME,)),
        (unmake, VARIANT, (), (VARIANT,)),
        (init, "pyproject.toml", (), ()),
        (platform, "target.toml", ("--variant-target", "target.toml"), ()),
        *((lint, name, (), (name,)) for name in (NAME, VARIANT, "variant.json", "index.html")),
        *((lint, name, (), (".",)) for name in (NAME, VARIANT, "tri-1.0-variants.json", "a.html")),
        *((index, name, (), (".",)) for name in (NAME, VARIANT, "tri-1.0-variants.json")),
        *((index, name, ("--pages",), (".",)) for name in ("tri-1.0.tar.gz", "index.json")),
        (index, f"{NAME}.yanked", ("--pages",), (".",)),
    ),
)
def test_what_is_no_regular_file_is_said_to_be_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    command: object,
    name: str,
    words: tuple[str, ...],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    if name != NAME:
        wheel(tmp_path)
    if kind == "pipe":
        os.mkfifo(name)
    else:
        Path(name).symlink_to(os.devnull)
    function = getattr(command, f"run_{command.__name__.rpartition('.')[2]}")  # type: ignore[attr-defined]  # a module
    out = io.StringIO()
    try:
        assert function(parsed(command, *words), list(arguments), out) == 1
    except PipVariantError as error:
        out.write(str(error))
    assert "is no regular file" in out.getvalue()
