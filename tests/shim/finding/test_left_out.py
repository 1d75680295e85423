"""Variant wheels that pip itself leaves out, and what the user reads of them."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.selection.model import Decision
from pipvariant.shim.core.pip_objects import make_link
from pipvariant.shim.finding.left_out import left_out_by_pip
from pipvariant.shim.reporting.messages import _Report
from pipvariant.shim.run import Run


class Evaluator:
    """Pip's, as far as it says of what kind a link is."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def evaluate_link(self, link: Any) -> tuple[Any, str]:
        return SimpleNamespace(name=self._kind), "pip's own words"


def list_links(run: Run, kind: str, *filenames: str) -> None:
    links = [make_link(f"https://index.invalid/{filename}") for filename in filenames]
    run.parts.index.listed["tri"] = [(Evaluator(kind), links)]


def told(run: Run, caplog: pytest.LogCaptureFixture, name: str = "tri") -> list[str]:
    """What is told where nothing of a project can be taken."""
    parts = run.parts
    args = (parts.index, parts.decisions, parts.messages, parts.recorder, parts.selector)
    _Report(run.options, run.user, *args).tell_none(logging.CRITICAL, name)
    return caplog.messages


@pytest.mark.parametrize(
    ("kind", "filename", "reason"),
    (
        ("platform_mismatch", "tri-1.0-py3-none-win_arm64-a.whl", "is for win_arm64"),
        ("platform_mismatch", "tri-1.0-cp39-cp39-any-a.whl", "is for cp39-cp39-any"),
        ("yanked", "tri-1.0-py3-none-any-a.whl", "is left out: pip's own words"),
    ),
)
def test_what_pip_leaves_out_has_a_reason(
    run: Run, caplog: pytest.LogCaptureFixture, kind: str, filename: str, reason: str
) -> None:
    list_links(run, kind, filename)
    (found,) = left_out_by_pip(run.parts.index, "tri")
    assert (found.file.label, str(found.file.version), found.reason) == ("a", "1.0", reason)
    (line,) = told(run, caplog)
    assert line.startswith("tri 1.0: none of its variants is for this Python and platform; a is ")


def test_each_label_of_a_version_counts_once_and_the_newest_version_first(run: Run) -> None:
    names = [f"tri-{end}-a.whl" for end in ("9.0-py3-none-win32", "10.0-py3-none-win32")]
    list_links(run, "platform_mismatch", *names, "tri-9.0-py3-none-win_arm64-a.whl")
    found = left_out_by_pip(run.parts.index, "tri")
    assert [each.file.filename for each in found] == names[::-1]


@pytest.mark.parametrize(
    ("kind", "filename"),
    (
        ("candidate", "tri-1.0-py3-none-any-a.whl"),
        ("different_project", "tri-1.0-py3-none-any-a.whl"),
        ("format_invalid", "tri-1.0-py3-none-any-a.whl"),
        ("platform_mismatch", "tri-1.0-py3-none-any.whl"),
        ("platform_mismatch", "tri-1.0-py3-none-any-UP.whl"),
        ("platform_mismatch", "tri-1.0.tar.gz"),
    ),
)
def test_what_is_no_variant_or_a_candidate_is_not_left_out(
    run: Run, kind: str, filename: str
) -> None:
    list_links(run, kind, filename)
    assert left_out_by_pip(run.parts.index, "tri") == []


def test_only_the_project_itself_is_spoken_of(run: Run, caplog: pytest.LogCaptureFixture) -> None:
    run.user.left_out.add("Tri")
    run.parts.decisions.skipped["tri", "1.0"] = Decision("tri", "1.0")
    assert told(run, caplog, "other") == []
    assert told(run, caplog, "TRI") == [
        "tri 1.0 skipped: none of its variants fits",
        "--no-variant leaves out the variant wheels of: tri",
    ]
