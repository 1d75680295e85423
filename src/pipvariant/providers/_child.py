"""The child's side of a probe: one module's report, written as JSON."""

from __future__ import annotations

import json
import os
from importlib import import_module


def report_to_parent(module: str, *arguments: str) -> None:
    """Write the report of a module, or the error that it raised, to standard output."""
    # Libraries may print: only the copy of the stream that is made here leads to the parent.
    answer_stream = os.dup(1)
    os.dup2(2, 1)
    try:
        answer = json.dumps({"report": import_module(module).report(*arguments)})
    except Exception as error:  # noqa: BLE001  # the parent gets every error as text
        answer = json.dumps({"error": f"{type(error).__name__}: {error}"})
    with os.fdopen(answer_stream, "w", encoding="utf-8") as stream:
        stream.write(answer)
