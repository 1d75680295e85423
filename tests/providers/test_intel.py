"""The provider of namespace intel: a stub of Level Zero that ctypes loads in a real child."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipvariant.errors import InvalidOverride, ProbeFailed
from pipvariant.providers import _level_zero, builtin, probe
from pipvariant.providers.answers import Answer, Origin
from pipvariant.providers.intel import (
    BASES,
    FORCE_IP,
    intel_features,
    query_machine,
    read_intel_report,
)
from tests.providers.drivers import Life, MakeDriver

PVC = "0x8086/1/0x030f0007"
BMG_G31 = "0x8086/1/0x05008000"
NOT_PERMITTED = "an Intel GPU is present, not permitted (group render or video)"


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a busy machine time."""
    monkeypatch.setattr(probe, "TIME_LIMIT", 60.0)


# Deciding


def test_no_gpu_supports_nothing() -> None:
    assert intel_features(()) == {}


def test_a_gpu_runs_the_code_of_its_base_platform_too() -> None:
    assert intel_features(("20.4.4",)) == {"device_ip": ("20.4.4", "20.1.0")}


def test_each_value_is_there_once() -> None:
    assert intel_features(("12.57.0", "12.55.8", "12.56.5", "12.57.0")) == {
        "device_ip": ("12.57.0", "12.55.8", "12.56.5")
    }


def test_a_base_platform_has_no_base() -> None:
    assert not set(BASES) & set(BASES.values())


def test_a_gpu_newer_than_the_table_is_itself() -> None:
    assert intel_features(("60.1.0",)) == {"device_ip": ("60.1.0",)}


# The driver


def test_level_zero_tells_the_device_ip(make_driver: MakeDriver) -> None:
    driver = make_driver(ze={"devices": PVC})
    given = query_machine(driver.environ)
    assert given.features == {"device_ip": ("12.60.7",)}
    assert (given.origin, given.source, given.problems) == (Origin.BUILT_IN, "Level Zero", ())
    assert given.facts == {"GPU 0": "Stub GPU 0, device IP 12.60.7"}
    assert [what for what, *_ in driver.calls] == ["ze"]


def test_a_loader_from_before_1_10_is_asked_by_the_older_calls(make_driver: MakeDriver) -> None:
    driver = make_driver(ze={"devices": f"{PVC},{BMG_G31}"}, old_names=True)
    assert query_machine(driver.environ).features == {"device_ip": ("12.60.7", "20.2.0", "20.1.0")}
    assert [what for what, *_ in driver.calls] == ["ze-old"]


def test_every_driver_is_asked(make_driver: MakeDriver) -> None:
    driver = make_driver(ze={"drivers": 2, "devices": f"{PVC},{BMG_G31}"})
    assert query_machine(driver.environ).features["device_ip"] == ("12.60.7", "20.2.0", "20.1.0")


def test_only_gpus_of_intel_count(make_driver: MakeDriver) -> None:
    npu, of_another = "0x8086/5/0x030f0007", "0x1002/1/0x030f0007"
    given = query_machine(make_driver(ze={"devices": f"{npu},{of_another},{BMG_G31}"}).environ)
    assert given.features == {"device_ip": ("20.2.0", "20.1.0")}
    assert list(given.facts) == ["GPU 0"]


def test_a_lost_device_is_skipped_and_shown(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(ze={"devices": f"lost,{PVC}"}).environ)
    assert given.features == {"device_ip": ("12.60.7",)}
    assert given.facts["GPU 0"] == "a device, not told (code 0x70000001)"


def test_a_driver_that_does_not_tell_the_device_ip_is_told(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(ze={"devices": "0x8086/1/0"}).environ)
    assert given.features == {}
    assert given.problems == (
        "the device IP of the Intel GPUs is unknown: not told; a newer driver may tell it",
    )


@pytest.mark.parametrize("old_names", (False, True))
def test_a_loader_without_driver_is_no_problem(make_driver: MakeDriver, old_names: bool) -> None:
    driver = make_driver(ze={"init": "0x78000001"}, old_names=old_names)
    given = query_machine(driver.environ)
    assert (given.features, given.source, given.problems) == ({}, "Level Zero", ())


def test_a_driver_that_does_not_start_is_told(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver(ze={"devices": PVC, "init": "0x70020000"}).environ)
    assert given.features == {}
    assert given.problems == ("Level Zero could not be started (code 0x70020000)",)


def test_a_loader_that_cannot_be_loaded_is_told(make_driver: MakeDriver) -> None:
    given = query_machine(make_driver().environ)
    assert given.features == {}
    assert "it cannot be loaded" in given.problems[0]


def test_a_hanging_driver_is_ended(
    make_driver: MakeDriver, life: Life, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "TIME_LIMIT", 3.0)
    given = query_machine(make_driver(ze={"devices": PVC, "behaviour": "hang"}).environ)
    assert given.features == {}
    assert given.problems == (
        "Level Zero could not be asked for Intel GPUs: no answer within 3 seconds",
    )
    assert life.over()


def test_without_a_loader_no_child_is_started(
    no_driver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_arguments: object, **_options: object) -> object:
        pytest.fail("a child was started")

    monkeypatch.setattr(probe, "run_probe", run)
    given = query_machine({})
    assert (given.features, given.source, given.problems) == ({}, "no Level Zero", ())


def test_a_device_that_may_not_be_opened_is_named(
    no_driver: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, vendor in (("renderD128", "0x8086"), ("renderD129", "0x1002")):
        folder = no_driver / "sys/class/drm" / name / "device"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n")
        device = no_driver / "dev/dri" / name
        device.parent.mkdir(parents=True, exist_ok=True)
        device.touch()
    monkeypatch.setattr("os.access", lambda _path, _mode: False)
    assert _level_zero.report(str(no_driver))["denied"] == ["renderD128"]


def reported(**changes: Any) -> dict[str, Any]:
    return {"loaded": True, "init": 0, "devices": [], "denied": [], **changes}


@pytest.mark.parametrize(
    "changes", ({"denied": ["renderD128"], "init": 0x78000001}, {"init": 0x70010000})
)
def test_a_gpu_that_this_user_may_not_use_is_present_not_permitted(changes: dict[str, Any]) -> None:
    assert read_intel_report(reported(**changes)).problems == (NOT_PERMITTED,)


@pytest.mark.parametrize(
    "nonsense",
    (
        None,
        {},
        reported(devices=7),
        reported(devices=[{"name": "GPU"}]),
        reported(devices=[{"name": "GPU", "type": 1, "vendor": 0x8086, "ip": 2**40}]),
        reported(init="good"),
    ),
)
def test_a_report_without_sense_is_a_failed_probe(nonsense: object) -> None:
    with pytest.raises(ProbeFailed, match="makes no sense"):
        read_intel_report(nonsense)


# The override


def test_the_override_decides_alone(make_driver: MakeDriver) -> None:
    driver = make_driver(ze={"devices": PVC})
    given = query_machine({**driver.environ, FORCE_IP: "30.1.0"})
    assert given.features == {"device_ip": ("30.1.0", "30.0.4")}
    assert given.source == FORCE_IP
    assert driver.calls == []


def test_the_override_may_name_several_gpus() -> None:
    assert (
        intel_features(("12.60.7", "20.1.0"))
        == query_machine({FORCE_IP: "12.60.7, 20.1.0"}).features
    )


def test_an_empty_override_is_not_set(no_driver: Path) -> None:
    assert query_machine({FORCE_IP: " "}) == query_machine({})


@pytest.mark.parametrize("value", ("12", "12.60", "bmg", "12.60.7.1", "12.60.x"))
def test_a_bad_override_names_variable_and_value(value: str) -> None:
    with pytest.raises(InvalidOverride) as caught:
        query_machine({FORCE_IP: value})
    assert str(caught.value) == (
        f"{FORCE_IP}: {value!r} is not a device IP version. Set it to a value such as 12.60.7,"
        " or unset it"
    )


# Explaining


def machine(ips: str = "", source: str = "Level Zero", *problems: str) -> Answer:
    return Answer("intel", intel_features(ips.split()), Origin.BUILT_IN, source, problems)


@pytest.mark.parametrize(
    ("given", "state"),
    (
        (machine("20.4.4"), "this machine has 20.4.4, 20.1.0"),
        (machine(), "this machine has no Intel GPU"),
        (machine("", "no Level Zero"), "this machine has no Level Zero driver"),
        (machine("", "Level Zero", NOT_PERMITTED), NOT_PERMITTED),
    ),
)
def test_explain(given: Answer, state: str) -> None:
    assert builtin.reason_for("intel", "device_ip", ("12.60.7", "30.0.4"), given) == (
        f"needs an Intel GPU with device IP 12.60.7 or 30.0.4, {state}"
    )


def test_explain_has_no_words_for_what_is_not_known() -> None:
    assert builtin.reason_for("intel", "other", ("12.60.7",), machine("20.1.0")) is None
