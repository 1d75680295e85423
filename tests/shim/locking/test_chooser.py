"""The choice in a lock file, by pip's own classes without a command."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.shim.core.pip_objects import make_link, pip_error
from pipvariant.shim.finding.index import Search
from pipvariant.shim.run import Run
from tests.shim.finder import Start
from tests.shim.locking.locks import (
    LABELS,
    PIP,
    SDIST,
    TABLE,
    make_package,
    make_table,
    make_wheel,
    reads,
)

HERE = "https://locks.invalid/pylock.toml"
COMMAND = "pip._internal.cli.req_command"


@pytest.fixture
def run(start: Start) -> Run:
    """A run whose requirements come from a lock file."""
    return start(lock_files=True)


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
def test_labels_as_ranked_then_null_then_the_non_variantwheel(
    run: Run, tails: tuple[str, ...], chosen: str
) -> None:
    assert _select(make_package(*tails, **{TABLE: make_table(LABELS)})) == [
        f"tri-1.0-py3-none-any{chosen}.whl"
    ]


@reads
def test_each_package_is_chosen_by_its_own_metadata(run: Run) -> None:
    tri, duo = (
        make_package("py3-none-any-x", "py3-none-any-y", **{TABLE: make_table({"x": x, "y": y})})
        for x, y in ((["a"], ["b"]), (["b"], ["a"]))
    )
    duo = json.loads(json.dumps(duo).replace("tri", "duo"))
    assert _select(tri, duo) == ["tri-1.0-py3-none-any-y.whl", "duo-1.0-py3-none-any-x.whl"]


@reads
def test_label_before_tag_before_build_number(run: Run) -> None:
    tails = ("py2.py3-none-any-x", "3-py3-none-any-x", "py3-none-any-y", "2-py3-none-any-y")
    more = ("12-py3-none-any-y", "win-none-any-y")
    assert _select(make_package(*tails, *more, **{TABLE: make_table(LABELS)})) == [
        "tri-1.0-12-py3-none-any-y.whl"
    ]


@reads
def test_the_sdist_comes_after_all_wheels_and_needs_none_that_fits(run: Run) -> None:
    table = {TABLE: make_table(LABELS), "sdist": SDIST}
    assert _select(make_package("py3-none-any-z", "py3-none-any", **table)) == [
        "tri-1.0-py3-none-any.whl"
    ]
    assert _select(make_package("py3-none-any-z", **table)) == ["tri-1.0.tar.gz"]


@reads
def test_nothing_that_fits_is_an_error_that_names_what_is_missed(run: Run) -> None:
    error: Any = import_module("pip._internal.exceptions").InstallationError
    with pytest.raises(error, match="z needs blas :: library :: d") as caught:
        _select(make_package("py3-none-any-z", "win-none-any-y", **{TABLE: make_table(LABELS)}))
    assert HERE in str(caught.value)


@reads
def test_a_label_that_the_metadata_does_not_have_never_fits(run: Run) -> None:
    package = make_package("py3-none-any-new", "py3-none-any", **{TABLE: make_table(LABELS)})
    assert _select(package) == ["tri-1.0-py3-none-any.whl"]


@reads
@pytest.mark.parametrize("table", ({}, {"$schema": 1}, [], "text", {"variants": []}, {"url": 1}))
def test_broken_metadata_leaves_null_and_is_warned_about(
    run: Run, caplog: pytest.LogCaptureFixture, table: Any
) -> None:
    package = make_package("py3-none-any-y", "py3-none-any-null", "py3-none-any", **{TABLE: table})
    assert _select(package) == ["tri-1.0-py3-none-any-null.whl"]
    warnings = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert HERE in warnings[0]


@reads
def test_packages_without_labels_are_left_to_pip(run: Run) -> None:
    plain = make_package("py3-none-any", "2-py3-none-any", **{TABLE: {"broken": True}})
    assert _select(plain) == ["tri-1.0-py3-none-any.whl"]
    for wheel in plain["wheels"]:
        assert run.parts.decisions.of_link(make_link(wheel["url"])) is None
    assert run.parts.locks.chosen == {}


@reads
def test_a_package_that_does_not_apply_is_not_judged(run: Run) -> None:
    package = make_package(
        "py3-none-any-y", marker="python_version < '3'", **{TABLE: make_table(LABELS)}
    )
    assert _select(package) == []
    # Nothing of the target was looked at.
    assert "_target" not in vars(run.parts.target)


@reads
def test_a_locked_wheel_is_ordered_by_nothing_else(run: Run) -> None:
    _select(make_package("py3-none-any-x", "py3-none-any-z", **{TABLE: make_table(LABELS)}))
    # 26.1 does not say that a locked link comes from the lock, later pips do.
    for source in (None, HERE):
        link = make_link(make_wheel("py3-none-any-x")["url"], comes_from=source)
        file = run.parts.index.file("tri", "1.0", link, payload="payload")
        assert run.parts.orders.order([file], Search(None)) == ["payload"]
        decided = run.parts.decisions.of_link(link)
        assert decided is not None
        judgement = decided.decision.judgements[file.source]
        assert judgement is not None
        assert judgement.ranking.compatible == ("x",)
        assert [rejection.label for rejection in judgement.ranking.rejected] == ["z"]


def _wheel_file(folder: Path, label: str, values: list[str]) -> Any:
    """A wheel in a folder, with its own metadata, as a lock lists it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        text = json.dumps(make_table({label: values}))
        archive.writestr("tri-1.0.dist-info/variant.json", text)
    wheel = make_wheel(
        f"py3-none-any-{label}", hashlib.sha256(stream.getvalue()).hexdigest(), folder.as_uri()
    )
    (folder / wheel["name"]).write_bytes(stream.getvalue())
    return wheel


@reads
def test_without_metadata_the_wheels_are_asked(run: Run, tmp_path: Path) -> None:
    wheels = [_wheel_file(tmp_path, label, values) for label, values in LABELS.items()]
    assert _select({**make_package(), "wheels": wheels}) == ["tri-1.0-py3-none-any-y.whl"]


@reads
@pytest.mark.parametrize("table", ({}, {TABLE: {"url": "http://[::1/x.json"}}))
def test_what_has_no_valid_url_in_a_lock_is_left_out(
    run: Run, caplog: pytest.LogCaptureFixture, table: dict[str, Any]
) -> None:
    package = make_package("py3-none-any-y", "py3-none-any", **table)
    if not table:
        package["wheels"][0]["url"] = f"http://[::1/{package['wheels'][0]['name']}"
    assert _select(package) == ["tri-1.0-py3-none-any.whl"]
    (warning,) = caplog.messages
    assert "Invalid IPv6 URL" in warning
    package["wheels"] = [make_wheel("py3-none-any-y", where="http://[::1")]
    with pytest.raises(pip_error("InstallationError")):
        _select({**package, TABLE: make_table(LABELS)})


@reads
def test_without_metadata_a_wheel_without_alternative_decides_itself(run: Run) -> None:
    package = make_package("py3-none-any-y", "win-none-any-y")
    assert _select(package) == ["tri-1.0-py3-none-any-y.whl"]
    assert run.parts.locks.chosen == {make_wheel("py3-none-any-y")["url"]: None}


@reads
@pytest.mark.parametrize("right", (True, False))
def test_metadata_by_reference_is_read_and_its_hash_checked(
    run: Run, tmp_path: Path, right: bool
) -> None:
    file = tmp_path / "tri-1.0-variants.json"
    file.write_text(json.dumps(make_table(LABELS)))
    digest = hashlib.sha256(file.read_bytes()).hexdigest() if right else "0" * 64
    table = {"url": file.as_uri(), "hashes": {"sha256": digest}}
    package = make_package("py3-none-any-y", "py3-none-any-null", **{TABLE: table})
    assert _select(package) == [f"tri-1.0-py3-none-any-{'y' if right else 'null'}.whl"]
