# SPDX-License-Identifier: Apache-2.0
"""A whole probe on simulated instructions: what is recorded, and what the controls catch."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from gpu_checks.inference.pair_relation import rebuild
from gpu_checks.kernels.modules import module
from gpu_checks.model import Unsupported
from gpu_checks.record import Bench, maps_of, passthrough, record
from isa_tables.signature import signature
from tests.gpu_checks.simulated import INFO, Simulated, random_maps

NAMES = [
    "dp4a.u32.u32",
    "dp2a.lo.s32.u32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
]


def simulate(name, seed=0, kind=Simulated):
    s = signature(name)
    return s, kind({s.mnemonic: random_maps(s, np.random.default_rng(seed))})


@pytest.mark.parametrize("name", NAMES)
def test_a_random_distribution_is_recorded_and_its_controls_hold(name):
    s, machine = simulate(name)
    recording = record(Bench(machine), s, trials=4, seed=1)
    assert recording.sound and recording.exceptions == ()
    assert recording.controls is not None and recording.controls.trials == 4
    assert (rebuild(recording.operands) == machine.table(s)).all()
    assert recording.pairs == machine.table(s).size
    assert (recording.mnemonic, recording.gpu, recording.sm) == (s.mnemonic, INFO.gpu, INFO.sm)
    assert recording.kernel_hash == hashlib.sha256(module([s]).encode()).hexdigest()
    assert recording.emulated is False and recording.sass == "HMMA.TEST"


@pytest.mark.parametrize("name", NAMES[2:5])
def test_passthrough_is_the_d_slot_where_each_c_arrives(name):
    s, machine = simulate(name, 3)
    maps = machine.maps[s.mnemonic]
    home = {tuple(label): slot for slot, label in enumerate(maps["D"].reshape(-1, 3).tolist())}
    want = [home[tuple(label)] for label in maps["C"].reshape(-1, 3).tolist()]
    assert passthrough(machine, s)().reshape(-1).tolist() == want


class Turned(Simulated):
    """The products arrive one lane further on than the relation says."""

    def run(self, signature, a, b, c, fixed=None):
        return np.roll(super().run(signature, a, b, c), 1, axis=1)


class Deaf(Simulated):
    """One lane's D is never written."""

    def run(self, signature, a, b, c, fixed=None):
        words = super().run(signature, a, b, c)
        words[:, 13] = 0x7FFF7FFF
        return words


class Constant(Simulated):
    """D is C, whatever A and B are."""

    def run(self, signature, a, b, c, fixed=None):
        return super().run(signature, np.zeros_like(a), b, c)


@pytest.mark.parametrize("kind", [Turned, Deaf, Constant])
def test_products_that_contradict_the_relation_fail_the_controls(kind):
    s, machine = simulate("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", kind=kind)
    recording = record(Bench(machine), s, trials=4, seed=0)
    assert not recording.sound
    if kind is Turned:  # a rotation of C and D alike is a relabelling of C: the products disagree all the same
        assert recording.controls is not None and recording.controls.product > 0
    if kind is Deaf:
        assert any("do not arrive" in note for note in recording.exceptions) and recording.controls is None


def test_a_relation_that_is_no_product_is_recorded_with_its_exceptions():
    s, machine = simulate("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64")

    def spoil(table):
        table[4, :] = 0xFFFF
        return table

    machine.spoil = spoil
    recording = record(Bench(machine), s, trials=2, seed=0)
    assert "A lane 4 value 0 takes part in no product" in recording.exceptions
    assert recording.controls is None and not recording.sound


def test_what_the_gpu_does_not_have_is_rejected_before_anything_runs():
    s, machine = simulate("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32")
    with pytest.raises(Unsupported, match=r"^needs sm_120a or sm_120f; Simulated is sm_90a$"):
        record(Bench(machine), s, trials=1, seed=0)
    assert machine.runs == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda s: {"operands": {**s.operands, "E": s.operands["A"]}}, "operands D, A, B, C, E; 1 lanes"),
        (lambda s: {"operands": {**s.operands, "A": replace(s.operands["A"], space="smem")}}, "operands D, A, B, C"),
        (lambda s: {"lanes": 128}, "128 lanes"),
    ],
)
def test_an_instruction_of_another_kind_is_rejected_before_anything_runs(change, expected):
    s, machine = simulate("dp4a.s32.s32")
    changed = replace(s, **change(s))
    with pytest.raises(Unsupported, match=r"^there is no probe for dp4a yet \(.*") as rejection:
        record(Bench(machine), changed, trials=1, seed=0)
    assert expected in str(rejection.value) and machine.runs == []


def test_incomplete_labels_are_no_maps():
    s, machine = simulate("dp4a.s32.s32")
    recording = record(Bench(machine), s, trials=1, seed=0)
    assert maps_of(recording.operands, recording.passthrough) is not None
    assert maps_of(recording.operands, np.full((1, 1), -1)) is None


COPIED = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"


def maps_with_copies(s, random):
    """Every element of A and B in two slots, of which one is read."""
    maps = {}
    for name, fragment in s.operands.items():
        rows, columns = fragment.extent
        every = np.stack([*np.indices((rows, columns)).reshape(2, -1), np.zeros(rows * columns, np.int64)], axis=-1)
        unread = every * [1, 1, 0] - [0, 0, 1]
        slots = np.concatenate([every, unread]) if name in "AB" else every
        maps[name] = random.permutation(slots).reshape(32, fragment.values, 3)
    return maps


def test_copies_that_are_never_read_have_no_label_and_any_value():
    s = signature(COPIED)
    machine = Simulated({COPIED: maps_with_copies(s, np.random.default_rng(3))})
    recording = record(Bench(machine), s, trials=2, seed=0)
    assert recording.sound and recording.exceptions == ()
    for name in "AB":
        unread = machine.maps[COPIED][name][..., 2] < 0
        assert np.array_equal((recording.operands[name] < 0).all(axis=-1), unread)
        assert int(unread.sum()) == 256


@pytest.mark.parametrize("name", "AB")
def test_an_element_that_is_read_from_no_copy_is_reported(name):
    s = signature(COPIED)
    maps = maps_with_copies(s, np.random.default_rng(3))
    lane, value = np.argwhere(maps[name][..., 2] == 0)[7]
    maps[name][lane, value, 2] = -1
    machine = Simulated({COPIED: maps})
    recording = record(Bench(machine), s, trials=2, seed=0)
    assert not recording.sound and f"1 elements of {name} are read from no copy" in recording.exceptions
