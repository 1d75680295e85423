"""Plugin packages: trusted or not, where they come from, what they see, what they may break."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from integration.environments import Pip, Result
from integration.index import Index
from integration.wheels import Sdist, Wheel, cuda, release

ACME: Mapping[str, Mapping[str, Any]] = {
    "acme": {"requires": ["acme-provider"], "plugin-api": "acme_plugin:Plugin"}
}
FAST = {"fast": ("acme :: speed :: high",), "null": ()}
TRUST = ("--trust-provider", "acme-provider")

HEAD = """
import os, sys, time

class Config:
    def __init__(self, name, values, multi_value=False):
        self.name, self.values, self.multi_value = name, values, multi_value

class Plugin:
    namespace = "acme"
"""
FINE = """
    def get_supported_configs(self):
        return [Config("speed", ["high", "low"])]
"""


def plugin(body: str = FINE, version: str = "1.0", **how: Any) -> Wheel:
    """The wheel of the plugin package, with this body of the class."""
    return Wheel("acme-provider", version, modules={"acme_plugin": HEAD + body}, **how)


def answering(*configs: tuple[str, Any], first: str = "pass") -> str:
    """The body of a plugin that runs a line and gives these names and values."""
    made = ", ".join(f"Config({name!r}, {values!r})" for name, values in configs)
    return f"\n    def get_supported_configs(self):\n        {first}\n        return [{made}]\n"


def tri(name: str = "tri", labels: Mapping[str, Iterable[str]] = FAST, **how: Any) -> list[Wheel]:
    return release(name, labels=labels, **{"providers": ACME, **how})


def paths(index: Index) -> list[str]:
    return [request.path for request in index.log if "acme" in request.path]


def kept(pip: Pip) -> dict[str, str]:
    """Variables that let caches be kept, in folders of the test."""
    return {"PIP_NO_CACHE_DIR": "", "PIP_CACHE_DIR": str(pip.root / "cache")}


def environments(pip: Pip) -> list[Path]:
    folder = pip.root / "home" / ".cache" / "pip-variant" / "plugins"
    return sorted(folder.iterdir()) if folder.exists() else []


def refused(result: Result, *words: str) -> None:
    """The null variant was taken, with one warning that has these words."""
    result.check()
    (warning,) = result.warnings
    assert result.lines_with("null variant; fast needs acme :: speed :: high, whose p")
    for word in ("acme-provider", "fast", *words):
        assert word in warning


# Trust.


@pytest.mark.every_pip
def test_a_trusted_plugin_is_asked(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    result = pip.variant("install", *TRUST, "tri").check()
    assert pip.build("tri") == ("1.0", "fast")
    assert pip.installed() == {"tri": "1.0"}
    assert not result.warnings
    assert result.lines_with("acme-provider 1.0", "environment of their own")


def test_an_untrusted_plugin_is_neither_requested_nor_run(pip: Pip, index: Index) -> None:
    canary = pip.root / "canary"
    index.add(plugin(answering(first=f"open({str(canary)!r}, 'w')")), *tri())
    url = index.url.rstrip("/")
    refused(pip.variant("install", "tri"), f"--trust-provider acme-provider@{url} lets it be")
    other = ("--trust-provider", "other", "--trust-provider", f"acme-provider@{index.host}")
    refused(pip.variant("install", *other, "tri", "--force-reinstall"))
    assert paths(index) == []
    assert not canary.exists()


def test_every_package_that_a_plugin_requires_has_to_be_trusted(pip: Pip, index: Index) -> None:
    two = {"acme": {**ACME["acme"], "requires": ["acme-provider", "acme-helper"]}}
    index.add(plugin(), Wheel("acme-helper"), *tri(providers=two))
    result = pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "null"
    assert result.lines_with("--trust-provider acme-helper")
    assert paths(index) == []
    both = (*TRUST, "--trust-provider", "Acme_Helper")
    pip.variant("install", *both, "--force-reinstall", "tri").check()
    assert pip.label("tri") == "fast"


def test_trust_in_the_environment_and_in_the_configuration(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    pip.variant("install", "tri", environ={"PIP_TRUST_PROVIDER": "acme-provider x"}).check()
    assert pip.label("tri") == "fast"
    config = pip.write("pip.conf", ["[global]", "trust-provider = acme-provider"])
    target = ("--target", "other", "tri")
    pip.variant("install", *target, environ={"PIP_CONFIG_FILE": str(config)}).check()
    assert pip.label("tri", pip.work / "other") == "fast"


@pytest.mark.parametrize(
    "word", ("acme provider", "acme @ https://x.invalid/a.whl", "acme[x]", "?")
)
def test_trust_in_what_is_no_package_is_refused(pip: Pip, index: Index, word: str) -> None:
    index.add(*tri())
    result = pip.variant("install", "--trust-provider", word, "tri")
    assert result.code == 1
    assert result.lines_with("ERROR", "--trust-provider", repr(word))
    assert "Traceback" not in result.output
    assert index.requests == []


@pytest.mark.every_pip
def test_a_trusted_version_is_the_one_that_runs(pip: Pip, index: Index) -> None:
    other = answering(("speed", ["other"]))
    index.add(plugin(), plugin(other, "1.0+local"), plugin(other, "2.0"), *tri())
    pip.variant("install", "--trust-provider", "acme-provider==1.0", "tri").check()
    assert pip.label("tri") == "fast"


def test_another_version_than_the_trusted_one_is_refused(pip: Pip, index: Index) -> None:
    index.add(plugin(version="2.0"), *tri())
    result = pip.variant("install", "--trust-provider", "acme-provider==1.0", "tri")
    refused(result, "could not be asked", "acme-provider===1.0")
    assert "acme_provider-2.0" not in "".join(paths(index))


@pytest.mark.effect_of("only_wheels", "make_distribution_for_install_requirement")
def test_a_dependency_that_a_url_leads_to_is_not_built(pip: Pip, index: Index) -> None:
    canary = pip.root / "built"
    helper = Sdist(Wheel("helper"), probe=f"open({str(canary)!r}, 'w').close()")
    url = index.file_url(helper.filename)
    index.add(helper, plugin(requires=(f"helper @ {url}",)), *tri())
    refused(pip.variant("install", *TRUST, "tri"), "only wheels are taken here")
    assert not canary.exists()


def test_a_plugin_that_is_only_a_source_distribution_is_refused(pip: Pip, index: Index) -> None:
    index.add(Sdist(plugin()), *tri())
    refused(pip.variant("install", *TRUST, "tri"), "could not be asked", "no wheel")
    assert paths(index) == ["/simple/acme-provider/"]


def test_what_a_plugin_depends_on_is_listed_and_used(pip: Pip, index: Index) -> None:
    body = "\n    import acme_helper\n" + FINE
    index.add(plugin(body, requires=("acme-helper",)), Wheel("acme-helper", "3.1"), *tri())
    result = pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "fast"
    assert pip.installed() == {"tri": "1.0"}
    assert result.lines_with("acme-provider 1.0, acme-helper 3.1") or result.lines_with(
        "acme-helper 3.1", "acme-provider 1.0"
    )


def test_what_comes_by_a_url_is_refused(pip: Pip, index: Index) -> None:
    url = index.file_url("acme_helper-1.0-py3-none-any.whl")
    helper = Wheel("acme-helper")
    index.add(plugin(requires=(f"acme-helper @ {url}",)), helper, *tri())
    refused(pip.variant("install", *TRUST, "tri"), "URL")
    direct = {"acme": {**ACME["acme"], "requires": [f"acme-provider @ {url}"]}}
    index.add(*tri("two", providers=direct))
    refused(pip.variant("install", *TRUST, "two"), "URL")


def test_a_provider_can_be_disabled_though_it_is_trusted(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    pip.variant("install", *TRUST, "--disable-provider", "acme", "tri").check()
    assert pip.label("tri") == "null"
    assert paths(index) == []


def test_an_optional_plugin_needs_both_options(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri(providers={"acme": {**ACME["acme"], "optional": True}}))
    pip.variant("install", *TRUST, "tri").check()
    assert (pip.label("tri"), paths(index)) == ("null", [])
    pip.variant("install", *TRUST, "--enable-provider", "acme", "tri", "--force-reinstall").check()
    assert pip.label("tri") == "fast"


def test_a_built_in_provider_stands_in_without_any_trust(pip: Pip, index: Index) -> None:
    index.add(*release("tri", labels={"gpu": (cuda("12.6"),), "null": ()}))
    trust = ("--trust-provider", "nvidia-variant-provider")
    pip.variant("install", *trust, "tri", driver="12.8").check()
    assert pip.label("tri") == "gpu"
    assert index.requests_for("/simple/nvidia-variant-provider/") == []


def test_a_plugin_says_nothing_about_another_machine(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    foreign = ("--platform", "manylinux2014_aarch64", "--only-binary", ":all:", "-d", "out")
    pip.variant("download", *TRUST, *foreign, "tri").check()
    assert [path.name for path in (pip.work / "out").iterdir()] == ["tri-1.0-py3-none-any-null.whl"]
    assert paths(index) == []


@pytest.mark.every_pip
def test_a_build_trusts_whom_the_installation_trusts(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    index.add(Sdist(Wheel("made"), build_requires=("tri",), probe="__import__('tri').LABEL"))
    pip.variant("install", *TRUST, "made").check()
    assert (pip.site / "built_with.py").read_text() == "FOUND = 'fast'\n"
    assert pip.installed() == {"made": "1.0"}


# Where plugin packages come from.


def test_no_other_index_is_asked_for_a_plugin(pip: Pip, index: Index) -> None:
    with Index() as other:
        index.add(*tri())
        other.add(plugin(version="9.0"), Wheel("solo"))
        both = ("--extra-index-url", other.url)
        result = pip.variant("install", *TRUST, *both, "tri", "solo")
        refused(result, "could not be asked", index.url.rstrip("/"))
        assert paths(other) == []
        assert paths(index) == ["/simple/acme-provider/"]


def test_each_source_has_the_plugin_that_it_names(pip: Pip, index: Index) -> None:
    with Index() as other:
        index.add(plugin(), *tri("one"))
        other.add(plugin(answering(("speed", ["low"])), "9.0"), *tri("two"))
        both = ("--extra-index-url", other.url)
        pip.variant("install", *TRUST, *both, "one", "two").check()
    assert (pip.label("one"), pip.label("two")) == ("fast", "null")


def test_the_index_that_is_named_has_the_only_trusted_plugin(pip: Pip, index: Index) -> None:
    with Index() as other:
        index.add(plugin(), *tri("one"))
        other.add(plugin(version="9.0"), *tri("two"))
        both = ("--extra-index-url", other.url)
        trust = {"PIP_TRUST_PROVIDER": f"acme-provider==1.0@{index.url}"}
        result = pip.variant("install", *both, "one", "two", environ=trust).check()
        assert (pip.label("one"), pip.label("two")) == ("fast", "null")
        (warning,) = result.warnings
        assert f"(--trust-provider acme-provider@{other.url.rstrip('/')} lets it be)" in warning
        assert paths(other) == []
        # Of a wheel in hand nobody knows the index.
        (wheel, *_) = tri("three")
        (pip.work / wheel.filename).write_bytes(wheel.content)
        pip.variant("install", *both, f"./{wheel.filename}", environ=trust).check()
        assert (pip.label("three"), paths(other)) == ("fast", [])


def test_a_folder_has_the_plugin_that_its_metadata_names(pip: Pip, index: Index) -> None:
    folder = pip.work / "a folder"
    folder.mkdir()
    for wheel in (plugin(), *tri()):
        (folder / wheel.filename).write_bytes(wheel.content)
    index.add(plugin(answering(), "9.0"))
    pip.variant("install", *TRUST, "--find-links", folder, "tri").check()
    assert pip.label("tri") == "fast"
    assert paths(index) == []
    no_index = ("--no-index", "--find-links", folder, "--target", "other")
    pip.variant("install", *TRUST, *no_index, "tri").check()
    assert pip.label("tri", pip.work / "other") == "fast"


def test_the_wheel_that_is_given_is_judged_by_a_plugin_of_the_users_index(
    pip: Pip, index: Index
) -> None:
    (wheel, *_) = tri()
    (pip.work / wheel.filename).write_bytes(wheel.content)
    index.add(plugin())
    pip.variant("install", *TRUST, f"./{wheel.filename}").check()
    assert pip.label("tri") == "fast"


def test_variant_wheels_of_a_plugin_are_not_taken(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    null = plugin(answering(("speed", ["low"])), label="null", providers={})
    odd = plugin(
        answering(), "1.0", label="x86_64.manylinux1_x86_64", tag="py3-none-any", providers={}
    )
    index.add(null, odd)
    pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "fast"
    assert not [path for path in paths(index) if path.endswith((".json", null.filename))]


def test_what_the_user_asks_of_the_installation_does_not_reach_the_plugin(
    pip: Pip, index: Index
) -> None:
    index.add(plugin(), plugin(answering(), "0.9"), *tri())
    constraints = pip.write("constraints.txt", ["acme-provider==0.9"])
    environ = {
        "PIP_CONSTRAINT": str(constraints),
        "PIP_NO_BINARY": ":all:",
        "PIP_ONLY_BINARY": "tri",
        "PIP_TARGET": str(pip.work / "other"),
        "PIP_DRY_RUN": "0",
        "PIP_PRE": "1",
    }
    pip.variant("install", *TRUST, "tri", environ=environ).check()
    assert pip.label("tri", pip.work / "other") == "fast"
    assert sorted(pip.installed(pip.work / "other")) == ["tri"]


@pytest.mark.every_pip
def test_hashes_that_are_required_do_not_reach_the_plugin(pip: Pip, index: Index) -> None:
    wheels = tri()
    index.add(plugin(), *wheels)
    hashes = [f"--hash=sha256:{hashlib.sha256(wheel.content).hexdigest()}" for wheel in wheels]
    lines = pip.write("requirements.txt", [" ".join(["tri==1.0", *hashes])])
    pip.variant("install", *TRUST, "--require-hashes", "-r", lines).check()
    assert pip.label("tri") == "fast"


def test_a_password_of_the_index_serves_and_is_not_shown(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    url = index.url.replace("http://", "http://user:s3cr3t@")
    result = pip.variant("install", "-vv", *TRUST, "--index-url", url, "tri").check()
    assert pip.label("tri") == "fast"
    assert "s3cr3t" not in result.output
    (page,) = [request for request in index.log if request.path == "/simple/acme-provider/"]
    assert page.headers["Host"] in index.url


# What a plugin sees.


def test_a_plugin_sees_no_secret_no_input_and_folders_of_its_own(pip: Pip, index: Index) -> None:
    line = (
        "import json; open(os.environ['NAME_VARIANT_PROVIDER_FORCE_FILE'], 'w').write(json.dumps("
        "[dict(os.environ), os.getcwd(), sys.stdin.read(), sys.path, sys.argv]))"
    )
    index.add(plugin(answering(("speed", ["high"]), first=line)), *tri())
    seen = pip.root / "seen"
    environ = {
        "NAME_VARIANT_PROVIDER_FORCE_FILE": str(seen),
        "AWS_SECRET_ACCESS_KEY": "s3cr3t",
        "PIP_EXTRA_INDEX_URL": "http://user:s3cr3t@127.0.0.1:9/simple",
        "PYTHONPATH": str(pip.work),
    }
    pip.variant("install", *TRUST, "tri", environ=environ).check()
    assert pip.label("tri") == "fast"
    variables, folder, given, path, arguments = json.loads(seen.read_text())
    assert "s3cr3t" not in seen.read_text()
    home = variables["HOME"]
    assert home == variables["TMPDIR"] == folder
    assert not Path(home).exists()
    assert str(pip.root / "home") not in home
    assert set(variables) <= {
        *("HOME", "TMP", "TEMP", "TMPDIR", "USERPROFILE", "PATH", "LC_ALL", "LC_CTYPE"),
        *("NAME_VARIANT_PROVIDER_FORCE_FILE", "LD_LIBRARY_PATH"),
    }
    assert given == ""
    assert "s3cr3t" not in str(arguments)
    assert not [entry for entry in path[1:] if "site-packages" in entry]
    assert str(pip.work) not in path


def test_what_a_plugin_prints_is_not_in_the_output(pip: Pip, index: Index) -> None:
    noise = "print('noise'); os.write(2, b'noise'); os.system('echo noise')"
    index.add(plugin(answering(("speed", ["high"]), first=noise)), *tri())
    report = pip.report(*TRUST, "tri")
    assert report["install"][0]["variant"]["label"] == "fast"
    result = pip.variant("install", "--dry-run", *TRUST, "tri").check()
    assert "noise" not in result.output
    result = pip.variant("install", "--dry-run", "-vv", *TRUST, "tri").check()
    assert result.lines_with("acme_plugin:Plugin printed", "noise")


def test_what_programs_read_has_nothing_about_plugins(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    pip.variant("install", *TRUST, "tri").check()
    listed = pip.variant("variant", "list", "--json", *TRUST).check()
    assert json.loads(listed.stdout)
    outdated = pip.variant("list", "--outdated", "--format", "json", *TRUST).check()
    assert json.loads(outdated.stdout) == []


# What a plugin may break: nothing.


@pytest.mark.parametrize(
    ("body", "word"),
    (
        (
            answering(first="raise ValueError('no\\n\\x1b[31mdevice')"),
            "ValueError: no \\x1b[31mdevice",
        ),
        (answering(first="os.abort()"), "signal"),
        (answering(first="sys.exit(0)"), "exit code 0"),
        (answering(first="os._exit(3)"), "exit code 3"),
        (answering(("speed", ["x" * 300_000])), "bytes of answer"),
        (answering(first="return iter(lambda: Config('speed', ['high']), None)"), "more than 2000"),
        (answering(first="return 7"), "not iterable"),
        (answering(first="return ['speed']"), "AttributeError"),
        (answering(first="raise TypeError('own')"), "TypeError: own"),
        ("\n    get_supported_configs = None\n", "TypeError"),
        ("\n    namespace = 'nvidia'\n" + FINE, "answers for namespace nvidia"),
        ("\n    pass\nraise RuntimeError('at import')\n", "at import"),
        ("\n    pass\ndel Plugin\n", "AttributeError"),
    ),
)
def test_a_plugin_that_goes_wrong_supports_nothing(
    pip: Pip, index: Index, body: str, word: str
) -> None:
    index.add(plugin(body), *tri())
    refused(pip.variant("install", *TRUST, "tri"), "could not be asked", word)
    assert pip.build("tri") == ("1.0", "null")


def test_a_plugin_that_hangs_is_ended_and_not_asked_again(pip: Pip, index: Index) -> None:
    life = pip.root / "life"
    os.mkfifo(life)
    stream = os.open(life, os.O_RDONLY | os.O_NONBLOCK)
    asked = pip.root / "asked"
    first = f"open({str(asked)!r}, 'a').write('x'); os.open({str(life)!r}, os.O_WRONLY); "
    index.add(plugin(answering(first=first + "os.fork(); time.sleep(600)")), *tri(), *tri("two"))
    result = pip.variant("install", *TRUST, "tri", "two").check()
    assert (pip.label("tri"), pip.label("two")) == ("null", "null")
    (warning,) = result.warnings
    assert "no answer within 5 seconds" in warning
    assert asked.read_text() == "x"
    # The pipe is at its end: nobody holds it open any more.
    assert os.read(stream, 1) == b""
    os.close(stream)


def test_odd_values_are_left_out_and_the_others_count(pip: Pip, index: Index) -> None:
    odd = [("speed", ["HIGH", "high", "GPU!", "high"]), ("Cache", ["on"]), ("size", "big")]
    index.add(plugin(answering(*odd)), *tri())
    result = pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "fast"
    assert result.lines_with("speed :: HIGH, speed :: GPU!, Cache, size :: big")
    assert result.lines_with("twice", "speed")
    assert "Traceback" not in result.output


OLD = "\n    def get_supported_configs(self, known_properties):\n        "
SHAPES = {
    "one argument": OLD + "return [Config('speed', ['high'] if known_properties is None else [])]",
    "dynamic": OLD + "return [Config('speed', ['high', *known_properties])]\n    dynamic = True",
    "context": """
    @classmethod
    def get_supported_configs(cls, context=None):
        return (Config("speed", ("high",)) for _ in range(1))
""",
    "no namespace": FINE + "\ndel Plugin.namespace\n",
    "wrapped": """
    @staticmethod
    def get_supported_configs():
        return type("Old", (), {"configs": [Config("speed", {"high": 1})]})
""",
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_older_and_other_shapes_of_the_call_are_understood(
    pip: Pip, index: Index, body: str
) -> None:
    index.add(plugin(f"{body}\n"), *tri())
    pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "fast"


@pytest.mark.parametrize(
    ("reference", "more"),
    (
        ("acme_plugin:instance", "instance = Plugin()"),
        ("acme_plugin:Outer.inner", "class Outer: inner = Plugin()"),
        ("acme_plugin:factory", "def factory(): return Plugin()"),
        (
            "acme_plugin",
            "namespace = 'acme'\nget_supported_configs = Plugin().get_supported_configs",
        ),
    ),
)
def test_a_plugin_is_a_module_or_an_object_in_it(
    pip: Pip, index: Index, reference: str, more: str
) -> None:
    providers = {"acme": {**ACME["acme"], "plugin-api": reference}}
    index.add(plugin(f"{FINE}\n{more}\n"), *tri(providers=providers))
    pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "fast"


def test_the_order_of_a_plugin_counts(pip: Pip, index: Index) -> None:
    labels = {"a_low": ("acme :: speed :: low",), "b_high": ("acme :: speed :: high",)}
    index.add(plugin(), *tri(labels=labels))
    pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "b_high"


# What is kept.


def test_a_second_run_asks_no_index_for_the_plugin(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri(), *tri("two"))
    pip.variant("install", *TRUST, "tri", environ=kept(pip)).check()
    assert paths(index) == ["/simple/acme-provider/", f"/files/{plugin().filename}"]
    index.log.clear()
    pip.variant("install", *TRUST, "two", environ=kept(pip)).check()
    assert pip.label("two") == "fast"
    assert paths(index) == []
    assert len(environments(pip)) == 1
    assert environments(pip)[0].parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", ("all", "module", "record"))
def test_what_is_damaged_is_installed_again(pip: Pip, index: Index, damage: str) -> None:
    index.add(plugin(), *tri())
    install = ("install", *TRUST, "--force-reinstall", "tri")
    pip.variant(*install, environ=kept(pip)).check()
    (place,) = environments(pip)
    if damage == "all":
        shutil.rmtree(place)
    elif damage == "module":
        (place / "site" / "acme_plugin.py").unlink()
    else:
        (place / "environment.json").write_text("{")
    index.log.clear()
    pip.variant(*install, environ=kept(pip)).check()
    assert pip.label("tri") == "fast"
    assert "/simple/acme-provider/" in paths(index)
    assert len(environments(pip)) == 1


def test_refresh_installs_the_newest_plugin(pip: Pip, index: Index) -> None:
    index.add(plugin(answering()), *tri())
    install = ("install", *TRUST, "--force-reinstall", "tri")
    pip.variant(*install, environ=kept(pip)).check()
    index.add(plugin(version="2.0"))
    pip.variant(*install, environ=kept(pip)).check()
    assert pip.label("tri") == "null"
    pip.variant(*install, "--refresh-platform", environ=kept(pip)).check()
    assert pip.label("tri") == "fast"
    assert len(environments(pip)) == 1


def test_without_a_cache_nothing_stays(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    pip.variant("install", *TRUST, "tri").check()
    assert environments(pip) == []
    assert list((pip.root / "tmp").iterdir()) == []


def test_a_plugin_is_asked_where_its_cache_leads_elsewhere(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    folder = pip.root / "home" / ".cache" / "pip-variant" / "plugins"
    folder.parent.mkdir(parents=True, mode=0o700)
    folder.symlink_to(pip.work)
    result = pip.variant("install", *TRUST, "tri", environ=kept(pip)).check()
    assert pip.label("tri") == "fast"
    assert result.warnings == [
        f"WARNING: Plugin packages are not kept for later runs: {folder} is a link"
    ]
    assert list(pip.work.iterdir()) == list((pip.root / "tmp").iterdir()) == []


def test_two_namespaces_of_one_plugin_package_share_its_environment(pip: Pip, index: Index) -> None:
    more = "\nclass Other(Plugin):\n    namespace = 'other'\n"
    other = {"requires": ["acme-provider"], "plugin-api": "acme_plugin:Other"}
    labels = {"both": ("acme :: speed :: high", "other :: speed :: low"), "null": ()}
    index.add(plugin(FINE + more), *tri(labels=labels, providers={**ACME, "other": other}))
    pip.variant("install", *TRUST, "tri").check()
    assert pip.label("tri") == "both"
    assert len([path for path in paths(index) if path.startswith("/simple/")]) == 1


def test_an_installed_variant_is_checked_by_its_plugin(pip: Pip, index: Index) -> None:
    index.add(plugin(), *tri())
    pip.variant("install", *TRUST, "tri").check()
    pip.variant("variant", "check", *TRUST).check()
    index.add(plugin(answering(("speed", ["low"])), "2.0"))
    assert pip.variant("variant", "check", *TRUST).code == 1


# Published plugins.

PUBLISHED: Mapping[str, tuple[str, str]] = {
    "x86_64": ("provider-variant-x86-64", "provider_variant_x86_64.plugin:X8664Plugin"),
    "aarch64": ("provider-variant-aarch64", "provider_variant_aarch64.plugin:AArch64Plugin"),
    "ascend": ("ascend-variant-provider", "ascend_variant_provider.plugin:AscendVariantPlugin"),
}

ASK = """
import json, os, sys
from pip._internal.commands import create_command
from pipvariant.providers import builtin
from pipvariant.shim.building.plugin_installer import plugins_of
from pipvariant.shim.core.state import CommandOptions, TargetOptions
from pipvariant.shim.finding.index import IndexState
from pipvariant.standard.metadata import Provider
namespace, package, reference = sys.argv[1:]
values = create_command("install").parser.get_default_values()
trusting = TargetOptions(trusted=(package,), pip_options=values)
provider = Provider(requires=(package,), plugin_api=reference)
plugins = plugins_of(trusting, CommandOptions(), IndexState())
answer = plugins.answer(namespace, provider)
built_in = builtin.query_builtin(namespace, os.environ) if namespace in builtin.BUILT_INS else None
print(json.dumps([
    answer.origin, answer.source, list(answer.problems), list(answer.features.items()),
    built_in and list(built_in.features.items()),
]))
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugins that are on PyPI, fetched as this machine is configured."""
    folder = tmp_path_factory.mktemp("published")
    command = ["download", "--quiet", "--only-binary", ":all:", "--dest", str(folder)]
    quick = ["--retries", "0", "--timeout", "15", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *command, *quick, *(name for name, _ in PUBLISHED.values())],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        pytest.skip(f"PyPI cannot be reached: {done.stderr.strip().splitlines()[-1]}")
    return folder


@pytest.mark.parametrize("namespace", PUBLISHED)
def test_a_published_plugin_answers_and_agrees_with_the_built_in_one(
    pip: Pip, published: Path, namespace: str
) -> None:
    package, reference = PUBLISHED[namespace]
    environ = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": published.as_uri()}
    result = pip.run(["-c", ASK, namespace, package, reference], environ=environ).check()
    origin, source, problems, features, built_in = json.loads(result.stdout.splitlines()[-1])
    assert (origin, problems) == ("plugin", [])
    assert source.startswith(f"{package} ")
    if built_in is not None:
        # The plugin knows the flags of the processor's family, we those of the processor itself.
        assert [feature for feature in built_in if feature in features] == features
        assert built_in[:1] == features[:1]


def test_a_published_plugin_is_asked_for_an_installation(
    pip: Pip, index: Index, published: Path
) -> None:
    package, reference = PUBLISHED["ascend"]
    provider = {"ascend": {"requires": [package], "plugin-api": reference}}
    labels = {"npu": ("ascend :: npu_type :: 910b",), "null": ()}
    folder = pip.work / "wheels"
    shutil.copytree(published, folder)
    for wheel in tri(labels=labels, providers=provider):
        (folder / wheel.filename).write_bytes(wheel.content)
    options = ("--no-index", "--find-links", folder, "--trust-provider", package)
    environ = {"ASCEND_VARIANT_PROVIDER_FORCE_NPU_TYPE": "910b"}
    pip.variant("install", *options, "tri", environ=environ).check()
    assert pip.label("tri") == "npu"
