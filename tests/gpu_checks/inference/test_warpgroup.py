# SPDX-License-Identifier: Apache-2.0
"""Absolute coordinates of warp-wide instructions from the wgmma of the same k, on a simulated machine that has both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gpu_checks.inference.absolute import (
    SAME,
    MemoryObservations,
    absolute_coordinates,
    observe_warpgroup,
    same_k_wgmma,
    sources_of_coordinates,
)
from gpu_checks.inference.pair_relation import classes
from gpu_checks.inference.warpgroup import PREMISE
from gpu_checks.record import Bench, record
from isa_tables.signature import mnemonics, signature
from tests.gpu_checks.kernels.test_digit_coded import wide_machine
from tests.gpu_checks.simulated import Simulated, random_maps, tile_maps

PLAIN = signature("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
SPARSE = signature("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
NARROW = signature("wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16")


def make_machine(turn=lambda labels: labels):
    """A machine with PLAIN and NARROW whose warps hold 16 rows each, as PLAIN does after `turn`."""
    _, machine = wide_machine(NARROW.mnemonic)
    maps = tile_maps(PLAIN)
    for name in "ACD":
        machine.maps[NARROW.mnemonic][name] = np.concatenate([turn(maps[name].copy())] * 4)
        machine.maps[NARROW.mnemonic][name][..., 0] += np.arange(128)[:, None] // 32 * 16
    machine.maps[PLAIN.mnemonic] = maps
    return machine


@pytest.fixture(scope="module")
def seen():
    """What shared memory shows of NARROW."""
    return observe_warpgroup(make_machine(), NARROW)


def test_shared_memory_labels_a_and_d_of_a_warpgroup(seen):
    maps = make_machine().maps[NARROW.mnemonic]
    assert sorted(seen) == ["A", "B", "D"]
    for name in "AD":
        assert seen[name].shape == (128, maps[name].shape[1], 2)
        assert (seen[name] == maps[name][..., :2]).all()


def test_a_warp_wide_instruction_gets_the_labels_of_the_first_warp():
    machine = make_machine()
    recording = record(Bench(machine), PLAIN, trials=2, seed=0)
    assert recording.exceptions == () and recording.sound
    assert [(a.name, a.operand) for a in recording.coordinates] == [
        *(("ldmatrix", "A"), ("ldmatrix", "B"), ("stmatrix", "D")),
        *(("wgmma", "A"), ("wgmma", "D")),
    ]
    for coordinates in recording.coordinates[3:]:
        assert coordinates.premise == f"{SAME}; {PREMISE}"
        assert coordinates.labels.tolist() == machine.maps[PLAIN.mnemonic][coordinates.operand][..., :2].tolist()


def operands_of(maps):
    return classes(PLAIN, Simulated({PLAIN.mnemonic: maps}).table(PLAIN)).operands


def found_with(operands, warpgroup, of=PLAIN, moves=()):
    coordinates, notes = absolute_coordinates(of, operands, MemoryObservations(dict(moves), warpgroup))
    return [(a.name, a.operand) for a in coordinates], notes


def test_without_moves_only_the_warpgroup_gives_coordinates_and_without_both_nothing_does(seen):
    operands = operands_of(tile_maps(PLAIN))
    assert found_with(operands, seen) == ([("wgmma", "A"), ("wgmma", "D")], ())
    for nothing in (None, {}, {"B": seen["B"]}):
        assert found_with(operands, nothing) == ([], ())
    assert found_with(operands, {"D": seen["D"]}) == ([("wgmma", "D")], ())


def test_elements_that_are_distributed_otherwise_have_no_coordinates(seen):
    assert found_with(operands_of(random_maps(PLAIN, np.random.default_rng(0))), seen) == ([], ())
    for axis in (0, 1):  # one element in another row, or in another column: no bijection on that axis
        odd = seen["A"].copy()
        odd[5, 3, axis] ^= 1
        assert found_with(operands_of(tile_maps(PLAIN)), {**seen, "A": odd}) == ([("wgmma", "D")], ())


def test_operands_of_another_shape_have_no_coordinates(seen):
    operands = operands_of(tile_maps(PLAIN))
    wider = operands | {"D": np.concatenate([operands["D"], operands["D"] + 8], axis=1)}
    assert found_with(wider, seen) == ([("wgmma", "A")], ())
    fewer = operands | {"A": operands["A"][:, :4]}
    assert found_with(fewer, seen) == ([("wgmma", "D")], ())
    assert found_with(operands, {name: labels[:16] for name, labels in seen.items()}) == ([], ())


def swap_labels(labels):
    labels[..., 0] ^= 8  # rows 0-7 and 8-15
    return labels


def test_a_warpgroup_that_numbers_rows_otherwise_than_ldmatrix_contradicts_it():
    machine = make_machine(swap_labels)
    recording = record(Bench(machine), PLAIN, trials=2, seed=0)
    assert recording.exceptions == (
        "ldmatrix on A and wgmma on A number m differently",
        "ldmatrix on A and wgmma on D number m differently",
    )
    assert not recording.sound


def test_a_warpgroup_that_numbers_k_otherwise_contradicts_ldmatrix_but_not_where_a_stores_places(seen):
    """The stored columns of a sparse A are places, not k."""
    operands = operands_of(tile_maps(PLAIN))
    places = Bench(make_machine()).memory_observations(PLAIN).moves
    turned = {**seen, "A": np.stack([seen["A"][..., 0], seen["A"][..., 1] ^ 1], axis=-1)}
    names = [("ldmatrix", "A"), ("ldmatrix", "B"), ("stmatrix", "D"), ("wgmma", "A"), ("wgmma", "D")]
    expected = ("ldmatrix on A and wgmma on A number k differently",)
    assert found_with(operands, turned, moves=places) == (names, expected)
    assert found_with(operands, seen, moves=places) == (names, ())
    stored = replace(PLAIN, sparsity=SPARSE.sparsity)
    assert found_with(operands, turned, of=stored, moves=places) == (names, ())


def test_without_the_wgmma_the_moves_give_the_coordinates():
    machine = make_machine()
    del machine.maps[NARROW.mnemonic]
    assert observe_warpgroup(machine, NARROW) == {}
    recording = record(Bench(machine), PLAIN, trials=2, seed=0)
    assert recording.sound and {a.name for a in recording.coordinates} == {"ldmatrix", "stmatrix"}


KIN = {
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": "m64n8k16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32": None,  # k is 8, wgmma's 16
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": "m64n8k8.f32.tf32.tf32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32": "m64n8k32.f16.e4m3.e4m3",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc": "m64n8k256.s32.b1.b1.and.popc",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32": None,
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64": None,
    SPARSE.mnemonic: "m64n8k16.f16.f16.f16",  # 16 columns are stored
    "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16": None,  # has its own coordinates
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16": None,
    "movmatrix.sync.aligned.m8n8.trans.b16": None,
    "dp4a.s32.s32": None,
}


@pytest.mark.parametrize("name", KIN)
def test_the_wgmma_of_the_same_k_is_as_wide_and_has_eight_columns(name):
    narrow = same_k_wgmma(signature(name))
    assert (narrow.mnemonic if narrow else None) == (KIN[name] and f"wgmma.mma_async.sync.aligned.{KIN[name]}")


def test_the_sources_of_coordinates_are_two_moves_and_five_narrow_wgmma():
    moves = {f"{name}.sync.aligned.m8n8.x4.shared.b16" for name in ("ldmatrix", "stmatrix")}
    assert sources_of_coordinates([]) == moves
    assert sources_of_coordinates([PLAIN]) == {*moves, NARROW.mnemonic}
    narrow = {f"wgmma.mma_async.sync.aligned.{name}" for name in KIN.values() if name}
    assert sources_of_coordinates(map(signature, mnemonics("*"))) == moves | narrow
