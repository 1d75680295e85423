"""Files of other projects, downloaded from the registry once and kept for the next run."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from packaging.tags import sys_tags
from packaging.utils import parse_sdist_filename, parse_wheel_filename

__all__ = ["FOLDER", "fetch_binary", "fetch_pinned", "unreachable"]

PAGES = "https://pypi.org/simple/"
#: Where the files lie. Beside them are the pages of projects of which a wheel was looked for.
FOLDER = Path(os.environ.get("TOX_WORK_DIR", tempfile.gettempdir())) / "pip-variant-published"
SECONDS = 30


def unreachable() -> str:
    """Say why nothing can be downloaded; empty where it can be, or has been."""
    try:
        if not any(FOLDER.glob("*.whl")):
            _get(f"{PAGES}six/")
    except OSError as error:
        return str(error)
    return ""


def fetch_pinned(pinned: Mapping[str, str]) -> list[Path]:
    """Return the path of each file.

    :param pinned: filename to SHA-256.
    :raises OSError: the registry cannot be reached.
    """
    with _Locked():
        return [_pinned(name, sha256) for name, sha256 in pinned.items()]


def fetch_binary(requirements: Iterable[str]) -> list[Path]:
    """Return the path of the wheel that this Python takes, if there is one, of each release.

    :param requirements: such as ``numpy==1.26.4``. The page of the project says the hash.
    :raises OSError: the registry cannot be reached.
    """
    with _Locked():
        found = [_best(*requirement.split("==")) for requirement in requirements]
        return [_file(entry, entry["hashes"]["sha256"]) for entry in found if entry]


class _Locked:
    """Nothing is downloaded by two processes at once."""

    def __enter__(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        self.stream = (FOLDER / "lock").open("w")
        fcntl.flock(self.stream, fcntl.LOCK_EX)

    def __exit__(self, *error: object) -> None:
        self.stream.close()


def _pinned(name: str, sha256: str) -> Path:
    if (FOLDER / name).exists():
        return _file({"filename": name}, sha256)
    parse = parse_wheel_filename if name.endswith(".whl") else parse_sdist_filename
    page = json.loads(_get(f"{PAGES}{parse(name)[0]}/"))
    (entry,) = [entry for entry in page["files"] if entry["filename"] == name]
    return _file(entry, sha256)


def _best(project: str, version: str) -> dict[str, Any] | None:
    ranks = {tag: rank for rank, tag in enumerate(sys_tags())}
    path = FOLDER / f"{project}.json"
    if not path.exists():
        _write(path, _get(f"{PAGES}{project}/"))
    found = []
    for entry in json.loads(path.read_bytes())["files"]:
        name = entry["filename"]
        if name.lower().startswith(f"{project}-{version}-") and name.endswith(".whl"):
            rank = min(ranks.get(tag, len(ranks)) for tag in parse_wheel_filename(name)[3])
            found += [(rank, name, entry)] if rank < len(ranks) else []
    return min(found)[2] if found else None


def _file(entry: Mapping[str, Any], sha256: str) -> Path:
    path = FOLDER / str(entry["filename"])
    if not path.exists():
        _write(path, _get(entry["url"]))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256, path
    return path


def _get(url: str) -> bytes:
    end = time.monotonic() + SECONDS
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    data = bytearray()
    with urllib.request.urlopen(urllib.request.Request(url, headers=accept), timeout=10) as stream:
        while chunk := stream.read(1 << 16):
            data += chunk
            if time.monotonic() > end:
                raise TimeoutError(f"{url} takes more than {SECONDS} seconds")
    return bytes(data)


def _write(path: Path, data: bytes) -> None:
    """Write a file as a whole or not at all: a run may be stopped."""
    part = path.with_name("part")
    part.write_bytes(data)
    part.replace(path)
