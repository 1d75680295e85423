"""Plugin packages: how pip installs them, apart from everything that the user installs.

A pip in a child process fills a folder with ordinary wheels, from the very source whose metadata
names the plugin. Nothing that the user configured for the installation itself reaches it, such as
constraints, targets or further indexes; what belongs to the network does.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from pipvariant.errors import ProbeFailed
from pipvariant.log import logger
from pipvariant.providers import probe_cache, short_lived
from pipvariant.providers.plugins import Plugins
from pipvariant.shim.building.child_pip import RUNNER, WHEELS_ONLY, places
from pipvariant.shim.core.pip_objects import path_to_link
from pipvariant.shim.core.state import CommandOptions, TargetOptions
from pipvariant.shim.finding.download import error_phrase
from pipvariant.shim.finding.index import IndexState

#: Seconds that pip may take for the packages of one plugin.
MAX_SECONDS = 600.0

# Commands that say what they install.
_TALKATIVE = ("download", "install", "lock", "wheel")

# Options of pip that belong to the network, and not to what is installed, with their variables.
_NETWORK = {
    "cert": "PIP_CERT",
    "client_cert": "PIP_CLIENT_CERT",
    "keyring_provider": "PIP_KEYRING_PROVIDER",
    "proxy": "PIP_PROXY",
    "retries": "PIP_RETRIES",
    "timeout": "PIP_TIMEOUT",
    "trusted_hosts": "PIP_TRUSTED_HOST",
}
# The same of their lists of names, of which only one is about the network.
_SWITCHES = (
    ("features_enabled", "PIP_USE_FEATURE", "truststore"),
    ("deprecated_features_enabled", "PIP_USE_DEPRECATED", "legacy-certs"),
)


def plugins_of(
    target_options: TargetOptions, options: CommandOptions, index: IndexState
) -> Plugins:
    """Return what asks the plugin packages that the user trusts.

    :raises InvalidOption: what the user trusts cannot be read.
    """
    pip_options = target_options.pip_options
    kept = probe_cache.cache_folder(os.environ) if getattr(pip_options, "cache_dir", None) else None
    return Plugins(
        target_options.trusted,
        _Installer(pip_options, options.command, index),
        folder=None if kept is None else kept.with_name("plugins"),
        refresh=target_options.refresh_platform,
    )


class _Places(NamedTuple):
    """Where pip may look: indexes, and pages or folders of files."""

    indexes: tuple[str, ...]
    links: tuple[str, ...]


@dataclass(eq=False)
class _Installer:
    """Installs plugin packages from where they were named."""

    pip_options: Any
    command: str
    index: IndexState

    def places(self, source: str) -> Sequence[str]:
        """Say where packages come from that are named at a source: URLs without a password."""
        found = self._places(source)
        return [_bare(url) for url in (*found.indexes, *found.links)]

    def install(
        self, requirements: Sequence[str], folder: Path, source: str, places: Sequence[str]
    ) -> Sequence[str]:
        """Install ordinary wheels and what they depend on into an empty folder.

        :param places: those of the source that may be looked at.
        :raises ProbeFailed: it could not be installed; it says why.
        """
        command = [sys.executable, RUNNER, "install", "--no-variant", "--only-binary", ":all:"]
        command += ["--target", str(folder), "--progress-bar", "off", *requirements]
        found = _Places(
            *(tuple(url for url in urls if _bare(url) in places) for urls in self._places(source))
        )
        origin = " ".join(places) or "no index"
        variables = dict(_variables(self._options(), found))
        try:
            # A pip that is ended leaves its temporary folders behind.
            with short_lived.folder() as temporary:
                variables.update(dict.fromkeys(("TEMP", "TMP", "TMPDIR"), str(temporary)))
                code, printed = short_lived.run(command, variables, MAX_SECONDS)
        except subprocess.TimeoutExpired:
            raise ProbeFailed(f"pip took more than {MAX_SECONDS:.0f} s to install it") from None
        except OSError as error:
            raise ProbeFailed(f"pip could not be started to install it: {error}") from error
        lines = printed.splitlines()
        for line in lines:
            logger.debug("pip on the way to %s: %s", ", ".join(requirements), line)
        if code:
            said = [line[7:] for line in lines if line.startswith("ERROR: ")]
            if "Exception:" in said:
                # The end of a traceback says what it was.
                said = lines[-1:]
            reason = error_phrase(ValueError("; ".join(said) or f"pip ended with {code}"))
            raise ProbeFailed(f"no wheel of it can be installed from {origin}: {reason}")
        packages = _packages(folder)
        # What other commands print is read by programs.
        level = logging.INFO if self.command in _TALKATIVE else logging.DEBUG
        logger.log(
            level,
            "Plugin packages that are trusted, in an environment of their own: %s (from %s)",
            ", ".join(packages),
            origin,
        )
        return packages

    def _options(self) -> Any:
        """Return the options of this command, or of one that looks at an index where it does not.

        pip's parser has what ``pip.conf`` and ``PIP_*`` say as its defaults.
        """
        if hasattr(self.pip_options, "index_url"):
            return self.pip_options
        commands: Any = import_module("pip._internal.commands")
        return commands.create_command("install").parser.get_default_values()

    def _places(self, source: str) -> _Places:
        """Return the one place that a source belongs to: an index, or a page or folder of files.

        Without a source it is all that the user configured.
        """
        configured = self._configured()
        if not source:
            return configured
        for link in configured.links:
            if _bare(link) == source.rstrip("/"):
                return _Places((), (link,))
        # One index may be a part of another.
        above = [index for index in configured.indexes if source.startswith(f"{_bare(index)}/")]
        if above:
            return _Places((max(above, key=lambda index: len(_bare(index))),), ())
        if source.startswith("file:"):
            return _Places((), (source,))
        if len(configured.indexes) == 1 and not configured.links:
            # The index sent pip on to somewhere else.
            return configured
        return _Places((source.rstrip("/").rpartition("/")[0] + "/",), ())

    def _configured(self) -> _Places:
        """Return all places that pip would look at."""
        if self.index.finder is not None:
            scope = self.index.finder.search_scope
            indexes, links = scope.index_urls, scope.find_links
        else:
            options = self._options()
            indexes = [options.index_url, *options.extra_index_urls]
            indexes, links = [] if options.no_index else indexes, options.find_links
        return _Places(tuple(_urls(indexes)), tuple(_urls(links)))


def _variables(options: Any, found: _Places) -> Mapping[str, str]:
    """Return the variables of a pip that looks at these places and at no configuration.

    They, and no argument, carry what may have a password in it.
    """
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    variables.update(
        PIPVARIANT_RUNNER=json.dumps(places()),
        PIP_CONFIG_FILE=os.devnull,
        PIP_DISABLE_PIP_VERSION_CHECK="1",
        PIP_NO_INPUT="1",
        PIP_ROOT_USER_ACTION="ignore",
        **{WHEELS_ONLY: "1"},
    )
    for name, variable in _NETWORK.items():
        value = getattr(options, name, None)
        if value or value == 0:
            variables[variable] = " ".join(value) if isinstance(value, list) else str(value)
    variables.update(
        (variable, feature)
        for name, variable, feature in _SWITCHES
        if feature in (getattr(options, name, None) or ())
    )
    cache = getattr(options, "cache_dir", None)
    variables.update({"PIP_CACHE_DIR": str(cache)} if cache else {"PIP_NO_CACHE_DIR": "1"})
    variables.update({} if found.indexes else {"PIP_NO_INDEX": "1"})
    for variable, urls in (
        ("PIP_INDEX_URL", found.indexes[:1]),
        ("PIP_EXTRA_INDEX_URL", found.indexes[1:]),
        ("PIP_FIND_LINKS", found.links),
    ):
        if urls:
            variables[variable] = " ".join(urls)
    return variables


def _urls(locations: Iterable[str]) -> Iterable[str]:
    """Yield locations as URLs, which have no spaces: pip's variables are lists with spaces."""
    for location in locations:
        yield path_to_link(location).url if os.path.exists(location) else location


def _bare(url: str) -> str:
    """Return a URL without user and password, as pip's pages have theirs, and without its end."""
    misc: Any = import_module("pip._internal.utils.misc")
    return str(misc.remove_auth_from_url(url)).rstrip("/")


def _packages(folder: Path) -> list[str]:
    """List what is installed in a folder: normalised name and version of each."""
    from importlib.metadata import distributions

    from packaging.utils import canonicalize_name

    found = distributions(path=[str(folder)])
    return sorted(f"{canonicalize_name(each.metadata['Name'])} {each.version}" for each in found)
