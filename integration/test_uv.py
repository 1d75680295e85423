"""uv chooses as the standard says, but for differences that are listed in the docs."""

from __future__ import annotations

import json
import platform
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from integration.differences import uv_choice
from integration.environments import Pip
from integration.index import Index, Reply
from integration.model import choose
from integration.projects import MACHINES, Machine, publish
from integration.templates import Template
from integration.test_random_projects import PROJECTS, TAGS, chosen_files, projects_for
from integration.wheels import Wheel, metadata, release, tri

uv = pytest.importorskip("uv", reason="uv comes with the newest pip only, see tox.ini")

DOCUMENT = Path(__file__).parents[1] / "docs" / "differences-from-uv.md"

OLDER = Wheel("x", "0.9")
BLAS = {"blas": {"static-properties": {"library": ["mkl", "openblas"]}}}
MKL, OPENBLAS, ATLAS = (
    (f"blas :: library :: {library}",) for library in ("mkl", "openblas", "atlas")
)
X86_64 = {"x86_64": {"requires": ["x86-64-variant-provider"]}}
DEBUG = {"debug": {"static-properties": {"build": ["debug"]}, "optional": True}}
# The format as uv names it; it reads the same under any other name.
SCHEMA = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json"


def blas(**labels: tuple[str, ...]) -> list[Wheel]:
    return release("x", labels=labels, providers=BLAS, schema=SCHEMA)


GPU = Machine("GPU", "12.8")
FAST = blas(mkl=MKL, null=())
SAYS = metadata(FAST)


@dataclass(frozen=True)
class Case:
    """One difference, as small as can be.

    :param heading: of its section in the docs.
    :param ours: version and label that the standard wants, empty for an error; ``theirs``: uv's.
    :param reply: what is served as variants.json; ``MISSING`` for no such file.
    """

    heading: str
    ours: str
    theirs: str
    files: Sequence[Wheel] = (*FAST, OLDER)
    reply: Reply | None = None
    specifier: str = ""
    yanked: str = ""
    machine: Machine = GPU


MISSING = Reply(status=410)
CASES = (
    Case("Metadata that cannot be read", "1.0", "0.9", reply=Reply(b"{")),
    Case("Metadata that cannot be had", "1.0", "", reply=Reply(status=404)),
    Case("Keys that are not known", "1.0 mkl", "0.9", reply=Reply.json({**SAYS, "comment": 1})),
    Case(
        "A byte order mark",
        "1.0 mkl",
        "0.9",
        reply=Reply(b"\xef\xbb\xbf" + json.dumps(SAYS).encode()),
    ),
    Case(
        "Faults that are overlooked",
        "1.0",
        "1.0 mkl",
        reply=Reply.json({**SAYS, "$schema": SCHEMA.replace("v0.2", "v9.0")}),
    ),
    Case(
        "Metadata without providers",
        "1.0 cuda12.8",
        "1.0 null",
        tri(),
        Reply.json(
            {
                "$schema": SCHEMA.replace("850/v0.2.0", "825/v0.1.1"),
                "default-priorities": {"namespace": ["nvidia"]},
                "variants": metadata(tri())["variants"],
            }
        ),
    ),
    Case("No variants.json", "1.0 mkl", "1.0", reply=MISSING),
    Case(
        "A null variant that is not listed",
        "1.0 null",
        "1.0",
        blas(atlas=ATLAS, null=()),
        Reply.json(metadata(blas(atlas=ATLAS))),
    ),
    Case(
        "CPU flags",
        "1.0 sse2" if platform.machine() == "x86_64" else "1.0 null",
        "1.0 null",
        release("x", labels={"sse2": ("x86_64 :: sse2 :: on",), "null": ()}, providers=X86_64),
    ),
    Case(
        "Providers that the user switches",
        "1.0 debug",
        "1.0 null",
        release("x", labels={"debug": ("debug :: build :: debug",), "null": ()}, providers=DEBUG),
        machine=Machine("debugging", "12.8", enable=("debug",)),
    ),
    Case("Drivers", "1.0 cuda13.0", "1.0 null", tri(), machine=Machine("future", "99.0")),
    Case(
        "A plugin-api that is left out",
        "1.0 cuda12.8",
        "1.0 null",
        tri(providers={"nvidia": {"requires": ["nvidia-variant-provider"]}}),
    ),
    Case(
        "Files for different Pythons",
        "1.0 openblas",
        "0.9",
        [
            replace(FAST[0], requires_python=">=99"),
            *blas(openblas=OPENBLAS),
            OLDER,
        ],
        Reply.json(metadata(blas(mkl=MKL, openblas=OPENBLAS))),
    ),
    Case(
        "Pre-releases where no variant fits",
        "",
        "2.0rc1",
        [*blas(atlas=ATLAS)[:1], Wheel("x", "2.0rc1")],
    ),
    Case("Yanked files", "1.0 null", "1.0 mkl", specifier="==1.0", yanked="mkl"),
)

# Starts another program than Python in the environment of a `Pip`, which is cut off as well.
START = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"


def uv_files(pip: Pip, index: Index, machine: Machine, requirements: Sequence[str]) -> set[str]:
    """Install with uv; the names of the files that were fetched, empty after an error."""
    before = len(index.log)
    result = pip.run(
        [
            *("-c", START, uv.find_uv_bin(), "pip", "install", "--no-deps", "--no-config"),
            *("--preview-features", "wheel-variants", "--index-url", index.url),
            *("--python", str(pip.root / "env" / "bin" / "python"), "--target", "installed"),
            *(["--prerelease", "allow"] if machine.pre else []),
            *requirements,
        ],
        driver=machine.driver,
        environ={**machine.environ, "UV_HTTP_RETRIES": "0"},
    )
    if result.code != 0:
        assert re.search("No solution found|Failed to fetch|Hash mismatch", result.output), result
        return set()
    requested = {unquote(request.path).rpartition("/")[2] for request in index.log[before:]}
    return {name for name in requested if name.endswith((".whl", ".tar.gz"))}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: str(machine.name))
def test_uv_differs_only_where_it_is_listed(
    template: Template, tmp_path: Path, machine: Machine
) -> None:
    expected = {one.requirement: uv_choice(one, machine, TAGS) for one in projects_for(machine)}
    with Index(metadata_files=True) as index:
        publish(index, projects_for(machine))
        pip = Pip(template, tmp_path, index.url, forks=True)
        some = [requirement for requirement, filename in expected.items() if filename]
        found = uv_files(pip, index, machine, some)
        assert found == {filename for filename in expected.values() if filename}
        for requirement in expected.keys() - some:
            assert uv_files(pip, index, machine, [requirement]) == set(), requirement


def test_uv_mostly_chooses_as_the_standard_says() -> None:
    alike = [
        project
        for machine in MACHINES
        for project in projects_for(machine)
        if choose(project, machine, TAGS) == uv_choice(project, machine, TAGS)
    ]
    assert len(alike) > len(PROJECTS) / 2


@pytest.mark.parametrize("table", (False, True), ids=("make", "init"))
def test_uv_honours_the_cpu_provider_that_is_written(pip: Pip, index: Index, table: bool) -> None:
    is_arm = platform.machine() in ("aarch64", "arm64")
    namespace, level = ("aarch64", "version :: 8a") if is_arm else ("x86_64", "level :: v1")
    plain, fits = Wheel("x"), f"{namespace} :: {level}"
    (pip.work / plain.filename).write_bytes(plain.content)
    if table:
        pip.write("pyproject.toml", ("[project]", 'name = "x"'))
        pip.variant("variant", "init", namespace).check()
    words = ("--property", fits, "--label", "v1")
    pip.variant("variant", "make", plain.filename, *words).check()
    made = pip.work / "x-1.0-py3-none-any-v1.whl"
    index.add(*release("x", labels={"v1": (fits,), "null": ()}))
    index.answer(made.name, Reply(made.read_bytes()))
    with zipfile.ZipFile(made) as archive:
        index.answer("x-1.0-variants.json", Reply(archive.read("x-1.0.dist-info/variant.json")))
    assert uv_files(pip, index, GPU, ["x"]) == {made.name}
    assert chosen_files(pip, GPU, ["x"]) == {made.name}


@pytest.fixture
def cases(index: Index) -> dict[str, Case]:
    """The cases, each as a project of the index."""
    named = {f"x{number}": case for number, case in enumerate(CASES)}
    for name, case in named.items():
        for wheel in case.files:
            yanked = wheel.label is not None and wheel.label == case.yanked
            index.add(replace(wheel, name=name), yanked="broken" if yanked else None)
        if case.reply is MISSING:
            index.unlist(f"{name}-1.0-variants.json")
        elif case.reply is not None:
            index.answer(f"{name}-1.0-variants.json", case.reply)
    return named


def filename(name: str, build: str) -> set[str]:
    version, _, label = build.partition(" ")
    return {f"{name}-{version}-py3-none-any{'-' * bool(label)}{label}.whl"} if version else set()


def test_each_listed_difference_is_one(pip: Pip, index: Index, cases: dict[str, Case]) -> None:
    for name, case in cases.items():
        found = uv_files(pip, index, case.machine, [name + case.specifier])
        assert found == filename(name, case.theirs), case.heading


def test_pip_variant_keeps_to_the_standard(pip: Pip, cases: dict[str, Case]) -> None:
    for machine in {case.machine for case in CASES}:
        fit = {name: case for name, case in cases.items() if case.ours and case.machine == machine}
        expected = [filename(name, case.ours) for name, case in fit.items()]
        requirements = [name + case.specifier for name, case in fit.items()]
        assert chosen_files(pip, machine, requirements) == set().union(*expected)
    for name, case in cases.items():
        if not case.ours:
            result = pip.variant("install", name, driver=case.machine.driver)
            assert result.lines_with("No matching distribution found for", name)


def test_each_difference_has_its_section() -> None:
    sections = re.findall(r"^### (.*)$", DOCUMENT.read_text(), re.MULTILINE)
    assert sections == [case.heading for case in CASES]
