"""Which plugin packages the user trusts: their names, versions, and where they may come from."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from pipvariant.errors import InvalidOption
from pipvariant.providers.answers import TRUST_OPTION
from pipvariant.standard.bounds import has_long_number

if TYPE_CHECKING:
    from packaging.requirements import Requirement
    from packaging.specifiers import Specifier, SpecifierSet


class _Grant(NamedTuple):
    """One word of the user's.

    :param place: where the package may come from, as `same_place` writes it; empty for anywhere.
    """

    versions: SpecifierSet
    place: str


class Trust:
    """What the user trusts.

    :param words: ``PACKAGE``, ``PACKAGE==VERSION`` or any other version specifiers (PEP 440), each
        with ``@INDEX`` if it is trusted from there only. If a package is named several times, all
        that is said about it has to hold, for each index for itself.
    :raises InvalidOption: a word is something else.
    """

    def __init__(self, words: Iterable[str]) -> None:
        from packaging.utils import canonicalize_name

        self._grants: dict[str, list[_Grant]] = {}
        for word in words:
            name, grant = _read(word)
            self._grants.setdefault(canonicalize_name(name), []).append(grant)

    def versions(self, name: str, place: str) -> SpecifierSet | None:
        """Say which versions of a package from a place are trusted; None if the package is not.

        :param name: the normalised name of the package.
        :param place: the URL of an index, or of a page or folder of files; empty for none.
        """
        grants = self._grants.get(name, [])
        # What is configured may be no URL.
        with contextlib.suppress(ValueError):
            place = place and same_place(place)
        here = [grant for grant in grants if grant.place in ("", place)]
        places = {grant.place for grant in grants} - {""}
        if not here or (places and place not in places):
            return None
        return functools.reduce(operator.and_, (grant.versions for grant in here))


def trust_option(requirement: Requirement, places: Sequence[str] = ()) -> str:
    """Return the option that trusts no more than what is required, to be pasted into a shell.

    :param places: where the package may come from; only one can be named in the option.
    """
    from packaging.utils import canonicalize_name

    word: str = canonicalize_name(requirement.name)
    word += next((str(each) for each in requirement.specifier if _is_exact(each)), "")
    if len(places) == 1 and not re.search(r"\s", places[0]):
        word += f"@{places[0]}"
    return f"{TRUST_OPTION} {shlex.quote(word)}"


def same_place(place: str) -> str:
    """Write a URL or path so that equal places are equal texts, without user and password.

    :raises ValueError: it is no URL.
    """
    if "://" not in place and not place.startswith("file:"):
        place = Path(os.path.abspath(place)).as_uri()
    parts = urlsplit(place)
    host = parts.netloc.rpartition("@")[2].lower()
    path = unquote(parts.path).rstrip("/")
    return f"{parts.scheme}://{host}{path}" + (f"?{parts.query}" if parts.query else "")


def _read(word: str) -> tuple[str, _Grant]:
    from packaging.requirements import InvalidRequirement, Requirement

    what, at, place = word.partition("@")
    try:
        requirement = Requirement(what)
        if (
            # With extras or a marker there is more to it than a name and versions.
            str(requirement) != f"{requirement.name}{requirement.specifier}"
            or has_long_number(what)
            # With a space it is what a requirement by a URL looks like.
            or (at and (not place or re.search(r"\s", word)))
        ):
            raise ValueError
        return requirement.name, _Grant(_pinned(requirement), same_place(place) if at else "")
    except (InvalidRequirement, ValueError):
        # An index may come with a password.
        shown = re.sub(r"//[^/]*@", "//****@", word)
        raise InvalidOption(
            f"{shown!r} names no package",
            where=TRUST_OPTION,
            remedy="Give the name of a plugin package, and if wanted its version and the URL of "
            "its index: PACKAGE==VERSION@INDEX.",
        ) from None


def _pinned(requirement: Requirement) -> SpecifierSet:
    """Leave local versions out of ``==1.0``, which PEP 440 counts in: ``1.0+local``."""
    from packaging.specifiers import SpecifierSet
    from packaging.version import Version

    return SpecifierSet(
        ",".join(
            f"==={Version(each.version)}" if _is_exact(each) else str(each)
            for each in requirement.specifier
        )
    )


def _is_exact(specifier: Specifier) -> bool:
    return specifier.operator == "==" and not specifier.version.endswith(".*")
