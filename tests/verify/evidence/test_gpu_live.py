# SPDX-License-Identifier: Apache-2.0
"""Products on this machine's GPU, with a GPU that is simulated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import gpu_checks
from gpu_checks.model import DeviceInfo, Unavailable
from gpu_checks.record import Bench
from gpu_checks.worker import Job
from isa_tables.signature import signature
from layouts.atoms import registry
from tests.gpu_checks.kernels.test_digit_coded import sparse_machine
from tests.gpu_checks.simulated import Simulated, tile_maps
from tests.verify.evidence.test_gpu_shared_memory import MMA_SP
from tests.verify.test_headlines import MMA, NOTHING, junit
from tests.verify.test_planted_recordings import mma
from verify.atom import command as atom
from verify.atom.checker import AtomChecker, prepare_atom
from verify.core.verdict import Status
from verify.evidence.gpu import MissingRecording
from verify.evidence.gpu_live import Live


@dataclass
class Here:
    """A worker on a simulated machine in this process."""

    machine: Simulated

    def run_jobs(self, jobs: Sequence[Job]) -> Iterator[tuple[int, object]]:
        yield from ((index, job.on(Bench(self.machine))) for index, job in enumerate(jobs))


def test_live_products_of_an_instruction_with_metadata_are_unchecked() -> None:
    """They are among the controls of its probe; with the maps of an atom alone they cannot be run."""
    _, machine = sparse_machine((MMA_SP.ptx or ("",))[0])
    listed = Live(Here(machine)).product(prepare_atom(MMA_SP))  # type: ignore[arg-type]
    said = "products are run with A, B and C alone, the instruction has E too"
    assert [(evidence.status, evidence.reason) for evidence in listed] == [(Status.UNCHECKED, said)]


@pytest.mark.parametrize("wrong", [False, True])
def test_live_products_are_run_through_the_atoms_maps(wrong: bool) -> None:
    mnemonic = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"
    subject = prepare_atom(mma("SM80_16x8x8_F16F16F16F16_TN"))
    maps = tile_maps(signature(mnemonic))
    if wrong:
        maps["B"] = np.roll(maps["B"], 1, axis=0)
    (evidence,) = Live(Here(Simulated({mnemonic: maps}))).product(subject)  # type: ignore[arg-type]
    assert evidence.status is (Status.REFUTED if wrong else Status.AGREES)


def test_live_without_a_gpu_is_one_line_and_exit_4(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gpu_checks, "device_info", lambda: Unavailable("no CUDA device: none is here"))
    for words in ([MMA, "--live"], ["--all", "--live", "--format", "json"], [NOTHING, "--live", "--allow-unchecked"]):
        assert atom.main(words) == 4
        output = capsys.readouterr()
        assert (output.out, output.err) == ("", "lanecheck: --live: no CUDA device: none is here\n")
    assert atom.main([MMA, "--live", "--format", "junit", "-o", str(tmp_path / "junit.xml")]) == 4
    assert junit(tmp_path / "junit.xml")["error"] == ["lanecheck verified"]
    assert atom.main([MMA, "--live", "--checks", "isa"]) == 2


class Broken:
    """A worker on whose GPU every probe fails."""

    def __init__(self, device: DeviceInfo | Unavailable) -> None:
        self.device = device

    def run_jobs(self, jobs: Sequence[object]) -> Sequence[tuple[int, object]]:
        return [(index, Unavailable("the probe process ended")) for index in range(len(jobs))]


@pytest.mark.parametrize(
    ("sm", "applies"), [("sm_90a", True), ("sm_70", False), (None, True)], ids=["has it", "lacks it", "no GPU"]
)
def test_a_gpu_that_has_the_instruction_and_shows_nothing_is_a_gap(sm: str | None, applies: bool) -> None:
    """A GPU that does not have it is none: nothing could be seen there."""
    device = Unavailable("gone") if sm is None else DeviceInfo("Simulated", sm, "1", "13.0", "13.0")
    live = Live(Broken(device))  # type: ignore[arg-type]
    (mnemonic,) = registry()[MMA].ptx or ()
    assert live(signature(mnemonic)) == MissingRecording("the probe process ended", applies)
    (in_memory,) = live.product(prepare_atom(registry()["SM90_64x8x16_F32F16F16_SS"]))
    assert in_memory.reason == "products are run with all operands in registers" and not in_memory.applies
    case = AtomChecker(lookup=live, multiply=live.product).case(registry()[MMA])
    assert case.status == ("UNCHECKED" if applies else "VERIFIED")
