"""The choice in a lock file and what is written into one, by pip's own classes without a run."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant import shim
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import Run
from tests.shim.proofs import proven

PIP = this_pip()
TABLE = "variants-json"
HERE = "https://locks.invalid/pylock.toml"
COMMAND = "pip._internal.cli.req_command"

reads = pytest.mark.skipif(not PIP.reads_locks, reason="26.1 is the first pip to read lock files")
writes = pytest.mark.skipif(PIP.version < (25, 1), reason="`lock` is new in pip 25.1")


def _activated(**options: Any) -> Run:
    made = shim.apply()
    for name, value in options.items():
        setattr(made, name, value)
    shim.activate(made)
    return made


@pytest.fixture
def run() -> Iterator[Run]:
    """A run whose requirements come from a lock file."""
    try:
        yield _activated(lock_files=True)
    finally:
        shim.undo()


def _table(labels: Mapping[str, list[str]], **more: Any) -> dict[str, Any]:
    """Metadata in which `blas :: library` supports b, then a, then c."""
    return {
        "$schema": "https://variants-schema.wheelnext.dev/v0.2.0.json",
        "default-priorities": {"namespace": ["blas"]},
        "providers": {"blas": {"static-properties": {"library": ["b", "a", "c"]}}},
        "variants": {
            label: {"blas": {"library": values}} if values else {}
            for label, values in labels.items()
        },
        **more,
    }


LABELS = {"x": ["a"], "y": ["b"], "null": [], "z": ["d"]}


def _wheel(tail: str, digest: str = "0" * 64, where: str = "https://files.invalid") -> Any:
    name = f"tri-1.0-{tail}.whl"
    return {"name": name, "url": f"{where}/{name}", "hashes": {"sha256": digest}}


def _package(*tails: str, **more: Any) -> dict[str, Any]:
    return {"name": "tri", "version": "1.0", "wheels": [_wheel(tail) for tail in tails], **more}


SDIST = {
    "name": "tri-1.0.tar.gz",
    "url": "https://files.invalid/tri-1.0.tar.gz",
    "hashes": {"sha256": "0" * 64},
}


class _Session:
    """Knows one document, the lock file; asking for anything else is an error."""

    def __init__(self, text: str) -> None:
        self._text = text

    def get(self, url: str, **kwargs: Any) -> Any:
        assert url == HERE
        return SimpleNamespace(text=self._text, status_code=200, reason="OK", url=url)


def _select(*packages: Any) -> list[str]:
    """The filenames that pip selects from a lock file of these packages."""
    lock = {"lock-version": "1.0", "created-by": "test", "packages": list(packages)}
    text = import_module("pip._vendor.tomli_w").dumps(lock)
    select: Any = import_module(COMMAND).select_from_pylock_path_or_url
    return [picked.filename for _, picked in select(HERE, _Session(text), **PIP.select_arguments)]


@reads
@pytest.mark.parametrize(
    ("tails", "chosen"),
    (
        (("py3-none-any-x", "py3-none-any-y", "py3-none-any-null", "py3-none-any"), "-y"),
        (("py3-none-any-z", "py3-none-any-x", "py3-none-any-null", "py3-none-any"), "-x"),
        (("py3-none-any-z", "py3-none-any-null", "py3-none-any"), "-null"),
        (("py3-none-any-z", "py3-none-any"), ""),
    ),
)
def test_labels_as_ranked_then_null_then_the_non_variant_wheel(
    run: Run, tails: tuple[str, ...], chosen: str
) -> None:
    assert _select(_package(*tails, **{TABLE: _table(LABELS)})) == [
        f"tri-1.0-py3-none-any{chosen}.whl"
    ]


@reads
def test_each_package_is_chosen_by_its_own_metadata(run: Run) -> None:
    tri, duo = (
        _package("py3-none-any-x", "py3-none-any-y", **{TABLE: _table({"x": x, "y": y})})
        for x, y in ((["a"], ["b"]), (["b"], ["a"]))
    )
    duo = json.loads(json.dumps(duo).replace("tri", "duo"))
    assert _select(tri, duo) == ["tri-1.0-py3-none-any-y.whl", "duo-1.0-py3-none-any-x.whl"]


@reads
def test_label_before_tag_before_build_number(run: Run) -> None:
    tails = ("py2.py3-none-any-x", "3-py3-none-any-x", "py3-none-any-y", "2-py3-none-any-y")
    package = _package(*tails, "12-py3-none-any-y", "win-none-any-y", **{TABLE: _table(LABELS)})
    assert _select(package) == ["tri-1.0-12-py3-none-any-y.whl"]


@reads
def test_the_sdist_comes_after_all_wheels_and_needs_none_that_fits(run: Run) -> None:
    table = {TABLE: _table(LABELS), "sdist": SDIST}
    assert _select(_package("py3-none-any-z", "py3-none-any", **table)) == [
        "tri-1.0-py3-none-any.whl"
    ]
    assert _select(_package("py3-none-any-z", **table)) == ["tri-1.0.tar.gz"]


@reads
def test_nothing_that_fits_is_an_error_that_names_what_is_missed(run: Run) -> None:
    error: Any = import_module("pip._internal.exceptions").InstallationError
    with pytest.raises(error, match="z needs blas :: library :: d") as caught:
        _select(_package("py3-none-any-z", "win-none-any-y", **{TABLE: _table(LABELS)}))
    assert HERE in str(caught.value)


@reads
def test_a_label_that_the_metadata_does_not_have_never_fits(run: Run) -> None:
    package = _package("py3-none-any-new", "py3-none-any", **{TABLE: _table(LABELS)})
    assert _select(package) == ["tri-1.0-py3-none-any.whl"]


@reads
@pytest.mark.parametrize("table", ({}, {"$schema": 1}, [], "text", {"variants": []}, {"url": 1}))
def test_broken_metadata_leaves_null_and_is_warned_about(
    run: Run, caplog: pytest.LogCaptureFixture, table: Any
) -> None:
    package = _package("py3-none-any-y", "py3-none-any-null", "py3-none-any", **{TABLE: table})
    assert _select(package) == ["tri-1.0-py3-none-any-null.whl"]
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert HERE in warnings[0]


@reads
def test_packages_without_labels_are_left_to_pip(run: Run) -> None:
    plain = _package("py3-none-any", "2-py3-none-any", **{TABLE: {"broken": True}})
    assert _select(plain) == ["tri-1.0-py3-none-any.whl"]
    assert run.outcomes == {}
    assert run.locked == {}


@reads
def test_a_package_that_does_not_apply_is_not_judged(run: Run) -> None:
    package = _package("py3-none-any-y", marker="python_version < '3'", **{TABLE: _table(LABELS)})
    assert _select(package) == []
    assert run.target.answers == ()


@reads
def test_a_locked_wheel_is_ordered_by_nothing_else(run: Run) -> None:
    _select(_package("py3-none-any-x", "py3-none-any-z", **{TABLE: _table(LABELS)}))
    from pipvariant.shim.resolving.selector import Candidate

    link_class: Any = import_module("pip._internal.models.link").Link
    # 26.1 does not say that a locked link comes from the lock, later pips do.
    for source in (None, HERE):
        link = link_class(_wheel("py3-none-any-x")["url"], comes_from=source)
        candidate = Candidate("tri", "1.0", link, "payload")
        assert run.order(None, [candidate], None) == ["payload"]
        (judgement,) = run.outcomes[link.url].judgements.values()
        assert judgement is not None
        assert judgement.ranking.compatible == ("x",)
        assert [rejection.label for rejection in judgement.ranking.rejected] == ["z"]


def _wheel_file(folder: Path, label: str, values: list[str]) -> Any:
    """A wheel in a folder, with its own metadata, as a lock lists it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        text = json.dumps(_table({label: values}))
        archive.writestr("tri-1.0.dist-info/variant.json", text)
    wheel = _wheel(
        f"py3-none-any-{label}", hashlib.sha256(stream.getvalue()).hexdigest(), folder.as_uri()
    )
    (folder / wheel["name"]).write_bytes(stream.getvalue())
    return wheel


@reads
def test_without_metadata_the_wheels_are_asked(run: Run, tmp_path: Path) -> None:
    wheels = [_wheel_file(tmp_path, label, values) for label, values in LABELS.items()]
    assert _select({**_package(), "wheels": wheels}) == ["tri-1.0-py3-none-any-y.whl"]


@reads
def test_without_metadata_a_wheel_without_alternative_decides_itself(run: Run) -> None:
    package = _package("py3-none-any-y", "win-none-any-y")
    assert _select(package) == ["tri-1.0-py3-none-any-y.whl"]
    assert run.locked == {_wheel("py3-none-any-y")["url"]: None}


@reads
@pytest.mark.parametrize("right", (True, False))
def test_metadata_by_reference_is_read_and_its_hash_checked(
    run: Run, tmp_path: Path, right: bool
) -> None:
    file = tmp_path / "tri-1.0-variants.json"
    file.write_text(json.dumps(_table(LABELS)))
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if right else "0" * 64
    table = {"url": file.as_uri(), "hashes": {"sha256": digest}}
    package = _package("py3-none-any-y", "py3-none-any-null", **{TABLE: table})
    assert _select(package) == [f"tri-1.0-py3-none-any-{'y' if right else 'null'}.whl"]


@pytest.fixture
def without() -> Iterator[Run]:
    """A run with a lock file and --no-variant."""
    try:
        yield _activated(lock_files=True, no_variant=True)
    finally:
        shim.undo()


def _from_dict(*packages: Any) -> Any:
    lock = {"lock-version": "1.0", "created-by": "test", "packages": list(packages)}
    return import_module("pip._vendor.packaging.pylock").Pylock.from_dict(lock)


@reads
def test_without_variants_wheels_with_a_label_are_not_there(without: Run) -> None:
    tails = ("py3-none-any-y", "py3-none-any-null", "py3-none-any")
    (package,) = _from_dict(_package(*tails, **{TABLE: _table(LABELS)})).packages
    assert [wheel.filename for wheel in package.wheels] == ["tri-1.0-py3-none-any.whl"]
    (package,) = _from_dict(_package("py3-none-any-null", sdist=SDIST)).packages
    assert (package.wheels, package.sdist.filename) == (None, "tri-1.0.tar.gz")


@reads
def test_without_variants_a_package_of_variants_only_is_an_error(without: Run) -> None:
    error: Any = import_module("pip._internal.exceptions").InstallationError
    with pytest.raises(error, match=r"only variant wheels of tri.*--no-variant"):
        _from_dict(_package("py3-none-any-y"))


@reads
@pytest.mark.parametrize(
    "lock",
    (
        {"packages": 1},
        {"packages": [1]},
        {"packages": [{"name": "tri", "wheels": 1}]},
        {"packages": [{"name": "tri", "wheels": [1, {}, {"name": "tri-1.0-py3-none-any-Y.whl"}]}]},
    ),
)
@pytest.mark.parametrize("no_variant", (True, False))
def test_what_is_wrong_with_a_lock_is_pips_to_say(lock: Any, no_variant: bool) -> None:
    pylock: Any = import_module("pip._vendor.packaging.pylock")
    whole = {"lock-version": "1.0", "created-by": "test", **lock}
    with pytest.raises(pylock.PylockValidationError) as plain:
        pylock.Pylock.from_dict(whole)
    try:
        _activated(lock_files=True, no_variant=no_variant)
        with pytest.raises(pylock.PylockValidationError) as caught:
            pylock.Pylock.from_dict(whole)
    finally:
        shim.undo()
    assert str(caught.value) == str(plain.value)


# The patches.


def _patches(run: Run) -> list[Any]:
    from pipvariant.shim.locking import read as locks
    from pipvariant.shim.locking import write as locking

    rooms = (locks, locking) if PIP.version >= (25, 1) else (locks,)
    return [patch for room in rooms for patch in room.patches(PIP, run)]


def _raw(target: str) -> Any:
    module, _, path = target.partition(":")
    *classes, name = path.split(".")
    owner: Any = import_module(module)
    for attribute in classes:
        owner = getattr(owner, attribute)
    return vars(owner)[name]


def test_a_pip_without_lock_files_is_not_patched_for_them() -> None:
    from pipvariant.shim.locking import read as locks

    assert bool(locks.patches(PIP, Run())) == PIP.reads_locks


@writes
def test_undo_restores_every_object() -> None:
    run = Run()
    run.all_variants = True
    targets = [patch.target for patch in _patches(run)]
    before = [_raw(target) for target in targets]
    try:
        _activated(command="lock", all_variants=True, lock_files=True)
        assert all(_raw(target) is not old for target, old in zip(targets, before))
    finally:
        shim.undo()
    assert all(_raw(target) is old for target, old in zip(targets, before))


@writes
def test_every_proof_fails_when_its_patch_is_not_there() -> None:
    run = _activated(command="lock", all_variants=True, lock_files=True)
    patches = _patches(run)
    shim.undo()
    assert proven(patches) == []


@writes
def test_proofs_leave_nothing_behind() -> None:
    try:
        run = _activated(command="lock", all_variants=True, lock_files=True)
        tables = (run.lock_tables, run.locked, run.links, run.judgements, run.outcomes)
        assert not any(tables)
        assert run.left_out == set()
    finally:
        shim.undo()


# What is written.


def _entry(name: str = "tri-1.0-py3-none-any-y.whl") -> dict[str, Any]:
    return {"name": "tri", "version": "1.0", "wheels": [{"name": name, "url": "https://f/"}]}


def test_the_table_has_the_labels_that_are_listed() -> None:
    from pipvariant.shim.locking.write import _extend
    from pipvariant.standard.metadata import from_dict

    run, document = Run(), {"packages": [_entry(), _entry("tri-1.0-py3-none-any-null.whl")]}
    judgement: Any = SimpleNamespace(metadata=from_dict(_table({"x": ["a"], "y": ["b"]})))
    for package in document["packages"]:
        run.judgements[package["wheels"][0]["name"]] = judgement
    assert _extend(run, document)
    first, second = document["packages"]
    assert first[TABLE] == _table({"y": ["b"]})
    assert second[TABLE] == _table({"null": []})


def test_nothing_is_written_where_no_label_is_listed() -> None:
    from pipvariant.shim.locking.write import _extend

    document = {"packages": [_entry("tri-1.0-py3-none-any.whl"), {"name": "here", "directory": {}}]}
    before = json.dumps(document)
    assert not _extend(Run(), document)
    assert json.dumps(document) == before
