"""``lock``: what is written into a ``pylock.toml`` about variants (PEP 751, PEP 825).

pip writes one file of each package. Where that is a variant wheel, the metadata that it was
chosen by is written beside it. With ``--all-variants`` every file of the version that its
source offers is listed, so that one lock serves machines with different hardware.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pipvariant.errors import InvalidFilename
from pipvariant.log import logger
from pipvariant.selection.model import File, Judgement
from pipvariant.shim.core.patches import Patch, patch
from pipvariant.shim.core.pip_objects import make_version, pip_error, shown
from pipvariant.shim.core.pip_versions import Pip, hashes_of
from pipvariant.shim.core.state import CommandOptions, aside
from pipvariant.shim.finding.download import fetch_errors
from pipvariant.shim.finding.index import IndexState, source_of
from pipvariant.shim.finding.metadata import MetadataReader
from pipvariant.shim.locking.chooser import TABLE
from pipvariant.shim.resolving.decisions import Decisions
from pipvariant.standard.filename import NULL_LABEL, split_label

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

#: The hashes that are good enough to be written, as pip accepts them in requirements files.
STRONG = ("sha256", "sha384", "sha512")
PROOF = "proof-1.0-py3-none-any-null.whl"


def patches(
    pip: Pip,
    options: CommandOptions,
    index: IndexState,
    metadata: MetadataReader,
    decisions: Decisions,
) -> list[Patch]:
    """Patch the writer of lock files."""
    writer = LockWriter(options, index, metadata, decisions)
    write = _as_toml if pip.writes_locks_as_text else _to_dict
    return [patch(pip.lock_writer, write, _prove, pip, writer)]


def _to_dict(pip: Pip, writer: LockWriter, original: Any, /, self: Any) -> Any:
    document = original(self)
    writer.extend(document)
    return document


def _as_toml(pip: Pip, writer: LockWriter, original: Any, /, self: Any) -> str:
    text = str(original(self))
    document = _toml().loads(text)
    # What has nothing to do with variants stays as pip wrote it, to the byte.
    if not writer.extend(document):
        return text
    return str(import_module("pip._vendor.tomli_w").dumps(document))


def _toml() -> Any:
    try:
        return import_module("tomllib")
    except ImportError:
        return import_module("pip._vendor.tomli")


@dataclass(eq=False)
class LockWriter:
    """Adds to a lock file what there is to say about variants."""

    _options: CommandOptions
    _index: IndexState
    _reader: MetadataReader
    _decisions: Decisions

    def extend(self, document: Any) -> bool:
        """Add it to the parsed lock file; return whether there was anything."""
        extended, all_variants = False, self._options.all_variants
        for entry in document["packages"]:
            metadata = self._list_all(entry) if all_variants else self._metadata(entry)
            labels = {split_label(wheel["name"])[1] for wheel in entry.get("wheels") or ()} - {None}
            extended |= all_variants or bool(labels)
            if labels and metadata is not None:
                entry[TABLE] = _table(metadata, labels)
        return extended

    def _metadata(self, entry: Any) -> Metadata | None:
        """Return the metadata that the one listed wheel was chosen by."""
        for wheel in entry.get("wheels") or ():
            judgement = self._decisions.judgements.get(wheel["name"])
            if judgement is not None:
                return judgement.metadata
        return None

    def _list_all(self, entry: Any) -> Metadata | None:
        """List every file of a locked version that its source offers; return their metadata."""
        offered = self._offered(entry)
        if offered is None:
            # Given by path or URL, from version control or another lock: there is no source.
            return self._metadata(entry)
        labelled: dict[str, File] = {}
        for file in offered:
            if file.label is not None:
                labelled.setdefault(file.label, file)
        metadata = self._metadata_of_all(labelled) if labelled else None
        known = {None, NULL_LABEL, *metadata.variants} if metadata is not None else {None}
        self._write_files(entry, [file for file in offered if file.label in known])
        return metadata

    def _offered(self, entry: Any) -> list[File] | None:
        """Return the files of a locked version that its source offers, None without a source."""
        project = entry["name"]
        url = next(iter(entry.get("wheels") or [entry.get("sdist") or {}])).get("url")
        seen = [
            (evaluator, link)
            for evaluator, links in self._index.listed.get(project, ())
            for link in links
        ]
        taken = next((link for _, link in seen if link.url_without_fragment == url), None)
        if taken is None:
            return None
        version, source = make_version(entry["version"]), source_of(taken)
        offered: dict[str, File] = {}
        for evaluator, link in seen:
            if source_of(link) != source or (link.is_yanked and not taken.is_yanked):
                continue
            if link.url_without_fragment in self._index.contradicted:
                continue
            # A page that lists one file twice means the first, as for pip.
            if link.filename not in offered and _is_offered(evaluator, link, project, version):
                offered[link.filename] = self._index.file(project, version, link)
        return [*offered.values()]

    def _metadata_of_all(self, labelled: Mapping[str, File]) -> Metadata | None:
        """Return the metadata of all labels, those of other platforms among them."""
        metadata = self._reader.metadata(labelled)
        if metadata is None or {NULL_LABEL, *metadata.variants}.issuperset(labelled):
            return metadata
        # It was read from single wheels, and from those of this platform only.
        return self._reader.read_again(labelled)

    def _write_files(self, entry: Any, offered: list[File]) -> None:
        """Put the files into an entry: what pip wrote stays, all others come to it."""
        wheels = {wheel["name"]: wheel for wheel in entry.get("wheels") or ()}
        for file in offered:
            if file.link.is_wheel and file.filename not in wheels:
                wheels.update(self._listed(file.link))
            elif not file.link.is_wheel and "sdist" not in entry:
                for sdist in self._listed(file.link).values():
                    entry["sdist"] = sdist
        if wheels:
            entry["wheels"] = sorted(wheels.values(), key=_place)

    def _listed(self, link: Any) -> dict[str, Any]:
        """Return a file as a lock lists it, by its filename; nothing if it cannot be had."""
        hashes = {name: value for name, value in hashes_of(link).items() if name in STRONG}
        if not hashes:
            path = self._reader.wheels.path(link)
            if path is None:
                logger.info("Its page has no hash of %s: it is downloaded for one", shown(link))
            try:
                hashes = {"sha256": _digest(self._index.session, link, path)}
            except fetch_errors() as error:
                logger.warning("%s is left out of the lock: %s", shown(link), error)
                return {}
        remove_auth: Any = import_module("pip._internal.utils.misc").remove_auth_from_url
        url = remove_auth(link.url_without_fragment)
        return {link.filename: {"name": link.filename, "url": url, "hashes": hashes}}


def _table(metadata: Metadata, labels: set[Any]) -> Mapping[str, object]:
    """Return the metadata of these labels (PEP 825, ``[packages.variants-json]``)."""
    from pipvariant.standard.metadata import to_dict

    variants = {label: metadata.variants.get(label, {}) for label in labels}
    return to_dict(replace(metadata, variants=variants))


def _is_offered(evaluator: Any, link: Any, project: str, version: Any) -> bool:
    """Say whether a link is a file of this version that pip would take on some platform."""
    if link.is_wheel:
        evaluator = copy.copy(evaluator)
        tags = _tags(link.filename)
        # pip's own judgement of all but the platform: formats, yanks, upload times, Python.
        evaluator._target_python = _AnyPlatform(evaluator._target_python, tags)
    result, detail = evaluator.evaluate_link(link)
    if result.name != "candidate":
        return False
    try:
        return bool(make_version(detail) == version) and _is_readable(link, project, version)
    except ValueError:
        return False


@dataclass(eq=False)
class _AnyPlatform:
    """pip's target Python, but for the tags: whatever a wheel has is supported."""

    _target_python: Any
    _tags: Any

    def get_unsorted_tags(self) -> Any:
        return self._tags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target_python, name)


def _tags(filename: str) -> Any:
    wheel: Any = import_module("pip._internal.models.wheel").Wheel
    try:
        return wheel(filename).file_tags
    except pip_error("InvalidWheelFilename"):
        return frozenset()


def _is_readable(link: Any, project: str, version: Any) -> bool:
    """Say whether readers of lock files accept this filename: one that they do not spoils all."""
    parsers: Any = import_module("pip._vendor.packaging.utils")
    try:
        if link.is_wheel:
            parsed = parsers.parse_wheel_filename(split_label(link.filename)[0])
        else:
            parsed = parsers.parse_sdist_filename(link.filename)
    except (InvalidFilename, ValueError):
        return False
    return bool(parsed[0] == project and parsed[1] == version)


def _place(wheel: Mapping[str, Any]) -> tuple[Any, ...]:
    """Order wheels: non-variant ones first; the higher build of equal tags first, as for pip."""
    parse: Any = import_module("pip._vendor.packaging.utils").parse_wheel_filename
    plain, label = split_label(wheel["name"])
    _, _, build, tags = parse(plain)
    number, suffix = build or (-1, "")
    return (label or "", sorted(map(str, tags)), -number, suffix, plain)


def _digest(session: Any, link: Any, path: str | None) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(session, link, path):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(session: Any, link: Any, path: str | None) -> Iterator[bytes]:
    if path is not None:
        with open(path, "rb") as stream:
            yield from iter(lambda: stream.read(1 << 20), b"")
        return
    network: Any = import_module("pip._internal.network.utils")
    with session.get(link.url_without_fragment, headers=network.HEADERS, stream=True) as response:
        network.raise_for_status(response)
        yield from network.response_chunks(response)


# The proof.


def _prove(pip: Pip, writer: LockWriter) -> bool:
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.ranking import Ranking

    module: Any = import_module(pip.lock_writer.partition(":")[0])
    wheel = module.PackageWheel(
        name=PROOF, url=f"https://proof.invalid/{PROOF}", hashes={"sha256": "0"}
    )
    package = module.Package(name="proof", version="1.0", wheels=[wheel])
    judgement = Judgement(Metadata(("proof",)), Ranking((NULL_LABEL,), ()), {}, {})
    with aside(writer._decisions, judgements={PROOF: judgement}):
        if pip.writes_locks_as_text:
            document = _toml().loads(module.Pylock(packages=[package]).as_toml())
        else:
            lock = module.Pylock(lock_version="1.0", created_by="proof", packages=[package])
            document = lock.to_dict()
    return list(document["packages"][0][TABLE]["variants"]) == [NULL_LABEL]
