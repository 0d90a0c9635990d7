# SPDX-License-Identifier: Apache-2.0
"""Every opcode on plain bits against a second coding of the ISA's text: all forms of each row, 64 lanes of operands."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pytest

from isa_tables.semantics import Row, meaning, rows
from tests.isa_tables.second_bits import compute_expected, is_legal
from tests.isa_tables.second_floats import Open, bits_of
from tests.verify.kernel.test_check import run_sum
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of

CLASSES = (
    "field", "extremum", "quotient", "function", "copysign", "test", "convert", "pack", "compare", "set", "select",
    "sign_select", "integer", "integer_pair", "divide", "high", "product24", "carry", "count", "count_from", "mask",
    "extract", "insert", "bitwise", "lookup", "shift", "funnel", "permute", "dot", "half_dot",
)  # fmt: skip
LANES = 64
BATCH = 400  # forms of a kernel
HALVES = {
    "pred": "selp.u32 %lo, 1, 0, %r; mov.u32 %hi, 0;", "b16": "cvt.u32.u16 %lo, %r; mov.u32 %hi, 0;",
    "b32": "mov.b32 %lo, %r; mov.u32 %hi, 0;", "b64": "mov.b64 {%lo, %hi}, %r;",
}  # fmt: skip
EDGES = {
    "f16": (
        0, 0x8000, 1, 0x3FF, 0x400, 0x3800, 0x3C00, 0xBE00, 0x4100, 0x4300, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E01,
        0x6801, 0x7FFF,
    ),
    "bf16": (
        0, 0x8000, 1, 0x7F, 0x80, 0x3F00, 0x3F80, 0xBFC0, 0x4020, 0x4060, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC1,
        0x4F80, 0x7FFF,
    ),
    "f32": (
        0, 0x80000000, 1, 0x7FFFFF, 0x800000, 0x3F000000, 0x3F800000, 0xBFC00000, 0x40200000, 0x40600000, 0x7F7FFFFF,
        0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x4F800000, 0x4F000000, 0xCF000001, 0x477FE001, 0x33800001,
        0x5F800000, 0xDF000000, 0x7FFFFFFF, 0x43800000, 0x43DFFFFF, 0x47700000,
    ),
    "f64": (
        0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, 0x3FE << 52, 0x3FF << 52, 0xBFF8 << 48, 0x4004 << 48, 0x400C << 48,
        (0x7FF << 52) - 1, (0xFFF << 52) - 1, 0x7FF << 52, 0xFFF << 52, 0x7FF8000000000001, 0x41F << 52, 0x41E << 52,
        0x47EFFFFFF0000000, 0x40EFFE0000000001, 0x3810000000000000, 0x36A0000000000000, 0x43F << 52, 0xC3E << 52,
        0x43EFFFFFFFFFFFFF,
    ),
}  # fmt: skip
TABLES = (0x00, 0xFF, 0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0x01, 0x5A)  # of lop3
MAGNITUDES = {"f16": (5, 10, 15), "bf16": (8, 7, 127), "f32": (8, 23, 127), "f64": (11, 52, 1023)}
PACKED = {
    "f16x2": "f16", "bf16x2": "bf16", "f32x2": "f32", "e4m3x2": "b8", "e5m2x2": "b8",
    "u16x2": "u16", "s16x2": "s16",
}  # fmt: skip
HEAD = """.version 8.8
.target sm_100
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .pred %p<4>; .reg .b64 %a; .reg .b64 %c; .reg .b64 %o; .reg .b32 %t; .reg .b32 %lo; .reg .b32 %hi; .reg .b32 %bits;
ld.param.u64 %c, [pc]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.s64 %c, %c, %o;
"""


def forms(row: Row) -> Iterator[str]:
    """Every opcode of a row, with and without each optional word."""
    choices: list[Sequence[str]] = []
    for part in row.spelling.split("."):
        word = part.rstrip("?")
        options = row.words[word[1:-1]] if word[0] == "{" else (word,)
        choices.append(("", *options) if part.endswith("?") else options)
    for chosen in product(*choices):
        opcode = ".".join(filter(None, chosen))
        if row.meaning == "lookup":
            yield from (f"{opcode} {table}" for table in TABLES)
        elif is_legal(opcode) and not re.search(r"\.(approx|full)\b", opcode):
            yield opcode
            if ".cc." in opcode:
                yield f"{opcode} carry"


def operand(kind: str, source: random.Random) -> int:
    """An edge of a type, or a random number: of its bits, or of moderate size."""
    if kind in PACKED:
        half = bits_of(kind) // 2
        return operand(PACKED[kind], source) | operand(PACKED[kind], source) << half
    width = bits_of(kind)
    if kind in EDGES:
        if source.random() < 0.5:
            return source.choice(EDGES[kind])
        exponent, fraction, bias = MAGNITUDES[kind]
        if source.random() < 0.3:
            return source.getrandbits(width)
        middle = min(max(bias + source.randint(-12, 66), 1), (1 << exponent) - 2)
        digits = source.getrandbits(fraction) & source.choice((-1, -1 << fraction // 2, -1 << (fraction - 2)))
        return source.getrandbits(1) << (width - 1) | middle << fraction | digits
    edges = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        127,
        128,
        255,
        2049,
        65504,
        16777217,
        33554435,
        *(1 << at for at in (15, 16, 24, 31, 32, 53, 63)),
    ]
    number = source.choice(
        (source.choice(edges), source.getrandbits(width), source.getrandbits(source.randint(1, width)))
    )
    return (number ^ source.choice((0, 0, -1)) if source.random() < 0.7 else -number) % (1 << width)


def register(kind: str) -> str:
    return "pred" if kind == "pred" else f"b{max(bits_of(kind), 16)}"


def operands_of(opcode: str) -> list[str]:
    """The types of an opcode's operands, those of optional ones where it takes them."""
    semantics = meaning(opcode.partition(" ")[0])
    assert semantics is not None, opcode
    if semantics.row.meaning == "lookup":
        return ["b32"] * 3
    if semantics.row.meaning == "carry":
        return [semantics.types[role] for role, _, _ in semantics.row.operands[1:]] + ["pred"]
    packs = opcode.startswith("cvt") and semantics.types["d"] in PACKED and semantics.types["a"] not in PACKED
    combines = opcode.startswith("set") and re.search(r"\.(and|or|xor)\b", opcode)
    return [
        semantics.types[role] for role, _, optional in semantics.row.operands[1:] if not optional or packs or combines
    ]


def result_of(opcode: str) -> str:
    """The type of an opcode's result."""
    semantics = meaning(opcode.partition(" ")[0])
    assert semantics is not None
    return semantics.types[semantics.row.operands[0][0]]


def group_of(opcode: str) -> str:
    """The class of an opcode's row."""
    semantics = meaning(opcode.partition(" ")[0])
    assert semantics is not None
    return semantics.row.meaning


def kernel(opcodes: Sequence[str], values: Mapping[tuple[int, str], Sequence[int]]) -> str:
    """A kernel that executes each opcode on operands by their slot and type, in every lane, and stores the bits."""
    text = [HEAD]
    for (slot, kind), lanes in values.items():
        name, target, size = f"%v{slot}{kind}", f"%v{slot}{kind}", register(kind)
        text.append(f".reg .{size} {name};")
        if kind == "pred":
            target, size = "%bits", "b32"
        text.append(f"mov.{size} {target}, {lanes[0]};")
        text += [f"setp.eq.u32 %p1, %t, {lane}; @%p1 mov.{size} {target}, {number};"
                 for lane, number in enumerate(lanes) if number != lanes[0]]  # fmt: skip
        if kind == "pred":
            text.append(f"setp.ne.u32 {name}, %bits, 0;")
    for number, opcode in enumerate(opcodes):
        size = register(result_of(opcode))
        names = ["%r", *(f"%v{slot}{kind}" for slot, kind in enumerate(operands_of(opcode)))]
        place = 8 * LANES * number
        name, _, extra = opcode.partition(" ")
        before, after = "", HALVES[size]
        if group_of(opcode) == "carry":
            less = name.startswith("sub")
            before = f"selp.u32 %hi, 1, 0, {names.pop()}; "
            before += "sub.cc.u32 %hi, 0, %hi;" if less else "add.cc.u32 %hi, %hi, 0xffffffff;"
            counted = "subc.u32 %lo, 0, 0; and.b32 %lo, %lo, 1;" if less else "addc.u32 %lo, 0, 0;"
            after = f"{counted} mov.u32 %hi, 0;" if extra else after
        elif extra:
            names.append(extra)
        text.append(f"{{ .reg .{size} %r; {before} {name} {', '.join(names)}; {after}")
        text.append(f"st.global.u32 [%c+{place}], %lo; st.global.u32 [%c+{place + 4 * LANES}], %hi; }}")
    return "\n".join([*text, "ret;", "}"])


def differences(opcodes: Sequence[str], seed: int) -> list[str]:
    """The opcodes and operands of which the interpreter's bits are others than those of the second coding."""
    source = random.Random(f"{seed} {opcodes[0]}")
    needed = sorted({each for opcode in opcodes for each in enumerate(operands_of(opcode))})
    values = {(slot, kind): [operand(kind, source) for _ in range(LANES)] for slot, kind in needed}
    strides = [2 * LANES, LANES, 1]
    claim = {
        "grid": 1, "block": LANES, "sizes": {"R": len(opcodes), "H": 2, "I": LANES}, "claim": "C[r,h,i] = C[r,h,i]",
        "params": ["A", "C"], "arrays": {"A": {"dims": "i", "type": "u32"},
                                         "C": {"dims": "rhi", "type": "u32", "strides": strides, "out": True}},
    }  # fmt: skip
    (outcome,) = check(kernel(opcodes, values), claim_of(claim), seed=1)
    missing = [
        finding for finding in outcome.findings if finding.kind == "no meaning" and "unspecified" not in finding.text
    ]
    assert not missing, missing
    wrong = []
    for number, opcode in enumerate(opcodes):
        low, high = outcome.output["C"][number]
        for lane in range(LANES):
            operands = [values[each][lane] for each in enumerate(operands_of(opcode))]
            try:
                wanted = compute_expected(opcode, operands)
            except Open:
                continue
            got = int(low[lane]) | int(high[lane]) << 32
            if got != wanted:
                wrong.append(f"{opcode} {' '.join(map(hex, operands))}: {got:#x}, and should be {wanted:#x}")
    return wrong


def batches(name: str) -> list[list[str]]:
    opcodes = [opcode for row in rows() if row.meaning == name for opcode in forms(row)]
    return [opcodes[first : first + BATCH] for first in range(0, len(opcodes), BATCH)]


@pytest.mark.long
@pytest.mark.parametrize("name", CLASSES)
def test_plain_bits_are_those_of_the_second_coding(name: str) -> None:
    groups = batches(name)
    assert groups
    assert [difference for batch in groups for difference in differences(batch, 1)] == []


def test_a_wrong_bit_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    right = compute_expected
    monkeypatch.setattr(f"{__name__}.compute_expected", lambda opcode, operands: right(opcode, operands) ^ 1)
    assert len(differences(["add.rn.f32"], 1)) > LANES // 2


ELSEWHERE = {  # classes without a second coding here, by the reason
    "it moves bytes, orders or ends threads, or has no result": (
        "address atomic barrier barrier_arrive barrier_expect barrier_fence barrier_init barrier_invalidate "
        "branch bulk_copy bulk_group cluster_arrive cluster_wait copy copy_arrive copy_group discard exit fence load "
        "map_acquire map_publish map_replace move nothing own_address parameter policy proxy_fence "
        "register_count store tensor_allocate tensor_commit tensor_deallocate tensor_fence tensor_load "
        "tensor_relinquish tensor_prefetch tensor_store tensor_wait trap wait warp_barrier window"
    ),
    "what it gives is decided by which thread comes first": "atomic_any bulk_reduce tensor_reduce",
    "lanes execute it together: test_lanes compares it": "elect match reduce shuffle vote",
    "its elements are coded a second time as fragments": (
        "fragment_load fragment_product fragment_store load_matrix move_matrix product sparse_product store_matrix "
        "tensor_from tensor_product tensor_to wgmma wgmma_order"
    ),
}


def test_every_class_of_opcodes_has_a_second_coding_or_a_reason() -> None:
    listed = [name for names in ELSEWHERE.values() for name in names.split()]
    assert sorted([*listed, *CLASSES]) == sorted({row.meaning for row in rows()})


# Rows of these classes of which no form is compared: the ISA bounds the error of their results, and gives no bits.
APPROXIMATE = {
    "rcp.{rounding}.ftz.{type}": "9.7.3.14",
    "{head}.approx.ftz?.{type}": "9.7.3.16, 9.7.3.18, 9.7.3.19, 9.7.3.20, 9.7.3.21, 9.7.3.22",
}


def test_every_row_is_among_what_is_compared_and_cites_its_section() -> None:
    """Not a class alone: each row of it has a form, so that a new row is compared or listed."""
    assert all(row.section for row in rows())
    absent = {row.spelling for row in rows() if row.meaning in CLASSES and not any(True for _ in forms(row))}
    assert absent == APPROXIMATE.keys()
    assert {row.spelling: row.section for row in rows() if row.spelling in absent} == APPROXIMATE


@pytest.mark.parametrize(
    "chain", ["add.cc.u32 %r8, %r9, 1; subc.u32 %r7, 0, 0;", "sub.cc.u32 %r8, 0, %r9; addc.u32 %r7, 0, 0;"]
)
def test_a_carry_that_is_taken_for_a_borrow_has_no_meaning(chain: str) -> None:
    """On an H100 sub.cc leaves the carry of a + ~b + 1, where the ISA's text has the borrow."""
    outcome = run_sum(f"mov.u32 %r9, 7; {chain} cvt.rn.f32.u32 %f3, %r7;")
    assert outcome.status == "UNKNOWN"
    assert any("the ISA and an H100 differ" in finding.text for finding in outcome.findings)
