# SPDX-License-Identifier: Apache-2.0
"""The M, N and K that an instruction has: the ISA's own lists, and the error for an extent outside them."""

from __future__ import annotations

import pytest

from isa_tables import NotInIsa, UnknownInstruction, instruction, mnemonics
from isa_tables.signature import signature
from tests.cases import each

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
DENSE = "tcgen05.mma.cta_group::1.kind::f16"

EIGHTS, SIXTEENS, THIRTYTWOS = range(8, 257, 8), range(16, 257, 16), range(32, 257, 32)
BYTES = [8, 16, 24, *range(32, 257, 16)]  # N of kind::i8 for one CTA
K = {"f16": 16, "tf32": 8, "f8f6f4": 32, "i8": 32, "mxf8f6f4": 32, "mxf4": 64, "mxf4nvf4": 64}


def table_39() -> dict[tuple[str, bool, int, bool], set[tuple[int, int, int]]]:
    """PTX ISA 9.7.16.2.1, table 39 row by row: (kind, .ws, CTAs, sparse) -> every (M, N, K)."""
    rows = {}
    for kind in ("f16", "tf32", "f8f6f4", "i8"):
        for sparse in (False, True):
            k = K[kind] * (1 + sparse)
            alone, paired = (BYTES, THIRTYTWOS) if kind == "i8" else (EIGHTS, SIXTEENS)
            rows[kind, False, 1, sparse] = {(m, n, k) for m in (64, 128) for n in alone}
            rows[kind, False, 2, sparse] = {(m, n, k) for m in (128, 256) for n in paired}
            rows[kind, True, 1, sparse] = {
                (m, n, k) for m in (32, 64, 128) for n in ((64, 128) if sparse else (64, 128, 256))
            }
    for kind in ("mxf8f6f4", "mxf4", "mxf4nvf4"):
        rows[kind, False, 1, False] = {(128, n, K[kind]) for n in EIGHTS}
        rows[kind, False, 1, True] = {(128, n, 2 * K[kind]) for n in EIGHTS}
        rows[kind, False, 2, False] = {(m, n, K[kind]) for m in (128, 256) for n in SIXTEENS}
        rows[kind, False, 2, True] = {(256, n, 2 * K[kind]) for n in SIXTEENS}
        if kind != "mxf8f6f4":  # K1
            rows[kind, False, 2, False] |= {(256, n, 96) for n in SIXTEENS}
    return rows


# K = 96 with M = 128, of one CTA and of two, is not in the table; CUTLASS issues both (the tables' errata say so).
BEYOND = {
    **{(kind, False, 1, False): {(128, n, 96) for n in EIGHTS} for kind in ("mxf4", "mxf4nvf4")},
    **{(kind, False, 2, False): {(128, n, 96) for n in SIXTEENS} for kind in ("mxf4", "mxf4nvf4")},
}


def every_extent(mnemonic: str) -> set[tuple[int, int, int]]:
    """Every (M, N, K) of 32 to 256, 8 to 256 and 8 to 128 that an instruction is found with."""
    extents = set()
    for m in (32, 64, 96, 128, 192, 256):
        for k in (8, 16, 32, 64, 96, 128):
            try:
                listed = signature(mnemonic, M=m, K=k).select["N"]
            except NotInIsa:
                continue
            extents |= {signature(mnemonic, M=m, N=n, K=k).shape for n in listed}
    return extents


@pytest.mark.long
@each("row", table_39(), ids=str)
def test_the_extents_of_tcgen05_are_those_of_the_isa(row: tuple[str, bool, int, bool]) -> None:
    kind, ws, group, sparse = row
    names = [
        name
        for name in mnemonics("tcgen05.mma*")
        if f"kind::{kind}" in name.split(".")
        and (ws, sparse) == (".ws." in name, ".sp." in name)
        and f"cta_group::{group}" in name
    ]
    assert names
    assert set().union(*map(every_extent, names)) == table_39()[row] | BEYOND.get(row, set())


OUTSIDE = [
    (DENSE, {"M": 96}, "no M = 96; nearest: M of 64, 128;"),
    (DENSE, {"M": 128, "N": 12}, "no M = 128, N = 12; nearest: N of 8, 16;"),
    (DENSE, {"M": 7, "N": 512}, "no M = 7, N = 512; nearest: M of 64, 128, N of 256;"),
    (DENSE, {"M": 128, "K": 32}, "no K = 32, M = 128; nearest: K of 16;"),
    (DENSE.replace("f16", "i8"), {"N": 40}, "N of 8, 16, 24, 32 to 256 by 16"),
    (DENSE, {"A_space": "reg"}, "no A_space = 'reg'; nearest: A_space of smem, tmem;"),
    (F16, {"M": 96}, "no M = 96; nearest: M of 16; its text chooses nothing"),
]


@pytest.mark.parametrize(("mnemonic", "wanted", "words"), OUTSIDE)
def test_an_extent_outside_a_complete_list_is_not_in_the_isa(mnemonic: str, wanted: dict[str, int], words: str) -> None:
    with pytest.raises(NotInIsa) as error:
        instruction(mnemonic, **wanted)
    assert words in str(error.value)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(
    ("tail", "blocks"),
    [
        ("mxf4.block_scale", {64: 2, 96: 3}),
        ("mxf4.block_scale.block32", {64: 2, 96: 3}),
        ("mxf4.block_scale.scale_vec::2X", {64: 2, 96: 2}),
        ("mxf4nvf4.block_scale.block32", {64: 2, 96: 3}),
        ("mxf4nvf4.block_scale.scale_vec::2X", {64: 2, 96: 2}),
        ("mxf4nvf4.block_scale.block16", {64: 4, 96: 6}),
        ("mxf4nvf4.block_scale.scale_vec::4X", {64: 4, 96: 4}),
        ("mxf8f6f4.block_scale.scale_vec::1X", {32: 1}),
    ],
)
def test_scale_factors_of_a_row_by_k(group: int, tail: str, blocks: dict[int, int]) -> None:
    """9.7.16.10.7.1: the columns of scale_A and the rows of scale_B, by K; .scale_vec has all values of K."""
    for k, count in blocks.items():
        s = signature(f"tcgen05.mma.cta_group::{group}.kind::{tail}", K=k)
        assert [s.operands[name].extent for name in ("SFA", "SFB")] == [
            (s.shape[0], count),
            (count, s.shape[1]),
        ]


def test_an_instruction_without_a_table_is_unknown_not_absent() -> None:
    with pytest.raises(UnknownInstruction):
        instruction("hmma.magic", M=96)


def test_extents_of_the_mnemonic_may_be_selected() -> None:
    assert instruction(F16, M=16, N=8, K=16).signature == instruction(F16).signature
    assert instruction(DENSE, M=64, N=24, K=16).signature.shape == (64, 24, 16)
    with pytest.raises(NotInIsa, match="no M = 8; its text chooses nothing"):
        instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16", M=8)
