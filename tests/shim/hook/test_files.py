"""The files of the hook: what is written, what RECORD has of it, what is left."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from pipvariant.errors import InvalidOutput
from pipvariant.shim.hook import files, watch
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
    assert len(listed.read_bytes().splitlines()) == len(hook) + 2 == 8
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


def test_a_path_file_whose_module_is_gone_shows_no_error(site: Path) -> None:
    files.install({})
    exec((site / "pip_variant_hook.pth").read_text())


@pytest.mark.parametrize("kind", ("managed", "unwritable"))
def test_a_place_that_cannot_be_written_to_is_an_error(
    site: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    if kind == "managed":
        (site / "EXTERNALLY-MANAGED").touch()
        monkeypatch.setattr(sysconfig, "get_path", lambda name: str(site))
        monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    else:
        monkeypatch.setattr(files, "folders", lambda: [site / "file"])
        (site / "file").touch()
    with pytest.raises(
        InvalidOutput, match="cannot be written" if kind != "managed" else "PEP 668"
    ):
        files.install({})


def test_python_may_start_the_hook_twice_and_only_in_its_own_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for prefix, base_prefix, found in (("/venv", "/", 1), ("/other", "/", 0), ("/", "/", 1)):
        monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
        monkeypatch.setattr(watch, "__file__", "/venv/lib/site-packages/_pip_variant_hook.py")
        monkeypatch.setattr(sys, "prefix", prefix)
        monkeypatch.setattr(sys, "base_prefix", base_prefix)
        for _ in range(2):
            watch.watch()
        assert sys.meta_path.count(watch) == found
        assert watch.find_spec("json") is None
        monkeypatch.undo()
