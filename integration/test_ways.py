"""Every way that pip can be asked: options, commands, proxies, configuration."""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path

import pip as pip_under_test
import pytest

from integration.environments import Pip
from integration.index import Index, Reply
from integration.sites import Proxy, Site, page
from integration.wheels import Sdist, Wheel, cuda, metadata, release, tri

NAME = "tri-1.0-variants.json"
BEST = "tri-1.0-py3-none-any-cuda12.8.whl"


def site_of(root: Path) -> Path:
    return root / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


# Which files may be taken.


@pytest.mark.every_pip
def test_only_binary_leaves_the_labels(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri", "2.0")), *tri())
    pip.variant("install", "--only-binary", ":all:", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_only_binary_builds_nothing_where_no_label_fits(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri")), *tri(null=False, plain=False))
    result = pip.variant("install", "--only-binary", "tri", "tri", driver="12.4")
    assert result.code == 1
    assert "No matching distribution found for tri" in result.stderr
    assert index.requests_for(".tar.gz") == []


@pytest.mark.every_pip
def test_prefer_binary_takes_an_older_label(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri", "2.0")), *tri())
    pip.variant("install", "--prefer-binary", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_prefer_binary_passes_labels_that_do_not_fit(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri", "2.0")), *tri("2.0", ["13.0"], null=False, plain=False), *tri())
    pip.variant("install", "--prefer-binary", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_prefer_binary_builds_when_nothing_else_is_left(pip: Pip, index: Index) -> None:
    index.add(Sdist(Wheel("tri", "2.0")), *tri("1.0", ["13.0"], null=False, plain=False))
    pip.variant("install", "--prefer-binary", "tri", driver="12.8").check()
    assert pip.installed() == {"tri": "2.0"}


@pytest.mark.every_pip
def test_what_was_uploaded_later_is_not_there(pip: Pip) -> None:
    # The option is new in pip 26; older ones take it for an error.
    if "--uploaded-prior-to" not in pip.plain("install", "--help").check().stdout:
        assert pip.variant("install", "--uploaded-prior-to", "P1D", "tri").code == 2
        return
    with Site() as site:
        pip.index_url = site.url
        wheels = tri(null=False)
        site.add(*wheels)
        files = []
        for wheel in wheels:
            day = "20" if wheel.label == "cuda12.8" else "10"
            time = {"upload-time": f"2026-01-{day}T00:00:00Z"}
            files += json.loads(page([f"/files/{wheel.filename}"], "json", **time).body)["files"]
        # The newest wheel was added to it, so it is as new as that.
        newest = {"upload-time": "2026-01-20T00:00:00Z"}
        files += json.loads(page([f"/files/{NAME}"], "json", **newest).body)["files"]
        listing = json.loads(page((), "json").body) | {"files": files}
        type_ = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
        site.write("/simple/tri/", Reply(json.dumps(listing).encode(), headers=type_))
        prior = ("--uploaded-prior-to", "2026-01-15T00:00:00Z")
        pip.variant("install", *prior, "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.6")


# Where it goes.


@pytest.mark.every_pip
def test_ignore_installed_takes_the_best_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.6").check()
    pip.variant("install", "--ignore-installed", "tri", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_user_gets_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    # pip refuses --user in an environment that would not see what is installed there.
    settings = pip.root / "env" / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace("packages = false", "packages = true"))
    base = {"PYTHONUSERBASE": str(pip.root / "user")}
    pip.variant("install", "--user", "tri", driver="12.8", environ=base).check()
    assert pip.label("tri", site_of(pip.root / "user")) == "cuda12.8"
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_prefix_gets_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--prefix", "there", "tri", driver="12.8").check()
    assert pip.label("tri", site_of(pip.work / "there")) == "cuda12.8"
    assert pip.installed() == {}


def test_root_gets_the_same_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--root", "there", "tri", driver="12.8").check()
    inside = Path(f"{pip.work}/there{pip.site}")
    assert pip.label("tri", inside) == "cuda12.8"
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_target_with_upgrade_takes_the_best_label(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "--target", "there", "tri", driver="12.6").check()
    pip.variant("install", "--target", "there", "--upgrade", "tri", driver="12.8").check()
    assert pip.label("tri", pip.work / "there") == "cuda12.8"


# For another machine.

FOREIGN = (
    ("--platform", "any"),
    ("--abi", "none"),
    ("--implementation", "py"),
    ("--python-version", "3.99"),
)


@pytest.mark.parametrize("option", FOREIGN)
@pytest.mark.parametrize("command", ("install", "download"))
def test_for_another_machine_this_one_does_not_answer(
    pip: Pip, index: Index, command: str, option: tuple[str, str]
) -> None:
    index.add(*tri(), *tri(name="duo"))
    there = {"install": "--target", "download": "--dest"}[command]
    options = (*option, "--only-binary", ":all:", there, "out")
    result = pip.variant(command, *options, "tri", "duo", driver="12.8").check()
    taken = {Path(path).name for path in index.requests_for(".whl")}
    assert taken == {"tri-1.0-py3-none-any-null.whl", "duo-1.0-py3-none-any-null.whl"}
    assert len(result.lines_with("does not answer")) == 1


def test_the_python_that_runs_pip_is_no_other_machine(pip: Pip, index: Index) -> None:
    index.add(*tri())
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    same = ("--python-version", version, "--only-binary", ":all:", "-d", "out")
    pip.variant("download", *same, "tri", driver="12.8").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == [BEST]


# Commands.


@pytest.mark.every_pip
def test_index_versions_as_json(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0", plain=False))
    versions = ("index", "versions", "--json", "tri")
    if "--json" not in pip.plain("help", "index").check().stdout:
        assert pip.variant(*versions).code == pip.plain(*versions).code
        return
    loaded = json.loads(pip.variant(*versions, driver="12.8").check().stdout)
    assert loaded["versions"] == ["2.0", "1.0"]


@pytest.mark.every_pip
def test_list_knows_what_is_up_to_date(pip: Pip, index: Index) -> None:
    index.add(*tri(), Wheel("solo"))
    pip.variant("install", "tri", "solo", driver="12.8").check()
    index.add(*tri("2.0", ["13.0"], null=False, plain=False), Wheel("solo", "2.0"))
    current = ("list", "--uptodate", "--format", "json")
    (entry,) = json.loads(pip.variant(*current, driver="12.8").check().stdout)
    assert (entry["name"], entry["version"]) == ("tri", "1.0")


def test_commands_that_look_at_no_index_know_the_environment(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8").check()
    index.log.clear()
    assert pip.variant("freeze", "--all").check().stdout == pip.plain("freeze", "--all").stdout
    pip.variant("uninstall", "--yes", "tri").check()
    assert not list(pip.site.glob("tri*"))
    assert index.requests == []


# An upgrade of pip, and of the project itself, from within.


def settle(pip: Pip, folder: Path, name: str, version: str) -> None:
    """Install a package into the environment as if a wheel of it had been installed."""
    shutil.copytree(
        folder, pip.site / folder.name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=True
    )
    info = pip.site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "INSTALLER").write_text("pip\n")
    files = [path for path in (pip.site / folder.name).rglob("*") if path.is_file()]
    files += [info / "METADATA", info / "INSTALLER", info / "RECORD"]
    rows = [f"{path.relative_to(pip.site)},,\n" for path in files]
    (info / "RECORD").write_text("".join(rows))


@pytest.mark.every_pip
def test_pip_upgrades_itself_from_within(pip: Pip, index: Index) -> None:
    folder = Path(pip_under_test.__file__).parent
    settle(pip, folder, "pip", pip_under_test.__version__)
    index.add(Wheel("pip", "99.0"), *tri(requires=("solo; 'nvidia' in variant_namespaces",)))
    index.add(Wheel("solo"))
    result = pip.variant("install", "--upgrade", "pip", "tri", driver="12.8").check()
    # The variant comes when the pip that installs it is no longer there.
    assert result.lines_with("Installing collected packages", "pip, tri")
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert pip.installed() == {"pip": "99.0", "solo": "1.0", "tri": "1.0"}
    assert not (pip.site / "pip").exists()


def test_the_project_upgrades_itself_from_within(pip: Pip, index: Index) -> None:
    folder = Path(__file__).parents[1] / "src" / "pipvariant"
    settle(pip, folder, "pip-variant", "0.0.1")
    index.add(Wheel("pip-variant", "99.0"), *tri(name="zulu"), Wheel("solo"))
    pip.variant("install", "--upgrade", "pip-variant", "zulu", driver="12.8").check()
    assert pip.label("zulu") == "cuda12.8"
    assert pip.installed()["pip-variant"] == "99.0"
    assert not (pip.site / "pipvariant").exists()


# Networks.


def test_everything_goes_through_a_proxy(pip: Pip, index: Index) -> None:
    index.add(*tri())
    pip.index_url = "http://index.invalid/simple/"
    with Proxy(index) as proxy:
        options = ("--proxy", proxy.host, "--trusted-host", "index.invalid")
        pip.variant("install", *options, "tri", driver="12.8").check()
        assert proxy.requests == [
            "GET http://index.invalid/simple/tri/",
            f"GET http://index.invalid/files/{NAME}",
            f"GET http://index.invalid/files/{BEST}",
        ]
    assert pip.build("tri") == ("1.0", "cuda12.8")
    assert index.requests == []


def test_wheels_are_asked_through_a_proxy_too(pip: Pip, index: Index) -> None:
    index.add(*tri(builds=["12.8"]))
    index.unlist(NAME)
    pip.index_url = "http://index.invalid/simple/"
    with Proxy(index) as proxy:
        proxy.ranges = True
        environ = {"http_proxy": proxy.host, "PIP_TRUSTED_HOST": "index.invalid"}
        pip.variant("install", "tri", driver="12.8", environ=environ).check()
        assert all("index.invalid" in request for request in proxy.requests)
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.parametrize("fault", ("none", "damaged", "lost", "contradicted"))
def test_credentials_are_used_and_never_shown(pip: Pip, index: Index, fault: str) -> None:
    index.add(*tri())
    if fault == "damaged":
        index.answer(NAME, Reply(b"{"))
    if fault == "lost":
        index.unlist(NAME)
        for wheel in tri(plain=False):
            index.answer(wheel.filename, Reply(b"?"))
    if fault == "contradicted":
        said = metadata(release("tri", labels={"cuda12.8": (cuda("12.7"),)}))
        index.answer(NAME, Reply.json(said))
    pip.index_url = index.url.replace("://", "://me:hunter2@")
    result = pip.variant("install", "-vv", "tri", driver="12.8").check()
    assert "hunter2" not in result.output
    assert pip.label("tri") == {"none": "cuda12.8", "contradicted": "null"}.get(fault, "")
    given = "Basic " + base64.b64encode(b"me:hunter2").decode()
    assert {request.headers.get("Authorization") for request in index.log} == {given}


def test_credentials_do_not_go_to_another_host(pip: Pip) -> None:
    with Site() as site, Index() as other:
        other.add(*tri())
        names = [*(wheel.filename for wheel in tri()), NAME]
        # Another host to HTTP; one port or the other is all the same to it.
        base = other.host.replace("127.0.0.1", "localhost")
        site.write("/simple/tri/", page(f"{base}/files/{name}" for name in names))
        pip.index_url = site.url.replace("://", "://me:hunter2@")
        pip.variant("install", "tri", driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
        assert len(other.log) == 2
        assert [request for request in other.log if "Authorization" in request.headers] == []


# Configuration.


@pytest.mark.parametrize(
    ("section", "setting", "label"),
    (
        ("global", "no-variant = true", ""),
        ("install", "no-variant = yes", ""),
        ("global", "disable-provider = nvidia", "null"),
        ("install", "disable-provider = x86_64\n  nvidia", "null"),
        ("download", "no-variant = true", "cuda12.8"),
    ),
)
def test_options_from_a_configuration_file(
    pip: Pip, index: Index, section: str, setting: str, label: str
) -> None:
    index.add(*tri())
    path = pip.write("pip.conf", [f"[{section}]", setting])
    environ = {"PIP_CONFIG_FILE": str(path)}
    pip.variant("install", "tri", driver="12.8", environ=environ).check()
    assert pip.build("tri") == ("1.0", label)


@pytest.mark.every_pip
@pytest.mark.parametrize(
    ("variable", "value", "label"),
    (
        ("PIP_NO_VARIANT", "0", "cuda12.8"),
        ("PIP_DISABLE_PROVIDER", "x86_64 nvidia", "null"),
        ("PIP_DISABLE_PROVIDER", "", "cuda12.8"),
    ),
)
def test_options_from_the_environment(
    pip: Pip, index: Index, variable: str, value: str, label: str
) -> None:
    index.add(*tri())
    pip.variant("install", "tri", driver="12.8", environ={variable: value}).check()
    assert pip.build("tri") == ("1.0", label)


@pytest.mark.every_pip
def test_pips_options_in_a_requirements_file(pip: Pip, index: Index) -> None:
    index.add(*tri("1.0"), *tri("2.0rc1"), Sdist(Wheel("tri", "3.0")))
    lines = [f"--index-url {index.url}", "--pre", "--only-binary tri", "tri"]
    pip.index_url = "http://127.0.0.1:9/simple/"
    pip.write("requirements.txt", lines)
    pip.variant("install", "-r", "requirements.txt", driver="12.8").check()
    assert pip.build("tri") == ("2.0rc1", "cuda12.8")


@pytest.mark.every_pip
def test_sources_in_a_requirements_file(pip: Pip, index: Index) -> None:
    index.pages = "html"
    index.add(*tri())
    pip.write("requirements.txt", ["--no-index", f"--find-links {index.url}tri/", "tri"])
    pip.variant("install", "-r", "requirements.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_a_requirements_file_from_a_server(pip: Pip) -> None:
    with Site() as site:
        pip.index_url = site.url
        site.add(*tri())
        url = site.write("/requirements.txt", Reply(b"tri==1.0\n"))
        pip.variant("install", "-r", url, driver="12.8").check()
        assert pip.build("tri") == ("1.0", "cuda12.8")
