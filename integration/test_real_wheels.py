"""Wheels and sdists of other projects: variants are made, hosted, installed and unmade of them.

They are as many build backends have written them in ten years. Without a registry nothing of this
runs; what is downloaded is kept, see `integration.registry`.
"""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import json
import re
import shutil
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from integration.environments import Pip
from integration.registry import FOLDER, fetch_binary, fetch_pinned, unreachable
from integration.templates import Template
from integration.wheels import cuda

if reason := unreachable():
    pytest.skip(f"the registry cannot be reached: {reason}", allow_module_level=True)

PINNED = """
0ff78c403d9bccf5a425a6d31a12aa6b47f1c21ca4dc2573a7e2f32a97335eb1 six-1.10.0-py2.py3-none-any.whl            wheel 0.26, of 2015; CRLF in RECORD
20f976cdce02a42b69ce80e9e03897a51814b36d448b37288546086ebc473146 requests-2.7.0-py2.py3-none-any.whl        wheel 0.24; metadata.json
b74e89e397b1ed28cc831db7aea759ba6640cb3de13090ca145426688ff1ac4f traitlets-5.14.3-py3-none-any.whl          hatchling; a licence of many paragraphs in a field
4f7315d2f6b4bcf2e3e7cb6e46772eba760ae459cd1f59d29eb57b0a01bd7409 jupyter_core-5.7.2-py3-none-any.whl        the same, and no final end of line
ff7059bb7eb1179e2685604f4aaf157cfd9535242bd23742eadc3c13542139b4 platformdirs-4.3.8-py3-none-any.whl        hatchling; an author who is not ASCII
adcf7e2a1fb3b36ac48d97835bb6d8ade15b8dcce26aba8bf1d14847b57a3373 attrs-25.4.0-py3-none-any.whl              hatchling
3cb443f8bcd2efb31295a5b9fdb02aee81d8452c80d28f97a6d0959e6cee101e fsspec-2024.6.1-py3-none-any.whl           hatchling; 27 extras
946d195a0d259cbba61165e88e65941f16e9b36ea6ddb97f00452bae8b1287d3 idna-3.10-py3-none-any.whl                 flit 3
ece8c00a69cf01b45d0b1dedabb469c90d8caf996d4fda40f147627a122849a4 pyparsing-3.3.3-py3-none-any.whl           flit 4; metadata 2.5, CRLF in RECORD
e7a0304069ea895172e3c7bb703292e992c5d1555dd1233ab7b5621b5b69e62c flit_core-3.12.0-py3-none-any.whl          another .dist-info inside, deeper
4ed966a0e96a0477d852f7af31bdcb3adc049fbb35ccba358c2ea8a03287615e docutils-0.22-py3-none-any.whl             form feeds in the description, scripts
2c704f05016698a54ca1d327f46ce2426d72eaca6ff614132c8477c292266771 poetry_core-2.1.3-py3-none-any.whl         poetry-core
c89c649d79ee40629a9fda55f8ace8c6a1b42deb912b2a8fd8d942ddadb606b0 tomlkit-0.13.3-py3-none-any.whl            poetry-core; an author who is not ASCII
7f6c780b529baaf88947e12203af46b3ed45cff719b04c870b186ba9cdc2ddab pdm_backend-2.4.5-py3-none-any.whl         pdm-backend
1e3aa60fb8d93f63b9e56dfd7cb6bbd57466455d0c052b6522c80af369ab7eb5 meson_python-0.9.0-py3-none-any.whl        meson-python; blank lines in a field
062d34222ad13e0cc312a4c02d73f059e86a4acbfbdea8f8f76b28c99f306922 setuptools-80.9.0-py3-none-any.whl         setuptools; vendored .dist-info folders
ee03793e293b2be3db3a30591af2c5b217c977b0115ab43d9dd68114335f371d comtypes-1.4.9-py3-none-any.whl            CRLF in METADATA
1d6b085e5c445141c475476000b661f60fff1aaa19f76bf82b7abb92e0ff4942 WMI-1.5.1-py2.py3-none-any.whl             CRLF in WHEEL, capitals
12f65c9b470abda6dc35cf8e63cc574b1c52b11df2c86030af0ac09b01b13ea9 idna-3.10.tar.gz                           flit
105f8d68616f8248e24bf0e9372ef04d3cc10104f1980f54d57b2ce73a5ad56a six-1.10.0.tar.gz                          setup.py alone
430cf247ee57df2b94ee3fbe588e71d362a941ebb545dec29b53961d61add2a1 tomlkit-0.13.3.tar.gz                      poetry-core
"""  # noqa: E501
#: Compiled code, by backend: meson-python, setuptools, maturin, scikit-build-core and scikit-build.
GROUPS = {
    "old": ("numpy==1.26.4", "markupsafe==3.0.2", "orjson==3.10.15", "ninja==1.9.0.post1"),
    "new": ("numpy==2.2.6", "pyyaml==6.0.2", "contourpy==1.3.0", "ninja==1.13.0"),
}
COMPILED = {
    "markupsafe": "markupsafe._speedups",
    "numpy": "numpy.linalg",
    "orjson": "orjson",
    "pyyaml": "yaml._yaml",
}
#: What the labels are built for; it is installed first.
SIX = "six-1.10.0-py2.py3-none-any.whl"
BUILT_FOR = "abi_dependency :: six :: 1"
ADDED = ("Requires-Dist", "six==1.*")
#: Not of a project that is vendored in another.
OWN_METADATA = re.compile(r"[^/]+\.dist-info/METADATA")
#: Compiling numpy would take longer than all else.
ALONE = ("--no-deps", "--no-compile")


class Published(NamedTuple):
    """What was downloaded: wheels by group, and sdists."""

    wheels: dict[str, list[Path]]
    sdists: list[Path]


@pytest.fixture(scope="session")
def published() -> Published:
    pinned = {name: sha256 for sha256, name, *_ in map(str.split, PINNED.strip().splitlines())}
    try:
        paths = fetch_pinned(pinned)
        binary = {group: fetch_binary(requirements) for group, requirements in GROUPS.items()}
    except OSError as error:
        pytest.skip(f"the registry cannot be reached: {error}")
    pure = [path for path in paths if path.suffix == ".whl" and path.name != SIX]
    wheels = {
        group: [FOLDER / SIX, *binary[group], *pure[number :: len(GROUPS)]]
        for number, group in enumerate(GROUPS)
    }
    return Published(wheels, [path for path in paths if path.suffix == ".gz"])


@pytest.mark.parametrize("group", GROUPS)
def test_real_wheels_are_installed_as_plain_pip_does_and_come_back(
    template: Template, tmp_path: Path, published: Published, group: str
) -> None:
    wheels = published.wheels[group]
    projects, versions = zip(*(wheel.name.lower().split("-")[:2] for wheel in wheels))
    names = [f"{project}=={version}" for project, version in zip(projects, versions)]
    site = tmp_path / "site"
    plain, pip = (
        Pip(template, tmp_path / name, site.as_uri(), forks=True) for name in ("plain", "variant")
    )
    offline = ("--no-index", "--find-links", FOLDER, "--only-binary", ":all:")
    plain.plain("install", *ALONE, *offline, *names).check()

    for wheel in wheels:
        built_for = cuda("12.8") if wheel.name == SIX else BUILT_FOR
        made = ("make", wheel, "--property", built_for, "--label", "built", "-o", site)
        pip.variant("variant", *made).check()
    pip.variant("variant", "index", "--pages", site).check()
    pip.variant("variant", "lint", site).check()
    pip.variant("install", *ALONE, names[0], driver="12.8").check()
    pip.variant("install", *ALONE, *names, driver="12.8").check()

    there, expected = _files(pip.site), _files(plain.site)
    infos = [path[: -len("METADATA")] for path in expected if OWN_METADATA.fullmatch(path)]
    more = {f"{info}{name}" for info in infos for name in ("variant.json", "variants.json")}
    assert len(infos) == len(wheels)
    assert there.keys() == expected.keys() | more
    _verify_record(pip, there)
    for path, data in expected.items():
        if OWN_METADATA.fullmatch(path) and not path.startswith("six-"):
            fields, description = _read(data)
            assert _read(there[path]) == ([*fields, ADDED], description)
            end = "\r\n" if b"\r\n" in data else "\n"
            assert there[path].replace(f"{': '.join(ADDED)}{end}".encode(), b"") == data
        elif not path.endswith(".dist-info/RECORD"):
            assert there[path] == data, path
    pip.variant("variant", "check", driver="12.8").check()
    assert pip.plain("check").output == plain.plain("check").output
    modules = [COMPILED[project] for project in projects if project in COMPILED]
    pip.run(["-c", f"import {', '.join(modules)}"]).check()

    pip.variant("variant", "unmake", *sorted(site.glob("*.whl")), "-o", "back").check()
    for wheel in wheels:
        assert _entries(pip.work / "back" / wheel.name) == _entries(wheel), wheel.name


def test_sdists_of_any_backend_stand_beside_variant_wheels(
    template: Template, tmp_path: Path, published: Published
) -> None:
    pip = Pip(template, tmp_path / "pip", "none", forks=True)
    offline = ("--no-deps", "--no-index", "--find-links")
    pip.variant("wheel", *offline, FOLDER, "-w", "built", *published.sdists).check()
    for wheel in sorted(pip.work.glob("built/*.whl")):
        made = ("make", wheel, "--property", cuda("12.8"), "--label", "cu128", "-o", "folder")
        pip.variant("variant", *made).check()
    for file in (*published.sdists, *FOLDER.glob("flit_core-*.whl")):
        shutil.copy(file, pip.work / "folder")
    pip.variant("variant", "index", "folder").check()
    projects = ("idna", "six", "tomlkit")
    pip.variant("install", *offline, "folder", *projects, driver="12.8").check()
    assert {_label(pip, project) for project in projects} == {"cu128"}
    pip.variant("install", *offline, "folder", "--force-reinstall", "idna").check()
    assert (pip.installed()["idna"], _label(pip, "idna")) == ("3.10", None)
    pip.plain("check").check()


def _label(pip: Pip, project: str) -> str | None:
    (info,) = pip.site.glob(f"{project}-*.dist-info")
    path = info / "variant.json"
    return "".join(json.loads(path.read_text())["variants"]) if path.exists() else None


def _files(site: Path) -> dict[str, bytes]:
    found = (path for path in site.rglob("*") if path.is_file())
    return {str(path.relative_to(site)): path.read_bytes() for path in found}


def _read(data: bytes) -> tuple[list[tuple[str, str]], object]:
    message = email.message_from_bytes(data)
    return list(message.raw_items()), message.get_payload()


def _verify_record(pip: Pip, there: dict[str, bytes]) -> None:
    """Every file that was installed is in one RECORD, with its hash and size."""
    rows = []
    for record in pip.site.glob("*.dist-info/RECORD"):
        with record.open(newline="", encoding="utf-8") as stream:
            rows += list(csv.reader(stream))
    listed = [path for path, _, _ in rows]
    assert len(set(listed)) == len(listed)
    assert there.keys() - set(listed) == {"runtime.pth"}
    for path, digest, size in rows:
        if not path.endswith(".dist-info/RECORD"):
            data = (pip.site / path).read_bytes()
            expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode()
            assert (digest, size) == (f"sha256={expected.rstrip('=')}", str(len(data))), path


def _entries(wheel: Path) -> dict[str, tuple[object, ...]]:
    with zipfile.ZipFile(wheel) as archive:
        return {
            entry.filename: (archive.read(entry), entry.date_time, entry.external_attr)
            for entry in archive.infolist()
        }
