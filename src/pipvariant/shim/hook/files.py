"""The files of the hook in an environment: written like those of an installed package.

Where pip-variant is installed in the environment they are in its RECORD, so that whatever
uninstalls it takes them away.
"""

from __future__ import annotations

import os
import py_compile
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path

from pipvariant.errors import InvalidOutput
from pipvariant.wheelfile import record

_PTH, _START = "pip_variant_hook.pth", "pip_variant_hook.start"
#: The module in the environment, and the file here that it is a copy of.
_MODULE, _SOURCE = "_pip_variant_start.py", Path(__file__).with_name("start.py")
#: The same names as in that file, which nothing imports here: it is a program of its own.
_CLASS = "PipVariantHook"
_ENTRIES = ("pip._internal.cli.main", "piptools.repositories.pypi", "piptools.sync")
# What is done when an entry is imported, with `hook` and `name`.
_FIND = """
try:
 from _pip_variant_start import find
 hook.found = find(hook, name)
except Exception as error:
 import sys
 if sys.stderr:
  sys.stderr.write(f"WARNING: this is plain pip, without variant wheels: {error!r}\\n")
"""
#: Each start of Python runs this, once or twice: it imports nothing and can hardly fail.
_LINE = (
    f"import sys; {_CLASS!r} in str(sys.meta_path) or sys.meta_path.insert(0, type({_CLASS!r}, (), "
    "{'find_spec': lambda hook, name, path=None, target=None: "
    f"name in {_ENTRIES!r} and (exec({_FIND!r}, {{'hook': hook, 'name': name}}) "
    "or vars(hook).pop('found', None)) or None})())\n"
)
_PLACES = 'PLACES: "dict[str, str]" = {}\n'


def folders() -> list[Path]:
    """Return the folders of this environment in which Python looks for files of a hook."""
    found = [sysconfig.get_path("purelib"), *site.getsitepackages()]
    if sys.prefix != sys.base_prefix:
        # It may see the packages of another environment.
        found = [path for path in found if path.startswith(sys.prefix + os.sep)]
    elif site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return [Path(path) for path in dict.fromkeys(found)]


def installed() -> Path | None:
    """Return the folder that has the hook."""
    return next((path for path in folders() if (path / _PTH).exists()), None)


def install(places: Mapping[str, str]) -> Path:
    """Write the hook into this environment, over the one that is there.

    :param places: package -> folder, of what pip-variant needs; not used where pip-variant is
        installed in the environment.
    :returns: the folder that it is in.
    :raises InvalidOutput: the system does not let it be written.
    """
    found = next(_records(), None)
    managed = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    if found is None and sys.prefix == sys.base_prefix and managed.exists():
        raise InvalidOutput(
            "is managed by something else than pip (PEP 668)",
            where=sys.prefix,
            remedy="Use a virtual environment.",
        )
    remove()
    folder = folders()[0] if found is None else found.parent.parent
    with _told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        text = _SOURCE.read_text(encoding="utf-8")
        if found is None:
            text = text.replace(_PLACES, _PLACES.replace("{}", repr(dict(places))))
        (folder / _MODULE).write_text(text, encoding="utf-8")
        py_compile.compile(str(folder / _MODULE))
        (folder / _START).write_text("_pip_variant_start:watch\n", encoding="utf-8")
        (folder / _PTH).write_text(_LINE, encoding="utf-8")
        if found is not None:
            _add_to(found)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Return what there is of the hook in a folder, by path; byte code is made again."""
    paths = (folder / name for name in (_MODULE, _START, _PTH))
    return {str(path): path.read_bytes() for path in paths if path.exists()}


def write_again(contents: Mapping[str, bytes], folder: str) -> Iterator[str]:
    """Write the hook again, after another pip-variant was installed over the one that wrote it.

    :param contents: what there was.
    :param folder: where that pip-variant is, which may be none that has the hook.
    :returns: the paths.
    """
    for path in map(Path, contents):
        if path.parent == Path(folder):
            # The module is a copy of its own.
            source = path.with_name("pipvariant") / "shim" / "hook" / _SOURCE.name
            is_copy = path.name == _MODULE and source.is_file()
            path.write_bytes(source.read_bytes() if is_copy else contents[str(path)])
            yield str(path)


def remove() -> list[Path]:
    """Take the hook away, and return what was there.

    :raises InvalidOutput: the system does not let it be removed.
    """
    removed = []
    for folder in folders():
        with _told(folder):
            for path in (folder / name for name in _names()):
                if path.exists():
                    path.unlink()
                    removed.append(path)
    for found in _records():
        with _told(found):
            before = data = found.read_bytes()
            for name in _names():
                data = record.without_line(data, name)
            if data != before:
                _replace(found, data)
    return removed


def _records() -> Iterator[Path]:
    """Yield RECORD of each pip-variant that is installed in this environment."""
    for folder in folders():
        yield from folder.glob("pip_variant-*.dist-info/RECORD")


def _names() -> tuple[str, ...]:
    """Return the names of all files; without the first no other is looked at."""
    return _PTH, _START, _MODULE, Path(cache_from_source(_MODULE)).as_posix()


def _add_to(found: Path) -> None:
    folder, data = found.parent.parent, found.read_bytes()
    for name in _names():
        # Byte code has no hash, as it may be made again.
        is_code = name.endswith(".pyc")
        line = f"{name},," if is_code else record.line(name, (folder / name).read_bytes())
        data = record.with_line(data, f"{found.parent.name}/RECORD", line)
    _replace(found, data)


def _replace(path: Path, data: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(data)
    os.replace(new, path)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = error.strerror or str(error)
        where = str(error.filename or path)
        raise InvalidOutput(f"cannot be written: {text}", where=where) from error
