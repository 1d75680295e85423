"""Variant markers in a wheel's dependencies: decided the same way by every pip, however it
comes by the metadata, and gone from the environment afterwards (PEP 825, markers)."""

from __future__ import annotations

import base64
import csv
import hashlib
import json

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index, Reply
from integration.wheels import Wheel, cuda, metadata, tri

pytestmark = pytest.mark.every_pip

BOUND = "nvidia :: cuda_version_lower_bound"
REQUIRES = (
    "by-label; variant_label == 'cuda12.8'",
    "by-namespace; 'nvidia' in variant_namespaces",
    f"by-feature; '{BOUND.replace(' ', '')}' in variant_features",
    f"by-property; '{BOUND} :: 12.8' in variant_properties and python_version >= '3'",
    "by-none; variant_label == ''",
    "by-null; variant_label == 'null'",
    "by-not; 'nvidia' not in variant_namespaces",
    "by-either; (variant_label == 'other' or 'nvidia' in variant_namespaces) and os_name != 'cpm'",
    "by-never; 'nvidia' in variant_namespaces and python_version < '3'",
    "by-extra; extra == 'more' and 'nvidia' in variant_namespaces",
    "always",
)
NAMES = tuple(text.partition(";")[0] for text in REQUIRES)
#: What each of the wheels pulls in.
CUDA = {"by-label", "by-namespace", "by-feature", "by-property", "by-either", "always"}
NULL = {"by-null", "by-not", "always"}
PLAIN = {"by-none", "by-not", "always"}


@pytest.fixture(params=("0", "1"))
def backend(request: pytest.FixtureRequest) -> dict[str, str]:
    """Each of the two backends that pip has for metadata, as variables choose it."""
    return {"_PIP_USE_IMPORTLIB_METADATA": request.param}


def _fill(index: Index) -> None:
    """A project whose newest release has markers, and an old one without any."""
    index.add(Wheel("tri", "0.9"), *tri(requires=REQUIRES, extras=("more",)))
    index.add(*(Wheel(name) for name in NAMES))


def _pulled_in(pip: Pip) -> set[str]:
    return set(pip.installed()) - {"tri"}


@pytest.mark.parametrize(
    ("driver", "label", "pulled_in"), (("12.8", "cuda12.8", CUDA), ("12.4", "null", NULL))
)
@pytest.mark.parametrize("way", ("wheel", "metadata file", "ranges"))
def test_the_chosen_wheel_decides(
    pip: Pip, index: Index, way: str, driver: str, label: str, pulled_in: set[str]
) -> None:
    _fill(index)
    index.metadata_files = way == "metadata file"
    index.ranges = way == "ranges"
    fast = ("--use-feature", "fast-deps") if way == "ranges" else ()
    pip.variant("install", *fast, "tri", driver=driver).check()
    assert pip.build("tri") == ("1.0", label)
    assert _pulled_in(pip) == pulled_in


@pytest.mark.parametrize("way", ("wheel", "metadata file", "ranges"))
def test_who_speaks_for_a_property_says_the_index_however_metadata_is_read(
    pip: Pip, index: Index, way: str
) -> None:
    index.metadata_files, index.ranges = way == "metadata file", way == "ranges"
    values = [f"blas :: library :: {name}" for name in ("mkl", "openblas")]
    providers = [
        {"blas": {"static-properties": {"library": names}}}
        for names in (["mkl", "openblas"], ["openblas"])
    ]
    requires = [f"{name}; '{value}' in variant_properties" for name, value in zip(NAMES, values)]
    inside, said = (
        Wheel("tri", "1.0", "x", tuple(values), providers=each, requires=tuple(requires))
        for each in providers
    )
    index.add(inside, *(Wheel(name) for name in NAMES))
    index.answer("tri-1.0-variants.json", Reply.json(metadata([said])))
    fast = ("--use-feature", "fast-deps") if way == "ranges" else ()
    pip.variant("install", *fast, "tri").check()
    assert pip.installed() == {"tri": "1.0", NAMES[1]: "1.0"}
    assert pip.plain("check").check().output.count("tri") == 0
    written = (pip.site / "tri-1.0.dist-info" / "METADATA").read_text()
    assert [name for name in NAMES if f"Requires-Dist: {name}" in written] == [NAMES[1]]


def test_a_wheel_from_a_folder_decides(pip: Pip, index: Index) -> None:
    _fill(index)
    (pip.work / "wheels").mkdir()
    for wheel in tri(requires=REQUIRES, extras=("more",)):
        (pip.work / "wheels" / wheel.filename).write_bytes(wheel.content)
    pip.variant("install", "--find-links", "wheels", "tri", driver="12.8").check()
    assert _pulled_in(pip) == CUDA


def test_a_given_wheel_decides(pip: Pip, index: Index) -> None:
    _fill(index)
    wheel = Wheel("tri", "1.0", "cuda12.8", (cuda("12.8"),), requires=REQUIRES)
    (pip.work / wheel.filename).write_bytes(wheel.content)
    pip.variant("install", f"./{wheel.filename}", driver="12.8").check()
    assert _pulled_in(pip) == CUDA


def test_markers_and_extras_combine(pip: Pip, index: Index) -> None:
    _fill(index)
    pip.variant("install", "tri[more]", driver="12.8").check()
    assert _pulled_in(pip) == CUDA | {"by-extra"}


def test_a_licence_of_several_paragraphs_hides_no_requirement(pip: Pip, index: Index) -> None:
    torch29 = Wheel(
        "ext",
        label="torch29",
        properties=("abi_dependency :: torch :: 2.9",),
        providers={"abi_dependency": {"builtin": "abi_dependency"}},
        headers="License: one\n        \n        two\n        \x0c\n         \n",
        requires=("by-label; variant_label == 'torch29'", "by-none; variant_label == ''"),
    )
    index.add(torch29, *(Wheel(name) for name in NAMES))
    index.add(*(Wheel("torch", version) for version in ("2.8.0", "2.9.1", "2.10.0")))
    pip.variant("install", "ext").check()
    assert pip.installed() == {"ext": "1.0", "by-label": "1.0", "torch": "2.9.1"}
    assert "variant_" not in (pip.site / "ext-1.0.dist-info" / "METADATA").read_text()
    pip.plain("check").check()


def test_both_metadata_backends_of_pip_decide_alike(
    pip: Pip, index: Index, backend: dict[str, str]
) -> None:
    _fill(index)
    index.add(Wheel("other", requires=("tri[more]",)))
    pip.variant("install", "tri", driver="12.8", environ=backend).check()
    assert _pulled_in(pip) == CUDA
    # Now `tri` is read where it is installed.
    pip.variant("install", "other", driver="12.8", environ=backend).check()
    assert _pulled_in(pip) == CUDA | {"by-extra", "other"}
    pip.variant("check", driver="12.8", environ=backend).check()
    pip.plain("check", environ=backend).check()


def test_only_supported_properties_count(pip: Pip, index: Index) -> None:
    wheel = Wheel(
        "tri",
        "1.0",
        "two",
        (cuda("12.6"), cuda("13.0")),
        requires=(
            f"supported; '{BOUND} :: 12.6' in variant_properties",
            f"unsupported; '{BOUND} :: 13.0' in variant_properties",
        ),
    )
    index.add(wheel, Wheel("supported"), Wheel("unsupported"))
    pip.variant("install", "tri", driver="12.8").check()
    assert _pulled_in(pip) == {"supported"}


def test_without_variants_the_plain_wheel_of_the_same_version_decides(
    pip: Pip, index: Index
) -> None:
    _fill(index)
    pip.variant("install", "--no-variant", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    assert _pulled_in(pip) == PLAIN


def test_the_old_release_is_not_taken_silently(pip: Pip, index: Index) -> None:
    _fill(index)
    index.add(Wheel("user", requires=("tri",)))
    pip.variant("install", "user", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_a_marker_without_meaning_is_an_error_not_a_crash(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("x; variant_features == 'a'",)), Wheel("x"))
    result = pip.variant("install", "tri", driver="12.8")
    assert result.code == 1
    assert "variant_features" in result.stderr
    assert "Traceback" not in result.output
    assert pip.installed() == {}


# The environment afterwards.


@pytest.mark.effect_of("dependencies", "ZipBackedFile.save")
def test_the_record_is_right_for_what_was_written(pip: Pip, index: Index) -> None:
    _fill(index)
    pip.variant("install", "tri", driver="12.8").check()
    info = pip.site / "tri-1.0.dist-info"
    assert "variant_" not in (info / "METADATA").read_text()
    rows = list(csv.reader((info / "RECORD").read_text().splitlines()))
    assert f"{info.name}/METADATA" in [row[0] for row in rows]
    for path, digest, size in rows:
        if digest:
            data = (pip.site / path).read_bytes()
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=")
            assert digest == f"sha256={expected.decode()}", path
            assert int(size) == len(data)


def test_plain_pip_is_at_home_in_the_environment(pip: Pip, index: Index) -> None:
    _fill(index)
    index.add(Wheel("other", requires=("tri",)))
    pip.variant("install", "tri[more]", driver="12.8").check()
    assert "No broken requirements found" in pip.plain("check").check().output
    listed = json.loads(pip.plain("list", "--format", "json").check().stdout)
    assert {"name": "tri", "version": "1.0"} in listed
    pip.plain("inspect").check()
    shown = pip.plain("show", "tri").check().stdout
    assert "by-label" in shown
    installed = pip.plain("install", "other").check()
    assert installed.warnings == []
    pip.plain("install", "--force-reinstall", "--no-deps", "tri==0.9").check()
    pip.plain("uninstall", "-y", "tri").check()
    assert "tri" not in pip.installed()


def test_our_own_commands_are_at_home_in_the_environment(pip: Pip, index: Index) -> None:
    _fill(index)
    index.add(Wheel("other", requires=("tri",)))
    pip.variant("install", "tri", driver="12.8").check()
    assert "No broken requirements found" in pip.variant("check", driver="12.8").check().output
    for command in (["list"], ["inspect"], ["show", "tri"], ["freeze"], ["install", "other"]):
        told = pip.variant(*command, driver="12.8").check().warnings
        # An old pip says of `inspect` that it is an experiment.
        assert [line for line in told if "experimental" not in line] == []
    pip.variant("uninstall", "-y", "tri").check()


@pytest.mark.effect_of(
    "dependencies", "Distribution._metadata_impl", "DistInfoDistribution._parsed_pkg_info"
)
def test_what_another_tool_installed_is_read_with_its_own_label(
    pip: Pip, index: Index, backend: dict[str, str]
) -> None:
    """Another installer keeps the markers in METADATA; only the reading can decide them."""
    _fill(index)
    wheel = Wheel("tri", "1.0", "cuda12.8", (cuda("12.8"),), requires=REQUIRES)
    info = pip.site / "tri-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(wheel.metadata_text)
    (info / "variant.json").write_text(json.dumps(metadata([wheel])))
    (info / "RECORD").write_text("tri-1.0.dist-info/METADATA,,\n")
    (info / "INSTALLER").write_text("other\n")
    missing = pip.variant("check", driver="12.8", environ=backend)
    named = {name for name in NAMES if f"requires {name}, which is not installed" in missing.output}
    assert named == CUDA
    assert "Traceback" not in missing.output
    pip.variant("install", "tri", driver="12.8", environ=backend).check()
    assert _pulled_in(pip) == CUDA
    pip.variant("check", driver="12.8", environ=backend).check()
    inspected = pip.variant("inspect", driver="12.8", environ=backend).check()
    assert "variant_" not in inspected.stdout


@pytest.mark.skipif(PIP_VERSION < (26, 2), reason="the check that is meant is new in pip 26.2")
def test_a_metadata_file_that_is_not_the_wheels_is_still_found_out(pip: Pip, index: Index) -> None:
    other = Wheel("tri", "1.0", "cuda12.8", (cuda("12.8"),), requires=("always",))
    index.metadata_files = True
    _fill(index)
    described = "tri-1.0-py3-none-any-cuda12.8.whl.metadata"
    index.answer(described, Reply(other.metadata_text.encode()))
    result = pip.variant("install", "tri", driver="12.8")
    assert result.code == 1
    assert pip.installed() == {}
