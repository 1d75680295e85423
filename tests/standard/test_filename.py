"""STANDARD: wheel filenames with labels, and names of variants.json files."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from pipvariant.errors import InvalidFilename
from pipvariant.printable import printable
from pipvariant.standard.filename import (
    NULL_LABEL,
    check_label,
    join_label,
    label_phrase,
    parse_variants_json_name,
    split_label,
    variants_json_name,
)


@pytest.mark.parametrize(
    ("filename", "plain", "label"),
    (
        ("torch-2.9.0-py3-none-any-cu128.whl", "torch-2.9.0-py3-none-any.whl", "cu128"),
        ("torch-2.9.0-1-py3-none-any-cu128.whl", "torch-2.9.0-1-py3-none-any.whl", "cu128"),
        ("torch-2.9.0-1a-py3-none-any-null.whl", "torch-2.9.0-1a-py3-none-any.whl", "null"),
        ("torch-2.9.0-py3-none-any-1.2_3.whl", "torch-2.9.0-py3-none-any.whl", "1.2_3"),
        (
            "a-1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64-v3.whl",
            "a-1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "v3",
        ),
    ),
)
def test_label_is_the_last_part(filename: str, plain: str, label: str) -> None:
    assert split_label(filename) == (plain, label)
    assert join_label(plain, label) == filename


@pytest.mark.parametrize(
    "filename",
    (
        "torch-2.9.0-py3-none-any.whl",
        "torch-2.9.0-1-py3-none-any.whl",  # six parts, and the third starts with a digit
        "torch-2.9.0-py3-none.whl",
        "torch-2.9.0-x-py3-none-any-cu128.whl",  # seven parts, and no build tag
        "torch-2.9.0-1-2-py3-none-any-cu128.whl",
        "a-b-c-d-e-f-g.tar.gz",
        "torch-2.9.0-py3-none-any-cu128.WHL",
        "torch-2.9.0-variants.json",
        "",
        "-----",
        ".whl",
    ),
)
def test_name_without_label_stays_untouched(filename: str) -> None:
    plain, label = split_label(filename)
    assert plain is filename
    assert label is None


def test_build_tag_starts_with_a_digit_and_python_tag_does_not() -> None:
    assert split_label("a-1-py3-none-any-x.whl")[1] == "x"
    assert split_label("a-1-3py-none-any-x.whl")[1] is None


@pytest.mark.parametrize("label", ("", "CU128", "cu 128", "cü", "cu+128", "cu\n", "²"))
@pytest.mark.parametrize("build", ("", "1-"))
def test_label_has_lower_case_letters_digits_underscores_and_dots_only(
    label: str, build: str
) -> None:
    filename = f"torch-2.9.0-{build}py3-none-any-{label}.whl"
    with pytest.raises(InvalidFilename) as caught:
        split_label(filename)
    assert str(caught.value) == (
        f"{printable(filename)}: {label!r} is not a variant label. "
        "A label has lower case letters, digits, underscores and dots only."
    )
    with pytest.raises(InvalidFilename, match="is not a variant label"):
        join_label(f"torch-2.9.0-{build}py3-none-any.whl", label)
    with pytest.raises(InvalidFilename, match=r"^'.*' is not a variant label"):
        check_label(label)


def test_label_has_no_length_limit() -> None:
    label = "a" * 300
    assert split_label(f"torch-2.9.0-py3-none-any-{label}.whl")[1] == label


def test_null_is_a_label() -> None:
    assert check_label(NULL_LABEL) == "null"


def test_a_wheel_is_called_by_its_label() -> None:
    assert label_phrase("cu128") == "variant cu128"
    assert label_phrase("null") == "null variant"
    assert label_phrase(None) == "non-variant wheel"
    assert label_phrase(None, "sdist") == "sdist"


@pytest.mark.parametrize(
    "plain",
    (
        "torch-2.9.0.tar.gz",
        "torch-2.9.0-py3-none-any.zip",
        "torch-2.9.0.whl",
        "torch-2.9.0-py3-none.whl",
        "torch-2.9.0-py3-none-any-cu128.whl",
        "torch-2.9.0-1-py3-none-any-cu128.whl",
        "torch--py3-none-any.whl",
        "",
    ),
)
def test_only_a_non_variant_wheel_gets_a_label(plain: str) -> None:
    with pytest.raises(InvalidFilename, match="non-variant wheel"):
        join_label(plain, "cu128")


names = st.from_regex(r"[a-z][a-z0-9]{0,3}(_[a-z0-9]{1,3})?", fullmatch=True)
versions = st.from_regex(r"[0-9]\.[0-9](\+[a-z]{1,3})?", fullmatch=True)
labels = st.from_regex(r"[0-9a-z_.]{1,10}", fullmatch=True)
builds = st.sampled_from(["", "1-", "20a-"])
tags = st.sampled_from(["py3-none-any", "cp313-cp313-manylinux_2_28_x86_64", "py2.py3-none-any"])


@given(names, versions, builds, tags, labels)
def test_splitting_undoes_joining(
    name: str, version: str, build: str, tag: str, label: str
) -> None:
    plain = f"{name}-{version}-{build}{tag}.whl"
    assert split_label(plain) == (plain, None)
    assert split_label(join_label(plain, label)) == (plain, label)
    parse_wheel_filename(plain)
    with pytest.raises(InvalidWheelFilename):
        parse_wheel_filename(join_label(plain, label))


@given(
    st.lists(st.text("ab1.", max_size=3), max_size=9).map("-".join), st.sampled_from([".whl", ""])
)
def test_splitting_never_fails_but_for_the_label(stem: str, suffix: str) -> None:
    try:
        plain, label = split_label(stem + suffix)
    except InvalidFilename:
        assert stem.endswith("-")
    else:
        assert label is None or join_parts(plain, label) == stem + suffix


def join_parts(plain: str, label: str) -> str:
    return f"{plain[: -len('.whl')]}-{label}.whl"


@pytest.mark.parametrize(
    ("name", "version", "filename"),
    (
        ("torch", "2.9.0", "torch-2.9.0-variants.json"),
        ("My.Project-x", "1.0", "my_project_x-1.0-variants.json"),
        ("a--b__c", "1.0-1", "a_b_c-1.0.post1-variants.json"),
        ("a", "v1.0RC1", "a-1.0rc1-variants.json"),
        ("a", "1!2.0+Ubuntu-1", "a-1!2.0+ubuntu.1-variants.json"),
        ("a", "1.0.0", "a-1.0.0-variants.json"),
    ),
)
def test_variants_json_is_named_as_wheels_are(name: str, version: str, filename: str) -> None:
    assert variants_json_name(name, version) == filename


def test_variants_json_name_is_read_back() -> None:
    assert parse_variants_json_name("my_project-1.0-variants.json") == ("my-project", "1.0")
    assert parse_variants_json_name("My.Project-1!2.0+a.1-variants.json") == (
        "my-project",
        "1!2.0+a.1",
    )


@pytest.mark.parametrize(
    "filename",
    (
        "variants.json",
        "a-variants.json",
        "a-b-1.0-variants.json",
        "-1.0-variants.json",
        "a-1.0-variants.json.metadata",
        "a-1.0-variant.json",
        "a-1.0/../x-variants.json",
        "_a-1.0-variants.json",
        "a-1.0-variants.json\n",
    ),
)
def test_other_names_are_no_variants_json(filename: str) -> None:
    assert parse_variants_json_name(filename) is None


@pytest.mark.parametrize(
    ("name", "version", "said"),
    (
        ("a", "x", "a: 'x' is not a version"),
        ("-a", "1", "'-a' is not a project name"),
        ("", "1", "'' is not a project name"),
        ("a/b", "1", "'a/b' is not a project name"),
    ),
)
def test_variants_json_name_needs_a_project_and_a_version(
    name: str, version: str, said: str
) -> None:
    with pytest.raises(InvalidFilename) as caught:
        variants_json_name(name, version)
    assert str(caught.value) == said


@pytest.mark.parametrize("parts", (f"{'9' * 5000}", f"1.{'9' * 1000}", f"1-{'9' * 1000}"))
def test_a_number_that_python_may_refuse_to_convert_is_in_no_filename(parts: str) -> None:
    with pytest.raises(
        InvalidFilename, match=r"^a-[-.19]{58}\.\.\.: has a number that is too long$"
    ):
        split_label(f"a-{parts}-py3-none-any-cpu.whl")
    assert parse_variants_json_name(f"a-{parts}-variants.json") is None
    with pytest.raises(InvalidFilename, match="is not a version"):
        variants_json_name("a", "9" * 5000)


def test_splitting_imports_almost_nothing() -> None:
    program = (
        "import pipvariant.standard.filename as f; f.split_label('a-1-py3-none-any.whl');"
        "print(*sorted(m for m in sys.modules if m.partition('.')[0] in "
        "{'pipvariant', 'packaging', 'json', 'hashlib', 'dataclasses', 'typing', 'pip'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [
        "pipvariant",
        "pipvariant.errors",
        "pipvariant.printable",
        "pipvariant.standard",
        "pipvariant.standard.bounds",
        "pipvariant.standard.filename",
    ]
