"""Wheel filenames: pip sees the plain name, the label is kept beside (PEP 825, filename)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from importlib import import_module
from typing import Any

from pipvariant.errors import InvalidFilename
from pipvariant.shim.patches import Patch
from pipvariant.shim.pips import Pip
from pipvariant.shim.run import Run
from pipvariant.standard.filename import split_label

__all__ = ["label_of", "patches"]

WHEEL = "pip._internal.models.wheel"
PROOF = "proof-1.0-py3-none-any-label.whl"


def label_of(link: Any) -> str | None:
    """Return the variant label in the filename of a link, None for any other file."""
    return split_label(link.filename)[1]


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the ``Wheel`` class, and the modules that split filenames by themselves.

    Without variants only the class is patched, to keep variant wheels out: up to 22.2 pip
    takes some of them for ordinary ones.
    """
    target = f"{WHEEL}:Wheel.__init__"
    strict = _same if pip.has_strict_filenames else _strict
    if run.no_variant:
        wrap = _no_variant(run)
        return [Patch(target, lambda original: wrap(strict(original)), lambda: _left_out(run))]
    return [
        Patch(target, lambda original: _wheel(strict(original)), _prove_wheel),
        *(Patch(target, _parser, _prove_parser(target)) for target in pip.filename_parsers),
    ]


def _same(original: Any) -> Any:
    return original


def _strict(original: Any) -> Any:
    """Refuse what is neither a variant wheel nor an ordinary one, as later pips do."""
    invalid: Any = import_module("pip._internal.exceptions").InvalidWheelFilename

    def __init__(self: Any, filename: str) -> None:
        original(self, filename)
        if any("-" in tag.platform for tag in self.file_tags):
            raise invalid(f"{filename} is not a valid wheel filename.")

    return __init__


def _no_variant(run: Run) -> Callable[[Any], Any]:
    invalid: Any = import_module("pip._internal.exceptions").InvalidWheelFilename

    def wrap(original: Any) -> Any:
        def __init__(self: Any, filename: str) -> None:
            try:
                label = split_label(filename)[1]
            except InvalidFilename as error:
                raise invalid(str(error)) from None
            if label is not None:
                run.left_out.add(filename.partition("-")[0])
                raise invalid(f"{filename} is a variant wheel, and --no-variant leaves them out.")
            original(self, filename)

        return __init__

    return wrap


def _wheel(original: Any) -> Any:
    invalid: Any = import_module("pip._internal.exceptions").InvalidWheelFilename
    # Labels of one wheel share the plain name: it is parsed once for all of them.
    parsed: dict[str, dict[str, Any]] = {}

    def __init__(self: Any, filename: str) -> None:
        try:
            plain, label = split_label(filename)
        except InvalidFilename as error:
            raise invalid(str(error)) from None
        if label is None:
            original(self, filename)
            return
        known = parsed.get(plain)
        if known is None:
            original(self, plain)
            # 25.1 and 25.2 read the build tag from `filename` again when it is asked for.
            with contextlib.suppress(TypeError):
                self.build_tag  # noqa: B018 - the property keeps what it finds
            known = parsed[plain] = dict(vars(self))
        else:
            vars(self).update(known)
        self.filename = filename

    return __init__


def _parser(original: Any) -> Any:
    def parse_wheel_filename(filename: str, **options: Any) -> Any:
        # A label that the standard does not allow is left in, for pip to refuse the name.
        with contextlib.suppress(InvalidFilename):
            filename = split_label(filename)[0]
        return original(filename, **options)

    return parse_wheel_filename


def _left_out(run: Run) -> bool:
    try:
        import_module(WHEEL).Wheel(PROOF)
    except import_module("pip._internal.exceptions").InvalidWheelFilename as error:
        run.left_out.discard("proof")
        return "--no-variant" in str(error)
    return False


def _prove_wheel() -> bool:
    wheel = import_module(WHEEL).Wheel(PROOF)
    return (wheel.name, wheel.version, wheel.filename) == ("proof", "1.0", PROOF)


def _prove_parser(target: str) -> Any:
    module, _, name = target.partition(":")
    return lambda: getattr(import_module(module), name)(PROOF)[0] == "proof"
