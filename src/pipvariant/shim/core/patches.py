"""Putting patches on pip and taking them off again: all of them or none."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

from pipvariant.shim.core.pip_versions import Pip, unsupported
from pipvariant.shim.core.state import State, aside, silence


class Patch(NamedTuple):
    """One object of pip that is replaced.

    :param target: ``module:name`` or ``module:Class.name``.
    :param wrap: takes the original and returns the replacement, which delegates to it.
    :param prove: called when everything is patched; returns whether pip, asked through its
        own functions, now shows the effect of this patch.
    """

    target: str
    wrap: Callable[[Any], Any]
    prove: Callable[[], bool]


def patch(
    target: str, replace: Callable[..., Any], prove: Callable[..., bool], *parts: Any
) -> Patch:
    """Return the patch of a function, method, class method or property.

    :param replace: called in its place with the parts, the original as a plain function, and what
        pip calls it with.
    :param prove: called with the parts.
    """

    def wrap(original: Any) -> Any:
        kind = type(original) if isinstance(original, (classmethod, property)) else None
        plain = getattr(original, "__func__", None) or getattr(original, "fget", original)

        def replacement(*args: Any, **kwargs: Any) -> Any:
            return replace(*parts, plain, *args, **kwargs)

        replacement.__module__, replacement.__name__ = replace.__module__, replace.__name__
        # Up to 25.0 some methods have a cache, which others empty.
        if hasattr(plain, "cache_clear"):
            vars(replacement)["cache_clear"] = plain.cache_clear
        return replacement if kind is None else kind(replacement)

    wrap.__module__ = replace.__module__
    return Patch(target, wrap, functools.partial(prove, *parts))


class Patches:
    """The patches that are on, with what is needed to take them off.

    :param states: these are empty while something is proven, and then as they were.
    """

    def __init__(self, pip: Pip, states: Iterable[State] = ()) -> None:
        self._pip = pip
        #: Tables that are empty while something is proven.
        self.states = list(states)
        self._undo: list[Callable[[], None]] = []

    def put(self, patches: Iterable[Patch]) -> None:
        """Look every target up, replace them all, and prove each by its effect.

        :raises UnsupportedPip: when a target is missing or a patch has no effect; then
            nothing of this call is left in place.
        """
        patches = tuple(patches)
        found = [self._look_up(patch) for patch in patches]
        mark = len(self._undo)
        try:
            for patch, (owner, name) in zip(patches, found):
                # Several modules may patch one object: each wraps what the one before has left.
                self.replace(owner, name, patch.wrap(vars(owner)[name]))
            with silence(), contextlib.ExitStack() as stack:
                for state in self.states:
                    stack.enter_context(aside(state))
                for patch in patches:
                    self._prove(patch)
                    for state in self.states:
                        state.clear()
        except BaseException:
            self._roll_back(mark)
            raise

    def replace(self, owner: Any, name: str, replacement: Any) -> None:
        """Set an attribute of a module or class and remember what was there."""
        original = vars(owner)[name]
        setattr(owner, name, replacement)
        self.on_undo(lambda: setattr(owner, name, original))

    def on_undo(self, action: Callable[[], None]) -> None:
        """Remember one more action for :meth:`undo`; actions run in reverse order."""
        self._undo.append(action)

    def undo(self) -> None:
        """Put back every object that was replaced, the last one first."""
        self._roll_back(0)

    def _roll_back(self, mark: int) -> None:
        while len(self._undo) > mark:
            self._undo.pop()()

    def _look_up(self, patch: Patch) -> tuple[Any, str]:
        module_name, _, path = patch.target.partition(":")
        *classes, name = path.split(".")
        try:
            owner: Any = import_module(module_name)
            for attribute in classes:
                owner = getattr(owner, attribute)
            # The raw attribute, not what a descriptor makes of it: it is put back by undo.
            vars(owner)[name]
            return owner, name
        except (ImportError, AttributeError, KeyError) as error:
            raise unsupported(self._pip.text, f"has no {patch.target}") from error

    def _prove(self, patch: Patch) -> None:
        try:
            proven = patch.prove()
        except Exception as error:
            raise unsupported(
                self._pip.text, f"does not work as expected at {patch.target} ({error!r})"
            ) from error
        if not proven:
            raise unsupported(self._pip.text, f"does not use {patch.target} as expected")
