"""pip's own wheel class, with the patch on: plain name for pip, label beside."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from pipvariant.shim.run import Run
from tests.shim.finder import Start


def _wheel(filename: str) -> Any:
    return import_module("pip._internal.models.wheel").Wheel(filename)


def _parts(wheel: Any) -> tuple[Any, ...]:
    return (wheel.name, wheel.version, wheel.build_tag, wheel.file_tags)


@pytest.mark.parametrize(
    "plain",
    (
        "tri-1.0-py3-none-any.whl",
        "tri-1.0-2-py3-none-any.whl",
        "tri-1.0-2b-py3-none-any.whl",
        "tri_two-1.0+local.1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    ),
)
def test_a_variant_wheel_has_the_parts_of_its_plain_name(run: Run, plain: str) -> None:
    for label in ("cu128", "cu126", "null"):
        filename = plain.replace(".whl", f"-{label}.whl")
        wheel = _wheel(filename)
        assert _parts(wheel) == _parts(_wheel(plain))
        assert wheel.filename == filename


@pytest.mark.parametrize("label", ("CU128", "cu_128é", ""))
def test_a_bad_label_is_no_wheel_filename(run: Run, label: str) -> None:
    invalid = import_module("pip._internal.exceptions").InvalidWheelFilename
    with pytest.raises(invalid):
        _wheel(f"tri-1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64-{label}.whl")


@pytest.mark.parametrize("parts", ("9" * 5000, f"1.0-{'9' * 5000}"))
def test_of_a_variant_wheel_with_a_number_without_end_there_is_one_warning(
    run: Run, caplog: pytest.LogCaptureFixture, parts: str
) -> None:
    for _ in range(2):
        with pytest.raises(import_module("pip._internal.exceptions").InvalidWheelFilename):
            _wheel(f"tri-{parts}-py3-none-any-cu128.whl")
    (warning,) = caplog.messages
    assert "has a number that is too long" in warning
    assert len(warning) < 200


def test_without_variants_no_variant_wheel_is_a_wheel(start: Start) -> None:
    start(no_variant=True)
    invalid = import_module("pip._internal.exceptions").InvalidWheelFilename
    for label in ("cu128", "null"):
        with pytest.raises(invalid):
            _wheel(f"tri-1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64-{label}.whl")
    assert _wheel("tri-1.0-py3-none-any.whl").name == "tri"
