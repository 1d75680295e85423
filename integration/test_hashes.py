"""Hash-checking mode: what is allowed comes first, and nothing else is ever installed."""

from __future__ import annotations

import hashlib

import pytest

from integration.environments import Pip
from integration.index import Index
from integration.wheels import Sdist, Wheel, tri

WHEELS = {wheel.label or "plain": wheel for wheel in tri()}
BEST = WHEELS["cuda12.8"].filename


def hashed(requirement: str, *labels: str, algorithm: str = "sha256") -> str:
    """A line of a requirements file that allows the wheels of these labels."""
    digests = [hashlib.new(algorithm, WHEELS[label].content).hexdigest() for label in labels]
    return " ".join([requirement, *(f"--hash={algorithm}:{digest}" for digest in digests)])


@pytest.mark.every_pip
@pytest.mark.parametrize(
    ("allowed", "label"),
    (
        (tuple(WHEELS), "cuda12.8"),
        (("cuda12.6", "cuda13.0", "null", "plain"), "cuda12.6"),
        (("cuda13.0", "null", "plain"), "null"),
        (("cuda13.0", "plain"), ""),
    ),
)
def test_the_best_of_the_allowed_labels_is_taken(
    pip: Pip, index: Index, allowed: tuple[str, ...], label: str
) -> None:
    index.add(*WHEELS.values())
    pip.write("locked.txt", [hashed("tri==1.0", *allowed)])
    pip.variant("install", "--require-hashes", "-r", "locked.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", label)


@pytest.mark.every_pip
@pytest.mark.parametrize("command", ("install", "download", "wheel"))
def test_a_hash_of_a_label_that_does_not_fit_lets_nothing_in(
    pip: Pip, index: Index, command: str
) -> None:
    index.add(*WHEELS.values())
    pip.write("locked.txt", [hashed("tri==1.0", "cuda13.0")])
    result = pip.variant(command, "--require-hashes", "-r", "locked.txt", driver="12.8")
    assert result.code == 1
    assert "Traceback" not in result.output
    assert pip.installed() == {}
    assert not list(pip.work.glob("*.whl"))
    assert index.requests_for("cuda13.0.whl") == []


@pytest.mark.every_pip
@pytest.mark.parametrize("algorithm", ("sha384", "sha512"))
def test_every_algorithm_of_pip_counts(pip: Pip, index: Index, algorithm: str) -> None:
    index.add(*WHEELS.values())
    # The page lists other algorithms, so that pip cannot tell by the links alone.
    pip.write("locked.txt", [hashed("tri==1.0", "cuda12.8", algorithm=algorithm)])
    pip.variant("install", "-r", "locked.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
def test_the_metadata_needs_no_hash_of_its_own(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values())
    pip.write("locked.txt", [hashed("tri==1.0", *WHEELS)])
    pip.variant("install", "--require-hashes", "-r", "locked.txt", driver="12.8").check()
    assert index.requests == [
        "GET /simple/tri/",
        "GET /files/tri-1.0-variants.json",
        f"GET /files/{BEST}",
    ]


@pytest.mark.parametrize("line", ("tri==1.0", "tri", "tri>=1.0"))
def test_what_has_no_hash_is_refused_as_with_plain_pip(pip: Pip, index: Index, line: str) -> None:
    index.add(*WHEELS.values(), Wheel("solo"))
    pip.write("locked.txt", [line])
    locked = ("install", "--require-hashes", "-r", "locked.txt")
    ours, plains = pip.variant(*locked, driver="12.8"), pip.plain(*locked)
    assert ours.code == plains.code == 1
    # pip names the hash of the file that it would have taken.
    names = ("--hash=", "tri-1.0")
    assert [line for line in ours.stderr.splitlines() if not any(n in line for n in names)] == [
        line for line in plains.stderr.splitlines() if not any(n in line for n in names)
    ]
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_a_dependency_without_a_hash_is_refused(pip: Pip, index: Index) -> None:
    needs = Wheel("needs", requires=("tri",))
    index.add(*WHEELS.values(), needs)
    digest = hashlib.sha256(needs.content).hexdigest()
    pip.write("locked.txt", [f"needs==1.0 --hash=sha256:{digest}"])
    result = pip.variant("install", "-r", "locked.txt", driver="12.8")
    assert result.code == 1
    assert "--require-hashes" in result.stderr
    assert pip.installed() == {}


def test_hashes_of_one_requirement_say_nothing_about_another(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values(), *tri(name="duo"))
    duo = next(wheel for wheel in tri(name="duo") if wheel.label == "null")
    digest = hashlib.sha256(duo.content).hexdigest()
    lines = [hashed("tri==1.0", "cuda12.6", "plain"), f"duo==1.0 --hash=sha256:{digest}"]
    pip.write("locked.txt", lines)
    pip.variant("install", "-r", "locked.txt", driver="12.8").check()
    assert (pip.label("tri"), pip.label("duo")) == ("cuda12.6", "null")


@pytest.mark.every_pip
def test_hashes_in_a_constraints_file_count(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values())
    pip.write("constraints.txt", [hashed("tri==1.0", "cuda12.6", "null")])
    pip.write("requirements.txt", [hashed("tri==1.0", *WHEELS)])
    files = ("-r", "requirements.txt", "-c", "constraints.txt")
    pip.variant("install", *files, driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_the_legacy_resolver_takes_the_best_of_the_allowed_labels(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values())
    pip.write("locked.txt", [hashed("tri==1.0", "cuda12.6", "null", "plain")])
    legacy = ("--use-deprecated=legacy-resolver", "-r", "locked.txt")
    pip.variant("install", *legacy, driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.6")


@pytest.mark.every_pip
def test_an_allowed_sdist_comes_before_wheels_that_are_not_allowed(pip: Pip, index: Index) -> None:
    sdist = Sdist(Wheel("tri"))
    index.add(*WHEELS.values(), sdist)
    digest = hashlib.sha256(sdist.content).hexdigest()
    pip.write("locked.txt", [f"tri==1.0 --hash=sha256:{digest}"])
    pip.variant("install", "-r", "locked.txt", driver="12.8").check()
    assert (pip.site / "built_with.py").exists()
    assert index.requests_for(".whl") == []


@pytest.mark.every_pip
def test_an_allowed_older_version_is_found(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values(), *tri("2.0"))
    pip.write("locked.txt", [hashed("tri==1.0", "cuda12.8", "cuda12.6")])
    pip.variant("install", "--require-hashes", "-r", "locked.txt", driver="12.8").check()
    assert pip.build("tri") == ("1.0", "cuda12.8")


@pytest.mark.every_pip
@pytest.mark.parametrize("right", (True, False))
def test_a_given_url_is_held_to_its_hash(pip: Pip, index: Index, right: bool) -> None:
    index.add(*WHEELS.values())
    allowed = "cuda12.8" if right else "cuda12.6"
    pip.write("locked.txt", [hashed(f"tri @ {index.file_url(BEST)}", allowed)])
    result = pip.variant("install", "--require-hashes", "-r", "locked.txt", driver="12.8")
    assert result.code == (0 if right else 1)
    assert pip.label("tri") == ("cuda12.8" if right else None)


@pytest.mark.every_pip
def test_a_given_url_that_is_allowed_has_to_fit_as_well(pip: Pip, index: Index) -> None:
    index.add(*WHEELS.values())
    pip.write("locked.txt", [hashed(f"tri @ {index.file_url(BEST)}", "cuda12.8")])
    result = pip.variant("install", "--require-hashes", "-r", "locked.txt", driver="12.4")
    assert result.code == 1
    assert result.lines_with("12.8", "12.4")
    assert pip.installed() == {}


@pytest.mark.every_pip
def test_the_hash_command_knows_variant_wheels(pip: Pip) -> None:
    wheel = WHEELS["cuda12.8"]
    (pip.work / wheel.filename).write_bytes(wheel.content)
    result = pip.variant("hash", wheel.filename).check()
    assert f"--hash=sha256:{hashlib.sha256(wheel.content).hexdigest()}" in result.stdout
