"""``variant platform``: what this machine supports, by namespace, and who says so."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from pipvariant.commands.output import write_json, write_table
from pipvariant.errors import InvalidOutput, InvalidTargetFile
from pipvariant.providers import target_file
from pipvariant.providers.answers import Answer
from pipvariant.providers.builtin import BUILT_INS
from pipvariant.shim.finding.target import CheckedTarget, make_target
from pipvariant.shim.options.definitions import TARGET, add_named
from pipvariant.shim.options.parser import target_options

#: So many values, and features with equal values, are shown in the table without ``-v``.
SHOWN = 6


def add_options(group: Any) -> None:
    """Add the options of ``variant platform``."""
    add_named(group, ("--json", *TARGET))
    group.add_option(
        "--output",
        metavar="file",
        help="Write a target file, for `--variant-target` on another machine; - is stdout.",
    )


def run_platform(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Print what the target supports, or write it into a target file; return the exit code."""
    given = platform_answers(make_target(target_options(options)))
    if options.output:
        _write_target_file(options.output, given, out)
    elif options.json:
        write_json(out, [_answer_entry(answer) for answer in given])
    else:
        write_platform(out, given, in_full=options.verbose > 0)
    return 0


def platform_answers(target: CheckedTarget) -> list[Answer]:
    """Say what the target supports in all namespaces that are built in or stated by its file."""
    return [
        target.built_in(namespace) for namespace in sorted({*BUILT_INS, *target.from_target_file})
    ]


def _write_target_file(path: str, given: Sequence[Answer], out: TextIO) -> None:
    text = target_file.write_target_file(given)
    if path == "-":
        out.write(text)
        return
    file = Path(path).expanduser()
    try:
        if file.exists() and file.stat().st_size:
            target_file.read_target_file(str(file))
        file.write_bytes(text.encode())
    except InvalidTargetFile as error:
        raise InvalidOutput(
            "there is a file already that is not a target file",
            where=path,
            remedy="Name another file, or remove this one",
        ) from error
    except OSError as error:
        raise InvalidOutput(f"it cannot be written: {error.strerror}", where=path) from error


def write_platform(out: TextIO, given: list[Answer], *, in_full: bool = False) -> None:
    """Print answers for people: a line for each feature, then what should be known.

    :param in_full: show all values, and all features that have equal values.
    """
    cells = []
    for answer in given:
        rows = list(_feature_rows(answer, in_full=in_full)) or [("-", "nothing")]
        for number, (features, values) in enumerate(rows):
            name, source = ("", "") if number else (answer.namespace, answer.source)
            cells.append((name, features, values, source))
    columns = ("namespace", "feature", "supported values, most preferred first", "says")
    write_wrapped = write_table(out, columns, cells)
    for answer in given:
        for key, value in answer.facts.items() if answer.features else ():
            write_wrapped(f"{answer.namespace}: {key} {value}")
        for problem in answer.warnings:
            write_wrapped(f"{answer.namespace}: {problem}")


def _feature_rows(answer: Answer, *, in_full: bool) -> Iterator[tuple[str, str]]:
    """Yield (feature, values); features in a row with equal values share one line."""
    for values, group in itertools.groupby(answer.features.items(), key=lambda item: item[1]):
        features = [feature for feature, _ in group]
        shown = ", ".join(values if in_full else values[:SHOWN])
        if len(values) > SHOWN and not in_full:
            shown += f", ... {values[-1]} ({len(values)} values)"
        if len(features) == 1:
            yield features[0], shown
            continue
        names = ", ".join(features if in_full else features[:SHOWN])
        if len(features) > SHOWN and not in_full:
            names += ", ... (-v shows all)"
        yield f"({len(features)} features)", f"{shown}: {names}"


def _answer_entry(answer: Answer) -> dict[str, Any]:
    return {
        "namespace": answer.namespace,
        "origin": answer.origin.value,
        "source": answer.source,
        "features": {feature: list(values) for feature, values in answer.features.items()},
        "facts": dict(answer.facts),
        "problems": list(answer.warnings),
    }
