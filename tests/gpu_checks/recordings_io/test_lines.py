# SPDX-License-Identifier: Apache-2.0
"""Lines of recordings files: each has its digest, no field can be changed unnoticed, no GPU has another's sm."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gpu_checks import RecordingError, check, probe, recordings
from gpu_checks.banks.command import recordings_of_banks
from gpu_checks.laws import recordings_of_laws
from gpu_checks.opcodes.recording import recordings_of_opcodes
from gpu_checks.recordings_io import reader, validation
from gpu_checks.recordings_io.capabilities import CAPABILITIES, capabilities, mismatch
from gpu_checks.recordings_io.lines import with_digest, without_digest
from gpu_checks.recordings_io.manifest import entries
from gpu_checks.recordings_io.reader import SHIPPED
from gpu_checks.tilings import recordings_of_tilings
from tests.messages import OTHER_KERNELS


@pytest.fixture
def nothing_shipped(monkeypatch, tmp_path):
    """No recordings of instructions but those named: reading ours takes seconds."""
    (tmp_path / "none").mkdir()
    monkeypatch.setattr(reader, "SHIPPED", tmp_path / "none")


EVERY = sorted(SHIPPED.rglob("*.jsonl"))
DP4A = "nvidia_h200_dp4a.jsonl"


def read_product(path):
    library = recordings(path)
    return [library[name] for name in library]


READ = {
    DP4A: read_product,
    "nvidia_h200_movmatrix_sync.jsonl": lambda path: list(recordings(path).moves.values()),
    "banks/nvidia_h200.jsonl": recordings_of_banks,
    "tilings/nvidia_h200.jsonl": recordings_of_tilings,
    "laws/nvidia_h200.jsonl": recordings_of_laws,
}


def copy_recording(name: str, tmp_path: Path) -> Path:
    return Path(shutil.copy(SHIPPED / name, tmp_path / "given.jsonl"))


def change_value(value):
    """Another value of the same type."""
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("b" if value.endswith("a") else "a")
    if isinstance(value, list):
        return [*value, 0]
    return {**value, "more": 0}


def test_a_line_gets_a_digest_that_the_whole_of_it_determines():
    assert with_digest('{"a": 1}') == '{"a": 1, "digest": "2445ef814befe2c2"}'
    assert without_digest(with_digest('{"a": {"b": 2}}')) == '{"a": {"b": 2}}'


@pytest.mark.long
@pytest.mark.parametrize("name", READ)
def test_every_changed_field_of_every_kind_of_line_is_noticed(name, tmp_path):
    """As JSON that is otherwise well formed: a value of the same type in each field of the header and the last line."""
    path = copy_recording(name, tmp_path)
    lines = path.read_text().splitlines()
    READ[name](path)
    for number in {1, len(lines)}:
        for key, value in json.loads(lines[number - 1]).items():
            spoiled = list(lines)
            spoiled[number - 1] = lines[number - 1].replace(
                f'"{key}": {json.dumps(value)}', f'"{key}": {json.dumps(change_value(value))}'
            )
            if spoiled == lines and (key, value) != ("columns", value):
                raise AssertionError(key)
            path.write_text("\n".join(spoiled) + "\n")
            with pytest.raises(RecordingError, match=rf"given\.jsonl:{number}: .*(digest|starts with neither)"):
                READ[name](path)


@pytest.mark.long
@pytest.mark.parametrize("name", READ)
def test_a_recording_without_digests_is_rejected_with_one_line(name, nothing_shipped, tmp_path, capsys):
    path = copy_recording(name, tmp_path)
    path.write_text("".join(without_digest(line) + "\n" for line in path.read_text().splitlines()))
    with pytest.raises(RecordingError, match=r"given\.jsonl:1: the line does not end with its digest .*record it anew"):
        READ[name](path)
    assert probe.main(["--check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and "record it anew" in err


def open_unasked(name: str, path: Path) -> None:
    """Open a file without asking for any recording of it."""
    if name in (DP4A, "nvidia_h200_movmatrix_sync.jsonl"):
        assert list(recordings(path))
    else:
        READ[name](path)


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("cut", [1, 60])
def test_a_last_line_that_was_cut_is_reported_when_the_file_is_opened(name, cut, nothing_shipped, tmp_path, capsys):
    path = copy_recording(name, tmp_path)
    text = path.read_text()
    path.write_text(text[:-cut])
    expected = (
        f"{path}:{text.count(chr(10))}: the last line does not end: it was cut, or is still being written: record it"
    )
    with pytest.raises(RecordingError, match=re.escape(expected)):
        open_unasked(name, path)
    assert probe.main(["--check", str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and err.startswith(f"probe: {expected}")


@pytest.mark.parametrize("name", READ)
def test_a_line_that_was_cut_before_others_is_reported_when_the_file_is_opened(name, nothing_shipped, tmp_path):
    path = copy_recording(name, tmp_path)
    first, second, *rest = path.read_text().splitlines(keepends=True)
    path.write_text("".join([first, second[:-9] + "\n", *rest]))
    with pytest.raises(RecordingError, match=r"given\.jsonl:2: the line does not end with its digest"):
        open_unasked(name, path)


@pytest.mark.parametrize("file", EVERY, ids=lambda file: str(file.relative_to(SHIPPED)))
def test_every_shipped_line_has_its_digest(file):
    for line in file.read_text("utf-8").splitlines():
        assert with_digest(without_digest(line)) == line


def test_a_table_that_no_recording_refers_to_is_checked_too(nothing_shipped, tmp_path, capsys):
    path = copy_recording(DP4A, tmp_path)
    with path.open("a") as file:
        file.write(with_digest('{"table": "0000000000000000"}').replace("0000", "0001", 1) + "\n")
    assert probe.main(["--check", str(path)]) == 2
    assert "the digest is not that of the line" in capsys.readouterr().err


def forge(path: Path, old: str, new: str) -> None:
    """Change every line that has the text, with its new digest: a forgery."""
    lines = [with_digest(without_digest(line).replace(old, new)) for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"NVIDIA H200"', '"NVIDIA B200"', "NVIDIA B200 is sm_100, not sm_90a"),
        ('"sm_90a"', '"sm_100a"', "NVIDIA H200 is sm_90, not sm_100a"),
        ('"sm_90a"', '"compute_90"', "sm is 'compute_90', not an architecture such as sm_90a"),
        ('"NVIDIA H200"', '" "', "gpu is ' ', not the name of a GPU"),
        ('"NVIDIA H200"', r'"NVIDIA\u001b[2J"', r"gpu is 'NVIDIA\x1b[2J', not the name of a GPU"),
    ],
)
def test_a_gpu_that_cannot_have_that_sm_is_rejected(name, old, new, said, tmp_path):
    path = copy_recording(name, tmp_path)
    forge(path, old, new)
    with pytest.raises(RecordingError, match=r"given\.jsonl:1: " + re.escape(said)):
        READ[name](path)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"wavefronts": 1,', '"wavefronts": 2,', "wavefronts are 2, the cycles make 1"),
        ('"unit": 1.0045', '"unit": 0', "division"),
        ('"unit": 1.0045', '"unit": "1"', "unsupported operand"),
    ],
)
def test_wavefronts_that_the_cycles_do_not_make_are_rejected(old, new, said, tmp_path):
    path = copy_recording("banks/nvidia_h200.jsonl", tmp_path)
    forge(path, old, new)
    with pytest.raises(RecordingError, match=r"given\.jsonl:1: .*" + said):
        recordings_of_banks(path)


def test_elements_that_the_result_does_not_have_are_rejected(tmp_path):
    path = copy_recording("tilings/nvidia_h200.jsonl", tmp_path)
    forge(path, '"elements": 8192', '"elements": 8191')
    with pytest.raises(RecordingError, match=r"given\.jsonl:1: elements are 8191, the result has 8192"):
        recordings_of_tilings(path)


@pytest.mark.parametrize(
    ("gpu", "numbers"),
    [
        ("NVIDIA H200", (90,)),
        ("NVIDIA H100 80GB HBM3", (90,)),
        ("NVIDIA GH200 480GB", (90,)),
        ("NVIDIA H20", (90,)),
        ("NVIDIA B200", (100,)),
        ("NVIDIA GB200", (100,)),
        ("NVIDIA GB300", (103,)),
        ("NVIDIA GB10", (121,)),
        ("NVIDIA Thor", (101, 110)),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", (120,)),
        ("NVIDIA GeForce RTX 5090", (120,)),
        ("NVIDIA L40S", (89,)),
        ("NVIDIA L4", (89,)),
        ("NVIDIA GeForce RTX 4090 Laptop GPU", (89,)),
        ("NVIDIA RTX 6000 Ada Generation", (89,)),
        ("NVIDIA A100-SXM4-80GB", (80,)),
        ("NVIDIA A10G", (86,)),
        ("NVIDIA RTX A6000", (86,)),
        ("NVIDIA GeForce RTX 2050", (86,)),
        ("NVIDIA GeForce RTX 2080 Ti", (75,)),
        ("Tesla T4", (75,)),
        ("Tesla V100-SXM2-16GB", (70,)),
        ("NVIDIA R100", ()),
        ("NVIDIA GA100", ()),
        ("Simulated", ()),
    ],
)
def test_a_gpu_is_known_by_its_name(gpu, numbers):
    assert capabilities(gpu) == numbers
    assert mismatch(gpu, f"sm_{numbers[0] if numbers else 777}") == ""
    assert bool(mismatch(gpu, "sm_77")) is bool(numbers)


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name if name == DP4A else pytest.param(name, marks=pytest.mark.slow) for name in READ]
)
def test_a_gpu_that_is_not_in_the_table_is_no_error_and_reported_as_not_checked(
    name, nothing_shipped, tmp_path, capsys
):
    path = copy_recording(name, tmp_path)
    forge(path, '"NVIDIA H200"', '"NVIDIA R100"')
    assert probe.main(["--check", str(path)]) == 0
    expected = "probe: NVIDIA R100: not in the table of GPUs, so that its sm was not checked\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("sm", ["sm_80a", "sm_90f", "sm_9", "sm_0100", "sm_90aa", "sm_90 ", "", "90"])
def test_an_architecture_has_its_form_for_unknown_gpus_too(sm):
    assert mismatch("Simulated", sm) == f"sm is {sm!r}, not an architecture such as sm_90a"


def test_every_row_of_the_table_of_gpus_is_used():
    names = "H800, RTX 5090, GB10, B300, B100, Thor, L2, Orin, A16, A30, T4, Xavier, TITAN V, P40, P100".split(", ")
    assert [capabilities(name) for name in names] == [numbers for _, numbers in CAPABILITIES]


STALE = f"recorded {OTHER_KERNELS} than today's: record it anew"


@pytest.mark.slow
def test_stale_recordings_of_ones_own_are_a_warning(nothing_shipped, tmp_path, capsys):
    path = copy_recording(DP4A, tmp_path)
    forge(path, '"kernel_hash": "', '"kernel_hash": "0')
    assert probe.main(["--check", str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == f"probe: warning: {path}: dp4a.s32.s32 and 3 more: {STALE}\n" and "rebuild every table" in out


@pytest.mark.slow
@pytest.mark.parametrize("name", ["banks/nvidia_h200.jsonl", "tilings/nvidia_h200.jsonl"])
def test_stale_patterns_and_tilings_of_ones_own_are_a_warning(name, nothing_shipped, tmp_path, capsys):
    path = copy_recording(name, tmp_path)
    forge(path, '"kernel_hash": "', '"kernel_hash": "0')
    assert probe.main(["--check", str(path)]) == 0
    err = capsys.readouterr().err
    assert err.startswith(f"probe: warning: {path}: ") and err.endswith(f" more: {STALE}\n") and err.count("\n") == 1


@pytest.mark.slow
def test_stale_recordings_that_are_shipped_are_an_error(monkeypatch, capsys):
    monkeypatch.setattr(check, "is_stale", lambda recording, instruction: recording.mnemonic == "dp4a.s32.s32")
    assert probe.main(["--check"]) == 2
    assert capsys.readouterr().err == f"probe: {SHIPPED / DP4A}: dp4a.s32.s32: {STALE}\n"


@pytest.mark.long
@pytest.mark.parametrize(("kind", "module"), [("banks", check.banks), ("tilings", check.runner)])
def test_shipped_patterns_and_tilings_of_other_kernels_are_an_error(kind, module, nothing_shipped, monkeypatch, capsys):
    monkeypatch.setattr(module, "hash_of", lambda what: "another")
    assert probe.main(["--check"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(f"probe: {SHIPPED / kind / 'nvidia_h200.jsonl'}: ") and STALE in err


@pytest.mark.slow
def test_the_shipped_recordings_of_every_kind_are_counted(capsys):
    assert probe.main(["--check"]) == 0
    forms = sum(len(recording.forms) for recording in recordings_of_opcodes())
    assert forms > 5000
    assert " ".join(capsys.readouterr().out.split()) == (
        "1422 recordings of 1422 instructions, 261 access patterns, 31 tilings, 40 runs without a barrier or a fence, "
        f"97 campaigns of laws, {forms} forms of opcodes read; the labels rebuild every table; "
        f"every line of {len(entries())} shipped files was checked"
    )


def test_a_recording_is_stale_by_the_text_of_its_kernels_alone():
    from dataclasses import replace

    from isa_tables.signature import signature

    recording = recordings()["dp4a.s32.s32"][0]
    assert not validation.is_stale(recording, signature(recording.mnemonic))
    assert validation.is_stale(
        replace(recording, kernel_hash=recording.kernel_hash[::-1]), signature(recording.mnemonic)
    )


def test_a_recording_has_the_file_and_line_where_it_was_read():
    for recording in (*recordings()["dp4a.s32.s32"], *recordings().moves["movmatrix.sync.aligned.m8n8.trans.b16"]):
        assert f'"{recording.mnemonic}"' in Path(recording.file).read_text().splitlines()[recording.line - 1]
