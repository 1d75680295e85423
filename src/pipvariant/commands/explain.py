"""``variant explain``: which label would be installed, and why no other."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TextIO

from pipvariant.commands.output import write_json, write_line, write_table
from pipvariant.providers.answers import Answer
from pipvariant.selection.explanation import (
    CHOSEN,
    FITS,
    LEFT_OUT,
    REJECTED,
    Build,
    Explanation,
    FolderAdvice,
    folder_advice,
)
from pipvariant.shim.core.pip_objects import pip_error, redact
from pipvariant.shim.options.definitions import add_named
from pipvariant.shim.reporting.explanations import explain_run
from pipvariant.shim.run import Run
from pipvariant.standard.filename import label_phrase
from pipvariant.standard.properties import iter_properties, properties_json

#: Options of `install` that have no meaning where nothing is installed.
ELSEWHERE = ("--dry-run", "--ignore-installed", "--report")
VERDICTS = {CHOSEN: "chosen", FITS: "fits", REJECTED: "no", LEFT_OUT: "no"}
#: What stands where the label would be.
NAMES = {"non-variant wheel": "(no label)", "source distribution": "(sdist)"}
#: What is said of the first unmet property of a rejected label.
UNMET = ("namespace", "feature", "values", "supported")
#: Stands before the names of the other projects.
NO_VARIANTS = "Without variants"
#: So many values, and features, of an answer are shown.
SHOWN = 3


def run_explain(run: Run, args: list[str]) -> int:
    """Resolve as `install` would, print what was decided, and return the exit code.

    It is pip's own command `install`, in a dry run that does not look at what is installed.

    :param args: what stands behind ``variant explain``.
    """
    command: Any = import_module("pip._internal.commands").create_command("install")
    shape_install(command)
    parse_args = command.parse_args
    as_json = False

    def parse_quietly(words: list[str]) -> Any:
        nonlocal as_json
        options, rest = parse_args(words)
        as_json = bool(options.json)
        # pip's own words are not for stdout here, its warnings and errors go to stderr.
        options.verbose, options.quiet = 0, max(1, options.quiet)
        return options, rest

    run_command, problem = command.run, ""

    def run_and_listen(options: Any, rest: list[str]) -> Any:
        nonlocal problem
        try:
            return run_command(options, rest)
        except pip_error("PipError") as error:
            problem = str(error)
            raise

    command.parse_args, command.run = parse_quietly, run_and_listen
    code: int = command.main(args)
    problem = problem or (f"pip ended with exit code {code}" if code else "")
    explanations, others = explain_run(run.parts.index, run.parts.decisions)
    advice = _folder_advice(run, explanations, others)
    if as_json:
        document = {
            "version": "1",
            "problem": problem or None,
            "projects": list(map(_project_entry, explanations)),
            "without_variants": others,
            "torch_backend": None if advice is None else vars(advice),
        }
        write_json(sys.stdout, document)
    else:
        head = "Taken as plain pip does (--no-variant)" if run.user.no_variant else NO_VARIANTS
        rest = [f"{head}: {', '.join(others)}"] if others else []
        rest += [] if advice is None else [str(advice)]
        _write_as_text(sys.stdout, explanations, rest, problem)
    return code


def _folder_advice(
    run: Run, explanations: Sequence[Explanation], others: Sequence[str]
) -> FolderAdvice | None:
    """Return what there is to say about builds in folders, where nobody asked for these."""
    if run.user.no_variant or run.user.torch_backend:
        return None
    versions = {name: run.parts.decisions.versions.get(name, "") for name in others}
    with_variants, index = [each.name for each in explanations], redact(run.torch_folders.base)
    return folder_advice(versions, with_variants, run.parts.settled_judge, index=index)


def shape_install(command: Any) -> None:
    """Make pip's command `install` one that explains, as far as its options and help go."""
    parser = command.parser
    parser.set_usage("\n      %prog explain [options] REQUIREMENT...")
    parser.prog = parser.prog.replace("install", "variant")
    parser.description = (
        "Say which build `install` would take of each requirement, and why no other. "
        "Nothing is installed. The options are those of `install`."
    )
    for name in ELSEWHERE:
        parser.remove_option(name)
    parser.set_defaults(dry_run=True, ignore_installed=True, explains=True)
    add_named(command.cmd_opts, ("--json",))


# For people.


def _write_as_text(
    out: TextIO, explanations: Sequence[Explanation], others: Sequence[str], problem: str
) -> None:
    """Print explanations as tables, for 80 columns at least.

    :param others: lines about the projects about which nothing was decided.
    """
    for explanation in explanations:
        _write_one(out, explanation)
    for line in others:
        write_line(out, line)
    if problem:
        for line in f"Nothing would be installed: {problem}".splitlines():
            write_line(out, line)


def _write_one(out: TextIO, explanation: Explanation) -> None:
    name, plain = explanation.name, explanation.plain
    chosen = next((build for build in explanation.builds if build.status == CHOSEN), None)
    if explanation.file:
        taken = explanation.file if chosen is None else label_phrase(chosen.label, chosen.kind)
        write_line(out, f"{name} {explanation.version}: {taken}")
    else:
        write_line(out, f"{name}: nothing would be installed")
    _write_tables(out, explanation.builds)
    for version, reason in explanation.skipped.items():
        write_line(out, reason)
        _write_tables(out, explanation.skipped_builds[version])
    for namespace, answer in explanation.answers.items():
        write_line(out, f"{namespace} ({_who(answer)}): {_what(answer)}")
    if explanation.hint:
        write_line(out, explanation.hint)
    if explanation.is_plain_known:
        without = "nothing" if plain is None else f"{name} {plain[0]}, {plain[1]}"
        write_line(out, f"--no-variant would take: {without}")
    out.write("\n")


def _who(answer: Answer) -> str:
    # A variable that replaces a probe is called by its own name.
    detected = "set by" if answer.source in os.environ else "detected by"
    words = {"built-in": detected, "disabled": "off:", "stated": "stated by", "plugin": "plugin"}
    return f"{words.get(answer.origin.value, answer.origin.value)} {answer.source}".strip()


def _what(answer: Answer) -> str:
    facts = ", ".join(f"{key} {value}" for key, value in answer.facts.items())
    if facts or not answer.features:
        return facts or "supports nothing"
    return "; ".join(
        f"{feature} {', '.join(values[:SHOWN])}{', ...' if len(values) > SHOWN else ''}"
        for feature, values in list(answer.features.items())[:SHOWN]
    )


def _write_tables(out: TextIO, builds: Sequence[Build]) -> None:
    for source in dict.fromkeys(build.source for build in builds):
        write_line(out, f"from {source}")
        rows = (
            (build.label or NAMES[build.kind], VERDICTS[build.status], _why(build))
            for build in builds
            if build.source == source
        )
        write_table(out, ("label", "verdict", "why"), rows)


def _why(build: Build) -> str:
    if build.status in (REJECTED, LEFT_OUT):
        return build.reason
    properties = ", ".join(map(str, iter_properties(build.properties)))
    return "; ".join(filter(None, (build.reason, properties)))


# For programs, in the format that the documentation describes.


def _project_entry(explanation: Explanation) -> dict[str, Any]:
    plain = explanation.plain
    return {
        "name": explanation.name,
        "version": explanation.version,
        "file": explanation.file or None,
        "builds": list(map(_build_entry, explanation.builds)),
        "skipped": [
            {
                "version": version,
                "reason": reason,
                "builds": list(map(_build_entry, explanation.skipped_builds[version])),
            }
            for version, reason in explanation.skipped.items()
        ],
        "answers": {
            namespace: {
                "origin": answer.origin.value,
                "source": answer.source,
                "facts": dict(answer.facts),
                "problems": list(answer.warnings),
            }
            for namespace, answer in explanation.answers.items()
        },
        "no_variant": None if plain is None else {"version": plain[0], "file": plain[1]},
        "hint": explanation.hint or None,
    }


def _build_entry(build: Build) -> dict[str, Any]:
    rejection = build.rejection
    return {
        "label": build.label,
        "kind": build.kind,
        "status": build.status,
        "reason": build.reason or None,
        "source": build.source,
        "properties": properties_json(build.properties),
        "unmet": None
        if rejection is None or not rejection.namespace
        else {name: getattr(rejection, name) for name in UNMET},
    }
