# SPDX-License-Identifier: Apache-2.0
"""The forms of every opcode: each way to write an instruction, from its row's spelling and operand types.

A form is an opcode with all its modifiers and a choice for each operand: an optional one present or not, a predicate
negated or not, two destinations `d|p` or one, a register of the type's width or wider. `candidates` has all that a row
admits; ptxas rejects many of them, and `rejected` has those with its reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from gpu_checks.opcodes.values import BITS, PACKED
from isa_tables.signature import spellings

if TYPE_CHECKING:
    from isa_tables.signature import Spelling

# Classes whose instructions are not probed here, and why.
LEFT_OUT = {
    **dict.fromkeys(
        ("branch", "exit", "trap", "barrier", "warp_barrier", "cluster_arrive", "cluster_wait", "fence", "proxy_fence",
         "barrier_fence", "tensor_fence", "wgmma_order", "tensor_wait"),
        "it orders or ends threads and gives no bits",
    ),
    **dict.fromkeys(
        ("barrier_init", "barrier_invalidate", "barrier_expect", "barrier_arrive", "copy_arrive", "wait", "copy",
         "copy_group", "bulk_copy", "bulk_reduce", "bulk_group", "tensor_load", "tensor_store", "tensor_reduce",
         "map_replace", "map_publish",
         "map_acquire"),
        "it is asynchronous: what it does shows in when, not in bits",
    ),
    **dict.fromkeys(("address", "window", "own_address", "parameter"), "addresses and parameters differ by launch"),
    "atomic_any": "what an integer atomic gives is decided by which thread comes first",
    **dict.fromkeys(
        ("elect", "discard", "register_count", "nothing", "policy", "tensor_prefetch"),
        "the ISA leaves its result open, or it has none",
    ),
    **dict.fromkeys(
        ("product", "sparse_product", "wgmma", "tensor_product", "load_matrix", "store_matrix", "move_matrix",
         "fragment_load", "fragment_store", "fragment_product", "tensor_from", "tensor_to",
         "tensor_allocate", "tensor_deallocate", "tensor_relinquish", "tensor_commit"),
        "it has recordings of its own, of which element goes where",
    ),
}  # fmt: skip
_APPROXIMATE = frozenset(("approx", "full"))  # roundings whose last bits the ISA leaves open
_VECTOR = {"v2": 2, "v4": 4, "v8": 8}
_TABLES = (0x80, 0xFE, 0x96, 0xE8, 0xCA, 0x1B, 0x01, 0x5A, 0xC0, 0xF8, 0x78, 0x2D, 0xAA, 0x00, 0xFF, 0x6A)  # of lop3
_MEMORY = frozenset(("load", "store", "atomic"))  # classes whose operand `a` is an address
_WIDENED = frozenset(("load", "store", "convert"))  # classes whose registers may be wider than their types
_SAMPLED = frozenset((*_MEMORY, "set"))  # classes of which not every opcode is probed
_SAMPLE = {1: 4, 2: 48}  # modifiers of one of them -> one of so many of its opcodes is probed


class FormOperand(NamedTuple):
    """One operand of a form."""

    role: str  # as its row names it: d, a, b, c, mask
    kind: str  # its type
    bits: int = 0  # of its register; 0 for an address or a number
    many: int = 1  # registers, more than one in braces
    negated: bool = False  # whether `!` is before a predicate
    pair: bool = False  # whether a predicate follows behind `|`
    number: int | None = None  # what is written in place of a register


@dataclass(frozen=True, slots=True, eq=False)
class OpcodeForm:
    """One way to write an instruction."""

    opcode: str
    group: str  # the class of its row
    lanes: int  # threads that execute it together
    parts: tuple[FormOperand, ...]  # its operands in order
    words: Mapping[str, str]  # the words that its opcode chooses, by the names of their lists

    @property
    def name(self) -> str:
        """The instruction with its roles for operands, the widths of wider registers behind them."""
        return f"{self.opcode} {', '.join(map(_write, self.parts))}"

    @property
    def memory(self) -> bool:
        """Whether its operand `a` is an address."""
        return self.group in _MEMORY

    @property
    def results(self) -> int:
        """How many of its operands it writes: the first, or none."""
        return int(self.parts[0].role != "a")


def _write(part: FormOperand) -> str:
    if part.number is not None:
        return f"{part.number:#x}"
    text = "!" * part.negated + part.role + (f".b{part.bits}" if part.bits > max(BITS[part.kind], 16) else "")
    text += "|q" * part.pair
    return f"[{text}]" if not part.bits else f"{{{', '.join([text] * part.many)}}}" if part.many > 1 else text


def candidates() -> Iterator[OpcodeForm]:
    """Yield every form that a row of the tables admits, whether an assembler takes it or not."""
    seen: set[str] = set()
    for row in spellings():
        if row.group in LEFT_OUT or "*" in row.text or len(row.operands) < 2:
            continue  # what an instruction without a source gives, as activemask, depends on more than its form
        for opcode, words, extra in _opcodes(row):
            if opcode not in seen and not _APPROXIMATE & {*opcode.split(".")}:
                seen.add(opcode)
                yield from _forms(row, opcode, words, extra)


def _opcodes(row: Spelling) -> Iterator[tuple[str, dict[str, str], int]]:
    """Yield the opcodes of a row, each with its words and the number of modifiers beyond those that it must have.

    Loads and stores have dozens of modifiers that do not meet: one at a time, and a sample of the pairs. `set` has
    thousands of opcodes, the pairs of its types, with a third predicate: a sample of those too.
    """
    parts = [part.rstrip("?") for part in row.text.split(".")]
    optional = [part.endswith("?") for part in row.text.split(".")]
    names = [part[1:-1] if part[0] == "{" else "" for part in parts]
    lists: list[Sequence[str]] = [row.words[name] if name else (part,) for name, part in zip(names, parts, strict=True)]
    places = [place for place, (may, name) in enumerate(zip(optional, names, strict=True)) if may and name != "space"]
    most = 2 if row.group in _MEMORY else len(places)
    for extra in range(most + 1):
        for there in combinations(places, extra):
            absent = {*places} - {*there}
            choices = [
                ("",) if place in absent else ("", *words) if optional[place] and place not in there else words
                for place, words in enumerate(lists)
            ]
            for chosen in product(*choices):
                opcode = ".".join(filter(None, chosen))
                if row.group not in _SAMPLED or _is_sampled(opcode, extra, chosen):
                    yield opcode, {name: word for name, word in zip(names, chosen, strict=True) if name and word}, extra


def _is_sampled(opcode: str, extra: int, chosen: Sequence[str]) -> bool:
    """Whether an opcode is in the sample, which depends on its name alone."""
    most = 1 if not extra or (extra == 1 and _VECTOR.keys() & {*chosen}) else _SAMPLE[extra]
    return int.from_bytes(blake2b(opcode.encode(), digest_size=4).digest()) % most == 0


def _forms(row: Spelling, opcode: str, words: Mapping[str, str], extra: int) -> Iterator[OpcodeForm]:
    """Yield the forms of an opcode: optional operands, plain and turned predicates, wider registers one at a time."""
    types = row.types(words)
    if words.get("space") == "param":
        return  # a parameter of a call is no memory that a lane has
    if words.get("vector") == "v8" and BITS[words["type"]] != 32:
        return  # the ISA has v8 of 32 bits only; ptxas 13.0 crashes on some others and takes some
    for chosen in product(*((True, False) if optional else (True,) for _, _, optional in row.operands)):
        roles = [role for (role, _, _), there in zip(row.operands, chosen, strict=True) if there]
        if any((name in roles) != (name in words) for name in row.words if name in {r for r, _, _ in row.operands}):
            continue  # an operand of a modifier's name comes with it
        if row.group == "compare" and ("c" in roles) != ("combine" in words):
            continue  # ptxas takes a third predicate without an operation too, which the ISA does not have
        if row.group == "convert" and ("b" in roles) != (types["d"] in PACKED and types["a"] not in PACKED):
            continue  # two numbers make a packed pair
        plain = [_part(row.group, role, types.get(role, ""), opcode, words) for role in roles]
        if any(part is None for part in plain):
            return
        for parts in _vary(row, [part for part in plain if part], extra):
            yield OpcodeForm(opcode, row.group, row.lanes, parts, words)


def _part(group: str, role: str, kind: str, opcode: str, words: Mapping[str, str]) -> FormOperand | None:
    """Return an operand as a register of its type's width; None where the row gives it no type that registers have."""
    if group in _MEMORY and role == "a":
        return FormOperand(role, "b64")
    if role == "table":
        return FormOperand(role, "b32", number=_TABLES[0])
    last = opcode.rpartition(".")[2]
    kind = kind or (last if last in BITS else "")
    if kind not in BITS:
        return None
    many = _VECTOR.get(words.get("vector", ""), 1) if role == ("d" if group == "load" else "b") else 1
    return FormOperand(role, kind, max(BITS[kind], 16) if kind != "pred" else 1, many)


def _vary(row: Spelling, parts: Sequence[FormOperand], extra: int) -> Iterator[tuple[FormOperand, ...]]:
    """Yield the operands as they are, then each other way to write one of them."""
    yield tuple(parts)
    for place, part in enumerate(parts):
        ways: list[FormOperand] = []
        if part.kind == "pred" and place:
            ways.append(part._replace(negated=True))
        if not place and (row.group == "compare" or (row.lanes == 32 and row.group != "vote")):
            ways.append(part._replace(pair=True))
        if part.number is not None:
            ways += [part._replace(number=number) for number in _TABLES[1:]]
        if row.group in _WIDENED and part.role != "hint" and part.bits and _is_integer(part.kind):
            widest = 64 if extra == 0 or (row.group == "convert" and extra == 1) else part.bits
            ways += [part._replace(bits=bits) for bits in (32, 64) if part.bits < bits <= widest]
        if row.group == "move":  # a register as several, and several as one
            ways += [
                part._replace(bits=part.bits // count, kind=f"b{part.bits // count}", many=count)
                for count in (2, 4)
                if 16 * count <= part.bits and part.kind[0] == "b" and _is_integer(part.kind)
            ]
        for way in ways:
            yield (*parts[:place], way, *parts[place + 1 :])


def _is_integer(kind: str) -> bool:
    return kind[0] in "bus" and kind[1:].isdigit()
