"""What a wheel on the disk says about itself, against what was said of it before."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.selection.model import Decision
from pipvariant.shim.core.pip_objects import make_link, pip_error
from pipvariant.shim.core.state import UserConstraints
from pipvariant.shim.installing.wheel_check import WheelCheck
from pipvariant.shim.resolving.again import ResolveAgain
from pipvariant.standard.metadata import from_dict
from tests.shim.finder import make_parts


def _metadata(value: str) -> dict[str, Any]:
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["a", "b"]}}},
        "variants": {"x": {"blas": {"library": [value]}}},
    }


@pytest.mark.parametrize("inside", ("a", "b"))
def test_a_wheel_is_what_its_index_said_or_is_refused(tmp_path: Path, inside: str) -> None:
    parts, filename = make_parts(), "tri-1.0-py3-none-any-x.whl"
    with zipfile.ZipFile(tmp_path / filename, "w") as archive:
        archive.writestr("tri-1.0.dist-info/variant.json", json.dumps(_metadata(inside)))
    link = make_link(f"https://files.invalid/{filename}")
    file = parts.index.file("tri", "1.0", link)
    said = parts.judge.judge(from_dict(_metadata("a")), ("x",), of="tri 1.0")
    parts.decisions.record(Decision("tri", "1.0", {file.source: said}, (file,)), [file])
    check = WheelCheck(
        UserConstraints(), parts.index, parts.decisions, parts.judge, parts.requirements.resolution
    ).check
    wheel = SimpleNamespace(name="tri", link=link, local_file_path=str(tmp_path / filename))
    if inside == "a":
        check(wheel)
        return
    words = "properties blas :: library :: b; the index said blas :: library :: a"
    with pytest.raises(pip_error("UnsupportedWheel"), match=words):
        check(wheel)
    parts.requirements.resolution.can_restart = True
    with pytest.raises(ResolveAgain, match=words):
        check(wheel)
    assert parts.index.has_found(link) is False
