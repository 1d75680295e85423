"""The project ``proof``, in objects that pip's own classes make, for proofs to ask pip about.

A proof that makes up by itself what pip hands on holds for a pip that hands on something else.
Nothing here is fetched, written or built.
"""

from __future__ import annotations

import functools
import io
import sys
import zipfile
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import UserConstraints, aside

FACTORY = "pip._internal.resolution.resolvelib.factory"
NAME = "proof"
#: Files of one version, with different labels.
WHEELS = ("proof-1.0-py3-none-any-a.whl", "proof-1.0-py3-none-any-b.whl")
METADATA = "Metadata-Version: 2.1\nName: proof\nVersion: 1.0\n"
VARIANT = (
    '{"$schema": "https://proof.invalid/v0.2.0.json", "default-priorities": {"namespace": '
    '["proof"]}, "providers": {"proof": {"requires": ["proof"]}}, "variants": {"proof": '
    '{"proof": {"proof": ["1"]}}}}'
)


class Reached(Exception):
    """pip has reached the place of a proof, with these arguments, and is to do nothing more."""


def url(filename: str) -> str:
    """Return a place for a file that nobody can look at."""
    return f"https://proof.invalid/{filename}"


class _Session:
    """All that pip's finder asks of a session where no page is to be fetched."""

    refresh_package: frozenset[str] = frozenset()

    def is_secure_origin(self, location: Any) -> bool:
        return False


def finder(*filenames: str) -> Any:
    """Return a finder of pip to which these files were given by URL."""
    module: Any = import_module("pip._internal.index.package_finder")
    preferences: Any = import_module("pip._internal.models.selection_prefs").SelectionPreferences
    options = SimpleNamespace(
        index_url="", extra_index_urls=[], no_index=True, find_links=[*map(url, filenames)]
    )
    collector: Any = import_module("pip._internal.index.collector").LinkCollector
    return module.PackageFinder.create(
        link_collector=collector.create(_Session(), options),
        selection_prefs=preferences(allow_yanked=True),
        target_python=_target_python(),
    )


@functools.cache
def _target_python() -> Any:
    # The tags of this machine are many and take their time.
    module: Any = import_module("pip._internal.models.target_python")
    return module.TargetPython(["any"], (3,), ["none"], "py")


def requirement(text: str = NAME, **attributes: Any) -> Any:
    """Return what pip makes of a requirement that a user has given."""
    module: Any = import_module("pip._internal.req.constructors")
    made = module.install_req_from_line(text, user_supplied=True)
    vars(made).update(attributes)
    return made


def requirement_at(filename: str, **attributes: Any) -> Any:
    """Return what pip makes of a requirement that names a file by its URL."""
    return requirement(f"{NAME} @ {url(filename)}", **attributes)


def factory(finder: Any, installed: Any = None) -> Any:
    """Return a factory of pip; in place of a candidate for a file it has the link at hand."""
    module: Any = import_module(FACTORY)
    made = _made(module.Factory, finder=finder, preparer=_preparer(installed))
    for found in finder.find_all_candidates(NAME):
        made._link_candidate_cache[found.link] = found.link
    if installed is not None:
        made._installed_dists[NAME] = installed
    return made


def matches(factory: Any, requirement: Any, *, upgrade: bool = True) -> Any:
    """Return the sequence of candidates that pip's factory makes for its resolver."""
    provider: Any = import_module("pip._internal.resolution.resolvelib.provider").PipProvider
    collected = factory.collect_root_requirements([requirement])
    asked = provider(
        factory=factory,
        constraints=collected.constraints,
        ignore_dependencies=True,
        upgrade_strategy="only-if-needed" if upgrade else "to-satisfy-only",
        user_requested=collected.user_requested,
        **this_pip().resolver_arguments,
    )
    return asked.find_matches(NAME, {NAME: iter(collected.requirements)}, {NAME: iter(())})


def resolver(module: str, finder: Any, installed: Any = None) -> Any:
    """Return a resolver of pip; the new one knows what is installed."""
    made = _made(
        import_module(module).Resolver,
        finder=finder,
        preparer=_preparer(installed),
        ignore_dependencies=True,
        upgrade_strategy="to-satisfy-only",
        **this_pip().resolver_arguments,
    )
    if installed is not None:
        # The legacy resolver has each requirement look for what is installed.
        made.ignore_installed = False
        if hasattr(made, "factory"):
            made.factory._installed_dists[NAME] = installed
    return made


def _made(make: Callable[..., Any], **arguments: Any) -> Any:
    """Make what would look for the tags of this machine, which are many, without any."""
    factory: Any = sys.modules.get(FACTORY, SimpleNamespace())
    with aside(factory, get_supported=list):
        return make(
            make_install_req=None,
            wheel_cache=None,
            use_user_site=False,
            force_reinstall=False,
            ignore_installed=True,
            ignore_requires_python=False,
            **arguments,
        )


def _preparer(prepared: Any = None) -> Any:
    """Return what pip's resolvers have files prepared by: nothing is to be prepared."""

    def prepare(*args: Any, **kwargs: Any) -> Any:
        return prepared

    return SimpleNamespace(
        require_hashes=False,
        prepare_installed_requirement=prepare,
        prepare_linked_requirement=prepare,
        prepare_linked_requirements_more=prepare,
    )


def wheel_cache(folder: str) -> Any:
    """Return a cache of pip for built wheels that has those of every link in one folder."""
    make: Any = import_module("pip._internal.cache").SimpleWheelCache
    made = make(folder, *this_pip().wheel_cache_arguments)
    made.get_path_for_link = lambda link: folder
    return made


class _Archive(dict[str, str]):
    """As much of a ``zipfile.ZipFile`` as pip asks of a wheel, from name to text."""

    filename = None

    def namelist(self) -> list[str]:
        return list(self)

    def getinfo(self, name: str) -> zipfile.ZipInfo:
        info = zipfile.ZipInfo(name)
        info.file_size = len(self[name])
        return info

    def open(self, info: zipfile.ZipInfo) -> io.BytesIO:
        return io.BytesIO(self.read(info.filename))

    def read(self, name: str) -> bytes:
        return self[name].encode()

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def archive(metadata: str = METADATA, variant: str = "") -> _Archive:
    """Return a wheel that is open, without a name."""
    files = {"METADATA": metadata, "WHEEL": "Wheel-Version: 1.0\n", "variant.json": variant}
    return _Archive({f"proof-1.0.dist-info/{name}": text for name, text in files.items() if text})


def read_wheel(archive: _Archive) -> Any:
    """Return what pip makes of the metadata of a wheel."""
    wheel = SimpleNamespace(location="proof.whl", as_zipfile=lambda: archive)
    return import_module("pip._internal.metadata").get_wheel_distribution(wheel, NAME)


def distribution(user: UserConstraints, metadata: str = METADATA, *, variant: bool = False) -> Any:
    """Return the same, with no patch having a part in it.

    With ``--no-variant`` nothing is done to metadata without variant markers. Whoever proves what
    becomes of the markers has to set aside what rewrites them.

    :param variant: it has a ``variant.json``, with the label ``proof``.
    """
    with aside(user, no_variant=True):
        made = read_wheel(archive(metadata, VARIANT if variant else ""))
    # What is installed has a folder; pip reads the name from it, without parsing the file.
    if hasattr(made._dist, "info_location"):
        made._dist._path = made._dist.info_location
    else:
        made._dist.egg_info = "proof-1.0.dist-info"
    return made


def names_used(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names that a function of pip looks up when it runs.

    For what cannot be run here: it would write, or start a process.
    """
    names: tuple[str, ...] = function.__code__.co_names
    return names
