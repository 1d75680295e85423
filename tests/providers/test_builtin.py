"""The registry of built-in providers, and its words for what is not supported."""

from __future__ import annotations

import re

import pytest

from pipvariant.providers import builtin
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.builtin import BUILT_INS, reason_for


def answer(namespace: str, origin: Origin) -> Answer:
    return Answer(namespace, {}, origin, facts={"driver": "12.4"})


def test_each_entry_is_under_its_own_namespace() -> None:
    assert {name: entry.namespace for name, entry in BUILT_INS.items()} == {
        "aarch64": "aarch64",
        "amd": "amd",
        "intel": "intel",
        "nvidia": "nvidia",
        "x86_64": "x86_64",
    }


@pytest.mark.parametrize("namespace", sorted(BUILT_INS))
def test_each_module_answers_for_its_namespace(namespace: str) -> None:
    given = builtin.query_builtin(namespace, {})
    assert (given.namespace, given.origin) == (namespace, Origin.BUILT_IN)


@pytest.mark.parametrize("namespace", sorted(BUILT_INS))
def test_each_answer_keeps_the_character_rules_of_the_standard(namespace: str) -> None:
    for feature, values in builtin.query_builtin(namespace, {}).features.items():
        assert re.fullmatch(r"[a-z0-9_]+", feature)
        assert values
        assert len(set(values)) == len(values)
        assert all(re.fullmatch(r"[a-z0-9_.]+", value) for value in values)


def test_explain_has_no_words_for_an_unknown_namespace() -> None:
    assert reason_for("quantum", "qubits", ("5",), answer("quantum", Origin.BUILT_IN)) is None


@pytest.mark.parametrize("origin", sorted(set(Origin) - {Origin.BUILT_IN, Origin.TARGET_FILE}))
def test_explain_speaks_only_for_built_in_providers(origin: Origin) -> None:
    given = answer("nvidia", origin)
    assert reason_for("nvidia", "cuda_version_lower_bound", ("12.6",), given) is None


def test_explain_needs_a_value() -> None:
    given = answer("nvidia", Origin.BUILT_IN)
    assert reason_for("nvidia", "cuda_version_lower_bound", (), given) is None


def test_explain_the_nearest_miss() -> None:
    given = answer("nvidia", Origin.BUILT_IN)
    assert reason_for("nvidia", "cuda_version_lower_bound", ("12.6",), given) == (
        "needs CUDA driver >= 12.6, this machine has 12.4"
    )


def test_an_origin_is_written_as_it_is_called() -> None:
    assert [str(origin) for origin in Origin] == [
        "static", "stated", "built-in", "plugin", "disabled", "not trusted", "not asked", "unknown",
    ]  # fmt: skip
