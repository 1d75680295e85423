"""The provider of namespace aarch64: architecture versions and flags, on recorded machines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipvariant.providers import builtin
from pipvariant.providers._cpu import Cpu
from pipvariant.providers.aarch64 import FLAGS, _answer_for_arm, aarch64_features, query_machine
from pipvariant.providers.answers import Origin

OnMachine = Callable[[str], None]

ORDER = """
    sve2 flagm2 frint sb btiecv paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc
    jscvt rng sha3 sha512 svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve asimdrdm
    atomics aes asimd cpuid crc32 evtstrm fp pmull sha1 sha2
"""


@pytest.mark.parametrize(
    ("machine", "versions"),
    (
        ("raspberry-pi-4", "8a"),
        ("cortex-a72", "8a"),
        ("graviton2", "8.2a 8.1a 8a"),
        ("graviton3", "8.4a 8.3a 8.2a 8.1a 8a"),
        ("graviton4", "9.0a 8.5a 8.4a 8.3a 8.2a 8.1a 8a"),
        ("apple-m1", "8.4a 8.3a 8.2a 8.1a 8a"),
    ),
)
def test_version_is_that_of_the_cpu_and_every_ancestor(
    on_machine: OnMachine, machine: str, versions: str
) -> None:
    on_machine(machine)
    assert query_machine({}).features["version"] == tuple(versions.split())


def test_versions_are_ordered_by_number_whatever_their_order_was() -> None:
    names = ["aarch64", "armv8.6a", "armv9.2a", "armv8.10a", "armv9.0a", "armv8.1a"]
    assert aarch64_features(names, ()) == {
        "version": ("9.2a", "9.0a", "8.10a", "8.6a", "8.1a", "8a")
    }


def test_names_that_are_no_version_are_left_out() -> None:
    assert aarch64_features(["aarch64", "neoverse_v1", "armv8.2-A"], ()) == {"version": ("8a",)}


def test_every_flag_the_cpu_has_is_on_in_the_order_of_the_standard(on_machine: OnMachine) -> None:
    on_machine("graviton3")
    features = query_machine({}).features
    expected = """
        paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc jscvt rng sha3 sha512
        svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve asimdrdm atomics aes
        asimd cpuid crc32 evtstrm fp pmull sha1 sha2
    """
    assert list(features) == ["version", *expected.split()]
    assert {values for feature, values in features.items() if feature != "version"} == {("on",)}


def test_features_of_a_cpu_with_everything_are_in_the_order_of_the_standard() -> None:
    assert tuple(ORDER.split()) == FLAGS
    assert list(aarch64_features((), FLAGS)) == ["version", *FLAGS]


def test_atomics_and_asimdrdm_are_two_features(on_machine: OnMachine) -> None:
    on_machine("graviton2")
    features = query_machine({}).features
    assert features["asimdrdm"] == features["atomics"] == ("on",)
    assert "asimdrdmatomics" not in features


def test_macos_flags_come_from_the_model(on_machine: OnMachine) -> None:
    on_machine("apple-m1")
    given = query_machine({})
    assert given.facts["CPU"] == "Apple M1"
    assert given.features["sha3"] == ("on",)


def test_linux_facts_name_the_model(on_machine: OnMachine) -> None:
    on_machine("graviton3")
    assert query_machine({}).facts == {"architecture": "aarch64", "CPU": "neoverse_v1"}


@pytest.mark.parametrize("machine", ("zen4", "rosetta", "intel-mac"))
def test_another_architecture_supports_nothing(on_machine: OnMachine, machine: str) -> None:
    on_machine(machine)
    given = query_machine({})
    assert (given.features, given.origin, given.problems) == ({}, Origin.BUILT_IN, ())


def test_a_32_bit_interpreter_is_another_architecture(
    on_machine: OnMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_machine("graviton3")
    monkeypatch.setattr("sys.maxsize", 2**31 - 1)
    given = query_machine({})
    assert (given.features, given.facts) == ({}, {"architecture": "aarch64 (32-bit)"})


def test_the_interpreter_decides_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    from pipvariant.providers import _cpu

    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setattr("platform.machine", lambda: "ARM64")
    monkeypatch.setattr("sysconfig.get_platform", lambda: "win-amd64")
    assert _cpu.architecture() == "x86_64"


def test_explain_a_version() -> None:
    given = _answer_for_arm(Cpu("aarch64", versions=("armv8.2a", "armv8.1a", "aarch64")))
    long = f"{'9' * 5000}a"
    assert builtin.reason_for("aarch64", "version", ("9.0a", "8.4a", long), given) == (
        "needs an ARMv8.4-A CPU, this one is known to be ARMv8.2-A"
    )


def test_explain_a_flag() -> None:
    assert builtin.reason_for("aarch64", "sve", ("on",), _answer_for_arm(Cpu("aarch64"))) == (
        "needs the CPU flag sve, which this CPU does not have"
    )


def test_explain_another_architecture() -> None:
    assert builtin.reason_for("aarch64", "version", ("8a",), _answer_for_arm(Cpu("x86_64"))) == (
        "needs an aarch64 CPU, this interpreter runs on x86_64"
    )


@pytest.mark.parametrize(("feature", "value"), (("version", "odd"), ("sve", "off")))
def test_explain_has_no_words_for_what_is_not_known(feature: str, value: str) -> None:
    assert builtin.reason_for("aarch64", feature, (value,), _answer_for_arm(Cpu("aarch64"))) is None
