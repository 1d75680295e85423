"""The built-in provider of namespace aarch64: architecture versions and flags of ARM CPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pipvariant.providers import _cpu
from pipvariant.providers.answers import Answer

#: The flags that are features, in the provider's order.
FLAGS = tuple(
    """
    sve2 flagm2 frint sb btiecv paca pacg ssbs asimdfhm bf16 dcpodp dgh dit flagm i8mm ilrcpc
    jscvt rng sha3 sha512 svebf16 svei8mm uscat asimddp lrcpc asimdhp dcpop fcma fphp sve asimdrdm
    atomics aes asimd cpuid crc32 evtstrm fp pmull sha1 sha2
    """.split()  # noqa: SIM905  # the order is the point, and reads best in running text
)

_VERSION = re.compile(r"(\d{1,4})(?:\.(\d{1,4}))?a")


def aarch64_features(versions: Iterable[str], flags: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Turn facts about an ARM CPU into the features of this namespace, in the provider's order.

    :param versions: the architecture versions that it has, such as ``armv8.2a``, in any order;
        ``aarch64`` is the first of them all, and every aarch64 CPU has it.
    :param flags: its flags, as Linux spells them.
    """
    names = (name.removeprefix("armv") for name in versions)
    known = {"8a", *filter(_VERSION.fullmatch, names)}
    had = frozenset(flags)
    features = {"version": tuple(sorted(known, key=_position, reverse=True))}
    features.update((flag, ("on",)) for flag in FLAGS if flag in had)
    return features


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say what the CPU supports; nothing where the interpreter does not run as aarch64."""
    del environ, refresh  # No variable overrides this provider, and it remembers nothing.
    return _answer_for_arm(_cpu.read_cpu(_cpu.AARCH64))


def _answer_for_arm(cpu: _cpu.Cpu) -> Answer:
    return _cpu.answer_of(_cpu.AARCH64, cpu, aarch64_features(cpu.versions, cpu.flags))


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    if words := _cpu.unmet_flag(FLAGS, feature, values, answer):
        return words
    wanted = sorted(filter(_VERSION.fullmatch, values), key=_position)
    best = next(iter(answer.features.get("version", ())), None)
    if feature != "version" or not wanted or best is None:
        return None
    return f"needs an ARMv{_armv(wanted[0])} CPU, this one is known to be ARMv{_armv(best)}"


def _position(version: str) -> tuple[int, int]:
    match = _VERSION.fullmatch(version)
    return (int(match[1]), int(match[2] or 0)) if match else (0, 0)


def _armv(version: str) -> str:
    return f"{version[:-1]}-A"
