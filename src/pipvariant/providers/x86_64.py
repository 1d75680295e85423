"""The built-in provider of namespace x86_64: levels and flags of x86-64 CPUs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from pipvariant.providers import _cpu
from pipvariant.providers.answers import Answer

#: What each level adds to the one below, in the order of the x86-64 psABI; v1 is every x86-64 CPU.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "v1": (),
    "v2": ("cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"),
    "v3": ("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"),
    "v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
}

#: The flags that are features, in the provider's order.
FLAGS = tuple(
    """
    avx_vnni cppc ibrs_enhanced tsc_adjust flush_l1d movdir64b movdiri avx512_bf16 avx512_bitalg
    avx512_vbmi2 avx512_vnni avx512_vp2intersect avx512_vpopcntdq avx512ifma avx512vbmi rdpid
    sha_ni vaes vpclmulqdq clwb clzero avx512bw avx512cd avx512dq avx512f avx512vl clflushopt gfni
    rdseed xsavec xsaveopt adx avx2 avx bmi2 bmi1 abm f16c fma movbe xsave rdrand aes pclmulqdq
    sse4a fsgsbase sse4_2 sse4_1 ssse3 sse3 cx16 lahf_lm popcnt sse2 sse mmx
    """.split()  # noqa: SIM905  # the order is the point, and reads best in running text
)

# Each pair: a flag as some system spells it, and the flag that it implies.
_IMPLIED = (("pni", "sse3"), ("ssse3", "sse3"), ("lzcnt", "abm"))

# A CPU generation misses many flags of the next level at once; this few are hidden ones.
_HIDDEN_AT_MOST = 2


def normalise_flags(flags: Iterable[str]) -> frozenset[str]:
    """Add the names that the standard uses for flags that systems spell in other ways."""
    known = frozenset(flags)
    return known.union(implied for spelled, implied in _IMPLIED if spelled in known)


def lacking_flags(flags: frozenset[str], level: str) -> tuple[str, ...]:
    """Name the flags that a level adds and the CPU does not have."""
    return tuple(flag for flag in LEVELS[level] if flag not in flags)


def x86_64_features(flags: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Turn normalised CPU flags into the features of this namespace, in the provider's order.

    A level needs every flag of it and of those below, so a hidden flag costs the level.
    """
    levels = list(itertools.takewhile(lambda level: not lacking_flags(flags, level), LEVELS))
    features = {"level": tuple(reversed(levels))}
    features.update((flag, ("on",)) for flag in FLAGS if flag in flags)
    return features


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say what the CPU supports; nothing where the interpreter does not run as x86-64."""
    del environ, refresh  # No variable overrides this provider, and it remembers nothing.
    return _answer_for_x86(_cpu.read_cpu(_cpu.X86_64))


def _answer_for_x86(cpu: _cpu.Cpu) -> Answer:
    flags = normalise_flags(cpu.flags)
    answer = _cpu.answer_of(_cpu.X86_64, cpu, x86_64_features(flags))
    levels = answer.features.get("level", tuple(LEVELS))
    above = list(LEVELS)[len(levels) :]
    lacks = {level: lacking_flags(flags, level) for level in above}
    facts = {f"{level} lacks": " ".join(lacking) for level, lacking in lacks.items() if lacking}
    problems = answer.problems
    if above and len(missing := lacks[above[0]]) <= _HIDDEN_AT_MOST:
        hidden = (
            f"this CPU counts as x86-64-{levels[0]}: {above[0]} lacks {', '.join(missing)},"
            " which a hypervisor or the firmware may hide"
        )
        problems = (*problems, hidden)
    return replace(answer, problems=problems, facts={**answer.facts, **facts})


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    if words := _cpu.unmet_flag(FLAGS, feature, values, answer):
        return words
    if "CPU could not be read" in " ".join(answer.problems):
        return f"needs x86-64-{values[0]}, and what this CPU has could not be read"
    wanted = [level for level in LEVELS if level in values]
    best = next(iter(answer.features.get("level", ())), None)
    if feature != "level" or not wanted or best is None:
        return None
    lacks = (answer.facts.get(f"{level} lacks", "") for level in LEVELS if level <= wanted[0])
    missing = " ".join(lacks).split()
    return f"needs x86-64-{wanted[0]}, this CPU is {best} (lacks {', '.join(missing)})"
