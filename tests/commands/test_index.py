"""``variant index``: what is said about what was written."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from integration.wheels import Wheel, tri
from pipvariant.commands import index
from pipvariant.errors import InvalidFolder, InvalidOption
from tests.authoring.test_index import put
from tests.commands.options import parsed


def run(*words: str | Path, folders: tuple[str | Path, ...]) -> list[str]:
    """Run the command with these options; the lines that it printed."""
    out = io.StringIO()
    assert index.run_index(parsed(index, *words), list(map(str, folders)), out) == 0
    return out.getvalue().splitlines()


def test_each_file_that_was_written_is_named(tmp_path: Path) -> None:
    put(tmp_path, *tri())
    path = str(tmp_path / "tri-1.0-variants.json")
    assert run(folders=(tmp_path,)) == [path, "Files written: 1, right already: 0."]
    assert run(folders=(tmp_path,)) == ["Files written: 0, right already: 1."]


def test_pages_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    put(tmp_path, *tri())
    run(folders=(tmp_path,))
    assert not (tmp_path / "index.html").exists()
    assert str(tmp_path / "tri" / "index.html") in run("--pages", folders=(tmp_path,))


def test_what_is_left_over_is_a_note(tmp_path: Path) -> None:
    put(tmp_path, Wheel("tri"))
    (tmp_path / "tri-1.0-variants.json").touch()
    note, _ = run(folders=(tmp_path,))
    assert note.startswith(f"NOTE: {tmp_path / 'tri-1.0-variants.json'}: beside it there is no")


def test_every_fault_has_a_line(tmp_path: Path) -> None:
    for name in ("a.whl", "b.whl"):
        (tmp_path / name).touch()
    with pytest.raises(InvalidFolder) as caught:
        run(folders=(tmp_path,))
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize("folders", ((), ("a", "b")))
def test_one_folder_has_to_be_named(folders: tuple[str, ...]) -> None:
    with pytest.raises(InvalidOption, match="which folder"):
        run(folders=folders)
