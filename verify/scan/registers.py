# SPDX-License-Identifier: Apache-2.0
"""The arrays of registers that an operation declares, compared with what its function and its assembly take.

CuTe cuts a fragment into registers by `using ARegisters = uint32_t[4];`, and gives them to fma() or copy() one by one.
What cannot be read, as a type that is a parameter of a template, is not compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from isa_tables import IsaError
from isa_tables.signature import signature
from verify.core.verdict import Place
from verify.scan.assembly import NAME, Asm, AssemblyFunction, RegisterArray
from verify.scan.declarations import Item
from verify.scan.evaluation import Evaluator, Frame
from verify.scan.operands import read_numbers
from verify.scan.values import Needs, TypeName, Unread, bits, show_value

PARTS = {"fma": ("D", "A", "B", "C", "E", "SFA", "SFB"), "copy": ("S", "D")}
WORD = re.compile(r"[\w.:]+")
OPERAND = re.compile(r"\{[^{}]*\}|\[[^\]]*\]|[^,\s{}\[\]]+")
INTEGER = re.compile(r"u?int(?:\d+_t|_bit_t)?|unsigned|char")
QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__)\b|&")
PARAMETER = re.compile(r"\b[A-Za-z_]\w*\s*$")
NUMBER = re.compile(r"\d\w*")
WIDTH = {"r": 32, "l": 64, "h": 16, "f": 32, "d": 64}  # of a register, by its constraint
FLOATS = {"f": "float", "d": "double"}  # the others take any type of their width
IN_MEMORY = {"[tmeta]": "E", "[sfa]": "SFA", "[sfb]": "SFB"}  # operands of an instruction that are addresses


@dataclass(frozen=True, slots=True)
class ArrayFault:
    """An array that is not what is taken: in words, and the array that may be right, if that is known."""

    place: Place
    text: str
    right: RegisterArray | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """One operand of an assembly: the parameters in it, and the constraints of those that are given as they are."""

    names: tuple[str, ...]
    constraints: Mapping[str, str]  # by parameter


def arrays(evaluator: Evaluator, struct: Item, frame: Frame, name: str) -> tuple[RegisterArray, ...]:
    """Return the arrays that a struct or a base of it declares for its fma or copy; those that can be read."""
    declared = []
    for part in PARTS[name]:
        try:
            member = evaluator.find_member(struct, frame, f"{part}Registers")
            value = evaluator.evaluate_item(*member, None, frame) if member is not None else None
        except (Needs, Unread):
            continue
        if member is None or not isinstance(value, TypeName):
            continue
        place = member[0].header.place(member[0].at)
        if value.name == "void":
            declared.append(RegisterArray(part, value, 0, place))
        elif value.name == "array" and len(value.arguments) == 2 and isinstance(value.arguments[1], int):
            declared.append(RegisterArray(part, *value.arguments, place))
    return tuple(declared)


def types(evaluator: Evaluator, declared: Sequence[str], frame: Frame) -> tuple[Any, ...]:
    """Return the type of each parameter, without const and reference; None for one that cannot be read."""
    listed = [" ".join(PARAMETER.sub("", QUALIFIER.sub(" ", text.partition("=")[0])).split()) for text in declared]
    types_of: dict[str, Any] = {}
    for text in dict.fromkeys(listed):
        with suppress(Needs, Unread):
            types_of[text] = evaluator.text(text, frame) if text and not set("*()[]") & set(text) else None
    return tuple(map(types_of.get, listed))


def compare_arrays(assembly: AssemblyFunction) -> tuple[list[RegisterArray], list[ArrayFault]]:
    """Return the arrays that could be compared with what is taken, and what is wrong, once for each array."""
    declared = {array.part: array for array in assembly.arrays}
    kinds = dict(zip(assembly.params, assembly.types, strict=True))
    seen: set[str] = set()
    faults: dict[str, ArrayFault] = {}
    for taken in _statements(assembly, declared):
        for part, array in declared.items():
            if part in taken:
                names: Sequence[str] = taken[part].names
                fault = _fault(kinds, array, taken[part])
            elif array in (hidden := _others(assembly, declared, taken)):
                names = _rest(kinds, array, hidden, taken)
                fault = _of_rest(assembly.name, kinds, array, names)
            else:
                continue
            if fault is not None:
                faults.setdefault(part, fault)
            if fault is not None or (names and all(_comparable(array.type, kinds[name]) for name in names)):
                seen.add(part)
    return [array for array in assembly.arrays if array.part in seen], [
        faults[array.part] for array in assembly.arrays if array.part in faults
    ]


def repair_arrays(
    assembly: AssemblyFunction, faults: Sequence[ArrayFault]
) -> tuple[str, tuple[RegisterArray, ...]] | None:
    """Return the declarations that may be right, as C++, and all arrays with them; None if one isn't known.

    Arrays are repaired together, because the function is right only if all of them are.
    """
    right = {fault.right.part: fault.right for fault in faults if fault.right is not None}
    if not right or len(right) < len(faults):
        return None
    arrays = tuple(right.get(array.part, array) for array in assembly.arrays)
    words = (f"using {part}Registers = {array.declaration};" for part, array in right.items())
    return " ".join(words), arrays


def _statements(assembly: AssemblyFunction, declared: Mapping[str, RegisterArray]) -> Iterator[dict[str, Taken]]:
    """Yield the operands that each instruction takes, by part; of several instructions in a row nothing is known."""
    if assembly.calls or not assembly.asms:
        return
    if len(assembly.mnemonics) != 1:
        yield {}
        return
    for asm in assembly.asms:
        for instruction in asm.main:
            yield _takes(assembly, asm, instruction.text, declared)


def _takes(
    assembly: AssemblyFunction, asm: Asm, instruction: str, declared: Mapping[str, RegisterArray]
) -> dict[str, Taken]:
    """Return the operands of an instruction that are made of parameters, by part."""
    word = WORD.match(instruction)
    if word is None or any(
        instruction.count(opening) != instruction.count(closing) for opening, closing in ("{}", "[]")
    ):
        return {}
    operands = OPERAND.findall(instruction, word.end())
    if assembly.name == "copy":
        operands = [text for text in operands if not NUMBER.fullmatch(text)]  # the offset of tcgen05.st.16x32bx2
    taken: dict[str, Taken] = {}
    params = frozenset(assembly.params)
    for part, text in zip(_parts(assembly.name, word[0], len(operands), declared), operands, strict=False):
        if part and (parameters := _operand(params, asm, text)) is not None:
            taken[part] = parameters
    return taken


def _parts(function: str, mnemonic: str, operands: int, declared: Mapping[str, RegisterArray]) -> Sequence[str]:
    """Which part each operand of an instruction is; words that are no part for the others."""
    if function == "copy":
        return ("D", "S") if operands == 2 else ("D",)  # tcgen05.ld.red has another result before the source
    named = _name_operands(mnemonic)
    return ["C" if part == "D" and "C" in declared else part for part in named] if _in_place(named) else named


@lru_cache(maxsize=4096)
def _name_operands(mnemonic: str) -> tuple[str, ...]:
    """Return the operands of an instruction in the order of its text; none if the ISA tables do not have it.

    >>> _name_operands("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"), _name_operands("mma")
    (('D', 'A', 'B', 'C', 'E', '0'), ())
    >>> _name_operands("tcgen05.mma.cta_group::1.kind::mxf4.block_scale.block32")
    ('D', 'A', 'B', 'idesc', 'SFA', 'SFB', 'p')
    """
    try:
        words = OPERAND.findall(signature(mnemonic).asm)
    except IsaError:
        return ()
    return tuple(IN_MEMORY.get(word, word.strip("[{}]")) for word in words)


def _in_place(named: Sequence[str]) -> bool:
    """Whether a product adds to C in place: its text has no other name than D for it."""
    return "D" in named and "C" not in named


def _operand(params: Set[str], asm: Asm, text: str) -> Taken | None:
    """Return the parameters in one operand of an instruction; None where something else is in it."""
    indices = read_numbers(text)
    if not indices or (text[0] == "[" and len(indices) > 1) or max(indices) >= len(asm.operands):
        return None
    constraints: dict[str, str] = {}
    for index in indices:
        constraint, expression = asm.operands[index].constraint, asm.operands[index].text
        names = [name for name in NAME.findall(expression) if name in params]
        if len(names) != 1 or "[" in expression:
            return None
        constraints[names[0]] = constraint if expression == names[0] else ""
    return Taken(tuple(constraints), constraints)


def _fault(types_of: Mapping[str, Any], array: RegisterArray, taken: Taken) -> ArrayFault | None:
    """Find what is wrong with an array by the registers that the assembly takes."""
    kinds = [types_of[name] for name in taken.names]
    differing = next((kind for kind in kinds if _differs(array.type, kind)), array.type)
    if array.count == 0 or len(taken.names) != array.count or differing != array.type:
        kind = kinds[0] if array.count == 0 and kinds[0] is not None else differing
        right = replace(array, type=kind, count=len(taken.names))
        return _say_difference(array, f"the assembly takes {right.declaration}: {_list_registers(taken.names)}", right)
    for name, constraint in taken.constraints.items():
        letter = constraint.lstrip("=+&")
        kind, width = _format(array.type) or ("", None)
        if letter in WIDTH and width is not None and (width != WIDTH[letter] or FLOATS.get(letter, kind) != kind):
            of = FLOATS.get(letter, f"{WIDTH[letter]} bits")
            return _say_difference(array, f'the assembly takes {name} as "{constraint}", a register of {of}')
    return None


def _others(
    assembly: AssemblyFunction, declared: Mapping[str, RegisterArray], taken: Mapping[str, Taken]
) -> list[RegisterArray]:
    """Return the arrays whose parameters the assembly does not show, but their places in the list do."""
    left = [array for part, array in declared.items() if part not in taken]
    if assembly.name == "copy":
        return left
    in_place = any(_in_place(_name_operands(name)) for names in assembly.mnemonics for name in names)
    return [array for array in left if array.part == "D" and in_place and "C" in taken and array.count]


def _rest(
    kinds: Mapping[str, Any], array: RegisterArray, hidden: list[RegisterArray], taken: Mapping[str, Taken]
) -> list[str]:
    """Return the parameters of an array: those that neither the assembly nor an array before it takes."""
    used = {name for operand in taken.values() for name in operand.names}
    left = [name for name in kinds if name not in used]
    start = sum(before.count for before in hidden[: hidden.index(array)])
    return left[start : start + array.count]


def _of_rest(function: str, kinds: Mapping[str, Any], array: RegisterArray, own: Sequence[str]) -> ArrayFault | None:
    """Find what is wrong with an array by the parameters at its place in the list."""
    if array.count == 0:
        return None if array.type == TypeName("void") else _say_difference(array, "an array has at least 1")
    if len(own) < array.count:
        return _say_difference(array, f"{function}() has {len(own)} of them{': ' if own else ''}{_list_registers(own)}")
    wrong = next((name for name in own if _differs(array.type, kinds[name])), "")
    return _say_difference(array, f"{function}() takes {wrong} as {show_value(kinds[wrong])}") if wrong else None


def _comparable(declared: Any, taken: Any) -> bool:
    """Whether two types are one, or the bits of both are known."""
    return bool(taken is not None and declared == taken) or None not in (_format(declared), _format(taken))


def _differs(declared: Any, taken: Any) -> bool:
    """Whether two types are known to differ in more than the sign of integers."""
    wanted, given = _format(declared), _format(taken)
    return wanted is not None and given is not None and wanted != given


def _format(value: Any) -> tuple[str, int] | None:
    """Return a type's sort and the number of its bits; None if they are not known.

    >>> _format(TypeName("int32_t")), _format(TypeName("half_t")), _format(TypeName("T"))
    (('integer', 32), ('half_t', 16), None)
    """
    try:
        width = bits(value)
    except (Needs, Unread):
        return None
    return "integer" if INTEGER.fullmatch(value.name) else str(value), width


def _say_difference(array: RegisterArray, what: str, right: RegisterArray | None = None) -> ArrayFault:
    return ArrayFault(array.place, f"{array.part}Registers is {array.declaration}, {what}", right)


def _list_registers(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]}"
