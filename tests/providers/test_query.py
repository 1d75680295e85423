"""The child's side of a question to a plugin: shapes of plugin objects and of their answers."""

from __future__ import annotations

import itertools
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from pipvariant.providers._query import MAX_ITEMS, report

CONFIG = SimpleNamespace(name="speed", values=["high"], multi_value=False)
EXPECTED = {
    "namespace": "acme",
    "configs": [{"name": "speed", "values": ["high"], "multi_value": False}],
}


class Plugin:
    namespace = "acme"

    def get_supported_configs(self) -> Any:
        return [CONFIG]

    def get_all_configs(self) -> Any:
        return [SimpleNamespace(name="speed", values=("high", "low"), multi_value=True)]


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> Any:
    made: Any = ModuleType("acme_plugin")
    monkeypatch.setitem(sys.modules, "acme_plugin", made)
    return made


def ask(plugin: Any, module: Any) -> Any:
    module.it = plugin
    return report("acme_plugin:it", "get_supported_configs")


@pytest.mark.parametrize(
    "plugin", (Plugin, Plugin(), lambda *_: Plugin()), ids=("class", "instance", "function")
)
def test_a_plugin_is_a_class_an_instance_or_what_makes_one(module: Any, plugin: Any) -> None:
    assert ask(plugin, module) == EXPECTED


def test_a_plugin_is_a_module(module: Any) -> None:
    module.namespace, module.get_supported_configs = "acme", lambda: iter([CONFIG])
    assert report("acme_plugin", "get_supported_configs") == EXPECTED


def test_a_plugin_is_an_attribute_of_an_attribute(module: Any) -> None:
    module.outer = SimpleNamespace(inner=Plugin)
    assert report("acme_plugin:outer.inner", "get_supported_configs") == EXPECTED


def test_all_configs_are_asked_by_the_name_of_the_method(module: Any) -> None:
    module.it = Plugin
    assert report("acme_plugin:it", "get_all_configs")["configs"] == [
        {"name": "speed", "values": ["high", "low"], "multi_value": True}
    ]


@pytest.mark.parametrize(("dynamic", "given"), ((False, None), (True, frozenset())))
def test_the_one_argument_of_an_older_interface_is_given(
    module: Any, dynamic: bool, given: object
) -> None:
    seen = []

    def get_supported_configs(known_properties: object, more: int = 1) -> Any:
        seen.append(known_properties)
        return [SimpleNamespace(name="speed", values=["high"])]

    plugin = SimpleNamespace(
        namespace="acme", dynamic=dynamic, get_supported_configs=get_supported_configs
    )
    assert ask(plugin, module) == EXPECTED
    assert seen == [given]


def test_a_list_that_an_older_interface_wraps_is_taken_out(module: Any) -> None:
    wrapped = SimpleNamespace(configs=[CONFIG])
    assert ask(SimpleNamespace(namespace="acme", get_supported_configs=lambda: wrapped), module)
    assert ask(Plugin, module) == EXPECTED


def test_an_error_inside_a_plugin_is_not_taken_for_another_interface(module: Any) -> None:
    def get_supported_configs() -> Any:
        raise TypeError("own")

    with pytest.raises(TypeError, match="own"):
        ask(SimpleNamespace(get_supported_configs=get_supported_configs), module)
    with pytest.raises(TypeError, match="missing 2"):
        ask(SimpleNamespace(get_supported_configs=lambda one, two: []), module)


def test_what_is_no_text_is_never_a_name_or_a_value(module: Any) -> None:
    odd = SimpleNamespace(name=7, values=[8, None], multi_value="yes")
    one = SimpleNamespace(name="size", values="big")
    plugin = SimpleNamespace(get_supported_configs=lambda: [odd, one])
    assert ask(plugin, module) == {
        "namespace": None,
        "configs": [
            {"name": "<7>", "values": ["<8>", "<None>"], "multi_value": True},
            {"name": "size", "values": "big", "multi_value": False},
        ],
    }


@pytest.mark.parametrize(
    "found",
    (
        lambda: itertools.repeat(CONFIG),
        lambda: [SimpleNamespace(name="speed", values=itertools.count())],
    ),
)
def test_a_list_without_an_end_is_refused(module: Any, found: Any) -> None:
    with pytest.raises(ValueError, match=f"more than {MAX_ITEMS} features or values"):
        ask(SimpleNamespace(get_supported_configs=found), module)
