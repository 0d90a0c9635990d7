# SPDX-License-Identifier: Apache-2.0
r"""The inline assembly of an operation of the arch headers: its mnemonics, its operands, what is done afterwards.

asm volatile("mma. ... {%0, %1}, {%2}, ...;\n" : "=r"(d0), "=r"(d1) : "r"(a0), ...);
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from verify.core.verdict import Place
from verify.scan.declarations import Item
from verify.scan.program import split
from verify.scan.text import Header
from verify.scan.values import TypeName, show_value

FUNCTION = re.compile(r"\b(fma|copy)\s*\(")
ASM = re.compile(r"\b(?:asm|__asm__)\b\s*(?:volatile\b|__volatile__\b)?\s*\(")
OPERAND = re.compile(r'"([^"\n]*)"\s*\(((?:[^()"]|\((?:[^()"]|\((?:[^()"]|\([^()"]*\))*+\))*+\))*+)\)')
STATEMENT = re.compile(r"[^;\n]+")
OPENING = re.compile(r"[\s{]*(?:[A-Za-z_$][\w$]*:(?!:)\s*)?(?:@!?%*\w+\s+)?")
PLACEHOLDER = re.compile(r"%(%|\d{1,9}|[A-Za-z_\[])")  # longer numbers name no operand by their beginning
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
class AsmOperand:
    """One operand of an asm statement: `"r"(a0)`."""

    constraint: str
    text: str  # the C++ expression
    at: int  # its offset in the header


@dataclass(frozen=True, slots=True)
class AsmInstruction:
    """One instruction of an asm statement."""

    text: str
    start: int  # of its text in that of the statement

    @property
    def mnemonic(self) -> str:
        """Its first word."""
        return re.split(r"[\s{\[]", self.text, maxsplit=1)[0]

    @property
    def is_main(self) -> bool:
        """Whether it moves or multiplies matrices."""
        return MAIN.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class Asm:
    """One asm statement."""

    at: int  # its offset
    text: str  # the assembly, its strings joined
    strings: tuple[tuple[int, int], ...]  # of each string: where it starts in `text`, and its offset in the header
    operands: tuple[AsmOperand, ...]  # %0, %1, ...
    chosen: bool = False  # whether a directive inside it chooses one of its instructions
    unread: str = ""  # what its template has besides strings: a macro

    @property
    def instructions(self) -> Iterator[AsmInstruction]:
        """The instructions in it, without directives, braces, labels and predicates."""
        for match in STATEMENT.finditer(self.text.replace("\\n", "\n ").replace("\\t", "  ")):
            opening = OPENING.match(match[0])
            start = opening.end() if opening else 0
            words = match[0][start:].rstrip()
            if words and not words.startswith((".", "}", "//")):
                yield AsmInstruction(words, match.start() + start)

    @property
    def main(self) -> list[AsmInstruction]:
        """The instructions that move or multiply matrices."""
        return [instruction for instruction in self.instructions if instruction.is_main]

    def offset(self, place: int) -> int:
        """Return the offset in the header of a place in the text."""
        start, offset = self.strings[max(bisect_right(self.strings, (place, sys.maxsize)) - 1, 0)]
        return offset + place - start


@dataclass(frozen=True, slots=True)
class RegisterArray:
    """A declared array of registers."""

    part: str  # A, B, ...
    type: Any  # of one register
    count: int  # 0: it is void
    place: Place

    @property
    def declaration(self) -> str:
        """What is declared, as C++."""
        return write_array(self.type, self.count)


@dataclass(frozen=True)
class AssemblyFunction:
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
    arrays: tuple[RegisterArray, ...] = ()  # the registers that the operation declares

    @property
    def mnemonics(self) -> list[list[str]]:
        """The mnemonics in order; several for one where a directive chooses among them."""
        alternatives: list[list[str]] = []
        before = -1
        for asm in self.asms:
            names = [instruction.mnemonic for instruction in asm.main]
            if names and before >= 0 and alternatives and BRANCH.search(self.header.text, before, asm.at):
                alternatives[-1] += [name for name in names if name not in alternatives[-1]]
            elif names and asm.chosen:
                alternatives.append(list(dict.fromkeys(names)))
            else:
                alternatives += [[name] for name in names]
            before = asm.at if names else before
        return alternatives

    @property
    def byte_order(self) -> tuple[int, ...] | None:
        """How the bytes of the registers are permuted after the instruction; None where they are not.

        Byte i of the registers is byte `permuted[i]` of the instruction's result. Raises ValueError where what is done
        cannot be read.
        """
        if len(self.asms) != 1:
            return None
        written_to = [operand for operand in self.asms[0].operands if operand.constraint[:1] in ("=", "+")]
        outputs = [(NAME.findall(operand.text) or [""])[-1] for operand in written_to]
        if not outputs or all(name in self.params for name in outputs):
            return None
        after = self.header.code[self.asms[0].at : self.body[1]]
        views = {view: outputs.index(name) for view, name in BYTES.findall(after) if name in outputs}
        packed = {name: [part.strip() for part in listed.split(",")] for name, listed in PACKED.findall(after)}
        stored = {name: packed.get(source) for name, source in STORED.findall(after)}
        order: list[int] = []
        for name in self.params:
            for selected in stored.get(name) or ():
                view, _, byte = selected.partition(".")
                if view not in views or byte not in ("x", "y", "z", "w"):
                    raise ValueError
                order.append(4 * views[view] + "xyzw".index(byte))
        if sorted(order) != list(range(4 * len(outputs))):
            raise ValueError
        return tuple(order)


def function(struct: Item, holds: Callable[[str], bool | None]) -> AssemblyFunction | None:
    """Return the fma or copy in a struct; `holds` decides a condition that the compiler decides, if it can."""
    header = struct.header
    if struct.body is None:
        return None
    code = header.code
    match = FUNCTION.search(code, *struct.body)
    if match is None:
        return None
    closed = _closing(code, match.end() - 1, struct.body[1])
    opened = code.find("{", closed, struct.body[1])
    if opened < 0:
        return None
    body = opened + 1, header.closing(opened)
    left_out = list(_left_out(header, body, holds))
    kept = [asm for asm in _asms(header, *body) if not any(a <= asm.at < b for a, b in left_out)]
    calls = [call[1] for call in CALL.finditer(code, *body) if not any(a <= call.start() < b for a, b in left_out)]
    listed = tuple(text for text in split(code[match.end() : closed]) if _find_declared(text))
    params = tuple(_find_declared(text)[-1] for text in listed)
    return AssemblyFunction(match[1], header, match.start(1), body, params, tuple(kept), tuple(calls), listed)


def conditions(struct: Item) -> Iterator[str]:
    """Yield the conditions of `if constexpr` in a struct."""
    code = struct.header.code
    for match in CONDITION.finditer(code, *struct.body) if struct.body else ():
        yield code[match.end() : _closing(code, match.end() - 1, struct.body[1] if struct.body else 0)]


def _find_declared(text: str) -> list[str]:
    return NAME.findall(text.partition("=")[0])


def _asms(header: Header, start: int, end: int) -> Iterator[Asm]:
    code = header.code
    for match in ASM.finditer(code, start, end):
        opened = match.end() - 1
        closed = _closing(code, opened, end)
        colons = list(_colons(code, opened + 1, closed))
        first = colons[0] if colons else closed
        template, strings = "", []
        for string in header.strings(opened, first):
            strings.append((len(template), string.start(1)))
            template += string[1]
        last = colons[2] if len(colons) > 2 else closed
        operands = OPERAND.finditer(header.code_with_strings, first, last) if colons else ()
        listed = tuple(
            AsmOperand(operand[1].strip(), " ".join(operand[2].split()), operand.start()) for operand in operands
        )
        besides = " ".join(code[opened + 1 : first].replace("$", " ").split())
        chosen = BRANCH.search(header.text, opened, first) is not None
        yield Asm(match.start(), template, tuple(strings), listed, chosen, besides)


def _closing(code: str, opened: int, end: int) -> int:
    """Return the parenthesis that closes one; the end where none does."""
    depth = 0
    for paren in re.compile(r"[()]").finditer(code, opened, end):
        depth += 1 if paren[0] == "(" else -1
        if depth == 0:
            return paren.start()
    return end


def _colons(code: str, start: int, end: int) -> Iterator[int]:
    """Yield the colons outside parentheses."""
    depth = 0
    for mark in re.compile(r"[():]").finditer(code, start, end):
        if mark[0] == ":":
            if depth == 0:
                yield mark.start()
        else:
            depth += 1 if mark[0] == "(" else -1


def _left_out(header: Header, body: tuple[int, int], holds: Callable[[str], bool | None]) -> Iterator[tuple[int, int]]:
    """Yield the blocks of `if constexpr` that the compiler leaves out."""
    code = header.code
    for match in CONDITION.finditer(code, *body):
        closed = _closing(code, match.end() - 1, body[1])
        opened = code.find("{", closed, body[1])
        if opened < 0 or code[closed + 1 : opened].strip():
            continue
        end = header.closing(opened)
        holding = holds(code[match.end() : closed])
        if holding is False:
            yield opened, end
        elif holding and (alternative := ELSE.match(code, end + 1, body[1])):
            stop = code.find("{", alternative.end(), body[1])
            tail = end
            while stop >= 0:  # the whole chain of else
                tail = header.closing(stop)
                following = ELSE.match(code, tail + 1, body[1])
                stop = code.find("{", following.end(), body[1]) if following else -1
            yield alternative.start(), tail


def offset_of(assembly: AssemblyFunction, mnemonic: str) -> int:
    """Return the offset of the first instruction with a mnemonic; of the function if it has none."""
    for asm in assembly.asms:
        for instruction in asm.instructions:
            if instruction.mnemonic == mnemonic:
                return asm.offset(instruction.start)
    return assembly.at


def write_array(kind: Any, count: int) -> str:
    """Write an array as C++ declares it.

    >>> write_array(TypeName("uint32_t"), 4), write_array(TypeName("void"), 0)
    ('uint32_t[4]', 'void')
    """
    return show_value(kind) if kind == TypeName("void") else f"{show_value(kind)}[{count}]"
