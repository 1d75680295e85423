"""Order among the files of one version, with real pip links and metadata given by hand."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.selection.model import File
from pipvariant.shim import parts as shim_parts
from pipvariant.shim.core.pip_objects import make_link, make_version
from pipvariant.shim.finding.index import Search
from pipvariant.shim.parts import Parts
from pipvariant.standard.metadata import Metadata, Provider, from_dict
from tests.shim.finder import make_parts

A, B = "https://a.invalid/simple/tri/", "https://b.invalid/simple/tri/"


VERSION = make_version("1.0")


@pytest.fixture
def parts() -> Parts:
    """The parts of a run that nothing is asked of."""
    return make_parts()


def _link(filename: str, source: str = A) -> Any:
    return make_link(f"{source}{filename}", comes_from=source)


def _candidates(*links: Any) -> list[Any]:
    return [SimpleNamespace(version=VERSION, link=link) for link in links]


def _files(parts: Parts, *links: Any, hashes: Any = None) -> list[File]:
    """Plain data of links, with the end of the name as payload."""
    return [
        parts.index.file(
            "tri", VERSION, link, hashes=hashes, payload=link.filename.split("-", 2)[2]
        )
        for link in links
    ]


def _metadata(parts: Parts, source: str, labels: Mapping[str, list[str]]) -> None:
    """Give `source` metadata in which `blas :: library` supports b, then a, then c."""
    parts.metadata.read[source, "tri", VERSION] = from_dict(
        {
            "$schema": "https://variants-schema.wheelnext.dev/peps/826/v0.2.0.json",
            "default-priorities": {"namespace": ["blas"]},
            "providers": {"blas": {"static-properties": {"library": ["b", "a", "c"]}}},
            "variants": {
                label: {"blas": {"library": values}} if values else {}
                for label, values in labels.items()
            },
        }
    )


TAGGED = "tri-1.0-{}-none-any{}.whl"


def test_labels_then_plain_wheels_then_sdists_and_tags_within_a_label(parts: Parts) -> None:
    _metadata(parts, A, {"x": ["a"], "y": ["b"], "null": [], "z": ["d"]})
    links = [
        _link(TAGGED.format("cp311", "")),
        _link(TAGGED.format("cp311", "-x")),
        _link(TAGGED.format("cp311", "-z")),
        _link(TAGGED.format("py3", "-null")),
        _link(TAGGED.format("py3", "-x")),
        _link(TAGGED.format("py3", "-y")),
        _link(TAGGED.format("py3", "")),
    ]
    assert parts.selector.order(_files(parts, *links), Search(None)) == [
        "py3-none-any-y.whl",
        "cp311-none-any-x.whl",
        "py3-none-any-x.whl",
        "py3-none-any-null.whl",
        "cp311-none-any.whl",
        "py3-none-any.whl",
    ]
    assert not parts.decisions.skipped
    assert parts.decisions.judgements.keys() == {link.filename for link in (links[1], *links[3:6])}


def test_nothing_that_fits_is_remembered_as_skipped(parts: Parts) -> None:
    _metadata(parts, A, {"z": ["d"]})
    assert (
        parts.selector.order(_files(parts, _link(TAGGED.format("py3", "-z"))), Search(None)) == []
    )
    (skipped,) = parts.decisions.skipped.values()
    assert (skipped.project, skipped.version) == ("tri", "1.0")


def test_metadata_of_two_sources_is_never_merged(
    parts: Parts, caplog: pytest.LogCaptureFixture
) -> None:
    _metadata(parts, A, {"x": ["a"], "y": ["c"]})
    _metadata(parts, B, {"x": ["b"], "y": ["d"]})
    links = [
        _link(TAGGED.format("py3", "-x"), B),
        _link(TAGGED.format("py3", "-y"), B),
        _link(TAGGED.format("py3", "-x"), A),
        _link(TAGGED.format("py3", "-y"), A),
    ]
    files = [
        parts.index.file("tri", VERSION, link, payload=(link.comes_from, link.filename[-5]))
        for link in links
    ]
    assert parts.selector.order(files, Search(None)) == [(B, "x"), (A, "x"), (A, "y")]
    said = (
        f"tri 1.0: variants that fit are at {B} and at {A}; those of the first are taken, "
        "as pip prefers it"
    )
    assert [record.message for record in caplog.records] == [said]


def test_allowed_hashes_first_then_ranking(parts: Parts) -> None:
    _metadata(parts, A, {"x": ["a"], "y": ["b"], "z": ["c"]})
    links = [
        _link(TAGGED.format("py3", "-z") + "#sha256=" + "1" * 64),
        _link(TAGGED.format("py3", "-x") + "#sha256=" + "2" * 64),
        _link(TAGGED.format("py3", "-y")),
    ]
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64, "2" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: _candidates(*links))
    files = _files(parts, *links, hashes=hashes)
    assert parts.selector.order(files, Search(finder, hashes=hashes)) == [
        "py3-none-any-x.whl",
        "py3-none-any-z.whl",
        "py3-none-any-y.whl",
    ]


BUILT_FOR = Metadata(
    ("abi_dependency",),
    {"abi_dependency": Provider(builtin="abi_dependency")},
    {
        label: {"abi_dependency": {"torch_x": (value,)}}
        for label, value in {"a": "2.9", "b": "2.10", "c": "2.8"}.items()
    },
)


@pytest.mark.parametrize(
    ("options", "locked", "compatible", "facts"),
    (
        ({}, {}, ("c", "b", "a"), "2.8.1 is installed"),
        ({"ignores_installed": True}, {}, ("b", "a", "c"), "not installed"),
        ({"ignores_dependencies": True}, {}, ("c",), "2.8.1 is installed"),
        ({}, {"torch-x": {"2.9.1", "2.10.0"}}, ("b", "a"), "2.10.0, 2.9.1 is locked"),
        ({"ignores_dependencies": True, "ignores_installed": True}, {}, (), "not installed"),
    ),
)
def test_a_label_fits_what_is_installed_locked_or_can_be_resolved(
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    locked: dict[str, set[str]],
    compatible: tuple[str, ...],
    facts: str,
) -> None:
    monkeypatch.setattr(shim_parts, "installed_version", {"torch-x": "2.8.1"}.get)
    parts = make_parts(**options)
    parts.locks.versions.update(locked)
    judgement = parts.judge.judge(BUILT_FOR, BUILT_FOR.variants, of="")
    assert judgement.ranking.compatible == compatible
    assert judgement.answers["abi_dependency"].facts == {"torch_x": facts}
    found = judgement.supported_properties("b")
    assert found == (BUILT_FOR.variants["b"] if "b" in compatible else {})


@pytest.mark.parametrize(
    ("taken", "others", "said"),
    (
        ("-x", ("-y",), "y"),
        ("", ("-z", "-x"), "x"),
        ("-y", ("-x",), ""),
        ("", ("-z",), ""),
    ),
)
def test_a_better_label_is_named_whose_hash_is_not_allowed(
    parts: Parts, caplog: pytest.LogCaptureFixture, taken: str, others: tuple[str, ...], said: str
) -> None:
    caplog.set_level("INFO")
    _metadata(parts, A, {"x": ["a"], "y": ["b"], "z": ["d"]})
    link = _link(TAGGED.format("py3", taken) + "#sha256=" + "1" * 64)
    left = [_link(TAGGED.format("py3", other) + "#sha256=" + "2" * 64) for other in others]
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: _candidates(link, *left))
    for _ in range(2):
        files = _files(parts, link, hashes=hashes)
        parts.selector.order(files, Search(finder, hashes=hashes))
    sentence = f"tri 1.0: variant {said} would fit better, but its hash is not allowed"
    assert [record.message for record in caplog.records] == [sentence] * bool(said)
