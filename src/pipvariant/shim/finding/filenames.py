"""Wheel filenames: pip sees the plain name, the label is kept beside (PEP 825, filename)."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from importlib import import_module
from typing import Any

from pipvariant.errors import InvalidFilename
from pipvariant.log import logger
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import error_for_user, pip_error
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import UserConstraints
from pipvariant.standard.bounds import has_long_number
from pipvariant.standard.filename import split_label

WHEEL = "pip._internal.models.wheel"
PROOF = "proof-1.0-py3-none-any-label.whl"


#: Splits a wheel filename into its plain name and its label, which pip asks for again and again.
split_once = functools.lru_cache(maxsize=None)(split_label)


def label_in(filename: str) -> str | None:
    """Return the variant label in a filename, None for a non-variant wheel and any other file.

    :raises InvalidFilename: the label is one that the standard does not allow.
    """
    return split_once(filename)[1]


def is_variant_wheel(filename: str) -> bool:
    """Say whether a file is a variant wheel by its name."""
    with contextlib.suppress(InvalidFilename):
        return label_in(filename) is not None
    return False


def patches(pip: Pip, user: UserConstraints) -> list[Patch]:
    """Patch the ``Wheel`` class, and the modules that split filenames by themselves.

    The class is patched without variants too, to keep variant wheels out: up to 22.2 pip takes
    some of them for ordinary ones. A requirements file can still say so, so each is asked.
    """
    # Labels of one wheel share the plain name: it is parsed once for all of them.
    parsed: dict[str, dict[str, Any]] = {}
    warn = functools.lru_cache(maxsize=None)(_warn_of_number)
    found = [patch(f"{WHEEL}:Wheel.__init__", _wheel, _prove_wheel, pip, user, parsed, warn)]
    if not user.no_variant:
        found += [
            patch(target, _parse_wheel_filename, _prove_parser, target, user)
            for target in pip.filename_parsers
        ]
    return found


def _wheel(
    pip: Pip,
    user: UserConstraints,
    parsed: dict[str, dict[str, Any]],
    warn: Callable[[str], None],
    original: Any,
    self: Any,
    filename: str,
) -> None:
    try:
        plain, label = split_once(filename)
    except InvalidFilename as error:
        if has_long_number(filename):
            warn(str(error))
        raise error_for_user("InvalidWheelFilename", str(error)) from None
    if label is not None and user.no_variant:
        user.left_out.add(filename.partition("-")[0])
        raise error_for_user(
            "InvalidWheelFilename",
            f"{filename} is a variant wheel, and --no-variant leaves them out.",
        )
    known = None if label is None else parsed.get(plain)
    if known is None:
        original(self, plain)
        # What is neither a variant wheel nor an ordinary one is refused, as later pips do.
        if not pip.has_strict_filenames and any("-" in tag.platform for tag in self.file_tags):
            raise error_for_user("InvalidWheelFilename", f"{plain} is not a valid wheel filename.")
        if label is None:
            return
        # 25.1 and 25.2 read the build tag from `filename` again when it is asked for.
        with contextlib.suppress(TypeError):
            self.build_tag  # noqa: B018 - the property keeps what it finds
        parsed[plain] = dict(vars(self))
    else:
        vars(self).update(known)
    self.filename = filename


def _warn_of_number(fault: str) -> None:
    logger.warning("One variant wheel is left out. %s", fault)


def _parse_wheel_filename(
    target: str, user: UserConstraints, original: Any, filename: str, **options: Any
) -> Any:
    # A label that the standard does not allow is left in, for pip to refuse the name.
    with contextlib.suppress(InvalidFilename):
        if not user.no_variant:
            filename = split_once(filename)[0]
    return original(filename, **options)


def _prove_wheel(pip: Pip, user: UserConstraints, *_: Any) -> bool:
    make: Any = import_module(WHEEL).Wheel
    if not user.no_variant:
        wheel = make(PROOF)
        # Up to 22.2 pip itself takes the label for a part of the platform.
        platforms = {tag.platform for tag in wheel.file_tags}
        found = (wheel.name, wheel.version, wheel.filename, platforms)
        return found == ("proof", "1.0", PROOF, {"any"})
    try:
        make(PROOF)
    except pip_error("InvalidWheelFilename") as error:
        user.left_out.discard("proof")
        return "--no-variant" in str(error)
    return False


def _prove_parser(target: str, user: UserConstraints) -> bool:
    module, _, name = target.partition(":")
    return bool(getattr(import_module(module), name)(PROOF)[0] == "proof")
