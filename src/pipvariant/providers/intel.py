"""The built-in provider of namespace intel: the device IP versions of GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipvariant.printable import some
from pipvariant.providers import _driver_files
from pipvariant.providers._gpu import (
    ask_driver,
    misspelt_variables,
    read_override,
    sensible,
    state_of,
)
from pipvariant.providers.answers import Answer, Origin, Reading

#: The variable that states what would otherwise be asked of the driver.
FORCE_IP = "INTEL_VARIANT_PROVIDER_FORCE_DEVICE_IP"

#: Device IP version to that of the base platform, whose code the device runs too.
BASES: Mapping[str, str] = {
    "12.56.5": "12.55.8",
    "12.57.0": "12.55.8",
    "12.71.4": "12.70.4",
    "20.2.0": "20.1.0",
    "20.4.4": "20.1.0",
    "30.1.0": "30.0.4",
    "30.3.1": "30.0.4",
    "30.4.4": "30.0.4",
    "30.5.4": "30.0.4",
}

_IP = "device_ip"

_INTEL = 0x8086
_GPU = 1

# Return codes of Level Zero: no driver is there for its loader, and a call that is not permitted.
_NO_DRIVER = 0x78000001
_NOT_PERMITTED = 0x70010000


@dataclass(frozen=True)
class IntelReading(Reading):
    """What was read from Level Zero.

    :param ips: the device IP versions of the GPUs, in the order of the drivers.
    """

    ips: tuple[str, ...] = ()


def intel_features(ips: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Turn what a machine has into the features of this namespace.

    :param ips: the device IP versions of its GPUs, the preferred one first; each is followed by
        that of its base platform.
    """
    values = [value for ip in ips for value in (ip, BASES.get(ip)) if value]
    return {_IP: tuple(dict.fromkeys(values))} if values else {}


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say which Intel GPUs are here; starts a probe only where Level Zero can be."""
    form, example = "a device IP version", "a value such as 12.60.7"
    pattern = r"[0-9]{1,4}(?:\.[0-9]{1,3}){2}"
    stated = read_override(environ, FORCE_IP, pattern, form, example, several=True)
    if stated:
        reading = IntelReading(FORCE_IP, ips=tuple(match[0] for match in stated))
    else:
        reading = _query_level_zero(environ, refresh=refresh)
    features = intel_features(reading.ips)
    source, problems, facts = reading.source, reading.problems, reading.facts
    notes = misspelt_variables(environ, (FORCE_IP,))
    return Answer("intel", features, Origin.BUILT_IN, source, problems, facts, notes)


def _query_level_zero(environ: Mapping[str, str], *, refresh: bool) -> IntelReading:
    """Ask the drivers in a child process, if there can be one."""
    libraries = _driver_files.find_libraries((_driver_files.LEVEL_ZERO,), environ)
    if not libraries:
        return IntelReading(source="no Level Zero")
    root = _driver_files.ROOT
    # A driver that is installed later shows in the loader's cache.
    changing = (root / "etc/ld.so.cache", *sorted((root / "dev/dri").glob("renderD*")))
    signs = map(_driver_files.file_state, (*libraries, *changing))
    words = "Level Zero could not be asked for Intel GPUs"
    return ask_driver(
        "_level_zero", read_intel_report, IntelReading, words, environ, signs, refresh=refresh
    )


@sensible("the driver's answer")
def read_intel_report(report: Any) -> IntelReading:
    """Judge what ``_level_zero.report`` reports."""
    if not report["loaded"]:
        problem = (
            "the loader of Level Zero is on this machine, but it cannot be loaded;"
            " see whether it fits this interpreter, and LD_LIBRARY_PATH"
        )
        return IntelReading(source="Level Zero", problems=(problem,))
    ips: list[str] = []
    facts: dict[str, str] = {}
    problems = []
    for device in report["devices"]:
        if "error" in device:
            facts[f"GPU {len(facts)}"] = f"{device['name']}, not told (code {device['error']:#x})"
        elif (device["type"], device["vendor"]) == (_GPU, _INTEL):
            number = int(device["ip"])
            told = f"device IP {_ip_text(number)}" if number else "device IP not told"
            facts[f"GPU {len(facts)}"] = f"{device['name']}, {told}"
            if number:
                ips.append(_ip_text(number))
    denied = report["denied"] or report["init"] == _NOT_PERMITTED
    if not ips and denied:
        problems.append("an Intel GPU is present, not permitted (group render or video)")
    elif report["init"] and report["init"] != _NO_DRIVER:
        problems.append(f"Level Zero could not be started (code {int(report['init']):#x})")
    elif facts and not ips:
        problems.append(
            "the device IP of the Intel GPUs is unknown: not told; a newer driver may tell it"
        )
    return IntelReading("Level Zero", tuple(problems), facts, tuple(ips))


def _ip_text(number: int) -> str:
    """Write a device IP version as people and properties do: 0x030f0007 is 12.60.7."""
    if not 0 < number < 2**32:
        raise ValueError(number)
    return f"{number >> 22}.{number >> 14 & 0xFF}.{number & 0x3F}"


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    if feature != _IP:
        return None
    absent = "no Level Zero driver" if answer.source == "no Level Zero" else "no Intel GPU"
    state = state_of(answer, answer.features.get(_IP, ()), f"this machine has {absent}")
    return f"needs an Intel GPU with device IP {some(values, joint=' or ')}, {state}"
