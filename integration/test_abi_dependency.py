"""Labels built for some versions of another project: the resolver sees to it (PEP 825, ABI
dependencies)."""

from __future__ import annotations

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Wheel, release

BUILTIN = {"abi_dependency": {"builtin": "abi_dependency"}}
LABELS = {
    "torch27": ("abi_dependency :: torch :: 2.7",),
    "torch28": ("abi_dependency :: torch :: 2.8",),
    "torch29": ("abi_dependency :: torch :: 2.9",),
}
WITH_NULL = {**LABELS, "null": ()}


@pytest.fixture
def torches(index: Index) -> Index:
    """An index with three releases of torch that labels were built for, and one that none was."""
    index.add(*(Wheel("torch", version) for version in ("2.6.0", "2.7.1", "2.8.0", "2.9.1")))
    return index


@pytest.mark.effect_of(
    "dependencies", "read_wheel_metadata_file", "Distribution.from_metadata_file_contents"
)
@pytest.mark.parametrize("backend", ("0", "1"))
@pytest.mark.parametrize("described", (False, True))
def test_the_label_for_the_newest_is_taken_where_all_is_open(
    pip: Pip, torches: Index, described: bool, backend: str
) -> None:
    torches.metadata_files = described
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    environ = {"_PIP_USE_IMPORTLIB_METADATA": backend}
    result = pip.variant("install", "ext", environ=environ).check()
    assert pip.build("ext") == ("1.0", "torch29")
    assert pip.installed()["torch"] == "2.9.1"
    assert result.lines_with("ext 1.0: variant torch29 (abi_dependency :: torch :: 2.9)")


@pytest.mark.parametrize(("asked", "label"), (("2.8.0", "torch28"), ("2.7.1", "torch27")))
@pytest.mark.parametrize("first", ("ext", "torch"))
def test_what_comes_in_the_same_command_decides(
    pip: Pip, torches: Index, asked: str, label: str, first: str
) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    asked_for = [f"torch=={asked}", "ext"]
    pip.variant("install", *(asked_for if first == "torch" else reversed(asked_for))).check()
    assert pip.build("ext") == ("1.0", label)
    assert pip.installed()["torch"] == asked


def test_what_is_installed_stays_and_decides(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    pip.variant("install", "torch==2.8.0").check()
    pip.variant("install", "ext").check()
    assert pip.build("ext") == ("1.0", "torch28")
    assert pip.installed()["torch"] == "2.8.0"


def test_what_is_only_implied_decides(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    torches.add(Wheel("user", requires=("ext", "torch<2.8")))
    pip.variant("install", "user").check()
    assert pip.build("ext") == ("1.0", "torch27")
    assert pip.installed()["torch"] == "2.7.1"


@pytest.mark.every_pip
def test_null_is_the_last_of_the_version_before_an_older_one(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN), Wheel("ext", "0.9"))
    pip.variant("install", "torch==2.6.0", "ext").check()
    assert pip.build("ext") == ("1.0", "null")


def test_an_older_version_comes_after_all_labels_of_the_newer(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=LABELS, providers=BUILTIN, plain=False))
    torches.add(Wheel("ext", "0.9"))
    pip.variant("install", "torch==2.6.0", "ext").check()
    assert pip.build("ext") == ("0.9", "")


@pytest.mark.every_pip
def test_no_label_that_goes_with_the_rest_is_an_error(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=LABELS, providers=BUILTIN, plain=False))
    result = pip.variant("install", "torch==2.6.0", "ext")
    assert result.code == 1
    assert "Traceback" not in result.output
    assert pip.installed() == {}


@pytest.mark.parametrize(
    ("asked", "label"), (("2.7.1", "some"), ("2.9.1", "some"), ("2.8.0", "null"))
)
def test_several_values_mean_any_of_them(pip: Pip, torches: Index, asked: str, label: str) -> None:
    some = ("abi_dependency :: torch :: 2.7", "abi_dependency :: torch :: 2.9")
    torches.add(*release("ext", labels={"some": some, "null": ()}, providers=BUILTIN))
    pip.variant("install", f"torch=={asked}", "ext").check()
    assert pip.build("ext") == ("1.0", label)


def test_two_dependencies_have_to_match_together(pip: Pip, torches: Index) -> None:
    labels = {
        "a": ("abi_dependency :: torch :: 2.9", "abi_dependency :: num_py :: 2"),
        "b": ("abi_dependency :: torch :: 2.9", "abi_dependency :: num_py :: 1"),
    }
    torches.add(Wheel("num-py", "1.5"), Wheel("num-py", "2.1"))
    torches.add(*release("ext", labels=labels, providers=BUILTIN, plain=False))
    pip.variant("install", "ext", "num-py<2").check()
    assert pip.build("ext") == ("1.0", "b")


def test_metadata_that_leaves_the_namespace_out_of_its_lists_means_the_same(
    pip: Pip, torches: Index
) -> None:
    blas = {"blas": {"static-properties": {"library": ["mkl"]}}}
    labels = {label: (*texts, "blas :: library :: mkl") for label, texts in LABELS.items()}
    torches.add(*release("ext", labels=labels, providers=blas))
    pip.variant("install", "torch==2.8.0", "ext").check()
    assert pip.build("ext") == ("1.0", "torch28")


def test_the_environment_knows_what_the_label_was_built_for(pip: Pip, torches: Index) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    pip.variant("install", "ext").check()
    pip.plain("check").check()
    result = pip.plain("install", "torch==2.8.0")
    assert "ext 1.0 requires torch==2.9.*" in result.output


@pytest.mark.parametrize(
    ("there", "label"), (("2.8.0", "torch28"), ("2.6.0", "null"), ("", "null"))
)
def test_without_dependencies_only_what_is_installed_fits(
    pip: Pip, torches: Index, there: str, label: str
) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    if there:
        pip.variant("install", f"torch=={there}").check()
    pip.variant("install", "--no-deps", "ext").check()
    assert pip.build("ext") == ("1.0", label)


def test_what_stays_old_for_the_sake_of_a_label_is_told(pip: Pip, torches: Index) -> None:
    labels = {"torch27": LABELS["torch27"], "null": ()}
    torches.add(*release("ext", labels=labels, providers=BUILTIN, extras=("more",)))
    pip.variant("install", "torch==2.7.1").check()
    line = "torch 2.7.1: 2.9.1 is not taken, as variant torch27 of ext 1.0 is built for torch 2.7"
    for advice in ("; --variant ext=null goes with it", ""):
        result = pip.variant("install", "-U", "ext[more]", "torch").check()
        assert line + advice in result.output.splitlines()
        assert pip.build("torch") == ("2.7.1", "")
    # Nobody asks for a newer one.
    for args in (("-U", "ext"), ("ext", "torch"), ("-U", "ext", "torch<2.8")):
        assert "is not taken" not in pip.variant("install", *args).check().output
    pip.variant("install", "-U", "ext", "torch", "--variant", "ext=null").check()
    assert (pip.build("torch"), pip.label("ext")) == (("2.9.1", ""), "null")


@pytest.mark.effect_of(
    "ignored_dependencies", "_InstallRequirementBackedCandidate.iter_dependencies"
)
@pytest.mark.parametrize(
    ("torch", "label"),
    (("torch==2.8.0", "torch28"), ("torch<2.9", "torch28"), ("torch==2.6.0", "null")),
)
def test_without_dependencies_what_comes_in_the_same_command_decides(
    pip: Pip, torches: Index, torch: str, label: str
) -> None:
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN, requires=("missing",)))
    other = "torch==2.7.1; python_version < '3'"
    pip.variant("install", "--no-deps", "ext", torch, other).check()
    assert pip.build("ext") == ("1.0", label)
    assert pip.installed().keys() == {"ext", "torch"}


@pytest.mark.every_pip
def test_metadata_files_spare_the_wheels_that_are_not_taken(pip: Pip, torches: Index) -> None:
    torches.metadata_files = True
    torches.add(*release("ext", labels=WITH_NULL, providers=BUILTIN))
    pip.variant("install", "ext", "torch==2.7.1").check()
    assert pip.build("ext") == ("1.0", "torch27")
    assert torches.requests_for(".json") == ["GET /files/ext-1.0-variants.json"]


@pytest.mark.parametrize(("asked", "label"), (("1.13.1", "some"), ("1.14.0", "null")))
def test_values_far_apart_mean_any_of_them_too(
    pip: Pip, torches: Index, asked: str, label: str
) -> None:
    some = ("abi_dependency :: torch :: 1.13", "abi_dependency :: torch :: 2.9")
    torches.add(Wheel("torch", "1.13.1"), Wheel("torch", "1.14.0"))
    torches.add(*release("ext", labels={"some": some, "null": ()}, providers=BUILTIN))
    pip.variant("install", f"torch=={asked}", "ext").check()
    assert pip.build("ext") == ("1.0", label)
    pip.plain("check").check()


def test_several_values_do_not_ask_for_pre_releases(pip: Pip, torches: Index) -> None:
    some = ("abi_dependency :: torch :: 2.8", "abi_dependency :: torch :: 2.9")
    torches.add(*release("ext", labels={"some": some}, providers=BUILTIN))
    torches.add(Wheel("torch", "2.9.2rc1"))
    pip.variant("install", "ext").check()
    assert pip.installed()["torch"] == "2.9.1"
