"""Wheels that are downloaded whole to be looked into, and from then on are what pip installs.

A server that has no ``variants.json`` and sends no parts of files leaves no other way. A wheel
goes to a file, so that its size is not in memory, and pip takes that file if the wheel is chosen.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.log import logger
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import shown
from pipvariant.shim.core.pip_versions import Pip, link_wanted, metadata_fetcher
from pipvariant.shim.core.state import State
from pipvariant.shim.finding.download import (
    Budget,
    Unusable,
    arriving,
    declared_length,
    open_response,
)
from pipvariant.standard.bounds import MAX_BYTES

PREPARER = "pip._internal.operations.prepare:RequirementPreparer"
#: No wheel that is bigger than this (bytes) is downloaded to be looked into.
MAX_WHEEL = 10 << 30
#: A wheel may take longer the more of it arrives, but not slower than so many bytes a second.
SLOWEST = 100_000
#: A bar is shown for wheels that are bigger than this, as pip does.
SHORT = 512 * 1024


class WholeWheels(State):
    """Downloads wheels, each once in a run.

    :param pip_options: pip's object with all options.
    :param largest: no bigger wheel is downloaded.
    """

    def __init__(self, pip_options: Any = None, *, largest: int = MAX_WHEEL) -> None:
        self.largest = largest
        self._bar = getattr(pip_options, "progress_bar", "off")
        self._explains = getattr(pip_options, "explains", False)
        #: URL of a wheel -> where it lies until pip ends.
        self._paths: dict[str, str] = {}

    def path(self, link: Any) -> str | None:
        """Return where a wheel lies on this machine, None if it does not."""
        return link.file_path if link.is_file else self._paths.get(link.url_without_fragment)

    def download(self, session: Any, link: Any, budget: Budget) -> str:
        """Return the path of a wheel, which is fetched unless that has been done.

        :raises Unusable: when the server sends something else, too much, or too slowly; or one of
            the errors of a fetch.
        """
        url = link.url_without_fragment
        if url not in self._paths:
            temporary: Any = import_module("pip._internal.utils.temp_dir")
            folder = temporary.TempDirectory(kind="variants", globally_managed=True).path
            path = os.path.join(folder, os.path.basename(link.filename))
            try:
                with open(path, "wb") as file:
                    file.writelines(self._chunks(session, link, budget))
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(path)
                raise
            self._paths[url] = path
        return self._paths[url]

    def _chunks(self, session: Any, link: Any, budget: Budget) -> Iterable[bytes]:
        """Yield what arrives, telling the user of it as pip does."""
        # As pip asks for a wheel, so that its cache holds for both.
        headers = import_module("pip._internal.network.utils").HEADERS
        is_from_cache = import_module("pip._internal.network.cache").is_from_cache
        with open_response(session, link, headers, budget) as response:
            length, cached = declared_length(response), is_from_cache(response)
            budget.expect(length or 0)
            format_size = import_module("pip._internal.utils.misc").format_size
            # `explain` keeps pip quiet, and should say why it takes long.
            is_warning = self._explains and (length or 0) > MAX_BYTES
            logger.log(
                logging.WARNING if is_warning else logging.INFO,
                "%s %s%s: what its label needs is only said inside of it",
                "Using cached" if cached else "Downloading",
                shown(link),
                f" ({format_size(length)})" if length else "",
            )
            chunks: Iterable[bytes] = _while_fast(arriving(session, response, budget), budget)
            if logger.isEnabledFor(logging.INFO) and not cached and (length or SHORT + 1) > SHORT:
                bars: Any = import_module("pip._internal.cli.progress_bars")
                show = bars.get_download_progress_renderer(bar_type=self._bar, size=length)
                chunks = show(chunks)
            yield from chunks


def _while_fast(chunks: Iterable[bytes], budget: Budget) -> Iterable[bytes]:
    """Yield what arrives if it begins as a wheel does, and give it more time for each piece."""
    begins = b""
    for chunk in chunks:
        if len(begins) < 2:
            begins += chunk[:2]
            if not b"PK".startswith(begins[:2]):
                raise Unusable("what the server sends is no wheel")
        budget.extend(len(chunk) / SLOWEST)
        yield chunk


def patches(pip: Pip, wheels: WholeWheels) -> list[Patch]:
    """Patch the place where pip looks for metadata before it downloads a wheel."""
    name = f"{PREPARER}.{metadata_fetcher(pip)}"
    return [patch(name, _fetch_metadata, _prove, wheels)]


def _fetch_metadata(wheels: WholeWheels, original: Any, /, self: Any, wanted: Any) -> Any:
    link = link_wanted(wanted)
    path = None if link.is_file else wheels.path(link)
    if path is None:
        return original(self, wanted)
    # pip's own table of what is on the disk by now.
    self._downloaded[link.url] = path
    return None


def _prove(wheels: WholeWheels) -> bool:
    def see(path: str) -> None:
        raise samples.Reached(path)

    module, _, name = PREPARER.partition(":")
    preparer = getattr(import_module(module), name)
    requirement = samples.requirement_at(samples.WHEELS[0])
    # As much of it as there has to be until a file is in pip's hands.
    made: Any = object.__new__(preparer)
    made.download_dir, made._downloaded = None, {}
    made._log_preparing_link = lambda _: None
    made._get_linked_req_hashes = lambda _: SimpleNamespace(check_against_path=see)
    wheels._paths[requirement.link.url_without_fragment] = "proof"
    try:
        made.prepare_linked_requirement(requirement)
    except samples.Reached as seen:
        return seen.args == ("proof",)
    return False
