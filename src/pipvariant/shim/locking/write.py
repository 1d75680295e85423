"""``lock``: what is written into a ``pylock.toml`` about variants (PEP 751, PEP 825).

pip writes one file of each package. Where that is a variant wheel, the metadata that it was
chosen by is written beside it. With ``--all-variants`` every file of the version that its
source offers is listed, so that one lock serves machines with different hardware.
"""

from __future__ import annotations

import copy
import hashlib
import logging
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pipvariant.errors import InvalidFilename
from pipvariant.shim.core import samples
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.download import shown
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.finding.metadata import metadata_of
from pipvariant.shim.locking.read import TABLE
from pipvariant.standard.filename import NULL_LABEL, split_label

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["patches"]

logger = logging.getLogger(__name__)

EVALUATOR = "pip._internal.index.package_finder"
#: The hashes that are good enough to be written, as pip accepts them in requirements files.
STRONG = ("sha256", "sha384", "sha512")
PROOF = "proof-1.0-py3-none-any-null.whl"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the writer of lock files; for all variants, also what looks at each link."""
    wrap = _as_toml if pip.writes_locks_as_text else _to_dict
    found = [
        Patch(
            pip.lock_writer,
            lambda original: wrap(run, original),
            lambda: _prove_written(pip, run),
        )
    ]
    if run.all_variants:
        found.append(
            Patch(
                f"{EVALUATOR}:LinkEvaluator.evaluate_link",
                lambda original: _evaluate_link(run, original),
                lambda: _prove_links(run),
            )
        )
    return found


def _to_dict(run: Run, original: Any) -> Any:
    def to_dict(self: Any) -> Any:
        document = original(self)
        _extend(run, document)
        return document

    return to_dict


def _as_toml(run: Run, original: Any) -> Any:
    def as_toml(self: Any) -> str:
        text = str(original(self))
        document = _toml().loads(text)
        # What has nothing to do with variants stays as pip wrote it, to the byte.
        if not _extend(run, document):
            return text
        return str(import_module("pip._vendor.tomli_w").dumps(document))

    return as_toml


def _toml() -> Any:
    try:
        return import_module("tomllib")
    except ImportError:
        return import_module("pip._vendor.tomli")


def _evaluate_link(run: Run, original: Any) -> Any:
    def evaluate_link(self: Any, link: Any) -> Any:
        # Judged later, and only if this project is locked: see _is_offered.
        run.links.setdefault(self._canonical_name, []).append((self, link, original))
        return original(self, link)

    return evaluate_link


# What is written.


def _extend(run: Run, document: Any) -> bool:
    """Add to a lock file what it says about variants; return whether there was anything."""
    extended = False
    for entry in document["packages"]:
        metadata = _list_all(run, entry) if run.all_variants else _metadata(run, entry)
        labels = {split_label(wheel["name"])[1] for wheel in entry.get("wheels") or ()} - {None}
        extended |= run.all_variants or bool(labels)
        if labels and metadata is not None:
            entry[TABLE] = _table(metadata, labels)
    return extended


def _table(metadata: Metadata, labels: set[Any]) -> Mapping[str, object]:
    """Return the metadata of these labels (PEP 825, ``[packages.variants-json]``)."""
    from dataclasses import replace

    from pipvariant.standard.metadata import to_dict

    variants = {label: metadata.variants.get(label, {}) for label in labels}
    return to_dict(replace(metadata, variants=variants))


def _metadata(run: Run, entry: Any) -> Metadata | None:
    """Return the metadata that the one listed wheel was chosen by."""
    for wheel in entry.get("wheels") or ():
        judgement = run.judgements.get(wheel["name"])
        if judgement is not None:
            return judgement.metadata
    return None


def _list_all(run: Run, entry: Any) -> Metadata | None:
    """List every file of a locked version that its source offers; return their metadata."""
    version_class: Any = import_module("pip._vendor.packaging.version").Version
    seen = run.links.get(entry["name"], [])
    chosen = next(iter(entry.get("wheels") or [entry.get("sdist") or {}])).get("url")
    taken = [link for _, link, _ in seen if link.url_without_fragment == chosen]
    if not taken:
        # Given by path or URL, from version control or another lock: there is no source.
        return _metadata(run, entry)
    version, source = version_class(entry["version"]), source_of(taken[0])
    offered: dict[str, Any] = {}
    for evaluator, link, evaluate in seen:
        if source_of(link) != source or (link.is_yanked and not taken[0].is_yanked):
            continue
        if _is_offered(evaluator, link, evaluate, entry["name"], version):
            # A page that lists one file twice means the first, as for pip.
            offered.setdefault(link.filename, link)
    labelled: dict[str, Any] = {}
    for link in offered.values():
        label = label_of(link) if link.is_wheel else None
        if label is not None:
            labelled.setdefault(label, link)
    metadata = _metadata_of_all(run, entry["name"], version, source, labelled)
    known = {NULL_LABEL, *metadata.variants} if metadata is not None else set()
    for filename, link in list(offered.items()):
        if link.is_wheel and label_of(link) not in {None, *known}:
            del offered[filename]
    _write_files(run, entry, offered)
    return metadata


def _is_offered(evaluator: Any, link: Any, evaluate: Any, name: str, version: Any) -> bool:
    """Say whether a link is a file of this version that pip would take on some platform."""
    versions: Any = import_module("pip._vendor.packaging.version")
    if link.is_wheel:
        evaluator = copy.copy(evaluator)
        tags = _tags(link.filename)
        # pip's own judgement of all but the platform: formats, yanks, upload times, Python.
        evaluator._target_python = _AnyPlatform(evaluator._target_python, tags)
    result, detail = evaluate(evaluator, link)
    if result.name != "candidate":
        return False
    try:
        return bool(versions.Version(detail) == version) and _is_readable(link, name, version)
    except versions.InvalidVersion:
        return False


class _AnyPlatform:
    """pip's target Python, but for the tags: whatever a wheel has is supported."""

    def __init__(self, target_python: Any, tags: Any) -> None:
        self._target_python = target_python
        self._tags = tags

    def get_unsorted_tags(self) -> Any:
        return self._tags

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target_python, name)


def _tags(filename: str) -> Any:
    wheel_module: Any = import_module("pip._internal.models.wheel")
    try:
        return wheel_module.Wheel(filename).file_tags
    except import_module("pip._internal.exceptions").InvalidWheelFilename:
        return frozenset()


def _is_readable(link: Any, name: str, version: Any) -> bool:
    """Say whether readers of lock files accept this filename: one that they do not spoils all."""
    parsers: Any = import_module("pip._vendor.packaging.utils")
    try:
        if link.is_wheel:
            parsed = parsers.parse_wheel_filename(split_label(link.filename)[0])
        else:
            parsed = parsers.parse_sdist_filename(link.filename)
    except (InvalidFilename, ValueError):
        return False
    return bool(parsed[0] == name and parsed[1] == version)


def _metadata_of_all(
    run: Run, name: str, version: Any, source: str, labelled: Mapping[str, Any]
) -> Metadata | None:
    """Return the metadata of all labels, those of other platforms among them."""
    if not labelled:
        return None
    metadata = metadata_of(run, run.finder, name, version, labelled)
    key = (source, name, version)
    if metadata is None or key in run.json_links:
        return metadata
    if not {NULL_LABEL, *metadata.variants}.issuperset(labelled):
        # It was read from single wheels, and from those of this platform only.
        del run.metadata[key]
        return metadata_of(run, run.finder, name, version, labelled)
    return metadata


def _write_files(run: Run, entry: Any, offered: Mapping[str, Any]) -> None:
    """Put the files into an entry: what pip wrote stays, all others come to it."""
    wheels = {wheel["name"]: wheel for wheel in entry.get("wheels") or ()}
    for link in offered.values():
        if link.is_wheel and link.filename not in wheels:
            wheels.update(_file(run, link))
        elif not link.is_wheel and "sdist" not in entry:
            for sdist in _file(run, link).values():
                entry["sdist"] = sdist
    if wheels:
        entry["wheels"] = sorted(wheels.values(), key=_place)


def _place(wheel: Mapping[str, Any]) -> tuple[Any, ...]:
    """Order wheels: non-variant ones first; the higher build of equal tags first, as for pip."""
    parse: Any = import_module("pip._vendor.packaging.utils").parse_wheel_filename
    plain, label = split_label(wheel["name"])
    _, _, build, tags = parse(plain)
    number, suffix = build or (-1, "")
    return (label or "", sorted(map(str, tags)), -number, suffix, plain)


def _file(run: Run, link: Any) -> dict[str, Any]:
    """Return a file as a lock lists it, by its filename; nothing if it cannot be had."""
    hashes = {name: value for name, value in link._hashes.items() if name in STRONG}
    if not hashes:
        if not link.is_file:
            logger.info("Its page has no hash of %s: it is downloaded for one", shown(link))
        try:
            hashes = {"sha256": _digest(run, link)}
        except _errors() as error:
            logger.warning("%s is left out of the lock: %s", shown(link), error)
            return {}
    remove_auth: Any = import_module("pip._internal.utils.misc").remove_auth_from_url
    url = remove_auth(link.url_without_fragment)
    return {link.filename: {"name": link.filename, "url": url, "hashes": hashes}}


def _digest(run: Run, link: Any) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(run, link):
        digest.update(chunk)
    return digest.hexdigest()


def _chunks(run: Run, link: Any) -> Iterator[bytes]:
    if link.is_file:
        with open(link.file_path, "rb") as stream:
            yield from iter(lambda: stream.read(1 << 20), b"")
        return
    network: Any = import_module("pip._internal.network.utils")
    session = run.finder._link_collector.session
    with session.get(link.url_without_fragment, headers=network.HEADERS, stream=True) as response:
        network.raise_for_status(response)
        yield from network.response_chunks(response)


def _errors() -> tuple[type[Exception], ...]:
    requests: Any = import_module("pip._vendor.requests")
    urllib3: Any = import_module("pip._vendor.urllib3")
    exceptions: Any = import_module("pip._internal.exceptions")
    return (requests.RequestException, urllib3.exceptions.HTTPError, exceptions.PipError, OSError)


# Proofs.


def _prove_written(pip: Pip, run: Run) -> bool:
    from pipvariant.standard.metadata import Metadata

    module: Any = import_module(pip.lock_writer.partition(":")[0])
    wheel = module.PackageWheel(
        name=PROOF, url=f"https://proof.invalid/{PROOF}", hashes={"sha256": "0"}
    )
    package = module.Package(name="proof", version="1.0", wheels=[wheel])
    run.judgements[PROOF] = SimpleNamespace(metadata=Metadata(("proof",)))  # type: ignore[assignment]  # metadata is all that is asked
    try:
        if pip.writes_locks_as_text:
            document = _toml().loads(module.Pylock(packages=[package]).as_toml())
        else:
            lock = module.Pylock(lock_version="1.0", created_by="proof", packages=[package])
            document = lock.to_dict()
    finally:
        del run.judgements[PROOF]
    return list(document["packages"][0][TABLE]["variants"]) == [NULL_LABEL]


def _prove_links(run: Run) -> bool:
    with samples.apart(run):
        # With --no-variant a label would leave the file out.
        finder = samples.finder(f"{samples.NAME}-1.0-py3-none-any.whl")
        (found,) = finder.find_all_candidates(samples.NAME)
        ((evaluator, link, evaluate),) = run.links[samples.NAME]
        # What pip has left of the link is enough to judge it again.
        return link is found.link and _is_offered(
            evaluator, link, evaluate, samples.NAME, found.version
        )
