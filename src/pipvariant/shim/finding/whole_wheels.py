"""Wheels that are looked into: in parts where a server sends parts, or else downloaded whole.

A server that has no ``variants.json`` and sends no parts of files leaves no other way. A wheel
goes to a file, so that its size is not in memory, and pip takes that file if the wheel is chosen.

Where there is no ``.metadata`` file, what a variant wheel depends on is read from a part of it too:
a resolver may try one label after the other.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.log import logger
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import canonical_name, shown
from pipvariant.shim.core.pip_versions import Pip, forgets_wheels, link_wanted, metadata_fetcher
from pipvariant.shim.core.state import CommandOptions, State
from pipvariant.shim.finding.download import (
    Budget,
    PartsUnsupported,
    Unusable,
    arriving,
    declared_length,
    fetch_errors,
    open_parts,
    open_response,
)
from pipvariant.shim.finding.filenames import is_variant_wheel
from pipvariant.standard.bounds import MAX_BYTES

PREPARER = "pip._internal.operations.prepare:RequirementPreparer"
#: No wheel that is bigger than this (bytes) is downloaded to be looked into.
MAX_WHEEL = 10 << 30
#: A wheel may take longer the more of it arrives, but not slower than so many bytes a second.
SLOWEST = 100_000
#: What reading a part of a wheel can end with, beside errors of a fetch.
FAULTS: tuple[type[Exception], ...] = (Unusable, zlib.error, NotImplementedError, EOFError)
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
        #: Hosts that send no parts of files, or do not say that they do.
        self.sends_no_parts: set[str] = set()

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

    def metadata_in_parts(self, session: Any, link: Any) -> Any:
        """Return pip's distribution of a wheel, of which only the metadata is fetched.

        :returns: None where that cannot be, or the wheel lies in pip's cache as a whole. Faults of
            the wheel are left for pip to find.
        """
        url = link.url_without_fragment
        if link.netloc in self.sends_no_parts or _is_in_cache(session, url):
            return None
        lazy: Any = import_module("pip._internal.network.lazy_wheel")
        try:
            with open_parts(session, url, Budget()) as stream:
                name = canonical_name(link.filename.partition("-")[0])
                return lazy.get_wheel_distribution(lazy.MemoryWheel(stream.name, stream), name)
        except PartsUnsupported:
            self.sends_no_parts.add(link.netloc)
        except FAULTS + fetch_errors() as error:
            logger.debug("%s is not read in parts: %s", shown(link), error)
        return None

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


def _is_in_cache(session: Any, url: str) -> bool:
    adapter = session.get_adapter(url)
    cache = getattr(adapter, "cache", None)
    # What `get` returns may be the whole wheel.
    return cache is not None and os.path.exists(
        cache._get_cache_path(adapter.controller.cache_url(url))
    )


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


def patches(pip: Pip, options: CommandOptions, wheels: WholeWheels) -> list[Patch]:
    """Patch the place where pip looks for metadata before it downloads a wheel."""
    name = f"{PREPARER}.{metadata_fetcher(pip)}"
    return [patch(name, _fetch_metadata, _prove, pip, options, wheels)]


def _fetch_metadata(
    pip: Pip, options: CommandOptions, wheels: WholeWheels, original: Any, /, self: Any, wanted: Any
) -> Any:
    link = link_wanted(wanted)
    path = None if link.is_file else wheels.path(link)
    if path is None:
        found = original(self, wanted)
        if link.is_file or not (link.is_wheel and is_variant_wheel(link.filename)):
            return found
        # As pip does: the legacy resolver and hashes need the wheel as a whole.
        if found is None and not (self.require_hashes or options.legacy_resolver):
            found = wheels.metadata_in_parts(self._session, link)
        if found is not None and forgets_wheels(pip):
            download = self._batch_download
            if not isinstance(download, functools.partial):
                self._batch_download = functools.partial(_remembered, self, download)
        return found
    # pip's own table of what is on the disk by now.
    self._downloaded[link.url] = path
    return None


def _remembered(preparer: Any, download: Any, links: Any, location: str) -> Iterator[Any]:
    """Download wheels as pip does, and let it know that they are on the disk."""
    for link, (path, kind) in download(links, location):
        if link.is_wheel:
            preparer._downloaded[link.url] = path
        yield link, (path, kind)


def _prove(_pip: Pip, _options: CommandOptions, wheels: WholeWheels) -> bool:
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
