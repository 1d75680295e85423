"""``variant lint``: what is wrong with wheels, metadata, folders and the pages of an index."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from typing import IO, Any, TextIO

from pipvariant.authoring.lint import ERROR, RULES, Finding, Page, find_faults
from pipvariant.commands.output import write_json, write_line
from pipvariant.errors import InvalidOption, PipVariantError, Unreachable, Unread
from pipvariant.shim.finding.download import (
    Budget,
    PartsUnsupported,
    Unusable,
    error_phrase,
    fetch,
    fetch_errors,
    open_parts,
    open_response,
    receive,
)
from pipvariant.shim.options.definitions import add_named

#: Of what ``--json`` prints; it changes when a reader would have to.
SCHEMA_VERSION = 1
PAGE_TYPES = "application/vnd.pypi.simple.v1+json, text/html;q=0.5, */*;q=0.1"


def add_options(group: Any) -> None:
    """Add the options of ``variant lint``."""
    add_named(group, ("--json",))


def run_lint(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print what is wrong; return 1 when an error is among it.

    :raises InvalidOption: a path is not there, or of another kind.
    """
    if not args:
        raise InvalidOption("which files, folders or URLs? None is named")
    findings = find_faults(args, Remote(options))
    errors = sum(RULES[finding.rule].severity == ERROR for finding in findings)
    if options.json:
        entries = list(map(_finding_entry, findings))
        write_json(out, {"version": SCHEMA_VERSION, "findings": entries})
    else:
        for finding in findings:
            write_line(out, _finding_line(finding))
        counted = f"Errors: {errors}, warnings: {len(findings) - errors}."
        write_line(out, counted if findings else "Nothing is wrong.")
    return int(errors > 0)


def _finding_entry(finding: Finding) -> dict[str, str]:
    rule = RULES[finding.rule]
    return {
        "file": finding.file,
        "place": finding.place,
        "rule": finding.rule,
        "severity": rule.severity,
        "title": rule.title,
        "message": finding.message,
        "remedy": rule.remedy,
    }


def _finding_line(finding: Finding) -> str:
    rule = RULES[finding.rule]
    where = f"{finding.file}: {finding.place}" if finding.place else finding.file
    return f"{where}: {rule.severity} {finding.rule}: {finding.message}. {rule.remedy}"


class Remote:
    """The `Source` that reads over pip's session, bounded in bytes and in time.

    :param options: pip's own options: proxies, certificates, timeouts.
    """

    def __init__(self, options: Any) -> None:
        self._options = options

    @cached_property
    def _session(self) -> Any:
        commands: Any = import_module("pip._internal.cli.req_command")
        mixin = commands.SessionCommandMixin()
        return mixin._build_session(self._options)  # noqa: SLF001  # pip has no public interface

    def page(self, url: str) -> Page:
        """Return a page of a simple index, in either form."""
        with self._faults():
            headers = {"Accept": PAGE_TYPES, "Cache-Control": "max-age=0"}
            budget = Budget()
            with open_response(self._session, _link_to(url), headers, budget) as response:
                return Page(response.url, receive(self._session, response, budget))

    def read(self, url: str) -> bytes:
        """Return a small file."""
        with self._faults():
            return fetch(self._session, _link_to(url), Budget(), is_new=True).data

    @contextmanager
    def wheel(self, url: str) -> Iterator[IO[bytes]]:
        """Return a stream that asks for parts of a wheel, or has all where a server sends none."""
        with self._faults():
            budget = Budget()
            try:
                stream = open_parts(self._session, url, budget)
            except PartsUnsupported:
                stream = self._whole(url, budget)
            try:
                with stream:
                    yield stream
            except Unusable as error:
                raise Unread(str(error)) from error

    def _whole(self, url: str, budget: Budget) -> IO[bytes]:
        head = functools.partial(self._session.head, url, allow_redirects=True)
        with budget.within(self._session, head) as response:
            if response.status_code in (404, 410):
                raise Unreachable(f"the server answered {response.status_code} {response.reason}")
        try:
            return io.BytesIO(fetch(self._session, _link_to(url), budget, is_new=True).data)
        except Unusable as error:
            raise Unread(f"the server does not send parts of it, and {error}") from error

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except PipVariantError:
            raise
        except PartsUnsupported as error:
            raise Unreachable("the server does not send parts of it as it should") from error
        except Unusable as error:
            raise Unreachable(str(error)) from error
        except fetch_errors() as error:
            raise Unreachable(error_phrase(error)) from error


def _link_to(url: str) -> Any:
    return import_module("pip._internal.models.link").Link(url)
