"""Torch and its family out of the folders of an index, one for each backend."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.torch_index import NVIDIA_LIBRARIES, TorchIndex
from integration.wheels import Wheel

AUTO = ("install", "--torch-backend", "auto")


@pytest.fixture(scope="module")
def served() -> Iterator[TorchIndex]:
    """The replica, served once."""
    server = TorchIndex()
    with server:
        yield server


@pytest.fixture
def torch(served: TorchIndex, index: Index) -> TorchIndex:
    """The replica as at first; libraries of NVIDIA, and a false torch, are on the other index."""
    served.reset()
    index.add(*NVIDIA_LIBRARIES, Wheel("torch", "9.0"), Wheel("triton", "9.0"))
    return served


def test_the_best_folder_is_taken(pip: Pip, torch: TorchIndex, index: Index) -> None:
    environ = {"PIP_TORCH_INDEX": torch.base}
    result = pip.variant(*AUTO, "torch", driver="12.8", environ=environ)
    print(result.output)
    print(torch.pages_asked, torch.requests, index.requests)
    result.check()
    assert pip.installed()["torch"] == "2.9.1+cu128"
