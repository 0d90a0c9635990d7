# SPDX-License-Identifier: Apache-2.0
"""The integer opcodes on plain bits, each against Python's integers: 64 threads, random and extreme operands."""

import random
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from isa_tables.semantics import rows
from verify.kernel.check import check
from verify.kernel.claims.claim import claim_of
from verify.kernel.instructions import handlers

MASK = (1 << 32) - 1
EXTREMES = (0, 1, 2, 31, 32, 33, 255, 0x7FFFFFFF, 0x80000000, 0x80000001, MASK, MASK - 1)


def read_signed(x: int, bits: int = 32) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def field(x: int, start: int, length: int, negative: bool) -> int:
    """bfe, as the ISA's pseudocode: bits from `start`, the sign from the last one that there is."""
    start, length = start & 255, length & 255
    last = min(start + length - 1, 31)
    sign = (x >> last & 1) if negative and length else 0
    return sum(((x >> (place + start) & 1) if place < length and place + start <= 31 else sign) << place
               for place in range(32))  # fmt: skip


def insert_bits(a: int, b: int, start: int, length: int) -> int:
    start, length = start & 255, length & 255
    for place in range(length):
        if place + start <= 31:
            b = b & ~(1 << (place + start)) | (a >> place & 1 if place < 32 else 0) << (place + start)
    return b


def permute_bytes(a: int, b: int, selector: int) -> int:
    octets = (a | b << 32).to_bytes(8, "little")
    permuted = 0
    for place in range(4):
        pick = selector >> (4 * place) & 15
        octet = octets[pick & 7]
        permuted |= ((255 if octet > 127 else 0) if pick & 8 else octet) << (8 * place)
    return permuted


FAR = "cvt.s64.s32 %d10, %a; cvt.s64.s32 %d11, %b; shl.b64 %d10, %d10, 32; shl.b64 %d11, %d11, 20;"
OPERATIONS: dict[str, Callable[[int, int, int], int]] = {
    "add.s32 %r9, %a, %b": lambda a, b, c: a + b,
    "sub.u32 %r9, %a, %b": lambda a, b, c: a - b,
    "mul.lo.s32 %r9, %a, %b": lambda a, b, c: a * b,
    "mul.hi.s32 %r9, %a, %b": lambda a, b, c: read_signed(a) * read_signed(b) >> 32,
    "mul.hi.u32 %r9, %a, %b": lambda a, b, c: a * b >> 32,
    f"{FAR.replace('.s', '.u')} mul.hi.u64 %d9, %d10, %d11; cvt.u32.u64 %r9, %d9": (
        lambda a, b, c: (a << 32) * (b << 20) >> 64
    ),
    f"{FAR} mul.hi.s64 %d9, %d10, %d11; cvt.u32.u64 %r9, %d9": (
        lambda a, b, c: (read_signed(a) << 32) * (read_signed(b) << 20) >> 64
    ),
    "mad.lo.s32 %r9, %a, %b, %c": lambda a, b, c: a * b + c,
    "mad.hi.s32 %r9, %a, %b, %c": lambda a, b, c: (read_signed(a) * read_signed(b) >> 32) + c,
    "neg.s32 %r9, %a": lambda a, b, c: -a,
    "abs.s32 %r9, %a": lambda a, b, c: abs(read_signed(a)),
    "min.s32 %r9, %a, %b": lambda a, b, c: min(read_signed(a), read_signed(b)),
    "max.u32 %r9, %a, %b": lambda a, b, c: max(a, b),
    "min.u32 %r9, %a, %b": lambda a, b, c: min(a, b),
    "div.s32 %r9, %a, %k": lambda a, b, c: quotient(read_signed(a), 7),
    "rem.s32 %r9, %a, %k": lambda a, b, c: read_signed(a) - 7 * quotient(read_signed(a), 7),
    "div.u32 %r9, %a, %k": lambda a, b, c: a // 7,
    "rem.u32 %r9, %a, %k": lambda a, b, c: a % 7,
    "popc.b32 %r9, %a": lambda a, b, c: a.bit_count(),
    "clz.b32 %r9, %a": lambda a, b, c: 32 - a.bit_length(),
    "brev.b32 %r9, %a": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "bfind.u32 %r9, %a": lambda a, b, c: a.bit_length() - 1,
    "bfe.u32 %r9, %a, %b, %c": lambda a, b, c: field(a, b, c, False),
    "bfe.s32 %r9, %a, %b, %c": lambda a, b, c: field(a, b, c, True),
    "bfe.s32 %r9, %a, 5, 9": lambda a, b, c: field(a, 5, 9, True),
    "bfi.b32 %r9, %a, %b, %c, %a": lambda a, b, c: insert_bits(a, b, c, a),
    "bfi.b32 %r9, %a, %b, 4, 8": lambda a, b, c: insert_bits(a, b, 4, 8),
    "and.b32 %r9, %a, %b": lambda a, b, c: a & b,
    "xor.b32 %r9, %a, %b": lambda a, b, c: a ^ b,
    "not.b32 %r9, %a": lambda a, b, c: ~a,
    "lop3.b32 %r9, %a, %b, %c, 0xE8": lambda a, b, c: (a & b) | (a & c) | (b & c),
    "shl.b32 %r9, %a, %b": lambda a, b, c: a << b if b < 32 else 0,
    "shr.u32 %r9, %a, %b": lambda a, b, c: a >> min(b, 32),
    "shr.s32 %r9, %a, %b": lambda a, b, c: read_signed(a) >> min(b, 32),
    "shf.l.wrap.b32 %r9, %a, %b, %c": lambda a, b, c: (a | b << 32) << (c & 31) >> 32,
    "shf.r.clamp.b32 %r9, %a, %b, %c": lambda a, b, c: (a | b << 32) >> min(c, 32),
    "prmt.b32 %r9, %a, %b, %c": lambda a, b, c: permute_bytes(a, b, c & 0xFFFF),
    "selp.b32 %r9, %a, %b, %p2": lambda a, b, c: b,
    "setp.lt.s32 %p1, %a, %b; selp.b32 %r9, 1, 0, %p1": lambda a, b, c: int(read_signed(a) < read_signed(b)),
    "setp.hs.u32 %p1, %a, %b; selp.b32 %r9, 1, 0, %p1": lambda a, b, c: int(a >= b),
    "setp.ne.or.s32 %p1, %a, %b, %p2; selp.b32 %r9, 1, 0, %p1": lambda a, b, c: int(a != b),
    "cvt.s64.s32 %d9, %a; shr.u64 %d9, %d9, 8; cvt.u32.u64 %r9, %d9": lambda a, b, c: read_signed(a) >> 8,
    "cvt.s32.s8 %r9, %a": lambda a, b, c: read_signed(a, 8),
    "cvt.u32.u16 %r9, %a": lambda a, b, c: a & 0xFFFF,
    "mul.wide.s32 %d9, %a, %b; shr.u64 %d9, %d9, 16; cvt.u32.u64 %r9, %d9": (
        lambda a, b, c: (read_signed(a) * read_signed(b)) >> 16
    ),
    "mad.wide.u32 %d9, %a, %b, %d8; shr.u64 %d9, %d9, 20; cvt.u32.u64 %r9, %d9": lambda a, b, c: (a * b + 5) >> 20,
}
TEXT = """.version 8.0
.target sm_80
.address_size 64
.entry k(.param .u64 pa, .param .u64 pc)
{
.reg .pred %p<4>; .reg .b32 %r<20>; .reg .b32 %a; .reg .b32 %b; .reg .b32 %c; .reg .b32 %k; .reg .b64 %d<12>;
.shared .align 4 .b8 table[768];
ld.param.u64 %d1, [pc]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d1, %d1, %d3;
mov.u32 %k, 7; mov.u64 %d8, 5; setp.ne.s32 %p2, %k, 7; mov.u32 %a, 0; mov.u32 %b, 0; mov.u32 %c, 0;
"""


@pytest.mark.long
def test_every_integer_opcode_is_pythons() -> None:
    """The operands of each thread are moved to it by its number; every result is stored as bits."""
    source = random.Random(3)
    pick = [tuple(source.choice((source.getrandbits(32), source.choice(EXTREMES))) for _ in "abc") for _ in range(64)]
    moves = "".join(
        f"setp.eq.s32 %p1, %r1, {lane}; "
        + "".join(f"@%p1 mov.u32 %{name}, {value}; " for name, value in zip("abc", values, strict=True))
        + "\n"
        for lane, values in enumerate(pick)
    )
    stores = "".join(f"{text};\nst.global.u32 [%d1+{256 * row}], %r9;\n" for row, text in enumerate(OPERATIONS))
    arrays = {"A": {"dims": "i", "type": "u32"}, "C": {"dims": "ri", "type": "u32", "strides": [64, 1], "out": True}}
    claim = {"grid": 1, "block": 64, "sizes": {"R": len(OPERATIONS), "I": 64}, "claim": "C[r,i] = C[r,i]",
             "params": ["A", "C"], "arrays": arrays}  # fmt: skip
    (outcome,) = check(f"{TEXT}{moves}{stores}ret;\n}}\n", claim_of(claim), seed=1)
    assert not [finding for finding in outcome.findings if finding.kind == "no meaning"]
    for row, (text, wanted) in enumerate(OPERATIONS.items()):
        got = [int(number) for number in outcome.output["C"][row]]
        assert got == [wanted(*values) & MASK for values in pick], text


def test_every_row_has_code_a_section_and_named_operands() -> None:
    table = rows()
    assert len(table) > 60 and {row.meaning for row in table} <= handlers.HOMES.keys()
    assert all(row.section.startswith("9.7.") and all(role for role, _, _ in row.operands) for row in table)


def test_the_table_of_classes_names_those_of_every_module() -> None:
    """A kernel loads the modules of its classes alone: the table says which module has which."""
    folder = Path(handlers.__file__).parent
    modules = {path.stem: import_module(f"{handlers.__package__}.{path.stem}") for path in folder.glob("[!_]*.py")}
    having = {name: [*module.BINDS] for name, module in modules.items() if hasattr(module, "BINDS")}
    assert {name: sorted(classes.split()) for name, classes in handlers.MODULES.items()} == {
        name: sorted(classes) for name, classes in having.items()
    }
    assert len(handlers.HOMES) == sum(map(len, having.values())) > 60
