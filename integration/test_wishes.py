"""The user's say: which label, which first, which never, and which or nothing."""

from __future__ import annotations

import pytest

from integration.environments import PIP_VERSION, Pip
from integration.index import Index, Reply
from integration.wheels import Sdist, Wheel, cuda, release, tri

BLAS = {"blas": {"static-properties": {"library": ["openblas", "mkl"]}}}
MKL = {"mkl": ("blas :: library :: mkl",), "openblas": ("blas :: library :: openblas",)}


def _two_versions(index: Index) -> None:
    """Of tri, 1.0 has a CUDA variant for old drivers and 2.0 only one for new drivers."""
    index.add(*tri())
    index.add(*release("tri", "2.0", labels={"cuda13.0": (cuda("13.0"),), "null": ()}))


# --variant


@pytest.mark.parametrize("label", ("cuda12.6", "null", ""))
def test_a_named_label_is_taken_and_no_other(pip: Pip, index: Index, label: str) -> None:
    index.add(*tri())
    pip.variant("install", f"--variant=tri={label}", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", label)


def test_a_named_label_that_does_not_fit_is_an_error_that_says_why(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "--variant", "tri=cuda13.0", "tri", driver="12.8")
    assert result.code == 1
    assert (
        "ERROR: tri 1.0: cuda13.0 needs CUDA driver >= 13.0, this machine has 12.8. "
        "--variant tri=cuda13.0 never installs a variant that does not fit; "
        "leave the option out, or name another label."
    ) in result.stderr
    assert pip.installed() == {}
    assert not [path for path in index.requests if path.endswith(".whl")]


def test_versions_without_the_label_are_passed_over(pip: Pip, index: Index) -> None:
    _two_versions(index)
    pip.variant("install", "--variant", "tri=cuda12.6", "tri", driver="13.0").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


def test_a_label_that_no_version_has_is_an_error_that_names_those_that_exist(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    result = pip.variant("install", "--variant", "tri=rocm7", "tri", driver="12.8")
    assert result.code == 1
    reason = (
        "nothing of it is --variant tri=rocm7; its labels are cuda12.6, cuda12.8, cuda13.0, null"
    )
    assert f"tri 1.0 skipped: {reason}" in result.output
    assert pip.installed() == {}


def test_a_label_for_all_is_for_every_package_that_has_it(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("duo", "solo")), Wheel("solo"))
    index.add(*release("duo", labels={"cuda12.6": (cuda("12.6"),)}))
    pip.variant("install", "--variant", ":all:=null", "tri", driver="12.8").check()
    assert pip.label("tri") == "null"
    assert pip.label("duo") == "cuda12.6"
    assert pip.label("solo") == ""


def test_with_null_nothing_that_is_gated_comes_along(pip: Pip, index: Index) -> None:
    index.add(*tri(requires=("big; 'nvidia' in variant_namespaces",)), Wheel("big"))
    pip.variant("install", "--variant", ":all:=null", "tri", driver="12.8").check()
    assert pip.installed() == {"tri": "1.0"}


@pytest.mark.every_pip
def test_another_label_replaces_what_is_installed(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    result = pip.variant("install", "--variant", "tri=cuda12.6", "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"
    assert "tri 1.0: variant cuda12.6 replaces variant cuda12.8" in result.stdout


def test_the_wanted_label_that_is_installed_stays_without_a_request(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--variant", "tri=cuda12.6", "tri", driver="12.8").check()
    index.log.clear()
    pip.variant("install", "--variant", "tri=cuda12.6", "tri", driver="12.8").check()
    assert index.requests == []
    assert pip.label("tri") == "cuda12.6"


def test_what_is_installed_does_not_stand_in_for_a_label_that_is_not_there(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    result = pip.variant("install", "--variant", "tri=rocm7", "tri", driver="12.8")
    assert result.code == 1
    assert pip.label("tri") == "cuda12.8"


def test_the_command_line_counts_more_than_a_variable(pip: Pip, index: Index) -> None:
    index.add(*tri())
    environ = {"PIP_VARIANT": "tri=null other=x"}
    pip.variant("download", "--no-deps", "tri", driver="12.8", environ=environ).check()
    assert [path.name for path in pip.work.iterdir()] == ["tri-1.0-py3-none-any-null.whl"]
    args = ("install", "--variant", "tri=cuda12.6", "tri")
    pip.variant(*args, driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


def test_a_configuration_file_says_it_too(pip: Pip, index: Index) -> None:
    index.add(*tri())
    config = pip.write("pip.conf", ["[install]", "variant = tri=cuda12.6"])
    environ = {"PIP_CONFIG_FILE": str(config)}
    pip.variant("install", "tri", driver="12.8", environ=environ).check()
    assert pip.label("tri") == "cuda12.6"


# --prefer-variant, --exclude-variant


@pytest.mark.parametrize("spec", ("blas :: library :: mkl", "blas::library::mkl"))
def test_a_preference_for_mkl_reorders(pip: Pip, index: Index, spec: str) -> None:
    index.add(*release("lib", labels=MKL, providers=BLAS))
    pip.variant("install", "--prefer-variant", spec, "lib").check()
    assert pip.label("lib") == "mkl"


def test_a_preference_never_lets_a_misfit_in(pip: Pip, index: Index) -> None:
    index.add(*tri())
    args = ("--prefer-variant", cuda("13.0"))
    pip.variant("install", *args, "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


def test_a_preference_with_spaces_comes_whole_out_of_the_environment(
    pip: Pip, index: Index
) -> None:
    index.add(*release("lib", labels=MKL, providers=BLAS))
    environ = {"PIP_PREFER_VARIANT": "nvidia blas :: library :: mkl"}
    pip.variant("install", "lib", environ=environ).check()
    assert pip.label("lib") == "mkl"


@pytest.mark.parametrize(
    ("spec", "label"),
    (("nvidia", "null"), (cuda("12.8"), "cuda12.6"), ("nvidia :: sm_arch", "cuda12.8")),
)
def test_what_is_excluded_counts_as_not_supported(
    pip: Pip, index: Index, spec: str, label: str
) -> None:
    index.add(*tri())
    pip.variant("install", "--exclude-variant", spec, "tri", driver="12.8").check()
    assert pip.label("tri") == label


def test_what_is_excluded_does_not_count_in_markers_either(pip: Pip, index: Index) -> None:
    both = (cuda("12.6"), "blas :: library :: mkl", "blas :: library :: openblas")
    gated = ("big; 'blas :: library :: mkl' in variant_properties",)
    index.add(
        *release("lib", labels={"x": both}, providers={**BLAS, **_nvidia()}, requires=gated),
        Wheel("big"),
    )
    exclude = ("--exclude-variant", "blas :: library :: mkl")
    pip.variant("install", *exclude, "lib", driver="12.8").check()
    assert pip.installed() == {"lib": "1.0"}


def _nvidia() -> dict[str, object]:
    from integration.wheels import NVIDIA

    return {"nvidia": NVIDIA}


# --require-variant


@pytest.mark.every_pip
@pytest.mark.parametrize("word", ("nvidia", "tri=nvidia"))
def test_a_required_namespace_goes_back_to_an_older_version(
    pip: Pip, index: Index, word: str
) -> None:
    _two_versions(index)
    pip.variant("install", "tri", driver="12.8").check()
    assert pip.build("tri") == ("2.0", "null")
    args = ("install", "--ignore-installed", "--require-variant", word, "tri")
    pip.variant(*args, driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


@pytest.mark.parametrize("word", ("nvidia", "tri=nvidia"))
def test_required_and_nowhere_is_an_error_before_anything_changes(
    pip: Pip, index: Index, word: str
) -> None:
    index.add(*tri(requires=("solo",)), Wheel("solo"))
    result = pip.variant("install", "--require-variant", word, "solo", "tri")
    assert result.code == 1
    assert "--require-variant nvidia" in result.output
    assert pip.installed() == {}


def test_required_of_all_is_not_meant_for_packages_without_such_variants(
    pip: Pip, index: Index
) -> None:
    index.add(*tri(requires=("solo", "lib")), Wheel("solo"))
    index.add(*release("lib", labels=MKL, providers=BLAS))
    pip.variant("install", "--require-variant", "nvidia", "tri", driver="12.8").check()
    assert (pip.label("tri"), pip.label("lib"), pip.label("solo")) == ("cuda12.8", "openblas", "")


def test_a_newer_version_without_variants_is_passed_over(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("tri", "2.0"))
    pip.variant("install", "--require-variant", "nvidia", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_required_of_all_holds_where_the_newest_metadata_cannot_be_read(
    pip: Pip, index: Index
) -> None:
    index.add(*tri(), *tri("2.0"))
    index.answer("tri-2.0-variants.json", Reply(b"{"))
    pip.variant("install", "--require-variant", "nvidia", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


def test_an_installed_null_variant_is_replaced_when_more_is_required(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    pip.variant("install", "tri").check()
    assert pip.label("tri") == "null"
    args = ("install", "--require-variant", "nvidia", "tri")
    assert pip.variant(*args).code == 1
    assert pip.label("tri") == "null"
    pip.variant(*args, driver="12.6").check()
    assert pip.label("tri") == "cuda12.6"


# Requirements files


@pytest.mark.effect_of(
    "requirements_files",
    "SUPPORTED_OPTIONS",
    "handle_line",
    "preprocess",
    "RequirementsFileParser.parse",
)
@pytest.mark.parametrize("form", ("{}", "# pip-variant: {}", "  #pip-variant:   {}"))
def test_a_requirements_file_names_a_label(pip: Pip, index: Index, form: str) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", form.format("--variant tri=cuda12.6")])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


@pytest.mark.every_pip
def test_plain_pip_reads_a_file_with_the_comment_form(pip: Pip, index: Index) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["# pip-variant: --variant tri=cuda12.6", "tri==1.0"])
    pip.plain("install", "-r", path).check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.every_pip
def test_all_options_that_choose_can_be_lines(pip: Pip, index: Index) -> None:
    _two_versions(index)
    index.add(*release("lib", labels=MKL, providers=BLAS))
    path = pip.write(
        "r.txt",
        [
            "--require-variant tri=nvidia",
            "--prefer-variant blas :: library :: mkl",
            "# pip-variant: --exclude-variant " + cuda("12.8"),
            "tri",
            "lib  # a comment",
        ],
    )
    pip.variant("install", "-r", path, driver="12.8").check()
    assert (pip.label("tri"), pip.label("lib")) == ("cuda12.6", "mkl")


@pytest.mark.every_pip
@pytest.mark.parametrize("form", ("{}", "# pip-variant: {}"))
def test_no_variant_in_a_requirements_file_is_plain_pip(pip: Pip, index: Index, form: str) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", form.format("--no-variant")])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    assert not [request for request in index.requests if request.endswith(".json")]


def test_the_command_line_counts_more_than_a_file(pip: Pip, index: Index) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", "--variant tri=null"])
    args = ("install", "-r", path, "--variant", "tri=cuda12.6")
    pip.variant(*args, driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


@pytest.mark.every_pip
def test_a_constraints_file_says_it_too(pip: Pip, index: Index) -> None:
    index.add(*tri())
    path = pip.write("c.txt", ["# pip-variant: --variant tri=cuda12.6", "tri<2"])
    pip.variant("install", "-c", path, "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


@pytest.mark.parametrize(
    ("line", "said"),
    (
        ("# pip-variant: --varient tri=cuda12.6", "after `# pip-variant:` there can be"),
        ("# pip-variant: --index-url https://a.invalid", "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant tri=null --pre", "after `# pip-variant:` there can be"),
        ("# pip-variant: --no-variant --trusted-host=a", "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant tri=null -i https://a.invalid", "after `# pip-variant:` there"),
        ("# pip-variant: --variant -ihttps://a.invalid", "after `# pip-variant:` there can be"),
        ('# pip-variant: --variant "tri=null --pre"', "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant tri=null solo", "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant=tri=null -- solo", "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant", "after `# pip-variant:` there can be"),
        ("# pip-variant: --variant \\", "after `# pip-variant:` there can be"),
        ("--variant tri", "it is not PACKAGE=LABEL"),
    ),
)
def test_a_line_that_means_nothing_is_an_error_that_shows_it(
    pip: Pip, index: Index, line: str, said: str
) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", line])
    result = pip.variant("install", "-r", path, driver="12.8")
    assert result.code == 1
    assert said in result.stderr
    assert "line 2" in result.stderr
    assert "Traceback" not in result.output
    assert pip.installed() == {}


def test_a_comment_never_goes_on_in_the_next_line(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("solo"))
    path = pip.write("r.txt", ["# pip-variant: --variant tri=cuda12.6 \\", "tri", "solo"])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert (pip.label("tri"), pip.label("solo")) == ("cuda12.6", "")


def test_a_comment_can_stand_behind_a_requirement(pip: Pip, index: Index) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri==1.0  # pip-variant: --variant tri=cuda12.6"])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


@pytest.mark.parametrize(
    "line", ("# see # pip-variant: --variant tri=null", "solo#pip-variant: --pre")
)
def test_what_is_no_comment_of_its_own_is_left_alone(pip: Pip, index: Index, line: str) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", line])
    result = pip.variant("install", "-r", path, driver="12.8")
    assert pip.label("tri") == ("cuda12.8" if result.code == 0 else None)


@pytest.mark.every_pip
@pytest.mark.parametrize("line", ("--variant tri=cuda12.6", "# pip-variant: --variant tri=null"))
def test_other_commands_read_such_a_file_too(pip: Pip, index: Index, line: str) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["tri", line])
    pip.variant("install", "--no-variant", "-r", path, driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")
    pip.variant("uninstall", "-y", "-r", path).check()
    assert pip.installed() == {}


def test_a_comment_about_us_is_a_comment(pip: Pip, index: Index) -> None:
    index.add(*tri())
    path = pip.write("r.txt", ["# pip-variant: picks the label", "tri"])
    pip.variant("install", "-r", path, driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


# Elsewhere


def test_a_wrong_word_is_an_error_before_anything_is_asked(pip: Pip, index: Index) -> None:
    result = pip.variant("install", "--variant", "tri", "tri")
    assert result.code == 1
    assert "ERROR: --variant: 'tri': it is not PACKAGE=LABEL" in result.stderr
    assert index.requests == []


def test_no_variant_makes_them_all_idle(pip: Pip, index: Index) -> None:
    index.add(*tri())
    args = ("--no-variant", "--variant", "tri=cuda12.6", "--require-variant", "nvidia")
    pip.variant("install", *args, "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "")


@pytest.mark.every_pip
def test_the_legacy_resolver_refuses_a_choice(pip: Pip) -> None:
    if PIP_VERSION >= (26, 0):
        pytest.skip("the legacy resolver is gone from this pip or on its way out")
    args = ("--use-deprecated=legacy-resolver", "--variant", "tri=null")
    result = pip.variant("install", *args, "tri")
    assert "is not possible with --use-deprecated=legacy-resolver" in result.stderr


@pytest.mark.every_pip
def test_a_build_gets_the_named_label_too(pip: Pip, index: Index) -> None:
    index.add(*tri(), Sdist(Wheel("ext"), ("tri",), "__import__('tri').LABEL"))
    pip.variant("install", "--variant", "tri=cuda12.6", "ext", driver="12.8").check()
    assert "FOUND = 'cuda12.6'" in (pip.site / "built_with.py").read_text()


def test_a_given_wheel_that_is_excluded_is_refused(pip: Pip) -> None:
    (wheel,) = [wheel for wheel in tri() if wheel.label == "cuda12.6"]
    path = pip.work / wheel.filename
    path.write_bytes(wheel.content)
    result = pip.variant("install", "--exclude-variant", "nvidia", path, driver="12.8")
    assert result.code == 1
    assert "--exclude-variant" in result.stderr
    assert pip.installed() == {}


@pytest.mark.parametrize(
    ("option", "word", "label"),
    (
        ("--variant", "tri=null", "cuda12.6"),
        ("--variant", ":all:=", "null"),
        ("--require-variant", "tri=nvidia", "null"),
        ("--require-variant", "nvidia", "null"),
        ("--require-variant", "tri=nvidia", ""),
    ),
)
def test_a_given_wheel_that_the_user_does_not_want_is_refused(
    pip: Pip, option: str, word: str, label: str
) -> None:
    (wheel,) = [wheel for wheel in tri() if (wheel.label or "") == label]
    path = pip.work / wheel.filename
    path.write_bytes(wheel.content)
    result = pip.variant("install", option, word, path, driver="12.8")
    if word == ":all:=":
        # Said of all, it is about those that have such a build, and this is one wheel.
        assert pip.label("tri") == label
        return
    assert result.code == 1
    assert f"is not {option}" in result.stderr
    assert pip.installed() == {}


def test_a_given_wheel_that_the_user_wants_is_installed(pip: Pip) -> None:
    (wheel,) = [wheel for wheel in tri() if wheel.label == "cuda12.6"]
    path = pip.work / wheel.filename
    path.write_bytes(wheel.content)
    args = ("--variant", "tri=cuda12.6", "--require-variant", "nvidia")
    pip.variant("install", *args, path, driver="12.8").check()
    assert pip.label("tri") == "cuda12.6"


def test_a_wish_that_nothing_meets_names_no_driver(pip: Pip, index: Index) -> None:
    index.add(*tri())
    result = pip.variant("install", "--require-variant", "tri=amd", "tri", driver="12.8")
    assert "tri 1.0 skipped: nothing of it is --require-variant amd" in result.output
    assert "CUDA driver" not in result.output


@pytest.mark.effect_of("parser", "ConfigOptionParser._match_long_opt")
def test_what_is_short_for_an_option_of_pip_stays_so(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--prefer", "tri", driver="12.8").check()
    assert pip.label("tri") == "cuda12.8"


def test_no_variant_in_a_file_leaves_what_is_installed_as_it_is(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    index.log.clear()
    path = pip.write("r.txt", ["tri", "--no-variant"])
    pip.variant("install", "--upgrade-variant", "-r", path, driver="12.8").check()
    assert (pip.label("tri"), index.requests) == ("cuda12.6", [])
