"""What an index may serve as variants.json: every readable form, and many broken ones.

Each form is made from one document of format 0.2.0, which the wheels carry inside.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Mapping
from typing import Any

from integration.index import Reply

__all__ = ["broken", "good"]

Document = Mapping[str, Any]
Form = Callable[[Document, random.Random], dict[str, Any]]
SCHEMAS = "https://variants-schema.wheelnext.dev"


def good() -> Mapping[str, Form]:
    """Forms that have to be understood."""
    return {
        "0.2.0": lambda inside, rng: dict(inside),
        "0.2.0, other address": lambda inside, rng: {**inside, "$schema": f"{SCHEMAS}/v0.2.0.json"},
        "byte order mark": lambda inside, rng: dict(inside),
        "fewer labels": _fewer_labels,
        "more labels": _more_labels,
        "newer minor": lambda inside, rng: {
            **inside,
            "$schema": f"{SCHEMAS}/v0.7.0.json",
            "comment": ["not known here"],
        },
        "no providers": _no_providers,
        "oldest": _oldest,
    }


def broken(inside: Document) -> Mapping[str, Reply]:
    """Replies that leave the variant wheels of the release out."""
    body = json.dumps(inside).encode()
    namespaces = inside["default-priorities"]["namespace"]
    several = {"static-properties": {"one": ["1"], "two": ["2"]}}
    return {
        "a list": Reply(b"[]"),
        "a number": Reply(b"7"),
        "cut": Reply(body[:-9]),
        "duplicate keys": Reply(body[:-1] + b', "variants": {}}'),
        "empty": Reply(b""),
        "label in capitals": _with(inside, "variants", "CUDA", {"a": {"b": ["c"]}}),
        "label without properties": _with(inside, "variants", "none", {}),
        "login page": Reply(b"<title>Sign in</title>", headers={"Content-Type": "text/html"}),
        "major 9": Reply.json({**inside, "$schema": f"{SCHEMAS}/v9.0.0.json"}),
        "namespace without provider": Reply.json({**inside, "providers": {}}),
        "no feature order": _with(inside, "providers", namespaces[0], several),
        "no namespaces": _with(inside, "default-priorities", "namespace", []),
        "no variants": Reply.json({k: v for k, v in inside.items() if k != "variants"}),
        "not found": Reply(b"gone", status=404),
        "not UTF-8": Reply(body + b"\xff"),
        "null with properties": _with(
            inside, "variants", "null", {namespaces[0]: {"feature": ["value"]}}
        ),
        "repeated namespace": _with(inside, "default-priorities", "namespace", namespaces * 2),
        "two kinds of provider": _with(
            inside, "providers", namespaces[0], {"requires": ["a"], "builtin": "b"}
        ),
        "value in capitals": _with(inside, "variants", "odd", {namespaces[0]: {"feature": ["V!"]}}),
        "wrong hash": Reply(body),
    }


def _with(inside: Document, table: str, key: str, value: object) -> Reply:
    return Reply.json({**inside, table: {**inside[table], key: value}})


def _fewer_labels(inside: Document, rng: random.Random) -> dict[str, Any]:
    variants = dict(inside["variants"])
    for label in rng.sample(sorted(variants), rng.randint(1, len(variants))):
        del variants[label]
    return {**inside, "variants": variants}


def _more_labels(inside: Document, rng: random.Random) -> dict[str, Any]:
    """The document of a release whose wheels are partly elsewhere."""
    namespaces = [*inside["default-priorities"]["namespace"], "elsewhere"]
    return {
        **inside,
        "default-priorities": {"namespace": namespaces},
        "providers": {**inside["providers"], "elsewhere": {"requires": ["elsewhere"]}},
        "variants": {**inside["variants"], "other": {"elsewhere": {"feature": ["value"]}}},
    }


def _no_providers(inside: Document, rng: random.Random) -> dict[str, Any]:
    """The form of PEP 825 alone, which knows no providers."""
    document = {key: value for key, value in inside.items() if key != "providers"}
    document["$schema"] = f"{SCHEMAS}/peps/825/v0.1.1.json"
    return document


def _oldest(inside: Document, rng: random.Random) -> dict[str, Any]:
    """The form of PEP 817: static properties apart, markers, and features moved to the front."""
    providers: dict[str, Any] = {}
    static: dict[str, Any] = {}
    first: dict[str, Any] = {"namespace": list(inside["default-priorities"]["namespace"])}
    for namespace, entry in copy.deepcopy(dict(inside["providers"])).items():
        lists = entry.pop("static-properties", None)
        order = entry.pop("feature-order", None)
        if lists is not None:
            entry["install-time"] = False
            entry["requires"] = [f"{namespace}-provider"]
            static[namespace] = {feature: lists[feature] for feature in order or lists}
        if rng.random() < 0.2:
            entry["enable-if"] = rng.choice(("python_version >= '3'", "python_version < '3'"))
        providers[namespace] = entry
        used = _features(inside, namespace)
        if used and rng.random() < 0.8:
            first.setdefault("feature", {})[namespace] = _some(sorted(used), rng)
            better = {feature: _some(used[feature], rng) for feature in sorted(used)}
            first.setdefault("property", {})[namespace] = better
    document = {
        "$schema": f"{SCHEMAS}/v0.0.3.json",
        "default-priorities": first,
        "providers": providers,
        "variants": inside["variants"],
    }
    return {**document, "static-properties": static} if static else document


def _features(inside: Document, namespace: str) -> dict[str, list[str]]:
    """The features of a namespace that any label uses, with the values."""
    found: dict[str, set[str]] = {}
    for variant in inside["variants"].values():
        for feature, values in variant.get(namespace, {}).items():
            found.setdefault(feature, set()).update(values)
    return {feature: sorted(values) for feature, values in found.items()}


def _some(names: list[str], rng: random.Random) -> list[str]:
    return rng.sample(names, rng.randint(0, len(names)))
