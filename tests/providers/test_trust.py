"""What the user trusts: names, versions that are exact, and indexes."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from pipvariant.errors import InvalidOption
from pipvariant.providers.trust import Trust, trust_option

A, B = "https://a.invalid/simple", "https://b.invalid/simple"


def allowed(words: str, place: str = A) -> str | None:
    """The versions of the package ``acme-provider``; None if it is not trusted."""
    found = Trust(words.split()).versions("acme-provider", place)
    return None if found is None else str(found)


@pytest.mark.parametrize(
    ("words", "versions"),
    (
        ("Acme_Provider", ""),
        ("other", None),
        ("acme-provider>=1,<2", "<2,>=1"),
        ("acme-provider==1.0", "===1.0"),
        ("acme-provider==v1.00+Local", "===1.0+local"),
        ("acme-provider==1.*", "==1.*"),
        ("acme-provider===1.0", "===1.0"),
        ("acme-provider Acme_provider==1.0 acme-provider<2", "<2,===1.0"),
    ),
)
def test_trust_is_a_name_and_versions(words: str, versions: str | None) -> None:
    assert allowed(words) == versions


def test_an_exact_version_has_no_local_version_in_it() -> None:
    versions = Trust(["acme-provider==1.0"]).versions("acme-provider", A)
    assert versions is not None
    assert list(versions.filter(["1.0", "1.0+evil", "1.0.post1", "1.1"])) == ["1.0"]


@pytest.mark.parametrize(
    ("words", "place", "versions"),
    (
        (f"acme-provider@{A}", A, ""),
        (f"acme-provider@{A}", B, None),
        (f"acme-provider==1.0@{A}", A, "===1.0"),
        (f"acme-provider==1.0@{A} acme-provider==2.0@{B}", B, "===2.0"),
        # All that is said has to hold.
        (f"acme-provider acme-provider@{A}", B, None),
        (f"acme-provider==1.0 acme-provider>0@{A}", A, "===1.0,>0"),
        # Ways to write one place.
        ("acme-provider@HTTPS://user:pw@A.invalid/simple/", A, ""),
        ("acme-provider@/srv/a%20b", "file:///srv/a%2520b", ""),
        ("acme-provider@file:///srv/a%20b/", Path("/srv/a b").as_uri(), ""),
        # A place is no part of another.
        (f"acme-provider@{A}", f"{A}/more", None),
        (f"acme-provider@{A}", "http://a.invalid/simple", None),
        ("acme-provider", "", ""),
        (f"acme-provider@{A}", "", None),
        (f"acme-provider@{A}", "https://[a", None),
    ),
)
def test_trust_in_an_index_is_for_what_comes_from_it(
    words: str, place: str, versions: str | None
) -> None:
    found = allowed(words, place)
    assert found is versions is None or sorted(str(found).split(",")) == sorted(
        str(versions).split(",")
    )


@pytest.mark.parametrize(
    "word",
    (
        *("", "a b", "a[x]", "a; os_name == 'nt'", "-a", "a@", "@https://a", "a@https://[a"),
        *("a @ https://a/b.whl", "a@https://a/ b", "a@b==1.0 c", "a==" + "9" * 5000),
    ),
)
def test_what_names_no_package_is_refused_with_the_option(word: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Trust([word])
    assert caught.value.where == "--trust-provider"
    assert repr(word) in caught.value.what


def test_a_password_in_a_word_is_not_shown() -> None:
    with pytest.raises(InvalidOption) as caught:
        Trust(["a b@https://user:s3cr3t@a.invalid/simple"])
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("requirement", "places", "word"),
    (
        ("Acme_Provider", [A], f"acme-provider@{A}"),
        ("acme-provider==1.0", [A], f"acme-provider==1.0@{A}"),
        ("acme-provider==1.*,>0", [A], f"acme-provider@{A}"),
        ("acme-provider==1.0", [], "acme-provider==1.0"),
        # Which of them has it nobody knows.
        ("acme-provider", [A, B], "acme-provider"),
        ("acme-provider", ["file:///a;b&c"], "acme-provider@file:///a;b&c"),
    ),
)
def test_the_option_to_paste_trusts_as_little_as_possible(
    requirement: str, places: list[str], word: str
) -> None:
    option = trust_option(Requirement(requirement), places)
    assert shlex.split(option) == ["--trust-provider", word]
    assert Trust([word]).versions("acme-provider", (places or [A])[0]) is not None
