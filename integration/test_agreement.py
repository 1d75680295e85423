"""A wheel whose filename, variant.json and variants.json do not agree is left out (PEP 825)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.sites import Site, page
from integration.wheels import Wheel, cuda, metadata, tri

NAME = "tri-1.0-variants.json"
BEST = "tri-1.0-py3-none-any-cuda12.8.whl"
NEXT = "tri-1.0-py3-none-any-cuda12.6.whl"


def lie(index: Index) -> None:
    """Put tri on an index whose JSON says something else than one of its wheels."""
    index.add(*tri("0.9"), *tri(), Wheel("user", requires=("tri",)), Wheel("solo"))
    promised = [
        replace(wheel, properties=(cuda("12.7"),)) if wheel.label == "cuda12.8" else wheel
        for wheel in tri()
    ]
    index.answer(NAME, Reply.json(metadata(promised)))


WAYS: Mapping[str, tuple[str, ...]] = {
    "install": ("install", "solo", "tri"),
    "dependency": ("install", "solo", "user"),
    "download": ("download", "-d", "out", "tri"),
    "wheel": ("wheel", "-w", "out", "tri"),
    "fast deps": ("install", "--use-feature=fast-deps", "solo", "tri"),
}


@pytest.mark.effect_of("again", "Resolver.resolve")
@pytest.mark.parametrize(
    ("way", "described"),
    (*((way, False) for way in sorted(WAYS)), ("install", True), ("download", True)),
)
def test_the_next_best_is_taken_for_a_wheel_that_is_not_what_the_index_said(
    pip: Pip, index: Index, way: str, described: bool
) -> None:
    # Where metadata was read apart, the wheel itself comes when everything else is decided.
    index.ranges, index.pages, index.metadata_files = True, "html", described
    lie(index)
    result = pip.variant(*WAYS[way], driver="12.8").check()
    (warning,) = [line for line in result.warnings if "fast-deps" not in line]
    assert index.file_url(BEST) in warning
    assert cuda("12.7") in warning
    assert cuda("12.8") in warning
    if way in ("download", "wheel"):
        assert [path.name for path in pip.work.glob("out/tri*")] == [NEXT]
    else:
        assert pip.build("tri") == ("1.0", "cuda12.6")
        assert pip.label("solo") == ""
        # What the environment keeps to choose from later is without it.
        assert "cuda12.8" not in (pip.site / "tri-1.0.dist-info/variants.json").read_text()
    # Nothing is fetched twice, except in parts.
    whole = [each.path for each in index.log if each.method == "GET" and each.status == 200]
    wheels = [path for path in whole if path.endswith(".whl")]
    assert len(wheels) == len(set(wheels))


def test_the_legacy_resolver_refuses_such_a_wheel(pip: Pip, index: Index) -> None:
    lie(index)
    legacy = "--use-deprecated=legacy-resolver"
    result = pip.variant("install", legacy, "solo", "tri", driver="12.8")
    assert result.code == 1
    assert result.lines_with("ERROR", BEST, cuda("12.7"), cuda("12.8"))
    assert pip.installed() == {}


@pytest.mark.parametrize("described", (False, True))
def test_such_a_wheel_is_refused_where_its_hash_is_given(
    pip: Pip, index: Index, described: bool
) -> None:
    index.metadata_files = described
    lie(index)
    hashes = [hashlib.sha256(wheel.content).hexdigest() for wheel in tri()]
    pip.write("r.txt", [" ".join(["tri==1.0", *(f"--hash=sha256:{each}" for each in hashes)])])
    result = pip.variant("install", "-r", "r.txt", driver="12.8")
    assert result.code == 1
    assert result.lines_with("ERROR", BEST, cuda("12.7"), cuda("12.8"))
    assert pip.installed() == {}


def test_a_wheel_in_a_folder_is_held_to_the_file_beside_it(pip: Pip) -> None:
    folder = pip.work / "wheels"
    folder.mkdir()
    for wheel in tri():
        (folder / wheel.filename).write_bytes(wheel.content)
    said = metadata([replace(wheel, properties=(cuda("12.7"),)) for wheel in tri(null=False)])
    (folder / NAME).write_text(json.dumps(said))
    result = pip.variant("install", "--no-index", "-f", "wheels", "tri", driver="12.8").check()
    # Of all labels the same is said, so that one after the other is found out.
    assert len([line for line in result.warnings if cuda("12.7") in line]) == 3
    assert pip.build("tri") == ("1.0", "null")


INSIDE = {
    "no variant.json": Wheel("tri"),
    "another label": Wheel("tri", label="cuda13.0", properties=(cuda("13.0"),)),
    "other properties": Wheel(
        "tri", label="cuda12.8", properties=("nvidia :: cuda_version_upper_bound :: 13",)
    ),
    "no properties": Wheel("tri", label="cuda12.8"),
    "null": Wheel("tri", label="null"),
}


@pytest.mark.parametrize("kind", sorted(INSIDE))
def test_a_wheel_with_something_else_inside_is_left_out(pip: Pip, index: Index, kind: str) -> None:
    index.add(*tri("0.9"), *tri())
    index.answer(BEST, Reply(INSIDE[kind].content))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert BEST in result.warnings[0]
    assert len(result.warnings) == 1
    assert pip.build("tri") == ("1.0", "cuda12.6")


def test_a_null_wheel_with_properties_inside_is_left_out(pip: Pip, index: Index) -> None:
    index.add(*tri())
    wheel = Wheel("tri", label="null", properties=(cuda("12.0"),))
    index.answer(wheel.filename, Reply(wheel.content))
    result = pip.variant("install", "tri", driver="12.4").check()
    assert len(result.warnings) == 1
    assert pip.build("tri") == ("1.0", "")


def test_a_version_whose_only_label_is_left_out_has_no_variants(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=("12.8",), null=False))
    index.answer(BEST, Reply(Wheel("tri").content))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    assert "would fit better" not in pip.variant("install", "tri", driver="12.8").output
    assert not (pip.site / "tri-1.0.dist-info/variants.json").exists()


def test_an_older_version_is_taken_where_all_of_the_newer_is_left_out(
    pip: Pip, index: Index
) -> None:
    only = tri(builds=("12.8",), null=False, plain=False)
    index.add(*tri("0.9"), *only, Wheel("tri", "0.8"))
    index.answer(only[0].filename, Reply(Wheel("tri").content))
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("0.9", "cuda12.8")


def test_agreement_is_about_properties_not_about_their_order(pip: Pip, index: Index) -> None:
    values = (cuda("12.8"), "nvidia :: sm_arch :: 90_real", "nvidia :: sm_arch :: 80_real")
    wheels = [Wheel("tri", label="x", properties=values), Wheel("tri")]
    index.add(*wheels)
    said = metadata(wheels)
    said["variants"]["x"]["nvidia"] = dict(reversed(said["variants"]["x"]["nvidia"].items()))
    said["comment"] = "more than the wheel says"
    index.answer(NAME, Reply.json(said))
    machine = {"NV_VARIANT_PROVIDER_FORCE_SM_ARCH": "9.0"}
    pip.variant("install", "tri", driver="12.8", environ=machine).check()
    assert pip.build("tri") == ("1.0", "x")


def test_wheels_that_contradict_each_other_are_left_out(pip: Pip, index: Index) -> None:
    # Without a variants.json they are asked themselves, one of each label.
    other = {"nvidia": {"requires": ["somebody-else"]}}
    older, newer, *rest = tri()
    index.add(older, replace(newer, providers=other), *rest)
    index.unlist(NAME)
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    assert len(result.warnings) == 1


# The hash of the JSON.

BODY = json.dumps(metadata(tri())).encode()


def listed(site: Site, digest: str, form: str) -> None:
    """Serve tri on a page that lists its JSON with this hash, and its wheels without any."""
    site.add(*tri())
    site.answer(NAME, Reply(BODY))
    wheels = [f"/files/{wheel.filename}" for wheel in tri()]
    if form == "html":
        site.write("/simple/tri/", page([*wheels, f"/files/{NAME}#{digest}"]))
        return
    listing = page(wheels, "json")
    files = json.loads(listing.body)
    algorithm, _, value = digest.partition("=")
    entry = {"filename": NAME, "url": f"/files/{NAME}", "hashes": {algorithm: value}}
    files["files"].append(entry)
    site.write("/simple/tri/", replace(listing, body=json.dumps(files).encode()))


@pytest.mark.parametrize("form", ("html", "json"))
@pytest.mark.parametrize("algorithm", ("sha256", "sha512", "blake2b"))
def test_the_json_is_held_to_its_hash(pip: Pip, form: str, algorithm: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site, f"{algorithm}={hashlib.new(algorithm, BODY).hexdigest()}", form)
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert result.warnings == []


@pytest.mark.parametrize("form", ("html", "json"))
@pytest.mark.parametrize("algorithm", ("sha256", "sha512"))
def test_json_with_another_hash_is_left_out(pip: Pip, form: str, algorithm: str) -> None:
    with Site() as site:
        pip.index_url = site.url
        listed(site, f"{algorithm}={hashlib.new(algorithm, b'?').hexdigest()}", form)
        result = pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "")
        (warning,) = result.warnings
        assert f"{site.host}/files/{NAME}" in warning
        assert algorithm in warning
        assert site.requests_for("-null.whl") == []
