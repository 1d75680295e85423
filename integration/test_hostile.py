"""Sources and environments that are odd or hostile cost a message, never a crash or a misfit."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.wheels import PROVIDERS, Sdist, Wheel, cuda, metadata, release, tri

NAME = "tri-1.0-variants.json"


def test_a_number_of_any_length_in_a_value_is_only_a_value(pip: Pip, index: Index) -> None:
    index.add(*release("tri", labels={"x": ("nvidia :: y :: " + "1" * 5000,), "null": ()}))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "null")


def test_too_many_labels_are_not_looked_into_one_by_one(pip: Pip, index: Index) -> None:
    index.add(*release("tri", labels={f"l{number}": (cuda("12.6"),) for number in range(120)}))
    index.unlist(NAME)
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    (warning,) = result.warnings
    assert "120 labels are too many" in warning
    assert len(index.requests) == 2


def test_a_plain_name_does_not_hide_a_variant(pip: Pip, index: Index) -> None:
    hidden = Wheel("tri", "1.0", "cuda13.0", (cuda("13.0"),))
    index.add(Wheel("tri"), Wheel("tri", "0.9"))
    index.answer("tri-1.0-py3-none-any.whl", Reply(hidden.content))
    result = pip.variant("install", "tri", driver="12.4").check()
    (warning,) = result.warnings
    assert "has a variant.json inside but no label in its name" in warning
    assert pip.installed() == {"tri": "0.9"}
    named = pip.variant("install", index.file_url("tri-1.0-py3-none-any.whl"), driver="12.4")
    assert named.code == 1
    assert "has a variant.json inside but no label in its name" in named.stderr
    pip.variant("install", "--no-variant", "-U", "tri", driver="12.4").check()
    assert pip.installed() == {"tri": "1.0"}


def test_a_built_wheel_with_unreadable_metadata_is_refused(pip: Pip, index: Index) -> None:
    schema = "https://variants-schema.wheelnext.dev/v9.0.0.json"
    broken = Wheel("made", label="a", properties=(cuda("12.6"),), schema=schema)
    index.add(Sdist(replace(broken, requires=("x; 'nvidia' in variant_namespaces",))))
    for command in ("wheel", "install", "download"):
        result = pip.variant(command, "made", driver="12.8")
        assert "Traceback" not in result.output
        if result.code:
            assert "format 9 is not supported" in result.output
    assert pip.installed() == {}


@pytest.mark.parametrize("content", (b"\xff\xfe\x00", b"{", b""))
def test_an_installed_variant_json_of_rubbish_stops_no_command(pip: Pip, content: bytes) -> None:
    wheel = Wheel("tri", requires=("x; 'nvidia' in variant_namespaces",))
    info = pip.site / "tri-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(wheel.metadata_text)
    (info / "variant.json").write_bytes(content)
    (info / "RECORD").write_text("")
    for command in (["show", "tri"], ["check"], ["inspect"], ["variant", "list"]):
        assert "Traceback" not in pip.variant(*command).check().output


@pytest.mark.parametrize("command", ("platform", "list", "demo"))
def test_a_narrow_terminal_without_unicode_is_enough(pip: Pip, command: str) -> None:
    odd = {"COLUMNS": "30", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    pip.variant("variant", command, environ=odd).check()


def test_a_missing_dependency_of_ours_is_named(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("solo"))
    shadow = pip.root / "shadow"
    shadow.mkdir()
    (shadow / "packaging.py").write_text("raise ImportError('no packaging here')\n")
    odd = {"PYTHONPATH": str(shadow)}
    pip.variant("install", "solo", environ=odd).check()
    index.answer(NAME, Reply.json(_with_marker()))
    result = pip.variant("install", "tri", environ=odd)
    assert "Traceback" not in result.output
    if result.code:
        assert "no packaging here" in result.stderr
        assert "--no-variant" in result.stderr


def _with_marker() -> dict[str, object]:
    labelled = [wheel for wheel in tri() if wheel.label]
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": list(PROVIDERS)},
        "providers": json.loads(json.dumps(PROVIDERS)),
        "variants": {wheel.label: wheel.variant for wheel in labelled},
    }


# The program of a run that was started with its standard output closed.
CLOSED = """\
import sys
from pipvariant.cli import main
sys.stdout = None
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("args", (["platform", "--json"], ["check"], ["explain", "tri"]))
def test_a_closed_standard_output_stops_no_command(pip: Pip, index: Index, args: list[str]) -> None:
    index.add(*tri())
    assert "Traceback" not in pip.run(["-c", CLOSED, "variant", *args]).check().stderr


@pytest.mark.every_pip
def test_a_pipe_in_a_folder_of_wheels_is_no_wheel(pip: Pip) -> None:
    folder = pip.root / "wheels"
    folder.mkdir()
    labelled, *_, plain = tri(builds=("12.6",), null=False)
    (folder / plain.filename).write_bytes(plain.content)
    os.mkfifo(folder / labelled.filename)
    (folder / NAME).write_text(json.dumps(metadata([labelled])))
    result = pip.variant("install", "--no-index", "--find-links", folder, "tri", driver="12.8")
    assert "it is no regular file" in result.stderr
    assert pip.installed() == {"tri": "1.0"}
