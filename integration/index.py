"""An index server on loopback: pages in both forms, files, variants.json, a request log.

Whatever a test does not say is what a plain, correct index does. What it does say (a reply
with another body, status or length) is served to the letter, however wrong it is.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import unquote

from integration.wheels import Sdist, Wheel, metadata

__all__ = ["Index", "Reply", "Request"]

HTML = "text/html"
JSON = "application/vnd.pypi.simple.v1+json"


@dataclass(frozen=True)
class Reply:
    """What the server says instead of the right answer.

    :param length: the declared length, when it is not that of the body.
    :param chunked: send the body in chunks, with no declared length.
    :param hold: do not answer before the server closes.
    :param drip: send the body again and again until the server closes.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    chunked: bool = False
    hold: bool = False
    drip: bool = False

    @classmethod
    def json(cls, value: object) -> Reply:
        return cls(json.dumps(value).encode())


class Request(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    status: int
    #: Of the client, another one for each connection.
    port: int = 0

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


@dataclass
class _File:
    artefact: Wheel | Sdist
    yanked: str | None = None


class Index:
    """An index of wheels and sdists; a context manager that serves while it is open.

    :param pages: ``"html"`` or ``"json"`` fixes the form of the pages, ``"accept"`` obeys
        the ``Accept`` header.
    :param metadata_files: offer ``.metadata`` files (PEP 658).
    :param ranges: obey ``Range`` headers.
    """

    def __init__(
        self, *, pages: str = "accept", metadata_files: bool = False, ranges: bool = False
    ) -> None:
        self.pages = pages
        self.metadata_files = metadata_files
        self.ranges = ranges
        self.log: list[Request] = []
        self._projects: dict[str, dict[str, _File]] = {}
        self._replies: dict[str, Reply] = {}
        self._unlisted: set[str] = set()
        self._wrong_hashes: set[str] = set()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    def __enter__(self) -> Index:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    # What is on the index.

    def add(self, *artefacts: Wheel | Sdist, yanked: str | None = None) -> None:
        """Put files on their project's page; `yanked` is the reason why they were withdrawn."""
        for artefact in artefacts:
            wheel = artefact.wheel if isinstance(artefact, Sdist) else artefact
            project = self._projects.setdefault(_normalise(wheel.name), {})
            project[artefact.filename] = _File(artefact, yanked)

    def answer(self, filename: str, reply: Reply) -> None:
        """Serve this reply under the file's URL; a page lists it with this body's hash."""
        self._replies[filename] = reply

    def unlist(self, filename: str) -> None:
        """Leave a file off its project's page; its URL is not found."""
        self._unlisted.add(filename)

    def forge(self, filename: str) -> None:
        """List a file with a hash that is not its own."""
        self._wrong_hashes.add(filename)

    # What the outside sees.

    @property
    def host(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"{self.host}/simple/"

    def file_url(self, filename: str) -> str:
        return f"{self.host}/files/{filename}"

    @property
    def requests(self) -> list[str]:
        """The requests so far, as ``METHOD /path``, in order."""
        return [str(request) for request in self.log]

    def requests_for(self, ending: str) -> list[str]:
        return [str(request) for request in self.log if request.path.endswith(ending)]

    # What the server says.

    def respond(self, path: str, accept: str) -> Reply:
        path = unquote(path).split("?")[0]
        if path.startswith("/simple/"):
            return self._page(path[len("/simple/") :].strip("/"), accept)
        filename = path.rpartition("/")[2]
        if filename in self._replies:
            return self._replies[filename]
        body = self._body(filename)
        return Reply(status=404) if body is None else Reply(body)

    def closes_within(self, seconds: float) -> bool:
        return self._closing.wait(seconds)

    def wait_until_closed(self) -> None:
        self._closing.wait()

    def _body(self, filename: str) -> bytes | None:
        if filename in self._unlisted:
            return None
        for name, project in self._projects.items():
            if filename in project:
                return project[filename].artefact.content
            described = project.get(filename[: -len(".metadata")])
            if described is not None and filename.endswith(".metadata"):
                return described.artefact.metadata_text.encode()
            for version in self._variant_versions(name):
                if filename == _json_name(name, version):
                    wheels = self._labelled(name, version)
                    return json.dumps(metadata(wheels), indent=1).encode()
        return None

    def _labelled(self, name: str, version: str) -> list[Wheel]:
        artefacts = [file.artefact for file in self._projects[name].values()]
        return [
            artefact
            for artefact in artefacts
            if isinstance(artefact, Wheel) and artefact.label and artefact.version == version
        ]

    def _variant_versions(self, name: str) -> list[str]:
        artefacts = [file.artefact for file in self._projects[name].values()]
        return sorted(
            {
                artefact.version
                for artefact in artefacts
                if isinstance(artefact, Wheel) and artefact.label
            }
        )

    def _entries(self, name: str) -> Iterator[dict[str, Any]]:
        for filename, file in self._projects[name].items():
            if filename in self._unlisted:
                continue
            entry = self._entry(filename)
            artefact = file.artefact
            wheel = artefact if isinstance(artefact, Wheel) else artefact.wheel
            if wheel.requires_python:
                entry["requires-python"] = wheel.requires_python
            if file.yanked is not None:
                entry["yanked"] = file.yanked
            if self.metadata_files and isinstance(artefact, Wheel):
                entry["core-metadata"] = {"sha256": _sha256(artefact.metadata_text.encode())}
            yield entry
        for version in self._variant_versions(name):
            filename = _json_name(name, version)
            if filename not in self._unlisted:
                yield self._entry(filename)

    def _entry(self, filename: str) -> dict[str, Any]:
        reply = self._replies.get(filename)
        body = (self._body(filename) or b"") if reply is None else reply.body
        if filename in self._wrong_hashes:
            body += b"?"
        url = f"../../files/{filename}"
        return {"filename": filename, "url": url, "hashes": {"sha256": _sha256(body)}}

    def _page(self, project: str, accept: str) -> Reply:
        name = _normalise(project)
        if name not in self._projects:
            return Reply(status=404)
        entries = list(self._entries(name))
        as_json = self.pages == "json" or (self.pages == "accept" and JSON in accept)
        if as_json:
            page = {"meta": {"api-version": "1.0"}, "name": name, "files": entries}
            return Reply(json.dumps(page).encode(), headers={"Content-Type": JSON})
        return Reply(_html(entries).encode(), headers={"Content-Type": HTML})


def _html(entries: list[dict[str, Any]]) -> str:
    lines = ["<!DOCTYPE html>", "<html><body>"]
    for entry in entries:
        attributes = {"href": f"{entry['url']}#sha256={entry['hashes']['sha256']}"}
        if "requires-python" in entry:
            attributes["data-requires-python"] = entry["requires-python"]
        if "yanked" in entry:
            attributes["data-yanked"] = entry["yanked"]
        if "core-metadata" in entry:
            digest = f"sha256={entry['core-metadata']['sha256']}"
            attributes["data-core-metadata"] = attributes["data-dist-info-metadata"] = digest
        text = " ".join(f'{key}="{html.escape(value)}"' for key, value in attributes.items())
        lines.append(f"<a {text}>{entry['filename']}</a><br>")
    return "\n".join([*lines, "</body></html>"])


def _handler(index: Index) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are written one by one; each must not wait for the other's receipt.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._send(with_body=True)

        def do_HEAD(self) -> None:
            self._send(with_body=False)

        def _send(self, *, with_body: bool) -> None:
            reply = index.respond(self.path, self.headers.get("Accept", ""))
            body, status, headers = reply.body, reply.status, dict(reply.headers)
            if index.ranges and status == 200 and not reply.chunked:
                headers["Accept-Ranges"] = "bytes"
                wanted = _range(self.headers.get("Range", ""), len(body))
                if wanted is not None:
                    status = 206
                    headers["Content-Range"] = f"bytes {wanted[0]}-{wanted[1]}/{len(body)}"
                    body = body[wanted[0] : wanted[1] + 1]
            # Logged before the first byte leaves, or a test could read the log too early.
            port = self.client_address[1]
            index.log.append(Request(self.command, self.path, dict(self.headers), status, port))
            if reply.hold:
                index.wait_until_closed()
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if reply.chunked:
                self.send_header("Transfer-Encoding", "chunked")
            elif reply.drip:
                self.end_headers()
                while not index.closes_within(0.05):
                    self._write(body, chunked=False)
                return
            else:
                length = len(body) if reply.length is None else reply.length
                self.send_header("Content-Length", str(length))
            self.end_headers()
            if with_body:
                self._write(body, chunked=reply.chunked)
            if reply.length is not None:
                self.close_connection = True

        def _write(self, body: bytes, *, chunked: bool) -> None:
            try:
                if not chunked:
                    self.wfile.write(body)
                    return
                for start in range(0, len(body), 65536):
                    part = body[start : start + 65536]
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                self.wfile.write(b"0\r\n\r\n")
            except (BrokenPipeError, ConnectionResetError):
                # The client had enough, which is what some tests are about.
                self.close_connection = True

        def log_message(self, *args: object) -> None:
            """Keep quiet: the log is `Index.log`."""

    return Handler


def _range(header: str, size: int) -> tuple[int, int] | None:
    match = re.fullmatch(r"bytes=(\d*)-(\d*)", header)
    if match is None or match.group(0) == "bytes=-":
        return None
    first, last = match.groups()
    if not first:
        return max(size - int(last), 0), size - 1
    return int(first), min(int(last or size - 1), size - 1)


def _json_name(name: str, version: str) -> str:
    return f"{name.replace('-', '_')}-{version}-variants.json"


def _normalise(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
