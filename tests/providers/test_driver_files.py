"""Whether the libraries of a driver can be on a machine, told from files alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pipvariant.providers import _driver_files
from pipvariant.providers._driver_files import LEVEL_ZERO, LIBCUDA, NVML, file_state, find_libraries

pytestmark = pytest.mark.usefixtures("on_linux")


@pytest.fixture
def on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")


def any_library(environ: Mapping[str, str], *, root: Path | None = None) -> bool:
    """Whether a library of the NVIDIA driver is found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_driver_files, "ROOT", root or _driver_files.ROOT)
        return bool(find_libraries((LIBCUDA, NVML), environ))


def put(root: Path, path: str, content: bytes = b"") -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def test_an_empty_machine_has_none(tmp_path: Path) -> None:
    assert not any_library({}, root=tmp_path)


@pytest.mark.parametrize("name", ("libcuda.so.1", "libnvidia-ml.so.1"))
@pytest.mark.parametrize(
    "folder",
    ("usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib/wsl/lib", "usr/local/nvidia/lib64"),
)
def test_well_known_folders_are_looked_into(tmp_path: Path, folder: str, name: str) -> None:
    put(tmp_path, f"{folder}/{name}")
    assert any_library({}, root=tmp_path)


def test_the_loaders_variable_is_looked_at(tmp_path: Path) -> None:
    put(tmp_path, "mine/libcuda.so.1")
    environ = {"LD_LIBRARY_PATH": f"/nowhere::{tmp_path / 'mine'}"}
    assert any_library(environ, root=tmp_path / "empty")


def test_an_empty_entry_of_the_loaders_variable_is_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "libcuda.so.1")
    monkeypatch.chdir(tmp_path)
    assert not any_library({"LD_LIBRARY_PATH": ":"}, root=tmp_path / "empty")


@pytest.mark.parametrize(
    ("entry", "found"),
    (
        (b"libnvidia-ml.so.1\0/opt/x/libnvidia-ml.so.1\0", True),
        (b"libcuda.so.1\0", True),
        (b"libcudart.so.12\0libcuda.so.1.old\0", False),
    ),
)
def test_the_loaders_cache_is_looked_at(tmp_path: Path, entry: bytes, found: bool) -> None:
    put(tmp_path, "etc/ld.so.cache", b"glibc-ld.so.cache1.1\0" + entry)
    assert any_library({}, root=tmp_path) is found


def test_toolkit_libraries_are_no_driver(tmp_path: Path) -> None:
    put(tmp_path, "usr/lib64/libcudart.so.12")
    put(tmp_path, "usr/local/cuda/lib64/stubs/libcuda.so")
    assert not any_library({}, root=tmp_path)


def test_macos_has_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    put(tmp_path, "usr/lib/libcuda.so.1")
    assert not any_library({}, root=tmp_path)


@pytest.mark.parametrize(
    "path", ("System32/nvcuda.dll", "System32/nvml.dll", "NVIDIA Corporation/NVSMI/nvml.dll")
)
def test_windows_folders_are_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    environ = {"SYSTEMROOT": str(tmp_path), "PROGRAMFILES": str(tmp_path)}
    assert not any_library(environ)
    put(tmp_path, path)
    assert any_library(environ)


def test_the_root_is_that_of_the_machine_unless_given(no_driver: Path) -> None:
    assert not any_library({})
    put(no_driver, "usr/lib/libcuda.so.1")
    assert any_library({})
    assert Path("/") != _driver_files.ROOT


@pytest.mark.parametrize("name", ("System32/ze_loader.dll", "usr/lib64/libze_loader.so.1"))
def test_a_library_is_found_under_its_own_name_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("sys.platform", "win32" if name.endswith(".dll") else "linux")
    put(tmp_path, name)
    environ = {"SYSTEMROOT": str(tmp_path), "PROGRAMFILES": str(tmp_path)}
    monkeypatch.setattr(_driver_files, "ROOT", tmp_path)
    assert find_libraries((LEVEL_ZERO,), environ) == (tmp_path / name,)
    assert not any_library(environ, root=tmp_path)


def test_a_file_that_changes_or_goes_is_in_another_state(tmp_path: Path) -> None:
    path = tmp_path / "library"
    path.write_text("old")
    old = file_state(path)
    assert file_state(path) == old
    path.write_text("newer")
    assert file_state(path) != old
    path.unlink()
    assert file_state(path) == f"{path}: not there"
