"""Files of a project page that the target cannot use, told by their names alone.

A page lists the files of all platforms; most of them are of no use here. A file whose name is not
plain, or that anything else than its tags decides about, is left to the installer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum

from pipvariant.errors import InvalidFilename
from pipvariant.standard.filename import check_label


class Use(Enum):
    """What a filename says of a file."""

    #: The installer has to look at it.
    POSSIBLE = 0
    #: It is a non-variant wheel for other tags, or of another kind than what is installed.
    NONE = 1
    #: It is a variant wheel for other tags.
    VARIANT_OF_OTHER_TAGS = 2


_NAME = r"[A-Za-z0-9]+(?:[._][A-Za-z0-9]+)*"
_VERSION = (
    r"[0-9]+(?:\.[0-9]+)*(?:(?:a|b|rc)[0-9]+)?(?:\.post[0-9]+)?(?:\.dev[0-9]+)?"
    r"(?:(?:\+|%2B)[a-z0-9]+(?:\.[a-z0-9]+)*)?"
)
_REST = r"[A-Za-z0-9_.]+(?:-[A-Za-z0-9_.]+){2,4}"
_FRAGMENT = r"(?:#sha256=[0-9a-f]+)?"
#: An anchor as indexes write it: the file first, plain attributes, no markup in its text.
_ANCHOR = rb'(?<=[\s>])<a href="([^"<>&\s]*)"((?: [a-z-]+="[^"]*")*)>[^<>]*</a>'
#: Endings of files that no installer of today takes.
_OTHER_KINDS = (".egg", ".exe", ".msi", ".rpm")


class PageFilter:
    """Tells the use of files for one target.

    :param is_compatible: says whether the target supports a tag set, written as in filenames;
        asked once for each that occurs.
    """

    def __init__(self, is_compatible: Callable[[str], bool]) -> None:
        self._is_compatible = is_compatible
        self._wheel = re.compile(f"{_NAME}-{_VERSION}-({_REST})\\.whl{_FRAGMENT}").fullmatch
        self._tags: dict[str, bool] = {}
        #: What stands behind the version -> its use.
        self._uses: dict[str, Use] = {}

    def use(self, url: str) -> Use:
        """Return the use of the file at a URL, which may be relative."""
        filename = url[url.rfind("/") + 1 :]
        match = self._wheel(filename)
        if match is None:
            return Use.NONE if filename.endswith(_OTHER_KINDS) else Use.POSSIBLE
        rest = match[1]
        use = self._uses.get(rest)
        if use is None:
            use = self._uses[rest] = self._use(rest)
        return use

    def _use(self, rest: str) -> Use:
        parts = rest.split("-")
        # A build tag starts with a digit, and a python tag never does.
        if parts[0][0].isdigit():
            del parts[0]
        labels = parts[3:]
        try:
            if len(parts) < 3 or len(labels) > 1 or (labels and not check_label(labels[0])):
                return Use.POSSIBLE
        except InvalidFilename:
            return Use.POSSIBLE
        tags = "-".join(parts[:3])
        if tags not in self._tags:
            self._tags[tags] = self._is_compatible(tags)
        if self._tags[tags]:
            return Use.POSSIBLE
        return Use.VARIANT_OF_OTHER_TAGS if labels else Use.NONE


def without_anchors(page: bytes, leaves_out: Callable[[str], bool]) -> bytes:
    """Return an HTML page without the anchors of some files.

    An anchor that is not as indexes write it, or says that its file was yanked, stays.

    :param leaves_out: says of a URL, in the order of the page, whether its anchor goes.
    """

    def kept(anchor: re.Match[bytes]) -> bytes:
        stays = b"data-yanked" in anchor[2] or not leaves_out(anchor[1].decode("latin-1"))
        return anchor[0] if stays else b""

    return re.sub(_ANCHOR, kept, page)
