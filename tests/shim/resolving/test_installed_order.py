"""What is installed stands among the files of its version, by what ranks before it."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.selection.installed import Installed
from pipvariant.shim.core.pip_objects import make_link, make_version
from pipvariant.shim.finding.index import Search
from pipvariant.shim.parts import Parts
from pipvariant.shim.resolving.installed_candidate import keep
from pipvariant.standard.metadata import Metadata, Provider
from tests.shim.finder import make_parts

FILES = "https://index.invalid/files/"
PAGE = "https://index.invalid/simple/lib/"
VERSION = make_version("1.0")
LABELS = ("openblas", "mkl", "blis")


@pytest.fixture
def parts() -> Parts:
    """The parts of `install --upgrade-variant`, with metadata of a page."""
    made = make_parts(command="install", upgrade_variant=True)
    made.metadata.read[PAGE, "lib", VERSION] = described(*LABELS)
    return made


def described(*labels: str) -> Metadata:
    provider = Provider(static_properties={"library": ("mkl", "openblas", "blis")})
    variants = {label: {"blas": {"library": (label,)}} for label in labels}
    return Metadata(("blas",), {"blas": provider}, variants)


def known(label: str) -> Installed:
    return Installed("lib", "1.0", label, described(label))


def ordered(
    parts: Parts, have: Installed, *ends: str, page: str = PAGE, search: Search | None = None
) -> list[Any]:
    """The names of files, of which only the ends are given, and what is installed among them."""
    search = search or Search(None)
    parts.replacements.replaceable["lib", VERSION] = have
    files = [
        parts.index.file(
            "lib",
            VERSION,
            make_link(f"{FILES}lib-1.0-{end}", comes_from=page),
            hashes=search.hashes,
            payload=end,
        )
        for end in ends
    ]
    return parts.orders.order(files, search)


MKL = "py3-none-any-mkl.whl"


def test_the_others_follow_without_the_same_label(parts: Parts) -> None:
    tags = ("py311-none-any", "py3-none-any")
    ends = [f"{tag}{end}.whl" for tag in tags for end in ("-blis", "-openblas", "-mkl", "")]
    expected = [f"{tag}{end}.whl" for end in ("-mkl", "-blis", "") for tag in tags]
    assert ordered(parts, known("openblas"), *ends) == [*expected[:2], keep, *expected[2:]]


def test_a_source_is_named_without_its_password(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    page = "https://user:secret@index.invalid/simple/lib/"
    parts.metadata.read[page, "lib", VERSION] = described(*LABELS)
    metadata = Metadata(
        ("blas",), described().providers, {"mine": {"blas": {"library": ("blis",)}}}
    )
    have = Installed("lib", "1.0", "mine", metadata)
    assert ordered(parts, have, MKL, page=page) == [keep, MKL]
    (line,) = [text for text in caplog.messages if "does not know it" in text]
    assert line.startswith("lib 1.0: variant mine is kept; it fits, and https://user:****@index")


def test_other_versions_are_ordered_as_always(parts: Parts) -> None:
    parts.replacements.replaceable["lib", VERSION] = known("mkl")
    link = make_link(f"{FILES}lib-2.0-py3-none-any.whl", comes_from=PAGE)
    file = parts.index.file("lib", make_version("2.0"), link, payload="file")
    assert parts.orders.order([file], Search(None)) == ["file"]


def test_a_file_with_a_forbidden_hash_replaces_nothing(parts: Parts) -> None:
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: [])
    end, have = f"{MKL}#sha256={'0' * 64}", Installed("lib", "1.0")
    assert ordered(parts, have, end, search=Search(finder, hashes=hashes)) == [keep]
    assert ordered(parts, have, end) == [end, keep]
