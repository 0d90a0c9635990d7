# SPDX-License-Identifier: Apache-2.0
"""What a worker answers for a recording: nothing against a sound one, and the reason why another isn't sound."""

from __future__ import annotations

from gpu_checks.record import Bench
from gpu_checks.summary import Find
from isa_tables.signature import signature
from tests.gpu_checks.fake_probes import lying, simulated

F64 = signature("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64")


def test_only_a_machine_that_contradicts_its_relation_has_objections() -> None:
    sound = Find(F64, trials=2, seed=0, keep=False).on(Bench(simulated()))
    assert (sound.sound, sound.objections, sound.lines) == (True, (), None)
    wrong = Find(F64, trials=2, seed=0, keep=False).on(Bench(lying()))
    assert not wrong.sound and "wrong elements through the labels (want 0)" in wrong.objections[-1]
