"""What the user says about labels: read from options, and from lines of requirements files.

``--variant torch=cu128`` is a line of its own in a requirements file. A file that plain pip reads
too has it as a comment, ``# pip-variant: --variant torch=cu128``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import InvalidOption, PipVariantError
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import error_for_user
from pipvariant.shim.core.state import CommandOptions, UserConstraints, aside, set_variable
from pipvariant.shim.options.definitions import CHOOSING, make

if TYPE_CHECKING:
    from pipvariant.standard.preferences import Preferences

REQ_FILE = "pip._internal.req.req_file"
#: Option -> what :func:`pipvariant.standard.preferences.read_preferences` calls its words.
WORDS = {
    "variant": "labels",
    "prefer_variant": "preferred",
    "exclude_variant": "excluded",
    "require_variant": "required",
    "same_variant": "families",
}
# The first comment of a line, wherever it begins.
COMMENT = re.compile(r"(?:^|(?<=\s))#(?P<ours>\s*pip-variant:\s*(?=--))?")


def configure(values: Any, user: UserConstraints, options: CommandOptions) -> None:
    """Take what the options of a command say.

    :raises InvalidOption: an option has words that mean nothing.
    """
    user.words = _words(values)
    user.torch_words = list(filter(None, [getattr(values, "torch_backend", None)]))
    user.torch_index = getattr(values, "torch_index", "")
    _read(user, options)


def patches(
    user: UserConstraints, options: CommandOptions, on_read: Callable[[], None]
) -> list[Patch]:
    """Patch the reading of requirements files: its options, its lines, what becomes of them.

    :param on_read: called when a file has been read, if the user prefers something.
    """
    return [
        Patch(f"{REQ_FILE}:SUPPORTED_OPTIONS", _supported_options, _prove_options),
        patch(f"{REQ_FILE}:preprocess", _preprocess, _prove_comment),
        patch(f"{REQ_FILE}:handle_line", _handle_line, _prove_line, user, options),
        patch(
            f"{REQ_FILE}:RequirementsFileParser.parse", _parse, _prove_parse, user, options, on_read
        ),
    ]


def _words(values: Any) -> dict[str, list[str]]:
    given = {option: getattr(values, option, None) for option in WORDS}
    return {option: list(words) for option, words in given.items() if words}


def _read(user: UserConstraints, options: CommandOptions) -> None:
    """Make preferences of all words, and hand them on to pips that build in a child process."""
    user.torch_backend = ""
    if user.no_variant or not (user.words or user.file_words or user.torch_words):
        user.preferences = None
        return
    # Of two labels for one package the later one counts, of two preferences the earlier one:
    # the command line comes before the files in both.
    words = {}
    for option, name in WORDS.items():
        places = [user.words.get(option, []), user.file_words.get(option, [])]
        ordered = places if name in ("preferred", "excluded") else reversed(places)
        words[name] = [word for place in ordered for word in place]
        if words[name]:
            compact = (re.sub(r"\s+", "", word) for word in words[name])
            set_variable(f"PIP_{option.upper()}", " ".join(compact))
    user.preferences = _preferences(words, options)
    for word in user.torch_words[:1]:
        from pipvariant.selection.torch_backends import check_backend, family

        user.torch_backend = check_backend(word)
        set_variable("PIP_TORCH_BACKEND", word)
        set_variable("PIP_TORCH_INDEX", user.torch_index)
        families = (*user.preferences.families, family(word))
        user.preferences = replace(user.preferences, families=families)


def _preferences(words: Mapping[str, Sequence[str]], options: CommandOptions) -> Preferences:
    """Make preferences of words.

    :raises InvalidOption: a word means nothing, or none does with this resolver.
    """
    from pipvariant.standard.preferences import read_preferences

    preferences = read_preferences(**words)
    if options.legacy_resolver:
        raise InvalidOption(
            "a choice of variants is not possible with --use-deprecated=legacy-resolver",
            remedy="Leave one of them out.",
        )
    return preferences


# Requirements files.


def _supported_options(original: list[Callable[[], Any]]) -> list[Callable[[], Any]]:
    return [*original, *(partial(make, name) for name in CHOOSING)]


def _preprocess(original: Any, /, content: str) -> Any:
    if "::" in content or "pip-variant:" in content:
        content = "\n".join(_lines(content))
    return original(content)


def _lines(content: str) -> Iterator[str]:
    """Yield the lines that pip is to read: a comment that is for us is an option for it."""
    for number, line in enumerate(content.splitlines(), start=1):
        comment = COMMENT.search(line)
        if comment is None or not comment["ours"]:
            yield _closed(line) if line.lstrip().startswith(CHOOSING) else line
            continue
        # Plain pip sees a comment: nothing else may be hidden in it, and it has no next line.
        option = _closed(line[comment.end() :].rstrip("\\ \t"))
        if not _is_ours(option):
            raise error_for_user(
                "RequirementsFileParseError",
                f"Invalid requirement: line {number} of a requirements file is {line.strip()!r}; "
                f"after `# pip-variant:` there can be {', '.join(CHOOSING)}.",
            )
        yield f"{line[: comment.start()]}{option}"


def _closed(option: str) -> str:
    """Take away the spaces around ``::``, at which pip's reader ends a word."""
    return re.sub(r"\s*::\s*", "::", option)


def _is_ours(option: str) -> bool:
    """Say whether there is nothing but options of ours, each with its word."""
    words = iter(option.split())
    for word in words:
        name, separator, _ = word.partition("=")
        if name not in CHOOSING:
            return False
        if name != "--no-variant" and not separator and next(words, "-").startswith("-"):
            return False
    return True


def _handle_line(
    user: UserConstraints,
    options: CommandOptions,
    original: Any,
    /,
    line: Any,
    *args: Any,
    **kwargs: Any,
) -> Any:
    result = original(line, *args, **kwargs)
    words = _words(line.opts)
    if getattr(line.opts, "no_variant", False):
        user.no_variant = True
        set_variable("PIP_NO_VARIANT", "1")
    torch_backend = getattr(line.opts, "torch_backend", None)
    if torch_backend:
        user.torch_words.append(torch_backend)
    for option, more in words.items():
        user.file_words.setdefault(option, []).extend(more)
    try:
        if words and not user.no_variant:
            # What is wrong with one line is said of this line; the whole is read at the end.
            _preferences({WORDS[option]: more for option, more in words.items()}, options)
        if torch_backend:
            from pipvariant.selection.torch_backends import check_backend

            check_backend(torch_backend)
    except PipVariantError as error:
        raise error_for_user(
            "RequirementsFileParseError",
            f"Invalid requirement: line {line.lineno} of {line.filename}: {error}",
        ) from error
    return result


def _parse(
    user: UserConstraints,
    options: CommandOptions,
    on_read: Callable[[], None],
    original: Any,
    /,
    *args: Any,
    **kwargs: Any,
) -> Iterator[Any]:
    # pip handles each line before it asks for the next one.
    yield from original(*args, **kwargs)
    _read(user, options)
    if user.preferences is not None:
        on_read()


# Proofs: pip's own reader, given lines of a made-up file.


def _prove_options() -> bool:
    parse: Any = import_module(REQ_FILE).get_line_parser(None)
    return bool(parse("--variant a=b")[1].variant == ["a=b"])


def _prove_comment() -> bool:
    ((_, line),) = import_module(REQ_FILE).preprocess("# pip-variant: --prefer-variant a :: b")
    return bool(line == "--prefer-variant a::b")


def _prove_line(user: UserConstraints, options: CommandOptions) -> bool:
    module: Any = import_module(REQ_FILE)
    arguments, parsed = module.get_line_parser(None)("--variant proof=a")
    line = module.ParsedLine("proof", 1, arguments, parsed, False)
    with aside(user, no_variant=True):
        module.handle_line(line, options=None, finder=None, session=None)
        return user.file_words == {"variant": ["proof=a"]}


def _prove_parse(
    user: UserConstraints, options: CommandOptions, on_read: Callable[[], None]
) -> bool:
    module: Any = import_module(REQ_FILE)
    parser = module.RequirementsFileParser(None, module.get_line_parser(None))
    content = aside(module, get_file_content=lambda *args, **kwargs: ("proof", "--pre\n--pre"))
    with content, aside(user, no_variant=True, preferences=object()):
        read = [user.preferences is None for line in parser.parse("proof", constraint=False)]
        # Here it is read that nothing is preferred.
        return read == [False, False] and user.preferences is None
