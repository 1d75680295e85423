"""The indexes that the installers are compared on, served from the memory of a process of its own.

``/ROW/SIDE/simple/`` is the index of one row for one side: pip gets non-variant wheels where
pip-variant and uv get as many variant wheels. ``/log`` tells the paths that were asked for since
it was last asked. ``python -m benchmarks.indexes`` serves until it is ended, and prints the port.
"""

from __future__ import annotations

import functools
import hashlib
import html
import itertools
import json
import random
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["DRIVER", "RELEASES", "log", "server"]

RELEASES = [f"{major}.{minor}" for major in range(1, 7) for minor in range(10)]
PLATFORMS = [
    *(f"manylinux_2_{minor}_{cpu}" for minor in (17, 28) for cpu in ("x86_64", "aarch64", "i686")),
    *(f"manylinux_2_{minor}_{cpu}" for minor in (17, 28) for cpu in ("ppc64le", "s390x")),
    *(f"musllinux_1_{minor}_{cpu}" for minor in (1, 2) for cpu in ("x86_64", "aarch64", "i686")),
    *(f"musllinux_1_{minor}_ppc64le" for minor in (1, 2)),
    *("win32", "win_amd64", "win_arm64"),
    *("macosx_10_13_x86_64", "macosx_11_0_arm64", "macosx_13_0_universal2"),
]
#: What a project with compiled modules publishes for each Python.
BUILDS = [
    *("manylinux_2_17_x86_64.manylinux2014_x86_64", "manylinux_2_17_aarch64.manylinux2014_aarch64"),
    *("musllinux_1_2_x86_64", "musllinux_1_2_aarch64", "macosx_10_13_x86_64", "macosx_11_0_arm64"),
    *("macosx_14_0_x86_64", "macosx_14_0_arm64", "win32", "win_amd64"),
]
CUDA = ("11.8", "12.0", "12.1", "12.4", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2")
#: The driver that is stated, so that no question to this machine is part of the time.
DRIVER = "12.8"
STEPS = [f"{step:03}" for step in range(500)]
LIBRARIES = ("mkl", "openblas", "blis", "atlas", "nvpl", "accelerate")

JSON_PAGE = "application/vnd.pypi.simple.v1+json"
Labels = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]


@dataclass(frozen=True, eq=False)
class Index:
    """What one side sees in one row.

    :param files: project -> its wheels and sdists.
    :param requires: project -> what each version requires.
    :param labels: label -> properties, the same for all versions.
    :param as_html: pages are HTML, whatever is asked for.
    :param is_cacheable: responses may be kept, files for good, as those of PyPI.
    """

    files: Mapping[str, Sequence[str]]
    requires: Mapping[str, Sequence[str]] = field(default_factory=dict)
    labels: Labels = field(default_factory=dict)
    as_html: bool = False
    is_cacheable: bool = False

    @functools.cached_property
    def variants_json(self) -> bytes:
        """The metadata of each version."""
        provider = {
            "requires": ["nvidia-variant-provider"],
            "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
        }
        used = dict.fromkeys(
            (feature, value)
            for properties in self.labels.values()
            for feature, (value,) in properties.get("blas", {}).items()
        )
        values = {name: [value for of, value in used if of == name] for name, _ in used}
        metadata = {
            "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
            "default-priorities": {"namespace": ["nvidia", *(["blas"] if values else [])]},
            "providers": {
                "nvidia": provider,
                **({"blas": {"static-properties": values}} if values else {}),
            },
            "variants": self.labels,
        }
        return json.dumps(metadata).encode()

    def metadata(self, project: str, version: str) -> bytes:
        """Return the core metadata of a version."""
        requires = "".join(f"Requires-Dist: {text}\n" for text in self.requires.get(project, ()))
        return f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n{requires}".encode()

    @functools.cache  # noqa: B019 - the process serves until it is ended
    def page(self, project: str, *, as_html: bool) -> bytes:
        """Return the page of a project, with the keys that PyPI gives."""
        entries = list(self._entries(project))
        if not as_html:
            page = {"meta": {"api-version": "1.1"}, "name": project, "files": entries}
            return json.dumps(page).encode()
        lines = ["<!DOCTYPE html>", "<html><body>"]
        python = html.escape(">=3.9")
        for entry in entries:
            given = entry["core-metadata"]
            keys = ("data-core-metadata", "data-dist-info-metadata") if given else ()
            core = "".join(f' {key}="sha256={given["sha256"]}"' for key in keys)
            lines.append(
                f'<a href="{entry["url"]}#sha256={entry["hashes"]["sha256"]}"'
                f' data-requires-python="{python}"{core}>{entry["filename"]}</a><br>'
            )
        return "\n".join([*lines, "</body></html>"]).encode()

    def _entries(self, project: str) -> Iterator[dict[str, Any]]:
        core = functools.cache(lambda version: _sha256(self.metadata(project, version)))
        filenames = list(self.files[project])
        if self.labels:
            versions = dict.fromkeys(name.split("-")[1] for name in filenames)
            filenames += [f"{project}-{version}-variants.json" for version in versions]
        for name in filenames:
            # A dry run never has the wheels in hand: their hashes are made up.
            content = self.variants_json if name.endswith(".json") else name.encode()
            yield {
                "filename": name,
                "url": f"../../files/{name}",
                "hashes": {"sha256": _sha256(content)},
                "requires-python": ">=3.9",
                "size": 900_000,
                "upload-time": "2026-11-30T12:00:00.000000Z",
                "yanked": False,
                "core-metadata": {"sha256": core(name.split("-")[1])}
                if name.endswith(".whl")
                else False,
            }

    def file(self, name: str) -> bytes | None:
        """Return a file, None if nobody needs it here."""
        if name.endswith("-variants.json"):
            return self.variants_json
        return self.metadata(*name.split("-")[:2]) if name.endswith(".metadata") else None


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _cuda(version: str) -> tuple[str, dict[str, dict[str, list[str]]]]:
    return f"cu{version.replace('.', '')}", {"nvidia": {"cuda_version_lower_bound": [version]}}


def _few_labels() -> Labels:
    return {"null": {}, **dict(map(_cuda, CUDA))}


def _many_labels(feature: str, values: Iterable[str]) -> Labels:
    labels: dict[str, Mapping[str, Mapping[str, Sequence[str]]]] = {"null": {}}
    for (label, properties), value in itertools.product(map(_cuda, CUDA), values):
        if value:
            labels[f"{label}_{value}"] = {**properties, "blas": {feature: [value]}}
        else:
            labels[label] = properties
    return labels


def _wheels(
    project: str, releases: Iterable[str], platforms: Sequence[str], labels: Iterable[str]
) -> list[str]:
    """Return a non-variant wheel and one for each label, of each release and platform."""
    return [
        f"{project}-{release}-py3-none-{platform}{ending}.whl"
        for release in releases
        for platform in platforms
        for ending in ("", *(f"-{label}" for label in labels))
    ]


def _builds(
    project: str, releases: Iterable[str], platforms: Sequence[str], number: int
) -> list[str]:
    """Return as many builds of a non-variant wheel."""
    return [
        f"{project}-{release}-{build}-py3-none-{platform}.whl"
        for release in releases
        for platform in platforms
        for build in range(number)
    ]


def _big(
    labels: Labels,
    releases: Sequence[str] = RELEASES,
    platforms: Sequence[str] = PLATFORMS,
    *,
    as_html: bool = False,
    is_cacheable: bool = False,
) -> Row:
    """Return the row of one project with variants."""

    def index(side: str) -> Index:
        if side == "variant":
            files, has = _wheels("big", releases, platforms, labels), labels
        else:
            files, has = _builds("big", releases, platforms, len(labels) + 1), {}
        return Index({"big": files}, labels=has, as_html=as_html, is_cacheable=is_cacheable)

    return index


def _compiled(project: str, releases: Iterable[str]) -> list[str]:
    """Return the files of a project with compiled modules."""
    pythons = [f"cp3{minor}-cp3{minor}" for minor in range(9, 15)]
    tags = [f"{python}-{build}" for python in pythons for build in BUILDS]
    tags += [f"pp311-pypy311_pp73-{build}" for build in (*BUILDS[:2], *BUILDS[4:6], BUILDS[-1])]
    return [
        name
        for release in releases
        for name in (
            *(f"{project}-{release}-{tag}.whl" for tag in tags),
            f"{project}-{release}.tar.gz",
        )
    ]


def _ordinary(_: str) -> Index:
    return Index({"big": _compiled("big", [*RELEASES, "7.0"])})


def _packages(side: str) -> Index:
    """Return an index of 200 projects, each of which needs the next two."""
    names = [f"package{number:03}" for number in range(200)]
    requires = {name: names[place + 1 : place + 3] for place, name in enumerate(names)}
    labels = {**_few_labels(), "cu128_mkl": {**_cuda("12.8")[1], "blas": {"library": ["mkl"]}}}
    versions, platforms = ("1.0", "2.0"), ("any",)
    if side == "variant":
        files = {name: _wheels(name, versions, platforms, labels) for name in names}
        return Index(files, requires, labels)
    number = len(labels) + 1
    return Index({name: _builds(name, versions, platforms, number) for name in names}, requires)


def _application(_: str) -> Index:
    """Return an index of 110 projects as an application with many dependencies has them."""
    chance = random.Random(825)
    names = [f"part{number:03}" for number in range(110)]
    files, requires = {}, {}
    for place, name in enumerate(names):
        # Two are released each day, as some clients of clouds are.
        count = 1900 if place in (3, 4) else chance.choice((10, 20, 40, 80, 150, 250))
        releases = [f"1.{number}.0" for number in range(count)]
        if place % 5 == 2:
            files[name] = _compiled(name, releases[: count // 4])
        else:
            kinds = ("-py3-none-any.whl", ".tar.gz")
            files[name] = [f"{name}-{release}{kind}" for release in releases for kind in kinds]
        later = names[place + 1 : place + 16]
        needed = chance.sample(later, min(len(later), chance.choice((1, 2, 2, 3, 4))))
        requires[name] = [f"{one}>=1.0" for one in dict.fromkeys([*later[:1], *needed])]
    return Index(files, requires)


#: Takes the side, "plain" or "variant".
Row = Callable[[str], Index]
ROWS: dict[str, Row] = {
    "json": _big(_few_labels()),
    "html": _big(_few_labels(), as_html=True),
    "again": _big(_few_labels(), is_cacheable=True),
    "ordinary": _ordinary,
    "labelled": _big(_many_labels("library", ["", *LIBRARIES])),
    "labels": _big(_many_labels("step", STEPS), ["1.0"], ["any"]),
    "packages": _packages,
    "application": _application,
}


@functools.cache
def _index(row: str, side: str) -> Index:
    return ROWS[row](side)


def _serve() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are written one by one; each must not wait for the other's receipt.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if self.path == "/log":
                body = json.dumps(asked).encode()
                asked.clear()
                self._answer(body, "application/json", "no-store")
                return
            asked.append(self.path)
            _, row, side, kind, name, *_ = self.path.split("/")
            index = _index(row, side)
            if kind != "simple":
                body = index.file(name) or b""
                kind = "application/octet-stream"
                age = "max-age=365000000, immutable"
            else:
                as_html = index.as_html or JSON_PAGE not in self.headers.get("Accept", "")
                body = index.page(name, as_html=as_html) if name in index.files else b""
                kind, age = "text/html" if as_html else JSON_PAGE, "max-age=600"
            if body:
                self._answer(body, kind, age if index.is_cacheable else "no-store")
            else:
                self.send_error(404)

        def _answer(self, body: bytes, kind: str, age: str) -> None:
            tag = f'"{len(body)}"'
            known = self.headers.get("If-None-Match") == tag
            self.send_response(304 if known else 200)
            self.send_header("Content-Type", kind)
            self.send_header("Cache-Control", age)
            if age != "no-store":
                self.send_header("ETag", tag)
            if not known:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if not known:
                self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


@contextmanager
def server() -> Iterator[str]:
    """Start the server in a process of its own and hand out its URL."""
    command = [sys.executable, "-m", "benchmarks.indexes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def log(url: str) -> list[str]:
    """Return what was asked for since the last time."""
    with urllib.request.urlopen(f"{url}/log") as response:
        return list(json.load(response))


if __name__ == "__main__":
    _serve()
