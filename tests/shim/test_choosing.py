"""Order among the files of one version, with real pip links and metadata given by hand."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.shim.core.state import Run
from pipvariant.shim.resolving.selector import Candidate, judge, order
from pipvariant.standard.metadata import Metadata, Provider, from_dict

A, B = "https://a.invalid/simple/tri/", "https://b.invalid/simple/tri/"


def _link(filename: str, source: str = A) -> Any:
    link_class: Any = import_module("pip._internal.models.link").Link
    return link_class(f"{source}{filename}", comes_from=source)


def _version() -> Any:
    return import_module("pip._vendor.packaging.version").Version("1.0")


def _candidates(*links: Any) -> list[Candidate]:
    return [Candidate("tri", _version(), link, link.filename.split("-", 2)[2]) for link in links]


def _metadata(run: Run, source: str, labels: Mapping[str, list[str]]) -> None:
    """Give `source` metadata in which `blas :: library` supports b, then a, then c."""
    run.metadata[source, "tri", _version()] = from_dict(
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


def test_labels_then_plain_wheels_then_sdists_and_tags_within_a_label(run: Run) -> None:
    _metadata(run, A, {"x": ["a"], "y": ["b"], "null": [], "z": ["d"]})
    links = [
        _link(TAGGED.format("cp311", "")),
        _link(TAGGED.format("cp311", "-x")),
        _link(TAGGED.format("cp311", "-z")),
        _link(TAGGED.format("py3", "-null")),
        _link(TAGGED.format("py3", "-x")),
        _link(TAGGED.format("py3", "-y")),
        _link(TAGGED.format("py3", "")),
    ]
    assert order(run, None, _candidates(*links), None) == [
        "py3-none-any-y.whl",
        "cp311-none-any-x.whl",
        "py3-none-any-x.whl",
        "py3-none-any-null.whl",
        "cp311-none-any.whl",
        "py3-none-any.whl",
    ]
    assert not run.skipped
    assert run.judgements.keys() == {link.filename for link in (links[1], *links[3:6])}


def test_nothing_that_fits_is_remembered_as_skipped(run: Run) -> None:
    _metadata(run, A, {"z": ["d"]})
    assert order(run, None, _candidates(_link(TAGGED.format("py3", "-z"))), None) == []
    (outcome,) = run.skipped.values()
    assert (outcome.name, outcome.version) == ("tri", "1.0")


def test_metadata_of_two_sources_is_never_merged(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    _metadata(run, A, {"x": ["a"], "y": ["c"]})
    _metadata(run, B, {"x": ["b"], "y": ["d"]})
    links = [
        _link(TAGGED.format("py3", "-x"), B),
        _link(TAGGED.format("py3", "-y"), B),
        _link(TAGGED.format("py3", "-x"), A),
        _link(TAGGED.format("py3", "-y"), A),
    ]
    candidates = [
        Candidate("tri", _version(), link, (link.comes_from, link.filename[-5])) for link in links
    ]
    assert order(run, None, candidates, None) == [(B, "x"), (A, "x"), (A, "y")]
    said = (
        f"tri 1.0: variants that fit are at {B} and at {A}; those of the first are taken, "
        "as pip prefers it"
    )
    assert [record.message for record in caplog.records] == [said]


def test_allowed_hashes_first_then_ranking(run: Run) -> None:
    _metadata(run, A, {"x": ["a"], "y": ["b"], "z": ["c"]})
    links = [
        _link(TAGGED.format("py3", "-z") + "#sha256=" + "1" * 64),
        _link(TAGGED.format("py3", "-x") + "#sha256=" + "2" * 64),
        _link(TAGGED.format("py3", "-y")),
    ]
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64, "2" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: _candidates(*links))
    assert order(run, finder, _candidates(*links), hashes) == [
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
    ("settings", "compatible", "facts"),
    (
        ({}, ("c", "b", "a"), "2.8.1 is installed"),
        ({"ignores_installed": True}, ("b", "a", "c"), "not installed"),
        ({"ignores_dependencies": True}, ("c",), "2.8.1 is installed"),
        (
            {"locked_versions": {"torch-x": {"2.9.1", "2.10.0"}}},
            ("b", "a"),
            "2.10.0, 2.9.1 is locked",
        ),
        ({"ignores_dependencies": True, "ignores_installed": True}, (), "not installed"),
    ),
)
def test_a_label_fits_what_is_installed_locked_or_can_be_resolved(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    settings: Mapping[str, Any],
    compatible: tuple[str, ...],
    facts: str,
) -> None:
    monkeypatch.setattr(run, "installed_version", {"torch_x": "2.8.1"}.get)
    for name, value in settings.items():
        setattr(run, name, value)
    judgement = judge(run, BUILT_FOR, tuple(BUILT_FOR.variants), of="")
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
    run: Run, caplog: pytest.LogCaptureFixture, taken: str, others: tuple[str, ...], said: str
) -> None:
    caplog.set_level("INFO")
    _metadata(run, A, {"x": ["a"], "y": ["b"], "z": ["d"]})
    link = _link(TAGGED.format("py3", taken) + "#sha256=" + "1" * 64)
    left = [_link(TAGGED.format("py3", other) + "#sha256=" + "2" * 64) for other in others]
    hashes = import_module("pip._internal.utils.hashes").Hashes({"sha256": ["1" * 64]})
    finder = SimpleNamespace(find_all_candidates=lambda name: _candidates(link, *left))
    for _ in range(2):
        order(run, finder, _candidates(link), hashes)
    sentence = f"tri 1.0: variant {said} would fit better, but its hash is not allowed"
    assert [record.message for record in caplog.records] == [sentence] * bool(said)
