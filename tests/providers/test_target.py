"""What the target supports: the six steps of the standard, each namespace asked once."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any, cast

import pytest

from pipvariant.providers import builtin
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.nvidia import FORCE_DRIVER, FORCE_SM, nvidia_features
from pipvariant.providers.plugins import Plugins
from pipvariant.providers.target import Target
from pipvariant.standard.metadata import Provider

# Both overrides: the built-in provider of nvidia answers without a probe.
MACHINE = {FORCE_DRIVER: "12.8", FORCE_SM: "9.0"}
FEATURES = nvidia_features((12, 8), (9, 0))

PLUGIN = Provider(requires=("nvidia-variant-provider>=0.0.1",))
STATIC = {"library": ("mkl", "openblas")}
STATED = {"nvidia": Answer("nvidia", {"sm_arch": ("75_real",)}, Origin.TARGET_FILE)}


# Step 1: disabled


def test_a_provider_that_the_user_disabled_supports_nothing() -> None:
    target = Target(disabled=["nvidia"], from_target_file=STATED, environ=MACHINE)
    for provider in (None, PLUGIN, Provider(static_properties=STATIC)):
        answer = target.answer("nvidia", provider)
        assert (answer.features, answer.origin) == ({}, Origin.DISABLED)
        assert (answer.source, answer.problems) == ("disabled by the user", ())


def test_an_optional_provider_is_off_unless_enabled() -> None:
    provider = Provider(static_properties={"build": ("debug",)}, optional=True)
    off = Target(environ={}).answer("debug", provider)
    on = Target(enabled=["debug"], environ={}).answer("debug", provider)
    assert (off.features, off.origin) == ({}, Origin.DISABLED)
    assert (on.features, on.origin) == ({"build": ("debug",)}, Origin.STATIC)


def test_disabled_wins_over_enabled() -> None:
    target = Target(enabled=["debug"], disabled=["debug"], environ={})
    provider = Provider(static_properties={"build": ("debug",)}, optional=True)
    assert target.answer("debug", provider).origin is Origin.DISABLED


@pytest.mark.parametrize(
    ("marker", "origin"),
    (
        ("python_version >= '3'", Origin.STATIC),
        ("python_version < '3'", Origin.DISABLED),
        ("os_name ~= '1.0'", Origin.DISABLED),
    ),
)
def test_enable_if_must_hold_in_the_older_form(marker: str, origin: Origin) -> None:
    provider = Provider(static_properties=STATIC, enable_if=marker)
    assert Target(environ={}).answer("blas", provider).origin is origin


def test_enable_if_says_nothing_about_another_machine() -> None:
    provider = Provider(static_properties=STATIC, enable_if="python_version < '3'")
    assert Target(foreign=True, environ={}).answer("blas", provider).features == STATIC


# Step 2: static properties of the metadata


def test_static_properties_are_the_answer_exclusively() -> None:
    target = Target(
        from_target_file={"blas": Answer("blas", {"library": ("other",)}, Origin.TARGET_FILE)},
        environ={},
    )
    answer = target.answer("blas", Provider(static_properties=STATIC))
    assert (answer.features, answer.origin) == (STATIC, Origin.STATIC)


def test_static_properties_win_over_a_built_in_provider() -> None:
    provider = Provider(static_properties={"sm_arch": ("90_real",)})
    answer = Target(environ=MACHINE).answer("nvidia", provider)
    assert answer.features == {"sm_arch": ("90_real",)}


def test_static_properties_count_for_another_machine_too() -> None:
    target = Target(foreign=True, environ={})
    assert target.answer("blas", Provider(static_properties=STATIC)).features == STATIC


def test_install_time_false_asks_nobody_in_the_older_form() -> None:
    provider = Provider(requires=PLUGIN.requires, install_time=False)
    answer = Target(environ=MACHINE).answer("nvidia", provider)
    assert (answer.features, answer.origin, answer.problems) == ({}, Origin.STATIC, ())


def test_features_without_values_are_left_out() -> None:
    provider = Provider(static_properties={"b": ("1",), "a": (), "c": ("2",)})
    answer = Target(environ={}).answer("ns", provider)
    assert list(answer.features.items()) == [("b", ("1",)), ("c", ("2",))]


# Step 3: the user's static list


@pytest.mark.parametrize("provider", (None, PLUGIN, Provider(requires=("unknown-plugin",))))
def test_the_users_list_is_the_answer_exclusively(provider: Provider | None) -> None:
    answer = Target(from_target_file=STATED, environ=MACHINE).answer("nvidia", provider)
    assert (answer.features, answer.origin) == ({"sm_arch": ("75_real",)}, Origin.TARGET_FILE)


def test_a_namespace_that_is_not_stated_is_not_supported() -> None:
    target = Target(from_target_file={}, environ=MACHINE)
    answer = target.answer("nvidia", PLUGIN)
    assert (answer.features, answer.origin) == ({}, Origin.TARGET_FILE)


def test_another_machine_is_known_by_lists_only() -> None:
    target = Target(from_target_file=STATED, foreign=True, environ=MACHINE)
    assert target.answer("nvidia", PLUGIN).features == {"sm_arch": ("75_real",)}
    answer = target.answer("x86_64", None)
    assert (answer.features, answer.origin) == ({}, Origin.TARGET_FILE)
    answer = Target(foreign=True, environ=MACHINE).answer("x86_64", None)
    assert (answer.features, answer.origin) == ({}, Origin.NOT_ASKED)


# Step 4: built-in providers


@pytest.mark.parametrize(
    ("namespace", "requires", "plugin_api"),
    (
        ("nvidia", "nvidia-variant-provider", None),
        ("nvidia", "NVIDIA_Variant.Provider>=1; python_version >= '3'", None),
        ("nvidia", "nvidia-variant-provider", "nvidia_variant_provider"),
        ("nvidia", "nvidia-variant-provider", "nvidia_variant_provider.plugin"),
        (
            "nvidia",
            "nvidia-variant-provider",
            "nvidia_variant_provider.plugin : NvidiaVariantPlugin",
        ),
        ("x86_64", "provider-variant-x86-64<1", "provider_variant_x86_64.plugin:X8664Plugin"),
        ("x86_64", "x86-64-variant-provider", None),
        ("aarch64", "provider-variant-aarch64", "provider_variant_aarch64.plugin:AArch64Plugin"),
        ("aarch64", "aarch64-variant-provider", None),
    ),
)
def test_a_built_in_provider_stands_in_for_its_plugin(
    namespace: str, requires: str, plugin_api: str | None
) -> None:
    provider = Provider(requires=(requires,), plugin_api=plugin_api)
    assert Target(environ=MACHINE).answer(namespace, provider).origin is Origin.BUILT_IN


@pytest.mark.parametrize(
    ("namespace", "requires", "plugin_api"),
    (
        ("nvidia", ("other-provider",), None),
        ("nvidia", ("nvidia-variant-provider-fork",), None),
        ("nvidia", ("other-provider",), "nvidia_variant_provider.plugin:NvidiaVariantPlugin"),
        ("nvidia", ("nvidia-variant-provider",), "other_provider.plugin:Plugin"),
        ("nvidia", ("nvidia-variant-provider",), "nvidia_variant_provider.plugin:Other"),
        ("nvidia", ("other-provider", "nvidia-variant-provider"), None),
        ("cuda", ("nvidia-variant-provider",), None),
        ("x86_64", ("nvidia-variant-provider",), None),
    ),
)
def test_any_other_plugin_is_not_stood_in_for(
    namespace: str, requires: tuple[str, ...], plugin_api: str | None
) -> None:
    provider = Provider(requires=requires, plugin_api=plugin_api)
    assert Target(environ=MACHINE).answer(namespace, provider).origin is Origin.NOT_TRUSTED


def test_the_first_requirement_that_applies_here_is_the_plugin() -> None:
    requires = ("other-provider; python_version < '3'", "nvidia-variant-provider")
    answer = Target(environ=MACHINE).answer("nvidia", Provider(requires=requires))
    assert answer.features == FEATURES


def test_a_plugin_may_require_more_packages() -> None:
    provider = Provider(
        requires=("helper", "nvidia-variant-provider"),
        plugin_api="nvidia_variant_provider.plugin:NvidiaVariantPlugin",
    )
    assert Target(environ=MACHINE).answer("nvidia", provider).features == FEATURES


@pytest.mark.parametrize("marker", ("python_version < '3'", "os_name ~= '1.0'"))
def test_a_plugin_that_is_not_for_this_environment_supports_nothing(marker: str) -> None:
    provider = Provider(requires=(f"nvidia-variant-provider; {marker}",))
    answer = Target(environ=MACHINE).answer("nvidia", provider)
    assert (answer.features, answer.origin) == ({}, Origin.DISABLED)
    assert (answer.source, answer.problems) == ("no requirement applies here", ())


def test_metadata_without_providers_is_answered_by_namespace() -> None:
    answer = Target(environ=MACHINE).answer("nvidia", None)
    assert (answer.features, answer.origin) == (FEATURES, Origin.BUILT_IN)


def test_metadata_without_providers_knows_built_in_ones_only() -> None:
    answer = Target(environ={}).answer("quantum", None)
    assert (answer.features, answer.origin) == ({}, Origin.UNKNOWN)
    assert answer.problems == ("no provider for namespace quantum is built in",)


def test_a_built_in_provider_of_the_standard_that_is_not_known_supports_nothing() -> None:
    answer = Target(environ={}).answer("other", Provider(builtin="other"))
    assert (answer.features, answer.origin) == ({}, Origin.UNKNOWN)
    (problem,) = answer.problems
    assert problem == (
        "the built-in provider other of namespace other is not supported by this version"
        " of pip-variant"
    )


# Step 5: not trusted


def test_a_plugin_that_is_not_trusted_supports_nothing_and_the_user_is_told() -> None:
    provider = Provider(requires=("Quantum_Provider>=2",), plugin_api="quantum:Plugin")
    answer = Target(environ={}).answer("quantum", provider)
    assert (answer.features, answer.origin) == ({}, Origin.NOT_TRUSTED)
    assert answer.source == "quantum-provider"
    (problem,) = answer.problems
    assert problem == (
        "the plugin package quantum-provider of namespace quantum is not trusted:"
        " it was neither installed nor run (--trust-provider quantum-provider lets it be)"
    )


def test_a_provider_entry_that_says_nothing_is_not_trusted() -> None:
    assert Target(environ={}).answer("quantum", Provider()).origin is Origin.NOT_TRUSTED


# Step 6: trusted


class Trusting:
    """Stands in for what asks plugins, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def answer(self, namespace: str, provider: Provider, source: str = "") -> Answer:
        self.asked.append((namespace, source))
        return Answer(namespace, {"feature": ("value",)}, Origin.PLUGIN, source)


UNKNOWN = Provider(requires=("quantum-provider",))


def test_a_plugin_is_asked_about_each_source() -> None:
    plugins = Trusting()
    target = Target(environ={}, plugins=lambda: cast("Plugins", plugins))
    for source in ("a", "b"):
        assert target.answer("quantum", UNKNOWN, source).source == source
    assert plugins.asked == [("quantum", "a"), ("quantum", "b")]


@pytest.mark.parametrize(
    ("target", "provider"),
    (
        ({"disabled": ["quantum"]}, UNKNOWN),
        ({}, Provider(requires=UNKNOWN.requires, optional=True)),
        ({}, Provider(static_properties=STATIC)),
        ({"foreign": True}, UNKNOWN),
        ({}, Provider(builtin="quantum")),
        ({}, Provider(requires=("quantum-provider; python_version < '3'",))),
        ({}, None),
    ),
)
def test_no_plugin_is_asked_where_another_step_answers(
    target: dict[str, Any], provider: Provider | None
) -> None:
    def never() -> Plugins:
        raise AssertionError

    answer = Target(environ={}, plugins=never, **target).answer("quantum", provider)
    assert answer.origin is not Origin.PLUGIN


def test_a_built_in_provider_stands_in_for_a_plugin_that_is_trusted() -> None:
    plugins = Trusting()
    target = Target(environ=MACHINE, plugins=lambda: cast("Plugins", plugins))
    assert target.answer("nvidia", PLUGIN).origin is Origin.BUILT_IN
    assert plugins.asked == []


# Memory


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count how often built-in providers are asked."""
    namespaces: list[str] = []

    def ask(namespace: str, _environ: Mapping[str, str], *, refresh: bool) -> Answer:
        namespaces.append(namespace)
        return Answer(namespace, {"feature": ("value",)}, Origin.BUILT_IN)

    monkeypatch.setattr(builtin, "query_builtin", ask)
    return namespaces


def test_a_built_in_provider_is_asked_once_whoever_wants_to_know(asked: list[str]) -> None:
    target = Target(environ={})
    answers = [
        target.answer("nvidia", None),
        target.answer("nvidia", PLUGIN),
        target.answer("nvidia", Provider(requires=("nvidia-variant-provider>=2",))),
        target.built_in("nvidia"),
    ]
    assert asked == ["nvidia"]
    assert len({id(answer) for answer in answers}) == 1


def test_a_provider_that_is_not_needed_is_not_asked(asked: list[str]) -> None:
    target = Target(disabled=["nvidia"], from_target_file={}, environ={})
    target.answer("nvidia", PLUGIN)
    target.answer("x86_64", None)
    assert asked == []


def test_one_namespace_may_have_different_providers_in_different_packages(
    asked: list[str],
) -> None:
    target = Target(environ={})
    origins = [
        target.answer("nvidia", provider).origin
        for provider in (PLUGIN, Provider(static_properties=STATIC), PLUGIN)
    ]
    assert origins == [Origin.BUILT_IN, Origin.STATIC, Origin.BUILT_IN]


def test_the_environment_of_this_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in MACHINE.items():
        monkeypatch.setenv(name, value)
    assert Target().answer("nvidia", None).features == FEATURES


# Imports


@pytest.mark.parametrize(
    ("code", "absent"),
    (
        (
            "import pipvariant.providers.target, pipvariant.providers.builtin",
            (
                "archspec packaging pynvml pipvariant.providers.nvidia pipvariant.providers.x86_64"
                " pipvariant.providers.aarch64 pipvariant.providers.probe subprocess json"
            ),
        ),
        (
            "from pipvariant.providers.target import Target; Target().answer('nvidia', None)",
            "archspec pynvml pipvariant.providers.x86_64 pipvariant.providers.aarch64",
        ),
        (
            "from pipvariant.providers.target import Target; Target().answer('x86_64', None)",
            "pynvml pipvariant.providers.nvidia pipvariant.providers.probe",
        ),
    ),
)
def test_only_what_is_needed_is_imported(code: str, absent: str) -> None:
    script = f"import sys; {code}; print(' '.join(sys.modules))"
    output = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}; {script}"],
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert not set(absent.split()) & set(output.split())
