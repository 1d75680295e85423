"""What one run knows. Patches talk through it, never to each other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipvariant.providers.plugins import Plugins
    from pipvariant.providers.target import Target
    from pipvariant.shim.core.patches import Patch
    from pipvariant.shim.finding.installed import Installed
    from pipvariant.shim.resolving.selector import Judgement, Outcome
    from pipvariant.standard.markers import VariantContext
    from pipvariant.standard.metadata import Metadata
    from pipvariant.standard.preferences import Preferences

__all__ = ["Run"]


class _Options:
    """What the user says."""

    def __init__(self) -> None:
        #: pip's own object, with its options in it.
        self.options: Any = None
        self.command = ""
        self.no_variant = False
        self.foreign = False
        self.legacy_resolver = False
        self.report = False
        #: The reasons are printed afterwards, so that nothing else has to be said.
        self.explains = False
        self.installs = False
        self.ignores_dependencies = False
        self.ignores_installed = False
        self.upgrade_variant = False
        #: This process installs what a build requires, itself or as the child of such a pip.
        self.builds = False
        self.upgrade_dependencies = False
        self.all_variants = False
        #: Requirements may come from a ``pylock.toml``.
        self.lock_files = False
        self.enabled: tuple[str, ...] = ()
        self.disabled: tuple[str, ...] = ()
        self.trusted: tuple[str, ...] = ()
        self.target_file: str | None = None
        self.refresh_platform = False
        #: What the user prefers, leaves out and insists on; None if nothing.
        self.preferences: Preferences | None = None
        self.has_families = False
        #: The words of the options that say so, by option, of command line and files.
        self.words: dict[str, list[str]] = {}
        self.file_words: dict[str, list[str]] = {}


class Run(_Options):
    """The options, the target and the tables of one pip run.

    ``order``, ``check``, ``is_usable``, ``choose``, ``reduce`` and ``hand_on`` are what the patches
    ask for. They are set when the shim is put on, and a proof replaces them for a moment to see
    that pip comes by.
    """

    def __init__(self) -> None:
        super().__init__()
        #: (source, canonical project name, version) -> link of a variants.json.
        self.json_links: dict[tuple[str, str, Any], Any] = {}
        #: Pages on a server that list a variants.json.
        self.pages: set[str] = set()
        #: Folders whose files were looked through for variants.json.
        self.folders: set[str] = set()
        #: (source, canonical project name, version) -> what was read, None if nothing usable.
        self.metadata: dict[tuple[str, str, Any], Metadata | None] = {}
        #: Filename of a wheel that fits -> what its source says about it.
        self.judgements: dict[str, Judgement] = {}
        #: Wheel file -> what the variant markers say about it.
        self.contexts: dict[str | None, VariantContext] = {}
        #: (feature, values) of ``abi_dependency`` -> the requirement that they stand for.
        self.built_for: dict[tuple[str, tuple[str, ...]], str] = {}
        #: URL of a wheel -> what was decided about its project and version.
        self.outcomes: dict[str, Outcome] = {}
        #: (canonical project name, version) of the versions that were left out, in order.
        self.skipped: dict[tuple[str, Any], Outcome] = {}
        #: Canonical names of the projects of which a version was found that can be taken.
        self.fitted: set[str] = set()
        #: Canonical project name -> label of the file that the resolver was given last.
        self.picked: dict[str, str] = {}
        #: While a build is prepared: canonical project name -> label of the target environment.
        self.build_labels: Mapping[str, str] = {}
        #: URLs of the files that are what the user insists on, if on anything.
        self.chosen: set[str] = set()
        #: (canonical project name, namespace) -> whether a label of any version uses it.
        self.users: dict[tuple[str, str], bool] = {}
        #: Why wheels in hand were refused, as sentences.
        self.refused: list[str] = []
        #: Projects of which ``--no-variant`` left variant wheels out.
        self.left_out: set[str] = set()
        #: Canonical names of the projects that the user asked for.
        self.named: frozenset[str] = frozenset()
        #: (canonical project name, version) of what is installed and may give way.
        self.replaceable: dict[tuple[str, Any], Installed] = {}
        #: (canonical project name, version) of what is installed and is not what the user wants.
        self.unwanted: set[tuple[str, Any]] = set()
        #: URL of a wheel -> what is installed of the same version and ranks lower.
        self.replacing: dict[str, Installed] = {}
        #: pip's object for a package in a lock file, and the variant metadata that it has there.
        self.lock_tables: list[tuple[Any, Any]] = []
        #: Canonical project name -> the versions of it that lock files have.
        self.locked_versions: dict[str, set[str]] = {}
        #: URL of a wheel that was chosen in a lock file -> by what, None if it decides itself.
        self.locked: dict[str, Judgement | None] = {}
        #: Canonical project name -> each link seen: pip's evaluator, the link, how it judges.
        self.links: dict[str, list[tuple[Any, Any, Callable[[Any, Any], Any]]]] = {}
        #: Canonical project name -> each set of links that was looked at, by which evaluator.
        self.listed: dict[str, list[tuple[Any, Sequence[Any]]]] = {}
        #: Canonical project name -> what is kept beside it when it is installed.
        self.noted: dict[str, bytes] = {}
        #: Canonical project name -> pip's finder, specifier and hashes of the newest search.
        self.asked: dict[str, tuple[Any, Any, Any]] = {}
        #: What the resolver found, and the words of its failure: of these one is empty.
        self.resolved: tuple[Any, ...] = ()
        self.failed = ""
        #: Sentences that the user was already told.
        self.told: set[str] = set()
        #: pip's finder of the newest search, and the hashes that it was for.
        self.finder: Any = None
        self.hashes: Any = None
        #: Set while pip asks for the one best file at once (legacy resolver).
        self.eager = False
        self.order: Callable[[Any, Sequence[Any], Any], list[Any]]
        self.check: Callable[[Any], None]
        self.is_usable: Callable[[str, str], bool]
        self.choose: Callable[[Any, Any, str, Any], Any]
        #: Set from above: wheel, folder of its project, label, folder to write to -> the variant.
        self.label_built: Callable[[str, str, str, str], str]
        #: Lets a pip that is started know what it needs from here.
        self.hand_on: Callable[[], None]
        self.put: Callable[[Iterable[Patch]], None]
        self.reduce: Callable[[str, Callable[[], VariantContext]], str | None]
        self._target: Target | None = None

    @property
    def target(self) -> Target:
        """What the target supports; made on first use, asked only for what is needed."""
        if self._target is None:
            from pipvariant.providers.target import Target

            answers = None
            if self.target_file is not None:
                from pipvariant.providers import target_file

                answers = target_file.read_target_file(self.target_file)
            environ: dict[str, str] | None = None
            if self.options is not None and not getattr(self.options, "cache_dir", True):
                # --no-cache-dir is about what is remembered of the hardware too.
                environ = {**os.environ, "PIP_NO_CACHE_DIR": "1"}
            self._target = Target(
                environ=environ,
                enabled=self.enabled,
                disabled=self.disabled,
                from_target_file=answers,
                foreign=self.foreign,
                refresh=self.refresh_platform,
                plugins=self._plugins if self.trusted else None,
            )
        return self._target

    def _plugins(self) -> Plugins:
        from pipvariant.shim.building.plugin_installer import plugins_of

        return plugins_of(self)

    def installed_version(self, name: str) -> str | None:
        """Return the version of a project in this environment, None if it is not there."""
        environment: Any = import_module("pip._internal.metadata").get_default_environment()
        found = environment.get_distribution(name.replace("_", "-"))
        return None if found is None else str(found.version)

    def tell_once(self, sentence: str) -> bool:
        """Return whether this sentence is new to the user in this run."""
        new = sentence not in self.told
        self.told.add(sentence)
        return new
