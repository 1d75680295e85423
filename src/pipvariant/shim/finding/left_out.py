"""Variant wheels that pip itself left out, such as those for another platform."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from pipvariant.errors import InvalidFilename
from pipvariant.printable import some
from pipvariant.selection.model import LeftOut
from pipvariant.shim.core.pip_objects import make_link, make_version
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.finding.index import IndexState


def left_out_by_pip(index: IndexState, project: str) -> list[LeftOut]:
    """Return the variant wheels of a project that pip did not even consider, newest version first.

    There is one for each label of a version.

    :param project: its canonical name.
    """
    found: dict[tuple[str, str], LeftOut] = {}
    seen: list[tuple[Any, Iterable[Any]]] = [*index.listed.get(project, ())]
    seen += [
        (evaluator, map(make_link, urls)) for evaluator, urls in index.other_tags.get(project, ())
    ]
    for evaluator, links in seen:
        for link in links:
            label = None
            # A filename that the standard does not allow is nothing that could be taken.
            with contextlib.suppress(InvalidFilename):
                label = label_in(link.filename)
            left_out = None if label is None else _left_out(index, project, evaluator, link)
            if label is not None and left_out is not None:
                found.setdefault((str(left_out.file.version), label), left_out)
    return sorted(found.values(), key=lambda each: each.file.version, reverse=True)


def _left_out(index: IndexState, project: str, evaluator: Any, link: Any) -> LeftOut | None:
    kind, detail = evaluator.evaluate_link(link)
    if kind.name in ("candidate", "different_project", "format_invalid"):
        return None
    wheel = import_module("pip._internal.models.wheel").Wheel(link.filename)
    if kind.name == "platform_mismatch":
        platforms = sorted({str(tag.platform) for tag in wheel.file_tags} - {"any"})
        detail = f"is for {some(platforms or sorted(map(str, wheel.file_tags)))}"
    else:
        detail = f"is left out: {detail}"
    return LeftOut(index.file(project, make_version(wheel.version), link), detail)
