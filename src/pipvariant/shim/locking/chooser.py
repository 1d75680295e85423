"""The choice among the files that a lock lists for a package.

pip picks one file of each package in a ``pylock.toml`` by tags alone. Where wheels with labels
are listed, the choice is made again, by the metadata that the lock itself carries
(PEP 825, ``[packages.variants-json]``), so that no index is asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pipvariant.errors import PipVariantError
from pipvariant.log import logger
from pipvariant.printable import some
from pipvariant.selection.model import Decision, File, Judgement
from pipvariant.shim.core.pip_objects import installation_error, make_link
from pipvariant.shim.core.state import State, UserConstraints
from pipvariant.shim.finding.index import IndexState, Search
from pipvariant.shim.finding.metadata import MetadataReader
from pipvariant.shim.resolving.decisions import Decisions
from pipvariant.shim.resolving.selector import Orders, refuse_incompatible

if TYPE_CHECKING:
    from pipvariant.selection.constraints import VariantConstraint
    from pipvariant.selection.judging import Judge
    from pipvariant.standard.metadata import Metadata

#: The key below ``[[packages]]`` that holds the variant metadata of a package.
TABLE = "variants-json"
#: The module of pip that reads lock files.
PYLOCK = "pip._vendor.packaging.pylock"


class LockTables(State):
    """What lock files say that pip does not keep, and what was chosen in them."""

    def __init__(self) -> None:
        #: pip's object for a package, and the variant metadata that the lock has for it.
        self.tables: list[tuple[Any, Any]] = []
        #: Canonical project name -> the versions of it that lock files have.
        self.versions: dict[str, set[str]] = {}
        #: URL of a chosen file -> by what, None if nothing more is to be known of it by now.
        self.chosen: dict[str, Judgement | None] = {}

    def table(self, package: Any) -> Any:
        """Return the variant metadata that the lock has for a package, None if it has none."""
        return next((table for known, table in self.tables if known is package), None)


@dataclass(eq=False)
class LockChooser:
    """Chooses among the files that a lock lists for a package."""

    user: UserConstraints
    index: IndexState
    metadata: MetadataReader
    judge: Judge
    decisions: Decisions
    locks: LockTables

    def choose(self, package: Any, picked: Any, where: str, session: Any) -> Any:
        """Return the file of a locked package that ranks first on the target.

        :param package: pip's object for the entry.
        :param picked: the file that pip takes of it.
        :param where: path or URL of the lock file.
        :param session: pip's.
        :raises InstallationError: pip's, when no listed file can be taken.
        """
        if not any(picked is wheel for wheel in package.wheels or ()):
            # A directory, an archive, or an sdist where no wheel has a compatible tag.
            return picked
        files = self._with_backend(_files(package, where))
        if not files:
            raise installation_error(f"{where} lists no file of {package.name} with a valid URL.")
        has_labels = any(file.label is not None for file in files)
        if self.user.preferences is None:
            if not has_labels and any(file.payload is picked for file in files):
                return picked
            if len(files) == 1 and self.locks.table(package) is None:
                # There is nothing to choose from: the wheel is judged once it is here.
                self.locks.chosen[files[0].link.url_without_fragment] = None
                return files[0].payload
        return self._choose(files, self.locks.table(package), session)

    def _with_backend(self, files: list[File]) -> list[File]:
        """Return files of torch's family as builds for the backend that their version names.

        :raises InstallationError: pip's, when the user wants another one.
        """
        stated = self.user.torch_backend
        if not stated or not files:
            return files
        from pipvariant.selection.torch_backends import AUTO, WITH_BACKEND, backend_in

        first = files[0]
        backend = backend_in(str(first.version)) if first.project in WITH_BACKEND else None
        if backend is None:
            return files
        if stated not in (AUTO, backend):
            raise installation_error(
                f"{first.project} {first.version}: what {first.source} lists of it is for "
                f"{backend}, and --torch-backend {stated} wants another. Nothing was installed."
            )
        return [
            file._replace(label=backend, is_of_folder=True) if file.label is None else file
            for file in files
        ]

    def _choose(self, files: Sequence[File], table: Any, session: Any) -> Any:
        from pipvariant.selection.ordering import ordered

        project, version, where = files[0].project, str(files[0].version), files[0].source
        labelled: dict[str, File] = {}
        for file in files:
            if file.label is not None:
                labelled.setdefault(file.label, file)
        metadata = self._metadata(labelled, table, session)
        judgement = self.judge.judge(metadata, labelled, of=f"{project} {version}")
        constraint = self._constraint(files, judgement)
        found = ordered(files, {where: judgement}, constraint)
        if not found:
            raise _nothing_fits(files[0], judgement, constraint)
        url = found[0].link.url_without_fragment
        if found[0].label is not None and not found[0].is_of_folder:
            self.locks.chosen[url] = judgement
            return found[0].payload
        if labelled:
            decision = Decision(project, version, {where: judgement}, tuple(found))
            self.decisions.record(decision, found[:1])
        if self.user.preferences is not None:
            # What the user requires has been seen to, and no index is to be asked about it.
            self.locks.chosen[url] = None
        return found[0].payload

    def _constraint(self, files: Sequence[File], judgement: Judgement) -> VariantConstraint | None:
        """Return what the user requires of the package, None if nothing.

        :raises InstallationError: pip's, when the one label that is required is incompatible.
        """
        if self.user.preferences is None:
            return None
        from pipvariant.selection.constraints import constraint_for

        project = files[0].project
        used = {namespace for file in files for namespace in judgement.properties(file.label)}
        offered = {file.label or "" for file in files}
        constraint = constraint_for(self.user.preferences, project, offered, used.__contains__)
        if constraint is not None:
            refuse_incompatible(constraint, [judgement], f"{project} {files[0].version}")
        return constraint

    def _metadata(self, labelled: Mapping[str, File], table: Any, session: Any) -> Metadata:
        """Return what is known about the labels; without metadata only the null variant fits."""
        from pipvariant.standard.metadata import Metadata, from_dict

        nothing = Metadata(())
        if not labelled:
            return nothing
        if any(file.is_of_folder for file in labelled.values()):
            from pipvariant.selection.torch_backends import AUTO, metadata_of

            stated = self.user.torch_backend
            return metadata_of(labelled, stated="" if stated == AUTO else stated)
        if table is None or _is_reference(table):
            return self._metadata_elsewhere(labelled, table, session) or nothing
        file = next(iter(labelled.values()))
        try:
            return from_dict(table, where=f"{file.source}: {TABLE} of {file.project}")
        except PipVariantError as error:
            of = f"{file.project} {file.version}"
            logger.warning("%s: of its variants only null can be taken. %s", of, error)
            return nothing

    def _metadata_elsewhere(
        self, labelled: Mapping[str, File], table: Any, session: Any
    ) -> Metadata | None:
        """Read the file that the lock names, or else one listed wheel of each label."""
        if self.index.session is None:
            # At this point pip has no finder yet, only the session that it will have.
            self.index.session = session
        if table is not None:
            file = next(iter(labelled.values()))
            digest = table.get("hashes")
            digest = digest.get("sha256") if isinstance(digest, Mapping) else None
            named = SimpleNamespace(path=table.get("path"), url=table.get("url"))
            fragment = f"#sha256={digest}" if isinstance(digest, str) else ""
            try:
                link = _link(file.source, named, fragment)
            except ValueError as error:
                where = f"{file.source}: {TABLE} of {file.project}"
                logger.warning("%s: %s. Of its variants only null can be taken.", where, error)
                return None
            self.index.json_links[file.source, file.project, file.version] = [link]
        return self.metadata.metadata(labelled)


@dataclass(eq=False)
class LockedOrder:
    """Takes a file that was chosen in a lock as it is; another one puts all others in order."""

    inner: Orders
    locks: LockTables
    decisions: Decisions

    def order(self, files: Sequence[File], search: Search) -> list[Any]:
        """Return the payloads of the files that may be taken, best first."""
        chosen, decisions = self.locks.chosen, self.decisions
        if not all(file.link.url_without_fragment in chosen for file in files):
            return self.inner.order(files, search)
        for file in files:
            judgement = chosen[file.link.url_without_fragment]
            if judgement is not None:
                judgements = {file.source: judgement}
                decision = Decision(file.project, str(file.version), judgements, (file,))
                decisions.record(decision, [file])
                decisions.judgements[file.filename] = judgement
        return [file.payload for file in files]


def _files(package: Any, where: str) -> list[File]:
    """Return the files of a package that fit by their tags, best first; the sdist is the last.

    Wheels are in pip's order: by tags, and by build number where tags are equal.
    """
    tags: Any = import_module("pip._vendor.packaging.tags")
    parse: Any = import_module(PYLOCK).parse_wheel_filename
    parsed = [(wheel, parse(wheel.filename)) for wheel in package.wheels]
    parsed.sort(key=lambda pair: pair[1][2], reverse=True)
    fits_tags = tags.create_compatible_tags_selector(tags.sys_tags())
    listed = [*fits_tags((wheel, parts[-1]) for wheel, parts in parsed)]
    if package.sdist is not None:
        listed.append(package.sdist)
    version = package.version or parsed[0][1][1]
    files = []
    for each in listed:
        try:
            link = _link(where, each)
        except ValueError as error:
            logger.warning("%s: %s is left out: %s", where, each.filename, error)
            continue
        named = File.named(
            package.name, version, each.filename, source=where, link=link, payload=each
        )
        files.append(named)
    return files


def _link(where: str, listed: Any, fragment: str = "") -> Any:
    """Return a listed file as a link whose source is the lock file."""
    pylock: Any = import_module("pip._internal.utils.pylock")
    # For pip the URL of a listed wheel and of any other listed file are the same question.
    url = str(pylock.package_wheel_requirement_url(where, listed))
    return make_link(url + fragment, comes_from=where)


def _is_reference(table: Any) -> bool:
    """Say whether a table names a file, as in PEP 817, instead of holding its content."""
    return (
        isinstance(table, Mapping)
        and "variants" not in table
        and any(isinstance(table.get(key), str) for key in ("path", "url"))
    )


def _nothing_fits(
    file: File, judgement: Judgement, constraint: VariantConstraint | None
) -> Exception:
    from pipvariant.selection.reasons import incompatibility

    misses = some(
        (incompatibility(each, judgement) for each in judgement.ranking.rejected), joint="; "
    )
    what = f"none of its wheels in {file.source} fits this machine: {misses}"
    if constraint is not None:
        what = f"nothing of it that {file.source} lists and that fits is {constraint}"
    return installation_error(f"{file.project} {file.version}: {what}. Nothing was installed.")
