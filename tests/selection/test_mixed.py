"""Packages that need each other and are built for different things."""

from __future__ import annotations

import pytest

from pipvariant.selection.installed import Installed
from pipvariant.selection.mixed import Member, find_mixed, properties_to_compare
from pipvariant.standard.properties import Property, from_properties

BOUND = "nvidia :: cuda_version_lower_bound"


def member(project: str, *texts: str, requires: tuple[str, ...] = ()) -> Member:
    properties = from_properties(map(Property.parse, texts))
    return Member(project, "1.0", properties, frozenset(requires))


CORE = member("core", f"{BOUND} :: 12.8")


def test_what_is_mixed_is_named_with_the_option_for_all_that_belong_together() -> None:
    equal = member("vision", f"{BOUND} :: 12.8", requires=("core", "numpy"))
    serve = member("serve", f"{BOUND} :: 13.0", requires=("core",))
    alone = member("alone", f"{BOUND} :: 11.0")
    (mixed,) = find_mixed([serve, equal, alone, CORE])
    option = "--same-variant nvidia=core,serve,vision"
    assert mixed.advice(mixed.option) == (
        "Packages that need each other are built for different nvidia :: cuda_version_lower_bound: "
        f"core 1.0 has 12.8, serve 1.0 has 13.0, vision 1.0 has 12.8; `{option}` takes equal "
        "ones, if there are any"
    )
    assert mixed.command == f"pip-variant install {option} core serve vision"


@pytest.mark.parametrize(
    ("texts", "needs"),
    (
        ((f"{BOUND} :: 13.0",), ()),
        ((f"{BOUND} :: 13.0", f"{BOUND} :: 12.8"), ("core",)),
        (("nvidia :: sm_arch :: 90_real",), ("core",)),
        (("amd :: rocm_version :: 6.4",), ("core",)),
        ((), ("core",)),
    ),
    ids=("not required", "a value in common", "other feature", "other namespace", "null"),
)
def test_what_goes_together_is_not_mixed(texts: tuple[str, ...], needs: tuple[str, ...]) -> None:
    assert find_mixed([CORE, member("serve", *texts, requires=needs)]) == []


def test_builds_for_two_backends_of_torch_are_mixed_and_replaced_together() -> None:
    torch, vision = (
        Member(name, version, properties_to_compare(build), frozenset(needs))
        for name, version, needs in (("torch", "2.9+cpu", []), ("vision", "1+cu126", ["torch"]))
        for build in [Installed(name, version, version.partition("+")[2], is_in_folder=True)]
    )
    (mixed,) = find_mixed([torch, vision])
    command = "pip-variant install --torch-backend auto --upgrade-variant torch==2.9 vision==1"
    assert mixed.command == command
    assert mixed.reason.endswith("backends: torch 2.9+cpu has cpu, vision 1+cu126 has cu126")


def test_what_is_no_accelerator_mixes_freely() -> None:
    core, serve = "x86_64 :: level :: v3", "x86_64 :: level :: v4"
    assert find_mixed([member("core", core), member("serve", serve, requires=("core",))]) == []
