"""Where plugin packages come from, and what the pip that installs them is told."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipvariant.errors import InvalidOption
from pipvariant.providers import probe_cache
from pipvariant.providers.plugins import Plugins
from pipvariant.shim.building.plugin_installer import _Installer, _Places, _variables, plugins_of
from pipvariant.shim.core.state import CommandOptions, TargetOptions
from pipvariant.shim.finding.index import IndexState

MAIN = "https://user:s3cr3t@index.invalid/simple"
MORE = "https://index.invalid/simple/more/"
LINKS = "https://files.invalid/wheels.html"


def installer_with(indexes: list[str], links: list[str]) -> _Installer:
    index = IndexState()
    scope = SimpleNamespace(index_urls=indexes, find_links=links)
    index.finder = SimpleNamespace(search_scope=scope)
    return _Installer(None, "", index)


def plugins(**options: Any) -> Plugins:
    return plugins_of(TargetOptions(**options), CommandOptions(), IndexState())


@pytest.mark.parametrize(
    ("source", "indexes", "links"),
    (
        ("https://index.invalid/simple/tri/", (MAIN,), ()),
        ("https://index.invalid/simple/more/tri/", (MORE,), ()),
        (LINKS, (), (LINKS,)),
        ("file:///srv/wheels", (), ("file:///srv/wheels",)),
        # A page that pip was sent to from elsewhere: its own folder, and no other index.
        ("https://mirror.invalid/pypi/tri/", ("https://mirror.invalid/pypi/",), ()),
        ("", (MAIN, MORE), (LINKS,)),
    ),
)
def test_the_place_of_a_source_is_the_one_that_it_belongs_to(
    source: str, indexes: tuple[str, ...], links: tuple[str, ...]
) -> None:
    installer = installer_with([MAIN, MORE], [LINKS])
    assert installer._places(source) == (indexes, links)


def test_an_only_index_is_the_place_wherever_it_sends_pip() -> None:
    installer = installer_with([MAIN], [])
    assert installer._places("https://mirror.invalid/pypi/tri/") == ((MAIN,), ())


def test_a_folder_is_the_same_by_path_and_by_url(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    installer = installer_with([], [str(folder)])
    assert installer._places(folder.as_uri()) == ((), (folder.as_uri(),))


def test_the_places_that_are_shown_have_no_password() -> None:
    assert installer_with([MAIN], [LINKS]).places("") == ["https://index.invalid/simple", LINKS]


def test_without_a_search_the_configuration_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_INDEX_URL", MAIN)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", MORE)
    monkeypatch.setenv("PIP_FIND_LINKS", LINKS)
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    installer = _Installer(SimpleNamespace(), "", IndexState())
    assert installer._places("") == ((MAIN, MORE), (LINKS,))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert installer._places("") == ((), (LINKS,))


def test_the_child_knows_the_network_and_nothing_else_of_the_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PIP_CONSTRAINT", "PIP_TARGET", "PIP_USER", "PIP_REQUIRE_HASHES", "PIP_NO_DEPS"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid")
    options: Any = SimpleNamespace(
        cert="/ca.pem",
        client_cert=None,
        proxy="http://user:s3cr3t@proxy.invalid",
        retries=0,
        timeout=7,
        trusted_hosts=["a", "b"],
        keyring_provider="subprocess",
        features_enabled=["truststore", "fast-deps"],
        cache_dir="/cache",
    )
    found = _variables(options, _Places((MAIN, MORE), ()))
    pip = {name: value for name, value in found.items() if name.startswith("PIP_")}
    assert pip == {
        "PIP_CACHE_DIR": "/cache",
        "PIP_CERT": "/ca.pem",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_EXTRA_INDEX_URL": MORE,
        "PIP_INDEX_URL": MAIN,
        "PIP_KEYRING_PROVIDER": "subprocess",
        "PIP_NO_INPUT": "1",
        "PIP_PROXY": "http://user:s3cr3t@proxy.invalid",
        "PIP_RETRIES": "0",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PIP_TIMEOUT": "7",
        "PIP_TRUSTED_HOST": "a b",
        "PIP_USE_FEATURE": "truststore",
    }
    assert found["HTTPS_PROXY"] == "http://proxy.invalid"


def test_without_an_index_only_the_links_are_looked_at() -> None:
    found = _variables(SimpleNamespace(cache_dir=False), _Places((), (LINKS,)))
    assert (found["PIP_NO_INDEX"], found["PIP_FIND_LINKS"]) == ("1", LINKS)
    assert found["PIP_NO_CACHE_DIR"] == "1"
    assert "PIP_INDEX_URL" not in found


def test_words_that_name_no_package_are_refused() -> None:
    with pytest.raises(InvalidOption):
        plugins(trusted=("a b",))


@pytest.mark.parametrize("cache", (False, None, "/cache"))
def test_environments_are_kept_where_pip_may_keep_caches(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: object
) -> None:
    monkeypatch.setattr(probe_cache, "cache_folder", lambda environ: tmp_path / "probes")
    made = plugins(pip_options=SimpleNamespace(cache_dir=cache))
    assert made.folder == (tmp_path / "plugins" if cache else None)
