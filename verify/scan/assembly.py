# SPDX-License-Identifier: Apache-2.0
r"""The inline assembly of an operation of the arch headers: its mnemonics, its operands, what is done afterwards.

asm volatile("mma. ... {%0, %1}, {%2}, ...;\n" : "=r"(d0), "=r"(d1) : "r"(a0), ...);
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from verify.core.verdict import Place
from verify.scan.declarations import Item
from verify.scan.program import split
from verify.scan.text import Header
from verify.scan.values import Named, shown

FUNCTION = re.compile(r"\b(fma|copy)\s*\(")
ASM = re.compile(r"\b(?:asm|__asm__)\b\s*(?:volatile\b|__volatile__\b)?\s*\(")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
OPERAND = re.compile(r'"([^"\n]*)"\s*\(((?:[^()"]|\((?:[^()"]|\((?:[^()"]|\([^()"]*\))*+\))*+\))*+)\)')
PLACEHOLDER = re.compile(r"%(%|\d{1,9}|[A-Za-z_\[])")  # longer numbers name no operand by their beginning
GROUP = re.compile(r"\{([^{}]*)\}")
MAIN = re.compile(
    r"(?:mma|wgmma\.mma_async|dp[24]a|tcgen05\.(?:mma|ld|st|cp)|ldmatrix|stmatrix|movmatrix|cp|ld|st|red)\."
)
CONDITION = re.compile(r"\bif\s+constexpr\s*\(")
CALL = re.compile(r"(?<![\w:])([A-Za-z_][\w:]*(?:<[^;{}()]*>)?)::(?:fma|copy)\s*\(")
ELSE = re.compile(r"\s*else\b\s*")
BRANCH = re.compile(r"^[ \t]*\#[ \t]*el", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_]\w*")
BYTES = re.compile(r"(?:uchar4|char4)\s*&\s*(\w+)\s*=\s*reinterpret_cast<\s*\w+\s*&\s*>\s*\(\s*(\w+)\s*\)")
PACKED = re.compile(r"(?:uchar4|char4)\s+(\w+)\s*\{([^{}]*)\}")
STORED = re.compile(r"(\w+)\s*=\s*reinterpret_cast<\s*uint32_t\s*&\s*>\s*\(\s*(\w+)\s*\)")


@dataclass(frozen=True, slots=True)
class Asm:
    """One asm statement."""

    at: int  # its offset
    text: str  # the assembly, its strings joined
    operands: tuple[tuple[str, str], ...]  # constraint and C++ expression of %0, %1, ...
    chosen: bool = False  # whether a directive inside it chooses one of its instructions

    @property
    def instructions(self) -> Iterator[str]:
        """The instructions in it, without directives, braces and predicates."""
        for line in re.split(r"[;\n]", self.text.replace("\\n", "\n").replace("\\t", " ")):
            words = line.strip().lstrip("{").strip()
            words = re.sub(r"^@!?%?\w+\s+", "", words)
            if words and not words.startswith((".", "}", "//")):
                yield words

    @property
    def main(self) -> list[str]:
        """The instructions that move or multiply matrices."""
        return [one for one in self.instructions if MAIN.match(one)]


@dataclass(frozen=True, slots=True)
class Array:
    """A declared array of registers."""

    part: str  # A, B, ...
    type: Any  # of one register
    count: int  # 0: it is void
    place: Place

    @property
    def declared(self) -> str:
        """What is declared, as C++."""
        return written(self.type, self.count)


@dataclass(frozen=True)
class Function:
    """The fma or copy of an operation."""

    name: str  # fma or copy
    header: Header  # where it is written
    at: int  # the offset of its name
    body: tuple[int, int]  # the offsets between its braces
    params: tuple[str, ...]  # the names of its parameters
    asms: tuple[Asm, ...]  # its asm statements, in order
    calls: tuple[str, ...] = ()  # the operations whose fma or copy it calls
    declared: tuple[str, ...] = ()  # its parameters as they are written
    types: tuple[Any, ...] = ()  # the types of its parameters; None for one that cannot be read
    arrays: tuple[Array, ...] = ()  # the registers that the operation declares

    @property
    def issued(self) -> list[list[str]]:
        """The mnemonics in order; several for one where a directive chooses among them."""
        found: list[list[str]] = []
        before = -1
        for asm in self.asms:
            names = [re.split(r"[\s{\[]", one, maxsplit=1)[0] for one in asm.main]
            if names and before >= 0 and found and BRANCH.search(self.header.text, before, asm.at):
                found[-1] += [name for name in names if name not in found[-1]]
            elif names and asm.chosen:
                found.append(list(dict.fromkeys(names)))
            else:
                found += [[name] for name in names]
            before = asm.at if names else before
        return found

    @property
    def permuted(self) -> tuple[int, ...] | None:
        """How the bytes of the registers are permuted after the instruction; None where they are not.

        Byte i of the registers is byte `permuted[i]` of the instruction's result. Raises ValueError where what is done
        cannot be read.
        """
        if len(self.asms) != 1:
            return None
        outputs = [(NAME.findall(text) or [""])[-1] for sign, text in self.asms[0].operands if sign[:1] in ("=", "+")]
        if not outputs or all(name in self.params for name in outputs):
            return None
        after = self.header.code[self.asms[0].at : self.body[1]]
        views = {view: outputs.index(name) for view, name in BYTES.findall(after) if name in outputs}
        packed = {name: [one.strip() for one in listed.split(",")] for name, listed in PACKED.findall(after)}
        stored = {name: packed.get(source) for name, source in STORED.findall(after)}
        found: list[int] = []
        for name in self.params:
            for one in stored.get(name) or ():
                view, _, byte = one.partition(".")
                if view not in views or byte not in ("x", "y", "z", "w"):
                    raise ValueError
                found.append(4 * views[view] + "xyzw".index(byte))
        if sorted(found) != list(range(4 * len(outputs))):
            raise ValueError
        return tuple(found)


def function(struct: Item, holds: Callable[[str], bool | None]) -> Function | None:
    """The fma or copy in the body of a struct; `holds` decides a condition that the compiler decides, if it can."""
    header = struct.header
    if struct.body is None:
        return None
    code = header.code
    found = FUNCTION.search(code, *struct.body)
    if found is None:
        return None
    closed = _closing(code, found.end() - 1, struct.body[1])
    opened = code.find("{", closed, struct.body[1])
    if opened < 0:
        return None
    body = opened + 1, header.closing(opened)
    left_out = list(_left_out(header, body, holds))
    kept = [one for one in _asms(header, *body) if not any(a <= one.at < b for a, b in left_out)]
    calls = [one[1] for one in CALL.finditer(code, *body) if not any(a <= one.start() < b for a, b in left_out)]
    listed = tuple(one for one in split(code[found.end() : closed]) if _declared(one))
    params = tuple(_declared(one)[-1] for one in listed)
    return Function(found[1], header, found.start(1), body, params, tuple(kept), tuple(calls), listed)


def conditions(struct: Item) -> Iterator[str]:
    """The conditions of `if constexpr` in a struct."""
    code = struct.header.code
    for found in CONDITION.finditer(code, *struct.body) if struct.body else ():
        yield code[found.end() : _closing(code, found.end() - 1, struct.body[1] if struct.body else 0)]


def _declared(text: str) -> list[str]:
    return NAME.findall(text.partition("=")[0])


def _asms(header: Header, start: int, end: int) -> Iterator[Asm]:
    code, text = header.code, header.text
    for found in ASM.finditer(code, start, end):
        opened = found.end() - 1
        closed = _closing(code, opened, end)
        colons = list(_colons(code, opened + 1, closed))
        first = colons[0] if colons else closed
        template = "".join(STRING.findall(text, opened, first))
        last = colons[2] if len(colons) > 2 else closed
        operands = OPERAND.findall(text, first, last) if colons else []
        listed = tuple((one.strip(), " ".join(two.split())) for one, two in operands)
        yield Asm(found.start(), template, listed, BRANCH.search(text, opened, first) is not None)


def _closing(code: str, opened: int, end: int) -> int:
    """The parenthesis that closes one; the end where none does."""
    depth = 0
    for found in re.compile(r"[()]").finditer(code, opened, end):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.start()
    return end


def _colons(code: str, start: int, end: int) -> Iterator[int]:
    """The colons outside parentheses."""
    depth = 0
    for found in re.compile(r"[():]").finditer(code, start, end):
        if found[0] == ":":
            if depth == 0:
                yield found.start()
        else:
            depth += 1 if found[0] == "(" else -1


def _left_out(header: Header, body: tuple[int, int], holds: Callable[[str], bool | None]) -> Iterator[tuple[int, int]]:
    """The blocks of `if constexpr` that the compiler leaves out."""
    code = header.code
    for found in CONDITION.finditer(code, *body):
        closed = _closing(code, found.end() - 1, body[1])
        opened = code.find("{", closed, body[1])
        if opened < 0 or code[closed + 1 : opened].strip():
            continue
        end = header.closing(opened)
        holding = holds(code[found.end() : closed])
        if holding is False:
            yield opened, end
        elif holding and (other := ELSE.match(code, end + 1, body[1])):
            stop = code.find("{", other.end(), body[1])
            tail = end
            while stop >= 0:  # the whole chain of else
                tail = header.closing(stop)
                following = ELSE.match(code, tail + 1, body[1])
                stop = code.find("{", following.end(), body[1]) if following else -1
            yield other.start(), tail


def faults(found: Function) -> Iterator[tuple[int, str]]:
    """What is wrong with the operands of a function's assembly, with offsets."""
    for asm in found.asms:
        if main := asm.main:
            yield from ((asm.at, fault) for fault in _of_placeholders(asm, main))
            yield from ((asm.at, fault) for fault in _of_registers(asm, found.params))
    if len(found.asms) == 1 and found.asms[0].main:
        code = found.header.code[found.body[0] : found.body[1]]
        present = set(NAME.findall(code)) | set(NAME.findall(" ".join(text for _, text in found.asms[0].operands)))
        for name in found.params:
            if name not in present:
                yield found.asms[0].at, f"the parameter {name} is never used"


def numbered(text: str) -> list[int]:
    """The numbers of the operands that a text names.

    >>> numbered("{%0, %12}, %%r, %[name]")
    [0, 12]
    """
    return [int(one) for one in PLACEHOLDER.findall(text) if one.isdigit()]


def _of_placeholders(asm: Asm, main: Sequence[str]) -> Iterator[str]:
    """Operands that are not used, are used twice in one instruction, or do not exist; registers out of order."""
    indices = numbered(asm.text)
    if any(one in "[" or one.isalpha() for one in PLACEHOLDER.findall(asm.text)):
        return  # named operands
    count = len(asm.operands)
    for index in sorted({*indices} - {*range(count)}):
        yield f"%{index} names no operand: there are {count}"
    for index in sorted({*range(count)} - {*indices}):
        constraint, text = asm.operands[index]
        yield f'operand %{index}, "{constraint}"({text}), is never used'
    for instruction in main:
        used = numbered(instruction)
        for index in sorted({one for one in used if used.count(one) > 1 and one < count}):
            if not asm.operands[index][0].startswith("+"):
                yield f"%{index} is used {used.count(index)} times in {instruction.split()[0]}"
        for group in GROUP.findall(instruction):
            listed = numbered(group)
            if any(after != before + 1 for before, after in pairwise(listed)):
                yield f"{{{', '.join(f'%{one}' for one in listed)}}} is not in order"


def _of_registers(asm: Asm, params: Sequence[str]) -> Iterator[str]:
    """Parameters that are given twice, or in another order than the function has them."""
    position = {name: at for at, name in enumerate(params)}
    named = [[name for name in NAME.findall(text) if name in position] for _, text in asm.operands]
    given = [names[0] if len(names) == 1 else "" for names in named]
    seen: dict[str, int] = {}
    for index, name in enumerate(given):
        if not name or asm.operands[index][1] != name:
            continue
        if name in seen:
            yield f"{name} is given twice, as %{seen[name]} and as %{index}"
        seen.setdefault(name, index)
    for instruction in asm.main:
        for group in GROUP.findall(instruction):
            listed = numbered(group)
            places = [position[given[one]] for one in listed if one < len(given) and given[one]]
            if any(after < before for before, after in pairwise(places)):
                yield f"the registers {', '.join(given[one] for one in listed if one < len(given))} are not in order"


def line_of(found: Function, mnemonic: str) -> int:
    """The offset of the first string with a mnemonic; of the asm where it is split over strings."""
    text = found.header.text
    at = text.find(mnemonic, *found.body)
    return at if at >= 0 else found.asms[0].at if found.asms else found.at


def written(kind: Any, count: int) -> str:
    """An array as C++ declares it.

    >>> written(Named("uint32_t"), 4), written(Named("void"), 0)
    ('uint32_t[4]', 'void')
    """
    return shown(kind) if kind == Named("void") else f"{shown(kind)}[{count}]"
