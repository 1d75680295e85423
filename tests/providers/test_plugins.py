"""Plugins: what trust means, what is asked how often, and what is made of the answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipvariant.errors import ProbeFailed
from pipvariant.providers.answers import Origin
from pipvariant.providers.plugins import Config, Plugins
from pipvariant.standard.metadata import Provider

A, B = "https://a.invalid/simple", "https://b.invalid/simple"
PROVIDER = Provider(requires=("Acme_Provider>=1",), plugin_api="acme:Plugin")
HEAD = """
class Config:
    def __init__(self, name, values, multi_value=False):
        self.name, self.values, self.multi_value = name, values, multi_value
class Plugin:
    namespace = "acme"
"""
FINE = """
    def get_supported_configs(self):
        open(__file__ + ".asked", "a").write("x")
        return [Config("speed", ["high", "low"]), Config("size", [], True)]
    def get_all_configs(self):
        return [Config("speed", ["high", "low", "no"], True)]
"""


class Installer:
    """Writes one module into the folder; without a source it comes from one of two indexes."""

    def __init__(self, body: str = FINE) -> None:
        self.body = body
        self.calls: list[tuple[object, ...]] = []
        self.sites: list[Path] = []
        self.fault = ""

    def places(self, source: str) -> Sequence[str]:
        return [source.rpartition("/")[0]] if source else [A, B]

    def install(
        self, requirements: Sequence[str], folder: Path, source: str, places: Sequence[str]
    ) -> Sequence[str]:
        self.calls.append((list(requirements), *places))
        if self.fault:
            raise ProbeFailed(self.fault)
        self.sites.append(folder)
        (folder / "acme.py").write_text(HEAD + self.body)
        return ["a-helper 2.0", "acme-provider 1.5"]


Make = Callable[..., Plugins]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def make(installer: Installer, *trusted: str, refresh: bool = False) -> Plugins:
        words = trusted or ("acme-provider",)
        return Plugins(words, installer, folder=tmp_path / "kept", environ={}, refresh=refresh)

    return make


# Trust


def test_a_plugin_that_is_not_trusted_is_not_installed(make: Make) -> None:
    installer = Installer()
    plugins = make(installer, "other")
    answer = plugins.answer("acme", PROVIDER)
    assert (answer.features, answer.origin) == ({}, Origin.NOT_TRUSTED)
    assert "--trust-provider acme-provider" in answer.problems[0]
    assert plugins.configs("acme", PROVIDER) is None
    assert installer.calls == []


@pytest.mark.parametrize("trusted", ("acme-provider", "acme-helper"))
def test_each_of_several_plugin_packages_has_to_be_trusted(make: Make, trusted: str) -> None:
    installer, packages = Installer(), {"acme-provider", "acme-helper"}
    provider = Provider(requires=("acme-provider", "Acme_Helper"), plugin_api="acme:Plugin")
    plugins = make(installer, trusted)
    answer = plugins.answer("acme", provider)
    (missing,) = packages - {trusted}
    assert (answer.features, answer.origin) == ({}, Origin.NOT_TRUSTED)
    assert f"(--trust-provider {missing} lets it be)" in answer.problems[0]
    assert plugins.configs("acme", provider) is None
    assert installer.calls == []
    assert make(installer, *packages).answer("acme", provider).origin is Origin.PLUGIN


def test_only_requirements_that_apply_here_have_to_be_trusted(make: Make) -> None:
    requires = ("acme-provider", "other; python_version < '3'")
    installer = Installer()
    provider = Provider(requires=requires, plugin_api="acme:Plugin")
    assert make(installer).answer("acme", provider).origin is Origin.PLUGIN
    assert installer.calls == [(["acme-provider"], A, B)]


@pytest.mark.parametrize(
    ("trusted", "source", "call"),
    (
        (["acme-provider==1.5"], "", ("Acme_Provider===1.5,>=1", A, B)),
        ([f"acme-provider==1.5@{B}"], "", ("Acme_Provider===1.5,>=1", B)),
        ([f"acme-provider@{A}/"], f"{A}/tri", ("Acme_Provider>=1", A)),
        ([f"acme-provider==1@{A}", f"acme-provider<9@{B}"], f"{B}/x", ("Acme_Provider<9,>=1", B)),
    ),
)
def test_trusted_versions_and_indexes_narrow_what_is_installed(
    make: Make, trusted: Sequence[str], source: str, call: Sequence[str]
) -> None:
    installer = Installer()
    make(installer, *trusted).answer("acme", PROVIDER, source)
    assert installer.calls == [([call[0]], *call[1:])]


def test_a_plugin_that_is_trusted_from_another_index_is_not_installed(make: Make) -> None:
    installer = Installer()
    plugins = make(installer, f"acme-provider@{B}")
    answer = plugins.answer("acme", PROVIDER, f"{A}/tri")
    assert (answer.origin, installer.calls) == (Origin.NOT_TRUSTED, [])
    assert f"(--trust-provider acme-provider@{A} lets it be)" in answer.problems[0]


def test_the_option_that_is_shown_trusts_no_more_than_is_needed_and_works(make: Make) -> None:
    provider = Provider(requires=("Acme_Provider==1.5", "other>=2"), plugin_api="acme:Plugin")
    (problem,) = make(Installer(), "x").answer("acme", provider, f"{A}/tri").problems
    options = f"--trust-provider acme-provider==1.5@{A} --trust-provider other@{A}"
    assert f"({options} lets it be)" in problem
    shown = options.replace("--trust-provider ", "").split()
    assert make(Installer(), *shown).answer("acme", provider, f"{A}/tri").origin is Origin.PLUGIN


def test_a_plugin_that_is_named_by_a_url_is_refused(make: Make) -> None:
    installer = Installer()
    provider = Provider(requires=("acme-provider @ https://x.invalid/a.whl",), plugin_api="acme")
    assert "URL" in make(installer).answer("acme", provider).problems[0]
    assert installer.calls == []


# The answer


def test_the_answer_is_in_the_plugins_order_without_features_that_have_no_value(make: Make) -> None:
    answer = make(Installer()).answer("acme", PROVIDER)
    assert list(answer.features.items()) == [("speed", ("high", "low"))]
    assert (answer.origin, answer.source) == (Origin.PLUGIN, "acme-provider 1.5")
    assert answer.problems == ()


def test_those_who_make_wheels_get_all_configs(make: Make) -> None:
    plugins = make(Installer())
    assert plugins.configs("acme", PROVIDER) == (
        Config("speed", ("high", "low"), multi_value=False),
        Config("size", (), multi_value=True),
    )
    everything = (Config("speed", ("high", "low", "no"), multi_value=True),)
    assert plugins.configs("acme", PROVIDER, "get_all_configs") == everything


def test_those_who_make_wheels_get_an_error_instead_of_less(make: Make) -> None:
    body = "\n    def get_supported_configs(self): return [Config('GPU!', ['a'])]\n"
    with pytest.raises(ProbeFailed, match="GPU!") as caught:
        make(Installer(body)).configs("acme", PROVIDER)
    assert caught.value.where == "plugin package acme-provider"


@pytest.mark.parametrize(
    ("body", "words"),
    (
        ("return [Config('speed', ['high', 'GPU!', 'HIGH'])]", "speed :: GPU!, speed :: HIGH"),
        ("return [Config('speed', ['high']), Config('Ü', ['a'])]", "Ü"),
        ("return [Config('speed', ['high']), Config(7, ['a'])]", "7"),
        ("return [Config('speed', ['high', 8])]", "speed"),
        ("return [Config('speed', ['high']), Config('size', 'on')]", "size :: on"),
        ("return [Config('speed', ['high', 'high'])]", "twice"),
        ("return [Config('speed', ['high']), Config('speed', ['low'])]", "twice"),
        ("return [Config('speed', ['high', *'ABCDEFG'])]", "speed :: E and 2 more"),
        ("return [Config('speed', ['high', '\\x1b[2J\\n'])]", r"speed :: \x1b[2J"),
    ),
)
def test_what_no_name_can_be_is_left_out_with_a_message(make: Make, body: str, words: str) -> None:
    installer = Installer(f"\n    def get_supported_configs(self): {body}\n")
    answer = make(installer).answer("acme", PROVIDER)
    assert answer.features["speed"][0] == "high"
    assert set(answer.features) == {"speed"}
    (problem,) = answer.problems
    assert words in problem
    assert problem.startswith("the plugin acme-provider 1.5 of namespace acme gave ")


def test_a_plugin_for_another_namespace_supports_nothing(make: Make) -> None:
    answer = make(Installer()).answer("nvidia", PROVIDER)
    assert (answer.features, answer.origin) == ({}, Origin.UNKNOWN)
    assert "answers for namespace acme" in answer.problems[0]


def test_a_plugin_without_a_namespace_answers_for_the_one_in_the_metadata(make: Make) -> None:
    class Nameless(Installer):
        def install(self, requirements: Sequence[str], folder: Path, *more: Any) -> Sequence[str]:
            found = super().install(requirements, folder, *more)
            (folder / "acme.py").write_text(HEAD.replace('namespace = "acme"', "") + self.body)
            return found

    for namespace in ("acme", "nvidia"):
        answer = make(Nameless()).answer(namespace, PROVIDER)
        assert (answer.features, answer.problems) == ({"speed": ("high", "low")}, ())


@pytest.mark.parametrize(
    "report", ("7", '{"configs": 7}', '{"configs": [7]}', '{"namespace": "acme", "configs": [[]]}')
)
def test_a_plugin_that_writes_a_report_of_its_own_changes_only_its_own_answer(
    make: Make, report: str
) -> None:
    text = f'{{"report": {report}}}'
    body = f"""
    def get_supported_configs(self):
        import os
        for stream in range(3, 20):
            try: os.write(stream, {text.encode()!r})
            except OSError: pass
        os._exit(0)
"""
    answer = make(Installer(body)).answer("acme", PROVIDER)
    assert answer.features == {}
    assert len(answer.problems) == 1


# How often


def test_a_plugin_is_asked_once(make: Make, tmp_path: Path) -> None:
    installer = Installer()
    plugins = make(installer)
    first = plugins.answer("acme", PROVIDER, "https://a.invalid/simple/one")
    again = plugins.answer("acme", PROVIDER, "https://a.invalid/simple/two")
    in_hand = plugins.answer("acme", PROVIDER)
    assert first is again is in_hand
    assert len(installer.calls) == 1
    assert [path.read_text() for path in tmp_path.rglob("*.asked")] == ["x"]


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_plugin_that_cannot_be_kept_is_asked_and_the_reason_told_once(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    plugins = make(Installer())
    for source in ("https://a.invalid/simple/one", "https://b.invalid/simple/one"):
        assert plugins.answer("acme", PROVIDER, source).features
    reason = f"Plugin packages are not kept for later runs: others can write to {kept}"
    assert caplog.messages == [reason]


def test_another_source_has_its_own_plugin(make: Make) -> None:
    installer = Installer()
    plugins = make(installer)
    plugins.answer("acme", PROVIDER, "https://a.invalid/simple/one")
    plugins.answer("acme", PROVIDER, "https://b.invalid/simple/one")
    assert [place for _, place in installer.calls] == [A, B]


def test_what_could_not_be_installed_is_not_tried_again(make: Make) -> None:
    installer = Installer()
    installer.fault = "no wheel"
    plugins = make(installer)
    first = plugins.answer("acme", PROVIDER)
    assert plugins.answer("acme", PROVIDER) is first
    assert plugins.answer("other", PROVIDER).features == {}
    assert "could not be asked: no wheel" in first.problems[0]
    assert len(installer.calls) == 1


def test_what_is_kept_is_not_installed_again_unless_refreshed(make: Make) -> None:
    installer = Installer()
    for refresh, calls in ((False, 1), (False, 1), (True, 2)):
        make(installer, refresh=refresh).answer("acme", PROVIDER)
        assert len(installer.calls) == calls


def test_without_a_folder_nothing_is_kept(tmp_path: Path) -> None:
    installer = Installer()
    plugins = Plugins(["acme-provider"], installer, folder=None, environ={})
    assert plugins.answer("acme", PROVIDER).features
    (site,) = installer.sites
    del plugins
    assert not site.exists()


def test_what_came_by_a_url_is_not_run(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    class ByUrl(Installer):
        def install(self, requirements: Sequence[str], folder: Path, *more: Any) -> Sequence[str]:
            found = super().install(requirements, folder, *more)
            (folder / "a_helper-2.0.dist-info").mkdir()
            (folder / "a_helper-2.0.dist-info" / "direct_url.json").write_text("{}")
            return found

    answer = make(ByUrl()).answer("acme", PROVIDER)
    assert answer.features == {}
    assert "a_helper-2.0.dist-info came by a URL" in answer.problems[0]
