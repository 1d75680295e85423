"""Making a variant wheel of a large wheel: at most 1.3 times a plain copy and the hash of it.

Run from the root of the project: ``python -m benchmarks.make``.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import random
import resource
import shutil
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

from pipvariant.authoring.making import make_wheel
from pipvariant.standard.metadata import Metadata, Provider

__all__ = ["main"]

GOAL = 1.3
MEMORY_GOAL = 64
MIB = 1024 * 1024
NAME = "large-1.0-py3-none-any.whl"
VARIANT = Metadata(
    namespaces=("blas",),
    providers={"blas": Provider(static_properties={"library": ("mkl",)})},
    variants={"mkl": {"blas": {"library": ("mkl",)}}},
)


def write_large_wheel(path: Path, megabytes: int) -> None:
    """Write a wheel of one large file that cannot be compressed, and of many small ones."""
    chance = random.Random(825)
    lines = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(10_000):
            name, text = f"large/{number:05}.py", f"NUMBER = {number}\n"
            archive.writestr(name, text)
            lines.append(f"{name},{_digest(hashlib.sha256(text.encode()))},{len(text)}")
        hashed = hashlib.sha256()
        large = zipfile.ZipInfo("large/kernels.so")
        with archive.open(large, "w", force_zip64=True) as stream:
            for _ in range(megabytes):
                chunk = chance.randbytes(MIB)
                hashed.update(chunk)
                stream.write(chunk)
        lines.append(f"large/kernels.so,{_digest(hashed)},{megabytes * MIB}")
        record = "large-1.0.dist-info/RECORD"
        archive.writestr(record, "".join(f"{line}\n" for line in [*lines, f"{record},,"]))


def _digest(hashed: hashlib._Hash) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashed.digest()).decode().rstrip("=")


def _copy(wheel: Path, folder: Path) -> Path:
    copied = folder / "copied.whl"
    shutil.copyfile(wheel, copied)
    hashed = hashlib.sha256()
    with copied.open("rb") as stream:
        while chunk := stream.read(MIB):
            hashed.update(chunk)
    return copied


def _time(work: Callable[[], Path]) -> float:
    start = time.perf_counter()
    written = work()
    seconds = time.perf_counter() - start
    written.unlink()
    return seconds


def _peak() -> float:
    # Kibibytes on Linux, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MIB


def main() -> int:
    """Time both in turn and return the exit code."""
    parser = argparse.ArgumentParser(description=f"Making a variant wheel: at most {GOAL} times.")
    parser.add_argument("--size", type=int, default=512, help="MiB of the wheel (%(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument(
        "--no-goal", action="store_true", help="print the figures, exit 0 whatever they are"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root)
        wheel = folder / NAME
        write_large_wheel(wheel, options.size)
        before = _peak()
        ratios, makes, copies = [], [], []
        for _ in range(options.runs):
            copies.append(_time(lambda: _copy(wheel, folder)))
            makes.append(_time(lambda: make_wheel(wheel, VARIANT, folder)))
            ratios.append(makes[-1] / copies[-1])
        memory = _peak() - before
    ratio = statistics.median(ratios)
    missed = ratio > GOAL or memory > MEMORY_GOAL
    print(f"a wheel of {options.size} MiB with 10,001 files, medians of {options.runs} runs:")
    print(f"make {statistics.median(makes):.2f} s, ", end="")
    print(f"copy and hash {statistics.median(copies):.2f} s, ", end="")
    print(f"ratio {ratio:.2f}, goal {GOAL}; ", end="")
    print(f"memory +{memory:.0f} MiB, goal {MEMORY_GOAL} MiB{'  MISSED' if missed else ''}")
    return int(missed and not options.no_goal)


if __name__ == "__main__":
    sys.exit(main())
