"""The pages of a simple index, as files that any web server can serve (PEP 503, 658, 691, 700)."""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from packaging.utils import parse_sdist_filename
from packaging.version import Version

from pipvariant.authoring._page_html import (
    GENERATOR,
    Listing,
    PageFile,
    ProjectPage,
    project_page,
    root_page,
)
from pipvariant.authoring.folder import Release, Wheel, is_project, sha256_of
from pipvariant.errors import InvalidOutput, InvalidWheel, PipVariantError
from pipvariant.wheelfile.core_metadata import field_values
from pipvariant.wheelfile.dist_info import METADATA, read_one

#: The second key, which is private to an index (PEP 691), tells our pages from others.
META = {"api-version": "1.1", "_generator": "pip-variant"}
INDEX_HTML = "index.html"
INDEX_JSON = "index.json"
_MARKS = {INDEX_HTML: GENERATOR, INDEX_JSON: '"_generator": "pip-variant"'}
#: Beside a file, with the reason in it: the file is withdrawn (PEP 592).
_YANKED = ".yanked"
_CORE = ".metadata"


def make_pages(
    folder: Path,
    files: Sequence[Path],
    wheels: Iterable[Wheel],
    releases: Mapping[tuple[str, Version], Release],
    written: Mapping[Path, bytes],
    faults: list[PipVariantError],
) -> tuple[dict[Path, bytes], list[str]]:
    """Make the pages of all wheels and source distributions below a folder.

    A folder of each project's normalised name gets ``index.html``, for installers and for people,
    and ``index.json``; the ``METADATA`` of each wheel is put beside it. Links are relative.

    :param files: all that is below the folder.
    :param wheels: those among them.
    :param releases: by project and version; *written* has the content of their files.
    :param faults: gets what is wrong with a file.
    :returns: path to content, and what should be looked at, a sentence each.
    """
    made: dict[Path, bytes] = {}
    notes: list[str] = []
    projects: dict[str, dict[Version, list[PageFile]]] = defaultdict(lambda: defaultdict(list))
    seen: dict[str, Path] = {}
    for member in [*wheels, *_sdists(files, notes)]:
        path = member.path
        other = seen.setdefault(path.name, path)
        if other != path:
            faults.append(InvalidWheel("are files of one name", where=f"{other} and {path}"))
            continue
        try:
            file, core = _page_of(folder, member, releases.get((member.project, member.version)))
        except InvalidWheel as error:
            faults.append(error)
            continue
        projects[member.project][member.version].append(file)
        if core is not None:
            made[path.with_name(path.name + _CORE)] = core
    for name, versions in sorted(projects.items()):
        project = ProjectPage(name, tuple(_listings(folder, name, versions, releases, written)))
        made[folder / name / INDEX_HTML] = project_page(project).encode()
        made[folder / name / INDEX_JSON] = _dump(_project_json(project))
    names = sorted(projects)
    made[folder / INDEX_HTML] = root_page(names).encode()
    made[folder / INDEX_JSON] = _dump({"meta": META, "projects": [{"name": one} for one in names]})
    pages = [path for path in files if path.name in _MARKS]
    ours = {path for path in pages if _MARKS[path.name].encode() in path.read_bytes()}
    faults += [
        InvalidOutput(
            "is there already and was not made by this command",
            where=str(path),
            remedy="Remove it, or name another folder.",
        )
        for path in pages
        if path in made and path not in ours
    ]
    return made, [*notes, *_left_over(files, made, ours)]


def _page_of(folder: Path, member: Wheel, release: Release | None) -> tuple[PageFile, bytes | None]:
    """Return what the pages say of a file, and the core metadata of a wheel.

    :raises InvalidWheel: it cannot be read, or has no core metadata.
    """
    path = member.path
    said: dict[str, Any] = {}
    core = None
    if path.suffix == ".whl":
        core = read_one(path, METADATA)
        said = {
            "core_sha256": hashlib.sha256(core).hexdigest(),
            "requires_python": next(iter(field_values(core, "Requires-Python")), None),
            "requires": tuple(field_values(core, "Requires-Dist")),
        }
        if member.label is not None and release is not None:
            properties = release.metadata.variants.get(member.label)
            said.update(label=member.label, properties=properties)
    reason = path.with_name(path.name + _YANKED)
    if reason.is_file():
        said["yanked"] = " ".join(reason.read_text("utf-8", "replace").split())
    url = _url(folder, member.project, path)
    return PageFile(path.name, url, path.stat().st_size, sha256_of(path), **said), core


def _listings(
    folder: Path,
    project: str,
    versions: Mapping[Version, list[PageFile]],
    releases: Mapping[tuple[str, Version], Release],
    written: Mapping[Path, bytes],
) -> Iterator[Listing]:
    for version in sorted(versions, reverse=True):
        release = releases.get((project, version))
        metadata = None
        if release is not None:
            data = written[release.path]
            sha256 = hashlib.sha256(data).hexdigest()
            url = _url(folder, project, release.path)
            metadata = (PageFile(release.path.name, url, len(data), sha256), release.metadata)
        files = sorted(versions[version], key=lambda file: (file.label or "~", file.name))
        yield Listing(version, tuple(files), metadata)


def _sdists(files: Iterable[Path], notes: list[str]) -> Iterator[Wheel]:
    for path in files:
        if path.name.endswith((".tar.gz", ".zip")):
            try:
                project, version = parse_sdist_filename(path.name)
                if is_project(project):
                    yield Wheel(path, project, version, None)
                    continue
            except ValueError:
                pass
            notes.append(f"{path}: not listed, it has not the name of a source distribution.")


def _url(folder: Path, project: str, path: Path) -> str:
    return quote(os.path.relpath(path, folder / project).replace(os.sep, "/"))


def _project_json(project: ProjectPage) -> dict[str, Any]:
    """Return the page of a project as PEP 691 has it, with the sizes and versions of PEP 700."""
    return {
        "meta": META,
        "name": project.name,
        "versions": sorted(str(release.version) for release in project.releases),
        "files": [_file_json(file) for file in project.files.values()],
    }


def _file_json(file: PageFile) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "filename": file.name,
        "url": file.url,
        "hashes": {"sha256": file.sha256},
        "size": file.size,
    }
    if file.requires_python is not None:
        entry["requires-python"] = file.requires_python
    if file.core_sha256 is not None:
        # PEP 658 and its correction, PEP 714: readers know one name or the other.
        entry["core-metadata"] = entry["dist-info-metadata"] = {"sha256": file.core_sha256}
    if file.yanked is not None:
        entry["yanked"] = file.yanked or True
    return entry


def _dump(page: object) -> bytes:
    return (json.dumps(page, indent=1) + "\n").encode()


def _left_over(
    files: Iterable[Path], made: Mapping[Path, bytes], ours: Collection[Path]
) -> Iterator[str]:
    """Yield what an earlier call has made, and nothing is left for."""
    for path in files:
        if path not in made:
            if path.name.endswith(f".whl{_CORE}"):
                yield f"{path}: its wheel is gone. Delete it."
            elif path in ours and path.name == INDEX_HTML:
                yield f"{path}: no file of that project is left. Delete its folder."
