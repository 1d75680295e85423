"""What a wheel on the disk says about itself, against what was said of it before."""

from __future__ import annotations

import json
import zipfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.installing.wheel_check import check
from pipvariant.shim.resolving.selector import Outcome, judge
from pipvariant.standard.metadata import from_dict


def _metadata(value: str) -> dict[str, Any]:
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["a", "b"]}}},
        "variants": {"x": {"blas": {"library": [value]}}},
    }


@pytest.mark.parametrize("inside", ("a", "b"))
def test_a_wheel_is_what_its_index_said_or_is_refused(
    run: Run, tmp_path: Path, inside: str
) -> None:
    filename = "tri-1.0-py3-none-any-x.whl"
    with zipfile.ZipFile(tmp_path / filename, "w") as archive:
        archive.writestr("tri-1.0.dist-info/variant.json", json.dumps(_metadata(inside)))
    link = import_module("pip._internal.models.link").Link(f"https://files.invalid/{filename}")
    said = judge(run, from_dict(_metadata("a")), ("x",), of="tri 1.0")
    run.outcomes[link.url] = Outcome("tri", "1.0", {source_of(link): said})
    wheel = SimpleNamespace(name="tri", link=link, local_file_path=str(tmp_path / filename))
    if inside == "a":
        check(run, wheel)
        return
    refused: Any = import_module("pip._internal.exceptions").UnsupportedWheel
    words = "properties blas :: library :: b; the index said blas :: library :: a"
    with pytest.raises(refused, match=words):
        check(run, wheel)
