"""What lines of a requirements file say about variants becomes preferences once."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from pip._internal.req import req_file

from pipvariant.standard import preferences
from tests.shim.finder import Start


@pytest.mark.parametrize("nested", (False, True))
def test_each_word_of_a_long_file_is_looked_at_twice(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nested: bool
) -> None:
    for name in ("PIP_VARIANT", "PIP_PREFER_VARIANT"):
        monkeypatch.setenv(name, "")
    user = start(command="install").user
    user.words = {"variant": ["p1=given"]}
    looked_at: list[str] = []
    original = preferences.read_preferences

    def read(**words: Any) -> Any:
        looked_at.extend(word for listed in words.values() for word in listed)
        return original(**words)

    monkeypatch.setattr(preferences, "read_preferences", read)
    lines = [f"# pip-variant: --variant p{number}=a" for number in range(100)]
    lines += [f"# pip-variant: --prefer-variant n{number}" for number in range(100)]
    files = {"in.txt": lines, "out.txt": ["-r in.txt"]}
    for name, content in files.items():
        (tmp_path / name).write_text("\n".join(content))
    path = str(tmp_path / ("out.txt" if nested else "in.txt"))
    assert list(req_file.parse_requirements(path, session=None)) == []
    # Once for the faults of its line, once for the whole.
    assert len(looked_at) == 2 * 200 + 1
    found = user.preferences
    assert found is not None
    assert found.labels == {f"p{number}": "given" if number == 1 else "a" for number in range(100)}
    assert found.preferred == tuple((f"n{number}",) for number in range(100))
    assert os.environ["PIP_VARIANT"].endswith("p99=a p1=given")
