"""``variant lint``: what is printed, and the exit code."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.authoring.lint import RULES
from pipvariant.commands import lint
from pipvariant.errors import InvalidOption, Unreachable
from tests.authoring.test_lint import labelled, named, variant
from tests.shim.finding.test_download import Session


def run(*paths: str | Path, as_json: bool = False) -> tuple[int, str]:
    """Run the command; its exit code and what it printed."""
    out = io.StringIO()
    code = lint.run_lint(SimpleNamespace(json=as_json), list(map(str, paths)), out)
    return code, out.getvalue()


def long_label(folder: Path) -> Path:
    """A wheel about which there is only a warning."""
    label = "x" * 80
    return variant(folder, labelled(label, {"blas": {"bits": ["32"]}}), name=named(label))


def test_nothing_is_wrong(tmp_path: Path) -> None:
    assert run(variant(tmp_path)) == (0, "Nothing is wrong.\n")


@pytest.mark.parametrize(
    ("make", "code", "end"),
    (
        (long_label, 0, "Errors: 0, warnings: 1."),
        (lambda folder: variant(folder, name=named("open")), 1, "Errors: 1, warnings: 0."),
    ),
)
def test_only_errors_make_the_exit_code_1(
    tmp_path: Path, make: Callable[[Path], Path], code: int, end: str
) -> None:
    found, text = run(make(tmp_path))
    assert (found, text.splitlines()[-1]) == (code, end)


def test_a_line_has_file_place_rule_message_and_remedy(tmp_path: Path) -> None:
    path = variant(tmp_path, ("providers/nvidia/requires", ["a b"]))
    line = run(path)[1].splitlines()[0]
    remedy = RULES["V316"].remedy
    place = "providers.nvidia.requires[0]"
    assert line == f"{path}: {place}: error V316: 'a b' is not a requirement. {remedy}"


def test_a_terminal_sees_no_control_characters(tmp_path: Path) -> None:
    core = 'Requires-Dist: x; variant_features == "\x1b[31m"\n'
    _, text = run(variant(tmp_path, core=core))
    assert "\x1b" not in text
    assert r"\x1b[31m" in text


def test_json_is_one_object_with_the_documented_keys(tmp_path: Path) -> None:
    code, text = run(variant(tmp_path, name=named("open")), as_json=True)
    report: Any = json.loads(text)
    assert (code, set(report)) == (1, {"version", "findings"})
    (finding,) = report["findings"]
    documented = (Path(__file__).parent.parent.parent / "docs" / "hosting.md").read_text()
    example = json.loads(documented.partition("```json\n")[2].partition("```")[0])
    assert set(example) == set(report)
    assert set(example["findings"][0]) == set(finding)
    assert example["version"] == report["version"]


@pytest.mark.parametrize("times", (1, 2))
def test_a_page_is_not_unpacked_beyond_its_bound(times: int) -> None:
    data = gzip.compress(bytes(60 << 20))
    session = Session(data, headers={"Content-Encoding": ", ".join(["gzip"] * times)})
    remote = lint.Remote(None)
    vars(remote)["_session"] = session
    tracemalloc.start()
    try:
        with pytest.raises(Unreachable, match=r"bigger than 10 MB|encoded as gzip, gzip"):
            remote.page("https://a.invalid/tri/")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30 << 20


def test_something_has_to_be_named() -> None:
    with pytest.raises(InvalidOption, match="None is named"):
        run()
