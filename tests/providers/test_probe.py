"""Child processes for probes: they cannot hang, flood, print into the answer or stay."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipvariant.errors import ProbeFailed
from pipvariant.providers import probe
from tests.providers.drivers import Life

Module = Callable[[str], str]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a busy machine time."""
    monkeypatch.setattr(probe, "TIME_LIMIT", 60.0)


def run(module: str, environ: Mapping[str, str] | None = None) -> object:
    return probe.run_probe(module, environ=environ or {})


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Module:
    """Make a module with the given body of ``report()``; its name is given back."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(body: str) -> str:
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        (tmp_path / "probed.py").write_text(f"import os, sys, time\n\ndef report():\n{lines}\n")
        return "probed"

    return make


def test_the_report_is_returned(module: Module) -> None:
    report = {"a": [1, 2.5, None, True], "b": {"c": "é"}}
    assert run(module(f"return {report!r}")) == report


def test_what_is_printed_is_not_part_of_the_answer(module: Module) -> None:
    body = "print('{\"report\": 1}', flush=True)\nos.system('echo 2')\nos.write(2, b'3')\nreturn 4"
    assert run(module(body), environ={"PATH": os.defpath}) == 4


def test_nothing_can_be_read_from_standard_input(module: Module) -> None:
    assert run(module("return sys.stdin.read()")) == ""


def test_the_child_has_a_session_of_its_own(module: Module) -> None:
    numbers = run(module("return [os.getpid(), os.getpgrp(), os.getsid(0)]"))
    assert isinstance(numbers, list)
    assert len(set(numbers)) == 1
    assert os.getpid() not in numbers


def test_credentials_are_not_passed_on(module: Module) -> None:
    environ = {
        "AWS_SECRET_ACCESS_KEY": "secret",
        "CUDA_VISIBLE_DEVICES": "0",
        "HOME": "/home/user",
        "LD_LIBRARY_PATH": "/opt/driver",
        "LD_PRELOAD": "",
        "NVIDIA_API_KEY": "secret",
        "PATH": os.defpath,
        "PIP_INDEX_URL": "https://user:secret@example.org/",
        "PYTHONPATH": "/elsewhere",
    }
    seen = run(module("return dict(os.environ)"), environ=environ)
    assert isinstance(seen, dict)
    seen.pop("LC_CTYPE", None)  # Python adds it where the C locale is coerced.
    assert seen == {
        "CUDA_VISIBLE_DEVICES": "0",
        "LC_ALL": "C",
        "LD_LIBRARY_PATH": "/opt/driver",
        "PATH": os.defpath,
    }


def test_modules_are_found_where_they_are_found_here(module: Module) -> None:
    path = run(module("return sys.path"))
    assert isinstance(path, list)
    assert path[: len(sys.path)] == [entry for entry in sys.path if os.path.isabs(entry)]


def test_the_current_folder_is_not_searched(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    name = module("return sys.path")
    folder = tmp_path / "current"
    folder.mkdir()
    (folder / "json.py").write_text("raise SystemExit('wrong json')\n")
    monkeypatch.chdir(folder)
    path = run(name)
    assert isinstance(path, list)
    assert "" not in path


@pytest.mark.parametrize(
    ("body", "fault"),
    (
        ("raise ValueError('no such device')", "ValueError: no such device"),
        ("return object()", "TypeError: Object of type object is not JSON serializable"),
        ("os._exit(3)", "no answer, ended by exit code 3"),
        ("os.kill(os.getpid(), 11)", "no answer, ended by signal 11"),
        ("return 'x' * 300000", "more than 262144 bytes of answer"),
    ),
)
def test_a_probe_that_goes_wrong_is_a_failed_probe(module: Module, body: str, fault: str) -> None:
    with pytest.raises(ProbeFailed) as caught:
        run(module(body))
    assert caught.value.what == fault
    assert caught.value.where == "probed"


def answering(text: str, times: int = 1) -> str:
    """Make the body of a report that writes an answer of its own."""
    return f"""
for stream in range(3, 20):
    try: os.write(stream, {text.encode()!r} * {times})
    except OSError: pass
os._exit(0)
"""


@pytest.mark.parametrize("text", ("7", "[]", "{}", '{"report": 1, "error": 2}'))
def test_an_answer_that_is_no_report_is_a_failed_probe(module: Module, text: str) -> None:
    with pytest.raises(ProbeFailed, match="the answer is not a report"):
        run(module(answering(text)))


@pytest.mark.parametrize(("text", "times"), (("seven", 1), ("{", 1), ("\xff", 1), ("[", 200_000)))
def test_an_answer_that_is_not_json_is_a_failed_probe(
    module: Module, text: str, times: int
) -> None:
    with pytest.raises(ProbeFailed, match="the answer is not JSON"):
        run(module(answering(text, times)))


def test_a_module_that_is_not_there_is_a_failed_probe() -> None:
    with pytest.raises(ProbeFailed, match="ModuleNotFoundError"):
        run("pipvariant.providers.no_such_module")


@pytest.mark.parametrize("executable", ("", None, "/no/such/python"))
def test_a_missing_interpreter_is_a_failed_probe(
    monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(ProbeFailed):
        run("json")


def test_the_time_limit_is_named_and_nothing_stays(
    module: Module, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIME_LIMIT", 3.0)
    body = f"""
os.open({str(life.path)!r}, os.O_WRONLY)
os.fork()
time.sleep(600)
"""
    with pytest.raises(ProbeFailed, match="no answer within 3 seconds"):
        run(module(body))
    assert life.over()


def test_what_an_answering_probe_started_does_not_stay(module: Module, life: Life) -> None:
    body = f"""
reading, writing = os.pipe()
if os.fork() == 0:
    os.closerange(0, writing)
    os.open({str(life.path)!r}, os.O_WRONLY)
    os.close(writing)
    time.sleep(600)
os.close(writing)
os.read(reading, 1)
return "well"
"""
    assert run(module(body)) == "well"
    assert life.over()


@pytest.mark.parametrize("number", (signal.SIGTERM, signal.SIGKILL))
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a child does not see its parent go")
def test_a_signal_ends_a_hanging_probe_too(
    module: Module, life: Life, tmp_path: Path, number: int
) -> None:
    name = module(f"os.write(os.open({str(life.path)!r}, os.O_WRONLY), b'x'); time.sleep(600)")
    code = "from pipvariant.providers.probe import run_probe; run_probe({!r}, environ={{}})"
    environ = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    with subprocess.Popen(
        [sys.executable, "-c", code.format(name)], env=environ, stderr=subprocess.DEVNULL
    ) as process:
        assert life.begun()
        process.send_signal(number)
    assert process.returncode == -number
    assert life.over()


def test_the_childs_side_writes_an_error_as_text(tmp_path: Path) -> None:
    code = "from pipvariant.providers import _child; _child.report_to_parent('no.such.module')"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert json.loads(output)["error"].startswith("ModuleNotFoundError: ")


# Apart from the user's environment


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], Path]:
    """Make a folder with a plugin whose answer is the expression; the folder is given back."""

    def make(expression: str) -> Path:
        site = tmp_path / "site"
        site.mkdir()
        (site / "asked.py").write_text(
            "import os, sys\nnamespace = 'asked'\ndef get_supported_configs():\n"
            f"    namespace = {expression}\n"
            "    return [type('Config', (), {'name': 'it', 'values': list(namespace)})]\n"
        )
        return site

    return make


def ask_apart(site: Path, environ: Mapping[str, str] | None = None) -> tuple[list[str], list[str]]:
    """Return the values that the plugin gave, and what it printed."""
    printed: list[str] = []
    report = probe.run_plugin(
        str(site),
        "asked",
        "get_supported_configs",
        environ=environ or {},
        printed=printed,
    )
    assert isinstance(report, dict)
    return report["configs"][0]["values"], printed


def test_apart_only_one_folder_and_the_standard_library_are_searched(
    plugin: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    site = plugin("sys.path")
    path, _ = ask_apart(site)
    assert path[0] == str(site)
    assert str(tmp_path) not in path
    assert not [entry for entry in path if "site-packages" in entry]


def test_apart_the_folders_are_its_own_and_do_not_stay(plugin: Callable[[str], Path]) -> None:
    environ = {"HOME": "/home/user", "TMPDIR": "/tmp", "A_TOKEN": "s3cr3t", "PATH": os.defpath}
    site = plugin("[os.getcwd(), *(f'{key}={value}' for key, value in os.environ.items())]")
    (folder, *variables), _ = ask_apart(site, environ)
    assert f"HOME={folder}" in variables
    assert f"TMPDIR={folder}" in variables
    assert "s3cr3t" not in str(variables)
    assert not os.path.exists(folder)


def test_apart_what_overrides_a_provider_is_passed_on(plugin: Callable[[str], Path]) -> None:
    environ = {"ACME_VARIANT_PROVIDER_FORCE_SPEED": "high"}
    values, _ = ask_apart(plugin("[os.environ['ACME_VARIANT_PROVIDER_FORCE_SPEED']]"), environ)
    assert values == ["high"]


def test_apart_what_is_printed_is_kept_up_to_a_limit(plugin: Callable[[str], Path]) -> None:
    values, printed = ask_apart(plugin("[str(os.write(2, b'y' * 1000000))]"))
    assert values == ["1000000"]
    assert 0 < len("".join(printed)) <= probe._MAX_PRINTED
