"""Order among the files of one version."""

from __future__ import annotations

from pipvariant.selection.model import File
from pipvariant.selection.ordering import decide, sources_of
from tests.selection.releases import JUDGE, Sources, files, metadata


def test_labels_then_plain_wheels_then_sdists_and_tags_within_a_label() -> None:
    ends = ["cp311-none-any.whl", "cp311-none-any-x.whl", "cp311-none-any-z.whl"]
    ends += [f"py3-none-any{end}.whl" for end in ("-null", "-x", "-y", "")]
    found = [File.named("tri", "1.0", f"tri-1.0-{end}") for end in ends]
    found.append(File.named("tri", "1.0", "tri-1.0.tar.gz"))
    labels = {"x": "2", "y": "3", "null": "", "z": "9"}
    decision = decide(found, Sources({"": metadata(labels)}), JUDGE)
    assert [file.filename.split("-", 2)[-1] for file in decision.files] == [
        "py3-none-any-y.whl",
        "cp311-none-any-x.whl",
        "py3-none-any-x.whl",
        "py3-none-any-null.whl",
        "cp311-none-any.whl",
        "py3-none-any.whl",
        "1.0.tar.gz",
    ]


def test_without_a_compatible_file_the_target_is_the_reason() -> None:
    decision = decide(files("z"), Sources({"": metadata({"z": "9"})}), JUDGE)
    assert (decision.project, decision.version) == ("tri", "1.0")
    assert (decision.files, decision.skip_reason) == ((), "")


def test_labels_of_a_source_without_usable_metadata_are_left_out() -> None:
    decision = decide(files(["x", ""]), Sources(), JUDGE)
    assert ([file.label for file in decision.files], list(decision.judged())) == ([None], [])


def test_metadata_of_two_sources_is_never_merged() -> None:
    sources = Sources(a=metadata({"x": "2", "y": "1"}), b=metadata({"x": "3", "y": "9"}))
    found = [*files("xy", source="b"), *files("xy", source="a")]
    decision = decide(found, sources, JUDGE)
    assert [(file.source, file.label) for file in decision.files] == [
        ("b", "x"),
        ("a", "x"),
        ("a", "y"),
    ]
    assert sources_of(decision.files) == ["b", "a"]


def test_allowed_hashes_first_then_ranking() -> None:
    z, x, y = files("zxy")
    sources = Sources({"": metadata({"x": "2", "y": "3", "z": "1"})})
    decision = decide([z, x, y._replace(allowed=False)], sources, JUDGE)
    assert [file.label for file in decision.files] == ["x", "z", "y"]


def test_a_preferred_label_comes_before_its_equals() -> None:
    found, sources = files("yx"), Sources({"": metadata({"x": "2", "y": "3"})})
    for preferred, expected in (("x", ["x", "y"]), ("other", ["y", "x"])):
        decision = decide(found, sources, JUDGE, preferred_label=preferred)
        assert [file.label for file in decision.files] == expected
