"""Shell completion: what a shell offers behind `pip-variant`, asked through pip's own scripts."""

from __future__ import annotations

import re
import shutil

import pytest

from integration.environments import Pip

pytestmark = pytest.mark.real_start

SHELLS = ("bash", "fish", "powershell", "zsh")
SUB_COMMANDS = [
    *("platform", "explain", "list", "check", "init"),
    *("make", "unmake", "index", "lint", "hook", "demo"),
]
PROGRAM = """#!/bin/sh
exec "$(dirname "$0")/python" -m pipvariant "$@"
"""

in_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


def _asked(pip: Pip, *words: str) -> list[str]:
    """What pip answers a shell when the cursor is behind the last of these words."""
    environ = {
        "PIP_AUTO_COMPLETE": "1",
        "COMP_WORDS": " ".join(("pip-variant", *words)),
        "COMP_CWORD": str(len(words)),
    }
    result = pip.variant(environ=environ)
    assert (result.code, result.stderr) == (1, "")
    return result.stdout.split()


def _typed(pip: Pip, *words: str) -> list[str]:
    """What bash offers behind the last of these words, having sourced the script."""
    program = pip.root / "env" / "bin" / "pip-variant"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (pip.work / "script").write_text(pip.variant("completion", "--bash").check().stdout)
    shell = f"""
        source ./script
        COMP_WORDS=({program} {" ".join(words)} {"" if words[-1] else "''"})
        COMP_CWORD={len(words)}
        registered=$(complete -p pip-variant)
        [[ $registered =~ -F\\ ([a-z_]+) ]] && ${{BASH_REMATCH[1]}} {program}
        echo "${{COMPREPLY[*]}}"
    """
    script = f"import subprocess; subprocess.run(['bash', '-c', {shell!r}], check=True)"
    return pip.run(["-c", script]).check().stdout.split()


@pytest.mark.effect_of("completion", "get_prog", "BASE_COMPLETION", "COMPLETION_SCRIPTS")
@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_for_this_program_and_leaves_that_of_pip_alone(pip: Pip, shell: str) -> None:
    ours = pip.variant("completion", f"--{shell}").check().stdout
    plain = pip.plain("completion", f"--{shell}").check().stdout
    assert "pip-variant" in ours
    assert re.search(r"\bpip\b(?!-variant)", ours) is None
    assert len(ours.splitlines()) == len(plain.splitlines())
    functions = re.compile(r"\w*_pip\w*")
    assert not set(functions.findall(ours)) & set(functions.findall(plain))


@in_bash
def test_bash_completes_the_command_and_its_sub_commands(pip: Pip) -> None:
    assert _typed(pip, "vari") == ["variant"]
    assert _typed(pip, "variant", "") == SUB_COMMANDS
    assert _typed(pip, "variant", "make", "--prop") == ["--property="]


def test_the_command_is_among_those_of_pip(pip: Pip) -> None:
    offered = _asked(pip, "")
    assert {"install", "list", "variant"} <= set(offered)
    assert "platform" not in offered


@pytest.mark.every_pip
def test_options_of_install_are_offered(pip: Pip) -> None:
    assert _asked(pip, "install", "--variant") == ["--variant=", "--variant-target="]
    assert _asked(pip, "install", "--no-var") == ["--no-variant"]


@pytest.mark.every_pip
def test_a_sub_command_is_completed_and_not_the_command_of_pip_with_its_name(pip: Pip) -> None:
    assert _asked(pip, "variant", "l") == ["list", "lint"]
    assert "--outdated" not in _asked(pip, "variant", "list", "--")
    assert "--outdated" in _asked(pip, "list", "--")


@pytest.mark.parametrize("name", SUB_COMMANDS)
def test_each_sub_command_has_its_options_offered(pip: Pip, name: str) -> None:
    offered = _asked(pip, "variant", name, "--")
    help_text = pip.variant("variant", name, "--help").check().stdout
    listed = {
        f"--{word}" for word in re.findall(r"^  (?:-\w, )?--([\w-]+)", help_text, re.MULTILINE)
    }
    assert listed
    assert listed <= {word.rstrip("=") for word in offered}


def test_explain_offers_the_options_of_install_that_it_has(pip: Pip) -> None:
    offered = _asked(pip, "variant", "explain", "--")
    assert {"--json", "--requirement=", "--variant="} <= set(offered)
    assert "--dry-run" not in offered


@pytest.mark.parametrize(
    "words",
    (
        ("variant", "make"),
        ("variant", "lint"),
        ("variant", "platform", "--variant-target"),
        ("variant", "platform", "--output"),
        ("download", "--variant-target"),
    ),
)
def test_files_are_offered_where_files_go(pip: Pip, words: tuple[str, ...]) -> None:
    (pip.work / "gpu.toml").write_text("")
    assert _asked(pip, *words, "gp") == ["gpu.toml"]


def test_a_name_of_a_command_that_is_an_argument_is_none(pip: Pip) -> None:
    assert "--upgrade" in _asked(pip, "install", "variant", "--up")


@pytest.mark.parametrize("cursor", ("", "x", "-1", "99"))
def test_a_cursor_that_is_nowhere_is_for_pip_to_judge(pip: Pip, cursor: str) -> None:
    environ = {"PIP_AUTO_COMPLETE": "1", "COMP_WORDS": "pip-variant variant", "COMP_CWORD": cursor}
    ours = pip.variant("--version", environ=environ)
    plain = pip.plain("--version", environ={**environ, "COMP_WORDS": "pip download"})
    assert "pipvariant/shim/options/completion" not in ours.output
    assert ours.code == plain.code
