"""What pip remembers of earlier runs: wheels that it built, pages and files that it fetched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index, Reply
from integration.sites import Site, page
from integration.wheels import Sdist, Wheel, cuda, tri

NAME = "tri-1.0-variants.json"
BEST = "tri-1.0-py3-none-any-cuda12.8.whl"


@pytest.fixture
def cache(pip: Pip) -> dict[str, str]:
    """The environment variables that give pip a cache."""
    return {"PIP_NO_CACHE_DIR": "", "PIP_CACHE_DIR": str(pip.root / "cache")}


@pytest.mark.every_pip
def test_a_wheel_that_was_built_never_displaces_a_label(
    pip: Pip, index: Index, cache: dict[str, str]
) -> None:
    index.add(Sdist(Wheel("tri")))
    pip.variant("install", "tri", driver="12.8", environ=cache).check()
    assert (pip.site / "built_with.py").exists()
    assert "tri-1.0" in pip.variant("cache", "list", environ=cache).check().stdout
    pip.variant("uninstall", "--yes", "tri").check()
    index.add(*tri(plain=False))
    pip.variant("install", "tri", driver="12.8", environ=cache).check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert not (pip.site / "built_with.py").exists()


@pytest.mark.every_pip
def test_a_wheel_that_was_built_serves_where_no_label_fits(
    pip: Pip, index: Index, cache: dict[str, str]
) -> None:
    index.add(Sdist(Wheel("tri")), *tri(null=False, plain=False))
    built = []
    for run in (pip.plain, pip.variant, pip.variant):
        result = run("install", "tri", driver="12.4", environ=cache).check()
        assert (pip.site / "built_with.py").exists()
        built.append(("Building wheel" in result.output, "Created wheel" in result.output))
        pip.variant("uninstall", "--yes", "tri").check()
    # What plain pip has built says nothing of what its build saw, until that is known.
    assert built == [(True, True), (True, False), (False, False)]


# A build can make a variant wheel, as far as pip can see not before it is there.
LABELLED = Wheel("tri", label="cuda12.8", properties=(cuda("12.8"),))


@pytest.mark.effect_of("wheel_check", "_verify_one")
def test_a_label_that_was_built_has_to_fit(pip: Pip, index: Index) -> None:
    index.add(Sdist(LABELLED))
    result = pip.variant("install", "tri", driver="12.4")
    assert result.code == 1
    assert result.lines_with("12.8", "12.4")
    assert "Traceback" not in result.output
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_a_label_that_was_built_is_installed_where_it_fits(pip: Pip, index: Index) -> None:
    index.add(Sdist(LABELLED))
    result = pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


@pytest.mark.every_pip
def test_a_label_that_is_only_built_may_be_for_another_machine(pip: Pip, index: Index) -> None:
    index.add(Sdist(LABELLED))
    pip.variant("wheel", "-w", "out", "tri", driver="12.4").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == [BEST]


@pytest.mark.effect_of("wheel_check", "Cache._get_candidates")
def test_a_label_that_does_not_fit_is_left_in_the_cache(
    pip: Pip, index: Index, cache: dict[str, str]
) -> None:
    index.add(Sdist(LABELLED))
    built = []
    for driver in ("12.8", "12.4", "12.8"):
        result = pip.variant("install", "tri", driver=driver, environ=cache)
        assert result.code == (1 if driver == "12.4" else 0)
        assert pip.label("tri") == (None if driver == "12.4" else "cuda12.8")
        built.append("Building wheel" in result.output)
        pip.variant("uninstall", "--yes", "tri").check()
    assert built == [True, True, False]


@pytest.mark.effect_of(
    "built_wheels", "Cache._get_candidates", "_get_cache_dir", "_build_one_inside_env"
)
def test_what_was_built_against_a_label_serves_that_label_alone(
    pip: Pip, index: Index, cache: dict[str, str]
) -> None:
    probe = "__import__('tri').LABEL"
    index.add(*tri(), Sdist(Wheel("made"), build_requires=("tri",), probe=probe))
    for number, (driver, is_built) in enumerate((("", True), ("12.8", True), ("12.8", False))):
        run = pip.variant if driver else pip.plain
        to = f"to{number}"
        result = run("install", "--target", to, "made", driver=driver or None, environ=cache)
        label = f"cuda{driver}" if driver else ""
        assert (pip.work / to / "built_with.py").read_text() == f"FOUND = {label!r}\n"
        assert ("Created wheel" in result.check().stdout) == is_built


@pytest.mark.parametrize("command", ("list", "info", "dir", "purge"))
def test_the_cache_command_is_plain_pips(pip: Pip, cache: dict[str, str], command: str) -> None:
    ours = pip.variant("cache", command, environ=cache)
    plains = pip.plain("cache", command, environ=cache)
    assert (ours.code, ours.stdout) == (plains.code, plains.stdout)


@pytest.fixture
def kept(pip: Pip, cache: dict[str, str]) -> Iterator[Site]:
    """A site whose replies may be kept for a time, which pip does of a trusted host."""
    cache["PIP_TRUSTED_HOST"] = "127.0.0.1"
    with Site(headers={"Cache-Control": "max-age=600"}, tags=True) as site:
        pip.index_url = site.url
        yield site


def serve(site: Site, *builds: str, hashes: bool = True) -> None:
    wheels = tri(builds=builds)
    site.add(*wheels)
    names = [*(wheel.filename for wheel in wheels), NAME]
    if not hashes:
        site.write("/simple/tri/", page(f"/files/{name}" for name in names))


@pytest.mark.every_pip
def test_a_label_that_was_added_is_seen_at_once(
    pip: Pip, kept: Site, cache: dict[str, str]
) -> None:
    refresh = ("--refresh-package", "tri") if PIP_VERSION >= (26, 2) else ()
    kept.add(*tri(builds=["12.6"]))
    pip.variant("install", "tri", driver="12.8", environ=cache).check()
    kept.add(*tri(builds=["12.8"]))
    again = ("install", "--force-reinstall", *refresh, "tri")
    result = pip.variant(*again, driver="12.8", environ=cache).check()
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert result.warnings == []


@pytest.mark.every_pip
@pytest.mark.parametrize(
    ("hashes", "control", "statuses"),
    ((True, "no-store", [200]), (False, "max-age=600", [200]), (False, "no-cache", [200, 304])),
)
def test_metadata_is_asked_for_again_only_if_neither_hash_nor_server_makes_it_needless(
    pip: Pip, kept: Site, cache: dict[str, str], hashes: bool, control: str, statuses: list[int]
) -> None:
    kept.headers = {"Cache-Control": control}
    serve(kept, "12.6", "12.8", hashes=hashes)
    for _ in range(2):
        again = ("install", "--dry-run", "tri")
        result = pip.variant(*again, driver="12.8", environ=cache).check()
        assert "Would install tri-1.0" in result.stdout
        assert "cuda12.8" in result.stdout
        assert result.warnings == []
    asked = [request for request in kept.log if request.path == f"/files/{NAME}"]
    assert [request.status for request in asked] == statuses


def test_kept_metadata_that_is_damaged_is_asked_for_again(
    pip: Pip, index: Index, cache: dict[str, str]
) -> None:
    index.add(*tri())
    for expected in ("cuda12.8", "cuda12.8"):
        pip.variant("install", "--force-reinstall", "tri", driver="12.8", environ=cache).check()
        assert pip.label("tri") == expected
        for path in (pip.root / "cache").rglob("*"):
            if path.is_file() and b"variants-schema" in path.read_bytes():
                path.write_bytes(path.read_bytes().replace(b"12.8", b"11.8"))
    assert len(index.requests_for(NAME)) == 2


def test_lint_looks_at_what_the_server_has_now(pip: Pip, kept: Site, cache: dict[str, str]) -> None:
    serve(kept, "12.6", hashes=False)
    findings = []
    for text in (None, b"{}"):
        if text is not None:
            kept.write(f"/files/{NAME}", Reply(text))
        result = pip.variant("variant", "lint", f"{kept.url}tri/", environ=cache)
        findings.append((result.code, NAME in result.stdout))
    assert findings == [(0, False), (1, True)]


@pytest.mark.every_pip
@pytest.mark.parametrize("hashes", (True, False))
def test_a_page_that_is_newer_than_kept_metadata_has_it_asked_for_again(
    pip: Pip, kept: Site, cache: dict[str, str], hashes: bool
) -> None:
    serve(kept, "12.6", hashes=hashes)
    pip.variant("install", "tri", driver="12.8", environ=cache).check()
    serve(kept, "12.6", "12.8", hashes=hashes)
    kept.log.clear()
    again = ("install", "--force-reinstall", "tri")
    result = pip.variant(*again, driver="12.8", environ=cache).check()
    # From 26.2 pip does not ask for a page again while it is fresh, so the label is not seen.
    is_seen = PIP_VERSION < (26, 2)
    assert pip.label("tri") == ("cuda12.8" if is_seen else "cuda12.6")
    assert result.warnings == []
    asked = [request for request in kept.log if request.path == f"/files/{NAME}"]
    assert len(asked) == is_seen
    for request in asked:
        assert request.headers["Cache-Control"] == "max-age=0"
        assert "If-None-Match" in request.headers


@pytest.mark.skipif(PIP_VERSION < (26, 2), reason="only then pip does not ask for a page again")
def test_a_page_from_the_cache_goes_with_metadata_that_is_newer(
    pip: Pip, kept: Site, cache: dict[str, str]
) -> None:
    serve(kept, "12.6")
    pip.variant("install", "--no-variant", "tri", driver="12.8", environ=cache).check()
    serve(kept, "12.6", "12.8")
    again = ("install", "--force-reinstall", "tri")
    result = pip.variant(*again, driver="12.8", environ=cache).check()
    assert pip.label("tri") == "cuda12.6"
    assert result.warnings == []


def test_no_part_is_asked_for_of_a_wheel_in_the_cache(
    pip: Pip, kept: Site, cache: dict[str, str]
) -> None:
    kept.ranges = True
    kept.add(*tri())
    for _ in range(2):
        kept.log.clear()
        pip.variant("install", "--force-reinstall", "tri", driver="12.8", environ=cache).check()
        assert pip.label("tri") == "cuda12.8"
    assert kept.requests_for(".whl") == []


def test_metadata_comes_over_the_connection_of_the_page(pip: Pip) -> None:
    with Index(metadata_files=True) as index:
        index.add(*tri())
        pip.index_url = index.url
        pip.variant("install", "--dry-run", "tri", driver="12.8").check()
        assert index.requests_for(NAME)
        assert len({request.port for request in index.log}) == 1
