# SPDX-License-Identifier: Apache-2.0
"""The operands of inline assembly: each is used, none twice, and the registers of a fragment are in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from verify.scan.assembly import NAME, PLACEHOLDER, Asm, AsmInstruction, AssemblyFunction

GROUP = re.compile(r"\{([^{}]*)\}")


def find_faults(assembly: AssemblyFunction) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with the operands of a function's assembly, each with its offset in the header."""
    for asm in assembly.asms:
        if asm.main and not has_named_operands(asm):
            yield from _placeholder_faults(asm)
        if asm.main:
            yield from _register_faults(asm, assembly.params)
    if len(assembly.asms) == 1 and assembly.asms[0].main:
        code = assembly.header.code[assembly.body[0] : assembly.body[1]]
        present = {
            *NAME.findall(code),
            *(name for operand in assembly.asms[0].operands for name in NAME.findall(operand.text)),
        }
        for name in assembly.params:
            if name not in present:
                yield assembly.asms[0].at, f"the parameter {name} is never used"


def has_named_operands(asm: Asm) -> bool:
    """Whether an asm names its operands, as `%[d0]`, or modifies them, as `%w0`: their numbers aren't known."""
    return any(name in "[" or name.isalpha() for name in PLACEHOLDER.findall(asm.text))


def _placeholder_faults(asm: Asm) -> Iterator[tuple[int, str]]:
    """Yield operands that are not used, are used twice in one instruction, or do not exist; registers out of order."""
    used = list(_find_numbers(asm.text))
    count = len(asm.operands)
    absent = {index: at for at, index in reversed(used) if index >= count}
    for index in sorted(absent):
        yield asm.offset(absent[index]), f"%{index} names no operand: there are {count}"
    for instruction in asm.main:
        yield from _repetitions(asm, instruction)
        for start, listed in _groups(instruction):
            if any(after != before + 1 for (_, before), (_, after) in pairwise(listed)):
                yield asm.offset(start), f"{{{', '.join(f'%{index}' for _, index in listed)}}} is not in order"
    for index in sorted({*range(count)} - {index for _, index in used}):
        operand = asm.operands[index]
        yield operand.at, f'operand %{index}, "{operand.constraint}"({operand.text}), is never used'


def _repetitions(asm: Asm, instruction: AsmInstruction) -> Iterator[tuple[int, str]]:
    """Yield the operands that an instruction uses twice, at the second time."""
    places: dict[int, list[int]] = {}
    for at, index in _find_numbers(instruction.text):
        places.setdefault(index, []).append(instruction.start + at)
    for index, given in sorted(places.items()):
        read_only = index < len(asm.operands) and not asm.operands[index].constraint.startswith("+")
        if len(given) > 1 and read_only:
            yield asm.offset(given[1]), f"%{index} is used {len(given)} times in {instruction.mnemonic}"


def _groups(instruction: AsmInstruction) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Yield each list of registers: its start in the text of the asm, and its operands by place and number."""
    for group in GROUP.finditer(instruction.text):
        yield instruction.start + group.start(), list(_find_numbers(group[1]))


def _register_faults(asm: Asm, params: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield parameters that are given twice, or in another order than the function has them."""
    position = {name: at for at, name in enumerate(params)}
    named = [[name for name in NAME.findall(operand.text) if name in position] for operand in asm.operands]
    given = [names[0] if len(names) == 1 else "" for names in named]
    seen: dict[str, int] = {}
    for index, name in enumerate(given):
        if not name or asm.operands[index].text != name:
            continue
        if name in seen:
            yield asm.operands[index].at, f"{name} is given twice, as %{seen[name]} and as %{index}"
        seen.setdefault(name, index)
    for instruction in asm.main:
        for _, listed in _groups(instruction):
            taken = [index for _, index in listed if index < len(given) and given[index]]
            late = [b for a, b in pairwise(taken) if position[given[b]] < position[given[a]]]
            if late:
                names = ", ".join(given[index] for _, index in listed if index < len(given))
                yield asm.operands[late[0]].at, f"the registers {names} are not in order"


def read_numbers(text: str) -> list[int]:
    """Return the numbers of the operands that a text names.

    >>> read_numbers("{%0, %12}, %%r, %[name]")
    [0, 12]
    """
    return [index for _, index in _find_numbers(text)]


def _find_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place and the number of each operand that a text names."""
    for match in PLACEHOLDER.finditer(text):
        if match[1].isdigit():
            yield match.start(), int(match[1])
