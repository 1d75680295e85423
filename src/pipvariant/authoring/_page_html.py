"""Pages of an index for people and installers alike: HTML without scripts (PEP 503)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape

from packaging.version import Version

from pipvariant.standard.metadata import Metadata, Provider
from pipvariant.standard.properties import Properties

#: Tells our pages from others.
GENERATOR = '<meta name="generator" content="pip-variant">'
_STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
section { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
caption { padding: .5rem 0; text-align: left; }
th, td { border-bottom: 1px solid GrayText; padding: .4rem .8rem .4rem 0; text-align: left;
  vertical-align: top; }
td ul { list-style: none; margin: 0; padding: 0; }
td.size { white-space: nowrap; }
"""
_HEADS = "".join(
    f'<th scope="col">{name}</th>' for name in ("Label", "Needs", "Python", "Size", "File")
)


@dataclass(frozen=True)
class PageFile:
    """One file of a project.

    :param url: relative to the project's page.
    :param size: in bytes.
    :param label: of a variant wheel; its *properties* then are not ``None``.
    :param core_sha256: of the ``METADATA`` beside a wheel.
    :param requires: ``Requires-Dist``, as it is written.
    :param yanked: why it was withdrawn, which may be empty; ``None`` if it was not.
    """

    name: str
    url: str
    size: int
    sha256: str
    label: str | None = None
    properties: Properties | None = None
    core_sha256: str | None = None
    requires_python: str | None = None
    requires: tuple[str, ...] = ()
    yanked: str | None = None


@dataclass(frozen=True)
class Listing:
    """One version of a project.

    :param files: wheels and source distributions, in the order in which they are shown.
    :param metadata: the ``variants.json``, and what it says, if there is one.
    """

    version: Version
    files: tuple[PageFile, ...]
    metadata: tuple[PageFile, Metadata] | None = None


@dataclass(frozen=True)
class ProjectPage:
    """One project.

    :param name: normalised.
    :param releases: the newest first.
    """

    name: str
    releases: tuple[Listing, ...]

    @property
    def files(self) -> Mapping[str, PageFile]:
        """Every file by its name, metadata files too, in ascending order of names."""
        found = [file for release in self.releases for file in release.files]
        found += [release.metadata[0] for release in self.releases if release.metadata]
        return {file.name: file for file in sorted(found, key=lambda file: file.name)}


def project_page(project: ProjectPage) -> str:
    """Return the page of a project: a table for each release, an anchor for each file."""
    body = [f"<h1>{escape(project.name)}</h1>"]
    for release in project.releases:
        body += _release_section(release)
    return _page(project.name, body)


def root_page(names: Iterable[str]) -> str:
    """Return the page that lists all projects.

    :param names: normalised, in the order in which they are shown.
    """
    items = [f'<li><a href="{escape(name)}/">{escape(name)}</a></li>' for name in names]
    return _page("Projects", ["<h1>Projects</h1>", "<ul>", *items, "</ul>"])


def _page(title: str, body: Iterable[str]) -> str:
    text = "\n".join(body)
    return f"""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.1">
<meta name="viewport" content="width=device-width, initial-scale=1">
{GENERATOR}
<title>{escape(title)}</title>
<style>
{_STYLE}</style>
</head>
<body>
<main>
{text}
</main>
</body>
</html>
"""


def _release_section(release: Listing) -> Iterator[str]:
    version = escape(str(release.version))
    yield f'<section aria-labelledby="v{version}" tabindex="0">'  # it can be scrolled by keys
    yield f'<h2 id="v{version}">{version}</h2>'
    yield "<table>"
    count = len(release.files)
    yield f"<caption>{count} {'file' if count == 1 else 'files'}</caption>"
    yield f"<thead><tr>{_HEADS}</tr></thead>"
    yield "<tbody>"
    for file in release.files:
        yield _file_row(file)
    yield "</tbody>"
    yield "</table>"
    if release.metadata is not None:
        file, metadata = release.metadata
        yield f"<p>Variant metadata: {_anchor(file)}. {_providers_sentence(metadata)}</p>"
    yield "</section>"


def _file_row(file: PageFile) -> str:
    kind = "ordinary wheel" if file.name.endswith(".whl") else "source"
    label = kind if file.label is None else escape(file.label)
    needs = _needs(file)
    if file.requires:
        items = "".join(f"<li>{escape(text)}</li>" for text in file.requires)
        count = len(file.requires)
        words = f"{count} dependencies" if count > 1 else "1 dependency"
        needs += f"<details><summary>{words}</summary><ul>{items}</ul></details>"
    withdrawn = "" if file.yanked is None else f" <strong>withdrawn</strong> {escape(file.yanked)}"
    return (
        f'<tr><th scope="row">{label}</th><td>{needs}</td>'
        f"<td>{escape(file.requires_python or 'any')}</td>"
        f'<td class="size">{_size(file.size)}</td><td>{_anchor(file)}{withdrawn}</td></tr>'
    )


def _needs(file: PageFile) -> str:
    if file.properties is None:
        return ""
    if not file.properties:
        return "nothing, it fits every machine"
    items = (f"<li>{escape(text)}</li>" for text in _property_lines(file.properties))
    return f"<ul>{''.join(items)}</ul>"


def _property_lines(properties: Properties) -> Iterator[str]:
    for namespace, features in sorted(properties.items()):
        for feature, values in sorted(features.items()):
            yield f"{namespace} :: {feature} :: {' or '.join(values)}"


def _providers_sentence(metadata: Metadata) -> str:
    if not metadata.namespaces:
        return ""
    said = [
        escape(f"{namespace}{_provider_source(metadata.providers, namespace)}")
        for namespace in metadata.namespaces
    ]
    return f"Most preferred first, what a machine supports is said by: {', '.join(said)}."


def _provider_source(providers: Mapping[str, Provider], namespace: str) -> str:
    provider = providers.get(namespace)
    if provider is None or provider.builtin is not None:
        return ""
    if provider.static_properties is not None:
        return " (the metadata itself)"
    return f" ({', '.join(provider.requires)})"


def _anchor(file: PageFile) -> str:
    attributes = {"href": f"{file.url}#sha256={file.sha256}"}
    if file.requires_python is not None:
        attributes["data-requires-python"] = file.requires_python
    if file.core_sha256 is not None:
        # PEP 658 and its correction, PEP 714: readers know one name or the other.
        attributes["data-core-metadata"] = f"sha256={file.core_sha256}"
        attributes["data-dist-info-metadata"] = f"sha256={file.core_sha256}"
    if file.yanked is not None:
        attributes["data-yanked"] = file.yanked
    text = " ".join(f'{name}="{escape(value)}"' for name, value in attributes.items())
    return f"<a {text}>{escape(file.name)}</a>"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
