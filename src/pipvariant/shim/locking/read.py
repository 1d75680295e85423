"""Lock files as requirements: variants are chosen among the wheels that a lock lists.

pip picks one file of each package in a ``pylock.toml`` by tags alone. Where wheels with labels
are listed, the choice is made again, by the metadata that the lock itself carries
(PEP 825, ``[packages.variants-json]``), so that no index is asked.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.shim.core.patches import Patch
from pipvariant.shim.core.pip_versions import Pip
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import PROOF
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.finding.metadata import metadata_of
from pipvariant.shim.resolving.selector import Judgement, Outcome, judge
from pipvariant.standard.filename import split_label

if TYPE_CHECKING:
    from pipvariant.standard.metadata import Metadata

__all__ = ["TABLE", "choose", "order", "patches"]

logger = logging.getLogger(__name__)

#: The key below ``[[packages]]`` that holds the variant metadata of a package.
TABLE = "variants-json"

PYLOCK = "pip._vendor.packaging.pylock"
COMMAND = "pip._internal.cli.req_command"


def patches(pip: Pip, run: Run) -> list[Patch]:
    """Patch the reader of lock files, and the place where one file of each package is picked."""
    if not pip.reads_locks:
        return []
    found = [
        Patch(
            f"{PYLOCK}:Pylock.from_dict",
            lambda original: _from_dict(run, original),
            lambda: _prove_tables(run),
        )
    ]
    if not run.no_variant:
        found.append(
            Patch(
                f"{COMMAND}:select_from_pylock_path_or_url",
                lambda original: _select(run, original),
                lambda: _prove_select(pip, run),
            )
        )
    return found


def _from_dict(run: Run, original: Any) -> Any:
    def from_dict(cls: Any, data: Any, /) -> Any:
        if run.no_variant:
            return original.__get__(None, cls)(_without_variants(run, data))
        lock = original.__get__(None, cls)(data)
        # pip's object of a package has no room for the table, so it is kept beside.
        for package, entry in zip(lock.packages, data["packages"]):
            if TABLE in entry:
                run.lock_tables.append((package, entry[TABLE]))
            if package.version is not None:
                run.locked_versions.setdefault(package.name, set()).add(str(package.version))
        return lock

    return classmethod(from_dict)


def _select(run: Run, original: Any) -> Any:
    def select_from_pylock_path_or_url(
        where: str, session: Any, *args: Any, **kwargs: Any
    ) -> Iterator[tuple[Any, Any]]:
        for package, picked in original(where, session, *args, **kwargs):
            yield package, run.choose(package, picked, where, session)

    return select_from_pylock_path_or_url


# The choice.


@dataclass(frozen=True)
class Locked:
    """One package of a lock file: ``wheels`` are those with a fitting tag, best first."""

    package: Any
    name: str
    version: Any
    wheels: Sequence[Any]
    where: str
    session: Any

    def url(self, wheel: Any) -> str:
        """Return where pip will find a listed file."""
        pylock: Any = import_module("pip._internal.utils.pylock")
        # For pip the URL of a listed wheel and of a listed sdist are the same question.
        return str(pylock.package_wheel_requirement_url(self.where, wheel))

    def link(self, wheel: Any, fragment: str = "") -> Any:
        """Return a listed file as a link whose source is the lock file."""
        link_class: Any = import_module("pip._internal.models.link").Link
        return link_class(self.url(wheel) + fragment, comes_from=self.where)

    @property
    def labelled(self) -> dict[str, Any]:
        """The best wheel of each label."""
        found: dict[str, Any] = {}
        for wheel in self.wheels:
            label = split_label(wheel.filename)[1]
            if label is not None:
                found.setdefault(label, wheel)
        return found

    @property
    def plain(self) -> Any:
        """The best non-variant wheel, else the sdist, else None."""
        for wheel in self.wheels:
            if split_label(wheel.filename)[1] is None:
                return wheel
        return self.package.sdist


def choose(run: Run, package: Any, picked: Any, where: str, session: Any) -> Any:
    """Return the file of a locked package that fits this machine best.

    :param package: pip's object for the entry; ``picked``: the file that pip takes of it.
    :param where: path or URL of the lock file; ``session``: pip's.
    :raises InstallationError: pip's, when wheels with labels are all that could be taken and
        none of them fits.
    """
    if not any(picked is wheel for wheel in package.wheels or ()):
        # A directory, an archive, or an sdist where no wheel has a fitting tag.
        return picked
    locked = _locked(package, where, session)
    labelled = locked.labelled
    if run.preferences is not None:
        return _choose_narrowed(run, locked)
    if not labelled:
        return picked
    if len(locked.wheels) == 1 and package.sdist is None and _table(run, package) is None:
        # There is nothing to choose from: the wheel itself is asked once it is here.
        run.locked[locked.link(picked).url_without_fragment] = None
        return picked
    metadata = _metadata(run, locked, labelled)
    judgement = judge(run, metadata, tuple(labelled), of=f"{locked.name} {locked.version}")
    return _take(run, locked, judgement, judgement.ranking.compatible, locked.plain)


def _choose_narrowed(run: Run, locked: Locked) -> Any:
    """Like :func:`choose`, among those files that are what the user insists on."""
    from pipvariant.shim.resolving.constraints import demand_for, refuse_misfit

    labelled, plain = locked.labelled, locked.plain
    metadata = _metadata(run, locked, labelled) if labelled else _nothing_said()
    judgement = judge(run, metadata, tuple(labelled), of=f"{locked.name} {locked.version}")
    used = {name for label in labelled for name in metadata.variants.get(label, ())}
    offered = [*labelled, *([] if plain is None else [""])]
    demand = demand_for(run, locked.name, offered, used.__contains__)
    labels: Iterable[str] = judgement.ranking.compatible
    if demand is not None:
        refuse_misfit(run, demand, locked, [judgement])
        labels = [label for label in labels if demand.allows(label, metadata)]
        plain = plain if demand.allows(None, metadata) else None
    return _take(run, locked, judgement, labels, plain, why=str(demand or ""))


def _nothing_said() -> Metadata:
    from pipvariant.standard.metadata import Metadata

    return Metadata(())


def _take(
    run: Run,
    locked: Locked,
    judgement: Judgement,
    labels: Iterable[str],
    plain: Any,
    *,
    why: str = "",
) -> Any:
    """Return the file with the first label, else the one without; remember what spoke for it."""
    for label in labels:
        chosen = locked.labelled[label]
        run.locked[locked.link(chosen).url_without_fragment] = judgement
        return chosen
    if plain is None:
        raise _nothing_fits(locked, judgement, why)
    url = locked.link(plain).url_without_fragment
    run.outcomes[url] = Outcome(locked.name, str(locked.version), {locked.where: judgement})
    if run.preferences is not None:
        # What the user insists on has been seen to, and no index is to be asked about it.
        run.locked[url] = None
    return plain


def order(
    run: Run,
    otherwise: Callable[[Any, Sequence[Any], Any], list[Any]],
    finder: Any,
    candidates: Sequence[Any],
    hashes: Any,
) -> list[Any]:
    """Return a locked file as it is, it was chosen before; order any other as always."""
    urls = [candidate.link.url_without_fragment for candidate in candidates]
    if not all(url in run.locked for url in urls):
        return otherwise(finder, candidates, hashes)
    for url, candidate in zip(urls, candidates):
        judgement = run.locked[url]
        if judgement is not None:
            source = source_of(candidate.link)
            run.judgements[candidate.link.filename] = judgement
            run.outcomes[url] = Outcome(candidate.name, str(candidate.version), {source: judgement})
    return [candidate.payload for candidate in candidates]


def _locked(package: Any, where: str, session: Any) -> Locked:
    """Look at the listed wheels as pip does: by tags, and by build number where tags are equal."""
    tags: Any = import_module("pip._vendor.packaging.tags")
    parse: Any = import_module(PYLOCK).parse_wheel_filename
    parsed = [(wheel, parse(wheel.filename)) for wheel in package.wheels]
    parsed.sort(key=lambda pair: pair[1][2], reverse=True)
    fits_tags = tags.create_compatible_tags_selector(tags.sys_tags())
    wheels = tuple(fits_tags((wheel, parts[-1]) for wheel, parts in parsed))
    return Locked(package, package.name, package.version or parsed[0][1][1], wheels, where, session)


def _table(run: Run, package: Any) -> Any:
    return next((table for known, table in run.lock_tables if known is package), None)


def _metadata(run: Run, locked: Locked, labelled: Mapping[str, Any]) -> Metadata:
    """Return what is known about the labels; without metadata only the null variant fits."""
    from pipvariant.standard.metadata import Metadata, from_dict

    table = _table(run, locked.package)
    metadata = None
    if table is None or _is_reference(table):
        metadata = _metadata_elsewhere(run, locked, labelled, table)
    else:
        try:
            metadata = from_dict(table, where=f"{locked.where}: {TABLE} of {locked.name}")
        except PipVariantError as error:
            logger.warning(
                "%s %s: of its variants only null can be taken. %s",
                locked.name,
                locked.version,
                error,
            )
    return Metadata(()) if metadata is None else metadata


def _is_reference(table: Any) -> bool:
    """Say whether a table names a file, as in PEP 817, instead of holding its content."""
    return (
        isinstance(table, Mapping)
        and "variants" not in table
        and any(isinstance(table.get(key), str) for key in ("path", "url"))
    )


def _metadata_elsewhere(
    run: Run, locked: Locked, labelled: Mapping[str, Any], table: Any
) -> Metadata | None:
    """Read the file that the lock names, or else one listed wheel of each label."""
    links = {label: locked.link(wheel) for label, wheel in labelled.items()}
    if table is not None:
        digest = table.get("hashes")
        digest = digest.get("sha256") if isinstance(digest, Mapping) else None
        file = SimpleNamespace(path=table.get("path"), url=table.get("url"))
        link = locked.link(file, f"#sha256={digest}" if isinstance(digest, str) else "")
        run.json_links[locked.where, locked.name, locked.version] = link
    # At this point pip has no finder yet, only the session that it will have.
    finder = SimpleNamespace(_link_collector=SimpleNamespace(session=locked.session))
    return metadata_of(run, finder, locked.name, locked.version, links)


def _nothing_fits(locked: Locked, judgement: Judgement, why: str) -> Exception:
    from pipvariant.shim.resolving.reasons import miss

    misses = "; ".join(miss(rejection, judgement) for rejection in judgement.ranking.rejected)
    what = (
        f"nothing of it that {locked.where} lists and that fits is {why}"
        if why
        else f"none of its wheels in {locked.where} fits this machine: {misses}"
    )
    error: Exception = import_module("pip._internal.exceptions").InstallationError(
        f"{locked.name} {locked.version}: {what}. Nothing was installed."
    )
    return error


# Without variants.


def _without_variants(run: Run, data: Any) -> Any:
    """Return a parsed lock file without the wheels that have a label.

    What is not as it should be is left as it is, for pip to refuse it.
    """
    packages = data.get("packages")
    if not isinstance(packages, list):
        return data
    return {**data, "packages": [_plain_package(run, package) for package in packages]}


def _plain_package(run: Run, package: Any) -> Any:
    wheels = package.get("wheels") if isinstance(package, dict) else None
    if not isinstance(wheels, list):
        return package
    kept = [wheel for wheel in wheels if not _is_labelled(wheel)]
    if len(kept) == len(wheels):
        return package
    name = str(package.get("name"))
    run.left_out.add(name)
    if not kept and "sdist" not in package:
        raise import_module("pip._internal.exceptions").InstallationError(
            f"only variant wheels of {name} are listed, and --no-variant leaves them out"
        )
    plain = {key: value for key, value in package.items() if key != "wheels"}
    return {**plain, "wheels": kept} if kept else plain


def _is_labelled(wheel: Any) -> bool:
    pylock: Any = import_module(PYLOCK)
    try:
        return split_label(pylock.PackageWheel._from_dict(wheel).filename)[1] is not None
    except Exception:  # noqa: BLE001 - whatever is wrong with it, pip will say so
        return False


# Proofs: a lock file that is made up, read by pip's own functions.


def _proof() -> dict[str, Any]:
    wheel = {"name": PROOF, "url": f"https://proof.invalid/{PROOF}", "hashes": {"sha256": "0"}}
    package = {"name": "proof", "version": "1.0", "wheels": [wheel], TABLE: {"proof": True}}
    return {"lock-version": "1.0", "created-by": "proof", "packages": [package]}


def _forget(run: Run) -> None:
    # Nothing but proofs has read a lock file by now.
    run.lock_tables.clear()
    run.locked_versions.clear()


def _prove_tables(run: Run) -> bool:
    left_out, run.left_out = run.left_out, set()
    try:
        lock = import_module(PYLOCK).Pylock.from_dict(_proof())
    except import_module("pip._internal.exceptions").InstallationError:
        return run.no_variant and run.left_out == {"proof"}
    else:
        return run.lock_tables == [(lock.packages[0], {"proof": True})]
    finally:
        run.left_out = left_out
        _forget(run)


def _prove_select(pip: Pip, run: Run) -> bool:
    command: Any = import_module(COMMAND)
    names = command.RequirementCommand.get_requirements.__code__.co_names
    text: str = import_module("pip._vendor.tomli_w").dumps(_proof())

    class Session:
        """Answers every request with the lock file."""

        def get(self, url: str) -> Any:
            return SimpleNamespace(text=text, status_code=200, reason="OK", url=url)

    chosen, run.choose = run.choose, lambda *args: "chosen"
    try:
        selected = command.select_from_pylock_path_or_url(
            "https://proof.invalid/pylock.toml", Session(), **pip.select_arguments
        )
        picks = [pick for _, pick in selected]
    finally:
        run.choose = chosen
        _forget(run)
    return "select_from_pylock_path_or_url" in names and picks == ["chosen"]
