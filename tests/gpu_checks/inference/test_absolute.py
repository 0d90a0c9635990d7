# SPDX-License-Identifier: Apache-2.0
"""Absolute coordinates from matrix moves, on simulated instructions and moves."""

from __future__ import annotations

import numpy as np
import pytest

from gpu_checks.inference.absolute import PREMISE, MemoryObservations, absolute_coordinates, observe_move
from gpu_checks.inference.pair_relation import classes
from isa_tables.signature import signature
from tests.gpu_checks.simulated import Simulated, random_maps, tile_maps

TILED = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16",
    "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32",
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc",
]
PLAIN = TILED[0]


def found_for(name, maps=None, machine=Simulated):
    s = signature(name)
    maps = maps or tile_maps(s)
    simulated = machine({s.mnemonic: maps})
    places = {move: observe_move(simulated, move) for move in ("ldmatrix", "stmatrix")}
    return maps, absolute_coordinates(s, classes(s, simulated.table(s)).operands, MemoryObservations(places))


def test_a_move_is_seen_byte_by_byte():
    # lane 4r + t holds bytes 4t..4t+3 of the row whose address lane 8q + r gave, in register q
    want = [[[[8 * q + lane // 4, 4 * (lane % 4) + byte] for byte in range(4)] for q in range(4)] for lane in range(32)]
    for move in ("ldmatrix", "stmatrix"):
        assert observe_move(Simulated({}), move).tolist() == want


@pytest.mark.parametrize("name", TILED)
def test_coordinates_are_those_of_the_maps_where_registers_are_tiles(name):
    maps, (coordinates, disagreements) = found_for(name)
    assert disagreements == ()
    assert [(a.name, a.operand) for a in coordinates] == [("ldmatrix", "A"), ("ldmatrix", "B"), ("stmatrix", "D")]
    for source in coordinates:
        assert source.premise == PREMISE
        want = maps[source.operand][..., :2].copy()
        if source.operand == "D" and signature(name).operands["D"].bits == 32:
            want[..., 1] = -1  # stmatrix moves pairs of 16-bit elements
        assert (source.labels == want).all()


@pytest.mark.parametrize("name", TILED[:3])
def test_a_random_distribution_has_no_absolute_coordinates(name):
    maps = random_maps(signature(name), np.random.default_rng(0))
    assert found_for(name, maps)[1] == ((), ())


@pytest.mark.parametrize(
    "name",
    [
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
        "dp4a.s32.s32",
    ],
)
def test_doubles_quadrants_and_single_lanes_have_no_absolute_coordinates(name):
    maps = random_maps(signature(name), np.random.default_rng(0))
    assert found_for(name, maps)[1] == ((), ())


def test_operands_that_number_one_axis_differently_contradict_each_other():
    maps = tile_maps(signature(PLAIN))
    maps["B"][..., 0] ^= 1  # B takes the k of the neighbouring element
    _, (coordinates, disagreements) = found_for(PLAIN, maps)
    assert [a.operand for a in coordinates] == ["A", "B", "D"]
    assert disagreements == ("ldmatrix on A and ldmatrix on B number k differently",)


def test_a_common_renaming_of_tiles_is_not_seen():
    # Rows 0-7 and 8-15 swapped in A and D alike: names, which no instruction can show.
    maps = tile_maps(signature(PLAIN))
    for operand in "ACD":
        maps[operand][..., 0] ^= 8
    _, (coordinates, disagreements) = found_for(PLAIN, maps)
    assert disagreements == () and len(coordinates) == 3
    assert (coordinates[0].labels == tile_maps(signature(PLAIN))["A"][..., :2]).all()


class Loses(Simulated):
    def move(self, signature, memory, rows, given):
        moved = super().move(signature, memory, rows, given)
        moved[1][:, 3, 1] = 0xFFFFFFFF
        moved[0][:, rows[:, 3]] = 0xFFFFFFFF
        return moved


class Repeats(Simulated):
    def move(self, signature, memory, rows, given):
        if signature.mnemonic.startswith("stmatrix"):
            given = given.copy()
            given[:, 3, 1] = given[:, 4, 1]
        image, taken = super().move(signature, memory, rows, given)
        taken[:, 3, 1] = taken[:, 4, 1]
        return image, taken


class Elsewhere(Simulated):
    """Register q comes from the rows of matrix 3 - q."""

    def move(self, signature, memory, rows, given):
        image, taken = super().move(signature, memory, rows, given[..., ::-1].copy())
        return image, taken[..., ::-1].copy()


def test_a_move_that_the_gpu_lacks_gives_its_operands_no_coordinates():
    s = signature(PLAIN)
    simulated = Simulated({s.mnemonic: tile_maps(s)}, moves=("ldmatrix",))
    assert observe_move(simulated, "stmatrix") is None
    places = {"ldmatrix": observe_move(simulated, "ldmatrix"), "stmatrix": None}
    coordinates, disagreements = absolute_coordinates(
        s, classes(s, simulated.table(s)).operands, MemoryObservations(places)
    )
    assert [a.operand for a in coordinates] == ["A", "B"] and disagreements == ()


@pytest.mark.parametrize("machine", [Loses, Repeats])
def test_a_move_that_loses_or_repeats_a_byte_gives_no_coordinates(machine):
    assert observe_move(machine({}), "ldmatrix") is None
    assert observe_move(machine({}), "stmatrix") is None


def test_a_move_whose_registers_are_other_matrices_gives_no_coordinates():
    assert found_for(PLAIN, machine=Elsewhere)[1] == ((), ())
