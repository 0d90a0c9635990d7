# SPDX-License-Identifier: Apache-2.0
"""Drift mutants: a kernel in which one operand of one instruction drifts over the trips of its loop.

A counter of trips is added to the kernel. The operand's value is the right one up to trip 2^shift, and then grows; so
no size with few trips shows it. `draw_drifts` draws operands of the loop and of what comes after it, by a seed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from benchmarks.kernels.edits import body
from verify.kernel.ptx.parse import parse_kernel
from verify.kernel.ptx.source import WIDTHS

SHIFTS = (4, 9)  # the operand is right up to trip 2^4 or 2^9
COUNTER, AMOUNT, NUMBER, FLOAT, SHORT, WIDE, DOUBLE, TRUTH = (
    "%dr0", "%dr1", "%dr2", "%drf0", "%drh0", "%drd0", "%drg0", "%drp0",
)  # fmt: skip
ROOM = """
.reg .b32 %dr<4>;
.reg .f32 %drf<2>;
.reg .b16 %drh<2>;
.reg .b64 %drd<4>;
.reg .f64 %drg<2>;
.reg .pred %drp<4>;
mov.b32 %dr0, 0;
"""
_TOKEN = re.compile(r"%[a-zA-Z_]\w*|(?<![\w%.$\[+])-?\d+(?![\w.\]])")
_GUARD = re.compile(r"^\s*@!?(%\w+)")
_BY_IMMEDIATE = re.compile(r"^(add|sub|mul|mad|and|or|xor|shl|shr|setp|selp|min|max|bar|shfl)\b")


@dataclass(frozen=True, slots=True)
class Drift:
    """One operand that drifts."""

    line: int  # of the instruction, in the kernel's text
    place: int  # of the operand's first character in its line
    operand: str  # a register or a number
    shift: int  # its value is right up to trip 2^shift

    def __str__(self) -> str:
        """The drift in words."""
        return f"line {self.line}, column {self.place + 1}: {self.operand} drifts from trip {1 << self.shift} on"


@lru_cache(maxsize=1)
def find_types(text: str, kernel: str) -> Mapping[str, str]:
    """Return the type of each register of a kernel; all of its drifts ask for them."""
    parsed = parse_kernel(text, kernel)
    return dict(zip(parsed.names, parsed.registers, strict=True))


def find_operands(text: str, head: int, types: Mapping[str, str]) -> Iterator[Drift]:
    """Yield every operand from the loop's head on, each without a shift: guards, sources, addresses and numbers."""
    for number, line in body(text):
        code = line.split("//")[0]
        if number < head or re.match(r"\s*(ret|bra|pragma|trap|exit)", code):
            continue
        guard = _GUARD.match(code)
        opcode = code[guard.end() :].strip() if guard else code.strip()
        places = [*_TOKEN.finditer(code, code.index(opcode) + len(opcode.split()[0]))]
        if not re.match(r"(st|red|bar|cp|bra|membar|fence)\b", opcode):
            vector = re.match(r"\S+\s*\{[^}]*\}", opcode)
            end = code.index(opcode) + vector.end() if vector else -1
            places = [place for place in places if place.start() > end] if vector else places[1:]
        for token in places:
            word = token[0]
            if (word in types) if word.startswith("%") else bool(_BY_IMMEDIATE.match(opcode)):
                yield Drift(number, token.start(), word, 0)
        if guard and guard[1] in types:
            yield Drift(number, guard.start(1), guard[1], 0)


def draw_drifts(text: str, kernel: str, head: int, lines: Collection[int], count: int, seed: int) -> list[Drift]:
    """Return operands in some lines, with shifts, drawn by a seed; all of them where there are fewer."""
    types = find_types(text, kernel)
    draw = random.Random(seed)
    there = [drift for drift in find_operands(text, head, types) if drift.line in lines]
    every = [replace(drift, shift=draw.choice(SHIFTS)) for drift in there]
    return (
        every if len(every) <= count else sorted(draw.sample(every, count), key=lambda drift: (drift.line, drift.place))
    )


def add_counter(text: str, kernel: str, head: int) -> list[str]:
    """Return the lines of a kernel that counts its trips, with as many lines as before."""
    lines = text.splitlines(keepends=True)
    start = text.index("{", text.index(")", re.search(rf"\.entry\s+{re.escape(kernel)}\b", text).end()))  # type: ignore[union-attr]
    opened = text.count("\n", 0, start)
    lines[opened] = lines[opened].replace("{", "{" + ROOM, 1)
    label = re.match(r"\s*[\w$]+:", lines[head - 1])
    at = label.end() if label else 0
    lines[head - 1] = f"{lines[head - 1][:at]} add.s32 {COUNTER}, {COUNTER}, 1;\n{lines[head - 1][at:]}"
    return lines


def apply_drift(text: str, kernel: str, head: int, drift: Drift) -> str:
    """Return the text of the kernel in which an operand drifts."""
    types = find_types(text, kernel)
    lines = add_counter(text, kernel, head)
    whole = lines[drift.line - 1]
    line = whole.rsplit("\n", 2)[-2] if drift.line == head else whole.rstrip("\n")
    original = text.splitlines()[drift.line - 1]
    moved = drift.place - (len(original) - len(line))
    address = bool(re.search(r"\[\s*$", line[:moved]))
    kind = types.get(drift.operand, "b64" if re.search(r"\.[bsu]64\b", line) and "wide" not in line else "b32")
    before, name = _drifting(drift, kind, address)
    changed = line[:moved] + name + line[moved + len(drift.operand) :]
    lines[drift.line - 1] = whole.replace(line, f"{before}{changed}", 1)
    return "".join(lines)


def _drifting(drift: Drift, kind: str, address: bool) -> tuple[str, str]:
    """Return instructions that make the drifting value, and the register that then holds it."""
    amount = f"shr.u32 {AMOUNT}, {COUNTER}, {drift.shift};\n" + (f"shl.b32 {AMOUNT}, {AMOUNT}, 4;\n" if address else "")
    width, old = WIDTHS[kind], drift.operand
    if kind == "pred":
        made = f"setp.ne.s32 {TRUTH}, {AMOUNT}, 0;\nor.pred %drp1, {old}, {TRUTH};\n"
        return amount + made, "%drp1"
    if width == 64:
        made = f"cvt.u64.u32 {WIDE}, {AMOUNT};\nmov.b64 %drd1, {old};\nadd.s64 %drd1, %drd1, {WIDE};\n"
        return (amount + made, "%drd1") if kind[0] != "f" else (amount + f"{made}mov.b64 {DOUBLE}, %drd1;\n", DOUBLE)
    if width == 16:
        return amount + f"cvt.u16.u32 {SHORT}, {AMOUNT};\nadd.s16 {SHORT}, {SHORT}, {old};\n", SHORT
    made = f"mov.b32 {NUMBER}, {old};\nadd.s32 {NUMBER}, {NUMBER}, {AMOUNT};\n"
    return (amount + made, NUMBER) if kind != "f32" else (amount + f"{made}mov.b32 {FLOAT}, {NUMBER};\n", FLOAT)
