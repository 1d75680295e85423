"""What is written when a wheel is installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pip._internal.operations.install.wheel import ZipBackedFile

from pipvariant.shim.run import Run

CORE = b"Metadata-Version: 2.1\nName: a\nVersion: 1.0\nRequires-Dist: b; variant_label == ''\n"


def test_metadata_of_a_vendored_project_is_not_rewritten(run: Run, tmp_path: Path) -> None:
    targets = {"a-1.0.dist-info/METADATA": "own", "a/_vendor/b-1.0.dist-info/METADATA": "other"}
    with zipfile.ZipFile(tmp_path / "a-1.0-py3-none-any.whl", "w") as archive:
        for path, target in targets.items():
            archive.writestr(path, CORE)
            ZipBackedFile(path, str(tmp_path / target), archive).save()
    assert (tmp_path / "own").read_bytes() == CORE.replace(b"; variant_label == ''", b"")
    assert (tmp_path / "other").read_bytes() == CORE
