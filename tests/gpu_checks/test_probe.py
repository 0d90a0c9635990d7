# SPDX-License-Identifier: Apache-2.0
"""The command: what it selects, what it prints, its exit codes; on simulated machines."""

from __future__ import annotations

import _thread
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from gpu_checks import probe
from gpu_checks.inference.absolute import sources_of_coordinates
from gpu_checks.kernels import modules
from gpu_checks.recordings_io import reader
from gpu_checks.recordings_io.lines import with_digest, without_digest
from gpu_checks.worker import Worker
from isa_tables.signature import mnemonics, signature
from tests.messages import OTHER_LABELS, TRACEBACK

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HERE = "tests.gpu_checks.fake_probes"
F64 = "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"
FP4 = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"


@pytest.fixture
def nothing_shipped(monkeypatch, tmp_path_factory):
    """No recordings but those named: reading ours takes seconds."""
    monkeypatch.setattr(reader, "SHIPPED", tmp_path_factory.mktemp("none"))


@pytest.fixture
def on(monkeypatch):
    def choose(machine: str) -> None:
        monkeypatch.setattr(probe, "Worker", partial(Worker, f"{HERE}:{machine}"))

    return choose


def test_sound_probes_are_recorded_and_written(on, nothing_shipped, capsys, tmp_path):
    on("simulated")
    assert probe.main(["dp4a*", F64, "--trials", "3", "-o", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 6
    assert lines[0] == "dp4a.s32.s32  RECORDED  16 pairs  HMMA.TEST"
    assert lines[4] == f"{F64}  RECORDED  1024 pairs  HMMA.TEST"
    assert lines[5].startswith("5 recorded, 1088 pairs, ")
    assert lines[5].endswith("Simulated, sm_90a, driver 0, CUDA 0.0, NVRTC 0.0")
    assert err.splitlines() == [f"wrote {tmp_path}/simulated_{f}.jsonl" for f in ("dp4a", "mma_sync")]
    head = json.loads((tmp_path / "simulated_mma_sync.jsonl").read_text().splitlines()[0])
    assert head["family"] == "mma.sync" and head["gpu"] == "Simulated"
    assert probe.main(["--check", str(tmp_path)]) == 0


def test_a_machine_whose_products_contradict_its_relation_is_exit_3(on, capsys):
    on("lying")
    assert probe.main([F64, "--trials", "2"]) == 3
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"{F64}  CONTRADICTS  1024 pairs")
    assert "wrong elements through the labels (want 0)" in out[1]
    assert "1 contradict their controls" in out[-1]


def test_what_the_gpu_cannot_run_is_unchecked_and_exit_4_unless_that_is_accepted(on, capsys):
    on("simulated")
    assert probe.main([FP4, "dp4a.s32.s32"]) == 4
    out = capsys.readouterr().out
    assert f"{FP4}  UNCHECKED  needs sm_120a or sm_120f; Simulated is sm_90a\n" in out
    assert "1 recorded, 16 pairs" in out and "1 unchecked" in out
    assert probe.main([FP4, "dp4a.s32.s32", "--require", "-q"]) == 4
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert probe.main([FP4, "dp4a.s32.s32", "--allow-unchecked", "-q"]) == 0
    assert probe.main(["dp4a.s32.s32", "--require", "-q"]) == 0


def test_a_contradiction_outranks_what_is_unchecked(on, capsys):
    on("lying")
    assert probe.main([F64, FP4, "--trials", "2", "--allow-unchecked"]) == 3
    out = capsys.readouterr().out
    assert "CONTRADICTS" in out and "UNCHECKED" in out


def test_without_a_gpu_no_instruction_of_any_group_is_forgotten(on, capsys):
    on("none")
    assert probe.main(["dp*", "--jobs", "1"]) == 4
    out = capsys.readouterr().out
    assert "dp2a.hi.s32.s32 and 11 more  UNCHECKED  no GPU in this test\n" in out
    assert "recorded" not in out and "12 unchecked" in out


def test_without_a_gpu_what_is_required_is_exit_4(on, capsys):
    on("none")
    assert probe.main(["dp4a.s32.s32", "--require"]) == 4
    assert "dp4a.s32.s32  UNCHECKED  no GPU in this test" in capsys.readouterr().out


def test_without_a_gpu_one_sentence_says_why(on, capsys):
    on("none")
    assert probe.main(["--all"]) == 4
    lines = capsys.readouterr().out.splitlines()
    known = list(mnemonics("*"))
    assert lines[0] == f"{known[0]} and {len(known) - 1} more  UNCHECKED  no GPU in this test"
    assert lines[1].startswith(f"{len(known)} unchecked, ")
    assert len(lines) == 2


def test_listing_selects_without_a_gpu(capsys):
    for everything in (["--list", "--all"], ["--list"]):
        assert probe.main(everything) == 0
        assert capsys.readouterr().out.split() == list(mnemonics("*"))
    assert probe.main(["--list", "--family", "dp4a"]) == 0
    assert tuple(capsys.readouterr().out.split()) == mnemonics("dp4a")
    assert probe.main(["--list", "mma.m16n8k8.f32", "mma.m16n8k8.f32.f16"]) == 0
    assert [name.split(".")[-2] for name in capsys.readouterr().out.split()] == ["bf16", "f16", "tf32"]
    assert probe.main(["--list", "*.f64.f64.f64.f64.rz"]) == 0
    assert all(name.endswith(".rz") for name in capsys.readouterr().out.split())


def test_a_mnemonic_written_otherwise_is_the_same_instruction(capsys):
    assert probe.main(["--list", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite"]) == 0
    assert capsys.readouterr().out == "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f31"], 2, "nearest: mma.sync.aligned.m16n8k16"),
        (["vote.sync.any.pred"], 2, "is not in the tables"),
        ([], 2, "which instructions?"),
        (["*nothing*"], 2, "no instruction is named '*nothing*'"),
        (["--family", "mma.nothing"], 2, "no family is named 'mma.nothing'"),
        (["dp4a*", "--family", "mma.sync"], 5, "nothing selected"),
        (["--check", "/does/not/exist"], 2, "/does/not/exist: no such file or folder"),
    ],
)
def test_wrong_selections_have_their_exit_codes(arguments, code, said, capsys):
    assert probe.main(arguments) == code
    out, err = capsys.readouterr()
    assert said in err and not out and len(err.splitlines()) == 1


def test_a_folder_that_cannot_be_written_is_reported_before_anything_runs(on, tmp_path, capsys):
    on("broken")  # would be exit 3 if it were places
    (tmp_path / "file").touch()
    assert probe.main(["dp4a.s32.s32", "-o", str(tmp_path / "file")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_defect_of_the_probe_is_one_line_and_exit_3(on, capsys, monkeypatch):
    """And where it is, under LANECHECK_TRACEBACK."""
    on("broken")
    expected = "probe: internal error: OSError: libcuda is a text file"
    assert probe.main(["dp4a.s32.s32"]) == 3
    assert capsys.readouterr().err == f"{expected} {TRACEBACK}\n"
    monkeypatch.setenv("LANECHECK_TRACEBACK", "1")
    assert probe.main(["dp4a.s32.s32"]) == 3
    said, first, *rest = capsys.readouterr().err.splitlines()
    assert (said, first) == (expected, "Traceback (most recent call last):") and "fake_probes.py" in "".join(rest)


@pytest.mark.parametrize("arguments", [["--trials", "0", "--all"], ["--nonsense"], ["--timeout", "x", "--all"]])
def test_usage_errors_are_exit_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        probe.main(arguments)
    assert stop.value.code == 2
    assert "usage: lanecheck probe" in capsys.readouterr().err


def test_instructions_that_give_others_coordinates_are_compiled_alone():
    chosen = [signature(name) for name in mnemonics("*")]
    groups = probe.groups_of(chosen)
    assert sorted(s.mnemonic for group in groups for s in group) == sorted(s.mnemonic for s in chosen)
    alone = sources_of_coordinates(chosen)
    assert "ldmatrix.sync.aligned.m8n8.x4.shared.b16" in alone
    assert "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16" in alone
    assert [len(group) for group in groups if alone & {s.mnemonic for s in group}] == [1] * len(alone)


def test_groups_of_a_process_without_a_gpu_are_probed_by_another(on, capsys, monkeypatch, tmp_path):
    on("scarce")
    monkeypatch.setenv("TAKEN", str(tmp_path / "taken"))
    monkeypatch.setattr(modules, "GROUP", 3)
    assert probe.main(["dp*", F64, "--trials", "2", "--jobs", "3", "--require"]) == 0
    out = capsys.readouterr().out
    assert "UNCHECKED" not in out and "13 recorded, " in out and "unchecked" not in out


RUN = f"""
import signal
from functools import partial
from gpu_checks import probe
from gpu_checks.worker import Worker
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with SIGINT ignored
probe.Worker = partial(Worker, "{HERE}:slow")
raise SystemExit(probe.main(["{F64}", "dp4a.s32.s32", "--jobs", "2", "-o", "out"]))
"""


@pytest.mark.parametrize("whom", [os.kill, os.killpg], ids=["it alone", "its children too"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_it_at_once_with_one_line(whom, how, tmp_path):
    begun = tmp_path / "begun"
    environment = os.environ | {"BEGUN": str(begun), "PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(command, start_new_session=True, cwd=tmp_path, env=environment, **pipes) as running:
        try:
            while not begun.exists() and running.poll() is None:
                time.sleep(0.01)
            whom(running.pid, how)
            assert running.communicate() == ("", "probe: interrupted: 2 of 2 not done\n")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
    assert running.returncode == 130
    assert list(tmp_path.glob("out/*")) == []


def test_a_signal_that_does_not_end_a_wait_is_handled_after_it(monkeypatch):
    """As one that arrives just as the wait begins: interrupt_main wakes nobody either."""
    monkeypatch.setattr(probe, "_WAKE", 0.1)  # seam: a short wait
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.05, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            probe._join([Future()])  # seam: a worker that never ends
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_was_found_before_an_interruption_is_printed_and_nothing_written(on, capsys, monkeypatch, tmp_path):
    on("simulated")
    heard = probe._collect  # seam: an interruption

    def cut(worker, waiting, options, results, shown):
        rest = [waiting.pop() for _ in range(len(waiting) - 1)]
        heard(worker, waiting, options, results, shown)
        waiting.extend(rest)
        raise KeyboardInterrupt

    monkeypatch.setattr(modules, "GROUP", 1)
    monkeypatch.setattr(probe, "_collect", cut)  # seam: an interruption
    words = ["dp4a.s32.s32", F64, "--trials", "2", "--jobs", "1", "-o", str(tmp_path)]
    assert probe.main(words) == 130
    out, err = capsys.readouterr()
    assert err == "probe: interrupted: 1 of 2 not done\n"
    assert out.count("RECORDED") == 1 and "HMMA.TEST" in out
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_behind_the_last_instruction_is_told_as_any_other(on, capsys, monkeypatch, tmp_path):
    on("simulated")

    class Interrupted(probe.Progress):
        def __exit__(self, *error):
            super().__exit__(*error)
            raise KeyboardInterrupt

    monkeypatch.setattr(probe, "Progress", Interrupted)  # seam: an interruption
    assert probe.main([F64, "--trials", "2", "--jobs", "1", "-o", str(tmp_path)]) == 130
    out, err = capsys.readouterr()
    assert err.endswith("probe: interrupted: 0 of 1 not done\n") and "RECORDED" in out
    assert list(tmp_path.iterdir()) == []


def test_a_recording_whose_labels_are_not_its_table_is_found(on, nothing_shipped, tmp_path, capsys):
    on("simulated")
    probe.main([F64, "--trials", "2", "-q", "-o", str(tmp_path)])
    file = tmp_path / "simulated_mma_sync.jsonl"
    lines = file.read_text().splitlines()
    recording = json.loads(without_digest(lines[-1]))
    lines[-1] = with_digest(json.dumps(recording | {"hash": recording["hash"][::-1]}))
    file.write_text("\n".join(lines) + "\n")
    capsys.readouterr()
    assert probe.main(["--check", str(tmp_path)]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert f"{file}: {F64}: {OTHER_LABELS}" in out
    assert "; the labels of 1 don't rebuild their table; " in out


def test_a_recording_of_an_unknown_instruction_is_reported_with_its_file(on, nothing_shipped, tmp_path, capsys):
    on("simulated")
    probe.main([F64, "--trials", "2", "-q", "-o", str(tmp_path)])
    file = tmp_path / "simulated_mma_sync.jsonl"
    lines = [without_digest(line).replace(F64, "mma.sync.nonsense") for line in file.read_text().splitlines()]
    file.write_text("".join(with_digest(line) + "\n" for line in lines))
    capsys.readouterr()
    assert probe.main(["--check", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"probe: {file}: 'mma.sync.nonsense': the ISA has no such")
