"""Target files: what a machine supports, stated in TOML, written by a machine or by a person."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pipvariant.errors import InvalidTargetFile
from pipvariant.files import open_regular
from pipvariant.providers import nvidia, x86_64
from pipvariant.providers.answers import Answer, Origin
from pipvariant.standard.properties import FEATURE, NAMESPACE, VALUE
from pipvariant.standard.toml import parse_toml

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
        with open_regular(path) as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidTargetFile([("", reason)], where=path, remedy=_REMEDY) from error
    return parse_target_file(content, path)


def parse_target_file(content: bytes, where: str) -> dict[str, Answer]:
    """Read the content of a target file; see :func:`read_target_file`."""
    faults: list[tuple[str, str]] = []
    answers = {}
    if len(content) > _LARGEST:
        faults.append(("", f"it is larger than {_LARGEST:,} bytes"))
    else:
        try:
            # Editors of Windows put a byte order mark first, which says nothing.
            document = parse_toml(content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            faults.append(("", f"it is not TOML: {error}"))
        except ValueError as error:
            faults.append(("", f"it {error}"))
        else:
            answers = _read_document(_Table(document, faults))
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
    # A JSON string is a TOML string, but for characters that JSON leaves bare or halves.
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _toml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _quoted(key)


def _toml_value(value: str | tuple[str, ...]) -> str:
    return _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"


class _Table:
    """A table of a target file, at a path of keys; it adds what is wrong to the file's faults."""

    def __init__(
        self, content: Mapping[str, Any], faults: list[tuple[str, str]], *path: str
    ) -> None:
        self.content = content
        self._faults = faults
        self._path = path

    def note(self, fault: str, *keys: str) -> None:
        self._faults.append((".".join((*self._path, *keys)), fault))

    def check_keys(self, *known: str) -> None:
        for key in self.content:
            if key not in known:
                self.note(f"unknown; known are {', '.join(known)}", key)

    def table(self, key: str) -> _Table:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            self.note("has to be a table", key)
            value = {}
        return _Table(value, self._faults, *self._path, key)

    def string(self, key: str, default: str = "") -> str:
        value = self.content.get(key, default)
        if isinstance(value, str):
            return value
        self.note('has to be text in quotes, such as "12.8"', key)
        return default


def _read_document(document: _Table) -> dict[str, Answer]:
    form = document.content.get("format")
    if type(form) is not int or form != FORMAT:
        said = "is missing" if form is None else f"{form!r} is not supported"
        document.note(f"{said}; this version reads format = {FORMAT}", "format")
        return {}
    document.check_keys("format", "namespace")
    tables = document.table("namespace")
    answers = {}
    for namespace in tables.content:
        if NAMESPACE.fullmatch(namespace) is None:
            tables.note("this is not a namespace", namespace)
        else:
            answers[namespace] = _read_namespace(namespace, tables.table(namespace))
    return answers


def _read_namespace(namespace: str, table: _Table) -> Answer:
    keys, derive = _SHORT.get(namespace, ((), None))
    table.check_keys("source", "facts", "features", *keys)
    source = table.string("source", "target file")
    told = table.table("facts")
    facts = {key: told.string(key) for key in told.content}
    given = [key for key in keys if key in table.content]
    features: dict[str, tuple[str, ...]] = {}
    if derive is None or not given:
        features = _features(table.table("features"))
    elif "features" in table.content:
        table.note(f"has both features and {given[0]}; one of them has to go")
    else:
        try:
            features, derived = derive({key: table.string(key) for key in given})
            facts = {**derived, **facts}
        except ValueError as error:
            table.note(str(error))
    return Answer(namespace, features, Origin.TARGET_FILE, source, (), facts)


def _features(table: _Table) -> dict[str, tuple[str, ...]]:
    features = {}
    for feature, values in table.content.items():
        if FEATURE.fullmatch(feature) is None:
            table.note("this is not a feature", feature)
        elif not isinstance(values, list) or not values:
            table.note("has to be a list with one value or more", feature)
        else:
            wrong = [value for value in values if not _is_value(value)]
            for value in wrong:
                table.note(f"{value!r:.60} is not a value", feature)
            if not wrong and len(set(values)) != len(values):
                table.note("has a value twice", feature)
            features[feature] = tuple(map(str, values))
    return features


def _is_value(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_VALUE and bool(VALUE.fullmatch(value))


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
