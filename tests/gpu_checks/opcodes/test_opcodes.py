# SPDX-License-Identifier: Apache-2.0
"""Probes of opcodes: every row has forms, their values are defined, the record is read back, and faults are told."""

from __future__ import annotations

import subprocess
from hashlib import blake2b

import numpy as np
import pytest

from gpu_checks import RecordingError, Unavailable, probe
from gpu_checks.model import DeviceFault
from gpu_checks.opcodes import recording
from gpu_checks.opcodes.forms import LEFT_OUT, candidates
from gpu_checks.opcodes.operands import columns, guards
from gpu_checks.opcodes.recording import observe, recordings_of_opcodes, write
from gpu_checks.opcodes.rejected import accepted_forms, expand, fold, list_rejected, validate
from gpu_checks.opcodes.text import PATTERN, Probe, module
from gpu_checks.opcodes.values import BITS, LANES, column
from isa_tables.opcode_signatures import spellings
from tests.gpu_checks.kernels.test_modules import NO_NVCC
from tests.gpu_checks.simulated import INFO

FORMS = {form.name: form for form in candidates()}
ACCEPTED = accepted_forms()
SOME = [Probe(FORMS[name]) for name in ("add.u32 d, a, b", "setp.lt.and.s32 p|q, a, b, c", "st.shared.u8 [a], b")]


def test_every_row_is_probed_or_left_out_for_a_reason():
    probed = {form.group for form in ACCEPTED}
    groups = {row.group for row in spellings()}
    assert not probed & LEFT_OUT.keys()
    assert groups - probed - LEFT_OUT.keys() == set()
    assert LEFT_OUT.keys() - groups == set()
    assert all(LEFT_OUT.values())


def test_every_word_of_a_row_is_in_a_form():
    seen = {form.group: set() for form in FORMS.values()}
    for form in FORMS.values():
        seen[form.group] |= {*form.words.items()}
    compared = 0
    for row in spellings():
        for name, words in row.words.items():
            left_out = "approx" in row.text.split(".") or row.words.get("space") == ("param",)
            if row.group in seen and len(row.operands) > 1 and not left_out:
                there = {word for list_name, word in seen[row.group] if list_name == name}
                missing = {*words} - there - {"approx", "full", "v8", "param"}
                assert missing == set(), f"{row.text}: {name}"
                compared += 1
    assert compared > 50


@pytest.mark.parametrize(
    "name",
    [
        "cvt.u8.s32 d, a",
        "cvt.u8.s32 d.b64, a",
        "cvt.s32.u8 d, a.b64",
        "ld.global.s8 d.b64, [a]",
        "ld.shared.v4.u16 {d, d, d, d}, [a]",
        "st.local.u8 [a], b.b32",
        "setp.gtu.xor.f32 p, a, b, !c",
        "setp.gtu.xor.f32 p|q, a, b, c",
        "selp.f32 d, a, b, !c",
        "lop3.b32 d, a, b, c, 0xe8",
        "shfl.sync.up.b32 d|q, a, b, c, mask",
        "vote.sync.ballot.b32 d, !a, mask",
        "mov.b64 {d, d}, a",
        "mov.b32 d, {a, a}",
        "cvt.rn.satfinite.relu.e4m3x2.f32 d, a, b",
    ],
)
def test_ways_to_write_an_instruction_are_forms_of_their_own(name):
    assert name in FORMS and name not in list_rejected()


def test_a_cache_hint_comes_with_its_operand():
    hinted = [name for name in FORMS if "cache_hint" in name]
    assert len(hinted) > 20 and all(name.endswith(", hint") for name in hinted)
    assert not any(name.endswith(", hint") for name in FORMS.keys() - {*hinted})


def test_a_rejected_form_is_listed_with_its_message():
    assert list_rejected().keys() <= FORMS.keys()
    assert list_rejected()["setp.lo.s32 p, a, b"] == "Mismatch between instruction type and comparison qualifier"
    names = ["a.b.c d", "a.b.e d", "a.f.c d", "a.f.e d", "x d", "a.b.c d, {d, d}"]
    assert [name for line in fold(names) for name in expand(line)] == names[:5] + names[5:]


def test_values_have_edges_and_equal_operands_and_stay_what_they_are():
    first, second = (column("f32", place) & np.uint64(0xFFFFFFFF) for place in (0, 1))
    assert {0x7F800000, 0xFF800000, 0x7FC00000, 0x80000000, 0, 1, 0x4F800000} <= {*first.tolist()}
    assert (first[64:80] == second[64:80]).all() and (first[:64] != second[:64]).sum() > 50
    assert {0, 2**31, 2**32 - 1, 2**24 + 3} <= {*(column("u32", 0) & np.uint64(0xFFFFFFFF)).tolist()}
    assert len({*(column("s8", 0) >> np.uint64(8)).tolist()}) > 100, "nothing above the value is there to be ignored"
    whole = b"".join(probe.inputs.tobytes() for probe in SOME)
    assert blake2b(whole, digest_size=8).hexdigest() == "21ea408ca57431ea"


def test_the_values_of_every_type_are_those_that_were_recorded():
    """A recording is of these operands: with others its probes have other digests, and nothing is compared with it."""
    later = {"u16x2", "s16x2"}  # no form of these is recorded yet
    values = b"".join(column(kind, place).tobytes() for kind in BITS if kind not in later for place in (0, 1))
    assert blake2b(values, digest_size=8).hexdigest() == "8d63bc7682ab542b"


def test_divisions_and_positions_are_defined():
    assert {"divide", "extract", "insert"} <= {form.group for form in ACCEPTED}
    for form in ACCEPTED:
        if form.group == "divide":
            bits = form.parts[2].bits
            limit = np.uint64((1 << bits) - 1)
            dividend, divisor = (columns(form, place)[0] & limit for place in (1, 2))
            assert divisor.all()
            if form.parts[0].kind[0] == "s":
                assert not ((divisor == limit) & (dividend == np.uint64(1 << (bits - 1)))).any()
                assert (divisor == limit).any()
        if form.group in ("extract", "insert"):
            assert max(columns(form, place)[0].max() for place in range(len(form.parts))[-2:]) < 256


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_lanes_of_a_shuffle_read_lanes_of_their_own_mask_which_execute_it(mode):
    """By the pseudo-code of PTX ISA 9.7.9.6, read here again."""
    form = FORMS[f"shfl.sync.{mode}.b32 d|q, a, b, c, mask"]
    b, c, mask = (columns(form, place)[0].astype(np.int64) for place in (2, 3, 4))
    lane, segment = np.arange(LANES) % 32, c >> 8 & 31
    most = (lane & segment) | (c & 31 & ~segment)
    source = {
        "up": lane - (b & 31),
        "down": lane + (b & 31),
        "bfly": lane ^ (b & 31),
        "idx": (lane & segment) | (b & 31 & ~segment),
    }[mode]
    source = np.where(source >= most if mode == "up" else source <= most, source, lane)
    assert ((source >= 0) & (source < 32)).all()
    assert (mask >> source & 1).all() and (mask >> lane & 1).all()
    assert 20 < (source != lane).sum() < LANES
    for there in guards(form):
        groups = {(at // 32, int(mask[at])): set() for at in range(LANES)}
        for at in range(LANES):
            groups[at // 32, int(mask[at])].add(int(there[at]))
        assert all(len(executing) == 1 for executing in groups.values()), "a lane of a mask does not execute it"
        assert {*there.tolist()} == {0, 1}


def test_guards_are_true_false_and_mixed():
    g, h = guards(FORMS["add.u32 d, a, b"])
    assert g[:32].all() and not g[32:64].any() and 0 < g[64:].sum() < 64
    assert h[:32].all() and not h[64:96].any()
    assert ((g == 0) & (h == 1)).any() and ((g == 1) & (h == 0)).any()


def test_the_digest_is_of_the_text_and_of_the_values():
    probe = Probe(FORMS["shl.b32 d, a, b"])
    assert probe.digest == Probe(FORMS["shl.b32 d, a, b"]).digest != Probe(FORMS["shr.b32 d, a, b"]).digest
    before = probe.digest
    probe.operands[-1] ^= 1
    assert probe.digest != before


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs ptxas: {NO_NVCC}")
def test_ptxas_takes_what_is_accepted_and_rejects_the_rest():
    probes = [Probe(form) for form in ACCEPTED]
    for start in range(0, len(probes), 64):
        text = module(probes[start : start + 64])
        command = ["ptxas", "-arch=sm_90a", "-o", "/dev/null", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]
    rejected = [Probe(FORMS[name]) for name in list(list_rejected())[::50]]
    assert validate(rejected).keys() == {probe.form.name for probe in rejected}


class Simulated:
    """A GPU on which every instruction writes its lane, and which rejects the forms that a test names."""

    def __init__(self, text, rejects=(), shaky=False):
        if any(name in text.decode() for name in rejects):
            raise DeviceFault("CUDA_ERROR_INVALID_PTX")
        self.shaky, self.runs = shaky, 0

    def launch(self, name, grid, threads, arrays, results):
        assert grid == (1,) and threads == LANES and results == [1]
        self.runs += self.shaky
        output = np.arange(arrays[1].size).astype(np.uint8) ^ np.uint8(self.runs)
        return type("Launched", (), {"results": lambda _: [output]})()


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(recording, "device_info", lambda: INFO)
    monkeypatch.setattr(recording, "load", Simulated)


def test_a_recording_is_read_back_as_it_was(gpu, tmp_path):
    observed = observe(SOME)
    path = write(tmp_path / "deep", observed)
    (again,) = recordings_of_opcodes(path)
    assert (again.device, again.date) == (observed.device, observed.date)
    assert [*again.forms] == [probe.form.name for probe in SOME]
    for asked in SOME:
        seen = again.forms[asked.form.name]
        assert seen.results == observed.forms[asked.form.name].results and seen.probe == asked.digest and not seen.fault
        assert [len(part) for part in seen.results] == [part.size * LANES for part in asked.results]


@pytest.mark.parametrize("change", [("setp.lt", "setp.le"), ('"of": "', '"of": "A'), ("opcodes", "opcode")])
def test_a_line_that_was_edited_is_an_error_with_its_number(gpu, tmp_path, change):
    path = write(tmp_path, observe(SOME))
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(RecordingError, match=rf"{path.name}:\d+: "):
        recordings_of_opcodes(path)


def test_a_form_that_the_driver_rejects_takes_no_other_along(gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(recording, "load", lambda text: Simulated(text, rejects=["setp.lt.and"]))
    observed = observe(SOME)
    assert [bool(computed.fault) for computed in observed.forms.values()] == [False, True, False]
    (again,) = recordings_of_opcodes(write(tmp_path, observed))
    assert "CUDA_ERROR_INVALID_PTX" in again.forms[SOME[1].form.name].fault


def test_bits_that_differ_from_run_to_run_are_no_recording(gpu, monkeypatch):
    monkeypatch.setattr(recording, "load", lambda text: Simulated(text, shaky=True))
    assert all(computed.fault and not computed.results for computed in observe(SOME).forms.values())


def test_without_a_gpu_for_it_nothing_is_recorded(monkeypatch, capsys):
    monkeypatch.setattr(recording, "device_info", lambda: INFO._replace(sm="sm_80"))
    assert "sm_90a" in observe(SOME).reason
    monkeypatch.setattr(recording, "device_info", lambda: Unavailable("no GPU here"))
    assert probe.main(["--opcodes"]) == 4 and probe.main(["--opcodes", "--allow-unchecked"]) == 0
    assert "UNCHECKED  no GPU here" in capsys.readouterr().out


def test_the_command_records_or_lists(gpu, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("gpu_checks.opcodes.command.accepted_forms", lambda: [asked.form for asked in SOME])
    assert probe.main(["--opcodes", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [asked.form.name for asked in SOME]
    assert probe.main(["--opcodes", "-q", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("3 forms of opcodes recorded, ")
    assert len(recordings_of_opcodes(tmp_path)) == 1
    with pytest.raises(SystemExit):
        probe.main(["--opcodes", "--all"])
    assert "--opcodes reads no --all" in capsys.readouterr().err


def test_what_nothing_wrote_keeps_its_pattern():
    assert (SOME[0].output == PATTERN).all()
