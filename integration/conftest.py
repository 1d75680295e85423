"""The two things that every test here has: an index, and a pip in a fresh environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.templates import Template
from integration.torch_index import NVIDIA_LIBRARIES, TorchIndex
from integration.wheels import Wheel

# What these need is there in the tox environments of the same names only.
collect_ignore = [
    *([] if find_spec("devpi_server") and find_spec("pypiserver") else ["servers"]),
    *([] if find_spec("hatch") and find_spec("pipx") else ["workflows"]),
]


def pytest_itemcollected(item: pytest.Item) -> None:
    """The effects of patches are looked at on every pip."""
    if item.get_closest_marker("effect_of"):
        item.add_marker("every_pip")


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Template]:
    """An environment to copy; one for each test process."""
    with closing(Template(tmp_path_factory.mktemp("template"))) as made:
        yield made


@pytest.fixture
def index() -> Iterator[Index]:
    """An empty index, served on loopback."""
    with Index() as server:
        yield server


@pytest.fixture(scope="session")
def torch_replica() -> Iterator[TorchIndex]:
    """The replica of PyTorch's index, served once."""
    server = TorchIndex()
    with server:
        yield server


@pytest.fixture
def torch(torch_replica: TorchIndex, index: Index) -> TorchIndex:
    """The replica as at first; libraries of NVIDIA, and a false torch, are on the other index."""
    torch_replica.reset()
    index.add(*NVIDIA_LIBRARIES, Wheel("torch", "9.0"), Wheel("triton", "9.0"))
    return torch_replica


@pytest.fixture
def pip(template: Template, tmp_path: Path, index: Index, request: pytest.FixtureRequest) -> Pip:
    """The pip of this environment, in a fresh one, pointed at `index`."""
    forks = request.node.get_closest_marker("real_start") is None
    return Pip(template, tmp_path, index.url, forks=forks)
