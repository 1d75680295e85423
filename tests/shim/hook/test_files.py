"""The files of the hook: what is written, what RECORD has of it, what is left."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from pkgutil import resolve_name

import pytest

from pipvariant.errors import InvalidOutput
from pipvariant.shim.hook import files, start
from pipvariant.wheelfile import record

PLACES = {"packaging": "/elsewhere"}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of packages of an environment."""
    monkeypatch.setattr(files, "folders", lambda: [tmp_path])
    return tmp_path


def names(site: Path) -> set[str]:
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def test_the_hook_is_in_record_and_is_removed_without_a_trace(site: Path) -> None:
    listed = site / "pip_variant-1.0.dist-info" / "RECORD"
    listed.parent.mkdir()
    before = b"pipvariant/cli.py,,\npip_variant-1.0.dist-info/RECORD,,\n"
    listed.write_bytes(before)
    for _ in range(2):
        files.install(PLACES)
    entries = record.listed(listed.read_bytes())
    hook = names(site) - {"pip_variant-1.0.dist-info/RECORD"}
    assert len(listed.read_bytes().splitlines()) == len(hook) + 2 == 6
    assert hook < entries.keys()
    assert all(not entries[n] or record.matches(entries[n], (site / n).read_bytes()) for n in hook)
    # What it needs is there.
    assert "/elsewhere" not in (site / "_pip_variant_start.py").read_text()
    assert {path.relative_to(site).as_posix() for path in files.remove()} == hook
    assert (names(site), listed.read_bytes()) == ({"pip_variant-1.0.dist-info/RECORD"}, before)


def test_a_hook_without_pip_variant_beside_it_knows_where_that_is(site: Path) -> None:
    files.install(PLACES)
    module: dict[str, object] = {}
    exec((site / "_pip_variant_start.py").read_text(), module)
    assert module["PLACES"] == PLACES
    assert files.installed() == site


def test_a_hook_whose_module_is_gone_warns_when_pip_starts_and_not_before(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files.install({})
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    for _ in range(2):
        exec((site / "pip_variant_hook.pth").read_text())
    found = [type(hook).__name__ == start.PipVariantHook.__name__ for hook in sys.meta_path]
    assert found == [True, *([False] * (len(found) - 1))]
    assert sys.meta_path[0].find_spec("json.nothing", None) is None
    assert capsys.readouterr().err == ""
    for entry in start.ENTRIES:
        assert sys.meta_path[0].find_spec(entry, None) is None
        assert "WARNING: this is plain pip, without variant wheels: " in capsys.readouterr().err


def test_python_3_15_starts_the_hook_as_its_file_says_and_once(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.install({})
    before = [*sys.meta_path]
    monkeypatch.setattr(sys, "meta_path", [*before])
    monkeypatch.syspath_prepend(site)
    for _ in range(2):
        resolve_name((site / "pip_variant_hook.start").read_text().strip())()
    monkeypatch.delitem(sys.modules, "_pip_variant_start")
    assert sys.meta_path[1:] == before
    assert sys.meta_path[0].find_spec("json.nothing", None) is None


def test_a_folder_that_cannot_be_written_to_is_an_error(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "folders", lambda: [site / "file"])
    (site / "file").touch()
    with pytest.raises(InvalidOutput, match="cannot be written"):
        files.install({})


def test_a_python_that_its_system_manages_gets_no_hook_from_elsewhere(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(site))
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    with pytest.raises(InvalidOutput, match="PEP 668"):
        files.install({})
