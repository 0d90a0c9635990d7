# SPDX-License-Identifier: Apache-2.0
"""The mnemonics of the other tables: targets, registers, families and selections."""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest

from isa_tables import IsaError, NotInIsa, instruction, mnemonics
from isa_tables.signature import DENSE, signature
from tests.isa_tables.planting import forget
from tests.isa_tables.test_catalogue import isa_mnemonics
from tests.isa_tables.test_fragments import Term

F8 = "{e4m3,e5m2,e3m2,e2m3,e2m1}"
FP8 = "{e4m3,e5m2}"
I8, I4 = "{u8,s8}", "{u4,s4}"
N32 = "{" + ",".join(str(8 * n) for n in range(1, 33)) + "}"
N18 = "{8,16,24,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256}"
SS = "{,.shared,.shared::cta}"
NEW = "sm_100a,sm_100f,sm_103a,sm_110a,sm_110f,sm_120a,sm_120f,sm_121a"
TC = "sm_100a,sm_100f,sm_103a,sm_110a,sm_110f"
FAMILY = "sm_120a,sm_120f"
ONLY = "sm_100a,sm_103a,sm_110a"
RED = "sm_103a,sm_103f,sm_110a,sm_110f"


def sparse(tail: str, target: str, plain: str = "7.1") -> str:
    return "\n".join(
        f"mma.{sp}.sync.aligned.{tail} {target} {ptx}" for sp, ptx in (("sp", plain), ("sp::ordered_metadata", "8.5"))
    )


ORDERED = "mma.sp::ordered_metadata.sync.aligned"
# 9.7.14.6.3, 9.7.14.3, 9.7.15.2, 9.7.15.6, 9.7.14.5.15 to 17, 9.7.16: mnemonic, target, first PTX version
ISA = f"""
{sparse("{m16n8k16,m16n8k32}.row.col.{f16.f16.f16.f16,f32.f16.f16.f32,f32.bf16.bf16.f32}", "sm_80+")}
{sparse("{m16n8k8,m16n8k16}.row.col.f32.tf32.tf32.f32", "sm_80+")}
{sparse("{m16n8k32,m16n8k64}.row.col{,.satfinite}.s32." + I8 + "." + I8 + ".s32", "sm_80+")}
{sparse("{m16n8k64,m16n8k128}.row.col{,.satfinite}.s32." + I4 + "." + I4 + ".s32", "sm_80+")}
{sparse("m16n8k64.row.col.f32." + FP8 + "." + FP8 + ".f32", "sm_89+", "8.4")}
{ORDERED}.m16n8k64.row.col.f16.{FP8}.{FP8}.f16 sm_120a,sm_120f 8.7
{ORDERED}.m16n8k64.row.col.kind::f8f6f4.f32.{F8}.{F8}.f32 sm_120a,sm_120f 8.7
{ORDERED}.m16n8k64.row.col.kind::f8f6f4.f16.{F8}.{F8}.f16 sm_120a,sm_120f 8.7
mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale{{,.scale_vec::1X}}.f32.{F8}.{F8}.f32.ue8m0 {FAMILY} 8.7
{ORDERED}.m16n8k64.row.col.kind::mxf8f6f4.block_scale{{,.scale_vec::1X}}.f32.{F8}.{F8}.f32.ue8m0 {FAMILY} 8.7
mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale{{,.scale_vec::2X}}.f32.e2m1.e2m1.f32.ue8m0 {FAMILY} 8.7
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 {FAMILY} 8.7
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {FAMILY} 8.7
mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 {FAMILY} 9.1
{ORDERED}.m16n8k128.row.col.kind::mxf4.block_scale{{,.scale_vec::2X}}.f32.e2m1.e2m1.f32.ue8m0 sm_120a,sm_121a 8.7
{ORDERED}.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 sm_120a,sm_121a 8.7
{ORDERED}.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 sm_120a,sm_121a 8.7
{ORDERED}.m16n8k128.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 sm_120a,sm_121a 9.1
wgmma.mma_async.sync.aligned.m64n{N32}k16.{{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}} sm_90a 8.0
wgmma.mma_async.sync.aligned.m64n{N32}k8.f32.tf32.tf32 sm_90a 8.0
wgmma.mma_async.sync.aligned.m64n{N32}k32.{{f16,f32}}.{FP8}.{FP8} sm_90a 8.0
wgmma.mma_async.sync.aligned.m64n{N18}k32.s32.{I8}.{I8}{{,.satfinite}} sm_90a 8.0
wgmma.mma_async.sync.aligned.m64n{N18}k256.s32.b1.b1.and.popc sm_90a 8.0
wgmma.mma_async.sp.sync.aligned.m64n{N32}k32.{{f32.f16.f16,f16.f16.f16,f32.bf16.bf16}} sm_90a 8.0
wgmma.mma_async.sp.sync.aligned.m64n{N32}k16.f32.tf32.tf32 sm_90a 8.0
wgmma.mma_async.sp.sync.aligned.m64n{N32}k64.{{f16,f32}}.{FP8}.{FP8} sm_90a 8.0
wgmma.mma_async.sp.sync.aligned.m64n{N18}k64.s32.{I8}.{I8}{{,.satfinite}} sm_90a 8.0
ldmatrix.sync.aligned.m8n8.x{{1,2,4}}{{,.trans}}{SS}.b16 sm_75+ 6.5
stmatrix.sync.aligned.m8n8.x{{1,2,4}}{{,.trans}}{SS}.b16 sm_90+ 7.8
ldmatrix.sync.aligned.m16n16.x{{1,2}}.trans{SS}.{{b8,b8x16.b6x16_p32,b8x16.b4x16_p64}} {NEW} 8.6
ldmatrix.sync.aligned.m8n16.x{{1,2,4}}{SS}.{{b8x16.b6x16_p32,b8x16.b4x16_p64}} {NEW} 8.6
stmatrix.sync.aligned.m16n8.x{{1,2,4}}.trans{SS}.b8 {NEW} 8.6
movmatrix.sync.aligned.m8n8.trans.b16 sm_75+ 7.8
tcgen05.ld.sync.aligned.{{32x32b,16x64b,16x32bx2}}.x{{1,2,4,8,16,32,64,128}}{{,.pack::16b}}.b32 {TC} 8.6
tcgen05.ld.sync.aligned.16x128b.x{{1,2,4,8,16,32,64}}{{,.pack::16b}}.b32 {TC} 8.6
tcgen05.ld.sync.aligned.16x256b.x{{1,2,4,8,16,32}}{{,.pack::16b}}.b32 {TC} 8.6
tcgen05.st.sync.aligned.{{32x32b,16x64b,16x32bx2}}.x{{1,2,4,8,16,32,64,128}}{{,.unpack::16b}}.b32 {TC} 8.6
tcgen05.st.sync.aligned.16x128b.x{{1,2,4,8,16,32,64}}{{,.unpack::16b}}.b32 {TC} 8.6
tcgen05.st.sync.aligned.16x256b.x{{1,2,4,8,16,32}}{{,.unpack::16b}}.b32 {TC} 8.6
tcgen05.mma{{,.ws}}{{,.sp}}.cta_group::1.kind::{{f16,tf32,f8f6f4}} {TC} 8.6
tcgen05.mma{{,.sp}}.cta_group::2.kind::{{f16,tf32,f8f6f4}} {TC} 8.6
tcgen05.mma{{,.ws}}{{,.sp}}.cta_group::1.kind::i8 sm_100a,sm_110a 8.6
tcgen05.mma{{,.sp}}.cta_group::2.kind::i8 sm_100a,sm_110a 8.6
tcgen05.mma{{,.sp}}.cta_group::{{1,2}}.kind::mxf8f6f4.block_scale{{,.block32}} {TC} 8.8
tcgen05.mma.cta_group::{{1,2}}.kind::mxf4.block_scale{{,.block32}} {TC} 8.8
tcgen05.mma.sp.cta_group::{{1,2}}.kind::mxf4.block_scale{{,.block32}} {ONLY} 8.8
tcgen05.mma{{,.sp}}.cta_group::{{1,2}}.kind::mxf8f6f4.block_scale.scale_vec::1X {ONLY} 8.6
tcgen05.mma{{,.sp}}.cta_group::{{1,2}}.kind::mxf4.block_scale.scale_vec::2X {ONLY} 8.6
tcgen05.mma.cta_group::{{1,2}}.kind::mxf4nvf4.block_scale.{{block32,block16}} {TC} 8.8
tcgen05.mma.sp.cta_group::{{1,2}}.kind::mxf4nvf4.block_scale.{{block32,block16}} {ONLY} 8.8
tcgen05.mma{{,.sp}}.cta_group::{{1,2}}.kind::mxf4nvf4.block_scale.scale_vec::{{2X,4X}} {ONLY} 8.7
tcgen05.cp.cta_group::{{1,2}}.{{128x256b,128x128b,4x256b}}{{,.b8x16.b6x16_p32,.b8x16.b4x16_p64}} {TC} 8.6
tcgen05.cp.cta_group::{{1,2}}.32x128b.warpx4{{,.b8x16.b6x16_p32,.b8x16.b4x16_p64}} {TC} 8.6
tcgen05.cp.cta_group::{{1,2}}.64x128b.warpx2::{{02_13,01_23}}{{,.b8x16.b6x16_p32,.b8x16.b4x16_p64}} {TC} 8.6
tcgen05.ld.red.sync.aligned.{{32x32b,16x32bx2}}.x{{2,4,8,16,32,64,128}}.{{min,max}}{{,.abs}}{{,.NaN}}.f32 {RED} 8.8
tcgen05.ld.red.sync.aligned.{{32x32b,16x32bx2}}.x{{2,4,8,16,32,64,128}}.{{min,max}}.{{u32,s32}} {RED} 8.8
cp.async.{{ca,cg}}.shared{{,::cta}}.global{{,.L2::64B,.L2::128B,.L2::256B}} sm_80+ 7.0
{{ld,st}}.global{{,.v2,.v4}}.{{b32,u32,s32,f32}} sm_75+ 2.0
{{ld,st}}.global{{,.L1::no_allocate}}.v8.{{b32,u32,s32,f32}} sm_100+ 8.8
"""
CATALOGUE = isa_mnemonics(ISA)
D16 = "wgmma.mma_async.sync.aligned.m64n{}k16.{}"


def test_the_tables_have_the_mnemonics_of_the_isa_and_no_other() -> None:
    listed = {name for name in mnemonics("*") if not name.startswith("wmma")} - set(mnemonics())
    assert listed == set(CATALOGUE)
    assert {name.split(".")[0] for name in mnemonics()} == {name.split(".")[0] for name in DENSE}


def test_targets_and_versions_are_those_of_the_isa_notes() -> None:
    for name, notes in CATALOGUE.items():
        s = signature(name)
        assert (s.targets, s.ptx, s.mnemonic) == (*notes, name)


def test_families_list_their_members() -> None:
    """Integers and b1 come in 18 sizes of N, the others in 32 (9.7.15.2)."""
    sizes: dict[str, set[int]] = {}
    for name in mnemonics("wgmma*"):
        _, n, rest = re.split(r"m64n(\d+)", name)
        sizes.setdefault(rest, set()).add(int(n))
    assert {rest: len(numbers) for rest, numbers in sizes.items()} == {
        rest: 18 if ".s32." in rest else 32 for rest in sizes
    }


@pytest.mark.long
@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        (D16.format(12, "f32.f16.f16"), ["m64n16k16.f32.f16.f16", "m64n8k16.f32.f16.f16"]),
        (D16.format(264, "f32.f16.f16"), ["m64n256k16.f32.f16.f16"]),
        (D16.format("1" * 5000, "f32.f16.f16"), ["m64n256k16.f32.f16.f16"]),
        (D16.format(0, "f32.f16.f16"), ["m64n8k16.f32.f16.f16"]),
        ("wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8", ["m64n32k32.s32.s8.s8", "m64n48k32.s32.s8.s8"]),
        ("wgmma.mma_async.sync.aligned.m64n16k64.s32.s8.s8", ["m64n16k32.s32.s8.s8"]),
        (D16.format(16, "f16.bf16.bf16"), ["m64n16k16"]),
        ("ldmatrix.sync.aligned.m8n8.x3.b16", ["ldmatrix.sync.aligned.m8n8.x1.b16"]),
        ("stmatrix.sync.aligned.m16n8.x4.shared.b8", ["m16n8.x4.trans.shared.b8"]),
        ("mma.sp.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32", ["m16n8k64.row.col.f32.e4m3.e4m3.f32"]),
        ("tcgen05.ld.sync.aligned.16x256b.x64.b32", ["16x256b.x4.b32"]),
        ("tcgen05.ld.red.sync.aligned.32x32b.x1.max.f32", ["32x32b.x", ".max.f32"]),
        ("tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.u32", ["32x32b.x2.max.abs.f32"]),
        ("tcgen05.cp.cta_group::1.64x128b", ["cta_group::1.128x128b"]),
        ("tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale", ["kind::mxf4nvf4.block_scale.block"]),
    ],
)
def test_a_parameter_out_of_range_names_the_nearest(wanted: str, near: list[str]) -> None:
    with pytest.raises(NotInIsa) as error:
        instruction(wanted)
    nearest = str(error.value).split("nearest: ")[1]
    assert [name for name in near if name not in nearest] == []


def test_a_selector_chooses_the_lanes_that_give_metadata_and_another_is_rejected() -> None:
    name = "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    s = signature(name)
    assert (s.select, s.chosen) == ({"F": (0, 1, 2, 3)}, {"F": 0})
    assert signature(name, F=3).asm == "{D}, {A}, {B}, {C}, {E}, 3"
    assert [instruction(name, F=f).operands["E"].holds(numpy.arange(4)).tolist().index(True) for f in range(4)] == [
        0, 1, 2, 3,
    ]  # fmt: skip
    for bad, words in (
        ({"F": 4}, "F = 4; nearest: F of 3; its text chooses F of 0, 1, 2, 3"),
        ({"G": 0}, "G = 0"),
        ({"F": "1"}, "F = '1'; nearest: F of 0, 1, 2, 3; its text chooses"),
    ):
        with pytest.raises(NotInIsa, match=re.escape(words)):
            instruction(name, **bad)
    with pytest.raises(NotInIsa, match="its text chooses nothing"):
        signature("dp4a.s32.s32", F=0)
    ss, rs = (signature(D16.format(8, "f32.f16.f16"), A_space=space) for space in ("smem", "reg"))
    assert signature(D16.format(8, "f32.f16.f16")) == ss
    assert (ss.operands["A"].space, ss.operands["A"].reg_type, ss.operands["A"].copies) == ("smem", "b64", 128)
    assert (rs.operands["A"].space, rs.operands["A"].regs, rs.operands["A"].values) == ("reg", 4, 8)
    assert (ss.asm, rs.asm) == ("{D}, {A}, {B}, p, 1, 1, 0, 0", "{D}, {A}, {B}, p, 1, 1, 0")


def test_scale_vectors_choose_bytes() -> None:
    name = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    s = signature(name, byte_id_a=3, thread_id_a=1, thread_id_b=2)
    assert (s.operands["SFA"].shift, s.operands["SFB"].shift) == (24, 0)
    assert s.asm.endswith("{SFA}, {3, 1}, {SFB}, {0, 2}")
    assert (s.operands["SFA"].copies, s.operands["SFB"].copies) == (2, 4)


def test_every_field_of_metadata_keeps_half_of_its_columns_in_order() -> None:
    """Every field keeps half of its columns, in order; two-bit positions, the first in the low bits."""
    two = signature("mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32").sparsity
    assert two is not None and two.columns == 4
    assert two.kept == {low | high << 2: (low, high) for high in range(4) for low in range(high)}
    pairs = signature("mma.sp.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32").sparsity
    assert pairs is not None and pairs.columns == 8
    assert pairs.kept == {f: tuple(2 * c + j for c in kept for j in (0, 1)) for f, kept in two.kept.items()}
    single = signature("mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32").sparsity
    assert single is not None and (single.columns, single.kept) == (2, {4: (0,), 14: (1,)})
    assert signature("dp4a.s32.s32").sparsity is None and hash(two) != hash(pairs)
    for name in mnemonics("*"):
        assert (signature(name).sparsity is None) == (".sp" not in name or "tcgen05" in name)


def test_the_map_of_d_is_one_function_for_the_whole_family() -> None:
    """No formula of D or A uses N; only counts depend on N, by formulas."""
    texts: set[Any] = set()
    for n in range(8, 257, 8):
        mma = instruction(D16.format(n, "f32.f16.f16"), A_space="reg")
        d = mma.operands["D"]
        assert d.uses == mma.operands["A"].uses == frozenset()
        assert (d.count("values"), d.count("cols"), d.count("rows")) == (n // 2, n, 64) == (d.values, *d.extent[::-1])
        assert d.count("regs", N=Term("n")).text == "(n // 2)"
        texts.add(tuple(map(str, d.locate(Term("thread"), Term("i")))))
    assert len(texts) == 1
    assert instruction("tcgen05.mma.ws.cta_group::1.kind::f16", M=64).operands["D"].uses == {"N"}


def test_tiles_of_ldmatrix_are_fragments_of_mma() -> None:
    """Four tiles of a row-major 16x16 give A of m16n8k16, two of a row-major 16x8, transposed, its B."""
    mma = instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    four = instruction("ldmatrix.sync.aligned.m8n8.x4.shared.b16").operands["R"]
    two = instruction("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16").operands["R"]
    tiles = [(0, 0), (8, 0), (0, 8), (8, 8)]
    for lane in range(32):
        for i in range(8):
            address, element = four.locate(lane, i)
            row, col = tiles[address // 8]
            assert (row + address % 8, col + element) == mma.operands["A"].locate(lane, i)
        for i in range(4):
            assert two.locate(lane, i) == mma.operands["B"].locate(lane, i)


def test_addresses_come_from_the_first_lanes() -> None:
    for name, count in (("m8n8.x1.b16", 8), ("m8n8.x4.b16", 32), ("m16n16.x1.trans.b8", 16)):
        p = instruction(f"ldmatrix.sync.aligned.{name}").operands["P"]
        assert [lane for lane in range(32) if p.holds(lane)] == list(range(count))
    packed = instruction("ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32").operands
    assert (packed["P"].bits, packed["R"].bits, packed["P"].values, packed["P"].extent) == (6, 8, 16, (8, 16))


def test_every_operand_has_its_provenance() -> None:
    kinds = set()
    for name in mnemonics("*"):
        if ".m64n" in name and ".m64n8k" not in name:
            continue
        for operand in instruction(name).operands.values():
            kind, _, source = operand.provenance.partition(": ")
            kinds.add(kind)
            assert (kind in ("derived", "observed")) == bool(source)
            assert operand.text()
    assert kinds == {"ISA text", "corrected", "derived", "observed"}


@pytest.mark.parametrize("wanted", [1, True, 1.0])
def test_a_selection_is_the_word_that_the_table_lists(wanted: Any) -> None:
    """Not an equal value that a caller gave: a cached answer does not depend on an earlier caller."""
    forget()
    name = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    chosen = signature(name, F=wanted).chosen["F"]
    assert (chosen, type(chosen)) == (1, int)
    assert [lane for lane in range(8) if instruction(name, F=wanted).operands["E"].holds(lane)] == [1, 5]


@pytest.mark.parametrize("wanted", [4, -1, "1", None, 1.5, [1], {}])
def test_a_selection_that_is_not_listed_is_rejected(wanted: Any) -> None:
    name = "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
    with pytest.raises(NotInIsa, match=r"no F = .*; its text chooses F of 0, 1, 2, 3$"):
        signature(name, F=wanted)


def test_the_condition_on_lanes_has_the_shape_of_the_lanes() -> None:
    e = instruction("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", F=1).operands["E"]
    assert e.holds(numpy.arange(8)).tolist() == [False, False, True, True] * 2
    assert (e.holds(2), instruction("dp4a.s32.s32").operands["A"].holds(0)) == (True, True)
    assert instruction("dp4a.s32.s32").operands["A"].holds(numpy.zeros((2, 3), int)).all()
    assert e.holds(Term("lane")).text == "(((lane % 4) // 2) == 1)"
    with pytest.raises(IsaError, match="%laneid = 32 is outside"):
        e.holds(32)
    with pytest.raises(IsaError, match="thread = 128 is outside"):
        instruction(D16.format(8, "f32.f16.f16")).operands["D"].locate(128, 0)
