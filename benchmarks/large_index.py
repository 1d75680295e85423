"""Installing from a page of 17,280 files: pip-variant on variant wheels, plain pip on plain ones.

Both pages list as many files of the same releases and platforms: eleven labels and a plain
wheel for each platform tag on one, twelve builds of a plain wheel on the other. A server in a
process of its own answers from memory. Run from the root of the project:
``python -m benchmarks.large_index``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from benchmarks.contest import (
    Contest,
    arguments,
    clean_environment,
    environment,
    hold,
    report,
)

__all__ = ["main"]

GOAL = 1.05
RELEASES = [f"{major}.{minor}" for major in range(1, 7) for minor in range(10)]
PLATFORMS = [
    *(f"manylinux_2_{minor}_{cpu}" for minor in (17, 28) for cpu in ("x86_64", "aarch64", "i686")),
    *(f"manylinux_2_{minor}_{cpu}" for minor in (17, 28) for cpu in ("ppc64le", "s390x")),
    *(f"musllinux_1_{minor}_{cpu}" for minor in (1, 2) for cpu in ("x86_64", "aarch64", "i686")),
    *(f"musllinux_1_{minor}_ppc64le" for minor in (1, 2)),
    *("win32", "win_amd64", "win_arm64"),
    *("macosx_10_13_x86_64", "macosx_11_0_arm64", "macosx_13_0_universal2"),
]
CUDA = ("11.8", "12.0", "12.1", "12.4", "12.6", "12.8", "12.9", "13.0", "13.1", "13.2")
LABELS = ["null", *(f"cu{version.replace('.', '')}" for version in CUDA)]
DRIVER = "12.8"

JSON = "application/json"
PAGE = "application/vnd.pypi.simple.v1+json"


def variant_files() -> Iterator[str]:
    """Yield the filenames of the index with variants."""
    for release in RELEASES:
        for platform in PLATFORMS:
            plain = f"big-{release}-py3-none-{platform}"
            yield f"{plain}.whl"
            yield from (f"{plain}-{label}.whl" for label in LABELS)


def plain_files() -> Iterator[str]:
    """Yield as many filenames for the index without variants: builds instead of labels."""
    for release in RELEASES:
        for platform in PLATFORMS:
            for build in range(len(LABELS) + 1):
                yield f"big-{release}-{build}-py3-none-{platform}.whl"


def variants_json() -> bytes:
    """Return what every release of the variant index says about its labels."""
    bound = "cuda_version_lower_bound"
    variants = {f"cu{v.replace('.', '')}": {"nvidia": {bound: [v]}} for v in CUDA}
    metadata = {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["nvidia"]},
        "providers": {
            "nvidia": {
                "requires": ["nvidia-variant-provider"],
                "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
            }
        },
        "variants": {"null": {}, **variants},
    }
    return json.dumps(metadata).encode()


def project_page(filenames: list[str], variants: bytes = b"") -> bytes:
    """Return a project page as PEP 691 has it, with the keys that PyPI gives.

    The hashes of the wheels are made up: a dry run never has them in hand.
    """
    digest = hashlib.sha256(variants).hexdigest()
    files = [
        {
            "filename": filename,
            "url": f"../../files/{filename}",
            "hashes": {"sha256": f"{number:064x}" if filename.endswith(".whl") else digest},
            "requires-python": ">=3.9",
            "size": 900_000_000,
            "upload-time": "2026-11-30T12:00:00.000000Z",
            "yanked": False,
            "core-metadata": filename.endswith(".whl"),
        }
        for number, filename in enumerate(filenames)
    ]
    page = {"meta": {"api-version": "1.1"}, "name": "big", "files": files}
    return json.dumps(page).encode()


def serve() -> None:
    """Serve both indexes on loopback until the process is ended; print the port first."""
    variants = variants_json()
    described = [f"big-{release}-variants.json" for release in RELEASES]
    pages = {
        "/variant/simple/big/": project_page([*variant_files(), *described], variants),
        "/plain/simple/big/": project_page(list(plain_files())),
    }

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            filename = self.path.rpartition("/")[2]
            if self.path in pages:
                self._answer(pages[self.path], PAGE)
            elif filename.endswith("-variants.json"):
                self._answer(variants, JSON)
            elif filename.endswith(".metadata"):
                version = filename.split("-")[1]
                text = f"Metadata-Version: 2.1\nName: big\nVersion: {version}\n"
                self._answer(text.encode(), "application/octet-stream")
            else:
                self.send_error(404)

        def _answer(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


@contextmanager
def server() -> Iterator[str]:
    """Start the server in a process of its own and hand out its URL."""
    command = [sys.executable, "-m", "benchmarks.large_index", "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def chosen_url(command: list[str], variables: dict[str, str]) -> str:
    """Return the URL of what a command would install, so that nobody wins by doing less."""
    done = subprocess.run(
        [*command, "--report", "-"], env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stderr}")
    return str(json.loads(done.stdout)["install"][0]["download_info"]["url"])


def main() -> int:
    """Hold the contest and return the exit code."""
    parser = arguments(f"A page of 17,280 files: at most {GOAL}.", runs=11)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    with (
        environment(options.python, options.pip) as env,
        tempfile.TemporaryDirectory(prefix="pip-variant-benchmark-") as temporary,
        server() as url,
    ):
        # No variant plays a part in how the driver is found: that is a matter of the machine.
        variables = clean_environment(
            Path(temporary),
            NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=DRIVER,
            NV_VARIANT_PROVIDER_FORCE_SM_ARCH="9.0",
        )
        install = ["install", "--quiet", "--no-cache-dir", "--dry-run", "--target", temporary]
        commands = (
            [env.script("pip"), *install, "--index-url", f"{url}/plain/simple/", "big"],
            [env.script("pip-variant"), *install, "--index-url", f"{url}/variant/simple/", "big"],
        )
        for command, ending in zip(commands, (".whl", f"-cu{DRIVER.replace('.', '')}.whl")):
            chosen = chosen_url(command, variables)
            if not chosen.endswith(ending):
                sys.exit(f"{command[0]} chose {chosen}, which is not {ending}")
        print(f"{env.words}; medians of {options.runs} runs each")
        result = hold(Contest("17,280 files", commands, GOAL, variables), options.runs)
    return report([result], goals=not options.no_goal)


if __name__ == "__main__":
    sys.exit(main())
