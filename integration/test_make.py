"""From an ordinary wheel to labels on a plain web server, and from there into an environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import NVIDIA, SCHEMA, Wheel, cuda

CUDA = {"cu126": cuda("12.6"), "cu130": cuda("13.0")}
TABLE = """
[variant.default-priorities]
namespace = ["nvidia"]

[variant.providers.nvidia]
requires = ["nvidia-variant-provider"]
plugin-api = "nvidia_variant_provider.plugin:NvidiaVariantPlugin"

[variant.variants.cu126.nvidia]
cuda_version_lower_bound = ["12.6"]

[variant.variants.cu130.nvidia]
cuda_version_lower_bound = ["13.0"]
"""


@pytest.fixture
def plain(pip: Pip) -> Path:
    """An ordinary wheel in the working directory."""
    wheel = Wheel("tri")
    path = pip.work / wheel.filename
    path.write_bytes(wheel.content)
    return path


def serve(folder: Path) -> Iterator[str]:
    """Let Python's own web server serve a folder; nothing in it is made for an index."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        port = server.stdout.readline().split()[5]
        yield f"http://127.0.0.1:{port}/"
        server.terminate()


@pytest.fixture
def site(pip: Pip) -> Iterator[tuple[Path, str]]:
    """A folder with a web server in front of it, and its URL."""
    folder = pip.root / "site"
    folder.mkdir()
    yield from ((folder, url) for url in serve(folder))


def variants_json(wheels: list[Path]) -> dict[str, Any]:
    """The metadata of an index, put together from that of its wheels."""
    documents = []
    for path in wheels:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith("/variant.json")]
            documents += [json.loads(archive.read(name)) for name in names]
    first = documents[0]
    for document in documents:
        assert {**document, "variants": first["variants"]} == first
    variants = {label: entry for one in documents for label, entry in one["variants"].items()}
    return {**first, "variants": variants}


def publish(folder: Path, project: str, version: str) -> None:
    wheels = sorted(folder.glob("*.whl"))
    document = folder / f"{project}-{version}-variants.json"
    document.write_text(json.dumps(variants_json(wheels)))


def test_variant_json_says_who_answers(pip: Pip, plain: Path) -> None:
    pip.variant("variant", "make", plain, "--property", CUDA["cu126"], "--label", "cu126").check()
    with zipfile.ZipFile(pip.work / "tri-1.0-py3-none-any-cu126.whl") as archive:
        document = json.loads(archive.read("tri-1.0.dist-info/variant.json"))
    assert document == {
        "$schema": SCHEMA,
        "default-priorities": {"namespace": ["nvidia"]},
        "providers": {"nvidia": NVIDIA},
        "variants": {"cu126": {"nvidia": {"cuda_version_lower_bound": ["12.6"]}}},
    }


def test_every_declared_label_in_one_call(pip: Pip, plain: Path) -> None:
    (pip.work / "pyproject.toml").write_text(f'[project]\nname = "tri"\n{TABLE}')
    result = pip.variant("variant", "make", plain.name, "--null", "-o", "dist").check()
    names = [f"tri-1.0-py3-none-any-{label}.whl" for label in ("cu126", "cu130", "null")]
    assert sorted(path.name for path in (pip.work / "dist").iterdir()) == names
    assert [line.partition(": ")[0] for line in result.stdout.splitlines()] == [
        str(Path("dist", name)) for name in names
    ]


@pytest.mark.parametrize(
    ("driver", "label"), (("13.0", "cu130"), ("12.8", "cu126"), (None, "null"))
)
def test_what_is_made_is_chosen_from(
    pip: Pip, plain: Path, site: tuple[Path, str], driver: str | None, label: str
) -> None:
    folder, url = site
    (pip.work / "pyproject.toml").write_text(TABLE)
    made = ("variant", "make", plain, "--null", "--pyproject", "pyproject.toml")
    pip.variant(*made, "-o", folder / "tri").check()
    publish(folder / "tri", "tri", "1.0")
    pip.variant("install", "--index-url", url, "tri", driver=driver).check()
    assert installed_label(pip, "tri") == label


def test_a_folder_of_what_is_made_serves_without_an_index(pip: Pip, plain: Path) -> None:
    (pip.work / "pyproject.toml").write_text(TABLE)
    made = ("variant", "make", plain, "--null", "--pyproject", "pyproject.toml", "-o", "dist")
    pip.variant(*made).check()
    find = ("--no-index", "--find-links", "dist")
    pip.variant("install", *find, "tri", driver="12.8").check()
    assert installed_label(pip, "tri") == "cu126"


def test_init_then_make(pip: Pip, plain: Path) -> None:
    (pip.work / "pyproject.toml").write_text('[project]\nname = "tri"\n')
    pip.variant("variant", "init", "nvidia", "x86_64").check()
    pip.variant("variant", "make", plain, "--property", CUDA["cu130"], "--label", "cu130").check()
    with zipfile.ZipFile(pip.work / "tri-1.0-py3-none-any-cu130.whl") as archive:
        document = json.loads(archive.read("tri-1.0.dist-info/variant.json"))
    assert document["default-priorities"]["namespace"] == ["nvidia", "x86_64"]


@pytest.mark.parametrize(
    ("words", "fault"),
    (
        ((), "there is no variant to make"),
        (("--property", "nvidia"), "is not of the form namespace :: feature :: value"),
        (("--property", cuda("9.9")), "9.9 is no value that the provider knows"),
        (("--property", cuda("12.6"), "--label", "A"), "is not a variant label"),
        (("--pyproject", "none.toml"), "none.toml: cannot be read"),
        (("--property", cuda("12.6"), "-o", "tri-1.0-py3-none-any.whl"), "cannot be written"),
    ),
)
def test_a_fault_is_one_message(pip: Pip, plain: Path, words: tuple[str, ...], fault: str) -> None:
    before = sorted(pip.work.iterdir())
    result = pip.variant("variant", "make", plain, *words)
    assert result.code == 1
    assert result.lines_with("ERROR: ", fault)
    assert "Traceback" not in result.output
    assert sorted(pip.work.iterdir()) == before


def test_a_damaged_wheel_is_named(pip: Pip, plain: Path) -> None:
    plain.write_bytes(plain.read_bytes()[:-30])
    result = pip.variant("variant", "make", plain, "--property", cuda("12.6"))
    assert result.code == 1
    assert result.lines_with("ERROR: ", plain.name, "damaged")
    assert list(pip.work.iterdir()) == [plain]


PLUGIN = """
from collections import namedtuple

Config = namedtuple("Config", "name values multi_value")


class Plugin:
    namespace = "acme"

    @classmethod
    def get_all_configs(cls):
        return [Config("speed", ["high", "low"], False)]

    get_supported_configs = get_all_configs
"""


def acme(pip: Pip, kind: str) -> tuple[str, ...]:
    """Options for a project whose plugin package is named under a key of the table."""
    (pip.work / "pyproject.toml").write_text(
        '[variant.default-priorities]\nnamespace = ["acme"]\n[variant.providers.acme]\n'
        f'{kind} = ["acme-provider"]\nplugin-api = "acme_provider:Plugin"\n'
    )
    return ("--pyproject", "pyproject.toml", "--label", "x", "--property")


def test_a_plugin_that_is_not_trusted_is_not_asked(pip: Pip, index: Index, plain: Path) -> None:
    index.add(Wheel("acme-provider", modules={"acme_provider": PLUGIN}))
    options = acme(pip, "requires")
    result = pip.variant("variant", "make", plain, *options, "acme :: speed :: warp").check()
    assert result.lines_with("acme: not validated", "--trust-provider acme-provider")
    assert index.requests == []


def test_a_trusted_plugin_says_what_is_valid(pip: Pip, index: Index, plain: Path) -> None:
    index.add(Wheel("acme-provider", modules={"acme_provider": PLUGIN}))
    options = ("--trust-provider", "acme-provider", *acme(pip, "requires"))
    result = pip.variant("variant", "make", plain, *options, "acme :: speed :: warp")
    assert result.code == 1
    assert result.lines_with("ERROR: ", "acme :: speed :: warp is no value")
    pip.variant("variant", "make", plain, *options, "acme :: speed :: low").check()
    assert "acme-provider" not in pip.installed()


def test_what_a_plugin_says_at_build_time_is_static_in_the_wheel(
    pip: Pip, index: Index, plain: Path
) -> None:
    index.add(Wheel("acme-provider", modules={"acme_provider": PLUGIN}))
    options = (*acme(pip, "build-requires"), "acme :: speed :: low")
    refused = pip.variant("variant", "make", plain, *options)
    assert refused.lines_with("ERROR: ", "is not trusted", "--trust-provider acme-provider")
    assert index.requests == []
    trust = ("--trust-provider", "acme-provider")
    pip.variant("variant", "make", plain, *trust, *options).check()
    made = pip.work / "tri-1.0-py3-none-any-x.whl"
    with zipfile.ZipFile(made) as archive:
        document = json.loads(archive.read("tri-1.0.dist-info/variant.json"))
    assert document["providers"] == {"acme": {"static-properties": {"speed": ["high", "low"]}}}
    before = len(index.log)
    pip.variant("install", made).check()
    assert installed_label(pip, "tri") == "x"
    assert index.requests[before:] == []


def installed_label(pip: Pip, project: str, site: Path | None = None) -> str:
    """The label in the variant.json that was installed."""
    (path,) = (site or pip.site).glob(f"{project}-*.dist-info/variant.json")
    (label,) = json.loads(path.read_text())["variants"]
    return str(label)


@pytest.mark.parametrize(
    ("driver", "label"), (("13.0", "cu130"), ("12.8", "cu126"), (None, "null"))
)
def test_uv_chooses_among_what_is_made(
    pip: Pip, plain: Path, site: tuple[Path, str], driver: str | None, label: str
) -> None:
    uv = pytest.importorskip("uv", reason="uv comes with the newest pip only, see tox.ini")
    folder, url = site
    (pip.work / "pyproject.toml").write_text(TABLE)
    made = ("variant", "make", plain, "--null", "--pyproject", "pyproject.toml")
    pip.variant(*made, "-o", folder / "tri").check()
    publish(folder / "tri", "tri", "1.0")
    start = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"
    python = str(pip.root / "env" / "bin" / "python")
    options = ("--no-config", "--preview-features", "wheel-variants", "--no-cache")
    pip.run(
        [
            *("-c", start, uv.find_uv_bin(), "pip", "install", *options, "--index-url", url),
            *("--python", python, "--target", "installed", "tri"),
        ],
        driver=driver,
        environ={"PATH": os.defpath},
    ).check()
    assert installed_label(pip, "tri", pip.work / "installed") == label


BACKEND = """
import pathlib
import shutil


def build_wheel(directory, config_settings=None, metadata_directory=None):
    (wheel,) = pathlib.Path(__file__).parent.glob("*.whl")
    shutil.copy(wheel, directory)
    return wheel.name
"""


def project(pip: Pip, table: str = TABLE) -> Path:
    """A project in a folder, whose backend knows nothing of variants."""
    folder = pip.work / "project"
    folder.mkdir()
    wheel = Wheel("tri")
    (folder / wheel.filename).write_bytes(wheel.content)
    system = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    (folder / "pyproject.toml").write_text(system + table)
    (folder / "backend.py").write_text(BACKEND)
    return folder


@pytest.mark.effect_of("label_built_wheel", "wheel:build")
def test_wheel_labels_what_the_backend_has_built(pip: Pip) -> None:
    folder = project(pip)
    setting = ("--config-settings", "variant-label=cu126")
    pip.variant("wheel", folder, *setting, "-w", "dist").check()
    (made,) = (pip.work / "dist").iterdir()
    assert made.name == "tri-1.0-py3-none-any-cu126.whl"
    with zipfile.ZipFile(made) as archive:
        assert json.loads(archive.read("tri-1.0.dist-info/variant.json"))["variants"] == {
            "cu126": {"nvidia": {"cuda_version_lower_bound": ["12.6"]}}
        }


@pytest.mark.every_pip
def test_wheel_leaves_the_label_that_the_backend_has_given(pip: Pip) -> None:
    folder = project(pip)
    wheel = Wheel("tri", label="own", properties=(cuda("12.6"),))
    (folder / "tri-1.0-py3-none-any.whl").unlink()
    (folder / wheel.filename).write_bytes(wheel.content)
    setting = ("--config-settings", "variant-label=own")
    pip.variant("wheel", folder, *setting, "-w", "dist", driver="12.8").check()
    assert (pip.work / "dist" / wheel.filename).read_bytes() == wheel.content


def test_wheel_without_the_setting_builds_the_ordinary_wheel(pip: Pip) -> None:
    pip.variant("wheel", project(pip), "-w", "dist").check()
    assert [path.name for path in (pip.work / "dist").iterdir()] == ["tri-1.0-py3-none-any.whl"]


@pytest.mark.parametrize(
    ("table", "label", "fault"),
    (
        ("", "cu126", "has no [variant] table"),
        (TABLE, "cu999", "the label cu999 is not declared"),
        (TABLE + "[variant.x]\n", "cu126", "'x' is not one of the keys here"),
    ),
)
def test_wheel_says_why_there_is_no_label(pip: Pip, table: str, label: str, fault: str) -> None:
    folder = project(pip, table)
    setting = ("--config-settings", f"variant-label={label}")
    result = pip.variant("wheel", folder, *setting, "-w", "dist")
    assert result.code == 1
    assert result.lines_with("ERROR: ", fault)
    assert "Traceback" not in result.output
    assert list((pip.work / "dist").iterdir()) == []


def test_with_no_variant_the_setting_is_the_backends_own(pip: Pip) -> None:
    setting = ("--config-settings", "variant-label=cu126", "--no-variant")
    pip.variant("wheel", project(pip), *setting, "-w", "dist").check()
    assert [path.name for path in (pip.work / "dist").iterdir()] == ["tri-1.0-py3-none-any.whl"]
