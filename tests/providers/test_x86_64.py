"""The provider of namespace x86_64: levels and flags, on recorded machines."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from pipvariant.providers import _cpu, builtin
from pipvariant.providers._cpu import Cpu
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.x86_64 import (
    FLAGS,
    LEVELS,
    _answer_for_x86,
    normalise_flags,
    query_machine,
    x86_64_features,
)
from tests.providers.conftest import Cpuid

OnMachine = Callable[[str], None]

ORDER = """
    avx_vnni cppc ibrs_enhanced tsc_adjust flush_l1d movdir64b movdiri avx512_bf16 avx512_bitalg
    avx512_vbmi2 avx512_vnni avx512_vp2intersect avx512_vpopcntdq avx512ifma avx512vbmi rdpid
    sha_ni vaes vpclmulqdq clwb clzero avx512bw avx512cd avx512dq avx512f avx512vl clflushopt gfni
    rdseed xsavec xsaveopt adx avx2 avx bmi2 bmi1 abm f16c fma movbe xsave rdrand aes pclmulqdq
    sse4a fsgsbase sse4_2 sse4_1 ssse3 sse3 cx16 lahf_lm popcnt sse2 sse mmx
"""


@pytest.mark.parametrize(
    ("machine", "levels"),
    (
        ("opteron", ("v1",)),
        ("nehalem", ("v2", "v1")),
        ("sandybridge", ("v2", "v1")),
        ("haswell", ("v3", "v2", "v1")),
        ("zen2", ("v3", "v2", "v1")),
        ("skylake-avx512", ("v4", "v3", "v2", "v1")),
        ("zen4", ("v4", "v3", "v2", "v1")),
        ("guest-without-movbe", ("v2", "v1")),
        ("intel-mac", ("v3", "v2", "v1")),
        ("rosetta", ("v2", "v1")),
        ("windows-xeon", ("v4", "v3", "v2", "v1")),
    ),
)
def test_level_is_the_highest_the_cpu_has_and_all_below(
    on_machine: OnMachine, machine: str, levels: tuple[str, ...]
) -> None:
    on_machine(machine)
    assert query_machine({}).features["level"] == levels


def test_every_flag_the_cpu_has_is_on_in_the_order_of_the_standard(on_machine: OnMachine) -> None:
    on_machine("zen4")
    features = query_machine({}).features
    expected = """
        cppc ibrs_enhanced flush_l1d avx512_bf16 avx512_bitalg avx512_vbmi2 avx512_vnni
        avx512_vpopcntdq avx512ifma avx512vbmi rdpid sha_ni vaes vpclmulqdq clwb clzero avx512bw
        avx512cd avx512dq avx512f avx512vl clflushopt gfni rdseed xsavec xsaveopt adx avx2 avx
        bmi2 bmi1 abm f16c fma movbe xsave rdrand aes pclmulqdq sse4a fsgsbase sse4_2 sse4_1
        ssse3 sse3 cx16 lahf_lm popcnt sse2 sse mmx
    """
    assert list(features) == ["level", *expected.split()]
    assert {values for feature, values in features.items() if feature != "level"} == {("on",)}


def test_features_of_a_cpu_with_everything_are_in_the_order_of_the_standard() -> None:
    assert tuple(ORDER.split()) == FLAGS
    assert list(x86_64_features(frozenset(FLAGS))) == ["level", *FLAGS]


def test_flags_without_a_feature_are_left_out() -> None:
    assert x86_64_features(frozenset({"amx_tile", "hypervisor"})) == {"level": ("v1",)}


def test_sse3_is_known_by_the_name_that_linux_gives_it(on_machine: OnMachine) -> None:
    on_machine("opteron")
    assert query_machine({}).features["sse3"] == ("on",)


@pytest.mark.parametrize(
    ("spelled", "meant"), (("pni", "sse3"), ("ssse3", "sse3"), ("lzcnt", "abm"))
)
def test_flags_that_systems_spell_differently_are_understood(spelled: str, meant: str) -> None:
    assert normalise_flags([spelled]) == {spelled, meant}


@pytest.mark.parametrize("flag", [flag for level in LEVELS.values() for flag in level])
def test_a_level_needs_each_of_its_flags(flag: str) -> None:
    has = frozenset(FLAGS) - {flag}
    level = next(name for name, added in LEVELS.items() if flag in added)
    assert level not in x86_64_features(has)["level"]
    assert x86_64_features(has)["level"][-1] == "v1"


def test_hidden_movbe_costs_the_level_and_the_user_is_told(on_machine: OnMachine) -> None:
    on_machine("guest-without-movbe")
    given = query_machine({})
    assert given.features["level"] == ("v2", "v1")
    assert given.features["avx512f"] == ("on",)
    assert given.problems == (
        "this CPU counts as x86-64-v2: v3 lacks movbe, which a hypervisor or the firmware may hide",
    )
    assert given.facts["v3 lacks"] == "movbe"


@pytest.mark.parametrize(
    "machine", ("opteron", "nehalem", "sandybridge", "haswell", "zen2", "zen4", "rosetta")
)
def test_a_cpu_that_is_simply_older_is_no_problem(on_machine: OnMachine, machine: str) -> None:
    on_machine(machine)
    assert query_machine({}).problems == ()


def test_rosetta_has_no_avx(on_machine: OnMachine) -> None:
    on_machine("rosetta")
    assert not [flag for flag in query_machine({}).features if flag.startswith("avx")]


@pytest.mark.parametrize("machine", ("graviton3", "apple-m1"))
def test_another_architecture_supports_nothing(on_machine: OnMachine, machine: str) -> None:
    on_machine(machine)
    given = query_machine({})
    assert (given.features, given.origin, given.problems) == ({}, Origin.BUILT_IN, ())


def test_windows_tells_flags_and_name_by_the_cpuid_instruction(on_machine: OnMachine) -> None:
    on_machine("windows-xeon")
    given = query_machine({})
    assert given.facts["CPU"] == "Intel(R) Xeon(R) Processor"
    assert given.features["avx512_bf16"] == given.features["sse3"] == ("on",)


@pytest.mark.parametrize(
    ("osxsave", "kept", "level", "lacks"),
    (
        (True, 0b11100111, "v4", set()),
        (True, 0b00000111, "v3", {"avx512f", "avx512_bf16"}),
        (True, 0b11100011, "v2", {"avx512f", "avx", "avx2", "fma", "f16c", "avx_vnni", "vaes"}),
        (False, 0b11100111, "v2", {"avx512f", "avx", "fma", "xsave", "xsavec", "xsaveopt"}),
    ),
)
def test_windows_has_avx_only_where_the_system_keeps_its_registers(
    on_machine: OnMachine,
    monkeypatch: pytest.MonkeyPatch,
    osxsave: bool,
    kept: int,
    level: str,
    lacks: set[str],
) -> None:
    on_machine("windows-xeon")
    every = set(query_machine({}).features)
    monkeypatch.setattr(_cpu, "_kept_registers", lambda: kept)
    if not osxsave:
        from archspec.cpu import detect

        cast("Cpuid", detect.CPUID()).answers["0x1 0x0"][2] &= ~(1 << 27)
    given = query_machine({})
    assert given.features["level"][0] == level
    assert lacks <= every - set(given.features)
    assert {"sse4_2", "aes", "bmi2"} <= set(given.features)


def test_emulation_on_windows_has_what_the_interpreter_runs_on(
    on_machine: OnMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine("windows-xeon")
    monkeypatch.setattr("platform.machine", lambda: "ARM64")
    given = query_machine({})
    assert given.facts["architecture"] == "x86_64"
    assert given.features["level"][0] == "v4"


def test_emulation_that_shows_the_hosts_cpu_is_the_lowest_level(
    on_machine: OnMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine("graviton3")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    given = query_machine({})
    assert given.features == {"level": ("v1",)}
    assert builtin.query_builtin("aarch64", {}).features == {}


def test_facts_name_the_cpu(on_machine: OnMachine) -> None:
    on_machine("zen2")
    given = query_machine({})
    assert given.facts["CPU"] == "AMD EPYC 7742 64-Core Processor"
    assert given.source == "archspec"


def test_a_cpu_that_cannot_be_read_is_the_lowest_level_and_a_problem(
    on_machine: OnMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine("zen2")
    from archspec.cpu import detect

    def fail(*_arguments: object, **_options: object) -> None:
        raise PermissionError("not yours")

    monkeypatch.setattr(detect, "open", fail, raising=False)
    given = query_machine({})
    assert given.features == {"level": ("v1",)}
    assert given.problems[0] == "the CPU could not be read: not yours"


def test_an_archspec_that_breaks_is_a_problem_not_an_error(
    on_machine: OnMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine("zen2")
    from archspec.cpu import detect

    def fail() -> None:
        raise ZeroDivisionError("odd CPU")

    monkeypatch.setattr(detect, "detected_info", fail)
    given = query_machine({})
    assert given.features == {"level": ("v1",)}
    assert given.problems == ("the CPU could not be read: odd CPU",)


def cpu(*flags: str) -> Answer:
    return _answer_for_x86(Cpu("x86_64", frozenset(flags)))


V2 = ("cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3")
V3 = (*V2, "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave")


def test_explain_a_level_that_is_too_high() -> None:
    assert builtin.reason_for("x86_64", "level", ("v4",), cpu(*V3)) == (
        "needs x86-64-v4, this CPU is v3 (lacks avx512f, avx512bw, avx512cd, avx512dq, avx512vl)"
    )


def test_explain_names_the_lowest_level_that_would_do_and_the_hidden_flag() -> None:
    hidden = [flag for flag in V3 if flag != "movbe"]
    assert builtin.reason_for("x86_64", "level", ("v4", "v3"), cpu(*hidden)) == (
        "needs x86-64-v3, this CPU is v2 (lacks movbe)"
    )


def test_explain_a_flag() -> None:
    assert builtin.reason_for("x86_64", "avx512_bf16", ("on",), cpu(*V3)) == (
        "needs the CPU flag avx512_bf16, which this CPU does not have"
    )


def test_explain_another_architecture() -> None:
    assert builtin.reason_for("x86_64", "level", ("v1",), _answer_for_x86(Cpu("aarch64"))) == (
        "needs an x86-64 CPU, this interpreter runs on aarch64"
    )


@pytest.mark.parametrize(("feature", "value"), (("level", "v9"), ("avx2", "off"), ("new", "on")))
def test_explain_has_no_words_for_what_is_not_known(feature: str, value: str) -> None:
    assert builtin.reason_for("x86_64", feature, (value,), cpu(*V2)) is None
