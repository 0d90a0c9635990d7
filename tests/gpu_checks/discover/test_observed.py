# SPDX-License-Identifier: Apache-2.0
"""Maps of recordings: those of the ISA where addresses number their classes, else up to a relabelling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpu_checks
import isa_tables
from gpu_checks.discover.observed import APPEARANCE, STORED, of_move, of_recording

TILED = [
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16",
]


def isa_table(mnemonic: str, operand: str) -> list[list[list[int]]]:
    select = {"A_space": "reg"} if mnemonic.startswith("wgmma") and operand == "A" else {}
    tables = isa_tables.instruction(mnemonic, **select).operands[operand]
    return [[list(tables.locate(lane, value)) for value in range(tables.values)] for lane in range(tables.lanes)]


@pytest.mark.parametrize("mnemonic", TILED)
def test_maps_with_addresses_are_those_of_the_isa(mnemonic: str) -> None:
    (seen,) = gpu_checks.recordings()[mnemonic]
    tiled = [operand_map for operand_map in of_recording(seen) if operand_map.inputs == ("lane", "value")]
    assert (
        [operand_map.operand for operand_map in tiled] == ["A", "D"]
        if mnemonic.startswith("wgmma")
        else ["A", "B", "D"]
    )
    assert [operand_map.table.tolist() for operand_map in tiled] == [
        isa_table(mnemonic, operand_map.operand) for operand_map in tiled
    ]
    assert not any(APPEARANCE in operand_map.numbered.values() for operand_map in tiled)


def test_without_addresses_rows_and_columns_are_those_of_the_isa_up_to_their_names() -> None:
    mnemonic = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"
    (seen,) = gpu_checks.recordings()[mnemonic]
    for operand_map in of_recording(seen):
        wanted = np.array(isa_table(mnemonic, operand_map.operand))
        assert set(operand_map.numbered.values()) == {APPEARANCE}
        for place in (0, 1):
            pairs = set(
                zip(operand_map.table[..., place].ravel().tolist(), wanted[..., place].ravel().tolist(), strict=True)
            )
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_all_operands_number_an_axis_alike() -> None:
    """stmatrix gives the rows of D alone: its columns have the numbers that ldmatrix gives those of B."""
    (seen,) = gpu_checks.recordings()["mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32"]
    a, b, d = of_recording(seen)
    assert a.axes == ("m", STORED) and d.numbered["n"] == b.numbered["n"] != APPEARANCE
    assert d.layout()[0] == "((4,8),(2,2)):((32,1),(16,8))"


def test_coordinates_that_name_no_class_number_nothing() -> None:
    (seen,) = gpu_checks.recordings()[TILED[0]]
    spoiled = tuple(
        gpu_checks.ElementCoordinates(
            coordinates.name, coordinates.operand, coordinates.premise, np.zeros_like(coordinates.labels)
        )
        for coordinates in seen.coordinates
    )
    for operand_map in of_recording(replace(seen, coordinates=spoiled)):
        assert set(operand_map.numbered.values()) == {APPEARANCE}


@pytest.mark.parametrize("form", ["x1.shared", "x2.trans.shared", "x4.trans.shared"])
@pytest.mark.parametrize("move", ["ldmatrix", "stmatrix"])
def test_a_move_is_that_of_the_isa(move: str, form: str) -> None:
    mnemonic = f"{move}.sync.aligned.m8n8.{form}.b16"
    (seen,) = gpu_checks.recordings().moves[mnemonic]
    assert of_move(seen, "R", 16).table.tolist() == isa_table(mnemonic, "R")
    torn = np.array(seen.places)
    torn[0, 0, 1] += 4
    with pytest.raises(ValueError, match="the bytes of an element of 16 bits come from several places"):
        of_move(replace(seen, places=torn), "R", 16)
