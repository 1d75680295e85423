"""What the providers of GPUs share: overrides, asking a driver, and judging its report."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import _driver_files
from pipvariant.providers.answers import Answer, R


def read_override(
    environ: Mapping[str, str],
    name: str,
    pattern: str,
    form: str,
    example: str,
    *,
    several: bool = False,
) -> list[re.Match[str]]:
    """Read a variable that states what would otherwise be asked of the driver.

    :param pattern: matches what can be stated.
    :param form: what the value has to be, and an example of it, for people.
    :param several: it may be a list, with commas, semicolons or spaces in between.
    :returns: a match of each item; nothing for a variable that is empty or not set.
    :raises InvalidOverride: it is set to something that cannot be.
    """
    text = environ.get(name, "")
    text = text if several else text.strip()
    found = []
    for item in filter(None, re.split(r"[,;\s]+", text) if several else [text]):
        match = re.fullmatch(pattern, item)
        if match is None:
            remedy = f"Set it to {example}, or unset it"
            raise InvalidOverride(f"{text!r} is not {form}", where=name, remedy=remedy)
        found.append(match)
    return found


def misspelt_variables(environ: Mapping[str, str], known: Sequence[str]) -> tuple[str, ...]:
    """Say which variables look as if they stated something, and do not.

    :param known: the variables of one provider; all names with their beginning are its own.
    """
    start = known[0].partition("PROVIDER_")[0]
    notes = []
    for name in sorted(environ):
        text = name.upper()
        if name in known or not ("VARIANT" in text or "_FORCE_" in text):
            continue
        from difflib import get_close_matches

        cutoff = 0.0 if text.startswith(start) else 0.9
        if meant := get_close_matches(text, known, n=1, cutoff=cutoff):
            notes.append(f"nothing looks at {name}; the variable is {meant[0]}")
    return tuple(notes)


@contextlib.contextmanager
def sensible(whose: str) -> Iterator[None]:
    """Let a report that cannot be judged be a failed probe.

    :param whose: whose answer it is, for people.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ProbeFailed(f"{whose} makes no sense") from None


def ask_driver(
    module: str,
    judge: Callable[[object], R],
    failed: Callable[..., R],
    words: str,
    environ: Mapping[str, str],
    signs: Iterable[str],
    *,
    refresh: bool,
) -> R:
    """Judge what a probe reports in a child process; one that fails is a problem, no error.

    :param module: the module of the probe in this package.
    :param failed: makes the reading of a probe that fails.
    :param words: what could not be done then, for people.
    :param signs: what is different as soon as the report can be, such as the state of files.
    """
    from pipvariant.providers import probe_cache

    path, root = f"pipvariant.providers.{module}", str(_driver_files.ROOT)
    try:
        return probe_cache.query_probe(
            path, root, judge=judge, environ=environ, signs=signs, refresh=refresh
        )
    except ProbeFailed as error:
        return failed(source="failed probe", problems=(f"{words}: {error.what}",))


def state_of(answer: Answer, has: Sequence[str], nothing: str) -> str:
    """Say what this machine has, or else what went wrong, or else that it has nothing."""
    if has:
        return f"this machine has {', '.join(has)}"
    return answer.problems[0] if answer.problems else nothing
