"""Nothing is built: for a pip in a child process that installs packages to be run by us.

``--only-binary`` speaks of what an index offers; a requirement with a URL is built in spite of it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import installation_error, pip_error

TARGET = "pip._internal.operations.prepare:make_distribution_for_install_requirement"


def patches() -> list[Patch]:
    """Patch the place where pip turns to a build for what is no wheel."""
    return [patch(TARGET, _make_distribution, _prove)]


def _make_distribution(original: Any, /, install_req: Any) -> Any:
    if not install_req.is_wheel:
        raise installation_error(
            f"{install_req} would have to be built, and only wheels are taken here"
        )
    return original(install_req)


def _prove() -> bool:
    module: Any = import_module(TARGET.partition(":")[0])
    name = "make_distribution_for_install_requirement"
    source = samples.requirement_at("proof-1.0.tar.gz")
    try:
        getattr(module, name)(source)
    except pip_error("InstallationError"):
        # Whoever calls it would build.
        return name in samples.names_used(module._get_prepared_distribution)
    return False
