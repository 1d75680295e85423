"""What ``variant list`` and ``variant check`` print, for people and for scripts."""

from __future__ import annotations

import io
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from pipvariant.commands import installed
from pipvariant.standard.metadata import SCHEMA_URL
from tests.commands.options import parsed

# Some pips look for eggs through a module of theirs that warns when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore:pkg_resources is deprecated:DeprecationWarning")

DRIVER = "NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"
BOUND = "cuda_version_lower_bound"
NVIDIA = {
    "requires": ["nvidia-variant-provider"],
    "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
}
BLAS = {"static-properties": {"library": ["mkl"]}, "optional": True}
PLUGIN = {"requires": ["rocket-provider"]}


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with an NVIDIA driver, as the variable says."""
    monkeypatch.setenv(DRIVER, "12.8")
    monkeypatch.setenv("COLUMNS", "200")


def put(
    folder: Path, name: str, variant: object = None, requires: str = "", version: str = "1.0"
) -> None:
    """Install a project: only what its .dist-info says about it."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
    (info / "METADATA").write_text(head)
    if variant is not None:
        text = variant if isinstance(variant, str) else json.dumps(variant)
        (info / "variant.json").write_text(text)


def variant(label: str, namespace: str, provider: Any, feature: str, value: str) -> object:
    return {
        "$schema": SCHEMA_URL,
        "default-priorities": {"namespace": [namespace]},
        "providers": {namespace: provider},
        "variants": {label: {namespace: {feature: [value]}}},
    }


def cuda(label: str, version: str) -> object:
    return variant(label, "nvidia", NVIDIA, BOUND, version)


def listed(folder: Path) -> list[dict[str, Any]]:
    out = io.StringIO()
    assert installed.run_list(parsed(installed, "--json", "--path", folder), [], out) == 0
    loaded: list[dict[str, Any]] = json.loads(out.getvalue())
    return loaded


def shown(folder: Path) -> str:
    out = io.StringIO()
    assert installed.run_list(parsed(installed, "--path", folder), [], out) == 0
    return out.getvalue()


def checked(folder: Path, *words: str) -> tuple[int, str]:
    out = io.StringIO()
    code = installed.run_check(parsed(installed, "--path", folder, *words), [], out)
    return code, out.getvalue()


def test_the_json_has_label_properties_and_fit(tmp_path: Path) -> None:
    put(tmp_path, "zeta", cuda("cu126", "12.6"))
    put(tmp_path, "alpha", cuda("cu130", "13.0"))
    put(tmp_path, "plain")
    assert listed(tmp_path) == [
        {
            "name": "alpha",
            "version": "1.0",
            "label": "cu130",
            "properties": {"nvidia": {BOUND: ["13.0"]}},
            "fits": False,
            "reason": "cu130 needs CUDA driver >= 13.0, this machine has 12.8",
            "better": None,
            "command": None,
            "mixed": [],
        },
        {
            "name": "zeta",
            "version": "1.0",
            "label": "cu126",
            "properties": {"nvidia": {BOUND: ["12.6"]}},
            "fits": True,
            "reason": "",
            "better": None,
            "command": None,
            "mixed": [],
        },
    ]


def test_the_table_has_a_line_for_each_and_the_reasons_below(tmp_path: Path) -> None:
    put(tmp_path, "alpha", cuda("cu130", "13.0"))
    put(tmp_path, "zeta", cuda("cu126", "12.6"))
    words = [line.split() for line in shown(tmp_path).splitlines()]
    property_of = {label: ["nvidia", "::", BOUND, "::", label] for label in ("13.0", "12.6")}
    assert ["alpha", "1.0", "cu130", *property_of["13.0"], "no"] in words
    assert ["zeta", "1.0", "cu126", *property_of["12.6"], "yes"] in words
    assert shown(tmp_path).splitlines()[-1] == (
        "alpha 1.0: cu130 needs CUDA driver >= 13.0, this machine has 12.8"
    )


def test_a_check_fails_and_names_what_does_not_fit(tmp_path: Path) -> None:
    put(tmp_path, "alpha", cuda("cu130", "13.0"))
    put(tmp_path, "zeta", cuda("cu126", "12.6"))
    said = "alpha 1.0: cu130 needs CUDA driver >= 13.0, this machine has 12.8\n"
    assert checked(tmp_path) == (1, said)
    code, text = checked(tmp_path, "--json")
    assert code == 1
    assert json.loads(text) == listed(tmp_path)


def test_a_check_passes_while_all_fit(tmp_path: Path) -> None:
    put(tmp_path, "zeta", cuda("cu126", "12.6"))
    assert checked(tmp_path) == (0, "All installed variants fit this machine.\n")


def test_a_check_names_what_is_mixed_and_fails_only_where_that_counts(tmp_path: Path) -> None:
    put(tmp_path, "Core_1", cuda("cu126", "12.6"))
    put(tmp_path, "serve", cuda("cu128", "12.8"), "core-1 >= 1")
    said = (
        "Packages that need each other are built for different nvidia :: cuda_version_lower_bound: "
        "core-1 1.0 has 12.6, serve 1.0 has 12.8"
    )
    fit = "All installed variants fit this machine."
    assert checked(tmp_path) == (0, f"{said}\n{fit}\n")
    assert checked(tmp_path, "--mixed")[0] == 1
    assert [entry["mixed"] for entry in listed(tmp_path)] == [["core-1", "serve"]] * 2
    assert shown(tmp_path).splitlines()[-1] == said


def test_what_is_damaged_is_no_part_of_a_mix(tmp_path: Path) -> None:
    put(tmp_path, "core", cuda("cu126", "12.6"))
    put(tmp_path, "serve", cuda("cu128", "12.8"), "core (((")
    assert checked(tmp_path, "--mixed")[0] == 0


def test_without_variants_both_say_so(tmp_path: Path) -> None:
    put(tmp_path, "plain")
    assert listed(tmp_path) == []
    assert shown(tmp_path) == "No variant is installed.\n"
    assert checked(tmp_path) == (0, "No variant is installed.\n")


@pytest.mark.parametrize(
    "broken",
    ("{", "", "[]", '{"variants": {}}', "[" * 100_000),
    ids=("cut", "empty", "list", "poor", "deep"),
)
def test_a_broken_variant_json_is_unknown_and_no_failure(tmp_path: Path, broken: str) -> None:
    put(tmp_path, "alpha", broken)
    (entry,) = listed(tmp_path)
    assert (entry["label"], entry["properties"], entry["fits"]) == (None, {}, None)
    assert "variant.json" in entry["reason"]
    code, text = checked(tmp_path)
    assert code == 0
    assert text.startswith("alpha 1.0: label unknown; variant.json: ")
    assert ["alpha", "1.0", "unknown", "unknown"] in [
        line.split() for line in shown(tmp_path).splitlines()
    ]


def test_a_plugin_that_may_not_be_asked_is_unknown_and_no_failure(tmp_path: Path) -> None:
    put(tmp_path, "alpha", variant("fast", "rocket", PLUGIN, "engine", "raptor"))
    (entry,) = listed(tmp_path)
    assert (entry["label"], entry["fits"]) == ("fast", None)
    assert "rocket-provider" in entry["reason"]
    code, text = checked(tmp_path)
    assert code == 0
    assert text.startswith("alpha 1.0: fast unknown; ")


def test_an_optional_provider_counts_as_enabled(tmp_path: Path) -> None:
    put(tmp_path, "alpha", variant("mkl", "blas", BLAS, "library", "mkl"))
    assert [entry["fits"] for entry in listed(tmp_path)] == [True]


def test_what_a_variant_was_built_for_has_to_be_installed(tmp_path: Path) -> None:
    provider = {"builtin": "abi_dependency"}
    put(tmp_path, "ext", variant("plain1", "abi_dependency", provider, "plain", "1"))
    (missing,) = listed(tmp_path)
    assert missing["fits"] is False
    put(tmp_path, "plain")
    (there,) = listed(tmp_path)
    assert there["fits"] is True


def test_a_wrong_override_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DRIVER, "new")
    put(tmp_path, "alpha", cuda("cu126", "12.6"))
    error = import_module("pip._internal.exceptions").InstallationError
    with pytest.raises(error, match=DRIVER):
        listed(tmp_path)


def test_a_build_of_torch_is_judged_by_the_backend_in_its_version(tmp_path: Path) -> None:
    put(tmp_path, "torch", version="2.9.0+cu130")
    put(tmp_path, "torchvision", version="0.24.0+cpu")
    put(tmp_path, "torchaudio", version="2.9.0")
    put(tmp_path, "other", version="1.0+cu130")
    assert [(row["name"], row["label"], row["fits"]) for row in listed(tmp_path)] == [
        ("torch", "cu130", False),
        ("torchvision", "cpu", True),
    ]
    said = "torch 2.9.0+cu130: cu130 needs CUDA driver >= 13.0, this machine has 12.8\n"
    assert checked(tmp_path) == (1, said)


def test_builds_of_torch_for_different_backends_are_mixed(tmp_path: Path) -> None:
    put(tmp_path, "torch", version="2.9.0+cu126")
    put(tmp_path, "torchvision", requires="torch==2.9.0", version="0.24.0+cpu")
    said = (
        "Packages that need each other are built for different backends: "
        "torch 2.9.0+cu126 has cu126, torchvision 0.24.0+cpu has cpu"
    )
    assert checked(tmp_path, "--mixed") == (1, f"{said}\n{installed.FIT}\n")
    assert [each["mixed"] for each in listed(tmp_path)] == [["torch", "torchvision"]] * 2


def test_without_paths_the_environment_is_looked_at() -> None:
    out = io.StringIO()
    assert installed.run_list(parsed(installed, "--json"), [], out) == 0
    assert json.loads(out.getvalue()) == []
