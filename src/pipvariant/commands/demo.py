"""``variant demo``: variant wheels tried out on this machine, with nothing left behind."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TextIO

from pipvariant.authoring.pyproject import BLAS
from pipvariant.authoring.variants import known_provider
from pipvariant.authoring.wheel import new_wheel
from pipvariant.commands import platform
from pipvariant.providers import short_lived
from pipvariant.shim.core.state import TargetOptions
from pipvariant.shim.finding.target import make_target
from pipvariant.standard.filename import NULL_LABEL, variants_json_name
from pipvariant.standard.metadata import Metadata, to_json
from pipvariant.standard.properties import Properties

VERSION = "1.0"
LIMIT = 60
#: project -> label -> properties, as namespace -> feature -> values.
PROJECTS: dict[str, dict[str, Properties]] = {
    "demo_blas": {
        "mkl": {"blas": {"library": ("mkl",)}},
        "openblas": {"blas": {"library": ("openblas",)}},
    },
    "demo_cpu": {
        "armv8.2": {"aarch64": {"version": ("8.2a",)}},
        "armv9": {"aarch64": {"version": ("9.0a",)}},
        NULL_LABEL: {},
        "x86_v2": {"x86_64": {"level": ("v2",)}},
        "x86_v3": {"x86_64": {"level": ("v3",)}},
        "x86_v4": {"x86_64": {"level": ("v4",)}},
    },
    "demo_cuda": {
        "cu126": {"nvidia": {"cuda_version_lower_bound": ("12.6",)}},
        "cu128": {"nvidia": {"cuda_version_lower_bound": ("12.8",)}},
        "cu130": {"nvidia": {"cuda_version_lower_bound": ("13.0",)}},
        NULL_LABEL: {},
    },
}


def add_options(group: Any) -> None:
    """Add nothing: the demo has no options."""


def run_demo(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Make an index, install from it with ``pip-variant install``, say what was chosen and why.

    :returns: the exit code of the installation.
    """
    out.write("What this machine supports (pip-variant variant platform):\n")
    platform.write_platform(out, platform.platform_answers(make_target(TargetOptions())))
    with short_lived.folder("pip-variant-demo-") as root:
        for project in PROJECTS:
            _make_project(root / "simple", project)
        with _served(root) as url:
            code = _install_projects(out, root, url)
        if code == 0:
            _write_choices(out, root)
    return code


def _make_project(simple: Path, project: str) -> None:
    """Write one project of the index: wheels with and without label, JSON, the page."""
    folder = simple / project.replace("_", "-")
    folder.mkdir(parents=True)
    labels = PROJECTS[project]
    made = [new_wheel(project, VERSION, {f"{project}.py": "LABEL = ''\n"})]
    for label in labels:
        files = {f"{project}.py": f"LABEL = {label!r}\n"}
        made.append(new_wheel(project, VERSION, files, variant=_metadata_of(project, [label])))
    for filename, data in made:
        (folder / filename).write_bytes(data)
    index = variants_json_name(project, VERSION)
    (folder / index).write_text(to_json(_metadata_of(project, list(labels))), encoding="utf-8")
    links = "".join(f'<a href="{name}">{name}</a><br>\n' for name in sorted(os.listdir(folder)))
    (folder / "index.html").write_text(f"<!DOCTYPE html>\n{links}", encoding="utf-8")


def _metadata_of(project: str, labels: list[str]) -> Metadata:
    variants = PROJECTS[project]
    # Equal in all files of the project: the namespaces that any of its labels uses.
    namespaces = sorted({namespace for properties in variants.values() for namespace in properties})
    providers = {namespace: known_provider(namespace) or BLAS for namespace in namespaces}
    return Metadata(tuple(namespaces), providers, {label: variants[label] for label in labels})


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base names it so
        """Say nothing: the user reads what pip says."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a folder on a free port of this machine, and give its URL."""
    handler = partial(_Handler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()


def _install_projects(out: TextIO, root: Path, url: str) -> int:
    projects = [project.replace("_", "-") for project in PROJECTS]
    command = ["install", "--target", str(root / "target"), "--index-url", url, *projects]
    out.write(f"\n$ pip-variant {' '.join(command)}\n")
    out.flush()
    options = ["--isolated", "--disable-pip-version-check", "--no-cache-dir", "--no-input"]
    report = ["--progress-bar", "off", "--report", str(root / "report.json")]
    # The user's own settings (other indexes, proxies) are not for this index.
    environ = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith("PIP_") and not name.lower().endswith("_proxy")
    }
    start = [sys.executable, "-m", "pipvariant"]
    code, printed = short_lived.run([*start, *options, *command, *report], environ, LIMIT)
    out.write(printed)
    return code


def _write_choices(out: TextIO, root: Path) -> None:
    """Print for each project what was installed and what became of every other label."""
    report = json.loads((root / "report.json").read_text(encoding="utf-8"))
    for item in report["install"]:
        variant = item["variant"]
        project = item["metadata"]["name"]
        label = variant["label"]
        out.write(f"\n{project} {VERSION}: installed {label or 'the plain wheel'}\n")
        for other in variant["compatible"]:
            if other != label:
                out.write(f"  {other:<9} fits, {label} is preferred\n")
        for rejected in variant["rejected"]:
            reason = rejected["reason"].partition(" ")[2]
            out.write(f"  {rejected['label']:<9} {reason}\n")
        if label:
            out.write(f"  {'(plain)':<9} only taken when no variant fits\n")
