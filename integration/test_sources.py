"""Sources that lost the metadata, and several sources at once (PEP 825)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.wheels import Wheel, cuda, metadata, release, tri


def put(pip: Pip, wheels: Iterable[Wheel]) -> tuple[str, ...]:
    """Lay wheels into a folder, and give the options that make it the only source."""
    folder = pip.work / "wheels"
    folder.mkdir()
    for wheel in wheels:
        (folder / wheel.filename).write_bytes(wheel.content)
    return ("--no-index", "--find-links", "wheels")


@pytest.mark.parametrize("beside", (True, False))
@pytest.mark.effect_of("filenames", "index.sources:parse_wheel_filename")
def test_a_folder_answers_as_an_index_does(pip: Pip, index: Index, beside: bool) -> None:
    source = put(pip, tri())
    if beside:
        body = Reply.json(metadata(tri(builds=["12.6"]))).body
        (pip.work / "wheels" / "tri-1.0-variants.json").write_bytes(body)
    pip.variant("install", *source, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6" if beside else "cuda12.8")
    assert index.requests == []


@pytest.mark.every_pip
def test_what_download_leaves_is_a_source(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("solo",)), Wheel("solo"))
    pip.variant("download", "-d", "wheels", "tri", driver="12.8").check()
    index.log.clear()
    pip.variant("install", "--no-index", "--find-links", "wheels", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert index.requests == []


@pytest.mark.every_pip
def test_lost_metadata_is_read_from_one_wheel_of_each_label(pip: Pip, index: Index) -> None:
    index.ranges = True
    index.add(*tri(), *tri(build="2"))
    index.unlist("tri-1.0-variants.json")
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    whole = {
        request.path
        for request in index.log
        if ".whl" in request.path and request.status == 200 and request.method == "GET"
    }
    assert whole == {"/files/tri-1.0-2-py3-none-any-cuda12.8.whl"}
    parts = {request.path for request in index.log if request.status == 206}
    assert len(parts) == len({"cuda12.6", "cuda12.8", "cuda13.0", "null"})
    assert result.warnings == []


def test_one_label_has_other_properties_at_each_source(pip: Pip, index: Index) -> None:
    index.add(*release("tri", labels={"x": (cuda("13.0"),)}, plain=False))
    with Index() as other:
        other.add(*release("tri", labels={"x": (cuda("12.0"),)}, plain=False))
        options = ("--extra-index-url", other.url)
        pip.variant("install", *options, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "x")
        assert other.requests_for("-x.whl") == ["GET /files/tri-1.0-py3-none-any-x.whl"]
        assert index.requests_for("-x.whl") == []


def test_variants_that_fit_at_two_sources_are_said(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6"]))
    with Index() as other:
        other.add(*tri(builds=["12.8"]))
        options = ("--extra-index-url", other.url)
        result = pip.variant("install", *options, "tri", driver="12.8").check()
        (warning,) = result.warnings
        assert index.host in warning
        assert other.host in warning
        assert "-cuda12" in "".join(index.requests_for(".whl") + other.requests_for(".whl"))


def test_a_source_with_damaged_metadata_leaves_the_other(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.8"]))
    index.answer("tri-1.0-variants.json", Reply(b"{"))
    with Index() as other:
        other.add(*tri(builds=["12.6"]))
        options = ("--extra-index-url", other.url)
        result = pip.variant("install", *options, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.6")
        (warning,) = result.warnings
        assert index.host in warning
