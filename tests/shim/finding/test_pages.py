"""What a page lists and its name alone excludes is nothing that pip would have taken."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipvariant.selection.page_filter import PageFilter, Use
from pipvariant.shim.core import samples
from pipvariant.shim.core.pip_objects import make_link
from pipvariant.shim.finding.filenames import label_in
from pipvariant.shim.run import Run

NAMES = ("proof", "Proof", "other", "pro-of", "pro_of", "pro__of", "")
VERSIONS = (
    "1.0",
    "1",
    "1.0a1",
    "1.0.post1.dev2",
    "1.0+cu1",
    "1.0%2Bcu1",
    "1_0",
    "v1",
    "2004d",
    "1!1",
)
BUILDS = ("", "1", "1abc")
TAGS = (
    "py3-none-any",
    "py2.py3-none-any",
    "py3-none-win32",
    "cp39-cp39-win32.any",
    "py3-none",
    "-",
)
LABELS = ("", "a", "null", "x.y_z", "UP", "a-b", "%61")
ENDINGS = (".whl", ".tar.gz", ".zip", ".egg", ".exe", ".WHL", ".json", ".whl.metadata", "")
FRAGMENTS = ("", "#sha256=0a", "#egg=proof", "#md5=0a", "?a=b")

parts = st.tuples(*map(st.sampled_from, (NAMES, VERSIONS, BUILDS, TAGS, LABELS)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts, st.sampled_from(ENDINGS), st.sampled_from(FRAGMENTS))
def test_pip_would_not_take_what_a_filename_excludes(
    run: Run, parts: tuple[str, ...], ending: str, fragment: str
) -> None:
    finder = samples.finder()
    url = samples.url("-".join(filter(None, parts)) + ending + fragment)
    parse = import_module("pip._vendor.packaging.tags").parse_tag
    supported = finder.target_python.get_unsorted_tags()
    use = PageFilter(lambda text: not supported.isdisjoint(parse(text))).use(url)
    link: Any = make_link(url)
    kind, _ = finder.make_link_evaluator(samples.NAME).evaluate_link(link)
    if use is Use.POSSIBLE:
        return
    assert kind.name in {"platform_mismatch", "different_project", "format_unsupported"}
    is_variant = ending == ".whl" and label_in(link.filename) is not None
    assert (use is Use.VARIANT_OF_OTHER_TAGS) == is_variant
