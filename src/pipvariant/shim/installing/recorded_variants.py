"""What there was to choose from is kept beside what is installed, so that no index is asked later.

``variants.json`` in ``.dist-info`` has the labels that were looked at, with their properties and
providers. It is in RECORD like every file of an installer, so any tool uninstalls it.
"""

from __future__ import annotations

import contextlib
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of

if TYPE_CHECKING:
    from pipvariant.shim.resolving.selector import Outcome

__all__ = ["NAME", "note", "patches"]

INSTALL = "pip._internal.operations.install.wheel"
NAME = "variants.json"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the place where pip knows all files that it has written, before RECORD is made."""
    return [
        Patch(
            f"{INSTALL}:get_csv_rows_for_installed",
            lambda original: _get_csv_rows(run, original),
            lambda: _prove(run),
        )
    ]


def note(run: Run, name: str, outcome: Outcome, link: Any) -> None:
    """Note what is to be kept of a project that is going to be installed.

    :param link: the file that was chosen; its source speaks, or the first that can be read.
    """
    from dataclasses import replace

    from pipvariant.standard.metadata import to_json

    judgements = outcome.judgements
    judgement = judgements.get(source_of(link))
    if judgement is None and label_of(link) is None:
        judgement = next(filter(None, judgements.values()), None)
    if judgement is None:
        return
    variants = judgement.metadata.variants
    labels = [label for label in sorted(judgement.labels) if label in variants]
    metadata = replace(judgement.metadata, variants={label: variants[label] for label in labels})
    # Written while pip installs, when nothing may be imported any more.
    run.noted[_canonical(name)] = to_json(metadata).encode()


def _canonical(name: str) -> str:
    return str(import_module("pip._vendor.packaging.utils").canonicalize_name(name))


def _get_csv_rows(run: Run, original: Any) -> Any:
    def get_csv_rows_for_installed(*args: Any, generated: list[str], **kwargs: Any) -> Any:
        for path in list(generated):
            folder, name = os.path.split(path)
            if name == "INSTALLER":
                stem = os.path.basename(folder)[: -len(".dist-info")]
                data = run.noted.get(_canonical(stem.rpartition("-")[0]))
                if data is not None:
                    generated.append(_write(folder, data))
        return original(*args, generated=generated, **kwargs)

    return get_csv_rows_for_installed


def _write(folder: str, data: bytes) -> str:
    path = os.path.join(folder, NAME)
    with open(path, "wb") as stream:
        stream.write(data)
    return path


def _prove(run: Run) -> bool:
    class Noted(dict[str, bytes]):
        asked = ""

        def get(self, name: str, default: Any = None) -> Any:
            self.asked = name
            return default

    noted, module = Noted(), import_module(INSTALL)
    generated = [os.path.join(os.devnull, "proof_a-1.0.dist-info", "INSTALLER")]
    # There is no such file to be hashed, which is found out afterwards.
    with samples.apart(run, noted=noted), contextlib.suppress(OSError):
        module.get_csv_rows_for_installed(
            [], installed={}, changed=set(), generated=generated, lib_dir=os.curdir
        )
    return noted.asked == "proof-a" and _is_called_so(module._install_wheel)


def _is_called_so(caller: Any) -> bool:
    """Say whether pip itself, which would install something, calls it by the same keywords."""
    keywords = ("installed", "changed", "generated", "lib_dir")
    used = "get_csv_rows_for_installed" in samples.names_used(caller)
    return used and keywords in caller.__code__.co_consts
