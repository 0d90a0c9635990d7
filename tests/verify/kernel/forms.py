# SPDX-License-Identifier: Apache-2.0
"""One instruction for each row of the opcode tables, and each that differs from it in one modifier or operand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from isa_tables.semantics import Row, meaning
from verify.kernel.ptx.source import WIDTHS

GLOBAL, SHARED, BARRIER, UNIFORM = "[%d5]", "[%r5]", "[%r6]", "[%d9]"
# class -> role -> operand; a class or role that is left out has a register of the operand's type.
OPERANDS: Mapping[str, Mapping[str, str]] = {
    "address": {"a": "%d6"},
    "window": {"a": "%d6"},
    "parameter": {"a": "[more]"},
    "load": {"a": GLOBAL},
    "store": {"a": GLOBAL},
    "copy": {"d": SHARED, "a": GLOBAL, "size": "16", "valid": "%r8"},
    "copy_group": {"n": "0"},
    "atomic": {"a": GLOBAL},
    "atomic_any": {"a": GLOBAL},
    "discard": {"a": UNIFORM, "size": "128"},
    "own_address": {"rank": "0"},
    "shuffle": {"b": "1", "c": "31"},
    "branch": {"target": "END", "a": "%r9", "targets": "LIST"},
    "barrier": {"a": "1", "b": "64"},
    "barrier_init": {"a": BARRIER, "count": "64"},
    "barrier_invalidate": {"a": BARRIER},
    "barrier_expect": {"a": BARRIER, "bytes": "16"},
    "barrier_arrive": {"state": "_", "a": BARRIER, "amount": "1"},
    "copy_arrive": {"a": BARRIER},
    "wait": {"p": "%p7", "a": BARRIER, "parity": "1", "state": "%d12", "hint": "7"},
    "tensor_load": {"d": SHARED, "a": "[%d7, COORDINATES]", "barrier": BARRIER},
    "tensor_store": {"d": "[%d7, COORDINATES]", "a": SHARED},
    "tensor_reduce": {"d": "[%d7, COORDINATES]", "a": SHARED},
    "tensor_prefetch": {"a": "[%d7, COORDINATES]"},
    "bulk_copy": {"d": SHARED, "a": GLOBAL, "size": "16", "barrier": BARRIER},
    "bulk_reduce": {"d": GLOBAL, "a": SHARED, "size": "16"},
    "bulk_group": {"n": "0"},
    "map_replace": {"a": SHARED, "axis_or_value": "0", "value": "1"},
    "map_publish": {"d": GLOBAL, "a": SHARED, "size": "128"},
    "map_acquire": {"a": GLOBAL, "size": "128"},
    "elect": {"d": "%r7|%p7"},
    "register_count": {"n": "64"},
    "load_matrix": {"a": SHARED},
    "store_matrix": {"a": SHARED},
    "fragment_load": {"a": UNIFORM, "stride": "64"},
    "fragment_store": {"a": UNIFORM, "stride": "64"},
    "wgmma_order": {"n": "0"},
    "wgmma": {"A": "%d8", "B": "%d8", "scale_d": "1", "scale_a": "1", "scale_b": "1", "major_a": "0", "major_b": "0"},
    "sparse_product": {"E": "%r7", "F": "0"},
    "tensor_allocate": {"a": BARRIER, "columns": "32"},
    "tensor_deallocate": {"a": "%r8", "columns": "32"},
    "tensor_from": {"a": "[%r8]", "half": "8"},
    "tensor_to": {"a": "[%r8]"},
    "tensor_commit": {"a": BARRIER},
    "tensor_product": {"D": "[%r8]", "A": "%d4", "B": "%d4", "descriptor": "%r4", "adds": "%p8"},
}
MASK = "0xffffffff"
# Roles that are registers in braces: (row's class, opcode) -> how many of each role.
REST = {  # what a row's last `*` may be
    "product": "m16n8k16.row.col.f32.f16.f16.f32",
    "sparse_product": "m16n8k32.row.col.f32.f16.f16.f32",
    "load_matrix": "m8n8.x4.shared.b16",
    "store_matrix": "m8n8.x4.shared.b16",
    "move_matrix": "m8n8.trans.b16",
    "wgmma": "m64n8k16.f32.f16.f16",
    "fragment_product": "row.col.m16n16k16.f32.f32",
}
# words of a row's plainest form where the first of their list has no meaning: class -> list -> word
PLAINEST = {
    "fragment_load": {"second": "m16n16k16"}, "fragment_store": {"second": "m16n16k16"}, "store": {"space": "global"},
}  # fmt: skip
COUNTS = {
    "product": {"D": 4, "A": 4, "B": 2, "C": 4},
    "sparse_product": {"D": 4, "A": 4, "B": 4, "C": 4},
    "load_matrix": {"R": 4},
    "store_matrix": {"R": 4},
    "wgmma": {"D": 4},
    "fragment_product": {"D": 8, "A": 8, "B": 8, "C": 8},
}


@dataclass(frozen=True)
class Form:
    """One instruction of a row."""

    row: Row
    words: tuple[str, ...]  # by the part of the spelling; empty for one that is left out
    operands: tuple[str, ...]
    change: str = ""  # what it has that the first form of its row has not

    @property
    def opcode(self) -> str:
        return ".".join(word for word in self.words if word)

    @property
    def text(self) -> str:
        opcode = self.opcode.replace("call.", "call ")  # the function is an operand in the text
        text = f"{opcode} {', '.join(self.operands)};"
        return f"AGAIN: {text} @!%p7 bra AGAIN;" if self.row.meaning == "wait" else text

    @property
    def before(self) -> str:
        """The instructions without which it has no meaning: those that load the fragments of a wmma."""
        if self.row.meaning == "fragment_store":
            address, registers, *stride = self.operands
            load = self.opcode.replace("store.d", "load.c")  # from elsewhere than it is stored
            return f"{load} {', '.join((registers, address, *(stride or ('32',))))};"
        if self.row.meaning != "fragment_product":
            return ""
        loads = "a.{}.row.m16n16k16.f16", "b.{}.col.m16n16k16.f16", "c.{}.row.m16n16k16.f32"
        pairs = zip(loads, self.operands[1:4], strict=True)
        return " ".join(f"wmma.load.{what.format('sync.aligned')} {to}, {UNIFORM};" for what, to in pairs)


PART = re.compile(r"(\{(\w+)\}|[\w:]+|\*)(\??)")
LINKED = {"hint": "hint", "combine": "c", "expect": "amount"}  # a word of a spelling -> the operand that comes with it
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def choose_first(row: Row) -> Form:
    """Return a row's plainest form: the first word of each list, nothing that is optional."""
    words = tuple(_word(row, part, present=False) for part in row.spelling.split("."))
    return Form(row, words, _operands(row, words, frozenset()))


def list_pairs(row: Row) -> Iterator[tuple[Form, Form]]:
    """Yield (with, without): forms that differ in one word, one optional operand, or the `!` of one predicate."""
    base = choose_first(row)
    for at, part in enumerate(row.spelling.split(".")):
        match = PART.fullmatch(part)
        assert match is not None
        listed = row.words.get(match[2] or "", (match[1],))
        for word in listed if match[3] else (choice for choice in listed if choice not in ("*", base.words[at])):
            words = (*base.words[:at], word, *base.words[at + 1 :])
            linked = frozenset({LINKED[match[2]]} if match[2] in LINKED else ())
            yield Form(row, words, _operands(row, words, linked), word), base
    for role, kind, optional in row.operands:
        if optional and role not in LINKED.values():
            yield Form(row, base.words, _operands(row, base.words, frozenset({role})), role), base
        linked_word = next((word for word, operand in LINKED.items() if operand == role), "")
        if kind == "pred" and role == row.operands[0][0]:
            continue
        if kind == "pred":
            with_it = base
            if optional:
                with_it = next(form for form, _ in others_of(row, linked_word))
            there = [operand for operand, _, absent in row.operands if optional or not absent]
            place = there.index(role)
            turned = (*with_it.operands[:place], f"!{with_it.operands[place]}", *with_it.operands[place + 1 :])
            yield Form(row, with_it.words, turned, f"!{role}"), with_it


def others_of(row: Row, name: str) -> Iterator[tuple[Form, Form]]:
    """Yield the forms that have a word of one list, each with the first form."""
    base = choose_first(row)
    for at, part in enumerate(row.spelling.split(".")):
        match = PART.fullmatch(part)
        if match is not None and match[2] == name:
            for word in row.words[name]:
                words = (*base.words[:at], word, *base.words[at + 1 :])
                yield Form(row, words, _operands(row, words, frozenset({LINKED[name]})), word), base


def _word(row: Row, part: str, present: bool) -> str:
    match = PART.fullmatch(part)
    assert match is not None
    if match[3] and not present:
        return ""
    if match[1] == "*":
        return REST[row.meaning]
    return PLAINEST.get(row.meaning, {}).get(match[2], row.words[match[2]][0]) if match[2] else match[1]


def _operands(row: Row, words: tuple[str, ...], present: frozenset[str]) -> tuple[str, ...]:
    """Return the operands of a form: those that are required, and these optional ones."""
    decoded = meaning(".".join(word for word in words if word))
    assert decoded is not None, words
    made = []
    vector = VECTORS.get(decoded.words.get("vector", ""), 1)
    for number, (role, kind, optional) in enumerate(row.operands):
        if optional and role not in present:
            continue
        made.append(_operand(row, role, decoded.types.get(role, kind), number, vector, decoded.words))
    return tuple(made)


def _operand(row: Row, role: str, kind: str, number: int, vector: int, words: Mapping[str, str]) -> str:
    special = OPERANDS.get(row.meaning, {}).get(role)
    if row.meaning == "bulk_copy" and words["to"] == "global" and role in "da":
        special = GLOBAL if role == "d" else SHARED
    if special is not None:
        rank = int(words.get("rank", "1d")[0])
        return special.replace("COORDINATES", f"{{{', '.join(['%r9'] * rank)}}}")
    if role == "mask":
        return MASK
    count = COUNTS.get(row.meaning, {}).get(role, 0)
    if count:
        return f"{{{', '.join(f'%r{20 + 10 * number + each}' for each in range(count))}}}"
    if role in ("R", "half_or_R"):
        return f"{{{', '.join(f'%r{20 + each}' for each in range(registers(words)))}}}"
    width = WIDTHS.get(kind, 32)
    letter = {1: "p", 8: "h", 16: "h", 32: "r", 64: "d", 128: "q"}[width]
    name = f"%{letter}{number + 1 if letter in 'pq' else 10 + number}"
    if vector > 1 and role in ("d", "b"):
        return f"{{{', '.join(f'%{letter}{20 + number * 8 + each}' for each in range(vector))}}}"
    return name


def registers(words: Mapping[str, str]) -> int:
    """Return how many registers a fragment has."""
    if "number" in words:
        per = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}[words["shape"]]
        return per * int(words["number"][1:])
    if "second" in words:  # of wmma: 16 x 16 elements by 32 lanes, or twice
        return {"f16": 8 if "role" in words and words["role"] != "c" else 4, "f32": 8, "s32": 8}.get(words["type"], 4)
    return 8
