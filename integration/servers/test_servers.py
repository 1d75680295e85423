"""devpi and pypiserver with variant wheels, small ones and large ones."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.templates import TIME_LIMIT
from integration.wheels import metadata, padded, tri

SCRIPTS = Path(sys.executable).parent
JSON_TYPE = {"Content-Type": "application/json"}
#: Name of a project -> how many megabytes each of its wheels has.
SIZES = {"small": 0, "large": 20}


def ask(url: str, body: bytes | None = None, method: str = "GET", **headers: str) -> bytes:
    """Send a request and return the answer; HTTPError is raised for one that is refused."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, named, method=method)
    with urllib.request.urlopen(request, timeout=TIME_LIMIT) as answer:
        return bytes(answer.read())


def files() -> Iterator[tuple[str, str, bytes]]:
    """Project, filename and content of all wheels."""
    for name, megabytes in SIZES.items():
        for wheel in tri(name=name):
            yield name, wheel.filename, padded(wheel, megabytes)


@contextmanager
def running(script: str, port: int, *args: str | Path) -> Iterator[str]:
    """Start a server on loopback, and give its URL once it answers."""
    url = f"http://127.0.0.1:{port}"
    command = [SCRIPTS / script, *args]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=silent, stderr=silent) as server:
        try:
            for _ in range(TIME_LIMIT * 5):
                assert server.poll() is None, f"{script} has ended"
                try:
                    ask(url)
                    break
                except OSError:
                    time.sleep(0.2)
            yield url
        finally:
            server.terminate()


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Devpi:
    """What a user of devpi can do there, without its own client."""

    def __init__(self, url: str) -> None:
        self.url = url
        answer = ask(f"{url}/+login", b'{"user": "root", "password": "-"}', "POST", **JSON_TYPE)
        words = f"root:{json.loads(answer)['result']['password']}"
        self._auth = {"X-Devpi-Auth": base64.b64encode(words.encode()).decode()}

    def make_index(self, name: str, **keys: object) -> str:
        """Make an index and return its URL."""
        body = json.dumps(keys).encode()
        ask(f"{self.url}/root/{name}", body, "PUT", **JSON_TYPE, **self._auth)
        return f"{self.url}/root/{name}/+simple/"

    def upload(self, project: str, filename: str, content: bytes) -> None:
        fields = {":action": "file_upload", "name": project, "version": "1.0"}
        fields |= {"filetype": "bdist_wheel", "pyversion": "py3", "metadata_version": "2.1"}
        head = 'Content-Disposition: form-data; name="{}"{}\r\n\r\n'
        parts = [head.format(name, "").encode() + text.encode() for name, text in fields.items()]
        parts.append(head.format("content", f'; filename="{filename}"').encode() + content)
        body = b"".join(b"--limit\r\n" + part + b"\r\n" for part in parts) + b"--limit--\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=limit"}
        ask(f"{self.url}/root/dev/", body, "POST", **kind, **self._auth)


@pytest.fixture(scope="module")
def devpi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Devpi]:
    folder, port = tmp_path_factory.mktemp("devpi"), free_port()
    place = ("--serverdir", folder)
    init = (SCRIPTS / "devpi-init", *place, "--no-root-pypi", "--root-passwd", "-")
    subprocess.run(init, check=True, capture_output=True)
    where = ("--host", "127.0.0.1", "--port", str(port))
    with running("devpi-server", port, *place, *where) as url:
        server = Devpi(url)
        server.make_index("dev", bases=[])
        for project, filename, content in files():
            server.upload(project, filename, content)
        yield server


@pytest.fixture(scope="module")
def pypiserver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("pypiserver"), free_port()
    for _, filename, content in files():
        (folder / filename).write_bytes(content)
    # This one is right, and in vain.
    text = json.dumps(metadata(tri(name="small")))
    (folder / "small-1.0-variants.json").write_text(text)
    where = ("--interface", "127.0.0.1", "--port", str(port), "--disable-fallback")
    with running("pypi-server", port, "run", *where, folder) as url:
        yield f"{url}/simple/"


@pytest.fixture
def indexes(devpi: Devpi, pypiserver: str) -> Mapping[str, str]:
    """The index of each server, by its name."""
    return {"devpi": f"{devpi.url}/root/dev/+simple/", "pypiserver": pypiserver}


@pytest.mark.parametrize("project", sorted(SIZES))
@pytest.mark.parametrize("server", ("devpi", "pypiserver"))
@pytest.mark.parametrize(("driver", "label"), (("12.9", "cuda12.8"), ("12.0", "null")))
def test_the_right_variant_is_installed(
    pip: Pip, indexes: Mapping[str, str], server: str, project: str, driver: str, label: str
) -> None:
    pip.index_url = indexes[server]
    result = pip.variant("install", project, driver=driver).check()
    assert pip.build(project) == ("1.0", label)
    assert result.warnings == []
    downloaded = Counter(re.findall(r"Downloading \S*?([^/\s]+\.whl)", result.output))
    # devpi sends no parts of a file, so that each label is looked into, but for the null variant.
    looked_into = {"cuda12.6", "cuda12.8", "cuda13.0"} if server == "devpi" else set()
    names = {f"{project}-1.0-py3-none-any-{one}.whl" for one in {label, *looked_into}}
    assert downloaded == dict.fromkeys(names, 1)


def test_neither_server_takes_the_metadata_beside_the_wheels(
    devpi: Devpi, indexes: Mapping[str, str]
) -> None:
    name = "small-1.0-variants.json"
    with pytest.raises(urllib.error.HTTPError, match="400"):
        devpi.upload("small", name, b"{}")
    for url in indexes.values():
        assert name not in ask(f"{url}small/").decode()


def test_a_mirror_of_devpi_has_the_variants_of_what_it_mirrors(
    pip: Pip, devpi: Devpi, index: Index
) -> None:
    index.add(*tri())
    pip.index_url = devpi.make_index(
        "mirror", type="mirror", mirror_url=index.url, mirror_no_project_list=True
    )
    result = pip.variant("install", "tri", driver="12.9").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []
    assert index.requests_for(".json") == ["GET /files/tri-1.0-variants.json"]
    assert index.requests_for(".whl") == ["GET /files/tri-1.0-py3-none-any-cuda12.8.whl"]
