"""What ``variant platform`` prints, for people and for scripts."""

from __future__ import annotations

import io
import json

import pytest

from pipvariant.commands import platform
from pipvariant.providers.builtin import BUILT_INS
from pipvariant.providers.target import Answer, Origin, Target
from pipvariant.shim.finding.target import CheckedTarget
from tests.commands.options import parsed

DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
SM_ARCH = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver and GPU, as the variables say."""
    monkeypatch.setenv(DRIVER, "12.8")
    monkeypatch.setenv(SM_ARCH, "9.0")
    monkeypatch.setenv("COLUMNS", "200")


def test_json_has_every_built_in_namespace_with_all_values() -> None:
    out = io.StringIO()
    assert platform.run_platform(parsed(platform, "--json"), [], out) == 0
    answers = {answer["namespace"]: answer for answer in json.loads(out.getvalue())}
    assert {"aarch64", "nvidia", "x86_64"} <= set(answers)
    nvidia = answers["nvidia"]
    assert nvidia["origin"] == "built-in"
    assert nvidia["features"]["cuda_version_lower_bound"][:2] == ["12.8", "12.7"]
    assert nvidia["features"]["sm_arch"][:2] == ["90_real", "90_virtual"]
    assert DRIVER in nvidia["source"]


def test_the_table_shows_the_first_values_and_how_many_there_are() -> None:
    out = io.StringIO()
    assert platform.run_platform(parsed(platform), [], out) == 0
    lines = [line for line in out.getvalue().splitlines() if "cuda_version_lower_bound" in line]
    assert len(lines) == 1
    assert lines[0].startswith(" nvidia") or lines[0].startswith("nvidia")
    assert "12.8, 12.7, 12.6, 12.5, 12.4, 12.3, ... 11 (" in lines[0]


FLAGS = Answer("x86_64", {f"flag{n}": ("on",) for n in range(50)}, Origin.BUILT_IN, "archspec")


def test_features_with_equal_values_share_a_line() -> None:
    out = io.StringIO()
    platform.write_platform(out, [FLAGS])
    (line,) = [line for line in out.getvalue().splitlines() if "(50 features)" in line]
    assert "on: flag0, flag1, flag2, flag3, flag4, flag5, ... (-v shows all)" in line


def test_verbose_shows_all_features_and_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    out = io.StringIO()
    platform.write_platform(out, [FLAGS], in_full=True)
    assert all(f" flag{n}" in out.getvalue() for n in range(50))
    assert "..." not in out.getvalue()


def test_at_80_columns_all_flags_of_a_cpu_take_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = io.StringIO()
    platform.write_platform(out, [FLAGS])
    lines = out.getvalue().splitlines()
    assert len(lines) < 10
    assert max(map(len, lines)) <= 80


def test_namespaces_that_only_a_file_states_are_listed_too() -> None:
    blas = Answer("blas", {"library": ("mkl",)}, Origin.TARGET_FILE)
    given = platform.platform_answers(
        CheckedTarget(lambda: Target(from_target_file={"blas": blas}))
    )
    assert [answer for answer in given if answer.features] == [blas]
    assert [answer.namespace for answer in given] == sorted({*BUILT_INS, "blas"})
