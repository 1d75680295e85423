"""Which labels are compatible: by the target, the user, and what other projects there are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipvariant.providers.answers import Answer, Origin
from pipvariant.selection.judging import Judge, judge_sources, labels_by_namespace
from pipvariant.selection.model import File, Judgement, OtherProject
from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.preferences import read_preferences
from tests.selection.releases import JUDGE, Sources, bounds, files, metadata


class Asked:
    """A target that supports everything of `gpu`, and keeps what it is asked."""

    def __init__(self) -> None:
        self.questions: list[tuple[str, Provider | None, str]] = []

    def answer(self, namespace: str, provider: Provider | None, source: str = "") -> Answer:
        self.questions.append((namespace, provider, source))
        return Answer(namespace, {"bound": ("2", "1")}, Origin.STATIC)


def test_only_the_namespaces_of_judged_labels_are_asked_about_with_provider_and_source() -> None:
    provider = Provider(static_properties={"bound": ("1",)})
    described = Metadata(
        ("cpu", "gpu"),
        {"cpu": Provider(), "gpu": provider},
        {"g1": {"gpu": {"bound": ("1",)}}, "c": {"cpu": {"bound": ("1",)}}},
    )
    target = Asked()
    judgement = Judge(target).judge(described, ["g1"], of="tri 1.0", source="page")
    assert target.questions == [("gpu", provider, "page")]
    assert judgement.ranking.compatible == ("g1",)
    assert judgement.supported == {"gpu": {"bound": ("2", "1")}}


def test_what_the_user_prefers_and_excludes_counts_for_the_labels() -> None:
    given = read_preferences(preferred=["gpu :: bound :: 1"], excluded=["gpu :: bound :: 3"])
    described = metadata(bounds(1, 2, 3))
    judge = Judge(Asked(), preferences=lambda: given)
    judgement = judge.judge(described, ["g1", "g2", "g3"], of="")
    assert judgement.ranking.compatible == ("g1", "g2")
    assert judgement.metadata is described
    without = Judge(Asked()).judge(described, ["g1", "g2"], of="")
    assert without.ranking.compatible == ("g2", "g1")


def test_each_judgement_is_handed_on_with_what_it_is_about() -> None:
    seen: list[tuple[str, Judgement]] = []
    judge = Judge(Asked(), on_judged=lambda of, judgement: seen.append((of, judgement)))
    judgement = judge.judge(metadata(bounds(1)), ["g1", "null"], of="tri 1.0")
    assert seen == [("tri 1.0", judgement)]
    assert judgement.labels == ("g1", "null")


def test_a_label_means_its_properties_and_no_label_means_nothing() -> None:
    judgement = JUDGE.judge(metadata({"a": "2", "z": "9"}), ["a", "z"], of="")
    assert judgement.labels == ("a", "z")
    assert judgement.properties("z") == {"gpu": {"bound": ("9",)}}
    assert judgement.properties(None) == judgement.properties("other") == {}
    assert judgement.supported_properties("a") == {"gpu": {"bound": ("2",)}}
    assert judgement.supported_properties("z") == {}


def test_namespaces_and_their_labels_are_sorted() -> None:
    described = Metadata(
        ("b", "a"),
        variants={
            "y": {"b": {"f": ("1",)}, "a": {"f": ("1",)}},
            "x": {"b": {"f": ("1",)}},
        },
    )
    found = labels_by_namespace(described, ["y", "x", "unknown"])
    assert list(found.items()) == [("a", ["y"]), ("b", ["x", "y"])]


def test_each_source_is_judged_by_its_own_metadata_with_its_first_file_of_a_label() -> None:
    seen: list[Mapping[str, File]] = []

    class Noting(Sources):
        def metadata(self, files: Mapping[str, File]) -> Metadata | None:
            seen.append(files)
            return super().metadata(files)

    first, plain = files(["g1", ""], source="a")
    others = [*files(["g9"], source="b"), *files("z", source="c")]
    sources = Noting(a=metadata(bounds(1)), b=metadata(bounds(9)))
    found = [first, first._replace(filename="another"), plain, *others]
    judgements = judge_sources(found, sources, JUDGE)
    assert list(judgements) == ["a", "b", "c"]
    assert [each and each.ranking.compatible for each in judgements.values()] == [("g1",), (), None]
    assert seen[0] == {"g1": first}


BUILT_FOR = Metadata(
    ("abi_dependency",),
    {"abi_dependency": Provider(builtin="abi_dependency")},
    {
        label: {"abi_dependency": {"torch_x": (value,)}}
        for label, value in {"a": "2.9", "b": "2.10", "c": "2.8"}.items()
    },
)
LOCKED = ("2.9.1", "2.10.0")


@pytest.mark.parametrize(
    ("torch", "compatible", "fact"),
    (
        (OtherProject("2.8.1"), ("c", "b", "a"), "2.8.1 is installed"),
        (OtherProject(), ("b", "a", "c"), "not installed"),
        (OtherProject("2.8.1", is_open=False), ("c",), "2.8.1 is installed"),
        (OtherProject("2.8.1", LOCKED), ("b", "a"), "2.10.0, 2.9.1 is locked"),
        (OtherProject(is_open=False), (), "not installed"),
    ),
)
def test_a_label_fits_what_is_installed_locked_or_can_be_resolved(
    torch: OtherProject, compatible: tuple[str, ...], fact: str
) -> None:
    judge = Judge(Asked(), other_project={"torch-x": torch}.__getitem__)
    judgement = judge.judge(BUILT_FOR, BUILT_FOR.variants, of="")
    assert judgement.ranking.compatible == compatible
    answer = judgement.answers["abi_dependency"]
    assert (answer.origin, answer.source, answer.facts) == (
        Origin.BUILT_IN,
        "resolver",
        {"torch_x": fact},
    )
    expected = BUILT_FOR.variants["b"] if "b" in compatible else {}
    assert judgement.supported_properties("b") == expected


def test_an_abi_dependency_with_another_provider_is_asked_about() -> None:
    described = Metadata(
        ("abi_dependency",),
        {"abi_dependency": Provider(static_properties={"torch": ("2.9",)})},
        {"a": {"abi_dependency": {"torch": ("2.9",)}}},
    )
    assert JUDGE.judge(described, ["a"], of="").ranking.compatible == ("a",)
