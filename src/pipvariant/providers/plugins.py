"""Plugin packages: which the user trusts, and what they answer, each asked once (PEP 850)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pipvariant.errors import ProbeFailed
from pipvariant.log import logger
from pipvariant.printable import printable, some
from pipvariant.providers import probe
from pipvariant.providers.answers import NOTHING, Answer, Origin, not_trusted
from pipvariant.providers.environments import Environment, Environments
from pipvariant.providers.requirements import marker_environment, plugin_requirements
from pipvariant.providers.trust import Trust, trust_option
from pipvariant.standard.properties import FEATURE, VALUE

if TYPE_CHECKING:
    from packaging.requirements import Requirement

    from pipvariant.standard.metadata import Provider

# So many of the names that a plugin should not have given are shown.
_SHOWN = 5


class Config(NamedTuple):
    """One feature as a plugin gives it (PEP 850, plugin interface).

    :param values: most preferred first.
    :param multi_value: whether a wheel may have several of them.
    """

    name: str
    values: tuple[str, ...]
    multi_value: bool


class Installer(Protocol):
    """Installs plugin packages from where they were named."""

    def places(self, source: str) -> Sequence[str]:
        """Say where packages come from that are named at a source: URLs without a password.

        :param source: the page or folder of the metadata; empty for metadata of no such place.
        """

    def install(
        self, requirements: Sequence[str], folder: Path, source: str, places: Sequence[str]
    ) -> Sequence[str]:
        """Install non-variant wheels and what they depend on into an empty folder.

        :param places: those of the source that may be looked at.
        :returns: what is installed, as ``name version``.
        :raises ProbeFailed: it could not be installed.
        """


class _Found(NamedTuple):
    """What a plugin answered.

    :param packages: the first is the plugin package.
    :param problems: each a phrase about something that the plugin did wrong.
    """

    configs: tuple[Config, ...]
    packages: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(eq=False)
class Plugins:
    """The plugin packages that a run may ask; each question is asked once.

    :param trusted: what the user trusts, as :class:`Trust` reads it.
    :param installer: installs plugin packages.
    :param folder: where their environments are kept; None keeps them for this process only.
    :param environ: the variables to choose from for the plugins.
    :param refresh: install the packages again, whatever is kept.
    :raises InvalidOption: as by :class:`Trust`.
    """

    trusted: Iterable[str]
    installer: Installer
    folder: Path | None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    refresh: bool = False

    def __post_init__(self) -> None:
        self._trust = Trust(self.trusted)
        self._environments = Environments(self.folder, refresh=self.refresh)
        self._installed: dict[tuple[str, ...], Environment | ProbeFailed] = {}
        self._has_warned = False
        self._found: dict[tuple[str, ...], _Found | ProbeFailed] = {}
        self._answers: dict[tuple[str, ...], Answer] = {}

    def answer(self, namespace: str, provider: Provider, source: str = "") -> Answer:
        """Say what the plugin of a namespace supports (PEP 850, steps 5 and 6).

        :param source: the page or folder that the metadata is from; empty for metadata out of a
            wheel, to which any place speaks that has spoken before.
        :returns: the answer; the same object again when the same is asked again.
        """
        requirements = plugin_requirements(provider)
        places = self._trusted_places(requirements, source)
        if not places:
            # Of several packages each may be trusted, from places that are not the same.
            untrusted = [
                each for each in requirements if not self._trusted_places([each], source)
            ] or requirements
            every = self.installer.places(source)
            return not_trusted(namespace, {name: trust_option(r, every) for name, r in untrusted})
        question = _question(namespace, provider, places, "get_supported_configs")
        if not source:
            # A wheel in hand is from a place that was asked already, if it is from one at all.
            alike = (asked for asked in self._answers if asked[1:] == question[1:])
            question = next(alike, question)
        if question not in self._answers:
            package = requirements[0][0]
            try:
                found = self._ask(question, provider, source, places)
                answer = _answer_of_plugin(namespace, package, found)
            except ProbeFailed as error:
                problem = (
                    f"the plugin package {package} of namespace {namespace} could not be asked:"
                    f" {_line(error.what)}"
                )
                answer = Answer(namespace, NOTHING, Origin.UNKNOWN, package, (problem,))
            self._answers[question] = answer
        return self._answers[question]

    def configs(
        self, namespace: str, provider: Provider, method: str = "get_supported_configs"
    ) -> tuple[Config, ...] | None:
        """Ask a plugin for its configs, as those who make wheels need them.

        :param method: ``get_supported_configs`` or ``get_all_configs``.
        :returns: None if not all of its packages are trusted: nothing was installed or run then.
        :raises ProbeFailed: the plugin could not be asked, or gave what no plugin may give.
        """
        requirements = plugin_requirements(provider)
        places = self._trusted_places(requirements, "")
        if not places:
            return None
        where = f"plugin package {requirements[0][0]}"
        try:
            found = self._ask(_question(namespace, provider, places, method), provider, "", places)
        except ProbeFailed as error:
            raise ProbeFailed(_line(error.what), where=where) from error
        if found.problems:
            raise ProbeFailed("; ".join(found.problems), where=where)
        return found.configs

    def _trusted_places(
        self, requirements: Sequence[tuple[str, Requirement]], source: str
    ) -> tuple[str, ...]:
        """Return the places of a source from which the user trusts all of the packages."""
        return tuple(
            place
            for place in self.installer.places(source) or [""]
            if requirements
            and all(self._trust.versions(name, place) is not None for name, _ in requirements)
        )

    def _ask(
        self, question: tuple[str, ...], provider: Provider, source: str, places: Sequence[str]
    ) -> _Found:
        def ask() -> _Found:
            environment = self._environment(provider, source, places)
            _, namespace, reference, method, *_ = question
            site = str(environment.site)
            printed: list[str] = []
            try:
                report = probe.run_plugin(
                    site, reference, method, environ=self.environ, printed=printed
                )
            finally:
                for text in printed:
                    logger.debug("%s printed: %s", reference, _line(text, 4000))
            configs, problems = _read_configs(report, namespace)
            return _Found(configs, environment.packages, problems)

        return _once(self._found, question, ask)

    def _environment(self, provider: Provider, source: str, places: Sequence[str]) -> Environment:
        """Return the environment of a plugin's packages."""
        from packaging.specifiers import SpecifierSet

        requirements = plugin_requirements(provider)
        urls = [name for name, requirement in requirements if requirement.url is not None]
        if urls:
            raise ProbeFailed(f"{urls[0]} is named by a URL, not as a package of its index")
        for name, requirement in requirements:
            for place in places:
                requirement.specifier &= self._trust.versions(name, place) or SpecifierSet()
            requirement.marker = None
        texts = tuple(sorted(str(requirement) for _, requirement in requirements))
        key = (" ".join(places), *texts)

        def fill(site: Path) -> Sequence[str]:
            packages = self.installer.install(key[1:], site, source, places)
            urls = [path.parent.name for path in site.glob("*.dist-info/direct_url.json")]
            if urls:
                raise ProbeFailed(f"{urls[0]} came by a URL, not from {key[0]}")
            # The plugin package comes first, the others are what it brings.
            return sorted(packages, key=lambda text: text.split()[0] != requirements[0][0])

        found = _once(self._installed, key, lambda: self._environments.provide(key, fill))
        if found.not_kept and not self._has_warned:
            self._has_warned = True
            logger.warning("Plugin packages are not kept for later runs: %s", found.not_kept)
        return found


T = TypeVar("T")


def _once(
    made: dict[tuple[str, ...], T | ProbeFailed], key: tuple[str, ...], make: Callable[[], T]
) -> T:
    """Make what belongs to a key; what failed is not tried again.

    :raises ProbeFailed: it fails, or failed before.
    """
    if key not in made:
        try:
            made[key] = make()
        except ProbeFailed as error:
            made[key] = error
    found = made[key]
    if isinstance(found, ProbeFailed):
        raise found
    return found


def _question(
    namespace: str, provider: Provider, places: Sequence[str], method: str
) -> tuple[str, ...]:
    reference = provider.object_reference(marker_environment())
    texts = [str(requirement) for _, requirement in plugin_requirements(provider)]
    return (" ".join(places), namespace, reference, method, *texts)


def _answer_of_plugin(namespace: str, package: str, found: _Found) -> Answer:
    features = {config.name: config.values for config in found.configs if config.values}
    source = found.packages[0] if found.packages else package
    problems = tuple(
        f"the plugin {source} of namespace {namespace} {text}" for text in found.problems
    )
    return Answer(namespace, features, Origin.PLUGIN, source, problems)


def _read_configs(report: object, namespace: str) -> tuple[tuple[Config, ...], tuple[str, ...]]:
    """Take the configs out of a report, and say what was left out of it.

    :raises ProbeFailed: it is no report, or the plugin is one for another namespace.
    """
    if not isinstance(report, dict) or not isinstance(report.get("configs"), list):
        raise ProbeFailed("the answer is not a list of features")
    # The interface has no namespace: the metadata says which one a plugin answers for.
    if report.get("namespace") not in (None, namespace):
        raise ProbeFailed(f"it answers for namespace {_line(str(report.get('namespace')), 80)}")
    found: dict[str, Config] = {}
    wrong: list[str] = []
    twice: list[str] = []
    for told in report["configs"]:
        item = told if isinstance(told, dict) else {"name": ""}
        name, values = item.get("name"), item.get("values")
        if not isinstance(name, str) or FEATURE.fullmatch(name) is None:
            wrong.append(str(name))
            continue
        if not isinstance(values, list):
            wrong.append(f"{name} :: {values}")
            continue
        good = [value for value in values if isinstance(value, str) and VALUE.fullmatch(value)]
        wrong += [f"{name} :: {value}" for value in values if value not in good]
        unique = tuple(dict.fromkeys(good))
        twice += [name] if name in found or len(unique) < len(good) else []
        found.setdefault(name, Config(name, unique, item.get("multi_value") is True))
    problems = []
    if wrong:
        problems.append(f"gave what no feature or value can be, which is left out: {_shown(wrong)}")
    if twice:
        problems.append(f"gave something twice, of which the first counts: {_shown(twice)}")
    return tuple(found.values()), tuple(problems)


def _shown(items: Sequence[str]) -> str:
    return some([_line(item, 60) for item in items], _SHOWN)


def _line(text: str, length: int = 300) -> str:
    """Make one harmless line of what a plugin says."""
    return printable(" ".join(text.split()), length)
