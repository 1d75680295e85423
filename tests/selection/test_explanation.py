"""What became of every build, as data."""

from __future__ import annotations

import pytest

from pipvariant.providers.target import Target
from pipvariant.selection.explanation import (
    CHOSEN,
    FITS,
    LEFT_OUT,
    PASSED,
    REJECTED,
    explain,
    folder_advice,
)
from pipvariant.selection.judging import Judge
from pipvariant.selection.model import Decision, File, LeftOut
from pipvariant.selection.ordering import decide
from tests.selection.releases import JUDGE, Sources, bounds, files, metadata

SDIST = File("tri", "1.0", "tri-1.0.tar.gz", source="page", link=2)


def _decided(*numbers: int, version: str = "1.0", null: bool = True) -> Decision:
    labels = bounds(*numbers, null=null)
    found = files(labels, version=version, source="page")
    return decide(found, Sources(page=metadata(labels)), JUDGE)


def test_every_build_of_the_chosen_version_has_its_status_in_the_order_of_choice() -> None:
    decision = _decided(1, 2, 9)
    chosen = decision.files[0]
    (wheel,) = files([""], source="page")
    other = files(["win"])[0]
    explanation = explain(
        "tri",
        decision,
        chosen,
        skipped=[],
        others=[wheel._replace(link=1), SDIST, SDIST._replace(filename="again.zip", link=3)],
        left_out=[LeftOut(other, "is for win32")],
        shown=lambda source: f"<{source}>",
    )
    assert (explanation.name, explanation.version, explanation.file) == (
        "tri",
        "1.0",
        "tri-1.0-py3-none-any-g2.whl",
    )
    assert [
        (build.label, build.kind, build.status, build.reason) for build in explanation.builds
    ] == [
        ("g2", "variant wheel", CHOSEN, ""),
        ("g1", "variant wheel", FITS, ""),
        ("null", "variant wheel", FITS, ""),
        (None, "non-variant wheel", FITS, ""),
        (None, "source distribution", FITS, ""),
        (
            "g9",
            "variant wheel",
            REJECTED,
            "needs gpu :: bound :: 9, the package's own list has 3, 2, 1",
        ),
        ("win", "variant wheel", LEFT_OUT, "is for win32"),
    ]
    sources = {build.source for build in explanation.builds}
    assert sources == {"<page>", "<>"}
    assert explanation.builds[1].properties == {"gpu": {"bound": ("1",)}}
    unmet = explanation.builds[5].rejection
    assert unmet is not None
    assert (unmet.label, unmet.values) == ("g9", ("9",))
    assert list(explanation.answers) == ["gpu"]
    assert (explanation.plain, explanation.hint) == (None, "")


def test_what_ranks_before_the_chosen_file_was_not_allowed() -> None:
    decision = _decided(1, 2)
    explanation = explain("tri", decision, decision.files[1], skipped=[])
    found = [(build.label, build.status, build.reason) for build in explanation.builds]
    assert found == [("g2", FITS, PASSED), ("g1", CHOSEN, ""), ("null", FITS, "")]


def test_of_two_files_without_a_label_the_chosen_one_is_named() -> None:
    wheel = files([""], source="page")[0]
    others = [wheel._replace(link=1), wheel._replace(link=2, source="there")]
    explanation = explain("tri", _decided(9), others[1], skipped=[], others=others)
    (build,) = (build for build in explanation.builds if build.kind == "non-variant wheel")
    assert (build.label, build.status, build.source) == (None, CHOSEN, "there")


def test_a_source_without_usable_metadata_has_no_builds() -> None:
    decision = decide(files(["g1"], source="page"), Sources(), JUDGE)
    assert explain("tri", decision, None, skipped=[]).builds == ()


def test_skipped_versions_are_explained_with_their_builds_and_answers() -> None:
    skipped = _decided(8, 9, version="2.0", null=False)
    explanation = explain("tri", None, None, skipped=[skipped])
    assert (explanation.version, explanation.file, explanation.builds) == (None, "", ())
    assert explanation.skipped == {
        "2.0": "tri 2.0 skipped: none of its variants fits; g8 needs gpu :: bound :: 8, "
        "the package's own list has 3, 2, 1"
    }
    assert [build.label for build in explanation.skipped_builds["2.0"]] == ["g8", "g9"]
    assert list(explanation.answers) == ["gpu"]


@pytest.mark.parametrize(
    ("disabled", "taken"),
    (
        ((), "the first of cu128, cu126, cu125 and 23 more that has the version"),
        (("nvidia",), "cpu"),
    ),
)
def test_what_torch_has_in_folders_is_named_best_first(
    disabled: tuple[str, ...], taken: str
) -> None:
    environ = {"NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION": "12.8"}
    judge = Judge(Target(disabled=(*disabled, "amd", "intel"), environ=environ))
    versions = {"torch": "2.9.0", "torchaudio": "2.9.0+cpu", "triton": "3.5", "filelock": "3.0"}
    advice = str(folder_advice(versions, [], judge, index="https://x.test/whl/"))
    where = "https://x.test/whl/ has a build for each backend"
    assert advice == f"torch: {where}; --torch-backend auto would take {taken}"


def test_nothing_is_said_of_folders_where_nothing_or_a_variant_is_of_the_family() -> None:
    judge = Judge(Target(from_target_file={}))
    for versions in ({"triton": "3.5"}, {"torch": "2.9.0+cu128"}):
        assert folder_advice(versions, [], judge, index="") is None
    assert folder_advice({"torchaudio": "2.9.0"}, ["torch"], judge, index="") is None
