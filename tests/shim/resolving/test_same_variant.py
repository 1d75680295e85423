"""Which labels of a package go with those of the others of its family."""

from __future__ import annotations

import pytest

from pipvariant.shim.core.state import CommandOptions, UserConstraints
from pipvariant.shim.parts import Parts
from pipvariant.shim.resolving.again import ResolveAgain
from pipvariant.standard.preferences import read_preferences
from tests.shim.finder import Finder, Labels, make_parts, make_same_variant


def bounds(*numbers: int, null: bool = True) -> Labels:
    labels = {f"g{number}": (f"gpu :: bound :: {number}",) for number in numbers}
    return {**labels, "null": ()} if null else labels


def ordered(mine: Labels, absent: str = "", **theirs: dict[str, Labels]) -> tuple[list[str], Parts]:
    """The labels of alpha that are left, best first, and the parts of the run.

    :param absent: of all packages this one is not to be installed.
    """
    preferences = read_preferences(families=[f"gpu=alpha,{','.join(theirs)}"])
    parts = make_parts(preferences, ignores_installed=True)
    finder = Finder(parts, {"alpha": {"1.0": mine}, **theirs})
    user, options = UserConstraints(preferences=preferences), CommandOptions(ignores_installed=True)
    parts.requirements.resolution.named = frozenset({"alpha", *theirs} - {absent})
    same_variant = make_same_variant(parts, user, options)
    parts.selector.arrange = same_variant.arrange
    names = parts.selector.order(finder.files("alpha", "1.0"), finder.search())
    head = "alpha-1.0-py3-none-any"
    return [name[len(head) :].strip("-").rpartition(".")[0] for name in names], parts


def test_what_the_other_has_too_comes_first() -> None:
    labels, _ = ordered(bounds(1, 2, 3), beta={"1.0": bounds(1, 2)})
    assert labels == ["g2", "g1", "null", "g3"]


def test_an_older_version_with_a_common_value_counts_more_than_null() -> None:
    labels, _ = ordered(bounds(1, 2), beta={"2.0": bounds(3), "1.0": bounds(1), "0.9": bounds(2)})
    assert labels == ["g1", "null", "g2"]


def test_what_is_on_no_index_goes_with_anything() -> None:
    labels, _ = ordered(bounds(1, 2), beta={})
    assert labels == ["g2", "g1", "null"]


def test_nothing_in_common_leaves_nothing_and_names_the_package() -> None:
    labels, parts = ordered(bounds(1, null=False), beta={"1.0": bounds(2, null=False)})
    assert labels == []
    (skipped,) = parts.decisions.skipped.values()
    assert (
        skipped.skip_reason == "no variant of beta has equal values (--same-variant gpu=alpha,beta)"
    )


def test_what_is_not_going_to_be_installed_has_no_say() -> None:
    labels, _ = ordered(bounds(1, 2), "beta", beta={"1.0": bounds(1, null=False)})
    assert labels == ["g2", "g1", "null"]


def test_the_resolver_begins_anew_once_it_comes_to_a_member_that_nobody_named() -> None:
    # Alpha is such a dependency itself, and beta was chosen without it.
    labels, parts = ordered(bounds(1, 2), "alpha", beta={"1.0": bounds(1)})
    assert labels == ["g1", "null", "g2"]
    finder = Finder(parts, {"alpha": {"1.0": bounds(1, 2)}, "beta": {"1.0": bounds(1)}})
    parts.requirements.resolution.named = frozenset({"alpha"})
    order = parts.selector.order
    with pytest.raises(ResolveAgain):
        order(finder.files("beta", "1.0"), finder.search())
    assert order(finder.files("beta", "1.0"), finder.search())
