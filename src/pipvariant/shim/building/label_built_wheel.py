"""``wheel -C variant-label=LABEL``: the label for what a build backend has built without one.

The setting reaches the backend as any other does. One that knows variants gives the wheel its
label; of what another one has built, the variant is made as the project's ``[variant]`` table
declares it, and takes the place of the ordinary wheel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.errors import PipVariantError
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import pip_error
from pipvariant.shim.core.state import aside
from pipvariant.standard.filename import split_label

SETTING = "variant-label"

_TARGET = "pip._internal.commands.wheel:build"

LabelBuilt = Callable[[str, str, str, str], str]


def patches(label_built: LabelBuilt) -> list[Patch]:
    """Patch the function that builds the wheels of the command ``wheel``.

    :param label_built: takes a wheel, the folder of its project, a label and a folder to write
        into, and returns the path of the variant.
    """
    return [patch(_TARGET, _build, _prove, label_built)]


def _build(
    label_built: LabelBuilt, original: Any, requirements: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    successes, failures = original(requirements, *args, **kwargs)
    for requirement in successes:
        label = (requirement.config_settings or {}).get(SETTING)
        path = requirement.local_file_path
        if label and split_label(os.path.basename(path))[1] is None:
            requirement.local_file_path = _labelled(label_built, requirement, label)
    return successes, failures


def _labelled(label_built: LabelBuilt, requirement: Any, label: str | list[str]) -> str:
    """Make the variant in a folder of its own, which pip removes at its end."""
    if not isinstance(label, str):
        raise pip_error("CommandError")(f"One build has one {SETTING}, not {len(label)}.")
    folder = import_module("pip._internal.utils.temp_dir").TempDirectory(
        kind="variant", globally_managed=True
    )
    source = requirement.unpacked_source_directory
    try:
        return label_built(requirement.local_file_path, source, label, folder.path)
    except PipVariantError as error:
        raise pip_error("CommandError")(str(error)) from error


def _prove(label_built: LabelBuilt) -> bool:
    builder: Any = import_module("pip._internal.wheel_builder")
    cache = SimpleNamespace(cache_dir=None, get_ephem_path_for_link=str)
    # Two labels cannot be meant, which is seen as soon as there is something built.
    requirement = samples.requirement_at("proof-1.0.tar.gz", config_settings={SETTING: ["", ""]})
    more = [()] * (builder.build.__code__.co_argcount - 2)
    module, _, name = _TARGET.partition(":")
    with aside(builder, _build_one=lambda *args, **kwargs: "/proof.whl"):
        try:
            getattr(import_module(module), name)([requirement], cache, *more)
        except pip_error("CommandError") as error:
            return SETTING in str(error)
    return False
