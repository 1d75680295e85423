"""Other tools read what is made here, and what they make can be unmade."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipvariant.authoring.making import make, unmake
from pipvariant.authoring.variants import plan
from pipvariant.standard.metadata import combine, to_dict
from pipvariant.standard.table import read_table
from tests.wheelfile.ordinary import INFO, NAME, contents, verified, wheel

# Providers of every kind.
TABLE: dict[str, Any] = {
    "default-priorities": {"namespace": ["nvidia", "blas", "abi_dependency", "debug"]},
    "providers": {
        "nvidia": {
            "requires": ["nvidia-variant-provider>=0.0.1; python_version >= '3.9'"],
            "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
        },
        "blas": {
            "static-properties": {"library": ["openblas", "mkl"], "integers": ["lp64", "ilp64"]},
            "feature-order": ["library", "integers"],
        },
        "abi_dependency": {"builtin": "abi_dependency"},
        "debug": {"requires": ["debug-provider"], "optional": True},
    },
    "variants": {
        "cu128": {
            "nvidia": {
                "cuda_version_lower_bound": ["12.8"],
                "sm_arch": ["80_real", "90_real"],
            },
            "abi_dependency": {"torch": ["2.9", "2.10"]},
        },
        "mkl": {"blas": {"library": ["mkl"], "integers": ["ilp64"]}},
    },
}


@pytest.fixture
def made(tmp_path: Path) -> list[Path]:
    """The ordinary wheel, its variants and the null variant, in a folder of their own."""
    plain = wheel(tmp_path / "in")
    result = plan([], [], null=True, table=read_table(TABLE), ask=lambda *_: None)
    folder = tmp_path / "dist"
    return [make(plain, metadata, folder) for metadata in result.variants]


@pytest.fixture
def variantlib() -> Any:
    """The library that the standard grew up with."""
    return pytest.importorskip("variantlib")  # there is no release of it for Python 3.9


def test_variantlib_reads_every_wheel(variantlib: Any, made: list[Path]) -> None:
    from variantlib.variant_dist_info import VariantDistInfo

    for path in made:
        label = path.stem.rpartition("-")[2]
        read = VariantDistInfo(contents(path)[f"{INFO}/variant.json"], label)
        assert read.variant_label == label
        found = {(one.namespace, one.feature, one.value) for one in read.variant_desc.properties}
        declared = {} if label == "null" else TABLE["variants"][label]
        assert found == {
            (namespace, feature, value)
            for namespace, features in declared.items()
            for feature, values in features.items()
            for value in values
        }


def test_variantlib_makes_the_same_index(variantlib: Any, made: list[Path]) -> None:
    from variantlib.commands.generate_index_json import generate_index_json

    generate_index_json(["--directory", str(made[0].parent)])
    theirs = json.loads((made[0].parent / "tri-1.0-variants.json").read_text())
    result = plan([], [], null=True, table=read_table(TABLE), ask=lambda *_: None)
    assert theirs == to_dict(combine(*result.variants))


def test_variantlib_unmakes_what_is_made_here(
    variantlib: Any, made: list[Path], tmp_path: Path
) -> None:
    from variantlib.commands.unmake_variant import unmake_variant

    for path in made:
        unmake_variant(["--file", str(path), "--output-directory", str(tmp_path)])
        assert contents(tmp_path / NAME) == contents(tmp_path / "in" / NAME)


def test_what_variantlib_makes_is_unmade_here(variantlib: Any, tmp_path: Path) -> None:
    from variantlib.commands.make_variant import make_variant

    (tmp_path / "pyproject.toml").write_text(
        '[variant.default-priorities]\nnamespace = ["blas"]\n'
        '[variant.providers.blas]\nstatic-properties.library = ["mkl"]\n'
    )
    plain = wheel(tmp_path / "in")
    make_variant(
        [
            *("--file", str(plain), "--output-directory", str(tmp_path)),
            *("--pyproject-toml", str(tmp_path / "pyproject.toml")),
            *("--property", "blas :: library :: mkl", "--variant-label", "mkl"),
            "--no-isolation",
        ]
    )
    back = unmake(tmp_path / "tri-1.0-py3-none-any-mkl.whl", tmp_path)
    assert verified(back) == contents(plain)


def test_installer_accepts_every_wheel(made: list[Path]) -> None:
    from installer.sources import WheelFile

    for path in made:
        with WheelFile.open(path) as source:
            source.validate_record()
            found = {record[0] for record, _, _ in source.get_contents()}
            assert found == set(contents(path))


def run_wheel(*args: str | Path) -> str:
    """Run the command line of the project ``wheel``."""
    command = [sys.executable, "-m", "wheel", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_unpacks_every_wheel_and_finds_all_hashes_right(
    made: list[Path], tmp_path: Path
) -> None:
    for path in made:
        run_wheel("unpack", "--dest", tmp_path / path.stem, path)
        folder = tmp_path / path.stem / "tri-1.0"
        files = {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}
        assert files == set(contents(path))


def test_wheel_changes_the_tags_of_a_wheel_without_its_label(
    made: list[Path], tmp_path: Path
) -> None:
    # A name with a label is none that it knows.
    plain = Path(shutil.copy(made[0], tmp_path / NAME))
    changed = run_wheel("tags", "--python-tag", "py311", plain).strip()
    assert changed == "tri-1.0-py311-none-any.whl"
    assert f"{INFO}/variant.json" in verified(tmp_path / changed)
