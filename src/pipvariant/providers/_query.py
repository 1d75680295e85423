"""The child's side of a question to a plugin: its configs, made of what JSON has."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

#: So many features, and values of one feature, are taken from a plugin.
MAX_ITEMS = 2000


def report(reference: str, method: str) -> dict[str, object]:
    """Ask a plugin object for its configs (PEP 850, plugin interface).

    :param reference: ``module`` or ``module:object``, where the plugin object is.
    :param method: ``get_supported_configs`` or ``get_all_configs``.
    :returns: ``namespace`` as the plugin has it, None where it has none, and ``configs`` in its
        order, each with ``name``, ``values`` in its order and ``multi_value``; what is no text or
        list is in angle brackets.
    :raises Exception: whatever the plugin raises.
    :raises ValueError: there are more than :data:`MAX_ITEMS` of something.
    """
    plugin = _load_plugin(reference, method)
    found = _call_method(getattr(plugin, method), plugin)
    namespace = getattr(plugin, "namespace", None)
    return {
        "namespace": None if namespace is None else _text_of(namespace),
        # An older interface wraps the list.
        "configs": [_config(config) for config in _bounded(getattr(found, "configs", found))],
    }


def _load_plugin(reference: str, method: str) -> Any:
    """Return the plugin object: a module, an instance, or what a class or function makes."""
    module, _, path = reference.partition(":")
    found: Any = import_module(module)
    for name in filter(None, path.split(".")):
        found = getattr(found, name)
    if isinstance(found, type) or (callable(found) and not hasattr(found, method)):
        return found()
    return found


def _call_method(function: Callable[..., Any], plugin: Any) -> Any:
    """Call a method without arguments, or with the one that it had in an older interface."""
    try:
        return function()
    except TypeError:
        import inspect

        needed = [
            parameter
            for parameter in inspect.signature(function).parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        if len(needed) != 1:
            raise
        # The properties in question, which only plugins that call themselves dynamic were given.
        return function(frozenset() if getattr(plugin, "dynamic", False) else None)


def _config(config: Any) -> dict[str, object]:
    values = config.values
    if not isinstance(values, (str, bytes)) and isinstance(values, Iterable):
        values = [_text_of(value) for value in _bounded(values)]
    else:
        values = _text_of(values)
    return {
        "name": _text_of(config.name),
        "values": values,
        "multi_value": bool(getattr(config, "multi_value", False)),
    }


def _bounded(items: Iterable[Any]) -> list[Any]:
    found = list(itertools.islice(items, MAX_ITEMS + 1))
    if len(found) > MAX_ITEMS:
        raise ValueError(f"more than {MAX_ITEMS} features or values")
    return found


def _text_of(value: object) -> str:
    # What is no text must not become a name or value by being shown.
    return value if isinstance(value, str) else f"<{value!r}>"
