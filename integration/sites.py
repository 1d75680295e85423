"""Servers that a test writes path by path: pages with odd links, a proxy, what was sent."""

from __future__ import annotations

import hashlib
import html
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from integration.index import HTML, JSON, Index, Reply, Request

__all__ = ["Proxy", "Site", "page"]


def page(links: Iterable[str], form: str = "html", **keys: Any) -> Reply:
    """A project page with exactly these links.

    :param form: ``"html"`` or ``"json"``.
    :param keys: more keys of each file, in the JSON form only.
    """
    if form == "json":
        files = [{"filename": _filename(link), "url": link, "hashes": {}, **keys} for link in links]
        body = json.dumps({"meta": {"api-version": "1.1"}, "name": "x", "files": files})
        return Reply(body.encode(), headers={"Content-Type": JSON})
    anchors = (f'<a href="{html.escape(link)}">{_filename(link)}</a><br>' for link in links)
    body = "\n".join(["<!DOCTYPE html><html><body>", *anchors, "</body></html>"])
    return Reply(body.encode(), headers={"Content-Type": HTML})


def _filename(link: str) -> str:
    return unquote(urlsplit(link).path).rpartition("/")[2]


class Site(Index):
    """An index with replies of its own at some paths, which counts the bytes that it sends.

    :param headers: sent with every reply.
    :param head: whether it answers ``HEAD`` requests.
    :param tags: whether a client can ask if something has changed (``ETag``).
    """

    def __init__(
        self,
        *,
        headers: Mapping[str, str] | None = None,
        head: bool = True,
        tags: bool = False,
        **same: Any,
    ) -> None:
        super().__init__(**same)
        self.headers = headers or {}
        self.head = head
        self.tags = tags
        #: Path -> bytes of its bodies that the client took.
        self.sent: Counter[str] = Counter()
        self._written: dict[str, Reply] = {}
        self._server.RequestHandlerClass = _handler(self, self._server.RequestHandlerClass)

    def __enter__(self) -> Site:
        super().__enter__()
        return self

    def write(self, path: str, reply: Reply) -> str:
        """Serve a reply at a path, which begins with ``/`` and may have a query; give its URL."""
        self._written[path] = reply
        return f"{self.host}{path}"

    def respond(self, path: str, accept: str) -> Reply:
        reply = self._written.get(path) or super().respond(path, accept)
        tag = {"ETag": f'"{hashlib.sha256(reply.body).hexdigest()}"'} if self.tags else {}
        return replace(reply, headers={**reply.headers, **self.headers, **tag})


def _handler(site: Site, base: Any) -> type[BaseHTTPRequestHandler]:
    class Handler(base):  # type: ignore[misc]  # the handler of an index, made by a function
        def do_GET(self) -> None:  # noqa: N802 - called by this name
            known = self.headers.get("If-None-Match")
            reply = site.respond(self.path, self.headers.get("Accept", ""))
            if known is None or reply.headers.get("ETag") != known:
                super().do_GET()
                return
            site.log.append(Request("GET", self.path, dict(self.headers), 304))
            self.send_response(304)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()

        def do_HEAD(self) -> None:  # noqa: N802 - called by this name
            if site.head:
                super().do_HEAD()
            else:
                self.send_error(405)

        def _write(self, body: bytes, *, chunked: bool) -> None:
            try:
                for start in range(0, len(body), 65536):
                    part = body[start : start + 65536]
                    head = f"{len(part):x}\r\n".encode() if chunked else b""
                    self.wfile.write(head + part + b"\r\n" * chunked)
                    site.sent[self.path] += len(part)
                self.wfile.write(b"0\r\n\r\n" * chunked)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    return cast("type[BaseHTTPRequestHandler]", Handler)


class Proxy(Index):
    """A proxy behind which every host is the given index; its log has whole URLs."""

    def __init__(self, behind: Index) -> None:
        super().__init__()
        self._behind = behind

    def respond(self, path: str, accept: str) -> Reply:
        parts = urlsplit(path)
        query = f"?{parts.query}" if parts.query else ""
        return self._behind.respond(parts.path + query, accept)
