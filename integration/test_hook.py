"""The hook: where it is on, `pip` itself chooses variants; where anything is wrong, it does not."""

from __future__ import annotations

import shutil
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

import pipvariant
from integration.environments import PIP_VERSION, Pip, Result
from integration.index import Index
from integration.templates import site_of
from integration.test_unknown_pip import call_it, copied_pip
from integration.wheels import Sdist, Wheel, tri
from pipvariant.wheelfile import record

pytestmark = pytest.mark.real_start

PACKAGE = Path(pipvariant.__file__).parent
INFO = f"pip_variant-{pipvariant.__version__}.dist-info"
CHOSEN = "tri 1.0: variant cuda12.8 (nvidia :: cuda_version_lower_bound :: 12.8)"
PLAIN = "WARNING: this is plain pip, without variant wheels: "
#: The hook itself, without a look at whether it works.
INSTALL = (
    "from pipvariant.shim.building.child_pip import places; places = places(); places.pop('pip')"
)
INSTALL += "; from pipvariant.shim.hook.files import install; install(places)"
#: What console scripts of pip have in them.
MAIN = "import sys; sys.argv[0] = 'pip'; from pip import main; sys.exit(main())"
DRY = ("install", "--dry-run", "tri")
OFF = {"PIP_VARIANT_HOOK": "0"}


@pytest.fixture
def hooked(pip: Pip, index: Index) -> Pip:
    """A pip in an environment that has the hook, with pip-variant elsewhere."""
    index.add(*tri(), Wheel("solo"))
    pip.run(["-c", INSTALL]).check()
    return pip


@pytest.fixture
def own(pip: Pip) -> Pip:
    """A pip in an environment that has the hook and pip-variant."""
    shutil.copytree(PACKAGE, pip.site / "pipvariant")
    names = [path.relative_to(pip.site) for path in (pip.site / "pipvariant").rglob("*.py")]
    lines = [record.line(name.as_posix(), (pip.site / name).read_bytes()) for name in names]
    info = pip.site / INFO
    info.mkdir()
    (info / "METADATA").write_text(f"Name: pip-variant\nVersion: {pipvariant.__version__}\n")
    (info / "RECORD").write_text("\n".join([*lines, f"{INFO}/RECORD,,", ""]))
    # What is outside of the environment belongs to other tests too.
    shutil.copytree((pip.site / "runtime.pth").read_text().strip(), pip.root / "own", symlinks=True)
    (pip.root / "own" / "pipvariant").unlink()
    (pip.site / "runtime.pth").write_text(f"{pip.root / 'own'}\n")
    pip.run(["-c", INSTALL]).check()
    return pip


def chosen(result: Result) -> list[str]:
    return [line for line in result.check().stdout.splitlines() if line.startswith("tri ")]


@pytest.mark.every_pip
def test_pip_itself_takes_the_best_label_unless_it_is_turned_off(hooked: Pip) -> None:
    assert chosen(hooked.plain(*DRY, driver="12.8")) == [CHOSEN]
    assert chosen(hooked.plain(*DRY, driver="12.8", environ=OFF)) == []


@pytest.mark.parametrize("way", (["-I", "-m", "pip", "--isolated"], ["-c", MAIN]))
def test_each_way_to_call_pip_is_variant_aware(hooked: Pip, index: Index, way: list[str]) -> None:
    result = hooked.run([*way, *DRY, "--index-url", index.url], driver="12.8")
    assert chosen(result) == [CHOSEN]


def test_a_build_gets_its_variant_too_and_says_so_once(hooked: Pip, index: Index) -> None:
    probe = "__import__('tri').LABEL"
    index.add(Sdist(Wheel("made"), build_requires=("tri",), probe=probe))
    result = hooked.plain("-v", "install", "made", driver="12.8").check()
    assert (hooked.site / "built_with.py").read_text() == "FOUND = 'cuda12.8'\n"
    assert len(result.lines_with("tri 1.0: variant cuda12.8")) == 1


def test_without_variants_the_output_is_that_of_pip(own: Pip, index: Index) -> None:
    index.add(Wheel("solo"))
    for args in (["--version"], ["completion", "--bash"], ["install", "--dry-run", "solo"]):
        on = own.plain(*args, environ={"VIRTUAL_ENV": str(own.work)})
        assert on.check() == own.plain(*args, environ=OFF)


def test_an_option_that_means_nothing_is_an_error_and_no_reason_for_plain_pip(hooked: Pip) -> None:
    result = hooked.plain(*DRY, "--variant", "no label")
    assert (result.code, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("ERROR: --variant")


def test_an_upgrade_of_pip_variant_keeps_its_hook(own: Pip, index: Index) -> None:
    index.add(Wheel("pip-variant", "9.0"))
    own.plain("install", "--upgrade", "pip-variant").check()
    assert own.installed()["pip-variant"] == "9.0"
    listed = (own.site / "pip_variant-9.0.dist-info" / "RECORD").read_text().splitlines()
    hook = [line.split(",")[0] for line in listed if "pip_variant_" in line.split("-")[0]]
    assert len(hook) == 3
    assert all((own.site / name).exists() for name in hook)


def test_pip_variant_takes_its_hook_with_it_when_it_is_uninstalled(own: Pip) -> None:
    assert own.variant("variant", "hook", "status").check().lines_with("It works")
    listed = record.listed((own.site / INFO / "RECORD").read_bytes())
    hook = [name for name in listed if "pip_variant_" in name]
    assert len(hook) == 4
    assert all((own.site / name).exists() for name in hook)
    own.plain("uninstall", "--yes", "pip-variant").check()
    assert [path.name for path in own.site.rglob("*pip_variant_*")] == []


def test_an_environment_that_sees_the_packages_of_another_has_not_its_hook(hooked: Pip) -> None:
    inner = hooked.root / "env" / "inner"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(inner)
    # As with the packages of the system.
    line = f"import site; site.addsitedir({str(hooked.site)!r})\n"
    (site_of(inner) / "outer.pth").write_text(line)
    command = [str(inner / "bin" / "python"), "-m", "pip", *DRY]
    result = hooked.run(["-c", f"import subprocess as s; s.run({command!r})"], driver="12.8")
    assert result.lines_with("Would install tri-1.0")
    assert chosen(result) == []


@pytest.mark.skipif(PIP_VERSION < (22, 3), reason="--python is new in pip 22.3")
def test_a_pip_variant_kept_apart_serves_the_pip_of_another_environment(
    pip: Pip, index: Index
) -> None:
    index.add(*tri())
    root = pip.root / "other"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(root)
    (site_of(root) / "runtime.pth").write_text((pip.site / "runtime.pth").read_text())
    result = pip.variant("--python", root, "variant", "hook", "install").check()
    assert result.lines_with("It works: pip is variant-aware")
    command = [str(root / "bin" / "python"), "-m", "pip", *DRY]
    result = pip.run(["-c", f"import subprocess as s; s.run({command!r})"], driver="12.8")
    assert chosen(result) == [CHOSEN]


def broken(own: Pip, name: str, text: str) -> None:
    (own.site / "pipvariant" / name).write_text(text)


#: What is done to it, and what the warning says then.
DAMAGES: dict[str, tuple[Callable[[Pip], object], str]] = {
    "all of it removed": (lambda own: shutil.rmtree(own.site / "pipvariant"), "'pipvariant'"),
    "the entry removed": (
        lambda own: (own.site / "pipvariant/cli.py").unlink(),
        "'pipvariant.cli'",
    ),
    "a file removed that is used later on": (
        lambda own: (own.site / "pipvariant/selection/ordering.py").unlink(),
        "ordering.py cannot be read",
    ),
    "a syntax error at once": (lambda own: broken(own, "shim/run.py", "def"), "run.py was changed"),
    "a syntax error later on": (lambda own: broken(own, "standard/table.py", "="), "table.py"),
    "zeros in a file": (lambda own: broken(own, "errors.py", "\0" * 9), "null bytes"),
    "the entry of another release": (lambda own: broken(own, "cli.py", ""), "'start'"),
    "the syntax of another Python": (lambda own: broken(own, "cli.py", "new x"), "SyntaxError"),
    "an end of the process": (lambda own: broken(own, "cli.py", "exit()"), "SystemExit"),
    "half of the hook removed": (
        lambda own: (own.site / "_pip_variant_start.py").unlink(),
        "'_pip_variant_start'",
    ),
    "a package removed that it needs": (
        lambda own: (own.root / "own" / "packaging").unlink(),
        "the package packaging is missing",
    ),
}


def test_whatever_is_damaged_pip_goes_on_with_one_warning(own: Pip) -> None:
    shutil.copytree(own.site, own.root / "kept")
    plain = own.plain("--version", environ=OFF).check().stdout
    for name, (damage, word) in DAMAGES.items():
        damage(own)
        result = own.plain("--version")
        assert (name, result.code, result.stdout) == (name, 0, plain)
        (line,) = result.stderr.splitlines()
        assert line.startswith(PLAIN)
        assert word in line
        shutil.copytree(own.root / "kept", own.site, dirs_exist_ok=True)


@pytest.mark.every_pip
def test_a_pip_that_is_not_as_expected_goes_on_with_one_warning(hooked: Pip) -> None:
    pips = copied_pip(hooked.root, "evaluate_links", "other_evaluate_links")
    moved = hooked.plain(*DRY, driver="12.8", environ={"PYTHONPATH": str(pips)})
    call_it(pips, "99.0")
    newer = hooked.plain(*DRY, driver="12.8", environ={"PYTHONPATH": str(pips)})
    for result, word in ((moved, "evaluate_links"), (newer, "pip 99.0 is newer")):
        assert chosen(result) == []
        assert result.lines_with("Would install tri-1.0")
        (line,) = result.stderr.splitlines()
        assert line.startswith(PLAIN)
        assert word in line
