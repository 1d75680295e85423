"""What is recorded beside an installed project, and its line in RECORD."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pipvariant.shim.finding.installed import RECORDED
from pipvariant.shim.run import Run


@pytest.mark.parametrize("shipped", ((), (RECORDED,)))
def test_record_has_one_line_of_it_even_if_the_wheel_ships_one(
    run: Run, tmp_path: Path, shipped: tuple[str, ...]
) -> None:
    info = tmp_path / "tri-1.0.dist-info"
    info.mkdir()
    for name in ("INSTALLER", *shipped):
        (info / name).write_text("of the wheel")
    run.parts.recorder.metadata_to_record["tri"] = b"recorded"
    paths = [f"{info.name}/{name}" for name in shipped]
    rows = import_module("pip._internal.operations.install.wheel").get_csv_rows_for_installed(
        [[path, "sha256=old", "12"] for path in paths],
        installed={path: path for path in paths},
        changed=set(),
        generated=[str(info / "INSTALLER")],
        lib_dir=str(tmp_path),
    )
    assert (info / RECORDED).read_bytes() == b"recorded"
    (row,) = [row for row in rows if row[0].endswith(RECORDED)]
    assert "old" not in row[1]
    assert str(row[2]) == "8"
