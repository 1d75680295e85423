"""Rules about the pages of an index: what they link to, and with which hash."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, NamedTuple, Protocol
from urllib.parse import unquote, urldefrag, urljoin, urlsplit
from urllib.request import url2pathname

from packaging.utils import canonicalize_version
from packaging.version import Version

from pipvariant.authoring._lint_metadata import check_document
from pipvariant.authoring._lint_release import Document, check_document_name, check_release
from pipvariant.authoring._lint_rules import Finding
from pipvariant.authoring._lint_wheel import Member, check_name, check_wheel
from pipvariant.authoring.folder import Wheel, sha256_of
from pipvariant.errors import PipVariantError, Unread
from pipvariant.files import read_regular
from pipvariant.standard.bounds import json_fault
from pipvariant.standard.filename import parse_variants_json_name, variants_json_name

_JSON_ENDING = "-variants.json"
_FILES = (".whl", ".tar.gz", ".zip", _JSON_ENDING)


class Page(NamedTuple):
    """A page as it arrived.

    :param url: after redirects.
    """

    url: str
    content: bytes


class Source(Protocol):
    """What reads files of servers; every method raises `Unreachable` when it cannot."""

    def page(self, url: str) -> Page:
        """Return a page of a simple index, in either form."""

    def read(self, url: str) -> bytes:
        """Return a small file."""

    def wheel(self, url: str) -> AbstractContextManager[IO[bytes]]:
        """Return a seekable stream that reads no more of a wheel than it has to.

        :raises Unread: it is there, but too large or slow; also while it is read.
        """


@dataclass(frozen=True)
class _Link:
    """A file on a page; *sha256* may be empty."""

    name: str
    url: str
    sha256: str


def check_page(url: str, source: Source, findings: list[Finding]) -> None:
    """Check the page of one project, its metadata files, and one wheel of each label."""
    try:
        page = source.page(url)
    except PipVariantError as error:
        findings.append(Finding(url, "", "V504", error.what))
        return
    links = {link.name: link for link in _links(page) if link.name.endswith(_FILES)}
    if not links:
        findings.append(Finding(url, "", "V504", "links no file of a project"))
        return
    releases: dict[tuple[str, Version], list[Member]] = defaultdict(list)
    labels = set()
    for link in links.values():
        if not link.name.endswith(".whl"):
            continue
        wheel = check_name(link.name, link.url, findings)
        if wheel is None or wheel.label is None:
            continue
        key = (wheel.project, wheel.version)
        member = Member(link.url, wheel)
        if (*key, wheel.label) not in labels:
            labels.add((*key, wheel.label))
            member = _remote_wheel(link, wheel, source, findings)
        releases[key].append(member)
    documents: dict[tuple[str, Version], Document] = {}
    for link in links.values():
        if link.name.endswith(_JSON_ENDING):
            named = check_document_name(link.name, link.url, findings)
            document = _remote_document(link, source, findings)
            if named is not None:
                documents[named] = document
    for key, members in releases.items():
        project, version = key
        if key not in documents:
            name = variants_json_name(project, str(version))
            findings.append(Finding(url, name, "V501", "is not linked, yet variant wheels are"))
        findings += check_release(members, documents.pop(key, None), whole=True)
    for (project, version), document in documents.items():
        text = f"the page has no variant wheel of {project} {version}"
        findings.append(Finding(document.file, "", "V410", text))


def _remote_wheel(link: _Link, wheel: Wheel, source: Source, findings: list[Finding]) -> Member:
    try:
        with source.wheel(link.url) as stream:
            checked = check_wheel(stream, wheel, link.url, findings)
    except PipVariantError as error:
        rule = "V505" if isinstance(error, Unread) else "V502"
        findings.append(Finding(link.url, "", rule, error.what))
        checked = None
    return checked or Member(link.url, wheel)


def _remote_document(link: _Link, source: Source, findings: list[Finding]) -> Document:
    try:
        data = source.read(link.url)
    except PipVariantError as error:
        findings.append(Finding(link.url, "", "V502", error.what))
        return Document(link.url, None)
    if link.sha256 and hashlib.sha256(data).hexdigest() != link.sha256:
        findings.append(Finding(link.url, "", "V503", f"its hash is not {link.sha256}"))
    return Document(link.url, check_document(data, link.url, findings, single=False))


def check_local_page(path: Path, findings: list[Finding]) -> None:
    """Check that the links of a page among the files of a folder lead to those very files."""
    page = Page(path.absolute().as_uri(), read_regular(path))
    names = set()
    needed: dict[tuple[str, str], str] = {}
    for link in _links(page):
        if not link.name.endswith(_FILES) or urlsplit(link.url).scheme != "file":
            continue
        names.add(link.name)
        target = Path(url2pathname(urlsplit(link.url).path))
        # Path.is_file raises an error for a name that is too long.
        if not os.path.isfile(target):
            findings.append(Finding(str(path), link.name, "V502", f"there is no {target}"))
        elif link.sha256 and sha256_of(target) != link.sha256:
            findings.append(Finding(str(path), link.name, "V503", f"is not the hash of {target}"))
        if link.name.endswith(".whl"):
            wheel = check_name(link.name, str(path), [])
            if wheel is not None and wheel.label is not None:
                name = variants_json_name(wheel.project, str(wheel.version))
                needed[_release_of_name(name)] = name
    # Of one version there is one file, however the wheels spell it.
    missing = needed.keys() - {_release_of_name(name) for name in names}
    text = "is not linked, yet variant wheels are"
    findings += (Finding(str(path), needed[each], "V501", text) for each in sorted(missing))


def _release_of_name(name: str) -> tuple[str, str]:
    """Return project and version of a variants.json by its name, both normalised."""
    project, version = parse_variants_json_name(name) or ("", "")
    return project, canonicalize_version(version)


def _links(page: Page) -> Iterator[_Link]:
    is_json = page.content.lstrip()[:1] == b"{"
    base, found = ("", _json_links(page)) if is_json else _html_links(page)
    for url, listed in found:
        try:
            plain, fragment = urldefrag(urljoin(urljoin(page.url, base), url))
        except ValueError:  # such as one with half an address of IPv6
            continue
        sha256 = fragment[len("sha256=") :] if fragment.startswith("sha256=") else listed
        yield _Link(unquote(urlsplit(plain).path.rpartition("/")[2]), plain, sha256.lower())


def _json_links(page: Page) -> Iterator[tuple[str, str]]:
    try:
        text = page.content.decode()
        document = {} if json_fault(text) else json.loads(text)
    except (ValueError, RecursionError):
        return
    files = document.get("files")
    for entry in files if isinstance(files, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get("url"), str):
            hashes = entry.get("hashes")
            sha256 = hashes.get("sha256") if isinstance(hashes, dict) else ""
            yield entry["url"], sha256 if isinstance(sha256, str) else ""


def _html_links(page: Page) -> tuple[str, Iterable[tuple[str, str]]]:
    """Return the base of all links, if there is one, and the links; hashes are still in them."""
    parser = _Anchors()
    # What comes after a place that the parser does not get over is not seen.
    with suppress(AssertionError, NotImplementedError):
        parser.feed(page.content.decode("utf-8", "replace"))
    return parser.base, [(url, "") for url in parser.urls]


class _Anchors(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.urls: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href")
        if target and tag == "a":
            self.urls.append(target)
        elif target and tag == "base":
            self.base = self.base or target
