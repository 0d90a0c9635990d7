# SPDX-License-Identifier: Apache-2.0
"""Probes of what orders accesses: each leaves out what it names, the controls decide, and the record is read back."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import numpy as np
import pytest

from gpu_checks import RecordingError, Unavailable
from gpu_checks.model import DeviceFault
from gpu_checks.order import command as order
from gpu_checks.order.command import (
    DELAYS,
    PROBES,
    OrderObservation,
    controls_hold,
    hash_of,
    main,
    observe,
    recordings_of_order,
    write,
)
from gpu_checks.recordings_io.lines import with_digest
from tests.gpu_checks.kernels.test_modules import NO_NVCC
from tests.gpu_checks.simulated import INFO


def imitate(wrong_of=lambda probe, delay: 99 * (probe.expected == "wrong" and delay == DELAYS[-1])):
    """Observations as a GPU would give them."""
    return [
        OrderObservation(p.name, p.section, d, 1 << 25, (0, 0, 0, wrong_of(p, d)), hash_of(p), INFO, "2026-11-22")
        for p in PROBES
        for d in DELAYS
    ]


def test_probes_are_named_once_and_leave_out_what_they_name():
    assert len({probe.name for probe in PROBES}) == len({hash_of(probe) for probe in PROBES}) == len(PROBES)
    for probe in PROBES:
        after = probe.kernel.split("clock64() - start")[1].split("for (int v = 0; v < 4; ++v) bad")[0]
        stored = after if probe.part == "wgmma" else after.split("if (t == 0)")[0]
        overwritten = "overwritten" in probe.name
        assert ("__syncthreads" in stored) == ("no barrier" not in probe.name)
        assert ("fence.proxy.async" in stored) == ("no proxy fence" not in probe.name and not overwritten)
        assert bool(probe.section) == (probe.name.split(", ")[1] != "nothing left out")
    assert {probe.expected for probe in PROBES} == {"", "right", "wrong"}


@pytest.mark.slow
@pytest.mark.skipif(NO_NVCC is not None, reason=f"needs nvcc: {NO_NVCC}")
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_every_kernel_assembles(probe, tmp_path):
    (tmp_path / "order.cu").write_text(probe.kernel)
    command = ["nvcc", "-arch=sm_90a", "-std=c++17", "-cubin", "order.cu", "-o", "cubin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


def test_the_controls_must_come_out_as_expected():
    assert controls_hold(imitate())
    assert not controls_hold(imitate(lambda probe, delay: 0))
    for control in PROBES:
        if control.expected == "right":
            spoiled = imitate(lambda p, d, tried=control: 1 if p is tried else 99 * (p.expected == "wrong"))
            assert not controls_hold(spoiled)


def test_a_record_survives_its_file_and_a_malformed_line_is_named(tmp_path):
    observed = imitate()[:3]
    write(tmp_path / "gpu.jsonl", observed)
    assert list(recordings_of_order(tmp_path)) == observed and observed[0].agrees
    assert not replace(observed[0], wrong=(0, 1, 0, 0)).agrees
    with (tmp_path / "gpu.jsonl").open("a") as lines:
        lines.write(with_digest('{"schema": 1, "name": "x"}') + "\n")
    with pytest.raises(RecordingError, match=r"gpu\.jsonl:4: "):
        recordings_of_order(tmp_path)


@pytest.mark.parametrize("wrong", [(0, 0, 0), (0, 0, 0, -1), (1 << 25, 1, 0, 0)])
def test_impossible_counts_are_an_error(wrong, tmp_path):
    write(tmp_path / "gpu.jsonl", [replace(imitate()[0], wrong=wrong)])
    with pytest.raises(RecordingError, match=r"gpu\.jsonl:1: wrong is"):
        recordings_of_order(tmp_path)


class Module:
    """A module whose launches return how late warp 3 is as its wrong results."""

    def launch(self, name, grid, threads, arrays, results):
        assert (name, threads, results) == ("order", 128, [1])
        wrong = np.zeros_like(arrays[1])
        wrong[:, 3] = arrays[0][0]
        return type("Launched", (), {"results": lambda self: [wrong]})()


def test_each_probe_runs_with_each_delay(monkeypatch):
    monkeypatch.setattr(order, "device_info", lambda: INFO)
    monkeypatch.setattr(order, "compile_cubin", lambda text, sm: text)  # seam: no GPU
    monkeypatch.setattr(order, "load", lambda text: Module())
    observed = observe()
    assert [(observation.name, observation.delay) for observation in observed] == [
        (probe.name, delay) for probe in PROBES for delay in DELAYS
    ]
    assert [observation.wrong for observation in observed[:4]] == [(0, 0, 0, 64 * delay) for delay in DELAYS]


@pytest.mark.parametrize(
    ("info", "reason"),
    [(Unavailable("no GPU here"), "no GPU here"), (INFO._replace(sm="sm_80"), "wgmma, which sm_90a has")],
)
def test_without_a_gpu_for_them_nothing_is_observed(info, reason, monkeypatch, capsys):
    monkeypatch.setattr(order, "device_info", lambda: info)
    assert main([]) == main(["--require"]) == 4 and main(["--allow-unchecked"]) == 0
    assert reason in capsys.readouterr().out


def test_a_gpu_that_fails_observes_nothing(monkeypatch):
    def fails(cubin):
        raise DeviceFault("an illegal instruction was encountered")

    monkeypatch.setattr(order, "device_info", lambda: INFO)
    monkeypatch.setattr(order, "compile_cubin", lambda text, sm: text)
    monkeypatch.setattr(order, "load", fails)
    assert observe() == Unavailable("an illegal instruction was encountered")


def test_the_command_prints_records_and_fails_with_its_controls(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(order, "observe", lambda quiet: imitate())
    assert main(["--record", str(tmp_path)]) == 0
    assert "loads, no barrier" in capsys.readouterr().out
    assert len(recordings_of_order(tmp_path)) == len(PROBES) * len(DELAYS)
    monkeypatch.setattr(order, "observe", lambda quiet: imitate(lambda probe, delay: 0))
    assert main([]) == 3
    assert main(["--list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("bulk copy, no barrier")


@pytest.mark.gpu
def test_the_gpu_agrees_with_its_controls():
    observed = observe()
    assert not isinstance(observed, Unavailable), observed
    assert controls_hold(observed)


def test_the_record_has_every_probe_as_it_is_today_and_its_controls_hold():
    recorded = recordings_of_order()
    assert [(observation.name, observation.delay) for observation in recorded] == [
        (probe.name, delay) for probe in PROBES for delay in DELAYS
    ]
    hashes = {probe.name: hash_of(probe) for probe in PROBES}
    assert all(
        observation.kernel_hash == hashes[observation.name] and observation.device.gpu and observation.date
        for observation in recorded
    )
    assert controls_hold(recorded)


def test_on_an_h200_wgmma_gathers_its_warps_and_sees_what_they_stored():
    """What the ISA asks for beside it made no difference there, which is an observation and no rule."""
    recorded = recordings_of_order()
    wrong = {
        name: sum(sum(observation.wrong) for observation in recorded if observation.name == name)
        for name in {observation.name for observation in recorded}
    }
    assert {name for name, count in wrong.items() if count} == {"loads, no barrier", "bulk copy, no barrier"}
