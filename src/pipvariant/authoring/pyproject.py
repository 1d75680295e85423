"""``pyproject.toml``: read its ``[variant]`` table, or write a first one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from packaging.utils import canonicalize_name

from pipvariant.authoring.replacement import replacement
from pipvariant.authoring.variants import known_provider
from pipvariant.errors import InvalidMetadata, InvalidOption
from pipvariant.files import read_regular
from pipvariant.standard.metadata import Provider
from pipvariant.standard.table import Table, read_table
from pipvariant.standard.toml import parse_toml


class Pyproject(NamedTuple):
    """What a pyproject.toml says about variants.

    :param name: the normalised name of the project; ``None`` when the file does not have it.
    :param table: its ``[variant]`` table; ``None`` when there is none.
    """

    name: str | None
    table: Table | None


class _Common(NamedTuple):
    """A namespace that many projects can use.

    :param about: what its properties say, for a comment.
    :param label: the label of an example, which has the property below.
    """

    about: str
    label: str
    feature: str
    value: str
    provider: Provider | None = None


#: No package is asked: the order is that of the metadata itself.
BLAS = Provider(static_properties={"library": ("openblas", "mkl")})
#: The namespaces that a first table can have, in the order of preference that suits most.
COMMON: Mapping[str, _Common] = {
    "nvidia": _Common("CUDA driver and GPU", "cu128", "cuda_version_lower_bound", "12.8"),
    "amd": _Common("AMD GPU and ROCm", "gfx942", "gfx_arch", "gfx942"),
    "intel": _Common("Intel GPU", "bmg", "device_ip", "20.1.4"),
    "x86_64": _Common("level and flags of x86-64 CPUs", "x86_64_v3", "level", "v3"),
    "aarch64": _Common("version and flags of ARM CPUs", "armv9", "version", "9.0a"),
    "blas": _Common(
        "no package is asked: whoever installs gets the first of these that there is a wheel for",
        "openblas",
        "library",
        "openblas",
        BLAS,
    ),
}


def read_pyproject(path: Path) -> Pyproject:
    """Read a pyproject.toml.

    :raises InvalidOption: the file cannot be read.
    :raises InvalidMetadata: it is no TOML, or its table has faults: with all of them.
    """
    _, document = _read_toml(path)
    project = document.get("project")
    name = project.get("name") if isinstance(project, dict) else None
    table = None
    if "variant" in document:
        table = read_table(document["variant"], where=f"{path}, table [variant]")
    return Pyproject(canonicalize_name(name) if isinstance(name, str) else None, table)


def _read_toml(path: Path) -> tuple[str, Mapping[str, Any]]:
    """Return the text of a file, its line ends as they are, and what it says."""
    try:
        text = read_regular(path).decode()
        return text, parse_toml(text)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InvalidOption(f"cannot be read: {reason}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise InvalidMetadata([("", "is not UTF-8")], where=str(path)) from error
    except ValueError as error:
        raise InvalidMetadata([("", str(error))], where=str(path)) from error


def add_table(path: Path, namespaces: Sequence[str]) -> None:
    """Add a commented ``[variant]`` table to a pyproject.toml; all else in it keeps its bytes.

    :param namespaces: keys of :data:`COMMON`, most preferred first; all of them when there is none.
    :raises InvalidOption: a namespace is not one of these, or there is such a table already.
    :raises InvalidMetadata: the file is no TOML.
    """
    chosen = tuple(dict.fromkeys(namespaces or COMMON))
    for namespace in chosen:
        if namespace not in COMMON:
            raise InvalidOption(
                f"who answers for the namespace {namespace} is not known",
                remedy=f"Known are {', '.join(COMMON)}.",
            )
    text, document = _read_toml(path)
    if "variant" in document:
        raise InvalidOption("has a [variant] table already", where=str(path))
    end = "\r\n" if "\r\n" in text else "\n"
    lines = ["", *_table_lines(chosen), ""]
    if text and not text.endswith("\n"):
        lines.insert(0, "")
    with replacement(path, path) as temporary:
        temporary.write_bytes((text + end.join(lines)).encode())


def _table_lines(namespaces: tuple[str, ...]) -> Iterator[str]:
    listed = ", ".join(f'"{namespace}"' for namespace in namespaces)
    yield "# What `pip-variant variant make` writes into the wheels of this project (PEP 825)."
    yield "[variant.default-priorities]"
    yield "# All namespaces that the variants use, most preferred first; each has a provider below."
    yield f"namespace = [{listed}]"
    for namespace in namespaces:
        common = COMMON[namespace]
        provider = common.provider or known_provider(namespace) or Provider()
        yield ""
        yield f"[variant.providers.{namespace}] # {common.about}"
        for package in provider.requires:
            yield f'requires = ["{package}"]'
        if provider.plugin_api is not None:
            yield f'plugin-api = "{provider.plugin_api}"'
        if provider.static_properties is not None:
            yield "# Most preferred first."
            for feature, values in provider.static_properties.items():
                yield f"static-properties.{feature} = {list(values)!r}".replace("'", '"')
    yield ""
    yield "# The variants that are made: label, then namespace, with the values of each feature."
    for namespace in namespaces:
        common = COMMON[namespace]
        yield f"# [variant.variants.{common.label}.{namespace}]"
        yield f'# {common.feature} = ["{common.value}"]'
