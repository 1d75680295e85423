"""Target files: what is read from them, what is written, and which faults are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipvariant.errors import InvalidTargetFile
from pipvariant.providers import builtin, nvidia, target_file, x86_64
from pipvariant.providers.answers import Answer, Origin


def parse(text: str) -> dict[str, Answer]:
    return target_file.parse_target_file(text.encode(), "gpu.toml")


def test_four_lines_by_hand_state_a_gpu() -> None:
    stated = parse('format = 1\n[namespace.nvidia]\ndriver = "12.8"\ncompute-capability = "9.0"\n')[
        "nvidia"
    ]
    assert stated.features == nvidia.nvidia_features((12, 8), (9, 0))
    assert (stated.origin, stated.source) == (Origin.TARGET_FILE, "target file")


def test_a_level_states_all_below_and_its_flags() -> None:
    stated = parse('format = 1\n[namespace.x86_64]\nlevel = "v3"\n')["x86_64"]
    assert stated.features["level"] == ("v3", "v2", "v1")
    assert stated.features["avx2"] == ("on",)
    assert "avx512f" not in stated.features


def test_what_is_written_reads_as_the_same_answers() -> None:
    given = [
        Answer(
            "nvidia",
            nvidia.nvidia_features((12, 8), (9, 0)),
            Origin.BUILT_IN,
            'a "b"\\',
            (),
            {"a b": "\x7f\n"},
        ),
        Answer("blas", {"library": ("mkl", "openblas"), "a": ("1.0",)}, Origin.STATIC, "x"),
        Answer("amd", {}, Origin.BUILT_IN),
    ]
    stated = parse(target_file.write_target_file(given))
    assert list(stated) == ["nvidia", "blas"]
    for answer in given[:2]:
        read = stated[answer.namespace]
        assert list(read.features.items()) == list(answer.features.items())
        assert (read.source, read.facts) == (answer.source, answer.facts)


def test_the_order_of_writing_is_the_order_of_preference() -> None:
    stated = parse('format = 1\n[namespace.b.features]\nz = ["2", "1"]\na = ["on"]\n')["b"]
    assert list(stated.features.items()) == [("z", ("2", "1")), ("a", ("on",))]


def test_a_byte_order_mark_says_nothing() -> None:
    assert target_file.parse_target_file(b"\xef\xbb\xbfformat = 1\n", "x") == {}


def test_all_faults_are_named_with_the_path_to_the_key() -> None:
    with pytest.raises(InvalidTargetFile) as raised:
        parse(
            "format = 1\nextra = 1\n[namespace.nvidia]\ndriver = 12.8\n[namespace.x86_64]\n"
            'level = "v9"\n[namespace.b.features]\nc = []\nd = ["A!"]\ne = ["1", "1"]\n'
        )
    assert [path for path, _ in raised.value.faults] == [
        *("extra", "namespace.nvidia.driver", "namespace.nvidia", "namespace.x86_64"),
        *("namespace.b.features.c", "namespace.b.features.d", "namespace.b.features.e"),
    ]
    assert str(raised.value).startswith("gpu.toml: extra: unknown")


@pytest.mark.parametrize("text", ("x = " + "9" * 5000, "a" + ".a" * 400_000 + " = 1", "x = \xff"))
def test_what_is_no_toml_is_refused(text: str) -> None:
    with pytest.raises(InvalidTargetFile, match=r"^x: it (is not TOML|has a key of more than)"):
        target_file.parse_target_file(text.encode("latin-1"), "x")


@pytest.mark.parametrize("form", ("", "format = 2", "format = true", 'format = "1"'))
def test_another_format_is_refused(form: str) -> None:
    with pytest.raises(InvalidTargetFile, match="this version reads format = 1"):
        parse(form)


@pytest.mark.parametrize("content", (b"\xff", b"{", b"a = " + b"[" * 5000, b"#" * 2_000_000))
def test_what_is_not_a_small_toml_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidTargetFile, match="variant platform --output FILE"):
        target_file.parse_target_file(content, "x")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidTargetFile, match="variant platform --output FILE"):
            target_file.read_target_file(str(path))


def test_explanations_speak_of_the_stated_target() -> None:
    stated = parse(
        'format = 1\n[namespace.nvidia]\ndriver = "12.4"\n[namespace.x86_64]\nlevel = "v2"\n'
    )
    assert builtin.reason_for("nvidia", "cuda_version_lower_bound", ["12.6"], stated["nvidia"]) == (
        "needs CUDA driver >= 12.6, the stated target has 12.4 (stated, not detected)"
    )
    words = builtin.reason_for("x86_64", "level", ["v3"], stated["x86_64"])
    assert words is not None
    assert words.startswith("needs x86-64-v3, its CPU is v2 (lacks avx")
    assert x86_64.LEVELS["v3"]
