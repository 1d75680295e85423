"""Links to metadata: which of them are kept, and in which order they are tried."""

from __future__ import annotations

import pytest

from pipvariant.shim.core.pip_objects import make_link, make_version
from pipvariant.shim.finding.index import MAX_LINKS, IndexState

HOST = "https://a.invalid"
PAGE = f"{HOST}/simple/tri/"
NAME = "tri-1.0-variants.json"


def tried(*paths: str) -> list[str]:
    """The paths that are tried for a wheel in /f, of those that its page has."""
    index = IndexState()
    for path in paths:
        index.keep(make_link(f"{HOST}{path}", comes_from=PAGE))
    wheel = make_link(f"{HOST}/f/tri-1.0-py3-none-any-x.whl?token=a/b", comes_from=PAGE)
    file = index.file("tri", make_version("1.0"), wheel)
    return [link.url.replace(HOST, "") for link in index.json_links_for(file)]


@pytest.mark.parametrize("name", ("..%2f..%2f" + NAME, "tri%252D1.0-variants.json", "x%2F" + NAME))
def test_a_name_is_decoded_once(name: str) -> None:
    assert tried(f"/f/{name}", f"/g/{NAME}") == [f"/g/{NAME}"]
    assert tried("/f/tri%2D1%2e0-variants.json?a=/b") != []


def test_what_is_beside_the_wheel_comes_first_and_then_what_is_named_as_it_should_be() -> None:
    paths = (
        f"/old/{NAME}",
        "/old/TRI-1.0-variants.json",
        "/f/tri-1.0.0-variants.json",
        f"/f/{NAME}",
    )
    assert tried(*paths[1:], paths[0]) == [paths[3], paths[2], paths[0], paths[1]]


def test_each_link_is_tried_once_and_few_of_many() -> None:
    assert tried(f"/f/{NAME}", f"/f/{NAME}", f"/f/{NAME}?a") == [f"/f/{NAME}", f"/f/{NAME}?a"]
    assert len(tried(*(f"/f/{NAME}?{number}" for number in range(99)))) == MAX_LINKS
