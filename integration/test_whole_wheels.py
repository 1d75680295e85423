"""Where a server has no ``variants.json`` and sends no parts of files, wheels come whole."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from integration.environments import Pip, Result
from integration.index import Reply
from integration.sites import Site
from integration.wheels import Wheel, padded, tri

MEGABYTE = 1 << 20


def serve(pip: Pip, site: Site, wheels: list[Wheel], megabytes: int = 0) -> None:
    """Serve wheels that are so big, and whose metadata is nowhere else."""
    pip.index_url = site.url
    site.add(*wheels)
    for wheel in wheels:
        site.unlist(f"{wheel.stem}-variants.json")
    for wheel in wheels if megabytes else ():
        site.answer(wheel.filename, Reply(padded(wheel, megabytes)))


def taken(site: Site) -> Counter[str]:
    """How often each label was downloaded."""
    paths = (one.path for one in site.log if one.method == "GET" and one.path.endswith(".whl"))
    return Counter(path.rpartition("-")[2][: -len(".whl")] for path in paths)


@pytest.mark.effect_of(
    "whole_wheels",
    "RequirementPreparer._fetch_metadata_only",
    "RequirementPreparer._fetch_metadata_using_lazy_wheel",
)
def test_large_and_small_wheels_are_downloaded_once_each(pip: Pip) -> None:
    # pip itself would look at the metadata file first, and download the wheel later.
    with Site(metadata_files=True) as site:
        serve(pip, site, tri(builds=["12.4", "12.6"]), 20)
        serve(pip, site, tri(builds=["12.8"], null=False, plain=False))
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert taken(site) == {"cuda12.4": 1, "cuda12.6": 1, "cuda12.8": 1}
        assert result.warnings == []
        (said,) = result.lines_with("Downloading", "cuda12.6.whl (2", " MB)")
        assert "what its label needs is only said inside" in said


@pytest.mark.parametrize(
    ("driver", "args", "label", "downloaded"),
    (
        # What comes last of all is not looked into before it is taken.
        ("12.0", (), "null", {"cuda12.6", "cuda12.8", "null"}),
        ("12.8", ("--variant", "tri=cuda12.6"), "cuda12.6", {"cuda12.6"}),
    ),
)
def test_only_labels_that_matter_are_downloaded(
    pip: Pip, driver: str, args: tuple[str, ...], label: str, downloaded: set[str]
) -> None:
    with Site() as site:
        serve(pip, site, tri(builds=["12.6", "12.8"]), 11)
        pip.variant("install", "tri", *args, driver=driver).check()
        assert pip.label("tri") == label
        assert taken(site) == dict.fromkeys(downloaded, 1)


def test_the_most_promising_labels_come_first_and_explain_tells_of_large_ones(pip: Pip) -> None:
    with Site() as site:
        serve(pip, site, tri("2.0"), 11)
        # By another version, only these two are for this machine.
        site.add(*tri("1.0", builds=["12.6", "12.8", "13.0"]))
        result = pip.variant("variant", "explain", "tri", driver="12.8").check()
        assert list(taken(site)) == ["cuda12.8", "cuda12.6", "cuda13.0"]
        assert result.lines_with("cuda12.8", "chosen")
        assert len(result.warnings) == 3
        assert all("Downloading" in line for line in result.warnings)


# The program of a run whose memory is measured, in a process that has never been another one.
MEASURED = """\
import os, sys
from pipvariant.cli import main
child = os.fork()
if child == 0:
    sys.exit(main(sys.argv[1:]))
usage = os.wait4(child, 0)[2]
print("peak", usage.ru_maxrss >> (20 if sys.platform == "darwin" else 10))
"""


def test_a_large_wheel_goes_to_a_file_and_from_there_to_where_it_belongs(pip: Pip) -> None:
    with Site() as site:
        serve(pip, site, tri(builds=["12.8"], null=False), 40)
        run = ("-c", MEASURED, "download", "-d", "wheels", "tri")
        (line,) = pip.run(run, driver="12.8").check().lines_with("peak")
        (saved,) = (pip.work / "wheels").iterdir()
        assert saved.read_bytes() == site.respond(f"/files/{saved.name}", "").body
        assert taken(site) == {"cuda12.8": 1}
        # Nothing is left of it elsewhere.
        assert list((pip.root / "tmp").iterdir()) == []
        # Without the wheel it is some 45 MB.
        assert int(line.split()[1]) < 75


def test_what_is_only_listed_or_hinted_at_is_not_downloaded(pip: Pip) -> None:
    def run(*args: str) -> Result:
        return pip.variant(*args, driver="12.4").check()

    with Site() as site:
        serve(pip, site, tri(builds=["12.4"]), 20)
        site.add(*tri("2.0", builds=["12.8"]))
        # Version 1.0 would be hinted at, if it were known what its label needs.
        run("install", "tri")
        assert pip.build("tri") == ("2.0", "null")
        assert sum(site.sent.values()) < 15 * MEGABYTE
    with Site() as site:
        serve(pip, site, tri("3.0", builds=["12.4"]), 20)
        listed = json.loads(run("list", "--outdated", "--format", "json").stdout)
        assert [one["latest_version"] for one in listed] == ["3.0"]
        assert sum(site.sent.values()) < 15 * MEGABYTE


def test_a_label_that_is_taken_comes_whole_once_and_is_checked_then(pip: Pip) -> None:
    with Site(ranges=True) as site:
        pip.index_url = site.url
        site.add(*tri())
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        (whole,) = [
            one
            for one in site.log
            if one.path.endswith(".whl") and one.status == 200 and one.method == "GET"
        ]
        assert whole.path.endswith("-cuda12.8.whl")
        site.forge(whole.path.rpartition("/")[2])
        result = pip.variant("install", "--force-reinstall", "tri", driver="12.8")
        assert result.code == 1
        assert "THESE PACKAGES DO NOT MATCH THE HASHES" in result.output
