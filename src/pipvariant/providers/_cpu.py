"""The facts about the CPU that this interpreter runs on, read through archspec."""

from __future__ import annotations

import platform
import sys
import sysconfig
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipvariant.providers.answers import NOTHING, Answer, Origin

AARCH64 = "aarch64"
X86_64 = "x86_64"

#: Where Linux describes the CPU; the model name is read from here.
CPUINFO = Path("/proc/cpuinfo")

# What Rosetta 2 translates on every macOS release; AVX came later and is not on everywhere.
_ROSETTA = frozenset(
    {"aes", "cx16", "lahf_lm", "mmx", "pclmulqdq", "popcnt", "sse", "sse2"}
    | {"sse3", "sse4_1", "sse4_2", "ssse3"}
)

# Bits of XCR0: the registers that the system keeps, of AVX (with SSE) and of AVX-512.
_AVX_KEPT = 0b110
_AVX512_KEPT = 0b11100000 | _AVX_KEPT

# Flags whose instructions need the registers of AVX, beside those whose names say so.
_NEEDS_AVX = ("avx", "f16c", "fma", "vaes", "vpclmulqdq", "xop")

_SPELLINGS = {
    "amd64": X86_64,
    "arm64": AARCH64,
    "x64": X86_64,
    "x86-64": X86_64,
}


@dataclass(frozen=True)
class Cpu:
    """What is known about a CPU.

    :param architecture: what the interpreter runs as: ``x86_64``, ``aarch64`` or another name.
    :param flags: the instruction set flags, as Linux and archspec spell them.
    :param versions: the names of the ARM architecture versions that it has, as archspec spells
        them, such as ``armv8.2a``; empty elsewhere.
    :param model: a name for people.
    :param problems: what could not be found out, each a sentence.
    """

    architecture: str
    flags: frozenset[str] = frozenset()
    versions: tuple[str, ...] = ()
    model: str = ""
    problems: tuple[str, ...] = ()


def architecture() -> str:
    """Name the architecture that this interpreter runs as, which may be an emulated one."""
    if sys.platform == "win32":
        # The interpreter's own platform: platform.machine() may name the emulating host.
        machine = sysconfig.get_platform().rpartition("-")[2]
    else:
        machine = platform.machine()
    machine = _SPELLINGS.get(machine.lower(), machine)
    if machine in (X86_64, AARCH64) and sys.maxsize <= 2**32:
        return f"{machine} (32-bit)"
    return machine


def read_cpu(wanted: str) -> Cpu:
    """Look at the CPU; what cannot be found out is a problem in the result, never an error.

    :param wanted: the architecture that flags and versions are wanted of; of another one only its
        name is told.
    """
    machine = architecture()
    if machine != wanted:
        return Cpu(machine)
    try:
        with warnings.catch_warnings(record=True) as caught:
            # archspec turns a failed reading into a warning and then knows nothing.
            warnings.simplefilter("always")
            flags, versions, model = _ask_archspec(machine)
    except Exception as error:  # noqa: BLE001  # whatever an odd machine does, the install goes on
        return Cpu(machine, problems=(f"the CPU could not be read: {error}",))
    problems = tuple(f"the CPU could not be read: {warning.message}" for warning in caught)
    return Cpu(machine, flags, versions, model, problems)


def answer_of(namespace: str, cpu: Cpu, features: Mapping[str, tuple[str, ...]]) -> Answer:
    """Say what a CPU supports; nothing where its architecture is not the one of this name."""
    facts = {"architecture": cpu.architecture}
    if cpu.architecture != namespace:
        return Answer(namespace, NOTHING, Origin.BUILT_IN, "architecture", cpu.problems, facts)
    facts.update({"CPU": cpu.model} if cpu.model else {})
    return Answer(namespace, features, Origin.BUILT_IN, "archspec", cpu.problems, facts)


def unmet_flag(
    flags: Collection[str], feature: str, values: Sequence[str], answer: Answer
) -> str | None:
    """Say that the CPU is of another architecture or lacks a flag, None where it is neither."""
    machine = answer.facts.get("architecture", answer.namespace)
    if machine != answer.namespace:
        wanted = answer.namespace.replace("_", "-")
        return f"needs an {wanted} CPU, this interpreter runs on {machine}"
    if feature in flags and "on" in values:
        return f"needs the CPU flag {feature}, which this CPU does not have"
    return None


def _ask_archspec(machine: str) -> tuple[frozenset[str], tuple[str, ...], str]:
    """Get flags, architecture versions and a model name from archspec."""
    from archspec.cpu import detect

    if machine == X86_64 and sys.platform == "win32":
        # Where Windows emulates, archspec describes the host; the instruction tells what runs.
        told: Any = detect.CpuidInfoCollector()
        kept = _kept_registers() if "osxsave" in told.features else 0
        return usable_flags(told.features, kept), (), (told.brand_string() or "").strip()
    raw: Any = detect.detected_info()
    if machine == X86_64:
        # archspec describes the real CPU behind Rosetta, the interpreter sees an x86-64 one.
        translated = sys.platform == "darwin" and raw.vendor == "Apple"
        return (_ROSETTA if translated else frozenset(raw.features)), (), _model(detect)
    host: Any = detect.host()
    generic = host.generic
    versions = (generic.name, *(ancestor.name for ancestor in generic.ancestors))
    # macOS lists no flags, but the model is exact there and has them.
    flags = raw.features or host.features
    return frozenset(flags), versions, _model(detect) or host.name


def _kept_registers() -> int:
    """Ask Windows which registers it keeps when programs take turns: the bits of XCR0."""
    import ctypes

    kernel: Any = ctypes.CDLL("kernel32.dll")
    kernel.GetEnabledXStateFeatures.restype = ctypes.c_uint64
    return int(kernel.GetEnabledXStateFeatures())


def usable_flags(flags: Collection[str], kept: int) -> frozenset[str]:
    """Leave out the instructions that the CPU has and the system does not let programs use.

    :param flags: what the CPUID instruction tells.
    :param kept: the bits of XCR0; 0 where the system has not turned it on (OSXSAVE).
    """
    refused: tuple[str, ...] = () if kept else ("xsave",)
    if kept & _AVX_KEPT != _AVX_KEPT:
        refused += _NEEDS_AVX
    if kept & _AVX512_KEPT != _AVX512_KEPT:
        refused += ("avx512",)
    return frozenset(flag for flag in flags if not flag.startswith(refused))


def _model(detect: Any) -> str:
    """Find a name for people: from Linux's own file, elsewhere from archspec."""
    if sys.platform != "linux":
        return detect.brand_string() or ""
    for line in CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return ""
