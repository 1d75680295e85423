"""Which folder of pip's cache a built wheel is kept in, and which one serves instead of a build."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.shim.building.built_wheels import NOTE, BuiltWheels
from pipvariant.shim.core import samples
from pipvariant.shim.core.pip_versions import this_pip
from pipvariant.shim.core.state import CommandOptions, UserConstraints
from pipvariant.shim.resolving.decisions import Decisions


class Cache:
    """pip's cache in a folder, and builds in environments that hold `proof`, or nothing."""

    def __init__(self, folder: Path) -> None:
        options = CommandOptions(ignores_installed=True)
        self.built = BuiltWheels(options, UserConstraints(), Decisions())
        self.cache: Any = import_module("pip._internal.cache").SimpleWheelCache(
            str(folder / "cache"), *this_pip().wheel_cache_arguments
        )
        self.plain = folder / "plain"
        self._libraries = folder / "libraries"

    def keep(self, **files: str) -> str:
        """Return where a build is kept that sees these files in .dist-info of a requirement."""
        info = self._libraries / str(len(list(self._libraries.glob("*")))) / "proof-1.0.dist-info"
        if files:
            info.mkdir(parents=True)
        for name, text in files.items():
            (info / name.replace("_", ".")).write_text(text)
        environment = SimpleNamespace(lib_dirs=[str(info.parent)])
        req = samples.requirement_at("made-1.0.tar.gz", build_env=environment)
        return self.built.keep(req, self.cache, str(self.plain))


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    """An empty one."""
    return Cache(tmp_path)


OTHER = samples.VARIANT.replace('"proof": {"proof": {"proof"', '"other": {"proof": {"proof"')


def test_each_label_has_a_folder_that_plain_pip_does_not_know(cache: Cache) -> None:
    one, other = cache.keep(variant_json=samples.VARIANT), cache.keep(variant_json=OTHER)
    assert len({str(cache.plain), one, other}) == 3
    assert cache.keep(variant_json=samples.VARIANT) == one
    assert not cache.built.is_taken(one)


def test_without_labels_it_is_plain_pips_and_noted_what_it_requires(cache: Cache) -> None:
    assert not cache.built.is_taken(str(cache.plain))
    assert cache.keep() == cache.keep(METADATA=samples.METADATA) == str(cache.plain)
    assert json.loads((cache.plain / NOTE).read_text()) == [samples.NAME]
    assert cache.built.is_taken(str(cache.plain))
    cache.built.decisions.last_label[samples.NAME] = "label"
    assert not cache.built.is_taken(str(cache.plain))
    cache.built.user.no_variant = True
    assert cache.built.is_taken(str(cache.plain))


@pytest.mark.parametrize("file", ("variant_json", "variants_json"))
def test_where_there_are_labels_to_choose_from_the_note_goes(cache: Cache, file: str) -> None:
    cache.keep()
    labelled = cache.keep(**{file: samples.VARIANT})
    assert (labelled == str(cache.plain)) == (file == "variants_json")
    assert not cache.built.is_taken(str(cache.plain))


@pytest.mark.parametrize("note", ("", "{", "1", "[[1]]"))
def test_a_note_that_says_nothing_is_none(cache: Cache, note: str) -> None:
    cache.plain.mkdir()
    (cache.plain / NOTE).write_text(note)
    assert not cache.built.is_taken(str(cache.plain))
