"""The model once more, with the rules in which uv 0.13.9 differs from the standard.

Each of them has a section, with the reason, in docs/differences-from-uv.md. uv has to choose
what comes out here, so nothing differs but what is listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from integration.model import in_order, is_eligible
from integration.projects import File, Machine, Project, Release
from integration.wheels import Wheel

__all__ = ["uv_choice"]


class RunFails(Exception):
    """uv gives up, whatever other versions there are."""


def uv_choice(project: Project, machine: Machine, tags: Sequence[str]) -> str | None:
    """Return the name of the file that uv installs, None if it installs nothing."""
    # "Providers that the user switches": there is no such option.
    machine = replace(machine, enable=(), disable=())
    specifier = SpecifierSet(project.specifier)
    versions = [one for one in project.releases if specifier.contains(one.version, True)]
    versions.sort(key=lambda one: Version(one.version), reverse=True)
    if not machine.pre and not re.match(r"[^!].*(dev|rc)", project.specifier):
        # "Pre-releases where no variant fits": they come last, but they come.
        versions.sort(key=lambda one: Version(one.version).is_prerelease)
    try:
        for release in versions:
            pinned = project.specifier == f"=={release.version}"
            chosen = best_file(release, machine, tags, pinned=pinned)
            if chosen is not None:
                return chosen
    except RunFails:
        pass
    return None


def best_file(
    release: Release, machine: Machine, tags: Sequence[str], *, pinned: bool
) -> str | None:
    # "Yanked files": a pin makes all of them count, but only those of exactly that version.
    files = [file for file in release.files if pinned or not file.yanked]
    files = [file for file in files if is_eligible(for_any_python(file), tags)]
    if not files:
        return None
    if any(re.fullmatch("[a-z0-9_.]+", label) for label in labels(release)):
        read = as_read(release)
        if read is None:
            return None
        release = read
        files = [file for file in files if is_known(release, file)]
    ordered = in_order(release, [for_any_python(file) for file in files], machine, tags)
    if not ordered:
        return None
    # "Files for different Pythons": only the best file is asked which Python it is for.
    (best,) = (file for file in files if for_any_python(file) == ordered[0])
    return best.artefact.filename if is_eligible(best, tags) else None


def labels(release: Release) -> list[str]:
    wheels = [file.artefact for file in release.files if isinstance(file.artefact, Wheel)]
    return [wheel.label for wheel in wheels if wheel.label is not None]


def for_any_python(file: File) -> File:
    wheel = replace(file.wheel, requires_python="")
    if isinstance(file.artefact, Wheel):
        return replace(file, artefact=wheel)
    return replace(file, artefact=replace(file.artefact, wheel=wheel))


def as_read(release: Release) -> Release | None:
    """The release with what uv makes of its metadata, None where it drops the version."""
    # "Metadata that cannot be had".
    if release.kind in {"not found", "wrong hash"}:
        raise RunFails
    # "No variants.json": the wheels are not asked.
    if release.reply is None:
        return replace(release, inside=None)
    says = release.says
    # "Faults that are overlooked".
    if release.kind in {"label without properties", "major 9"}:
        says = release.inside
    # "A byte order mark" and "Keys that are not known" are faults. "Metadata that cannot be
    # read": the version is dropped, with its other files.
    if says is None or release.kind == "byte order mark" or has_unknown_keys(says):
        return None
    # "Metadata without providers": nobody answers.
    nobody = {name: {"requires": ["x"]} for name in says["default-priorities"]["namespace"]}
    return replace(release, says={"providers": nobody, **says, "variants": without_flags(says)})


def has_unknown_keys(says: Mapping[str, Any]) -> bool:
    provider_keys = {key for entry in says.get("providers", {}).values() for key in entry}
    return bool(
        set(says) - {"$schema", "default-priorities", "providers", "variants"}
        or set(says["default-priorities"]) - {"namespace"}
        or provider_keys
        - {"feature-order", "optional", "plugin-api", "requires", "static-properties"}
    )


def without_flags(says: Mapping[str, Any]) -> dict[str, Any]:
    """Of x86_64, only the levels are known ("CPU flags")."""
    variants = {label: dict(variant) for label, variant in says["variants"].items()}
    for variant in variants.values():
        if set(variant.get("x86_64", ())) - {"level"}:
            variant["x86_64"] = {"level": ["unknown"]}
    return variants


def is_known(release: Release, file: File) -> bool:
    # "A null variant that is not listed": it is left out like any other label.
    label = file.wheel.label if isinstance(file.artefact, Wheel) else None
    return label is None or (release.says is not None and label in release.says["variants"])
