"""The files of one version, best first (PEP 825, section "Variant ordering")."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pipvariant.selection.constraints import VariantConstraint
from pipvariant.selection.judging import Judge, judge_sources
from pipvariant.selection.model import Decision, File, Judgement, MetadataSource

Judgements = Mapping[str, "Judgement | None"]


def _nothing_required(_judgements: Judgements) -> VariantConstraint | None:
    return None


def decide(
    files: Sequence[File],
    metadata_source: MetadataSource,
    judge: Judge,
    *,
    constraint: Callable[[Judgements], VariantConstraint | None] = _nothing_required,
    preferred_label: str | None = None,
    by_hash: bool = False,
) -> Decision:
    """Decide which files of one version may be installed, in which order.

    :param files: of one project and version, in the installer's own order, best first; that order
        decides between files with the same label.
    :param constraint: returns what the user requires, None for nothing.
    :param preferred_label: goes before its equals; empty for the non-variant wheel.
    :param by_hash: only files with some hashes are allowed.
    """
    if any(file.label is not None and not file.is_of_folder for file in files):
        # Where labels are published, those of folders are not needed.
        files = [file for file in files if not file.is_of_folder]
    judgements = judge_sources(files, metadata_source, judge)
    required = constraint(judgements)
    found = tuple(ordered(files, judgements, required, preferred_label))
    reason = ""
    if required is not None and not found:
        usable = [judgement for judgement in judgements.values() if judgement is not None]
        labels = {file.label for file in files if file.label is not None}
        reason = required.unmet(usable, labels, by_hash=by_hash)
    return Decision(files[0].project, str(files[0].version), judgements, found, reason)


def ordered(
    files: Iterable[File],
    judgements: Judgements,
    constraint: VariantConstraint | None = None,
    preferred_label: str | None = None,
) -> list[File]:
    """Return the files that may be installed, best first.

    Files with an allowed hash come first; then variant wheels as their label ranks, the
    non-variant wheels, and source distributions. Metadata of two sources is never merged, so
    their labels have no common order: the source that the installer takes from first comes first
    as a whole.

    :param files: of one version, in the installer's own order, best first.
    :param judgements: source -> judgement, None if its metadata is unusable.
    """
    places = {
        source: {label: place for place, label in enumerate(judgement.ranking.compatible)}
        for source, judgement in judgements.items()
        if judgement is not None
    }
    sources: dict[str, int] = {}
    keyed = []
    for file in files:
        judgement = judgements.get(file.source)
        if constraint is not None and not constraint.allows(
            file.label, judgement and judgement.metadata
        ):
            continue
        if file.label is None:
            # The installer has non-variant wheels and source distributions in order already.
            key = (not file.allowed, True, 0, 0)
        elif (place := places.get(file.source, {}).get(file.label)) is not None:
            number = sources.setdefault(file.source, len(sources))
            key = (not file.allowed, False, number, place)
        else:
            continue
        keyed.append((key, file))
    keyed.sort(key=lambda pair: pair[0])
    if preferred_label is not None:
        # Sorting is stable: the rest of the order stays.
        keyed.sort(key=lambda pair: (pair[0][0], (pair[1].label or "") != preferred_label))
    return [file for _, file in keyed]


def sources_of(files: Iterable[File]) -> list[str]:
    """Return the sources of the variant wheels among files, in their order."""
    return list(dict.fromkeys(file.source for file in files if file.label is not None))
