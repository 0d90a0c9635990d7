# SPDX-License-Identifier: Apache-2.0
"""The instructions of the dense tables: registers, targets, and how a mnemonic is looked up."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from itertools import product

import pytest

from isa_tables import IsaError, NotInIsa, UnknownInstruction, families, instruction, mnemonics, runs_on
from isa_tables.signature import DENSE, Fragment, signature
from tests.cases import each

# The syntax of PTX ISA 9.7.14.5.14 with its notes, and of 9.7.1.23 and 24: mnemonic, target, first PTX version.
ISA = """
mma.sync.aligned.m8n8k4.{row,col}.{row,col}.{f16.f16.f16.f16,f32.f16.f16.f32,f32.f16.f16.f16}     sm_70+ 6.4
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64{,.rn,.rz,.rm,.rp}                                 sm_80+ 7.0
mma.sync.aligned.{m16n8k4,m16n8k8,m16n8k16}.row.col.f64.f64.f64.f64{,.rn,.rz,.rm,.rp}             sm_90+ 7.8
mma.sync.aligned.m16n8k8.row.col.{f16.f16.f16.f16,f32.f16.f16.f32}                                sm_75+ 6.5
mma.sync.aligned.m16n8k16.row.col.{f16.f16.f16.f16,f32.f16.f16.f32}                               sm_80+ 7.0
mma.sync.aligned.{m16n8k8,m16n8k16}.row.col.f32.bf16.bf16.f32                                     sm_80+ 7.0
mma.sync.aligned.{m16n8k4,m16n8k8}.row.col.f32.tf32.tf32.f32                                      sm_80+ 7.0
mma.sync.aligned.m8n8k16.row.col{,.satfinite}.s32.{u8,s8}.{u8,s8}.s32                             sm_75+ 6.5
mma.sync.aligned.{m16n8k16,m16n8k32}.row.col{,.satfinite}.s32.{u8,s8}.{u8,s8}.s32                 sm_80+ 7.0
mma.sync.aligned.m8n8k32.row.col{,.satfinite}.s32.{u4,s4}.{u4,s4}.s32                             sm_75+ 6.5
mma.sync.aligned.{m16n8k32,m16n8k64}.row.col{,.satfinite}.s32.{u4,s4}.{u4,s4}.s32                 sm_80+ 7.0
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc                                          sm_75+ 7.0
mma.sync.aligned.{m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.xor.popc                             sm_80+ 7.0
mma.sync.aligned.{m8n8k128,m16n8k128,m16n8k256}.row.col.s32.b1.b1.s32.and.popc                    sm_80+ 7.1
mma.sync.aligned.m16n8k32.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32                                 sm_89+ 8.4
mma.sync.aligned.m16n8k32.row.col.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16                                 sm_89+ 8.7
mma.sync.aligned.m16n8k16.row.col.f32.{e4m3,e5m2}.{e4m3,e5m2}.f32                                 sm_89+ 8.7
mma.sync.aligned.m16n8k16.row.col.f16.{e4m3,e5m2}.{e4m3,e5m2}.f16                                 sm_89+ 8.7
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{e4m3,e5m2,e3m2,e2m3,e2m1}.{e4m3,e5m2,e3m2,e2m3,e2m1}.f32 \
    sm_120a,sm_120f 8.7
mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.{e4m3,e5m2,e3m2,e2m3,e2m1}.{e4m3,e5m2,e3m2,e2m3,e2m1}.f16 \
    sm_120a,sm_120f 8.7
dp4a.{u32,s32}.{u32,s32}                                                                          sm_61+ 5.0
dp2a.{lo,hi}.{u32,s32}.{u32,s32}                                                                  sm_61+ 5.0
"""

# "A vector expression containing N registers": N for A, B, C per shape and multiplicand type, as each section
# says; C for 32-bit (or f64) accumulators, which take twice the registers of f16.
REGISTERS = {
    "m8n8k4 f16": (2, 2, 8), "m8n8k4 f64": (1, 1, 2), "m8n8k16 u8 s8": (1, 1, 2), "m8n8k32 u4 s4": (1, 1, 2),
    "m8n8k128 b1": (1, 1, 2), "m16n8k4 tf32 f64": (2, 1, 4), "m16n8k8 f16 bf16": (2, 1, 4),
    "m16n8k8 tf32 f64": (4, 2, 4), "m16n8k16 f16 bf16": (4, 2, 4), "m16n8k16 f64": (8, 4, 4),
    "m16n8k16 u8 s8 e4m3 e5m2": (2, 1, 4), "m16n8k32 u4 s4": (2, 1, 4),
    "m16n8k32 u8 s8 e4m3 e5m2 e3m2 e2m3 e2m1": (4, 2, 4), "m16n8k64 u4 s4": (4, 2, 4), "m16n8k128 b1": (2, 1, 4),
    "m16n8k256 b1": (4, 2, 4),
}  # fmt: skip
COUNTS = {(head, t): counts for key, counts in REGISTERS.items() for head, *ts in [key.split()] for t in ts}

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def isa_mnemonics(text: str = ISA) -> dict[str, tuple[tuple[str, ...], str]]:
    listed = {}
    for line in text.replace("\\\n", " ").strip().splitlines():
        pattern, targets, ptx = line.split()
        parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
        for words in product(*parts):
            listed["".join(words)] = (tuple(targets.split(",")), ptx)
    return listed


def test_the_tables_have_the_mnemonics_of_the_isa_and_no_other() -> None:
    assert set(mnemonics()) == set(isa_mnemonics())
    assert list(mnemonics()) == sorted(mnemonics())
    assert len(mnemonics()) == 172


def test_each_family_is_listed_by_itself() -> None:
    sizes = {name: len(mnemonics(name)) for name in ("mma.sync", "mma.sync.kind::f8f6f4", "dp4a", "dp2a", "wgmma")}
    assert DENSE == ("dp2a", "dp4a", "mma.sync", "mma.sync.kind::f8f6f4")
    assert {name for family in families() for name in mnemonics(family)} == set(mnemonics("*"))
    assert {name for family in DENSE for name in mnemonics(family)} == set(mnemonics())
    assert sizes == {"mma.sync": 110, "mma.sync.kind::f8f6f4": 50, "dp4a": 4, "dp2a": 8, "wgmma": 0}


@each("mnemonic", sorted(isa_mnemonics()))
def test_targets_and_versions_are_those_of_the_isa_notes(mnemonic: str) -> None:
    s = signature(mnemonic)
    assert (s.targets, s.ptx) == isa_mnemonics()[mnemonic]
    assert s.mnemonic == mnemonic


@each("mnemonic", [name for name in mnemonics() if name.startswith("mma")])
def test_registers_are_those_of_the_fragment_tables(mnemonic: str) -> None:
    operands = signature(mnemonic).operands
    shape = next(word for word in mnemonic.split(".") if re.fullmatch(r"m\d+n\d+k\d+", word))
    a, b, c = COUNTS[shape, operands["A"].type]
    assert list(operands) == ["D", "A", "B", "C"]
    assert (operands["A"].regs, operands["B"].regs) == (a, b)
    for name in "CD":
        half = operands[name].type == "f16"
        assert operands[name].regs == (c // 2 if half else c)
        assert operands[name].reg_type == ("b32" if half else operands[name].type)
    for name in "AB":
        assert operands[name].reg_type == ("f64" if operands[name].type == "f64" else "b32")


@each("mnemonic", mnemonics())
def test_elements_fill_their_registers_and_tiles(mnemonic: str) -> None:
    s = signature(mnemonic)
    for fragment in s.operands.values():
        rows, cols = fragment.extent
        assert s.lanes * fragment.values == rows * cols * fragment.copies
        used = fragment.per_register * fragment.bits
        room = 64 if fragment.type == "f64" else 32
        half = mnemonic.startswith("dp2a") and fragment is s.operands["B"]
        assert used == (room // 2 if half else room)
    assert {fragment.copies for fragment in s.operands.values()} == {s.products}


def test_formulas_number_57() -> None:
    """Three operands for each of 17 shapes and groups, and two variants of each for m8n8k4 .f16."""
    formulas = set()
    for name in mnemonics():
        mma = instruction(name)
        for operand in mma.operands.values():
            group = (operand.file, operand.name.replace("D", "C"), operand.row.text, operand.col.text)
            formulas |= {group} if name.startswith("mma") else set()
    assert len(formulas) == 57


def test_a_signature_has_the_operands_of_its_mnemonic() -> None:
    s = signature(F16)
    a = s.operands["A"]
    assert (s.family, s.shape, s.lanes, s.products) == ("mma.sync", (16, 8, 16), 32, 1)
    assert (a.type, a.bits, a.values, a.regs, a.per_register, a.reg_type) == ("f16", 16, 8, 4, 2, "b32")
    assert s.qualifiers == frozenset()


def test_a_fragment_is_one_copy_in_the_lowest_bits_of_registers_by_default() -> None:
    scalar = Fragment("f32", 32, 1, 1, "f32", (1, 1))
    assert scalar.per_register == 1
    assert (scalar.copies, scalar.shift, scalar.space, scalar.axes) == (1, 0, "reg", ("row", "col"))


def test_narrow_types_lie_in_containers_and_dp2a_reads_half_of_b() -> None:
    kind = signature("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32")
    assert [(kind.operands[x].bits, kind.operands[x].shift) for x in "AB"] == [(8, 2), (8, 0)]
    assert kind.qualifiers == {"kind::f8f6f4"}
    low, high = signature("dp2a.lo.s32.u32"), signature("dp2a.hi.s32.u32")
    assert [(s.operands["B"].shift, s.operands["B"].per_register) for s in (low, high)] == [(0, 2), (16, 2)]
    assert (low.operands["A"].type, low.operands["B"].type, low.operands["D"].type) == ("s16", "u8", "s32")
    assert signature("dp4a.u32.u32").operands["D"].type == "u32"


@pytest.mark.parametrize(
    ("wanted", "same"),
    [
        ("m16n8k32.row.col.s32.s8.u8.s32.satfinite", "m16n8k32.row.col.satfinite.s32.s8.u8.s32"),
        ("satfinite.m16n8k32.row.col.s32.s8.u8.s32", "m16n8k32.row.col.satfinite.s32.s8.u8.s32"),
        ("kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32", "m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32"),
        ("m16n8k8.row.col.rz.f64.f64.f64.f64", "m16n8k8.row.col.f64.f64.f64.f64.rz"),
    ],
)
def test_the_order_of_qualifiers_does_not_matter(wanted: str, same: str) -> None:
    s = instruction(f"mma.sync.aligned.{wanted}").signature
    assert s.mnemonic == f"mma.sync.aligned.{same}"
    assert s == signature(f"mma.sync.aligned.{same}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("mnemonic", "near"),
    [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", F16),
        ("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32", F16),
        ("mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", F16),
        ("mma.sync.m16n8k16.row.col.f32.f16.f16.f32", F16),
        ("mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", F16),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 ", F16),
        ("mma.sync.aligned..m16n8k16.row.col.f32.f16.f16.f32", F16),
        ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32", "m8n8k4"),
        ("mma.sync.aligned.m8n8k16.row.col.satfinite.satfinite.s32.s8.s8.s32", "m8n8k16"),
        ("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", "kind::f8f6f4"),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e3m2.e2m3.f32", "m16n8k32"),
        ("dp2a.s32.s32", "dp2a.hi.s32.s32"),
        ("dp2a.lo.hi.s32.s32", "dp2a.hi.s32.s32"),
        ("dp4a.s8.s8", "dp4a.s32.s32"),
        ("mma.sp.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("tcgen05.mma.ws.cta_group::1.kind::mxf9.block_scale.scale_vec::2X", "tcgen05.mma.cta_group::1.kind::mxf4"),
        ("stmatrix.aligned.m8n8.x4.shared.b16", "stmatrix.sync.aligned.m8n8.x4.shared.b16"),
        ("mma", "none is near"),
        ("mma.m16n8k16.f32.f16", F16),
    ],
)
def test_what_a_known_family_lacks_is_not_in_the_isa(mnemonic: str, near: str) -> None:
    for look_up in (instruction, signature):
        with pytest.raises(NotInIsa, match=re.escape(repr(mnemonic))) as error:
            look_up(mnemonic)
        assert near in str(error.value).split("nearest: ")[1]


@pytest.mark.parametrize(
    "mnemonic",
    [
        "mmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "tcgen05.shift.cta_group::1.down",
        "cp.async.bulk.global.shared::cta.bulk_group",
        "ld.shared.v4.f32",
        "",
        "." * 5000,
    ],
)
def test_a_family_outside_the_tables_is_unknown(mnemonic: str) -> None:
    with pytest.raises(UnknownInstruction, match=r"not in the tables|in the tables in part") as error:
        instruction(mnemonic)
    assert "nearest: " in str(error.value) and len(str(error.value)) < 1000


def test_the_nearest_of_an_unknown_family_is_of_the_family_most_like_it() -> None:
    with pytest.raises(UnknownInstruction, match=r"nearest: stmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16"):
        instruction("stmatrux.sync.aligned.m8n8.x4.shared.b16")


@pytest.mark.parametrize(
    ("mnemonic", "runs", "not_on"),
    [
        (F16, "sm_80 sm_86 sm_90 sm_90a sm_120 sm_120a sm_121f", "sm_70 sm_75"),
        ("dp4a.s32.s32", "sm_61 sm_75 sm_100a", "sm_60"),
        (
            "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
            "sm_120a sm_120f sm_121a sm_121f",
            "sm_89 sm_90a sm_100a sm_110a sm_120 sm_121 sm_130a",
        ),
    ],
)
def test_where_an_instruction_exists(mnemonic: str, runs: str, not_on: str) -> None:
    s = signature(mnemonic)
    assert [name for name in runs.split() if not runs_on(s, name)] == []
    assert [name for name in not_on.split() if runs_on(s, name)] == []


@pytest.mark.parametrize("name", ["90", "sm90", "sm_", "sm_90b", "compute_90", "", "sm_90 "])
def test_a_text_that_is_no_target_is_rejected(name: str) -> None:
    with pytest.raises(IsaError, match="not an architecture"):
        runs_on(signature(F16), name)


def test_signatures_can_be_hashed_and_sent_to_another_process() -> None:
    s = signature(F16)
    assert {s: 1}[pickle.loads(pickle.dumps(s))] == 1


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import isa_tables", ["isa_tables.tables", "tomllib", "numpy"]),
        (
            f"import isa_tables.signature as s; s.signature({F16!r})",
            ["isa_tables.formula", "isa_tables.formula_parser", "numpy"],
        ),
        (
            f"import isa_tables; isa_tables.instruction({F16!r}).operands['A'].locate(3, 1)",
            ["numpy", "difflib", "isa_tables.smem"],
        ),
    ],
)
def test_nothing_is_imported_that_is_not_needed(statement: str, absent: list[str]) -> None:
    code = f"{statement}\nimport sys\nprint([name for name in {absent!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
