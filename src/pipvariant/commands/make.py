"""``variant make``: from non-variant wheels to variant wheels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from pipvariant.authoring import making, pyproject, variants
from pipvariant.authoring.validation import Ask
from pipvariant.commands.output import write_line
from pipvariant.errors import InvalidOption
from pipvariant.printable import some
from pipvariant.shim.options.definitions import add_named
from pipvariant.standard.filename import label_phrase, split_label
from pipvariant.standard.metadata import Metadata
from pipvariant.standard.properties import iter_properties
from pipvariant.standard.table import Table
from pipvariant.wheelfile.archive import silent

PYPROJECT = "pyproject.toml"
#: A smaller wheel is written before anybody could read a progress bar.
SHOWN_FROM = 64 * 1024 * 1024


def add_options(group: Any) -> None:
    """Add the options of ``variant make``."""
    group.add_option(
        "--property",
        dest="properties",
        metavar="PROPERTY",
        action="append",
        default=[],
        help='A property of the variant, as "namespace :: feature :: value". Can be given several '
        "times.",
    )
    group.add_option(
        "--label",
        dest="labels",
        metavar="LABEL",
        action="append",
        default=[],
        help="With --property: the label of the variant; without it, or with `hash`, the hash of "
        "the properties. Otherwise a label that the [variant] table declares, all of them if it "
        "is not given. Can be given several times.",
    )
    group.add_option(
        "--null",
        action="store_true",
        default=False,
        help="Make the null variant too, which has no properties and fits every machine.",
    )
    group.add_option(
        "--pyproject",
        metavar="file",
        help="The pyproject.toml whose [variant] table says who the providers are. Without this "
        "option it is the one of the working directory, if it is of the same project.",
    )
    group.add_option(
        "--skip-validation",
        action="store_true",
        default=False,
        help="Do not ask whether the providers know the properties.",
    )
    add_named(group, ("--trust-provider",))
    add_output(group)


def add_output(group: Any) -> None:
    """Add the options that say where wheels are written to."""
    group.add_option(
        "-o",
        "--output-dir",
        metavar="dir",
        help="Where to write to; beside the wheel if it is not given.",
    )
    group.add_option(
        "--force",
        action="store_true",
        default=False,
        help="Write over a wheel that is there already and has other content.",
    )


def run_make(options: Any, args: Sequence[str], out: TextIO) -> int:
    """Make variant wheels of the non-variant wheels of one project; return the exit code.

    :raises PipVariantError: what is given cannot be; nothing was written then, unless a later wheel
        of several is at fault.
    """
    wheels = _without_variants(named_wheels(args))
    projects = sorted({making.name_and_version(wheel.name)[0] for wheel in wheels})
    if len(projects) > 1:
        raise InvalidOption(f"the wheels are of several projects: {', '.join(projects)}")
    plan = variants.plan_variants(
        options.properties,
        options.labels,
        null=options.null,
        table=_table_for(options.pyproject, projects[0]),
        ask=_asking(options),
        validating=not options.skip_validation,
    )
    for note in plan.notes:
        write_line(out, note)
    for wheel in wheels:
        folder = output_folder(options, wheel)
        for metadata in plan.variants:
            with progress(out, wheel) as tell:
                made = making.make_wheel(wheel, metadata, folder, force=options.force, tell=tell)
            write_line(out, f"{made}: {_words(metadata)}")
    return 0


def label_built(wheel: str, source: str, label: str, folder: str) -> str:
    """Make the variant of a wheel that has just been built, and return its path.

    :param source: the folder of the project, whose table declares the label.
    :raises PipVariantError: there is no such table, it does not declare the label, or the wheel is
        at fault.
    """
    table = _declared_table(Path(source, PYPROJECT))
    plan = variants.plan_variants([], [label], null=False, table=table, ask=lambda *_: None)
    return str(making.make_wheel(Path(wheel), plan.variants[0], Path(folder)))


def named_wheels(args: Sequence[str]) -> list[Path]:
    """Return the wheels that the user named.

    :raises InvalidOption: there is none.
    """
    if not args:
        raise InvalidOption("which wheels? None is named")
    return [Path(arg) for arg in args]


def _without_variants(wheels: Sequence[Path]) -> list[Path]:
    """Leave out the variant wheels of ordinary ones that are named too, such as by ``dist/*.whl``.

    So a call that writes beside what it reads can be repeated.
    """
    names = {wheel.name for wheel in wheels}
    plain = [split_label(wheel.name)[0] for wheel in wheels]
    return [wheel for wheel, of in zip(wheels, plain) if of == wheel.name or of not in names]


def output_folder(options: Any, wheel: Path) -> Path:
    """Return the folder that a wheel is written into."""
    return wheel.parent if options.output_dir is None else Path(options.output_dir)


def _table_for(given: str | None, project: str) -> Table | None:
    """Read the table that was asked for, or the one of the project in the working directory."""
    if given is not None:
        return _declared_table(Path(given))
    here = Path(PYPROJECT)
    if not here.exists():
        return None
    found = pyproject.read_pyproject(here)
    return found.table if found.name == project else None


def _declared_table(path: Path) -> Table:
    table = pyproject.read_pyproject(path).table
    if table is None:
        raise InvalidOption(
            "has no [variant] table",
            where=str(path),
            remedy="`pip-variant variant init` writes a first one.",
        )
    return table


def _asking(options: Any) -> Ask:
    """Return what asks the plugin packages that the user trusts, which are none by default."""
    if not options.trust_provider:
        return lambda *_: None
    from pipvariant.shim.building.plugin_installer import plugins_of
    from pipvariant.shim.core.state import CommandOptions, TargetOptions
    from pipvariant.shim.finding.index import IndexState

    asked = TargetOptions(trusted=tuple(options.trust_provider), pip_options=options)
    return plugins_of(asked, CommandOptions(), IndexState()).configs


def _words(metadata: Metadata) -> str:
    ((label, properties),) = metadata.variants.items()
    listed = some(iter_properties(properties))
    return f"{label_phrase(label)} ({listed})" if listed else label_phrase(label)


@contextmanager
def progress(out: TextIO, wheel: Path) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how much of a large wheel is written."""
    total = wheel.stat().st_size if wheel.exists() else 0
    if total < SHOWN_FROM or not out.isatty():
        yield silent
        return
    from pip._vendor.rich.console import Console
    from pip._vendor.rich.progress import BarColumn, DownloadColumn, Progress, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=Console(file=out), transient=True) as shown:
        task = shown.add_task("", total=total)
        yield lambda count: shown.advance(task, count)
