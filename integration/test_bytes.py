"""What a conflict costs: six versions of four labels, of which the very last goes with the rest."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Reply
from integration.sites import Site
from integration.wheels import Wheel, padded

MEGABYTE = 1_000_000
BUILTIN = {"abi_dependency": {"builtin": "abi_dependency"}}
TAKEN = "/files/ext-1.0-py3-none-any-core5.whl"


@dataclass(frozen=True)
class Large(Wheel):
    """A wheel of 50 MB, which take memory only while they are sent."""

    @property
    def content(self) -> bytes:
        raw = io.BytesIO(PAYLOAD)
        with zipfile.ZipFile(io.BytesIO(super().content)) as small, zipfile.ZipFile(raw, "a") as to:
            for entry in small.infolist():
                to.writestr(entry, small.read(entry))
        return raw.getvalue()


def _payload() -> bytes:
    """Return the beginning of every large wheel: a file that is stored as it is."""
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr(zipfile.ZipInfo("payload"), bytes(50 * MEGABYTE))
    return raw.getvalue()


PAYLOAD = _payload()


@pytest.fixture
def site() -> Iterator[Site]:
    """An index of which only the last label of the oldest release goes with core 1.5."""
    with Site(pages="html", metadata_files=True) as server:
        server.add(*(Wheel("core", f"1.{minor}") for minor in range(10)))
        yield server


@pytest.fixture
def pip(pip: Pip, site: Site) -> Pip:
    pip.index_url = site.url
    return pip


def labels(kind: type[Wheel]) -> list[Wheel]:
    return [
        kind(
            "ext",
            f"{version}.0",
            f"core{minor}",
            (f"abi_dependency :: core :: 1.{minor}",),
            providers=BUILTIN,
        )
        for version, lowest in zip(range(6, 0, -1), (6, 6, 6, 6, 6, 5))
        for minor in range(lowest, lowest + 4)
    ]


def wheels(site: Site) -> list[str]:
    return [
        request.path
        for request in site.log
        if request.path.startswith("/files/ext-") and request.path.endswith(".whl")
    ]


@pytest.mark.every_pip
@pytest.mark.skipif(PIP_VERSION < (22, 3), reason="this pip knows no metadata files")
def test_a_conflict_costs_one_wheel_and_metadata(pip: Pip, site: Site) -> None:
    site.add(*labels(Large))
    pip.variant("install", "ext", "core==1.5").check()
    assert pip.build("ext") == ("1.0", "core5")
    assert wheels(site) == [TAKEN]
    described = [path for path in site.sent if path.endswith(".metadata")]
    assert len([path for path in described if "/ext-" in path]) == 24
    assert len(site.requests_for("-variants.json")) == 6
    assert sum(site.sent.values()) - site.sent[TAKEN] < 0.1 * MEGABYTE


@pytest.mark.every_pip
def test_a_conflict_costs_one_wheel_and_parts_of_others(pip: Pip, site: Site) -> None:
    site.metadata_files, site.ranges = False, True
    site.add(*labels(Wheel))
    for wheel in labels(Wheel):
        site.answer(wheel.filename, Reply(padded(wheel, 1)))
    pip.variant("install", "ext", "core==1.5").check()
    assert pip.build("ext") == ("1.0", "core5")
    assert sum(site.sent.values()) < 2 * MEGABYTE
    assert len(wheels(site)) <= 24 * 3 + 1


def test_without_metadata_files_each_label_that_is_tried_is_downloaded_once(
    pip: Pip, site: Site
) -> None:
    """As plain pip downloads each version that it tries, which is the only way to know it."""
    site.metadata_files = False
    site.add(*labels(Wheel))
    pip.variant("install", "ext", "core==1.5").check()
    assert pip.build("ext") == ("1.0", "core5")
    assert len(wheels(site)) == len(set(wheels(site))) == 24


def test_without_labels_a_conflict_costs_what_it_costs_plain_pip(pip: Pip, site: Site) -> None:
    site.metadata_files = False
    site.add(
        *(Wheel("ext", f"{major}.0", requires=(f"core==1.{major - 1}",)) for major in range(1, 7))
    )
    pip.plain("install", "--target", "there", "ext", "core==1.0").check()
    plain = site.requests
    site.log.clear()
    pip.variant("install", "ext", "core==1.0").check()
    assert site.requests == plain
