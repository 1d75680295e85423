"""A replica of PyTorch's index: a folder for each backend, HTML pages, local versions.

Its links are rooted or relative, names have ``%2B``, hashes stand in fragments, and files of older
releases have no separate metadata. Wheels for macOS are in ``cpu/`` and have no local version.
"""

from __future__ import annotations

import hashlib
import html
import platform
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import chain
from urllib.parse import quote, unquote

from integration.index import HTML, Index, Reply
from integration.wheels import Wheel

__all__ = ["CPU_ONLY", "LINUX", "NVIDIA_LIBRARIES", "RELEASES", "TorchIndex"]

LINUX = f"py3-none-manylinux_2_17_{platform.machine()}"
WINDOWS, MACOS = "py3-none-win_amd64", "py3-none-macosx_11_0_arm64"
CPU_ONLY = ("cpu",)
#: Release of torch -> the backends that it has, in no order.
RELEASES = {
    "2.4.1": ("cpu", "cu118", "cu121", "cu124"),
    "2.5.1": ("cpu", "cu118", "cu121", "cu124"),
    "2.6.0": ("cpu", "cu118", "cu124", "cu126", "xpu"),
    "2.7.1": ("cpu", "cu118", "cu126", "cu128", "rocm6.3", "xpu"),
    "2.8.0": ("cpu", "cu126", "cu128", "cu129", "rocm6.3", "rocm6.4", "xpu"),
    "2.9.1": ("cpu", "cu126", "cu128", "cu130", "rocm6.4", "rocm7.2", "xpu"),
}
FOLDERS = sorted({folder for folders in RELEASES.values() for folder in folders})
NVIDIA_LIBRARIES = (Wheel("nvidia-cublas", "13.0"), Wheel("nvidia-cublas-cu12", "12.0"))


class TorchIndex(Index):
    """Serves the folders below ``/whl/``; a test may take something away for itself.

    :param base: what `--torch-index` is given.
    """

    def __init__(self) -> None:
        super().__init__(pages="html")
        #: (folder, project, version) of what is not there; an empty version stands for the page.
        self.missing: set[tuple[str, str, str]] = set()
        #: (folder, project) -> more wheels.
        self.more: dict[tuple[str, str], list[Wheel]] = {}

    @property
    def base(self) -> str:
        return f"{self.host}/whl/"

    @property
    def pages_asked(self) -> list[str]:
        """What was asked for below ``/whl/``, as ``folder/project``, in order."""
        paths = (request.path for request in self.log)
        return [path[5:-1] for path in paths if path.startswith("/whl/") and path.endswith("/")]

    def reset(self) -> None:
        """Be as at first, for the next test."""
        self.missing.clear()
        self.more.clear()
        self.log.clear()

    def respond(self, path: str, accept: str) -> Reply:
        parts = unquote(path).split("?")[0].split("/")
        if parts[1] != "whl":
            return super().respond(path, accept)
        if len(parts) == 5 and not parts[4]:
            return self._folder_page(parts[2], parts[3])
        for wheel in chain(*self.wheels.values(), *self.more.values()):
            if parts[-1] == wheel.filename:
                return Reply(wheel.content)
            if parts[-1] == f"{wheel.filename}.metadata":
                return Reply(wheel.metadata_text.encode())
        return Reply(status=404)

    def _folder_page(self, folder: str, project: str) -> Reply:
        listed = [
            wheel
            for wheel in self.wheels.get(folder, [])
            if wheel.name == project
            and (folder, project, wheel.version.partition("+")[0]) not in self.missing
        ]
        listed += self.more.get((folder, project), [])
        if not listed or (folder, project, "") in self.missing:
            # The storage behind the real one has nothing else to say of what is not there.
            return Reply(status=403)
        lines = [f"<!DOCTYPE html><html><body><h1>Links for {project}</h1>"]
        for number, wheel in enumerate(listed):
            digest = hashlib.sha256(wheel.content).hexdigest()
            head = f"/whl/{folder}/" if number % 2 else "../"
            if wheel.tag.endswith("any"):
                # One file for all folders.
                head = "/whl/"
            said = hashlib.sha256(wheel.metadata_text.encode()).hexdigest()
            has_metadata = not wheel.version.startswith("2.4")
            attributes = f' data-dist-info-metadata="sha256={said}"' * has_metadata
            url = f"{head}{quote(wheel.filename)}#sha256={digest}"
            lines.append(f'<a href="{html.escape(url)}"{attributes}>{wheel.filename}</a><br/>')
        return Reply("\n".join(lines).encode(), headers={"Content-Type": HTML})

    @cached_property
    def wheels(self) -> dict[str, list[Wheel]]:
        found: dict[str, list[Wheel]] = {folder: [] for folder in FOLDERS}
        for number, (version, folders) in enumerate(RELEASES.items()):
            for folder in folders:
                found[folder] += _release(number, version, folder)
        return found


def _release(number: int, version: str, folder: str) -> Iterator[Wheel]:
    """The wheels of all projects that go with one release of torch."""
    triton = f"3.{number}.0"
    requires = {"rocm": f"pytorch-triton-rocm=={triton}", "xpu": f"pytorch-triton-xpu=={triton}"}
    kind = folder[:4] if folder.startswith("rocm") else folder
    needs = [requires[kind]] if kind in requires else []
    if folder.startswith("cu"):
        library = "nvidia-cublas" if folder == "cu130" else "nvidia-cublas-cu12"
        on_linux = "; platform_system == 'Linux'"
        needs = [f"triton=={triton}{on_linux}", f"{library}{on_linux}"]
    goes_with = (f"torch=={version}",)
    for tag in _platforms(folder):
        local = "" if tag == MACOS else f"+{folder}"
        yield Wheel("torch", version + local, tag=tag, requires=tuple(needs))
        yield Wheel("torchvision", f"0.{number + 19}.1{local}", tag=tag, requires=goes_with)
        yield Wheel("torchaudio", version + local, tag=tag, requires=goes_with)
    yield Wheel("torchao", f"0.{number + 9}.0", requires=("torch",))
    if folder.startswith("cu"):
        yield Wheel("xformers", f"0.0.{number + 28}", tag=LINUX, requires=goes_with)
    for project in {"triton", *(text.partition("=")[0] for text in requires.values())}:
        yield Wheel(project, triton, tag=LINUX)


def _platforms(folder: str) -> Collection[str]:
    if folder == "cpu":
        return LINUX, WINDOWS, MACOS
    return (LINUX,) if folder.startswith("rocm") else (LINUX, WINDOWS)
