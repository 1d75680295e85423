"""The target that the options describe, which is asked only for what is needed."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pipvariant.errors import InvalidOverride
from pipvariant.shim.core.pip_objects import installation_error

if TYPE_CHECKING:
    from pipvariant.providers.answers import Answer
    from pipvariant.providers.plugins import Plugins
    from pipvariant.providers.target import Target
    from pipvariant.shim.core.state import TargetOptions
    from pipvariant.standard.metadata import Provider


def make_target(
    options: TargetOptions, plugins: Callable[[], Plugins] | None = None
) -> CheckedTarget:
    """Return what the target of a command supports; it is made on first use.

    :param plugins: makes what asks plugin packages; None trusts none.
    """
    return CheckedTarget(functools.partial(_make, options, plugins))


class CheckedTarget:
    """A target that is made on first use, with errors of pip for its invalid overrides.

    The first use raises ``InvalidTargetFile`` where there is such a file.
    """

    def __init__(self, make: Callable[[], Target]) -> None:
        self._make = make

    @functools.cached_property
    def _target(self) -> Target:
        return self._make()

    @property
    def from_target_file(self) -> Mapping[str, Answer]:
        """What a target file states, by namespace; empty without one."""
        return self._target.from_target_file or {}

    def answer(self, namespace: str, provider: Provider | None, source: str = "") -> Answer:
        """Return what is supported in one namespace: see :meth:`providers.target.Target.answer`.

        :raises InstallationError: pip's, when an override of a probe has an invalid value.
        """
        return _checked(lambda: self._target.answer(namespace, provider, source))

    def built_in(self, namespace: str) -> Answer:
        """Return what a target file or a built-in provider says, whatever metadata may say.

        :raises InstallationError: pip's, when an override of a probe has an invalid value.
        """
        return _checked(lambda: self._target.built_in(namespace))


def _checked(ask: Callable[[], Answer]) -> Answer:
    try:
        return ask()
    except InvalidOverride as error:
        # The user said something about the machine that cannot be: only the user can mend it.
        raise installation_error(str(error)) from error


def _make(options: TargetOptions, plugins: Callable[[], Plugins] | None) -> Target:
    from pipvariant.providers.target import Target

    from_target_file = None
    environ: Mapping[str, str] = os.environ
    if options.target_file is not None:
        from pipvariant.providers.target_file import read_target_file

        from_target_file = read_target_file(options.target_file)
    if options.pip_options is not None and not getattr(options.pip_options, "cache_dir", True):
        # --no-cache-dir is about what is remembered of the hardware too.
        environ = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
    return Target(
        environ=environ,
        enabled=options.enabled,
        disabled=options.disabled,
        from_target_file=from_target_file,
        foreign=options.foreign,
        refresh=options.refresh_platform,
        plugins=plugins,
    )
