"""What the resolver is given of a page: each version as always, each file looked at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pipvariant.shim.core import samples
from pipvariant.shim.finding import index
from pipvariant.shim.finding.filenames import split_once
from pipvariant.standard import filename
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import Properties
from tests.shim.finder import Start

FILES = [
    f"proof-1.{version}-py3-none-any-l{label}.whl" for version in range(10) for label in range(10)
]


def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> Counter[str]:
    """Count the calls of a function by its first argument, a link or a label."""
    counts: Counter[str] = Counter()
    original: Callable[..., Any] = getattr(owner, name)

    def counting(asked: Any, *args: Any, **kwargs: Any) -> Any:
        counts[kwargs.get("where") or asked.filename] += 1
        return original(asked, *args, **kwargs)

    monkeypatch.setattr(owner, name, counting)
    return counts


def test_label_source_and_hashes_of_a_file_are_worked_out_once(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    split_once.cache_clear()
    parts = start(command="install").parts
    variants: dict[str, Properties] = {f"l{label}": {} for label in range(10)}
    monkeypatch.setattr(parts.metadata, "metadata", lambda files: Metadata((), variants=variants))
    labels = _counted(monkeypatch, filename, "check_label")
    sources = _counted(monkeypatch, index, "source_of")
    allowed = _counted(monkeypatch, index, "is_allowed")
    finder = samples.finder(*FILES)
    requirement = samples.requirement(hash_options={"sha256": ["0" * 64]})
    found = list(iter(samples.matches(samples.factory(finder), requirement)))
    assert [link.filename for link in found] == [
        f"proof-1.{n}-py3-none-any-l0.whl" for n in range(9, -1, -1)
    ]
    once = dict.fromkeys(FILES, 1)
    assert (labels, sources, allowed) == (once, once, once)
