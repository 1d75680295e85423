"""Nothing but the reader's own error ever escapes, and nothing invalid is accepted.

The tests of this module run more than 10,000 cases together.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipvariant.errors import InvalidFilename, InvalidMetadata
from pipvariant.standard.filename import (
    check_label,
    join_label,
    parse_variants_json_name,
    split_label,
)
from pipvariant.standard.metadata import (
    Metadata,
    from_dict,
    read_variant_json,
    read_variants_json,
    to_json,
)
from pipvariant.standard.properties import Property, iter_properties
from tests.standard import documents

MANY = settings(deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(("", "null", "a", "A", "a b", "0.2", "v9.0.0", "abi_dependency", "\ud800")),
)
trees = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def check(metadata: Metadata) -> None:
    """Check that what was accepted holds to the standard, and can be written and read."""
    assert metadata.namespaces
    assert len(set(metadata.namespaces)) == len(metadata.namespaces)
    for label, properties in metadata.variants.items():
        assert check_label(label) == label
        assert (label == "null") is (not properties)
        for item in iter_properties(properties):
            assert Property.parse(str(item)) == item
            assert item.namespace in {*metadata.namespaces, "abi_dependency"}
    again = read_variants_json(to_json(metadata))
    assert again.variants == metadata.variants
    assert again.providers == metadata.providers
    assert to_json(again) == to_json(metadata)


def attempt(reader: Callable[[Any], Metadata], data: Any) -> None:
    """Read; what comes out is either good or an InvalidMetadata that says something."""
    try:
        metadata = reader(data)
    except InvalidMetadata as caught:
        error = caught
    else:
        check(metadata)
        return
    assert error.faults
    assert all(message for _, message in error.faults)
    assert str(error).isprintable()
    assert len(str(error)) < 100_000


def read_any_variant_json(data: str) -> Metadata:
    return read_variant_json(data, label=None)


@MANY
@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    attempt(read_variants_json, data)


@MANY
@given(st.text(max_size=200))
def test_any_text(data: str) -> None:
    attempt(read_any_variant_json, data)


@MANY
@given(trees)
def test_any_tree(tree: Any) -> None:
    attempt(from_dict, tree)


def paths(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path to every value of a document."""
    found = [path] if path else []
    items: Any = ()
    if isinstance(document, dict):
        items = document.items()
    elif isinstance(document, list):
        items = enumerate(document)
    for key, value in items:
        found += paths(value, (*path, key))
    return found


def changed(document: Any, path: Sequence[Any], action: str, key: str, value: Any) -> Any:
    """Return a copy in which one value is replaced, removed, renamed or there twice."""
    document = copy.deepcopy(document)
    *inner, last = path
    parent: Any = document
    for step in inner:
        parent = parent[step]
    if action == "replace" or isinstance(parent, list):
        parent[last] = value
    elif action == "remove":
        del parent[last]
    else:
        parent[key] = parent.pop(last) if action == "rename" else copy.deepcopy(parent[last])
    return document


DOCUMENTS = (documents.nvidia(), documents.blas(), documents.older())
ACTIONS = ("replace", "remove", "rename", "add")
keys = st.text(max_size=4) | st.sampled_from(("null", "a", "nvidia"))


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid document with a few values changed."""
    document: Any = draw(st.sampled_from(DOCUMENTS))
    for _ in range(draw(st.integers(1, 3))):
        path, action = draw(st.sampled_from(paths(document))), draw(st.sampled_from(ACTIONS))
        document = changed(document, path, action, draw(keys), draw(trees))
        if not document:
            break
    return document


@settings(MANY, max_examples=20)
@given(keys, trees)
def test_each_value_of_a_document_changed(key: str, value: Any) -> None:
    for document in DOCUMENTS:
        for path, action in itertools.product(paths(document), ACTIONS):
            text = json.dumps(changed(document, path, action, key, value))
            attempt(read_variants_json, text)


@MANY
@given(mutated())
def test_mutated_documents(document: Any) -> None:
    attempt(read_variants_json, json.dumps(document))


@MANY
@given(mutated(), st.data())
def test_damaged_text(document: Any, data: st.DataObject) -> None:
    text = json.dumps(document).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 9)))
    attempt(read_variants_json, text[:start] + data.draw(st.binary(max_size=4)) + text[end:])


parts = st.one_of(
    st.text(max_size=6), st.text("abcXYZ019._+!", max_size=6), st.sampled_from(("", "1", "py3"))
)
filenames = st.one_of(
    st.text(max_size=40),
    st.lists(parts, min_size=1, max_size=9).map(lambda found: "-".join(found) + ".whl"),
    st.lists(parts, min_size=1, max_size=4).map(lambda found: "-".join(found) + "-variants.json"),
)


@settings(MANY, max_examples=2000)
@given(filenames)
def test_any_filename(filename: str) -> None:
    parsed = parse_variants_json_name(filename)
    assert parsed is None or all(parsed)
    with contextlib.suppress(InvalidFilename):
        assert split_label(join_label(filename, "label")) == (filename, "label")
    with contextlib.suppress(InvalidFilename):
        plain, label = split_label(filename)
        if label is None:
            assert plain == filename
        else:
            assert re.fullmatch("[0-9a-z_.]+", label, re.ASCII)
            assert f"{plain[: -len('.whl')]}-{label}.whl" == filename
