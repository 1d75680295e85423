"""Plugin packages: which the user trusts, and what they answer, each asked once (PEP 850)."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from pipvariant.errors import InvalidOption, ProbeFailed
from pipvariant.providers import probe
from pipvariant.providers.answers import NOTHING, TRUST_OPTION, Answer, Origin, not_trusted
from pipvariant.providers.environments import Environment, provide_environment
from pipvariant.providers.requirements import marker_environment, plugin_requirements
from pipvariant.standard.bounds import has_long_number
from pipvariant.standard.properties import FEATURE, VALUE

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

    from pipvariant.standard.metadata import Provider

logger = logging.getLogger(__name__)

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

    def origin(self, source: str) -> str:
        """Say where packages come from that are named at a source, in words without a password.

        :param source: the page or folder of the metadata; empty for metadata of no such place.
        """

    def install(self, requirements: Sequence[str], folder: Path, source: str) -> Sequence[str]:
        """Install non-variant wheels and what they depend on into an empty folder.

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


def parse_trust(words: Iterable[str]) -> Mapping[str, SpecifierSet]:
    """Read what the user trusts: normalised name of a package to the versions of it.

    :param words: ``PACKAGE`` or ``PACKAGE==VERSION``, with any version specifiers (PEP 440). If a
        package is named several times, all that is said about it has to hold.
    :raises InvalidOption: a word is something else.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    trusted: dict[str, SpecifierSet] = {}
    for word in words:
        try:
            requirement = None if has_long_number(word) else Requirement(word)
        except (ValueError, RecursionError):
            requirement = None
        # With extras, a marker or a URL there is more to it than a name and versions.
        if requirement is None or str(requirement) != f"{requirement.name}{requirement.specifier}":
            raise InvalidOption(
                f"{word!r} names no package",
                where=TRUST_OPTION,
                remedy="Give the name of a plugin package, and if wanted its version: "
                "PACKAGE==VERSION.",
            )
        name = canonicalize_name(requirement.name)
        trusted[name] = trusted.get(name, requirement.specifier) & requirement.specifier
    return trusted


@dataclass(eq=False)
class Plugins:
    """The plugin packages that a run may ask; each question is asked once.

    :param trusted: what the user trusts, as :func:`parse_trust` reads it.
    :param installer: installs plugin packages.
    :param folder: where their environments are kept; None keeps them for this process only.
    :param environ: the variables to choose from for the plugins.
    :param refresh: install the packages again, whatever is kept.
    :raises InvalidOption: as by :func:`parse_trust`.
    """

    trusted: Iterable[str]
    installer: Installer
    folder: Path | None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    refresh: bool = False

    def __post_init__(self) -> None:
        self._trusted = parse_trust(self.trusted)
        self._environments: dict[tuple[str, ...], Environment | ProbeFailed] = {}
        self._found: dict[tuple[str, ...], _Found | ProbeFailed] = {}
        self._answers: dict[tuple[str, ...], Answer] = {}

    def answer(self, namespace: str, provider: Provider, source: str = "") -> Answer:
        """Say what the plugin of a namespace supports (PEP 850, steps 5 and 6).

        :param source: the page or folder that the metadata is from; empty for metadata out of a
            wheel, to which any place speaks that has spoken before.
        :returns: the answer; the same object again when the same is asked again.
        """
        requirements = plugin_requirements(provider)
        untrusted = [name for name, _ in requirements if name not in self._trusted]
        if untrusted or not requirements:
            return not_trusted(namespace, untrusted)
        question = self._question(namespace, provider, source, "get_supported_configs")
        if not source:
            # A wheel in hand is from a place that was asked already, if it is from one at all.
            alike = (asked for asked in self._answers if asked[1:] == question[1:])
            question = next(alike, question)
        if question not in self._answers:
            package = requirements[0][0]
            try:
                found = self._ask(question, provider, source)
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
        if not requirements or any(name not in self._trusted for name, _ in requirements):
            return None
        where = f"plugin package {requirements[0][0]}"
        try:
            found = self._ask(self._question(namespace, provider, "", method), provider, "")
        except ProbeFailed as error:
            raise ProbeFailed(_line(error.what), where=where) from error
        if found.problems:
            raise ProbeFailed("; ".join(found.problems), where=where)
        return found.configs

    def _question(
        self, namespace: str, provider: Provider, source: str, method: str
    ) -> tuple[str, ...]:
        reference = provider.object_reference(marker_environment())
        texts = [str(requirement) for _, requirement in plugin_requirements(provider)]
        return (self.installer.origin(source), namespace, reference, method, *texts)

    def _ask(self, question: tuple[str, ...], provider: Provider, source: str) -> _Found:
        def ask() -> _Found:
            environment = self._environment(provider, source)
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

    def _environment(self, provider: Provider, source: str) -> Environment:
        """Return the environment of a plugin's packages."""
        requirements = plugin_requirements(provider)
        urls = [name for name, requirement in requirements if requirement.url is not None]
        if urls:
            raise ProbeFailed(f"{urls[0]} is named by a URL, not as a package of its index")
        for name, requirement in requirements:
            requirement.specifier &= self._trusted[name]
            requirement.marker = None
        texts = tuple(sorted(str(requirement) for _, requirement in requirements))
        key = (self.installer.origin(source), *texts)

        def fill(site: Path) -> Sequence[str]:
            packages = self.installer.install(key[1:], site, source)
            urls = [path.parent.name for path in site.glob("*.dist-info/direct_url.json")]
            if urls:
                raise ProbeFailed(f"{urls[0]} came by a URL, not from {key[0]}")
            # The plugin package comes first, the others are what it brings.
            return sorted(packages, key=lambda text: text.split()[0] != requirements[0][0])

        if self.folder is None:
            self.folder = Path(tempfile.mkdtemp(prefix="pip-variant-"))
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        folder, refresh = self.folder, self.refresh
        return _once(
            self._environments, key, lambda: provide_environment(folder, key, fill, refresh=refresh)
        )


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
    if report.get("namespace") != namespace:
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
    shown = ", ".join(_line(item, 60) for item in items[:_SHOWN])
    more = len(items) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _line(text: str, length: int = 300) -> str:
    """Make one harmless line of what a plugin says: a terminal obeys some characters."""
    line = " ".join(text.split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= length else f"{line[:length]} ..."
