"""The built-in provider of namespace nvidia: CUDA driver version and GPU architecture."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pipvariant.providers import _driver_files
from pipvariant.providers._gpu import ask_driver, misspelt_variables, read_override, state_of
from pipvariant.providers._nvidia_report import (
    NvidiaReading,
    Version,
    read_nvidia_report,
    version_text,
)
from pipvariant.providers.answers import Answer, Origin

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

# Of the majors that get no more versions, the last one.
_LAST_MINORS = {7: 5, 8: 0, 9: 2, 10: 2, 11: 8, 12: 9}

# The oldest compute capability that sm_arch can name.
_OLDEST_CAPABILITY = (5, 0)


def nvidia_features(
    driver: Version | None, capability: Version | None
) -> dict[str, tuple[str, ...]]:
    """Turn what a machine has into the features of this namespace, in the provider's order.

    :param driver: the version of the user-mode CUDA driver; without one nothing is supported.
    :param capability: the highest compute capability among its GPUs, if there is one.
    :returns: feature to values; a driver that is newer than the known versions supports all of
        them as lower bounds.
    """
    if driver is None:
        return {}
    lower = _versions(*driver)
    upper = (version for version in _versions(_NEWEST_MAJOR, _NEWEST_MINOR) if version not in lower)
    features = {_LOWER: tuple(lower), _UPPER: tuple(upper)}
    if capability is not None and capability >= _OLDEST_CAPABILITY:
        major, minor = capability
        real = [f"{major}{number}_real" for number in range(minor, -1, -1)]
        features[_SM] = (*real, f"{major}0_virtual")
    return {feature: values for feature, values in features.items() if values}


def _versions(newest: int, minor: int) -> Mapping[str, None]:
    """List the versions from one down to the oldest that properties are made of, in this order."""
    values: list[str] = []
    for major in range(newest, _OLDEST_MAJOR - 1, -1):
        last = minor if major == newest else _NEWEST_MINOR
        values += [*(f"{major}.{part}" for part in range(last, -1, -1)), str(major)]
    return dict.fromkeys(values)


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say what driver and GPUs support; starts a probe only where a driver can be."""
    driver = _override(environ, FORCE_DRIVER, "[0-9]{1,2}", "a CUDA version", "12.8")
    capability = _override(environ, FORCE_SM, "0?[0-9]", "a compute capability", "9.0")
    known = driver and capability
    reading = NvidiaReading() if known else _query_driver(environ, refresh=refresh)
    facts, problems = dict(reading.facts), list(reading.problems)
    sources = [reading.source] if reading.source else []
    notes = misspelt_variables(environ, (FORCE_DRIVER, FORCE_SM))
    if driver:
        if not _is_known(*driver):
            told = (
                f"{FORCE_DRIVER} states CUDA {version_text(driver)}, which is not a known version"
            )
            notes = (told, *notes)
        sources = [FORCE_DRIVER, *(sources if reading.capability else [])]
        facts["driver"] = version_text(driver)
    driver = driver or reading.driver
    if capability and driver:
        sources.append(FORCE_SM)
        facts["compute capability"] = version_text(capability)
    elif capability:
        problems.append(f"{FORCE_SM} has no effect without a driver; set {FORCE_DRIVER} as well")
    features = nvidia_features(driver, capability or reading.capability)
    source = ", ".join(sources)
    return Answer("nvidia", features, Origin.BUILT_IN, source, tuple(problems), facts, notes)


def _is_known(major: int, minor: int) -> bool:
    """Whether there is or can be such a version of CUDA."""
    return 7 <= major <= _NEWEST_MAJOR and minor <= _LAST_MINORS.get(major, _NEWEST_MINOR)


def _override(
    environ: Mapping[str, str], name: str, minor: str, form: str, example: str
) -> Version | None:
    pattern = rf"([0-9]{{1,2}})\.({minor})"
    stated = read_override(environ, name, pattern, form, f"a value such as {example}")
    return (int(stated[0][1]), int(stated[0][2])) if stated else None


def _query_driver(environ: Mapping[str, str], *, refresh: bool) -> NvidiaReading:
    """Ask the driver in a child process, if there can be one."""
    libraries = _driver_files.find_libraries((_driver_files.LIBCUDA, _driver_files.NVML), environ)
    folder = _driver_files.ROOT / "proc/driver/nvidia"
    # The driver that the kernel has loaded, which containers can see too.
    version = _driver_files.read_start(folder / "version")
    kernel = () if version is None else (version, *_driver_files.list_folder(folder / "gpus"))
    if not libraries:
        problem = (
            "the NVIDIA kernel driver is loaded, but its libraries are not here;"
            " a container has to be started with access to the GPUs"
        )
        if kernel:
            return NvidiaReading("NVIDIA kernel driver", (problem,))
        return NvidiaReading("no NVIDIA driver")
    signs = (*map(_driver_files.file_state, libraries), *kernel)
    words = "the NVIDIA driver could not be asked"
    return ask_driver(
        "_nvidia_driver", read_nvidia_report, NvidiaReading, words, environ, signs, refresh=refresh
    )


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    driver = answer.facts.get("driver")
    has = state_of(answer, [driver] if driver else [], "this machine has no NVIDIA driver")
    if feature in (_LOWER, _UPPER):
        versions = sorted(filter(None, map(_bound, values)))
        if not versions:
            return None
        bound, relation = (versions[0], ">=") if feature == _LOWER else (versions[-1], "<")
        return f"needs CUDA driver {relation} {bound[1]}, {has}"
    wanted = filter(None, map(re.compile(r"(\d{1,4})(\d)_(real|virtual)").fullmatch, values))
    capabilities = sorted({(int(match[1]), int(match[2])) for match in wanted})
    if feature != _SM or not capabilities:
        return None
    if driver:
        best = answer.facts.get("compute capability")
        has = state_of(answer, [best] if best else [], "this machine has no usable NVIDIA GPU")
    needs = ", ".join(map(version_text, capabilities))
    return f"is for GPUs of compute capability {needs}, {has}"


def _bound(value: str) -> tuple[tuple[int, int], str] | None:
    """Make a bound comparable; 12 is 12.0."""
    match = re.fullmatch(r"(\d{1,4})(?:\.(\d{1,4}))?", value)
    return ((int(match[1]), int(match[2] or 0)), value) if match else None
