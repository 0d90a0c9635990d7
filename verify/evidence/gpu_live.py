# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` by the GPU of this machine, in place of recordings."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import gpu_checks
from gpu_checks.worker import Worker
from isa_tables.signature import Signature, runs_on
from verify.binding.bound import BoundMaps
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.evidence.gpu import MissingRecording, Table, labels

TRIALS = 64
PLAIN = frozenset("ABCD")


@dataclass(slots=True)
class Live:
    """Probes through one worker process; the result of a matrix product is kept for the run."""

    worker: Worker
    seen: dict[str, gpu_checks.Recording | gpu_checks.Unavailable] = field(default_factory=dict)

    def __call__(self, signature: Signature) -> tuple[gpu_checks.Recording, ...] | MissingRecording:
        """Return the live recording of an instruction, or why there is none."""
        if signature.mnemonic not in self.seen:
            self.seen[signature.mnemonic] = gpu_checks.relation(signature, worker=self.worker)
        recorded = self.seen[signature.mnemonic]
        return self._missing(signature, recorded) if isinstance(recorded, gpu_checks.Unavailable) else (recorded,)

    def moves(self, signature: Signature) -> tuple[gpu_checks.Move, ...] | MissingRecording:
        """Return the live recording of a matrix move, or why there is none."""
        recorded = gpu_checks.move(signature, worker=self.worker)
        return self._missing(signature, recorded) if isinstance(recorded, gpu_checks.Unavailable) else (recorded,)

    def _missing(self, signature: Signature, unavailable: gpu_checks.Unavailable) -> MissingRecording:
        """Why there is no live recording; it `applies` unless the GPU does not have the instruction."""
        device = self.worker.device
        return MissingRecording(
            unavailable.reason, not isinstance(device, gpu_checks.DeviceInfo) or runs_on(signature, device.sm)
        )

    def product(self, subject: BoundMaps) -> list[Evidence]:
        """Return the evidence of random exact products through the atom's three maps, on this GPU."""
        claimed = labels(subject)
        if isinstance(claimed, str):
            return [leave_unchecked(Check.GPU, claimed)]
        if len(claimed) < len(subject.parts):
            return [leave_unchecked(Check.GPU, "products are run with all operands in registers", applies=False)]
        if more := subject.instruction.operands.keys() - PLAIN:
            why = f"products are run with A, B and C alone, the instruction has {min(more)} too"
            return [leave_unchecked(Check.GPU, why, applies=False)]
        maps, signature = {name: _map(name, table) for name, table in claimed.items()}, subject.instruction.signature
        wrong = gpu_checks.multiply(signature, maps, TRIALS, worker=self.worker)
        if isinstance(wrong, gpu_checks.Unavailable):
            missing = self._missing(signature, wrong)
            return [leave_unchecked(Check.GPU, missing.reason, missing.applies)]
        counterexample = (
            Counterexample({"wrong": wrong}, f"{wrong} elements of D are wrong on this GPU") if wrong else None
        )
        engine = "" if wrong else "gpu_checks"
        return [finding(Check.GPU, counterexample, "live, random integers", TRIALS, engine, Status.AGREES)]


def _map(name: str, table: Table) -> Table:
    """[lane][value] -> (row, col, product) in the ISA's order: B's pair is (k, n)."""
    order = (2, 1, 0) if name == "B" else (1, 2, 0)
    return np.ascontiguousarray(table[..., order])
