"""Pages: what a file's name excludes costs no link, and nobody reads anything else for it."""

from __future__ import annotations

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index
from integration.sites import Site, page
from integration.wheels import Wheel, tri

SCRIPT = """
import sys
from pip._internal.models.link import Link
from pipvariant.cli import main
init = Link.__init__
def count(self, url, *args, **kwargs):
    print("LINK", url)
    init(self, url, *args, **kwargs)
Link.__init__ = count
sys.exit(main(sys.argv[1:]))
"""
OTHER = "py3-none-win32"


def _links(pip: Pip, *args: str) -> list[str]:
    result = pip.run(["-c", SCRIPT, *args], driver="12.8").check()
    lines = [line for line in result.stdout.splitlines() if line.startswith("LINK ")]
    return [line for line in lines if ".whl" in line]


def _fill(index: Index) -> None:
    index.add(*tri(), *tri("2.0", tag=OTHER), Wheel("tri", "3.0", tag="cp39-cp39-win32.win_amd64"))


@pytest.mark.every_pip
@pytest.mark.effect_of("pages", "PackageFinder.process_project_url")
@pytest.mark.effect_of("pages", "LinkCollector.fetch_response")
def test_no_link_is_made_of_a_wheel_for_another_platform(pip: Pip, index: Index) -> None:
    index.pages = "html"
    _fill(index)
    links = _links(pip, "install", "--dry-run", "tri")
    assert {"cuda12.8" in link for link in links} == {True, False}
    assert [link for link in links if "win32" in link] == []


@pytest.mark.every_pip
@pytest.mark.effect_of("pages", "Link.from_json")
@pytest.mark.skipif(PIP_VERSION < (22, 3), reason="its reader of JSON pages makes each link itself")
def test_no_link_is_made_of_one_that_a_json_page_lists(pip: Pip, index: Index) -> None:
    index.pages = "json"
    _fill(index)
    assert [link for link in _links(pip, "install", "--dry-run", "tri") if "win32" in link] == []


@pytest.mark.parametrize("pages", ("html", "json"))
def test_a_log_of_everything_names_each_file(pip: Pip, index: Index, pages: str) -> None:
    index.pages = pages
    _fill(index)
    result = pip.variant("install", "--dry-run", "-vv", "tri", driver="12.8").check()
    assert result.lines_with("Skipping link", "tri-2.0-py3-none-win32-cuda12.6.whl")


@pytest.mark.every_pip
def test_what_is_only_for_other_platforms_is_named_all_the_same(pip: Pip, index: Index) -> None:
    index.add(*tri(tag=OTHER, plain=False))
    result = pip.variant("install", "tri", driver="12.8")
    assert result.code == 1
    assert result.lines_with("none of its variants is for this Python and platform", "win32")
    explained = pip.variant("variant", "explain", "tri", driver="12.8")
    assert "cuda12.6" in explained.output


def test_links_relative_to_their_page_are_named_as_others(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        names = (f"tri-1.0-py3-none-win32-{label}.whl" for label in ("cuda12.6", "null"))
        site.write("/simple/tri/", page(f"../../files/{name}#sha256=0a" for name in names))
        result = pip.variant("install", "tri", driver="12.8")
    assert result.code == 1
    assert result.lines_with("tri 1.0: none of its variants", "cuda12.6 is for win32; null is for")
    assert "Traceback" not in result.output
