"""Target files: what a machine supports, stated in TOML, written by a machine or by a person."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pipvariant.errors import InvalidTargetFile
from pipvariant.providers import nvidia, x86_64
from pipvariant.providers.answers import Answer, Origin
from pipvariant.standard.properties import FEATURE, NAMESPACE, VALUE

#: The version of the form of target files.
FORMAT = 1

_LARGEST = 1_000_000
_LONGEST_VALUE = 1_000
_REMEDY = "`variant platform --output FILE` writes a target file on the machine that it is for"
_HEAD = "# What a machine supports, for `--variant-target`; values, the most preferred first.\n"


def read_target_file(path: str) -> dict[str, Answer]:
    """Read a target file.

    :returns: namespace to answer; a namespace that is not in it is not supported by the target.
    :raises InvalidTargetFile: it cannot be read, or states something that cannot be: all faults.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidTargetFile([("", reason)], where=path, remedy=_REMEDY) from error
    return parse_target_file(content, path)


def parse_target_file(content: bytes, where: str) -> dict[str, Answer]:
    """Read the content of a target file; see :func:`read_target_file`."""
    if len(content) > _LARGEST:
        fault = f"it is larger than {_LARGEST:,} bytes"
        raise InvalidTargetFile([("", fault)], where=where, remedy=_REMEDY)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        # Editors of Windows put a byte order mark first, which says nothing.
        document = tomllib.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        fault = f"it is not TOML: {error}"
        raise InvalidTargetFile([("", fault)], where=where, remedy=_REMEDY) from error
    faults: list[tuple[str, str]] = []
    answers = _read_document(document, faults)
    if faults:
        raise InvalidTargetFile(faults, where=where, remedy=_REMEDY)
    return answers


def write_target_file(answers: Iterable[Answer]) -> str:
    """Write answers as the text of a target file; those that support nothing are left out."""
    parts = [f"{_HEAD}format = {FORMAT}\n"]
    for answer in answers:
        if not answer.features:
            continue
        parts.append(f"\n[namespace.{answer.namespace}]\nsource = {_quoted(answer.source)}\n")
        for name, table in (("facts", answer.facts), ("features", answer.features)):
            lines = [f"{_toml_key(key)} = {_toml_value(value)}\n" for key, value in table.items()]
            parts += [f"\n[namespace.{answer.namespace}.{name}]\n", *lines] if lines else []
    return "".join(parts)


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, but for the one control character that JSON leaves bare.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _toml_value(value: str | tuple[str, ...]) -> str:
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


def _read_document(document: Mapping[str, Any], faults: list[tuple[str, str]]) -> dict[str, Answer]:
    form = document.get("format")
    if type(form) is not int or form != FORMAT:
        said = "is missing" if form is None else f"{form!r} is not supported"
        faults.append(("format", f"{said}; this version reads format = {FORMAT}"))
        return {}
    _check_keys_of(document, ("format", "namespace"), "", faults)
    tables = _table_of(document, "namespace", "", faults)
    answers = {}
    for namespace in tables:
        path = f"namespace.{namespace}"
        if NAMESPACE.fullmatch(namespace) is None:
            faults.append((path, "this is not a namespace"))
            continue
        before = len(faults)
        table = _table_of(tables, namespace, "namespace.", faults)
        answer = _read_namespace(namespace, table, path, faults)
        if len(faults) == before:
            answers[namespace] = answer
    return answers


def _read_namespace(
    namespace: str, table: Mapping[str, Any], path: str, faults: list[tuple[str, str]]
) -> Answer:
    short = _SHORT.get(namespace)
    keys = short[0] if short is not None else ()
    _check_keys_of(table, ("source", "facts", "features", *keys), f"{path}.", faults)
    source = _string_of(table, "source", "target file", f"{path}.", faults)
    told = _table_of(table, "facts", f"{path}.", faults)
    facts = {key: _string_of(told, key, "", f"{path}.facts.", faults) for key in told}
    given = [key for key in keys if key in table]
    if short is not None and given:
        if "features" in table:
            faults.append((path, f"has both features and {given[0]}; one of them has to go"))
            return Answer(namespace, {}, Origin.TARGET_FILE)
        words = {key: _string_of(table, key, "", f"{path}.", faults) for key in given}
        try:
            features, derived = short[1](words)
        except ValueError as error:
            faults.append((path, str(error)))
            return Answer(namespace, {}, Origin.TARGET_FILE)
        return Answer(namespace, features, Origin.TARGET_FILE, source, (), {**derived, **facts})
    features = _features(table, path, faults)
    return Answer(namespace, features, Origin.TARGET_FILE, source, (), facts)


def _features(
    table: Mapping[str, Any], path: str, faults: list[tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    features = {}
    for feature, values in _table_of(table, "features", f"{path}.", faults).items():
        key = f"{path}.features.{feature}"
        if FEATURE.fullmatch(feature) is None:
            faults.append((key, "this is not a feature"))
        elif not isinstance(values, list) or not values:
            faults.append((key, "has to be a list with one value or more"))
        else:
            wrong = [value for value in values if not _is_value(value)]
            faults += [(key, f"{value!r:.60} is not a value") for value in wrong]
            if not wrong and len(set(values)) != len(values):
                faults.append((key, "has a value twice"))
            features[feature] = tuple(map(str, values))
    return features


def _is_value(value: object) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= _LONGEST_VALUE
        and VALUE.fullmatch(value) is not None
    )


def _check_keys_of(
    table: Mapping[str, Any], known: tuple[str, ...], path: str, faults: list[tuple[str, str]]
) -> None:
    also = ", ".join(known)
    faults += [(f"{path}{key}", f"unknown; known are {also}") for key in table if key not in known]


def _table_of(
    table: Mapping[str, Any], key: str, path: str, faults: list[tuple[str, str]]
) -> dict[str, Any]:
    value = table.get(key, {})
    if isinstance(value, dict):
        return value
    faults.append((f"{path}{key}", "has to be a table"))
    return {}


def _string_of(
    table: Mapping[str, Any], key: str, default: str, path: str, faults: list[tuple[str, str]]
) -> str:
    value = table.get(key, default)
    if isinstance(value, str):
        return value
    faults.append((f"{path}{key}", 'has to be text in quotes, such as "12.8"'))
    return default


_Derived = tuple[dict[str, tuple[str, ...]], dict[str, str]]


def _nvidia(words: Mapping[str, str]) -> _Derived:
    versions = {}
    for key, text in words.items():
        match = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})", text)
        if match is None:
            message = f'{key} {text!r:.60} is not a version such as "12.8"'
            raise ValueError(message)
        versions[key] = int(match[1]), int(match[2])
    if "driver" not in versions:
        message = "compute-capability means nothing without driver"
        raise ValueError(message)
    facts = {key.replace("-", " "): text for key, text in words.items()}
    return nvidia.nvidia_features(versions["driver"], versions.get("compute-capability")), facts


def _x86_64(words: Mapping[str, str]) -> _Derived:
    levels = list(x86_64.LEVELS)
    if words["level"] not in levels:
        message = f"level {words['level']!r:.60} is none of {', '.join(levels)}"
        raise ValueError(message)
    count = levels.index(words["level"]) + 1
    # Every x86-64 CPU has these, whatever its level adds.
    flags = {"mmx", "sse", "sse2"}.union(*(x86_64.LEVELS[level] for level in levels[:count]))
    facts = {"architecture": "x86_64"}
    facts.update((f"{level} lacks", " ".join(x86_64.LEVELS[level])) for level in levels[count:])
    return x86_64.x86_64_features(frozenset(flags)), facts


#: Namespace to the keys that state it in short, and what makes features and facts of them.
_SHORT: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, str]], _Derived]]] = {
    "nvidia": (("driver", "compute-capability"), _nvidia),
    "x86_64": (("level",), _x86_64),
}
