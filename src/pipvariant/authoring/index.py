"""``variants.json`` files, and pages on request, for a folder of wheels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pipvariant.authoring.folder import (
    Wheel,
    files_below,
    irregular,
    leading_out,
    parse_wheel_name,
    releases,
)
from pipvariant.authoring.pages import INDEX_HTML, INDEX_JSON, make_pages
from pipvariant.authoring.replacement import replacement
from pipvariant.errors import InvalidFilename, InvalidFolder, InvalidOption, PipVariantError
from pipvariant.standard.filename import parse_variants_json_name
from pipvariant.standard.metadata import to_json

#: How the names of files end that are read here, listed on a page, or written over.
_READ = (
    *(".whl", ".tar.gz", ".zip", ".yanked", ".metadata", "-variants.json"),
    *(INDEX_HTML, INDEX_JSON),
)


class Built(NamedTuple):
    """What was done.

    :param written: the files that are new or changed.
    :param same: how many others were right already.
    :param notes: what should be looked at, a sentence each.
    """

    written: tuple[Path, ...]
    same: int
    notes: tuple[str, ...]


def build_index(folder: Path, *, pages: bool = False) -> Built:
    """Write the metadata files of all variant wheels below a folder (PEP 825, index metadata).

    Each is beside its wheels. Equal wheels give equal bytes, and a file that is right is not
    touched. When there is any fault, nothing is written.

    :param pages: also make the folder a simple index (PEP 503, 691, 658) for a web server.
    :raises InvalidFolder: with every fault of every wheel, and every contradiction among them;
        or with every file that is no regular one or is published through a link out of the
        folder, of which none is read.
    :raises InvalidOption: the folder or a file in it cannot be read.
    """
    files = [path for path in files_below(folder) if path.name.endswith(_READ)]
    faults: list[PipVariantError] = [*irregular(files)]
    if pages:
        faults += leading_out(files, folder)
    if faults:
        raise InvalidFolder(faults)
    wheels: list[Wheel] = []
    for path in files:
        if path.suffix == ".whl":
            try:
                wheels.append(parse_wheel_name(path))
            except InvalidFilename as error:
                faults.append(error)
    found = releases(wheels, faults)
    content = {path: to_json(metadata).encode() for path, metadata in found.values()}
    notes = [
        f"{path}: beside it there is no variant wheel that it is for. Delete it."
        for path in files
        if path not in content and parse_variants_json_name(path.name) is not None
    ]
    if pages:
        try:
            made, more = make_pages(folder, files, wheels, found, content, faults)
        except OSError as error:
            where = str(error.filename or folder)
            raise InvalidOption(f"cannot be read: {error.strerror}", where=where) from error
        content.update(made)
        notes += more
    faults += leading_out(sorted({path.parent for path in content}), folder)
    if faults:
        raise InvalidFolder(faults)
    written = []
    for path, data in content.items():
        if not path.is_file() or path.read_bytes() != data:
            with replacement(path, wheels[0].path if wheels else folder) as temporary:
                temporary.write_bytes(data)
            written.append(path)
    return Built(tuple(written), len(content) - len(written), tuple(notes))
