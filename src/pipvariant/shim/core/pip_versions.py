"""Everything that differs between pip releases, each difference named once.

A difference is asked for as a question ("where is ...") and answered by major and minor
version, so that a development build counts as the release it becomes.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from pipvariant.errors import UnsupportedPip

OLDEST = (22, 2)
NEWEST = (26, 3)


class Pip(NamedTuple):
    """The pip of this environment: ``version`` as (major, minor), ``text`` as pip writes it."""

    version: tuple[int, int]
    text: str

    @property
    def is_newer(self) -> bool:
        """Whether it came after the newest known release, whose places are then looked for."""
        return self.version > NEWEST

    @property
    def runnable(self) -> tuple[str, ...]:
        """Where pip asks for the file that a pip in a child process is started with.

        First where it is defined, then the modules that copy the name when they are imported:
        one that every command needs, and those that have been imported already.
        """
        if self.version < (22, 3):
            return ("pip._internal.build_env:_get_runnable_pip",)
        home = "build_env" if self.version < (26, 2) else "utils.misc"
        copies = ["cli.main_parser"]
        if "pip._internal.build_env.installer" in sys.modules and self.version >= (26, 2):
            copies.append("build_env.installer")
        return tuple(f"pip._internal.{module}:get_runnable_pip" for module in (home, *copies))

    @property
    def has_strict_filenames(self) -> bool:
        """Whether a dash ends the platform part of a wheel filename.

        Up to 22.2 the pattern lets dashes into it where it is a set of platforms.
        """
        return self.version >= (22, 3)

    @property
    def has_metadata_files(self) -> bool:
        """Whether pip reads the separate ``.metadata`` files of an index (PEP 658)."""
        return self.version >= (22, 3)

    @property
    def keeps_pages(self) -> bool:
        """Whether a page can come out of pip's cache without the server being asked."""
        return self.version >= (26, 2)

    @property
    def filename_parsers(self) -> tuple[str, ...]:
        """Modules that split wheel filenames by themselves, without the ``Wheel`` class."""
        parsers = []
        # From 24.0 a --find-links folder is scanned by name.
        if self.version >= (24, 0):
            parsers.append("pip._internal.index.sources:parse_wheel_filename")
        # From 26.1 requirements can come from a lock file, which has wheel filenames in it.
        if self.version >= (26, 1):
            parsers.append("pip._internal.req.constructors:parse_wheel_filename")
            parsers.append("pip._vendor.packaging.pylock:parse_wheel_filename")
        return tuple(parsers)

    @property
    def inprocess_builds(self) -> str | None:
        """What installs build requirements without a child process; None where nothing can."""
        if self.version < (26, 0):
            return None
        module = "build_env.installer" if self.version >= (26, 2) else "build_env"
        return f"pip._internal.{module}:InprocessBuildEnvironmentInstaller.install"

    @property
    def reads_locks(self) -> bool:
        """Whether requirements can come from a ``pylock.toml``."""
        return self.version >= (26, 1)

    @property
    def select_arguments(self) -> dict[str, Any]:
        """What pip's reader of a lock file wants beside its place and the session."""
        # From 26.3 the reader itself knows --no-binary.
        return {"format_control": None} if self.version >= (26, 3) else {}

    @property
    def resolver_arguments(self) -> dict[str, Any]:
        """What pip's resolvers want to be told beside what all of them want."""
        return {"only_dependencies": False} if self.version >= (26, 2) else {}

    @property
    def wheel_cache_arguments(self) -> tuple[Any, ...]:
        """What pip's cache of wheels wants beside its folder."""
        if self.version >= (23, 1):
            return ()
        return (import_module("pip._internal.models.format_control").FormatControl(),)

    @property
    def writes_locks_as_text(self) -> bool:
        """Whether a lock file comes out of pip's own classes as text (25.1 to 25.3).

        From 26.0 it comes out of the classes of packaging as a dictionary.
        """
        return self.version < (26, 0)

    @property
    def lock_writer(self) -> str:
        """Where the content of a lock file comes from; there is none before 25.1."""
        if self.writes_locks_as_text:
            return "pip._internal.models.pylock:Pylock.as_toml"
        return "pip._vendor.packaging.pylock:Pylock.to_dict"


def this_pip() -> Pip:
    """Look at the pip of this environment.

    :raises UnsupportedPip: when there is none, it is older than the known releases, or this Python
        is older than it supports.
    """
    try:
        module = import_module("pip")
        text = str(getattr(module, "__version__", "of unknown version"))
    except ImportError as error:
        raise UnsupportedPip(
            "there is no pip in this environment",
            remedy="Install one with `python -m ensurepip`.",
        ) from error
    if _version_of(text) < OLDEST:
        raise unsupported(text, "is not a pip that pip-variant knows")
    folder = os.path.dirname(module.__file__ or "")
    needed, running = needed_python(folder), sys.version_info[:2]
    if running < needed:
        raise UnsupportedPip(
            f"pip {text} does not support Python {_dotted(running)}, it needs {_dotted(needed)}",
            remedy="Use a newer Python, or an older pip.",
        )
    return Pip(_version_of(text), text)


def needed_python(folder: str) -> tuple[int, ...]:
    """Read which Python pip needs, where it tells a child process; nothing if it does not.

    :param folder: that of the package.
    """
    # It comes from a file, because --python starts this pip with a Python that never installed it.
    path = os.path.join(folder, "__pip-runner__.py")
    try:
        with open(path, encoding="utf-8") as stream:
            match = re.search(r"^PYTHON_REQUIRES = \((\d+), (\d+)\)", stream.read(), re.MULTILINE)
    except OSError:
        return ()
    return tuple(map(int, match.groups())) if match else ()


def _dotted(version: Iterable[int]) -> str:
    return ".".join(map(str, version))


def _version_of(text: str) -> tuple[int, int]:
    major, _, rest = text.partition(".")
    return _leading_number(major), _leading_number(rest)


def _leading_number(text: str) -> int:
    digits = text[: len(text) - len(text.lstrip("0123456789"))]
    return int(digits or 0)


def unsupported(found: str, what: str) -> UnsupportedPip:
    """Make the error for a pip that cannot be patched: the pip found, the range, the way out."""
    way_out = "a newer pip-variant may know this pip"
    if (0, 0) < _version_of(found) < OLDEST:
        way_out = "`python -m pip install -U pip` brings a newer one"
    return UnsupportedPip(
        f"pip {found} {what}; pip-variant works with pip {_known_range()}",
        remedy="Nothing was done. Plain `pip` works as always (without variant wheels); "
        f"{way_out}.",
    )


def tags_of(target_python: Any) -> Iterable[Any]:
    """Return the tags that a target supports, in any order."""
    # From 23.3 there is a set of them.
    unsorted = getattr(target_python, "get_unsorted_tags", None)
    return cast("Iterable[Any]", (unsorted or target_python.get_tags)())


@contextlib.contextmanager
def as_expected(pip: Pip) -> Iterator[None]:
    """Refuse a newer pip that lacks anything else that is taken for granted.

    :raises UnsupportedPip: in the place of an error that says so.
    """
    try:
        yield
    except (ImportError, AttributeError, KeyError, TypeError) as error:
        if not pip.is_newer:
            raise
        raise unsupported(pip.text, f"does not work as expected ({error!r})") from error


def newer_warning(pip: Pip) -> str:
    """Word that a pip is newer than the known ones, and that all patches are proven in it."""
    return (
        f"pip {pip.text} is newer than those that pip-variant was tested with ({_known_range()});"
        " all that it replaces was found there and has the expected effect"
    )


def _known_range() -> str:
    return f"{_dotted(OLDEST)} to {_dotted(NEWEST)}"


def makes_links_of_json(pip: Pip) -> bool:
    """Say whether links of a JSON page are made by a method; in 22.2 the reader makes them."""
    return pip.version >= (22, 3)


def forgets_wheels(pip: Pip) -> bool:
    """Say whether a wheel of which the metadata was read first is downloaded twice."""
    return pip.version < (23, 2)


def metadata_fetcher(pip: Pip) -> str:
    """Name the method that looks for the metadata of a wheel before pip downloads the wheel."""
    return "_fetch_metadata_using_lazy_wheel" if pip.version < (22, 3) else "_fetch_metadata_only"


def link_wanted(wanted: Any) -> Any:
    """Return the link of what that method is called with: up to 22.2 it is the link itself."""
    return getattr(wanted, "link", wanted)


def page_of(link: Any) -> str | None:
    """Return the URL of the page that a link is from, None if it is from no page."""
    # In 22.2 a link can carry the page itself instead of its URL.
    return cast("str | None", getattr(link.comes_from, "url", link.comes_from))


def hashes_of(link: Any) -> Mapping[str, str]:
    """Return the hashes that the source of a link gives, by their name."""
    hashes = getattr(link, "_hashes", None) or {}
    if not hashes and link.hash_name:
        # In 22.2 the hash of a link of an HTML page stands in its URL only.
        hashes = {link.hash_name: link.hash}
    return hashes


def build_folders(build_environment: Any) -> list[str] | None:
    """Return where the packages of a build are, None where it sees those of this environment."""
    # Up to 26.1 the name has an underscore.
    for name in ("lib_dirs", "_lib_dirs"):
        if hasattr(build_environment, name):
            return cast("list[str]", getattr(build_environment, name))
    return None


def entry_point(pip: Pip) -> Callable[[list[str]], int]:
    """Return pip's own main function, which takes the arguments and returns the exit code."""
    module: Any = import_module("pip._internal.cli.main")
    # From 26.3 `cli` is the entry of a process that ends with pip; it blocks late imports.
    main = module.cli if pip.version >= (26, 3) else module.main
    return cast("Callable[[list[str]], int]", main)
