"""pip-tools, which uses modules of pip in its own process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from pipvariant.errors import PipVariantError


def prepare(
    tool: Any, start: Callable[[], object], fall_back: Callable[[BaseException], None]
) -> None:
    """Let `pip-compile` choose as pip-variant does, and `pip-sync` leave pip-variant where it is.

    :param tool: the module of pip-tools that was imported.
    :param start: puts the shim on.
    :param fall_back: told of an error that keeps it from being put on.
    """
    if tool.__name__ == "piptools.sync":
        _keep_installed(tool)
    else:
        _compile(tool.PyPIRepository, start, fall_back)


def _keep_installed(sync: Any) -> None:
    # With what it needs, as it is with pip.
    sync.PACKAGES_TO_IGNORE.append("pip-variant")
    diff = sync.diff

    def diff_without(*args: Any, **kwargs: Any) -> Any:
        to_install, to_uninstall = diff(*args, **kwargs)
        # What was installed from a file or URL goes by another name here.
        return to_install, {key for key in to_uninstall if not key.startswith("pip-variant @")}

    sync.diff = diff_without


def _compile(
    repository: Any, start: Callable[[], object], fall_back: Callable[[BaseException], None]
) -> None:
    original = repository.__init__
    more: list[str] = []

    def init_first(self: Any, *args: Any, **kwargs: Any) -> None:
        # There may be more than one.
        repository.__init__ = init
        try:
            start()
            # What is installed here has no say.
            more.append("--ignore-installed")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it goes on as it is
            fall_back(error)
        init(self, *args, **kwargs)

    def init(self: Any, pip_args: list[str], *args: Any, **kwargs: Any) -> None:
        try:
            original(self, [*pip_args, *more], *args, **kwargs)
        except PipVariantError as error:
            sys.exit(f"ERROR: {error}")

    repository.__init__ = init_first
