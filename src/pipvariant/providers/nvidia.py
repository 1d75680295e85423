"""The built-in provider of namespace nvidia: CUDA driver version and GPU architecture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import _driver_files, probe
from pipvariant.providers.answers import Answer, Origin

__all__ = ["FORCE_DRIVER", "FORCE_SM", "Reading", "answer", "decide", "explain", "read_report"]

NAMESPACE = "nvidia"

#: The variables that state what would otherwise be asked of the driver.
FORCE_DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
FORCE_SM = "NV_VARIANT_PROVIDER_FORCE_SM_ARCH"

_LOWER = "cuda_version_lower_bound"
_UPPER = "cuda_version_upper_bound"
_SM = "sm_arch"

# The CUDA versions that properties are made of: 11.0 to 15.20.
_OLDEST_MAJOR = 11
_NEWEST_MAJOR = 15
_NEWEST_MINOR = 20

# The oldest compute capability that sm_arch can name.
_OLDEST_CAPABILITY = (5, 0)

# No version has more digits; this also bounds the lists that a lying driver can cause.
_MAX_PART = 99

# Return codes of NVML and libcuda that mean one thing only.
_NVML_NO_PERMISSION = 4
_NVML_NOT_LOADED = 9
_NVML_LIBRARY_NOT_FOUND = 12
_NVML_MISMATCH = 18
_CUDA_STUB = 34
_CUDA_NO_DEVICE = 100
_CUDA_MISMATCH = 803

Version = tuple[int, int]


@dataclass(frozen=True)
class Reading:
    """What was read from a driver.

    :param driver: the version of the user-mode CUDA driver, None without a driver.
    :param capability: the highest compute capability among the GPUs, None without usable GPU.
    :param source: which library said so.
    :param problems: what went wrong, each a sentence for the user.
    :param facts: what was seen, for people.
    """

    driver: Version | None = None
    capability: Version | None = None
    source: str = ""
    problems: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def decide(driver: Version | None, capability: Version | None) -> dict[str, tuple[str, ...]]:
    """Turn what a machine has into the features of this namespace, in the provider's order.

    :param driver: the version of the user-mode CUDA driver; without one nothing is supported.
    :param capability: the highest compute capability among its GPUs, if there is one.
    :returns: feature to values; a driver that is newer than the known versions supports all of
        them as lower bounds.
    """
    if driver is None:
        return {}
    features = {_LOWER: _lower_bounds(*driver), _UPPER: _upper_bounds(*driver)}
    if capability is not None and capability >= _OLDEST_CAPABILITY:
        major, minor = capability
        real = [f"{major}{number}_real" for number in range(minor, -1, -1)]
        features[_SM] = (*real, f"{major}0_virtual")
    return {feature: values for feature, values in features.items() if values}


def _lower_bounds(major: int, minor: int) -> tuple[str, ...]:
    """List the versions that the driver is not older than, the nearest first."""
    values: list[str] = []
    for number in range(major, _OLDEST_MAJOR - 1, -1):
        newest = minor if number == major else _NEWEST_MINOR
        values += [f"{number}.{part}" for part in range(newest, -1, -1)]
        values.append(str(number))
    return tuple(values)


def _upper_bounds(major: int, minor: int) -> tuple[str, ...]:
    """List the versions that the driver is older than, the farthest first."""
    values: list[str] = []
    for number in range(_NEWEST_MAJOR, max(major, _OLDEST_MAJOR - 1), -1):
        values += [f"{number}.{part}" for part in range(_NEWEST_MINOR, -1, -1)]
        values.append(str(number))
    if _OLDEST_MAJOR <= major <= _NEWEST_MAJOR:
        values += [f"{major}.{part}" for part in range(_NEWEST_MINOR, minor, -1)]
    return tuple(values)


def answer(environ: Mapping[str, str]) -> Answer:
    """Say what driver and GPUs support; starts a probe only where a driver can be.

    :param environ: the overrides, and the variables that the driver's libraries are found by.
    :raises InvalidOverride: an override is set to something that is no version.
    """
    driver = _override(environ, FORCE_DRIVER, "MAJOR.MINOR", "12.8")
    capability = _override(environ, FORCE_SM, "a compute capability", "9.0")
    stated = driver is not None and capability is not None
    reading = Reading() if stated else _read_driver(environ)
    facts = dict(reading.facts)
    sources = [reading.source] if reading.source else []
    problems = list(reading.problems)
    if driver is not None:
        sources = [FORCE_DRIVER, *(sources if reading.capability else [])]
        facts["driver"] = _text(driver)
    if capability is not None:
        facts["compute capability"] = _text(capability)
        sources.append(FORCE_SM)
    driver = driver or reading.driver
    if driver is None and capability is not None:
        problems.append(f"{FORCE_SM} has no effect without a driver; set {FORCE_DRIVER} as well")
        sources.remove(FORCE_SM)
        del facts["compute capability"]
    return Answer(
        NAMESPACE,
        decide(driver, capability or reading.capability),
        Origin.BUILT_IN,
        ", ".join(sources),
        tuple(problems),
        facts,
    )


def _override(environ: Mapping[str, str], name: str, form: str, example: str) -> Version | None:
    """Read one override; empty is not set."""
    text = environ.get(name, "").strip()
    if not text:
        return None
    match = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})", text)
    if match is None or (name == FORCE_SM and int(match[2]) > 9):
        raise InvalidOverride(
            f"{text!r} is not {form}",
            where=name,
            remedy=f"Set it to a value such as {example}, or unset it",
        )
    return int(match[1]), int(match[2])


def _read_driver(environ: Mapping[str, str]) -> Reading:
    """Ask the driver in a child process, if there can be one."""
    if not _driver_files.any_library(environ):
        problems: tuple[str, ...] = ()
        if _driver_files.kernel_driver():
            problem = (
                "the NVIDIA kernel driver is loaded, but its libraries are not here;"
                " a container has to be started with access to the GPUs"
            )
            problems = (problem,)
        return Reading(source="no NVIDIA driver", problems=problems)
    try:
        report = probe.run("pipvariant.providers._nvidia_driver", environ=environ)
        return read_report(report)
    except ProbeFailed as error:
        problem = f"the NVIDIA driver could not be asked: {error.what}"
        return Reading(source="failed probe", problems=(problem,))


def read_report(report: object) -> Reading:
    """Judge what the probe of the driver reports.

    :param report: what ``_nvidia_driver.report`` describes.
    :raises ProbeFailed: the report is not such a report.
    """
    try:
        nvml, cuda = _Library.read(report, "nvml"), _Library.read(report, "cuda")
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ProbeFailed("the driver's answer makes no sense") from None
    facts: dict[str, str] = {}
    problems: list[str] = []

    # What makes the rest worthless comes first.
    if nvml.init == _NVML_MISMATCH or cuda.init == _CUDA_MISMATCH:
        problem = (
            "the NVIDIA kernel driver and its libraries are of different versions,"
            " as after an update; restart the machine, or the container with the host's libraries"
        )
        return Reading(source=nvml.name if nvml.init else cuda.name, problems=(problem,))
    if nvml.init == _NVML_NOT_LOADED:
        problem = "the libraries of the NVIDIA driver are here, but the kernel driver is not loaded"
        return Reading(source=nvml.name, problems=(problem,))
    if (nvml.init != 0 and cuda.init == _CUDA_STUB) or _only_nvml_stub(nvml, cuda):
        problem = "only stub libraries of the CUDA toolkit were found, not the NVIDIA driver"
        return Reading(source="stub libraries", problems=(problem,))

    if nvml.driver:
        facts["kernel driver"] = nvml.driver
    if not nvml.loaded:
        facts["NVML"] = "absent"
    elif nvml.init:
        problems.append(f"NVML could not be started ({nvml.code})")
    if cuda.init not in (None, 0, _CUDA_NO_DEVICE):
        problems.append(f"libcuda could not be started ({cuda.code})")
    version_from = nvml if nvml.version else cuda
    driver = version_from.version
    # libcuda was asked only because NVML did not know; a GPU that it names is the better answer.
    gpus_from = cuda if cuda.best else nvml if nvml.devices else cuda
    for index, (name, capability, code) in enumerate(gpus_from.devices):
        known = (
            f"compute capability {_text(capability)}" if capability else f"not told (code {code})"
        )
        facts[f"GPU {index}"] = f"{name}, {known}"
    if driver is None:
        problems.append("the NVIDIA driver does not tell its CUDA version")
        return Reading(source=version_from.name, problems=tuple(problems), facts=facts)
    facts["driver"] = _text(driver)
    if gpus_from.best:
        facts["compute capability"] = _text(gpus_from.best)
    elif gpus_from.devices:
        denied = any(code == _NVML_NO_PERMISSION for *_, code in gpus_from.devices)
        reason = " (not permitted)" if denied else ""
        problems.append(f"the compute capability of the NVIDIA GPUs is unknown: not told{reason}")
    sources = dict.fromkeys([version_from.name, *([gpus_from.name] if gpus_from.best else [])])
    return Reading(driver, gpus_from.best, ", ".join(sources), tuple(problems), facts)


def _only_nvml_stub(nvml: _Library, cuda: _Library) -> bool:
    """Whether NVML is a library that says there is no library, and nothing else is there."""
    return nvml.loaded and nvml.init == _NVML_LIBRARY_NOT_FOUND and not cuda.loaded


@dataclass(frozen=True)
class _Library:
    """What one library of the driver said, checked."""

    name: str
    loaded: bool = False
    init: int | None = None
    version: Version | None = None
    devices: tuple[tuple[str, Version | None, int | None], ...] = ()
    driver: str = ""

    @classmethod
    def read(cls, report: object, key: str) -> _Library:
        name = "NVML" if key == "nvml" else "libcuda"
        if not isinstance(report, dict):
            raise TypeError(report)
        told = report[key]
        if told is None:
            return cls(name)
        devices = []
        for device in told["devices"]:
            capability = device.get("capability")
            if capability is not None:
                major, minor = map(int, capability)
                # Nothing else can be spelled in sm_arch, so it is as good as not told.
                capability = (major, minor) if 1 <= major <= _MAX_PART and 0 <= minor <= 9 else None
            code = device.get("error")
            devices.append((str(device["name"]), capability, None if code is None else int(code)))
        init = None if told["init"] is None else int(told["init"])
        driver = str(told.get("driver") or "")
        version = _cuda_version(told["version"])
        return cls(name, bool(told["loaded"]), init, version, tuple(devices), driver)

    @property
    def best(self) -> Version | None:
        """The highest compute capability of the devices that told theirs."""
        return max((capability for _, capability, _ in self.devices if capability), default=None)

    @property
    def code(self) -> str:
        return f"code {self.init}"


def _cuda_version(number: object) -> Version | None:
    """Take apart a version as drivers give it: 12080 is 12.8."""
    if not isinstance(number, int) or not 1000 <= number < (_MAX_PART + 1) * 1000:
        return None
    return number // 1000, number % 1000 // 10


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def explain(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    driver = answer.facts.get("driver")
    has = f"this machine has {driver}" if driver else "this machine has no NVIDIA driver"
    if not driver and answer.problems:
        has = answer.problems[0]
    if feature in (_LOWER, _UPPER):
        versions = sorted(filter(None, map(_bound, values)))
        if not versions:
            return None
        bound, relation = (versions[0], ">=") if feature == _LOWER else (versions[-1], "<")
        return f"needs CUDA driver {relation} {bound[1]}, {has}"
    if feature != _SM:
        return None
    wanted = [
        match for match in map(re.compile(r"(\d+)(\d)_(real|virtual)").fullmatch, values) if match
    ]
    if not wanted:
        return None
    capabilities = sorted({(int(match[1]), int(match[2])) for match in wanted})
    needs = f"is for GPUs of compute capability {', '.join(map(_text, capabilities))}"
    if not driver:
        return f"{needs}, {has}"
    best = answer.facts.get("compute capability")
    return f"{needs}, " + (
        f"this machine has {best}" if best else "this machine has no usable NVIDIA GPU"
    )


def _bound(value: str) -> tuple[tuple[int, int], str] | None:
    """Make a bound comparable; 12 is 12.0."""
    match = re.fullmatch(r"(\d{1,4})(?:\.(\d{1,4}))?", value)
    return ((int(match[1]), int(match[2] or 0)), value) if match else None
