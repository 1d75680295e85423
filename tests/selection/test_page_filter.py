"""Which files of a page the target cannot use, by their names."""

from __future__ import annotations

import pytest

from pipvariant.selection.page_filter import PageFilter, Use, without_anchors

FITTING = "py3-none-any"


@pytest.mark.parametrize(
    ("filename", "use"),
    (
        ("tri-1.0-py3-none-any.whl", Use.POSSIBLE),
        ("tri-1.0-py3-none-any-a.whl", Use.POSSIBLE),
        ("tri-1.0-py3-none-win32.whl", Use.NONE),
        ("tri-1.0-1-py3-none-win32.whl", Use.NONE),
        ("tri-1.0+cu1-py3-none-win32.whl", Use.NONE),
        ("tri-1.0%2Bcu1-py3-none-win32.whl", Use.NONE),
        ("tri-1.0-py3-none-win32.whl#sha256=0a", Use.NONE),
        ("tri-1.0-py3-none-win32-a.whl", Use.VARIANT_OF_OTHER_TAGS),
        ("tri-1.0-1-py3-none-win32-a.whl", Use.VARIANT_OF_OTHER_TAGS),
        ("tri-1.0.win32-py3.9.exe", Use.NONE),
        ("tri-1.0-py3.9.egg", Use.NONE),
        # The installer says more of these, or they are something else.
        ("tri-1.0.tar.gz", Use.POSSIBLE),
        ("tri-1.0-variants.json", Use.POSSIBLE),
        ("tri-1_0-py3-none-win32.whl", Use.POSSIBLE),
        ("tri-1.0-py3-none-win32-UP.whl", Use.POSSIBLE),
        ("tri-1.0-py3-none-win32.whl#egg=tri", Use.POSSIBLE),
        ("tri-1.0-py3-none-win32.whl?a", Use.POSSIBLE),
        ("tri-1.0-py3-none-win32/", Use.POSSIBLE),
    ),
)
@pytest.mark.parametrize("folder", ("", "../../files/", "https://index.invalid/a-1-b-c-d.whl/"))
def test_a_filename_excludes_a_file_by_its_tags_or_kind(
    folder: str, filename: str, use: Use
) -> None:
    assert PageFilter(lambda tags: tags == FITTING).use(folder + filename) is use


def test_each_tag_set_is_asked_for_once() -> None:
    asked: list[str] = []

    def is_compatible(tags: str) -> bool:
        asked.append(tags)
        return False

    page_filter = PageFilter(is_compatible)
    for version in ("1.0", "2.0"):
        for label in ("a", "b"):
            page_filter.use(f"tri-{version}-py3-none-win32-{label}.whl")
    assert asked == ["py3-none-win32"]


PLAIN = '<a href="x/one.whl">one</a>'


@pytest.mark.parametrize(
    "anchor",
    (
        PLAIN,
        '<a href="one.whl#sha256=0a" data-requires-python="&gt;=3.9">one.whl</a>',
        '<a href="one.whl" data-requires-python=">=3.9" data-core-metadata="sha256=0a">one</a>',
    ),
)
def test_an_anchor_goes_whose_file_is_left_out(anchor: str) -> None:
    seen: list[str] = []

    def leaves_out(url: str) -> bool:
        seen.append(url)
        return "one" in url

    other = '<a href="two.whl">two</a>'
    page = f"<body>{anchor}<br/>\n{other}<br/>".encode()
    assert without_anchors(page, leaves_out) == f"<body><br/>\n{other}<br/>".encode()
    assert ["one" in url for url in seen] == [True, False]


@pytest.mark.parametrize(
    "anchor",
    (
        '<a href="one.whl" data-yanked="">one</a>',
        '<a href="one.whl" data-yanked>one</a>',
        "<a href='one.whl'>one</a>",
        '<A HREF="one.whl">one</A>',
        '<a class="x" href="one.whl">one</a>',
        '<a href="a&amp;one.whl">one</a>',
        '<a href="one.whl"><b>one</b></a>',
        '<p title="<a href="one.whl">one</a>',
        '<a href="one.whl">one',
    ),
)
def test_an_anchor_of_another_form_stays(anchor: str) -> None:
    assert without_anchors(anchor.encode(), lambda url: True) == anchor.encode()
