"""Ctrl-C and SIGTERM: what was started for a plugin ends with the run, in the usual way."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.templates import variables
from integration.test_plugins import TRUST, answering, kept, plugin, tri

pytestmark = [
    pytest.mark.real_start,
    pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux lists them"),
]


def processes(pip: Pip) -> list[str]:
    """What runs with a path of this test in its command line."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(pip.root) in command:
            found.append(command)
    return found


@pytest.mark.parametrize(
    ("hanging", "number", "code"),
    (
        pytest.param("plugin", signal.SIGTERM, -15, marks=pytest.mark.every_pip),
        ("plugin", signal.SIGINT, 1),
        ("installation", signal.SIGTERM, -15),
        ("installation", signal.SIGINT, 1),
    ),
)
def test_a_signal_leaves_no_process_and_no_temporary_folder(
    pip: Pip, index: Index, hanging: str, number: int, code: int
) -> None:
    mark = pip.root / "mark"
    # A daemon of the plugin leaves the mark, and then both of them wait.
    daemon = f"os.fork() or (os.setsid(), open({str(mark)!r}, 'w').close()); time.sleep(600)"
    index.add(plugin(answering(first=daemon)), *tri())
    if hanging == "installation":
        index.answer(plugin().filename, Reply(hold=True))
    with subprocess.Popen(
        [pip.root / "env" / "bin" / "python", "-m", "pipvariant", "install", *TRUST, "tri"],
        cwd=pip.work,
        env={**variables(pip.root), "PIP_INDEX_URL": index.url, **kept(pip)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        while not (mark.exists() or (hanging == "installation" and index.requests_for(".whl"))):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        said, _ = process.communicate(timeout=60)
    assert (process.returncode, "Operation cancelled by user" in said) == (code, True)
    assert "Traceback" not in said
    assert processes(pip) == []
    assert list((pip.root / "tmp").iterdir()) == []
    assert not list((pip.root / "home").rglob(".new-*"))
