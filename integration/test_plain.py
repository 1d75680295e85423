"""Where variants play no part, the answer is plain pip's to the letter."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable

import pytest

from integration.environments import Pip, Result
from integration.index import Index
from integration.wheels import Sdist, Wheel, tri

pytestmark = pytest.mark.real_start

LINUX = f"py3-none-linux_{platform.machine()}"


def fill(index: Index) -> None:
    """One project for each thing that pip chooses by, none of them with variants."""
    index.add(Wheel("pinned", "1.0"), Wheel("pinned", "2.0"), Wheel("pinned", "3.0"))
    index.add(Wheel("extra", requires=("pinned<3; extra == 'fast'",), extras=("fast",)))
    index.add(Wheel("pre", "1.0"), Wheel("pre", "2.0a1"))
    index.add(Wheel("pulled", "1.0"))
    index.add(Wheel("pulled", "2.0"), yanked="broken")
    index.add(Wheel("python", "1.0"), Wheel("python", "2.0", requires_python=">=99"))
    index.add(Wheel("tags", tag="py3-none-win_amd64"), Wheel("tags"), Wheel("tags", tag=LINUX))
    index.add(Wheel("builds"), Wheel("builds", build="2"), Wheel("builds", build="10"))
    index.add(Sdist(Wheel("source")), Sdist(Wheel("both", "2.0")), Wheel("both", "1.0"))
    index.add(Wheel("dashed-name", requires=("marked; python_version < '3'", "source")))


EVERYTHING = [
    "pinned>=1,!=3.0",
    "extra[fast]",
    "pre",
    "pulled",
    "python",
    "tags",
    "builds",
    "both",
    "Dashed.Name",
]


def both(pip: Pip, *args: str) -> tuple[Result, Result]:
    return pip.variant(*args, driver="12.8"), pip.plain(*args)


@pytest.mark.every_pip
@pytest.mark.parametrize(
    ("pages", "extra"),
    (
        ("html", ()),
        ("html", ("--no-binary", "both")),
        ("json", ("--pre",)),
        ("json", ("--prefer-binary", "--no-deps")),
    ),
)
def test_the_report_equals_plain_pips(
    pip: Pip, index: Index, pages: str, extra: Iterable[str]
) -> None:
    index.pages = pages
    fill(index)
    report = ("install", "--dry-run", "--quiet", "--report", "-", *extra, *EVERYTHING)
    ours, plains = both(pip, *report)
    assert json.loads(ours.check().stdout) == json.loads(plains.check().stdout)
    assert ours == Result(ours.args, plains.code, plains.stdout, plains.stderr)


def test_the_requests_equal_plain_pips(pip: Pip, index: Index) -> None:
    fill(index)
    both(pip, "install", "--dry-run", *EVERYTHING)
    half = len(index.requests) // 2
    assert index.requests[:half] == index.requests[half:]
    assert half > len(EVERYTHING)


def test_the_output_equals_plain_pips(pip: Pip, index: Index) -> None:
    fill(index)
    ours, plains = both(pip, "install", "--dry-run", "pinned", "pre", "extra")
    assert (ours.code, ours.stdout, ours.stderr) == (plains.code, plains.stdout, plains.stderr)


@pytest.mark.parametrize(
    "args",
    (
        ("absent",),
        ("pinned==9",),
        ("pinned==1.0", "pinned==2.0"),
        ("python==2.0",),
        ("-r", "absent.txt"),
        ("not a requirement",),
    ),
)
def test_errors_equal_plain_pips(pip: Pip, index: Index, args: tuple[str, ...]) -> None:
    fill(index)
    ours, plains = both(pip, "install", *args)
    assert plains.code != 0
    assert (ours.code, ours.stdout, ours.stderr) == (plains.code, plains.stdout, plains.stderr)


@pytest.mark.every_pip
@pytest.mark.parametrize("option", (("--no-variant",), ()))
def test_no_variant_takes_the_wheel_without_a_label(
    pip: Pip, index: Index, option: tuple[str, ...]
) -> None:
    index.add(*tri())
    environ = {} if option else {"PIP_NO_VARIANT": "1"}
    pip.variant("install", *option, "tri", driver="12.8", environ=environ).check()
    assert pip.build("tri") == ("1.0", "")
    assert index.requests == ["GET /simple/tri/", "GET /files/tri-1.0-py3-none-any.whl"]


@pytest.mark.every_pip
def test_no_variant_passes_a_version_with_labels_only(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", plain=False))
    pip.variant("install", "--no-variant", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.every_pip
def test_no_variant_says_that_a_project_has_only_variants(pip: Pip, index: Index) -> None:
    index.add(*tri(plain=False))
    result = pip.variant("install", "--no-variant", "tri", driver="12.8")
    assert result.code == 1
    assert result.lines_with("tri", "variant")
    assert index.requests == ["GET /simple/tri/"]


@pytest.mark.every_pip
def test_no_variant_equals_plain_pip_on_an_index_with_variants(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", plain=False), *tri(name="duo", requires=("tri",)))
    report = ("install", "--dry-run", "--quiet", "--report", "-", "duo")
    ours = pip.variant(*report, "--no-variant", driver="12.8").check()
    assert json.loads(ours.stdout) == json.loads(pip.plain(*report).check().stdout)
