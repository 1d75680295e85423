"""The example of docs/library.md does what the page says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


def test_the_example_needs_no_pip_and_prints_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [language for language, _ in blocks] == ["json", "toml", "python", "text"]
    (_, metadata), (_, target), (_, example), (_, printed) = blocks
    (tmp_path / "tri-1.0-variants.json").write_text(metadata, encoding="utf-8")
    (tmp_path / "gpu.toml").write_text(target, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pip", None)
    exec(example, {})
    assert capsys.readouterr().out == printed
    assert len(example.splitlines()) <= 20
