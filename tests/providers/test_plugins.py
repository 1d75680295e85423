"""Plugins: what trust means, what is asked how often, and what is made of the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from pipvariant.errors import InvalidOption, ProbeFailed
from pipvariant.providers.answers import Origin
from pipvariant.providers.plugins import Config, Plugins, parse_trust
from pipvariant.standard.metadata import Provider

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
    """Writes one module into the folder, from as many places as there are sources."""

    def __init__(self, body: str = FINE) -> None:
        self.body = body
        self.calls: list[tuple[list[str], str]] = []
        self.sites: list[Path] = []
        self.fault = ""

    def origin(self, source: str) -> str:
        return source.rpartition("/")[0] or "everywhere"

    def install(self, requirements: Sequence[str], folder: Path, source: str) -> Sequence[str]:
        self.calls.append((list(requirements), source))
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


def test_trust_is_a_normalised_name_and_the_versions_of_it() -> None:
    trusted = parse_trust(["Acme_Provider == 1.0", "b>=1,<2", "c"])
    assert {name: str(versions) for name, versions in trusted.items()} == {
        "acme-provider": "==1.0",
        "b": "<2,>=1",
        "c": "",
    }


def test_all_that_is_said_about_one_package_has_to_hold() -> None:
    assert str(parse_trust(["a", "A==1.0", "a<2"])["a"]) == "<2,==1.0"


@pytest.mark.parametrize(
    "word", ("", "a b", "a[x]", "a; os_name == 'nt'", "a@https://a/b", "-a", "a==" + "9" * 5000)
)
def test_what_names_no_package_is_refused_with_the_option(word: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        parse_trust([word])
    assert caught.value.where == "--trust-provider"
    assert repr(word) in caught.value.what


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
    assert installer.calls == [(["acme-provider"], "")]


def test_trusted_versions_narrow_what_is_installed(make: Make) -> None:
    installer = Installer()
    make(installer, "acme-provider==1.5").answer("acme", PROVIDER)
    assert installer.calls == [(["Acme_Provider==1.5,>=1"], "")]


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
        ("return [Config('speed', ['high', '\\x1b[2J\\n'])]", "speed :: ?[2J"),
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


def asked(installer: Installer) -> int:
    files = [path for site in installer.sites for path in site.parent.parent.rglob("*.asked")]
    return sum(len(path.read_text()) for path in set(files))


def test_a_plugin_is_asked_once(make: Make) -> None:
    installer = Installer()
    plugins = make(installer)
    first = plugins.answer("acme", PROVIDER, "https://a.invalid/simple/one")
    again = plugins.answer("acme", PROVIDER, "https://a.invalid/simple/two")
    in_hand = plugins.answer("acme", PROVIDER)
    assert first is again is in_hand
    assert len(installer.calls) == 1
    assert asked(installer) == 1


def test_another_source_has_its_own_plugin(make: Make) -> None:
    installer = Installer()
    plugins = make(installer)
    plugins.answer("acme", PROVIDER, "https://a.invalid/simple/one")
    plugins.answer("acme", PROVIDER, "https://b.invalid/simple/one")
    assert [source for _, source in installer.calls] == [
        "https://a.invalid/simple/one",
        "https://b.invalid/simple/one",
    ]


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
        def install(self, requirements: Sequence[str], folder: Path, source: str) -> Sequence[str]:
            found = super().install(requirements, folder, source)
            (folder / "a_helper-2.0.dist-info").mkdir()
            (folder / "a_helper-2.0.dist-info" / "direct_url.json").write_text("{}")
            return found

    answer = make(ByUrl()).answer("acme", PROVIDER)
    assert answer.features == {}
    assert "a_helper-2.0.dist-info came by a URL" in answer.problems[0]
