"""What is written beside what pip installs: what there was to choose from, and the hook.

``variants.json`` in ``.dist-info`` has the labels that were looked at, with their properties and
providers, so that no index is asked later. It is in RECORD like every file of an installer, so any
tool uninstalls it. The hook is in RECORD of pip-variant: it is put back after an upgrade.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pipvariant import __file__ as package_file
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name
from pipvariant.shim.core.state import State, aside
from pipvariant.shim.finding.installed import RECORDED
from pipvariant.shim.resolving.decisions import Decided

INSTALL = "pip._internal.operations.install.wheel"


class Recorder(State):
    """Knows what is written beside each project that is going to be installed."""

    def __init__(self) -> None:
        #: Canonical project name -> the content of the file.
        self.metadata_to_record: dict[str, bytes] = {}
        #: Takes the folder that pip-variant is installed into, writes the hook of this pip-variant
        #: into it again if it was there, and returns the files.
        self.write_hook = _hook_here()

    def record(self, project: str, decided: Decided) -> None:
        """Keep what there was to choose from for a project.

        :param decided: the chosen file; its source speaks, or the first that has metadata.
        """
        from pipvariant.standard.metadata import to_json

        decision, file = decided
        judgement = decision.judgements.get(file.source)
        if judgement is None and file.label is None:
            judgement = next(decision.judged(), None)
        if judgement is None or not judgement.metadata.published:
            return
        variants = judgement.metadata.variants
        labels = [label for label in sorted(judgement.labels) if label in variants]
        metadata = replace(
            judgement.metadata, variants={label: variants[label] for label in labels}
        )
        # Made now, as nothing may be imported any more while pip installs.
        self.metadata_to_record[canonical_name(project)] = to_json(metadata).encode()


def patches(recorder: Recorder) -> list[Patch]:
    """Patch the place where pip knows all files that it has written, before RECORD is made."""
    return [patch(f"{INSTALL}:get_csv_rows_for_installed", _get_csv_rows, _prove, recorder)]


def _get_csv_rows(
    recorder: Recorder,
    original: Any,
    /,
    *args: Any,
    installed: Mapping[str, str],
    changed: set[str],
    generated: list[str],
    **kwargs: Any,
) -> Any:
    for path in list(generated):
        folder, name = os.path.split(path)
        if name == "INSTALLER":
            stem = os.path.basename(folder)[: -len(".dist-info")]
            project = canonical_name(stem.rpartition("-")[0])
            if project == "pip-variant" and recorder.write_hook is not None:
                generated += recorder.write_hook(os.path.dirname(folder))
            data = recorder.metadata_to_record.get(project)
            if data is not None:
                ours = _write(folder, data)
                in_record = f"{os.path.basename(folder)}/{RECORDED}"
                if in_record in installed.values():
                    # The wheel has a file of this name, which has its line already.
                    changed.add(in_record)
                else:
                    generated.append(ours)
    return original(*args, installed=installed, changed=changed, generated=generated, **kwargs)


def _hook_here() -> Callable[[str], Iterable[str]] | None:
    folder = os.path.dirname(os.path.dirname(package_file))
    if not os.path.exists(os.path.join(folder, "pip_variant_hook.pth")):
        return None
    from pipvariant.shim.hook import files

    return functools.partial(files.write_again, files.contents(Path(folder)))


def _write(folder: str, data: bytes) -> str:
    path = os.path.join(folder, RECORDED)
    with open(path, "wb") as stream:
        stream.write(data)
    return path


def _prove(recorder: Recorder) -> bool:
    class Asked(dict[str, bytes]):
        project = ""

        def get(self, project: str, default: Any = None) -> Any:
            self.project = project
            return default

    asked, module = Asked(), import_module(INSTALL)
    generated = [os.path.join(os.devnull, "proof_a-1.0.dist-info", "INSTALLER")]
    # There is no such file to be hashed, which is found out afterwards.
    with aside(recorder, metadata_to_record=asked), contextlib.suppress(OSError):
        module.get_csv_rows_for_installed(
            [], installed={}, changed=set(), generated=generated, lib_dir=os.curdir
        )
    return asked.project == "proof-a" and _is_called_so(module._install_wheel)


def _is_called_so(caller: Any) -> bool:
    """Say whether pip itself, which would install something, calls it by the same keywords."""
    keywords = ("installed", "changed", "generated", "lib_dir")
    used = "get_csv_rows_for_installed" in samples.names_used(caller)
    return used and keywords in caller.__code__.co_consts
