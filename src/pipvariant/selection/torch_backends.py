"""The backends that torch and its family are built for, where an index has a folder for each.

A folder counts as a label: a file in ``cu128/`` is a build of its public version for the backend
``cu128``, whatever its local version is. What a label means is not published; it is said here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from pipvariant.errors import InvalidOption
from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.preferences import Family

if TYPE_CHECKING:
    from pipvariant.providers.answers import Answer
    from pipvariant.selection.model import Judgement
    from pipvariant.standard.properties import Properties

#: Where the folders are (https://pytorch.org/get-started/locally/).
OFFICIAL_INDEX = "https://download.pytorch.org/whl/"
AUTO, CPU, XPU = "auto", "cpu", "xpu"

#: Projects that are built for a backend, and those of which any folder's will do: the projects for
#: which uv 0.13.9 asks the folders.
_WITH = """
    fbgemm-gpu fbgemm-gpu-genai torch torch-tensorrt torchao torcharrow torchaudio torchcodec
    torchcsprng torchdistx torchrec torchtext torchtune torchvision xformers
"""
_WITHOUT = """
    pytorch-triton pytorch-triton-rocm pytorch-triton-xpu torchserve triton triton-rocm triton-xpu
"""
WITH_BACKEND, WITHOUT_BACKEND = frozenset(_WITH.split()), frozenset(_WITHOUT.split())
PROJECTS = WITH_BACKEND | WITHOUT_BACKEND

# Versions of CUDA, newest first.
_VERSIONS = """
    13.2 13.0 12.9 12.8 12.6 12.5 12.4 12.3 12.2 12.1 12.0 11.8 11.7 11.6 11.5 11.4 11.3 11.2 11.1
    11.0 10.2 10.1 10.0 9.2 9.1 9.0 8.0
"""
_CUDA = tuple(_VERSIONS.split())
# The oldest driver, on Linux and on Windows, with which all builds for a major version of CUDA run
# (https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/, "minor version compatibility").
_OLDEST_DRIVERS = {
    11: ((450, 80, 2), (452, 39)),
    12: ((525, 60, 13), (528, 33)),
    13: ((580,), (580,)),
}

# The GPUs that builds for a version of ROCm have code for, as `torch.cuda.get_arch_list()` of each
# says; newest first.
_GFX_60 = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100"
_GFX_624 = f"{_GFX_60} gfx1101 gfx1102 gfx1200 gfx1201"
_ROCM = {
    "7.2": f"{_GFX_624} gfx950 gfx1150 gfx1151",
    "7.1": f"{_GFX_624} gfx950",
    "7.0": f"{_GFX_624} gfx950",
    "6.4": _GFX_624,
    "6.3": _GFX_624,
    "6.2.4": _GFX_624,
    "6.2": _GFX_60,
    "6.1": f"{_GFX_60} gfx1101",
    "6.0": _GFX_60,
}
# Intel GPUs that builds for xpu are made for. Others are not left out: no list says which.
_XPU_DEVICES = (
    *("12.55.8", "12.56.5", "12.57.0", "12.60.7", "12.61.7", "12.70.4", "12.71.4", "12.74.4"),
    *("20.1.0", "20.2.0", "20.4.4", "30.0.4"),
)

#: All that `auto` knows.
BACKENDS = (
    *("cu" + version.replace(".", "") for version in _CUDA),
    *(f"rocm{version}" for version in _ROCM),
    XPU,
    CPU,
)
#: Of backends that do not fit, those that are named as what could have been taken.
_NAMED = frozenset(("cu130", "cu128", "cu126", "rocm6.4", XPU))

_LOWER_BOUND, _ROCM_VERSION, _GFX = "cuda_version_lower_bound", "rocm_version", "gfx_arch"
_BY_COMPATIBILITY = "driver by minor version compatibility"
_CUDA_LABEL = re.compile(r"cu([0-9]{1,2})([0-9])")
# What follows the backend is about something else: 2.5.1+cpu.cxx11.abi.
_IN_LOCAL = re.compile(r"[^+]*\+(cpu|xpu|cu[0-9]{2,3}|rocm[0-9]+(?:\.[0-9]+){1,2})(?![^.])")
_ROCM_LABEL = re.compile(r"rocm([0-9]{1,2}(?:\.[0-9]{1,2}){1,2})")


def check_backend(text: str) -> str:
    """Return the value of ``--torch-backend``.

    :raises InvalidOption: it is none.
    """
    if text == AUTO or is_backend(text):
        return text
    raise InvalidOption(
        f"{text!r} is no backend",
        where="--torch-backend",
        remedy="Write auto, cpu, xpu, or one such as cu128 or rocm6.4",
    )


def is_backend(text: str) -> bool:
    """Say whether a word names a backend, be it one that is not known."""
    forms = (_CUDA_LABEL, _ROCM_LABEL)
    return text in (CPU, XPU) or any(form.fullmatch(text) for form in forms)


def backend_in(version: str) -> str | None:
    """Return the backend that a local version names (``2.9.0+cu128``), None if it names none."""
    match = _IN_LOCAL.match(version)
    return None if match is None else match[1]


def family(option: str) -> Family:
    """Return the projects that are kept on one backend.

    :param option: what the user said, for the user to read.
    """
    return Family("", WITH_BACKEND, f"--torch-backend {option}")


def metadata_of(backends: Iterable[str], *, stated: str = "") -> Metadata:
    """Return what the labels for some backends mean.

    :param stated: the one backend that the user named, whatever machine it is for.
    """
    variants = {backend: _properties(backend) for backend in backends}
    namespaces = ("nvidia", "amd", "intel")
    providers: dict[str, Provider] = {}
    if stated:
        fits = _properties(stated)
        providers = {each: Provider(static_properties=fits.get(each, {})) for each in namespaces}
    return Metadata(namespaces, providers, variants, published=False)


def _properties(backend: str) -> Properties:
    if match := _CUDA_LABEL.fullmatch(backend):
        return {"nvidia": {_LOWER_BOUND: (f"{match[1]}.{match[2]}",)}}
    if match := _ROCM_LABEL.fullmatch(backend):
        names = _ROCM.get(match[1], "").split()
        return {"amd": {**({_GFX: tuple(names)} if names else {}), _ROCM_VERSION: (match[1],)}}
    return {"intel": {"device_ip": _XPU_DEVICES}} if backend == XPU else {}


def shown_labels(found: Iterable[str], rejected: Iterable[str], named: str | None) -> list[str]:
    """Return the labels that the user reads about, in no order.

    :param found: those that a version has.
    :param rejected: backends that do not fit, in whose folders nobody has looked.
    :param named: the one that the user wants, if any.
    """
    return [*found, *(each for each in rejected if each in _NAMED or each == named)]


def widened(answer: Answer) -> Answer:
    """Return an answer of the target with what follows from it for builds of torch.

    Their CUDA runs with older drivers of the same major version; those of ROCm bring their own
    ROCm along. The newest comes first, and what needs compatibility after the others.
    """
    from pipvariant.providers.answers import Origin

    if not answer.features or answer.origin is Origin.STATIC:
        return answer
    features = dict(answer.features)
    if answer.namespace == "nvidia":
        return _widened_nvidia(answer)
    if answer.namespace == "amd" and _GFX in features:
        features.pop(_ROCM_VERSION, None)
        features = {_ROCM_VERSION: tuple(_ROCM), **features}
    elif "device_ip" in features:
        known = _XPU_DEVICES[:1] if set(_XPU_DEVICES).isdisjoint(features["device_ip"]) else ()
        features["device_ip"] = (*features["device_ip"], *known)
    return replace(answer, features=features)


def _widened_nvidia(answer: Answer) -> Answer:
    driver = max(map(_numbers, answer.features.get(_LOWER_BOUND, ())), default=())
    if not driver:
        return answer
    own = [version for version in _CUDA if _numbers(version) <= driver]
    newer = [] if _is_too_old(answer, driver[0]) else _CUDA[: len(_CUDA) - len(own)]
    newer = [version for version in newer if _numbers(version)[0] == driver[0]]
    facts = {"driver": ".".join(map(str, driver)), **answer.facts}
    if newer:
        facts[_BY_COMPATIBILITY] = ", ".join(newer)
    return replace(answer, features={**answer.features, _LOWER_BOUND: (*own, *newer)}, facts=facts)


def _is_too_old(answer: Answer, major: int) -> bool:
    """Say whether the driver, as far as it told its version, is too old for newer builds."""
    told = _numbers(answer.facts.get("kernel driver", ""))
    if not told or major not in _OLDEST_DRIVERS:
        return False
    linux, windows = _OLDEST_DRIVERS[major]
    # Versions for Windows have two numbers; those for Linux that have two lie on the same side.
    return told < (windows if len(told) == 2 else linux)


def compatibility_note(judgement: Judgement, label: str | None) -> str:
    """Say that a build is for a newer CUDA than the driver, and runs all the same; or nothing."""
    answer = judgement.answers.get("nvidia")
    if judgement.metadata.published or answer is None or label is None:
        return ""
    values = judgement.properties(label).get("nvidia", {}).get(_LOWER_BOUND, ())
    newer = answer.facts.get(_BY_COMPATIBILITY, "").split(", ")
    if values and values[0] in newer:
        driver = answer.facts["driver"]
        return f"; this driver, for CUDA {driver}, runs it by minor version compatibility"
    return ""


def _numbers(text: str) -> tuple[int, ...]:
    parts = text.split(".")
    is_version = all(part.isdecimal() and len(part) < 9 for part in parts)
    return tuple(map(int, parts)) if is_version else ()
