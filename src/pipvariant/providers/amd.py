"""The built-in provider of namespace amd: GPU architectures and the version of ROCm."""

from __future__ import annotations

import errno
import itertools
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pipvariant.printable import some
from pipvariant.providers import _amd_kernel, _driver_files
from pipvariant.providers._gpu import (
    ask_driver,
    misspelt_variables,
    read_override,
    sensible,
    state_of,
)
from pipvariant.providers.answers import Answer, Origin, Reading

#: The variables that state what would otherwise be asked of this machine.
FORCE_GFX = "AMD_VARIANT_PROVIDER_FORCE_GFX_ARCH"
FORCE_ROCM = "AMD_VARIANT_PROVIDER_FORCE_ROCM_VERSION"

_GFX = "gfx_arch"
_ROCM = "rocm_version"

# With this variable of ROCm's, programs see another architecture than the kernel does.
_HSA_OVERRIDE = "HSA_OVERRIDE_GFX_VERSION"

# With these, programs see some of the GPUs; each one counts among those that are left before it.
_VISIBLE = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")


@dataclass(frozen=True)
class AmdReading(Reading):
    """What was read from the kernel and from the files of ROCm.

    :param gfx: node and architecture of each GPU, such as ``(1, "gfx942")``, the biggest GPU first.
    :param rocm: the version of ROCm, such as ``6.4``; None without ROCm.
    :param permitted: whether this user may use the GPUs.
    """

    source: str = "no AMD GPU"
    gfx: tuple[tuple[int, str], ...] = ()
    rocm: str | None = None
    permitted: bool = True


def amd_features(gfx: Iterable[str], rocm: str | None) -> dict[str, tuple[str, ...]]:
    """Turn what a machine has into the features of this namespace, in the provider's order.

    :param gfx: the architectures of its GPUs, the preferred one first.
    :param rocm: the version of ROCm, if it is installed.
    """
    features = {_GFX: tuple(dict.fromkeys(gfx)), _ROCM: (rocm,) if rocm else ()}
    return {feature: values for feature, values in features.items() if values}


def query_machine(environ: Mapping[str, str], *, refresh: bool = False) -> Answer:
    """Say which AMD GPUs and which ROCm are here; starts a probe only where one can be."""
    gfx, rocm = _gfx_override(environ), _rocm_override(environ)
    reading = AmdReading() if gfx and rocm else _query_kernel(environ, refresh=refresh)
    facts, problems = dict(reading.facts), list(reading.problems)
    sources = []
    # Where the GPUs are not permitted, ROCm serves only those that are stated.
    found_rocm = reading.rocm if gfx or reading.permitted else None
    if gfx:
        sources.append(FORCE_GFX)
        facts = {key: fact for key, fact in facts.items() if not key.startswith("GPU ")}
    elif reading.gfx:
        visible, choices = _visible_gpus(reading.gfx, environ)
        facts.update(choices)
        gfx, faults = _as_programs_see(visible, environ)
        seen = [name for _, name in visible]
        sources.append(reading.source if gfx == seen else _HSA_OVERRIDE)
        problems += faults
    if rocm:
        sources.append(FORCE_ROCM)
        facts["ROCm"] = rocm
    elif found_rocm:
        sources.append("ROCm")
    features, source = amd_features(gfx, rocm or found_rocm), ", ".join(sources) or reading.source
    notes = misspelt_variables(environ, (FORCE_GFX, FORCE_ROCM))
    return Answer("amd", features, Origin.BUILT_IN, source, tuple(problems), facts, notes)


def _gfx_override(environ: Mapping[str, str]) -> list[str]:
    form, example = "a list of GPU architectures", "names such as gfx942 or gfx90a,gfx942"
    stated = read_override(environ, FORCE_GFX, "gfx[0-9a-f]{3,5}", form, example, several=True)
    return [match[0] for match in stated]


def _rocm_override(environ: Mapping[str, str]) -> str | None:
    form, example = "a ROCm version", "a value such as 6.4 or 7.0.0"
    pattern = r"([0-9]{1,2}\.[0-9]{1,2})(?:\.[0-9]{1,5})?"
    stated = read_override(environ, FORCE_ROCM, pattern, form, example)
    return stated[0][1] if stated else None


def _visible_gpus(
    gpus: Sequence[tuple[int, str]], environ: Mapping[str, str]
) -> tuple[Sequence[tuple[int, str]], dict[str, str]]:
    """Leave out the GPUs that variables of ROCm hide from programs.

    :returns: the visible ones, in the same order; and what each variable does, for people.
    """
    facts = {}
    for name in filter(environ.get, _VISIBLE):
        numbers = environ[name].replace(" ", "").split(",")
        # ROCm counts in the kernel's order, and stops at the first number without a GPU.
        by_number = {str(number): gpu for number, gpu in enumerate(sorted(gpus))}
        known = list(itertools.takewhile(by_number.__contains__, numbers))
        chosen = [by_number[number] for number in known]
        if not chosen or not all(map(str.isdecimal, numbers)):
            facts[name] = f"{environ[name]} has no effect here"
            continue
        facts[name] = environ[name]
        for node, gfx in set(gpus) - set(chosen):
            facts[f"GPU {node}"] = f"{gfx}, hidden by {name}"
        gpus = [gpu for gpu in gpus if gpu in chosen]
    return gpus, facts


def _as_programs_see(
    gpus: Sequence[tuple[int, str]], environ: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Apply ROCm's own override, for one node or for all, as its runtime does.

    :returns: the architectures, and what is wrong with the override.
    """
    names, problems = [], []
    for node, name in gpus:
        variable = f"{_HSA_OVERRIDE}_{node}"
        variable = variable if environ.get(variable) else _HSA_OVERRIDE
        text = environ.get(variable, "")
        match = re.fullmatch(r"(\d{1,2})\.(\d{1,2})\.(\d{1,2})", text)
        if text and not match:
            problems.append(f"{variable} is {text!r}, which ROCm does not understand")
        names.append(_gfx_name(*map(int, match.groups())) if match else name)
    return names, list(dict.fromkeys(problems))


def _query_kernel(environ: Mapping[str, str], *, refresh: bool) -> AmdReading:
    """Look at the machine in a child process, if there can be something to see."""
    signs = list(_signs(environ))
    if not signs:
        return AmdReading()
    signs.append(_driver_files.file_state(_driver_files.ROOT / _amd_kernel.DEVICE))
    words = "the AMD GPUs could not be looked at"
    return ask_driver(
        "_amd_kernel", read_amd_report, AmdReading, words, environ, signs, refresh=refresh
    )


def _signs(environ: Mapping[str, str]) -> Iterable[str]:
    """Describe what GPUs and ROCm are told by; nothing where there can be neither."""
    root, state = _driver_files.ROOT, _driver_files.file_state
    topology = root / _amd_kernel.TOPOLOGY
    if nodes := _driver_files.list_folder(topology / "nodes"):
        yield " ".join(nodes)
        yield _driver_files.read_start(topology / "generation_id") or "no generation"
    for folder in _amd_kernel.rocm_folders(environ, root):
        if os.path.isdir(folder):
            yield from map(state, (folder, *(folder / name for name in _amd_kernel.VERSION_FILES)))
    for path in _driver_files.find_libraries((_amd_kernel.ROCM_CORE,), environ):
        yield state(path)


@sensible("the answer of the kernel")
def read_amd_report(report: Any) -> AmdReading:
    """Judge what ``_amd_kernel.report`` reports."""
    rocm, facts = _amd_kernel.rocm_version(report["rocm"]), {}
    if rocm:
        facts["ROCm"] = f"{rocm} ({report['rocm_folder']})"
    gpus: list[tuple[int, int, str]] = []
    unknown = ""
    for node in report["nodes"]:
        number = int(node["node"])
        if "error" in node:
            facts[f"node {number}"] = f"not told (error {node['error']})"
            continue
        properties = node["properties"]
        units, version = (
            int(properties.get(key, 0)) for key in ("simd_count", "gfx_target_version")
        )
        if not units:
            continue  # A CPU.
        if name := _gfx_of(version):
            gpus.append((-units, number, name))
        else:
            facts[f"GPU {number}"] = f"architecture {version or 'not told'}"
            unknown = "this kernel is too old to tell its architecture"
            if version:
                unknown = f"its architecture is not known ({version})"
    # Several GPUs: the one with the most units is the one to run programs on, as a rule.
    gfx = tuple((number, name) for _, number, name in sorted(gpus))
    facts.update((f"GPU {node}", name) for node, name in gfx)
    problems = []
    if unknown and not gpus:
        problems = [f"an AMD GPU is present, but {unknown}; {FORCE_GFX} can state it"]
    hidden = not gpus and any("error" in node for node in report["nodes"])
    absent = not hidden and report["device"] in (errno.ENOENT, errno.ENXIO, errno.ENODEV)
    permitted = not hidden and (absent or not gfx or not report["device"])
    if gfx and absent:
        problems.append(
            "an AMD GPU is present, but /dev/kfd is not here; a container has to be started"
            " with /dev/kfd and /dev/dri"
        )
    elif not permitted:
        problems.append("an AMD GPU is present, not permitted (group render or video)")
    source = "kernel" if gfx or problems else "no AMD GPU"
    usable = gfx if permitted and not absent else ()
    return AmdReading(source, tuple(problems), facts, usable, rocm, permitted)


def _gfx_of(version: int) -> str | None:
    """Name an architecture that the kernel gives as one number, 90010 for 9, 0, 10; None if odd."""
    major, minor, step = version // 10000, version // 100 % 100, version % 100
    return _gfx_name(major, minor, step) if 1 <= major <= 99 and max(minor, step) < 16 else None


def _gfx_name(major: int, minor: int, step: int) -> str:
    """Name an architecture: the major version is decimal, the others are one hexadecimal digit."""
    return f"gfx{major}{minor:x}{step:x}"


def unmet_reason(feature: str, values: Sequence[str], answer: Answer) -> str | None:
    """Say why none of the values of a feature is supported, or None without better words."""
    has = answer.features.get(feature, ())
    if feature == _GFX:
        return f"needs a {_either(values)} GPU, {state_of(answer, has, _unseen())}"
    if feature == _ROCM:
        state = state_of(answer, has[:1], "this machine has no ROCm")
        return f"needs ROCm {_either(values)}, {state}"
    return None


def _unseen() -> str:
    """Say why there is no GPU in an answer without problems."""
    if sys.platform == "win32" or os.path.exists(_driver_files.ROOT / "dev/dxg"):
        return f"and AMD GPUs are not found on Windows and in WSL ({FORCE_GFX} can state them)"
    return "this machine has no AMD GPU"


def _either(values: Sequence[str]) -> str:
    if len(values) > 3:
        return some(values, joint=" or ")
    return " or ".join(filter(None, (", ".join(values[:-1]), values[-1])))
