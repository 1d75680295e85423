"""The built-in provider of namespace intel: the device IP versions of GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import _driver_files
from pipvariant.providers.answers import NO_FACTS, Answer, Origin

NAMESPACE = "intel"

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

_PROBE = "pipvariant.providers._level_zero"

_IP = "device_ip"

_INTEL = 0x8086
_GPU = 1

# Return codes of Level Zero: no driver is there for its loader, and a call that is not permitted.
_NO_DRIVER = 0x78000001
_NOT_PERMITTED = 0x70010000


class IntelReading(NamedTuple):
    """What was read from the drivers.

    :param ips: the device IP versions of the GPUs, in the order of the drivers.
    :param source: who said so.
    :param problems: what went wrong, each a sentence for the user.
    :param facts: what was seen, for people.
    """

    ips: tuple[str, ...] = ()
    source: str = ""
    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = NO_FACTS


def intel_features(ips: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Turn what a machine has into the features of this namespace.

    :param ips: the device IP versions of its GPUs, the preferred one first; each is followed by
        that of its base platform.
    """
    values = [value for ip in ips for value in (ip, BASES.get(ip)) if value]
    return {_IP: tuple(dict.fromkeys(values))} if values else {}


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say which Intel GPUs are here; starts a probe only where Level Zero can be.

    :param environ: the override, and the variables that drivers are found by.
    :param refresh: ask the drivers even if their answer is remembered.
    :raises InvalidOverride: the override is set to something that is no device IP version.
    """
    ips = _ip_override(environ)
    reading = IntelReading(ips, FORCE_IP) if ips else _query_level_zero(environ, refresh=refresh)
    return Answer(
        NAMESPACE,
        intel_features(reading.ips),
        Origin.BUILT_IN,
        reading.source,
        reading.problems,
        reading.facts,
    )


def _ip_override(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Read the override: versions with commas, semicolons or spaces in between."""
    text = environ.get(FORCE_IP, "")
    ips = tuple(ip for ip in re.split(r"[,;\s]+", text) if ip)
    if all(re.fullmatch(r"[0-9]{1,4}(?:\.[0-9]{1,3}){2}", ip) for ip in ips):
        return ips
    raise InvalidOverride(
        f"{text!r} is not a device IP version",
        where=FORCE_IP,
        remedy="Set it to a value such as 12.60.7, or unset it",
    )


def _query_level_zero(environ: Mapping[str, str], *, refresh: bool) -> IntelReading:
    """Ask the drivers in a child process, if there can be one."""
    libraries = _driver_files.find_libraries((_driver_files.LEVEL_ZERO,), environ)
    if not libraries:
        return IntelReading(source="no Level Zero")
    from pipvariant.providers import probe_cache

    root = _driver_files.ROOT
    # A driver that is installed later shows in the loader's cache.
    changing = (root / "etc/ld.so.cache", *sorted((root / "dev/dri").glob("renderD*")))
    try:
        return probe_cache.query_probe(
            _PROBE,
            str(root),
            judge=read_intel_report,
            environ=environ,
            signs=map(_driver_files.file_state, (*libraries, *changing)),
            refresh=refresh,
        )
    except ProbeFailed as error:
        problem = f"Level Zero could not be asked for Intel GPUs: {error.what}"
        return IntelReading(source="failed probe", problems=(problem,))


def read_intel_report(report: object) -> IntelReading:
    """Judge what the probe reports.

    :param report: what ``_level_zero.report`` describes.
    :raises ProbeFailed: the report is not such a report.
    """
    try:
        return _judge_intel(report)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ProbeFailed("the driver's answer makes no sense") from None


def _judge_intel(report: Any) -> IntelReading:
    if not report["loaded"]:
        problem = (
            "the loader of Level Zero is on this machine, but it cannot be loaded;"
            " see whether it fits this interpreter, and LD_LIBRARY_PATH"
        )
        return IntelReading(source="no Level Zero", problems=(problem,))
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
    return IntelReading(tuple(ips), "Level Zero", tuple(problems), facts)


def _ip_text(number: int) -> str:
    """Write a device IP version as people and properties do: 0x030f0007 is 12.60.7."""
    if not 0 < number < 2**32:
        raise ValueError(number)
    return f"{number >> 22}.{number >> 14 & 0xFF}.{number & 0x3F}"


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    if feature != _IP:
        return None
    has = answer.features.get(_IP, ())
    if has:
        state = f"this machine has {', '.join(has)}"
    else:
        state = answer.problems[0] if answer.problems else "this machine has no Intel GPU"
        if answer.source == "no Level Zero" and not answer.problems:
            state = "this machine has no Level Zero driver"
    return f"needs an Intel GPU with device IP {' or '.join(values)}, {state}"
