"""What is typed before a command is known, and help."""

from __future__ import annotations

import re

import pytest

from integration.environments import PIP_VERSION, Pip
from pipvariant import __version__

SUB_COMMANDS = ["platform", "explain", "list", "check", "init"]
SUB_COMMANDS += ["make", "unmake", "index", "lint", "hook", "demo"]


@pytest.mark.every_pip
@pytest.mark.effect_of("entry", "get_pip_version")
@pytest.mark.parametrize("option", ("--version", "-V"))
def test_the_version_of_both_programs_is_shown(pip: Pip, option: str) -> None:
    first, second = pip.variant(option).check().stdout.splitlines()
    assert first == pip.plain(option).check().stdout.strip()
    assert first.startswith("pip {}.{}".format(*PIP_VERSION))
    assert second.startswith(f"pip-variant {__version__} from ")


@pytest.mark.every_pip
@pytest.mark.effect_of("entry", "get_similar_commands")
def test_a_sub_command_without_variant_before_it_is_hinted_at(pip: Pip) -> None:
    result = pip.variant("explain", "tri")
    assert (result.code, result.stdout) == (1, "")
    assert result.stderr == 'ERROR: unknown command "explain" - maybe you meant "variant explain"\n'


def test_a_misspelt_command_is_answered_as_by_plain_pip(pip: Pip) -> None:
    ours, plains = pip.variant("instal"), pip.plain("instal")
    assert (ours.code, ours.stdout, ours.stderr) == (1, plains.stdout, plains.stderr)


@pytest.mark.parametrize("word", ("exlain", "Explain", "xyz"))
def test_a_misspelt_sub_command_is_an_error_with_a_suggestion(pip: Pip, word: str) -> None:
    result = pip.variant("variant", word)
    hint = "" if word == "xyz" else ' - maybe you meant "variant explain"'
    assert result.code == 1
    assert result.stderr == (
        f'ERROR: unknown sub-command "variant {word}"{hint}. Known: {", ".join(SUB_COMMANDS)}.\n'
    )


@pytest.mark.every_pip
@pytest.mark.parametrize("words", ((), ("--help",)))
def test_the_help_of_variant_lists_the_sub_commands_and_nothing_else(
    pip: Pip, words: tuple[str, ...]
) -> None:
    help_text = pip.variant("variant", *words).check().stdout
    assert re.findall(r"^  (\w+)  +\w", help_text, re.MULTILINE) == SUB_COMMANDS
    assert "Options" not in help_text


@pytest.mark.every_pip
def test_the_help_of_a_sub_command_has_its_options_and_the_general_ones(pip: Pip) -> None:
    help_text = pip.variant("variant", "init", "--help").check().stdout
    assert "pip-variant variant init [options] [NAMESPACE...]" in help_text
    assert help_text.index("--pyproject") < help_text.index("General Options:")
    assert "Write a first `variant` table into pyproject.toml." in help_text
    assert "Variant Options" not in pip.variant("variant", "demo", "--help").check().stdout
