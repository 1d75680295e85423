"""Lock files with variant wheels: written by `lock`, read by `-r pylock.toml` (PEP 825)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from integration.environments import PIP_VERSION, Pip, Result
from integration.index import Index, Reply
from integration.wheels import Sdist, Wheel, cuda, metadata, release, tri

LOCK = "pylock.toml"
TABLE = "variants-json"
WINDOWS = "cp313-cp313-win_amd64"

writes = pytest.mark.skipif(PIP_VERSION < (25, 1), reason="`lock` is new in pip 25.1")
reads = pytest.mark.skipif(PIP_VERSION < (26, 1), reason="26.1 is the first pip to read locks")


def packages(pip: Pip) -> dict[str, Any]:
    """The packages of the lock file in the working folder, by name."""
    try:
        toml = import_module("tomllib")
    except ImportError:
        toml = import_module("pip._vendor.tomli")
    lock = toml.loads((pip.work / LOCK).read_text())
    assert lock["lock-version"] == "1.0"
    return {package["name"]: package for package in lock["packages"]}


def write(
    pip: Pip, index: Index, wheels: Iterable[Wheel], table: object = None, **more: object
) -> None:
    """Write a lock file that lists these wheels, as any tool may have done."""
    listed = list(wheels)
    package: dict[str, object] = {
        "name": listed[0].name,
        "version": listed[0].version,
        "wheels": [entry(index, wheel) for wheel in listed],
        **more,
    }
    if table is not None:
        package[TABLE] = table
    lock = {"lock-version": "1.0", "created-by": "test", "packages": [package]}
    text = import_module("pip._vendor.tomli_w").dumps(lock)
    (pip.work / LOCK).write_text(text)


def entry(index: Index, artefact: Wheel | Sdist) -> dict[str, object]:
    return {
        "name": artefact.filename,
        "url": index.file_url(artefact.filename),
        "hashes": {"sha256": hashlib.sha256(artefact.content).hexdigest()},
    }


def names(package: Mapping[str, Any]) -> list[str]:
    return [wheel["name"] for wheel in package["wheels"]]


def install(pip: Pip, *args: str, **how: Any) -> Result:
    return pip.variant("install", "-r", LOCK, *args, **how)


def files(index: Index) -> list[str]:
    return [request.path.rpartition("/")[2] for request in index.log]


# Written.


@pytest.mark.effect_of("write", "Pylock.to_dict", "Pylock.as_toml")
@writes
def test_the_chosen_wheel_is_locked_with_its_metadata(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("lock", "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    (chosen,) = (wheel for wheel in tri() if wheel.label == "cuda12.8")
    assert package["wheels"] == [entry(index, chosen)]
    assert package[TABLE] == metadata([chosen])


@writes
def test_the_null_variant_is_locked_with_the_namespaces_it_was_chosen_among(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    pip.variant("lock", "tri").check()
    package = packages(pip)["tri"]
    assert names(package) == ["tri-1.0-py3-none-any-null.whl"]
    assert package[TABLE]["variants"] == {"null": {}}
    assert package[TABLE]["default-priorities"] == {"namespace": ["nvidia"]}


@writes
@pytest.mark.parametrize("args", (("solo",), ("tri",), ("solo", "tri")))
def test_without_a_label_the_lock_is_plain_pips(
    pip: Pip, index: Index, args: tuple[str, ...]
) -> None:
    index.add(*tri(null=False), Wheel("solo"))
    pip.plain("lock", *args, "-o", "pylock.plain.toml").check()
    pip.variant("lock", *args).check()
    assert (pip.work / LOCK).read_text() == (pip.work / "pylock.plain.toml").read_text()


@writes
def test_a_lock_goes_to_stdout_as_well(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("lock", "tri", driver="12.8").check()
    result = pip.variant("--quiet", "lock", "tri", "-o", "-", driver="12.8").check()
    assert result.stdout == (pip.work / LOCK).read_text()


@writes
def test_all_variants_lists_every_file_of_the_version(pip: Pip, index: Index) -> None:
    sdist = Sdist(Wheel("tri"))
    offered = [*tri(), *tri(tag=WINDOWS), Wheel("tri", build="2")]
    index.add(*offered, *tri("0.9"), sdist)
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    listed = {wheel["name"]: wheel for wheel in package["wheels"]}
    assert listed == {wheel.filename: entry(index, wheel) for wheel in offered}
    assert package["sdist"] == entry(index, sdist)
    assert package[TABLE] == metadata(tri())


@writes
def test_all_variants_downloads_the_chosen_wheel_only(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    assert index.requests == [
        "GET /simple/tri/",
        "GET /files/tri-1.0-variants.json",
        "GET /files/tri-1.0-py3-none-any-cuda12.8.whl",
    ]


@writes
def test_all_variants_gives_the_same_lock_on_each_machine(pip: Pip, index: Index) -> None:
    index.add(*tri(), *tri(tag=WINDOWS), Sdist(Wheel("tri")), Wheel("solo", tag=WINDOWS))
    index.add(Sdist(Wheel("solo")))
    texts = set()
    for driver in ("12.6", "13.0", None):
        pip.variant("lock", "--all-variants", "tri", "solo", driver=driver).check()
        texts.add((pip.work / LOCK).read_text())
    assert len(texts) == 1
    solo = packages(pip)["solo"]
    assert names(solo) == [f"solo-1.0-{WINDOWS}.whl"]
    assert TABLE not in solo


@writes
def test_all_variants_lists_non_variant_wheels_first_and_higher_builds_first(
    pip: Pip, index: Index
) -> None:
    index.add(*tri(builds=["12.6"], null=False), *tri(builds=["12.6"], null=False, build="10"))
    index.add(*tri(builds=["12.6"], null=False, build="9"))
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    assert names(packages(pip)["tri"]) == [
        "tri-1.0-10-py3-none-any.whl",
        "tri-1.0-9-py3-none-any.whl",
        "tri-1.0-py3-none-any.whl",
        "tri-1.0-10-py3-none-any-cuda12.6.whl",
        "tri-1.0-9-py3-none-any-cuda12.6.whl",
        "tri-1.0-py3-none-any-cuda12.6.whl",
    ]


@writes
def test_all_variants_leaves_out_what_pip_would_not_take(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6"], null=False))
    index.add(Wheel("tri", label="cuda12.8", properties=(cuda("12.8"),)), yanked="broken")
    index.add(Wheel("tri", build="3", requires_python=">=99"))
    index.add(Wheel("tri", tag=WINDOWS, requires_python=">=99"))
    index.add(Sdist(Wheel("tri")))
    pip.variant("lock", "--all-variants", "--only-binary", ":all:", "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    assert names(package) == ["tri-1.0-py3-none-any.whl", "tri-1.0-py3-none-any-cuda12.6.whl"]
    assert "sdist" not in package


@writes
def test_all_variants_leaves_out_what_is_not_what_its_index_says(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.6", "12.8"], null=False))
    index.answer("tri-1.0-py3-none-any-cuda12.8.whl", Reply(Wheel("tri").content))
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    assert names(package) == ["tri-1.0-py3-none-any.whl", "tri-1.0-py3-none-any-cuda12.6.whl"]


@writes
def test_all_variants_of_several_sources_are_those_of_the_chosen_one(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    with Index() as other:
        other.add(*tri(builds=["11.8"], null=False))
        pip.variant(
            "lock", "--all-variants", "--extra-index-url", other.url, "tri", driver="13.0"
        ).check()
        package = packages(pip)["tri"]
        others = {other.file_url(wheel.filename) for wheel in tri(builds=["11.8"], null=False)}
    ours = {index.file_url(wheel.filename) for wheel in tri()}
    assert {wheel["url"] for wheel in package["wheels"]} in (ours, others)


@writes
def test_a_page_without_hashes_has_its_files_hashed(pip: Pip, index: Index) -> None:
    wheels = tri(builds=["12.6"])
    index.add(*wheels)
    links = "".join(f'<a href="{wheel.filename}">{wheel.filename}</a>' for wheel in wheels)
    links += '<a href="tri-1.0-variants.json">tri-1.0-variants.json</a>'
    page = Reply(f"<!DOCTYPE html>{links}".encode(), headers={"Content-Type": "text/html"})
    index.answer("page.html", page)
    source = ("--no-index", "--find-links", index.file_url("page.html"))
    pip.variant("lock", "--all-variants", *source, "tri", driver="12.8").check()
    listed = {wheel["name"]: wheel["hashes"] for wheel in packages(pip)["tri"]["wheels"]}
    assert listed == {wheel.filename: entry(index, wheel)["hashes"] for wheel in wheels}


@writes
def test_all_variants_of_a_folder(pip: Pip, index: Index) -> None:
    folder = pip.work / "wheels"
    folder.mkdir()
    for wheel in tri():
        (folder / wheel.filename).write_bytes(wheel.content)
    source = ("--no-index", "--find-links", "wheels")
    pip.variant("lock", "--all-variants", *source, "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    assert sorted(names(package)) == sorted(wheel.filename for wheel in tri())
    assert {wheel["url"].partition(":")[0] for wheel in package["wheels"]} == {"file"}
    assert package[TABLE]["variants"] == metadata(tri())["variants"]
    assert index.requests == []


@writes
def test_labels_of_other_platforms_have_their_metadata_without_variants_json(
    pip: Pip, index: Index
) -> None:
    index.ranges = True
    index.add(*tri(builds=["12.6"]), *tri(builds=["13.0"], null=False, plain=False, tag=WINDOWS))
    index.unlist("tri-1.0-variants.json")
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    package = packages(pip)["tri"]
    assert f"tri-1.0-{WINDOWS}-cuda13.0.whl" in names(package)
    assert package[TABLE]["variants"] == metadata(tri(builds=["12.6", "13.0"]))["variants"]


@writes
def test_labels_that_nothing_is_known_about_are_not_listed(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", Reply.json(metadata(tri(builds=["12.6"], null=False))))
    pip.variant("lock", "--all-variants", "tri", driver="13.0").check()
    package = packages(pip)["tri"]
    labels = [name.rpartition("-")[2] for name in names(package)]
    assert labels == ["any.whl", "cuda12.6.whl", "null.whl"]
    assert sorted(package[TABLE]["variants"]) == ["cuda12.6", "null"]


@writes
def test_metadata_that_cannot_be_read_leaves_labels_out_of_the_lock(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", Reply(b"{"))
    result = pip.variant("lock", "--all-variants", "tri", driver="13.0").check()
    package = packages(pip)["tri"]
    assert names(package) == ["tri-1.0-py3-none-any.whl"]
    assert TABLE not in package
    assert len([line for line in result.warnings if "variants.json" in line]) == 1


@writes
def test_without_variants_all_are_the_non_variant_ones(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("tri", tag=WINDOWS))
    pip.variant("lock", "--all-variants", "--no-variant", "tri", driver="13.0").check()
    package = packages(pip)["tri"]
    assert names(package) == [f"tri-1.0-{WINDOWS}.whl", "tri-1.0-py3-none-any.whl"]
    assert TABLE not in package


@writes
def test_what_is_given_by_url_is_locked_as_pip_does(pip: Pip, index: Index) -> None:
    index.add(*tri())
    url = index.file_url("tri-1.0-py3-none-any-cuda12.6.whl")
    pip.variant("lock", "--all-variants", url, driver="12.8").check()
    package = packages(pip)["tri"]
    assert package["archive"]["url"] == url
    assert TABLE not in package


def test_the_option_is_for_lock_only(pip: Pip) -> None:
    result = pip.variant("install", "--all-variants", "tri")
    assert result.code == 2
    assert result.lines_with("no such option: --all-variants")


# Read.


@pytest.mark.effect_of("filenames", "pylock:parse_wheel_filename")
@pytest.mark.effect_of("read", "Pylock.from_dict", "select_from_pylock_path_or_url")
@reads
def test_one_lock_serves_machines_with_different_hardware(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    for driver, label in (("12.6", "cuda12.6"), ("13.0", "cuda13.0"), (None, "null")):
        index.log.clear()
        install(pip, "--force-reinstall", driver=driver).check()
        assert pip.label("tri") == label
        assert files(index) == [f"tri-1.0-py3-none-any-{label}.whl"]


@pytest.mark.effect_of("filenames", "req.constructors:parse_wheel_filename")
@reads
def test_a_package_without_a_version_has_that_of_its_wheel(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri()))
    lock = pip.work / LOCK
    lock.write_text(lock.read_text().replace('\nversion = "1.0"', ""))
    install(pip, driver="12.6").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@reads
def test_the_choice_and_its_reason_are_told(pip: Pip, index: Index) -> None:
    write(pip, index, tri(), metadata(tri()))
    index.add(*tri())
    assert install(pip, driver="12.6").check().lines_with("tri 1.0: variant cuda12.6", "12.6")
    result = install(pip, "--force-reinstall", driver="12.4").check()
    assert result.lines_with("tri 1.0: null variant", "12.6", "12.4")
    report = pip.report("--ignore-installed", "-r", LOCK, driver="12.8")
    (installed,) = report["install"]
    assert installed["variant"]["label"] == "cuda12.8"
    assert installed["variant"]["compatible"] == ["cuda12.8", "cuda12.6", "null"]
    assert [item["label"] for item in installed["variant"]["rejected"]] == ["cuda13.0"]


@reads
def test_the_metadata_of_the_lock_decides_whatever_the_index_says(pip: Pip, index: Index) -> None:
    index.add(*tri())
    index.answer("tri-1.0-variants.json", Reply(b"{}"))
    write(pip, index, tri(), metadata(tri()))
    install(pip, driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


@reads
def test_a_file_that_is_not_the_locked_one_is_refused(pip: Pip, index: Index) -> None:
    write(pip, index, tri(), metadata(tri()))
    (locked,) = (wheel for wheel in tri() if wheel.label == "cuda12.8")
    index.add(*tri())
    index.answer(locked.filename, Reply(replace(locked, requires=("solo",)).content))
    result = install(pip, driver="12.8")
    assert result.code == 1
    assert "DO NOT MATCH THE HASHES" in result.output
    assert pip.installed() == {}


@reads
def test_a_wheel_that_says_something_else_than_the_lock_is_refused(pip: Pip, index: Index) -> None:
    liar = Wheel("tri", label="cuda12.6", properties=(cuda("13.0"),))
    honest = Wheel("tri", label="cuda12.6", properties=(cuda("12.6"),))
    index.add(liar)
    write(pip, index, [liar, Wheel("tri")], metadata([honest]))
    result = install(pip, driver="12.8")
    assert result.code == 1
    assert result.lines_with("12.6", "13.0")
    assert pip.installed() == {}


@reads
def test_a_lock_made_on_another_machine_is_refused_where_it_does_not_fit(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    pip.variant("lock", "tri", driver="13.0").check()
    index.log.clear()
    result = install(pip, driver="12.8")
    assert result.code == 1
    assert result.lines_with("cuda13.0", ">= 13.0", "12.8")
    assert index.requests == []
    assert pip.installed() == {}


@reads
def test_label_then_tag_then_build_number(pip: Pip, index: Index) -> None:
    major = f"py{3}-none-any"
    wheels = [
        *tri(builds=["12.6"], null=False),
        *tri(builds=["12.8"], null=False, plain=False, tag=major),
        *tri(builds=["12.8"], null=False, plain=False, tag=major, build="2"),
        *tri(builds=["12.6"], null=False, plain=False, tag="cp3-none-any"),
        *tri(builds=["13.0"], null=False, plain=False, tag=WINDOWS),
    ]
    index.add(*wheels)
    write(pip, index, wheels, metadata(tri()))
    install(pip, driver="13.0").check()
    assert files(index) == ["tri-1.0-2-py3-none-any-cuda12.8.whl"]


@reads
def test_non_variant_wheels_come_last_and_then_the_sdist(pip: Pip, index: Index) -> None:
    sdist = Sdist(Wheel("tri"))
    index.add(*tri(null=False), sdist)
    write(pip, index, tri(null=False), metadata(tri()), sdist=entry(index, sdist))
    install(pip, "--no-build-isolation", driver="12.4").check()
    assert files(index) == ["tri-1.0-py3-none-any.whl"]
    index.log.clear()
    write(pip, index, tri(null=False, plain=False), metadata(tri()), sdist=entry(index, sdist))
    install(pip, "--force-reinstall", "--no-build-isolation", driver="12.4").check()
    assert files(index) == ["tri-1.0.tar.gz"]


@reads
def test_labels_that_the_metadata_does_not_have_are_never_installed(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri(builds=["13.0"], null=False)))
    install(pip, driver="12.8").check()
    assert pip.label("tri") == "null"


@reads
@pytest.mark.parametrize(
    "table", ({}, {"$schema": "v9.0.0.json"}, {"variants": 1}, [1], "text", {"url": 3})
)
def test_broken_metadata_leaves_null_and_non_variant_wheels(
    pip: Pip, index: Index, table: object
) -> None:
    index.add(*tri())
    write(pip, index, tri(), table)
    result = install(pip, driver="13.0").check()
    assert pip.label("tri") == "null"
    assert len([line for line in result.warnings if TABLE in line]) == 1
    write(pip, index, tri(null=False), table)
    install(pip, "--force-reinstall", driver="13.0").check()
    assert pip.label("tri") == ""


@reads
@pytest.mark.parametrize("ranges", (True, False))
def test_without_metadata_one_wheel_of_each_label_is_asked(
    pip: Pip, index: Index, ranges: bool
) -> None:
    index.ranges = ranges
    index.add(*tri())
    write(pip, index, tri())
    install(pip, driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"
    assert index.requests_for("/simple/tri/") == []


@reads
def test_without_metadata_a_wheel_without_alternative_is_asked_once_it_is_here(
    pip: Pip, index: Index
) -> None:
    (wheel,) = tri(builds=["12.6"], null=False, plain=False)
    index.add(wheel)
    write(pip, index, [wheel])
    result = install(pip, driver="12.4")
    assert result.code == 1
    assert result.lines_with("12.6", "12.4")
    assert pip.installed() == {}
    index.log.clear()
    install(pip, driver="12.6").check()
    assert pip.label("tri") == "cuda12.6"
    assert files(index) == [wheel.filename]


@reads
def test_without_metadata_nor_a_way_to_the_wheels_the_non_variant_one_is_taken(
    pip: Pip, index: Index
) -> None:
    index.add(Wheel("tri"))
    write(pip, index, tri(null=False))
    result = install(pip, driver="12.8").check()
    assert pip.label("tri") == ""
    assert result.warnings


@reads
def test_metadata_by_reference_is_fetched_and_its_hash_checked(pip: Pip, index: Index) -> None:
    index.add(*tri())
    body = json.dumps(metadata(tri())).encode()
    index.answer("tri-1.0-variants.json", Reply(body))
    reference = {
        "url": index.file_url("tri-1.0-variants.json"),
        "hashes": {"sha256": hashlib.sha256(body).hexdigest()},
    }
    write(pip, index, tri(), reference)
    install(pip, driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"
    assert files(index) == ["tri-1.0-variants.json", "tri-1.0-py3-none-any-cuda12.8.whl"]
    write(pip, index, tri(), {**reference, "hashes": {"sha256": "0" * 64}})
    install(pip, "--force-reinstall", driver="12.8").check()
    assert pip.label("tri") == "null"


@reads
def test_wheels_beside_the_lock(pip: Pip, index: Index) -> None:
    folder = pip.work / "wheels"
    folder.mkdir()
    write(pip, index, tri(), metadata(tri()))
    text = (pip.work / LOCK).read_text()
    for wheel in tri():
        (folder / wheel.filename).write_bytes(wheel.content)
        url = index.file_url(wheel.filename)
        text = text.replace(f'url = "{url}"', f'path = "wheels/{wheel.filename}"')
    (pip.work / LOCK).write_text(text)
    install(pip, "--no-index", driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"
    assert index.requests == []


@reads
def test_a_lock_from_a_server(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri()))
    index.answer(LOCK, Reply((pip.work / LOCK).read_bytes()))
    pip.variant("install", "-r", index.file_url(LOCK), driver="12.8").check()
    assert files(index) == [LOCK, "tri-1.0-py3-none-any-cuda12.8.whl"]
    assert pip.label("tri") == "cuda12.8"


@reads
def test_a_package_that_does_not_apply_asks_nothing(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    write(pip, index, tri(), {"broken": True}, marker="python_version < '3'")
    text = (pip.work / LOCK).read_text()
    write(pip, index, [Wheel("solo")])
    solo = (pip.work / LOCK).read_text().partition("[[packages]]")[2]
    (pip.work / LOCK).write_text(f"{text}\n[[packages]]{solo}")
    result = install(pip, driver="12.8").check()
    assert pip.installed() == {"solo": "1.0"}
    assert not [line for line in result.warnings if TABLE in line]


BUILT_FOR: Mapping[str, Any] = {"abi_dependency": {"builtin": "abi_dependency"}}


@reads
@pytest.mark.parametrize("more", ((), ("--no-deps",)))
def test_a_label_is_built_for_the_version_that_is_locked(
    pip: Pip, index: Index, more: tuple[str, ...]
) -> None:
    labels = {f"for{part}": [f"abi_dependency :: dep_a :: {part}"] for part in "123"}
    wheels = release("app", labels=labels, providers=BUILT_FOR)
    index.add(*wheels, *(Wheel("dep-a", f"{part}.5") for part in "123"))
    pip.variant("install", "dep-a==3.5").check()
    write(pip, index, wheels, metadata(wheels))
    app = (pip.work / LOCK).read_text()
    write(pip, index, [Wheel("dep-a", "2.5")])
    dependency = (pip.work / LOCK).read_text().partition("[[packages]]")[2]
    (pip.work / LOCK).write_text(f"{app}\n[[packages]]{dependency}")
    install(pip, *more).check()
    assert pip.build("app") == ("1.0", "for2")
    assert pip.installed()["dep-a"] == "2.5"


@pytest.mark.every_pip
@reads
def test_without_variants_the_non_variant_wheel_of_a_lock_is_taken(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri()))
    install(pip, "--no-variant", driver="12.8").check()
    assert pip.label("tri") == ""
    assert files(index) == ["tri-1.0-py3-none-any.whl"]


@reads
def test_without_variants_a_lock_of_variants_only_is_refused(pip: Pip, index: Index) -> None:
    write(pip, index, tri(plain=False), metadata(tri()))
    result = install(pip, "--no-variant", driver="12.8")
    assert result.code == 1
    assert result.lines_with("variant wheels of tri", "--no-variant")


@reads
def test_download_chooses_in_a_lock_too(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri()))
    pip.variant("download", "-d", "got", "-r", LOCK, driver="12.8").check()
    got = [path.name for path in (pip.work / "got").iterdir()]
    assert got == ["tri-1.0-py3-none-any-cuda12.8.whl"]


@pytest.mark.every_pip
@reads
def test_formats_that_are_not_allowed(pip: Pip, index: Index) -> None:
    sdist = Sdist(Wheel("tri"))
    index.add(*tri(), sdist)
    write(pip, index, tri(), metadata(tri()), sdist=entry(index, sdist))
    result = install(pip, "--no-binary", "tri", "--no-build-isolation", driver="12.8")
    if PIP_VERSION == (26, 2):
        # This release does not look for the sdist of a locked package, it only says no.
        assert result.lines_with("No binaries permitted for tri")
        assert files(index) == []
    else:
        result.check()
        assert files(index) == ["tri-1.0.tar.gz"]


@pytest.mark.every_pip
@reads
def test_what_is_installed_and_satisfies_stays(pip: Pip, index: Index) -> None:
    index.add(*tri())
    write(pip, index, tri(), metadata(tri()))
    install(pip, driver="12.6").check()
    index.log.clear()
    install(pip, driver="13.0").check()
    assert pip.label("tri") == "cuda12.6"
    assert index.requests == []


@reads
def test_a_lock_with_labels_is_refused_by_plain_pip(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("lock", "--all-variants", "tri", driver="12.8").check()
    result = pip.plain("install", "-r", LOCK)
    assert result.code == 1
    assert result.lines_with("Invalid wheel filename", "tri-1.0-py3-none-any-cuda12.6.whl")
    assert "Traceback" not in result.output


@reads
def test_a_lock_of_all_files_without_labels_is_read_by_plain_pip(pip: Pip, index: Index) -> None:
    index.add(Wheel("solo"), Wheel("solo", tag=WINDOWS), Sdist(Wheel("solo")))
    pip.variant("lock", "--all-variants", "solo").check()
    assert len(names(packages(pip)["solo"])) == 2
    pip.plain("install", "-r", LOCK).check()
    assert pip.installed() == {"solo": "1.0"}


@pytest.mark.every_pip
@pytest.mark.skipif(PIP_VERSION >= (26, 1), reason="pip reads lock files from 26.1 on")
def test_a_pip_that_cannot_read_locks_says_what_plain_pip_says(pip: Pip) -> None:
    pip.write(LOCK, ['lock-version = "1.0"', 'created-by = "test"', "packages = []"])
    plain = pip.plain("install", "-r", LOCK)
    result = install(pip)
    assert (result.code, result.output) == (plain.code, plain.output)
    assert result.code == 1


# The user's say.


@reads
@pytest.mark.parametrize("label", ("cuda12.6", "null", ""))
def test_a_named_label_is_taken_among_the_locked_files(pip: Pip, index: Index, label: str) -> None:
    wheels = tri()
    index.add(*wheels)
    write(pip, index, wheels, metadata([wheel for wheel in wheels if wheel.label]))
    index.log.clear()
    pip.variant("install", f"--variant=tri={label}", "-r", LOCK, driver="12.8").check()
    assert pip.label("tri") == label
    assert len(index.requests) == 1


@reads
@pytest.mark.parametrize(
    ("args", "said"),
    (
        (["--variant", "tri=rocm7"], "fits is --variant tri=rocm7"),
        (["--variant", "tri=cuda13.0"], "cuda13.0 needs CUDA driver >= 13.0"),
        (["--require-variant", "amd"], None),
        (["--require-variant", "tri=amd"], "fits is --require-variant amd"),
        (
            ["--exclude-variant", "nvidia", "--require-variant", "nvidia"],
            "--require-variant nvidia",
        ),
    ),
)
def test_what_no_locked_file_is_is_an_error(
    pip: Pip, index: Index, args: list[str], said: str | None
) -> None:
    wheels = tri()
    index.add(*wheels)
    write(pip, index, wheels, metadata([wheel for wheel in wheels if wheel.label]))
    result = pip.variant("install", *args, "-r", LOCK, driver="12.8")
    if said is None:
        # Not one of its labels uses it, so it is not meant.
        assert pip.label("tri") == "cuda12.8"
        return
    assert result.code == 1
    assert said in result.stderr
    assert pip.installed() == {}


@reads
def test_a_wish_asks_no_index_about_a_locked_package_without_variants(
    pip: Pip, index: Index
) -> None:
    wheel = Wheel("solo")
    index.add(wheel)
    write(pip, index, [wheel])
    index.log.clear()
    pip.variant("install", "--require-variant", "nvidia", "-r", LOCK, driver="12.8").check()
    assert index.requests == [f"GET {index.file_url(wheel.filename).removeprefix(index.host)}"]
