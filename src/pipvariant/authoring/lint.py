"""Find what is wrong with variant wheels, metadata files, folders and pages."""

from __future__ import annotations

import filecmp
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from packaging.version import Version

from pipvariant.authoring._lint_metadata import check_document
from pipvariant.authoring._lint_page import Page, Source, check_local_page, check_page
from pipvariant.authoring._lint_release import Document, check_document_name, check_release
from pipvariant.authoring._lint_rules import ERROR, RULES, WARNING, Finding, Rule
from pipvariant.authoring._lint_wheel import Member, check_name, check_wheel
from pipvariant.authoring.folder import files_below
from pipvariant.errors import InvalidOption
from pipvariant.files import read_regular
from pipvariant.wheelfile.dist_info import VARIANT_JSON

__all__ = ["ERROR", "RULES", "WARNING", "Finding", "Page", "Rule", "Source", "find_faults"]

_VARIANTS_JSON = "-variants.json"
_KINDS = (".whl", ".json", ".html")
#: Folder, project, version.
_Release = tuple[Path, str, Version]


def find_faults(paths: Iterable[str], source: Source) -> list[Finding]:
    """Hold files, folders and pages to the rules (PEP 825, PEP 850).

    :param paths: wheels, ``variant.json`` and ``variants.json`` files, folders with all that is
        below them, and URLs of projects' pages.
    :param source: reads what URLs name.
    :returns: in the order of files, places and rules, each once.
    :raises InvalidOption: a path is not there, of another kind, or cannot be read.
    """
    findings: list[Finding] = []
    given: dict[Path, bool] = {}
    for name in paths:
        path = Path(name)
        if name.lower().startswith(("http://", "https://")):
            check_page(name, source, findings)
        elif path.is_dir():
            given.update(dict.fromkeys(files_below(path), True))
        elif path.is_file() and path.suffix in _KINDS:
            given.setdefault(path, False)
        elif path.exists() and not path.is_file():
            raise InvalidOption("is no regular file", where=name)
        else:
            raise InvalidOption("is no folder, wheel, metadata file or page", where=name)
    files = _Files(findings)
    try:
        for path, below in given.items():
            files.check(path, below=below)
        files.check_together()
    except OSError as error:
        where = str(error.filename or "")
        raise InvalidOption(f"cannot be read: {error.strerror}", where=where) from error
    return sorted(set(findings))


class _Files:
    """The files of this machine: looked at one by one, then held against each other."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings
        self._wheels: dict[str, list[Path]] = defaultdict(list)
        self._members: dict[_Release, list[Member]] = defaultdict(list)
        self._documents: dict[_Release, Document] = {}
        # Of these, all that there is has been looked at.
        self._whole: set[Path] = set()

    def check(self, path: Path, *, below: bool) -> None:
        """Look at one file.

        :param below: it was found in a folder, together with all others there.
        """
        findings = self._findings
        if below:
            self._whole.add(path.parent)
        if path.suffix == ".whl":
            self._wheels[path.name].append(path)
            wheel = check_name(path.name, str(path), findings)
            member = check_wheel(path, wheel, str(path), findings)
            if member is not None and member.wheel.label is not None:
                self._members[path.parent, member.wheel.project, member.wheel.version].append(
                    member
                )
        elif path.name.endswith(_VARIANTS_JSON):
            named = check_document_name(path.name, str(path), findings)
            metadata = check_document(read_regular(path), str(path), findings, single=False)
            if named is not None:
                release = (path.parent, *named)
                self._documents[release] = Document(str(path), metadata)
        elif path.suffix == ".html":
            check_local_page(path, findings)
        elif path.suffix == ".json" and not below:
            single = path.name == VARIANT_JSON
            check_document(read_regular(path), str(path), findings, single=single)

    def check_together(self) -> None:
        """Hold the files of each release against each other, and equal names too."""
        for release, members in self._members.items():
            document = self._documents.pop(release, None)
            self._findings += check_release(members, document, whole=release[0] in self._whole)
        for (folder, project, version), document in self._documents.items():
            if folder in self._whole:
                text = f"in {folder} is no variant wheel of {project} {version}"
                self._findings.append(Finding(document.file, "", "V410", text))
        for first, *others in self._wheels.values():
            for other in others:
                if not filecmp.cmp(first, other, shallow=False):
                    text = f"is not equal to {first}"
                    self._findings.append(Finding(str(other), "", "V211", text))
