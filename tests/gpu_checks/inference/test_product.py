# SPDX-License-Identifier: Apache-2.0
"""Products through claimed maps: right ones have no mismatch, wrong ones do, malformed ones are rejected."""

from __future__ import annotations

import numpy as np
import pytest

import gpu_checks
from gpu_checks.inference.product import multiply_on
from isa_tables.signature import signature
from tests.gpu_checks.simulated import Simulated, random_maps

NAMES = [
    "dp4a.u32.s32",
    "dp2a.hi.s32.s32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc",
]
PLAIN = NAMES[4]


def simulate(name):
    s = signature(name)
    maps = random_maps(s, np.random.default_rng(11))
    return s, Simulated({s.mnemonic: maps}), maps


@pytest.mark.parametrize("name", NAMES)
def test_true_maps_have_no_mismatch_and_swapped_elements_have(name):
    s, machine, maps = simulate(name)
    assert multiply_on(machine, s, maps, 3, 0) == 0
    for operand in "ABD":
        wrong = {key: labels.copy() for key, labels in maps.items()}
        flat = wrong[operand].reshape(-1, 3)
        if len(flat) > 1:
            differing = next(i for i in range(1, len(flat)) if (flat[i, :2] != flat[0, :2]).any())
            flat[[0, differing]] = flat[[differing, 0]]
            assert multiply_on(machine, s, wrong, 3, 0) > 0, operand


def test_a_renaming_common_to_the_operands_is_not_seen_and_one_in_one_operand_is():
    s, machine, maps = simulate(PLAIN)
    m = np.random.default_rng(1).permutation(16)
    both = {key: labels.copy() for key, labels in maps.items()}
    for operand in "ACD":
        both[operand][..., 0] = m[both[operand][..., 0]]
    assert multiply_on(machine, s, both, 4, 0) == 0
    assert multiply_on(machine, s, both | {"A": maps["A"]}, 4, 0) > 0


def test_the_seed_decides_the_numbers():
    s, machine, maps = simulate(PLAIN)
    wrong = maps | {"A": np.roll(maps["A"], 1, axis=0)}
    counts = [multiply_on(machine, s, wrong, 4, seed) for seed in (0, 0, 1)]
    assert counts[0] == counts[1] and counts[0] > 0


def test_the_defaults_are_64_products_of_seed_0():
    class FakeWorker:
        def run_jobs(self, jobs):
            self.jobs = list(jobs)
            return enumerate(self.jobs)

    worker, s = FakeWorker(), signature(PLAIN)
    for call in (gpu_checks.relation, lambda s, worker: gpu_checks.multiply(s, {}, worker=worker)):
        call(s, worker=worker)
        assert [(job.signature, job.trials, job.seed) for job in worker.jobs] == [(s, 64, 0)]


def test_products_without_a_number_are_given_the_same_matrices():
    s, machine, maps = simulate("mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32")
    assert multiply_on(machine, s, {key: labels[..., :2] for key, labels in maps.items()}, 4, 0) == 0


def test_d_takes_the_map_of_c_unless_the_types_differ():
    s, machine, maps = simulate(PLAIN)
    machine.maps[s.mnemonic]["D"] = maps["C"]
    assert multiply_on(machine, s, {key: maps[key] for key in "ABC"}, 4, 0) == 0
    mixed, machine, maps = simulate("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16")
    with pytest.raises(ValueError, match=r"D is f32 and C f16: D needs its own map"):
        multiply_on(machine, mixed, {key: maps[key] for key in "ABC"}, 4, 0)


def test_unwritten_results_are_mismatches():
    class NoAnswer(Simulated):
        def run(self, signature, a, b, c, fixed=None):
            return np.full((len(a), 32, 2), 0x7FFF7FFF, np.uint32)

    s, _, maps = simulate(PLAIN)
    assert multiply_on(NoAnswer({s.mnemonic: maps}), s, maps, 2, 0) == 2 * 32 * 4


def test_malformed_maps_are_rejected_with_their_place():
    s, machine, maps = simulate(PLAIN)
    with pytest.raises(ValueError, match=r"the map of B has shape \(32, 1, 3\), not \(32, 2, 2\)"):
        multiply_on(machine, s, maps | {"B": maps["B"][:, :1]}, 1, 0)
    for bad in (16, -1):
        outside = maps["A"].copy()
        outside[7, 2, 0] = bad
        with pytest.raises(ValueError, match=rf"A lane 7 value 2 is \({bad}, \d, 0\), outside \(16, 8, 1\)"):
            multiply_on(machine, s, maps | {"A": outside}, 1, 0)
    assert machine.runs == []
