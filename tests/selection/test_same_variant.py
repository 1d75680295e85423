"""Which labels of a package go with those of the others that stay on the same variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from pipvariant.selection.model import Decision, File
from pipvariant.selection.ordering import decide
from pipvariant.selection.same_variant import Values, arrange, arrange_folders, values_of
from pipvariant.standard.preferences import Family, read_preferences
from tests.selection.releases import JUDGE, Sources, bounds, files, metadata

Labels = Mapping[str, str]


def decided(project: str, labels: Labels, namespace: str = "gpu") -> Decision:
    sources = Sources({"": metadata(labels, namespace)})
    return decide(files(labels, project), sources, JUDGE)


def arranged(mine: Labels, **theirs: Sequence[Decision]) -> tuple[list[str], str]:
    """The labels of alpha that are left, best first, and why there are none.

    :param theirs: package -> its versions, the newest first.
    """

    def offered(package: str, family: Family) -> Iterator[Sequence[Values]]:
        for version in theirs[package]:
            yield [values_of(version, file, family) for file in version.files]

    families = read_preferences(families=[f"gpu=alpha,{','.join(theirs)}"]).family_of("alpha")
    decision = decided("alpha", mine)
    exists = {package: bool(versions) for package, versions in theirs.items()}
    found, reason = arrange(decision.files, decision, families, offered, exists.__getitem__)
    return [file.label or "" for file in found], reason


@pytest.mark.parametrize(
    ("mine", "theirs", "labels"),
    (
        (bounds(1, 2, 3), [bounds(1, 2)], ["g2", "g1", "null", "g3"]),
        # An older version with a common value counts more than null.
        (bounds(1, 2), [bounds(3), bounds(1), bounds(2)], ["g1", "null", "g2"]),
        # Null is the last resort.
        (bounds(1, 2), [bounds(3)], ["null", "g2", "g1"]),
        # Null does not go with a label.
        (bounds(1, 2), [bounds(1, null=False)], ["g1", "g2", "null"]),
        # What has no labels, or is on no index, goes with anything.
        (bounds(1, 2), [{"": ""}], ["g2", "g1", "null"]),
        (bounds(1, 2), [], ["g2", "g1", "null"]),
        # A label that is incompatible is nothing in common.
        (bounds(1, 9), [bounds(1, 9)], ["g1", "null"]),
    ),
)
def test_what_the_other_has_too_comes_first(
    mine: Labels, theirs: Sequence[Labels], labels: list[str]
) -> None:
    assert arranged(mine, beta=[decided("beta", each) for each in theirs]) == (labels, "")


def test_what_does_not_use_the_namespace_goes_with_anything() -> None:
    beta = decided("beta", {"other": "1", "": ""}, namespace="other")
    assert arranged(bounds(1, 2), beta=[beta]) == (["g2", "g1", "null"], "")


def test_all_of_three_count() -> None:
    beta, gamma = decided("beta", bounds(1, 2)), decided("gamma", bounds(1, 3))
    labels, _ = arranged(bounds(1, 2, 3), beta=[beta], gamma=[gamma])
    assert labels[:2] == ["g1", "null"]


def test_nothing_in_common_leaves_nothing_and_names_the_package() -> None:
    beta = decided("beta", bounds(2, null=False))
    reason = "no variant of beta has equal values (--same-variant gpu=alpha,beta)"
    assert arranged(bounds(1, null=False), beta=[beta]) == ([], reason)


def test_the_first_folder_that_has_the_newest_version_of_all_others_comes_first() -> None:
    def found(**offered: Mapping[str, int]) -> tuple[list[str | None], list[str]]:
        files = [
            File("torch", "2.9", f"torch-2.9+{label}.whl", label, is_of_folder=True)
            for label in ("cu130", "cu128", "cpu")
        ]
        ordered, apart = arrange_folders(files, offered, lambda name, at: offered[name].get(at))
        return [file.label for file in ordered], apart

    assert found()[0] == ["cu130", "cu128", "cpu"]
    vision = {"cu130": 1, "cu128": 2, "cpu": 2}
    assert found(vision=vision)[0] == ["cu128", "cu130", "cpu"]
    assert found(vision=vision, audio={"cu130": 1, "cpu": 1})[0] == ["cpu", "cu130", "cu128"]
    # Where no folder has the newest of all, one that has any of all.
    assert found(vision=vision, audio={"cu130": 2})[0][0] == "cu130"
    assert found(vision={"cu130": 1}, audio={"cpu": 1})[1] == ["vision", "audio"]
