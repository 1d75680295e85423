"""Which labels of a version are compatible with the target, in which order (PEP 825)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pipvariant.selection.model import Judgement, OtherProject
from pipvariant.standard.filename import NULL_LABEL

if TYPE_CHECKING:
    from pipvariant.providers.answers import Answer
    from pipvariant.selection.model import File, MetadataSource, Target
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.preferences import Preferences
    from pipvariant.standard.ranking import Supported


def _no_preferences() -> None:
    return None


def _unknown(_project: str) -> OtherProject:
    return OtherProject()


def _silent(_of: str, _judgement: Judgement) -> None:
    pass


class Judge:
    """Judges labels for one target.

    :param target: asked only about the namespaces of labels that are judged.
    :param preferences: returns what the user prefers and excludes, None for nothing.
    :param other_project: returns what is known about a project that labels are built for, by its
        canonical name.
    :param on_judged: is called with the name and version in question, and each new judgement.
    """

    def __init__(
        self,
        target: Target,
        *,
        preferences: Callable[[], Preferences | None] = _no_preferences,
        other_project: Callable[[str], OtherProject] = _unknown,
        on_judged: Callable[[str, Judgement], None] = _silent,
    ) -> None:
        self._target = target
        self._preferences = preferences
        self._other_project = other_project
        self._on_judged = on_judged
        #: (identity of metadata, labels) -> what was judged last, as a resolver comes back to a
        #: version. A judgement keeps its metadata, so no other one gets that identity.
        self._known: dict[tuple[int, tuple[str, ...]], Judgement] = {}

    def judge(
        self, metadata: Metadata, labels: Iterable[str], *, of: str, source: str = ""
    ) -> Judgement:
        """Rank labels; only the providers of their namespaces are asked.

        :param of: name and version, for the user to read.
        :param source: the page or folder that the metadata is from, empty if it is from neither.
        :returns: the same for every order of the labels.
        """
        from pipvariant.standard.ranking import rank

        labels = tuple(labels)
        answers = {
            namespace: self._answer(metadata, namespace, using, source)
            for namespace, using in labels_by_namespace(metadata, labels).items()
        }
        if not metadata.published:
            from pipvariant.selection.torch_backends import widened

            answers = {namespace: widened(answer) for namespace, answer in answers.items()}
        supported: Supported = {name: answer.features for name, answer in answers.items()}
        ordered, preferences = metadata, self._preferences()
        if preferences is not None:
            from pipvariant.standard.preferences import exclude, prefer

            supported = exclude(supported, preferences.excluded)
            ordered = prefer(metadata, preferences.preferred)
        judgement = self._known.get((id(metadata), labels))
        if preferences is not None or judgement is None or judgement.answers != answers:
            judgement = Judgement(metadata, rank(ordered, supported, labels), answers, supported)
            if preferences is None:
                self._known[id(metadata), labels] = judgement
        self._on_judged(of, judgement)
        return judgement

    def _answer(
        self, metadata: Metadata, namespace: str, labels: Sequence[str], source: str
    ) -> Answer:
        from pipvariant.standard.metadata import ABI_DEPENDENCY

        provider = metadata.providers.get(namespace)
        if provider is not None and provider.builtin == namespace == ABI_DEPENDENCY:
            return self._abi_dependency(metadata, labels)
        return self._target.answer(namespace, provider, source)

    def _abi_dependency(self, metadata: Metadata, labels: Sequence[str]) -> Answer:
        """Answer for what a wheel was built for: a resolver sees to it, so everything is open.

        What was built for an installed project comes first. Where nothing is resolved, only that
        is compatible, and of a project in a lock file only what was built for the locked version.
        """
        from pipvariant.providers.answers import Answer, Origin
        from pipvariant.standard.abi_dependency import is_meant, preferred
        from pipvariant.standard.metadata import ABI_DEPENDENCY

        wanted: dict[str, set[str]] = {}
        for label in labels:
            for name, values in metadata.variants[label][ABI_DEPENDENCY].items():
                wanted.setdefault(name, set()).update(values)
        features, facts = {}, {}
        for name in sorted(wanted):
            other = self._other_project(name.replace("_", "-"))
            values = preferred(wanted[name], other.installed)
            if other.locked or not other.is_open:
                there = other.locked or {other.installed or ""}
                values = tuple(
                    value for value in values if any(is_meant(version, value) for version in there)
                )
            if values:
                features[name] = values
            facts[name] = f"{other.installed} is installed" if other.installed else "not installed"
            if other.locked:
                facts[name] = f"{', '.join(sorted(other.locked))} is locked"
        return Answer(ABI_DEPENDENCY, features, Origin.BUILT_IN, "resolver", facts=facts)


def labels_by_namespace(metadata: Metadata, labels: Iterable[str]) -> dict[str, list[str]]:
    """Return namespace -> the labels that use it, both sorted."""
    using: dict[str, list[str]] = {}
    for label in sorted(labels):
        for namespace in metadata.variants.get(label, ()):
            using.setdefault(namespace, []).append(label)
    return dict(sorted(using.items()))


def promising_first(
    labels: Collection[str], known: Metadata | None, judge: Judge, *, of: str
) -> list[str]:
    """Return labels in the order in which they are worth looking into.

    :param known: the metadata of another version, by which the order is guessed.
    """
    promising = () if known is None else judge.judge(known, labels, of=of).ranking.compatible
    return sorted(dict.fromkeys((*promising, *sorted(labels))), key=NULL_LABEL.__eq__)


def labelled_by_source(files: Iterable[File]) -> dict[str, dict[str, File]]:
    """Return source -> label -> the first file with it, in the order of the files."""
    by_source: dict[str, dict[str, File]] = {}
    for file in files:
        if file.label is not None:
            by_source.setdefault(file.source, {}).setdefault(file.label, file)
    return by_source


def judge_sources(
    files: Sequence[File], metadata_source: MetadataSource, judge: Judge
) -> Mapping[str, Judgement | None]:
    """Judge the labels of each source by the metadata of that source alone.

    :param files: of one project and version, at least one.
    :returns: source -> judgement, None where the metadata is unusable; in the order of the files.
    """
    of = f"{files[0].project} {files[0].version}"
    judgements: dict[str, Judgement | None] = {}
    for source, labelled in labelled_by_source(files).items():
        metadata = metadata_source.metadata(labelled)
        if metadata is None:
            judgements[source] = None
            continue
        # What is made of folders tells also of those where nobody looks.
        labels = labelled if metadata.published else metadata.variants
        judgements[source] = judge.judge(metadata, labels, of=of, source=source)
    return judgements
