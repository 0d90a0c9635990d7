# SPDX-License-Identifier: Apache-2.0
"""Recordings on file: what is written is read back, and a malformed line is reported with its file and number."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import gpu_checks
from gpu_checks import Recording, RecordingError, recordings
from gpu_checks.inference.reconstructed import incomplete
from gpu_checks.kernels.forms import plain_form
from gpu_checks.kernels.modules import probe_of
from gpu_checks.kernels.packing import operands_as_words
from gpu_checks.record import Bench, record
from gpu_checks.recordings_io import reader
from gpu_checks.recordings_io.lines import text_of, with_digest, without_digest
from gpu_checks.recordings_io.reader import SHIPPED
from gpu_checks.recordings_io.writer import to_lines, write
from isa_tables.signature import mnemonics, runs_on, signature
from tests.gpu_checks.simulated import INFO, Simulated, random_maps, tile_maps

NAMES = [
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
]


def make_recording(name: str) -> Recording:
    s = signature(name)
    maps = random_maps(s, np.random.default_rng(2)) if s.products > 1 else tile_maps(s)
    machine = Simulated({name: maps})
    return record(Bench(machine), s, trials=2, seed=0)


@pytest.fixture(scope="module")
def originals():
    return {name: make_recording(name) for name in NAMES}


@pytest.fixture
def path(originals, tmp_path):
    folder = tmp_path / "given"
    folder.mkdir()
    return write(folder, "mma.sync", map(to_lines, list(originals.values())))


def same(first: Recording, second: Recording) -> bool:
    arrays = ("operands", "passthrough", "coordinates", "images", "metadata", "file", "line")
    plain = [f.name for f in fields(Recording) if f.name not in arrays]
    return (
        all(getattr(first, f) == getattr(second, f) for f in plain)
        and all((first.operands[x] == second.operands[x]).all() for x in "ABD")
        and (first.passthrough == second.passthrough).all()
        and len(first.coordinates) == len(second.coordinates)
        and all(
            (a.name, a.operand, a.premise) == (b.name, b.operand, b.premise) and (a.labels == b.labels).all()
            for a, b in zip(first.coordinates, second.coordinates, strict=True)
        )
    )


def test_what_is_written_is_read_back(path, originals):
    library = recordings(path)
    assert path.name == "simulated_mma_sync.jsonl"
    for name in NAMES:
        own = [r for r in library[name] if r.gpu == INFO.gpu]
        assert len(own) == 1 and same(own[0], originals[name])
        assert own[0].file == str(path)


def test_a_folder_is_read_beside_the_shipped_recordings(path):
    library = recordings(path.parent)
    assert [r.gpu for r in library[NAMES[0]]][-1] == INFO.gpu
    assert set(recordings()) <= set(library)
    with pytest.raises(KeyError):
        library["mma.sync.aligned.nothing"]


def test_labels_are_shared_and_cannot_be_changed(path):
    recording = recordings(path)[NAMES[0]][-1]
    with pytest.raises(ValueError, match="read-only"):
        recording.operands["A"][0, 0, 0] = 5


def test_equal_tables_are_written_once(originals, tmp_path):
    from dataclasses import replace

    twin = replace(originals[NAMES[0]], mnemonic="another")
    lines = write(tmp_path, "mma.sync", map(to_lines, [originals[NAMES[0]], twin])).read_text().splitlines()
    single = write(tmp_path, "mma.sync", map(to_lines, [originals[NAMES[0]]])).read_text().splitlines()
    assert len(lines) == len(single) + 1


def spoil(path: Path, number: int, old: str, new: str) -> None:
    """Change a line, and give it its new digest."""
    lines = path.read_text().splitlines()
    text = without_digest(lines[number - 1])
    assert old in text
    lines[number - 1] = with_digest(text.replace(old, new, 1))
    path.write_text("\n".join(lines) + "\n")


def line_of(path: Path, start: str) -> int:
    return next(n for n, text in enumerate(path.read_text().splitlines(), 1) if text.startswith(start))


MNEMONIC = f'{{"mnemonic": "{NAMES[0]}"'


@pytest.mark.parametrize(
    ("start", "old", "new", "said"),
    [
        ('{"schema"', '"schema": 4', '"schema": 3', "schema is 3, not 4"),
        ('{"schema"', '"gpu": "Simulated", ', "", "gpu is missing"),
        ('{"schema"', '"gpu": "Simulated"', '"gpu": 5', "gpu is 5, not str"),
        ('{"schema"', "{", "[", "not JSON"),
        ('{"table"', '{"table": ', '{"tabel": ', "starts with neither a mnemonic, a move, a table nor images"),
        (MNEMONIC, '"pairs": ', '"pairs": "', "not JSON"),
        (MNEMONIC, '"pairs": 32768', '"pairs": true', "pairs is True, not int"),
        (MNEMONIC, '"pairs": 32768', '"pairs": 32767', "pairs is 32767, the labels make 32768"),
        (MNEMONIC, '"date": ', '"day": ', "date is missing"),
        (MNEMONIC, '"sass": ', '"note": 1, "sass": ', "unknown key note"),
        (MNEMONIC, '"A": "', '"A": "0', "is not in the file"),
        (MNEMONIC, '"exceptions": []', '"exceptions": null', "exceptions is None, not list"),
        (MNEMONIC, '"anchors": [["ldmatrix", "A"', '"anchors": [["ldmatrix", "Q"', "anchors: ["),
        (MNEMONIC, '"anchors": [["ldmatrix"', '"anchors": [["ldmatrix", "A", "x", []], ["ldmatrix"', "anchors: ["),
        (MNEMONIC, '"pairs": ', '"pairs": ' + "1" * 5000, "not JSON"),
        (MNEMONIC, '"pairs": ', '"pairs": 1, "pairs": ', "a key occurs twice"),
        (MNEMONIC, '"trials": 2', '"trials": "2"', "trials is '2', not int"),
        (MNEMONIC, '"rotated"', '"turned"', "rotated is missing"),
    ],
)
def test_a_malformed_line_is_reported_with_file_and_line(path, start, old, new, said):
    number = line_of(path, start)
    spoil(path, number, old, new)
    with pytest.raises(RecordingError, match=re.escape(f"{path}:{number}: ") + ".*" + re.escape(said)):
        recordings(path)[NAMES[0]]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t | {"shape": [32]}, "shape is [32] in 4 columns, not lanes and values"),
        (lambda t: t | {"shape": [32, 0]}, "shape is [32, 0] in 4 columns, not lanes and values"),
        (lambda t: t | {"shape": [2**18, 2**18], "columns": [7] * 4}, "not lanes and values"),
        (lambda t: t | {"shape": [2**9, 2**9], "columns": [7] * 4}, " has the content of"),
        (lambda t: t | {"shape": [2**9 + 1, 2**9], "columns": [7] * 4}, "shape is [513, 512] in 4 columns"),
        (lambda t: t | {"columns": []}, "in 0 columns, not lanes and values"),
        (lambda t: t | {"shape": [31, t["shape"][1]]}, "entries"),
        (lambda t: t | {"columns": [["x"] * 32 * t["shape"][1], *t["columns"][1:]]}, "other than small numbers"),
        (lambda t: t | {"columns": [7, *t["columns"][1:]]}, "has the content of"),
        (lambda t: t | {"columns": ["eNqr", *t["columns"][1:]]}, "cannot be expanded"),
        (lambda t: t | {"extra": 1}, "unknown key extra"),
    ],
)
def test_a_malformed_table_is_reported_with_file_and_line(path, change, said):
    name = json.loads(path.read_text().splitlines()[line_of(path, MNEMONIC) - 1])["A"]
    number = line_of(path, f'{{"table": "{name}"')
    lines = path.read_text().splitlines()
    lines[number - 1] = with_digest(json.dumps(change(json.loads(without_digest(lines[number - 1])))))
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(RecordingError, match=re.escape(f"{path}:{number}: ") + ".*" + re.escape(said)):
        recordings(path)[NAMES[0]]


def test_a_table_of_the_wrong_kind_is_rejected(path):
    line = json.loads(path.read_text().splitlines()[line_of(path, MNEMONIC) - 1])
    spoil(path, line_of(path, MNEMONIC), f'"A": "{line["A"]}"', f'"A": "{line["passthrough"]}"')
    with pytest.raises(RecordingError, match="has 1 columns, not 4"):
        recordings(path)[NAMES[0]]


def test_a_bad_line_affects_its_own_mnemonic_alone(path, originals):
    spoil(path, line_of(path, MNEMONIC), '"pairs"', '"pears"')
    assert same(recordings(path)[NAMES[1]][-1], originals[NAMES[1]])


def test_a_mnemonic_that_occurs_twice_is_rejected(path):
    text = path.read_text()
    path.write_text(text + text.splitlines()[-1] + "\n")
    with pytest.raises(RecordingError, match=r":\d+: mnemonic .* occurs twice"):
        list(recordings(path))


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\n", b"[" * 100000])
def test_a_file_that_is_no_recording_is_rejected(tmp_path, content):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(content)
    with pytest.raises(RecordingError, match=re.escape(str(bad))):
        list(recordings(bad))
    with pytest.raises(RecordingError, match="no such file or folder"):
        recordings(tmp_path / "missing")


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    big = tmp_path / "big.jsonl"
    with big.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(RecordingError, match=r"17825792 bytes, more than 16777216"):
        list(recordings(big))


# The shipped recordings


@cache
def read_shipped() -> dict[str, Recording]:
    library = recordings()
    return {mnemonic: recording for mnemonic in library for recording in library[mnemonic]}


@pytest.mark.slow
def test_everything_that_an_h200_runs_was_recorded():
    recorded = {m for m, r in read_shipped().items() if r.gpu == "NVIDIA H200"}
    library = recordings().moves
    recorded |= {m for m in library if library[m][0].gpu == "NVIDIA H200"}
    every = [signature(m) for m in mnemonics("*")]
    assert recorded == {s.mnemonic for s in every if probe_of(s) and runs_on(s, "sm_90a")}


def test_what_an_h200_runs_and_no_probe_reads_is_no_matrix_product_or_matrix_move():
    every = [signature(m) for m in mnemonics("*")]
    unread = Counter(s.family for s in every if runs_on(s, "sm_90a") and probe_of(s) is None)
    copies = {"cp.async": 16, "ld": 12, "st": 12}
    assert unread == {**copies, "wmma.load.sync": 264, "wmma.store.sync": 78}  # as in recordings/README.md
    said = (SHIPPED / "README.md").read_text()
    assert f"({sum(copies.values())})" in said and f"({unread.total() - sum(copies.values())})" in said


@pytest.mark.long
def test_every_swizzle_and_major_of_wgmma_was_probed():
    """All four swizzles of A and B, K-major and on 16-bit elements MN-major, at every N.

    B's plainest image is the recording itself; K-major rows of B of a sparse instruction, 64 bytes, need 64.
    """
    recorded = {m: r for m, r in read_shipped().items() if m.startswith("wgmma")}
    assert {int(n) for m in recorded for n in re.findall(r"m64n(\d+)k", m)} == set(range(8, 257, 8))
    for mnemonic, recording in recorded.items():
        modes = ("none", "32B", "64B", "128B")
        majors = ("K", "MN") if signature(mnemonic).operands["A"].bits == 16 else ("K",)
        every = {(x, mode, major) for x in "AB" for mode in modes for major in majors} - {("B", "none", "K")}
        if ".sp." in mnemonic:
            every -= {("B", "32B", "K")}
        assert {(i.operand, i.swizzle, i.major) for i in recording.images} == every, mnemonic


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*.jsonl")), ids=lambda file: file.stem)
def test_every_shipped_recording_is_sound_and_complete(file):
    every = [recording for recording in read_shipped().values() if recording.file == str(file)]
    assert list(incomplete(every)) == []
    for recording in every:
        mnemonic = recording.mnemonic
        s = signature(mnemonic)
        assert recording.sound, mnemonic
        as_words = operands_as_words(plain_form(s))
        slots = {name: lanes * fragment.values for name, (lanes, fragment) in as_words.items()}
        assert recording.pairs == slots["A"] * slots["B"]
        for name in "ABD":
            lanes, fragment = as_words[name]
            assert recording.operands[name].shape == (lanes, fragment.values, 4)
        assert sorted(recording.passthrough.reshape(-1).tolist()) == list(range(slots["D"]))


def test_the_shipped_files_are_small_and_name_no_machine():
    files = list(SHIPPED.glob("*.jsonl"))
    assert files and sum(f.stat().st_size for f in files) < 2 * 2**20
    for file in files:
        assert not re.search(r"/(home|root|tmp|work|usr)/|localhost|\.local", file.read_text())


def test_a_shipped_file_is_opened_for_mnemonics_that_begin_like_its_family(monkeypatch):
    """A file that a lookup passes by has no line on what is looked up."""
    opened = []
    monkeypatch.setattr(reader, "text_of", lambda path: opened.append(path.name) or text_of(path))
    reader._read_shipped.cache_clear()  # seam: the cache
    library = gpu_checks.recordings()
    assert "dp4a.s32.s32" in library and opened == ["nvidia_h200_dp4a.jsonl"]
    for file in library.files:
        named = {*file.index["mnemonic"], *file.index["move"]}
        assert named and {name.partition(".")[0] for name in named} == {file.family}


def test_a_shipped_file_with_a_damaged_first_line_is_opened_and_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(reader, "SHIPPED", tmp_path)
    lines = (SHIPPED / "nvidia_h200_dp4a.jsonl").read_text().replace("dp4a", "dp2a", 1)
    (tmp_path / "ours.jsonl").write_text(lines)
    with pytest.raises(RecordingError, match=r"ours\.jsonl:1: the digest is not that of the line"):
        gpu_checks.recordings().get("dp4a.s32.s32")


def test_reading_one_recording_parses_a_few_lines_only(monkeypatch):
    from gpu_checks.recordings_io import lines

    parsed = []
    original = lines.json.loads
    monkeypatch.setattr(lines.json, "loads", lambda text, **how: parsed.append(text) or original(text, **how))
    reader._read_shipped.cache_clear()  # seam: the cache
    gpu_checks.recordings()["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
    headers = len(list(SHIPPED.glob("*.jsonl"))) + len(list(SHIPPED.glob("*_mma_*.jsonl")))
    assert len(parsed) <= headers + 10  # a header a file, once more where it is opened, the line, and its tables


@pytest.mark.parametrize(("largest", "kind"), [((1 << 14) - 1, np.int16), (1 << 14, np.int32), (1 << 19, np.int32)])
def test_labels_are_read_into_as_little_memory_as_they_need(largest, kind, originals, tmp_path):
    labels = originals[NAMES[0]].operands["A"].astype(np.int64)
    labels[0, 0, 0] = largest
    changed = replace(originals[NAMES[0]], operands={**originals[NAMES[0]].operands, "A": labels})
    (recording,) = recordings(write(tmp_path, "mma.sync", [to_lines(changed)]))[NAMES[0]][-1:]
    assert recording.operands["A"].dtype == kind
    assert (recording.operands["A"] == labels).all()
