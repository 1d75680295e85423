"""Installed variants: what they are, whether they still fit, and what ranks before them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from pipvariant.errors import PipVariantError
from pipvariant.shim.core.state import Run
from pipvariant.shim.finding.filenames import label_of
from pipvariant.shim.finding.links import source_of
from pipvariant.shim.resolving.selector import is_allowed
from pipvariant.standard.filename import NULL_LABEL, label_phrase

if TYPE_CHECKING:
    from pipvariant.shim.resolving.selector import Candidate, Judgement
    from pipvariant.standard.metadata import Metadata

__all__ = [
    "KEPT",
    "Fit",
    "Installed",
    "Looked",
    "better",
    "fit",
    "is_wanted",
    "keep",
    "look",
    "may_have_better",
    "order",
    "read",
]

logger = logging.getLogger(__name__)

#: What :func:`keep` returns in place of a candidate.
KEPT = object()

Order = Callable[[Any, Sequence[Any], Any], "list[Any]"]


class Installed(NamedTuple):
    """An installed project, and what its own ``variant.json`` says about it.

    :param label: None for a non-variant wheel, and where the file cannot be read.
    :param metadata: None in the same cases.
    :param problem: why the file cannot be read, empty if it can or there is none.
    """

    name: str
    version: str
    label: str | None = None
    metadata: Metadata | None = None
    problem: str = ""

    @property
    def is_variant(self) -> bool:
        """Whether a variant wheel was installed, even one that is not known any more."""
        return self.label is not None or bool(self.problem)

    def __str__(self) -> str:
        if self.problem:
            return f"a variant that is not known ({self.problem})"
        return label_phrase(self.label, "the non-variant build")


class Fit(NamedTuple):
    """Whether a variant fits the target; None with a reason where that cannot be known."""

    fits: bool | None
    reason: str = ""


class Looked(NamedTuple):
    """What was found out about an installed variant.

    :param better: a label of the same version that ranks before it; empty if there is none, None
        where that cannot be known without asking an index.
    """

    installed: Installed
    fit: Fit
    better: str | None


def read(distribution: Any) -> Installed:
    """Return what pip's installed distribution is (PEP 825, ``.dist-info/variant.json``).

    Whatever tool installed it: the label is the one key of ``variants``.
    """
    name, version = str(distribution.raw_name), str(distribution.version)
    unreadable = import_module("pip._internal.exceptions").NoneMetadataError
    try:
        text = distribution.read_text("variant.json")
    except FileNotFoundError:
        return Installed(name, version)
    except (OSError, UnicodeError, unreadable) as error:
        return Installed(name, version, problem=f"variant.json: {error}")
    from pipvariant.standard.metadata import read_variant_json

    try:
        metadata = read_variant_json(text, label=None, where="variant.json")
    except PipVariantError as error:
        return Installed(name, version, problem=str(error))
    (label,) = metadata.variants
    return Installed(name, version, label, metadata)


def fit(installed: Installed, judgement: Judgement) -> Fit:
    """Say whether an installed variant fits the target, by its own metadata.

    :param judgement: the answers for the namespaces that the variant uses.
    """
    from pipvariant.providers.answers import Origin
    from pipvariant.shim.resolving.reasons import miss
    from pipvariant.standard.ranking import rank

    label, metadata = installed.label, installed.metadata
    if label is None or metadata is None:
        return Fit(None, installed.problem)
    properties = metadata.variants[label]
    answers = judgement.answers
    # Where nobody can answer there is no reason to say no; another namespace may still have one.
    unknown = {
        namespace: answer
        for namespace, answer in answers.items()
        if answer.origin in (Origin.NOT_TRUSTED, Origin.NOT_ASKED, Origin.UNKNOWN)
    }
    supported = {
        namespace: properties[namespace] if namespace in unknown else answer.features
        for namespace, answer in answers.items()
    }
    rejected = rank(metadata, supported, (label,)).rejected
    if rejected:
        return Fit(False, miss(rejected[0], judgement))
    for namespace, answer in unknown.items():
        return Fit(None, "; ".join(answer.problems) or f"nobody answers for {namespace}")
    return Fit(True)


def better(run: Run, distribution: Any, installed: Installed) -> str | None:
    """Return a label that ranks before what is installed on this run's target.

    What was there to choose from is kept beside what is installed, so no index is asked.

    :returns: empty if there is none, None where that is not known.
    """
    from pipvariant.shim.installing.recorded_variants import NAME
    from pipvariant.shim.resolving.selector import judge
    from pipvariant.standard.metadata import read_variants_json

    unreadable = import_module("pip._internal.exceptions").NoneMetadataError
    try:
        metadata = read_variants_json(distribution.read_text(NAME), where=NAME)
    except (OSError, UnicodeError, PipVariantError, unreadable):
        return None
    label = installed.label
    same = label in (None, NULL_LABEL) or (
        installed.metadata is not None
        and metadata.variants.get(label or "") == installed.metadata.variants[label or ""]
    )
    if installed.problem or not same:
        return None
    labels = dict.fromkeys([*metadata.variants, *([] if label is None else [label])])
    of = f"{installed.name} {installed.version}"
    best = judge(_Looking.like(run), metadata, tuple(labels), of=of).ranking.compatible[:1]
    return "" if best in ((), (label,)) else best[0]


def may_have_better(run: Run, installed: Installed) -> bool:
    """Say whether the target has what labels of a project may be for, going by its null variant."""
    if installed.label != NULL_LABEL or installed.metadata is None:
        return False
    providers = installed.metadata.providers
    return any(
        run.target.answer(namespace, providers.get(namespace)).features
        for namespace in installed.metadata.namespaces
        if namespace != "abi_dependency"
    )


def look(configure: Callable[[Run], None], paths: Sequence[str] | None = None) -> list[Looked]:
    """Return the installed variants by name, each judged for this machine.

    A non-variant build is among them when there were labels to choose from.

    Only the providers of namespaces in use are asked. An optional one was enabled when the
    variant was installed, so it counts as enabled.

    :param configure: writes the options about the target into a run.
    :param paths: folders to look into instead of the environment.
    :raises InstallationError: pip's, when an override of a probe has a value that cannot be.
    """
    metadata: Any = import_module("pip._internal.metadata")
    environment = (
        metadata.get_environment(list(paths)) if paths else metadata.get_default_environment()
    )
    distributions = environment.iter_installed_distributions(local_only=False, skip=())
    found = [(distribution, read(distribution)) for distribution in distributions]
    run = _Looking(environment)
    configure(run)
    run.enabled += tuple(
        {name for _, each in found if each.metadata for name in each.metadata.providers}
    )
    found.sort(key=lambda pair: (pair[1].name.lower(), pair[1].version))
    looked = [
        Looked(installed, run.fit(installed), better(run, distribution, installed))
        for distribution, installed in found
    ]
    return [each for each in looked if each.installed.is_variant or each.better is not None]


class _Looking(Run):
    """A run that resolves nothing: what is in the environment decides."""

    def __init__(self, environment: Any) -> None:
        super().__init__()
        self.ignores_dependencies = True
        self._environment = environment

    @classmethod
    def like(cls, run: Run) -> _Looking:
        """Make one for the target of a run that resolves."""
        if isinstance(run, cls):
            return run
        environment: Any = import_module("pip._internal.metadata").get_default_environment()
        looking = cls(environment)
        looking._target, looking.preferences = run.target, run.preferences
        return looking

    def installed_version(self, name: str) -> str | None:
        found = self._environment.get_distribution(name.replace("_", "-"))
        return None if found is None else str(found.version)

    def tell_once(self, sentence: str) -> bool:
        # Each variant comes with its own reason.
        return False

    def fit(self, installed: Installed) -> Fit:
        from pipvariant.shim.resolving.selector import judge

        if not installed.is_variant:
            return Fit(True)
        if installed.label is None or installed.metadata is None:
            return Fit(None, installed.problem)
        of = f"{installed.name} {installed.version}"
        return fit(installed, judge(self, installed.metadata, (installed.label,), of=of))


def order(
    run: Run, ordered: Order, finder: Any, candidates: Sequence[Candidate], hashes: Any
) -> list[Any]:
    """Like ``run.order``; what is installed stands among the files, as :func:`keep`.

    :param ordered: the order for a project and version that is not installed.
    """
    payloads = ordered(finder, candidates, hashes)
    key = (candidates[0].name, candidates[0].version)
    installed = run.replaceable.get(key)
    if installed is None:
        return payloads
    offered = {label_of(candidate.link) or "" for candidate in candidates}
    if not is_wanted(run, finder, key, offered):
        run.unwanted.add(key)
        run.replacing.update((candidate.link.url, installed) for candidate in candidates)
        return payloads
    by_payload = {id(candidate.payload): candidate for candidate in candidates}
    better: list[Any] = []
    others: list[Any] = []
    stays = False
    for payload in payloads:
        link = by_payload[id(payload)].link
        if not is_allowed(link, hashes):
            break
        stays = stays or not (run.upgrade_variant and _is_better(run, link, installed))
        if stays and label_of(link) == installed.label:
            # The same label again would be no other choice.
            continue
        (others if stays else better).append(payload)
        run.replacing[link.url] = installed
    return [*better, keep, *others]


def is_wanted(run: Run, finder: Any, key: tuple[str, Any], offered: Collection[str]) -> bool:
    """Say whether what is installed may stay: it is all that the user insists on, if anything.

    :param key: of ``run.replaceable``.
    :param offered: the labels that the index has of the same version.
    """
    if run.preferences is None:
        return True
    from pipvariant.shim.resolving.constraints import demand_on_index

    demand = demand_on_index(run, finder, key[0], offered)
    installed = run.replaceable[key]
    return demand is None or demand.allows(installed.label, installed.metadata)


def keep() -> object:
    """Stand for what is installed, among the functions that build a candidate from a file."""
    return KEPT


def _is_better(run: Run, link: Any, installed: Installed) -> bool:
    """Say whether a file that fits ranks before what is installed of the same version."""
    from pipvariant.shim.resolving.selector import judge

    label = label_of(link)
    if installed.metadata is None:
        # A non-variant wheel comes after every label; what is not known is no reason to stay.
        return label is not None or bool(installed.problem)
    if label == installed.label or installed.label is None:
        return False
    of = f"{installed.name} {installed.version}"
    fits, reason = fit(installed, judge(run, installed.metadata, (installed.label,), of=of))
    if fits is None:
        _tell_kept(run, installed, reason)
    if not fits:
        return fits is False
    outcome = run.outcomes.get(link.url_without_fragment)
    judgement = None if outcome is None else outcome.judgements.get(source_of(link))
    if label is None or judgement is None:
        return False
    there = judgement.metadata.variants
    if installed.label != NULL_LABEL and (
        there.get(installed.label) != installed.metadata.variants[installed.label]
    ):
        # Metadata of two sources is never merged, so their labels have no common order.
        from pipvariant.shim.finding.download import redact

        _tell_kept(run, installed, f"it fits, and {redact(source_of(link))} does not know it")
        return False
    both = judge(run, judgement.metadata, (installed.label, label), of=of)
    return both.ranking.compatible[:1] == (label,)


def _tell_kept(run: Run, installed: Installed, reason: str) -> None:
    sentence = f"{installed.name} {installed.version}: {installed} is kept; {reason}"
    if run.tell_once(sentence):
        logger.info("%s", sentence)
