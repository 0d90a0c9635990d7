# SPDX-License-Identifier: Apache-2.0
"""Does a pointer advance by another stride of its array? `list_swaps` names each step that may, with the right stride.

A step is what is added to an address: a stride times a constant. Whether another stride is right there is not decided
here: whoever shows a swap has verified the kernel with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verify.kernel.claims.launch import Array, Launch
from verify.kernel.ptx.source import Address, Immediate, Kernel, PtxInstruction, Register, Symbol

MOST = 4  # swaps that are worth a try
SCALES = frozenset({"shl", "mul", "cvt", "mov"})  # by a constant, or not at all


class Swap(NamedTuple):
    """One step with another stride: where, and in words."""

    words: str  # "A advances by stride_am where k has stride_ak"
    lines: tuple[int, ...]  # of the PTX
    old: str  # register
    new: str  # register or number


class _Stride(NamedTuple):
    """A stride of an array, and the parameter that has it, if one does."""

    dim: str
    size: int
    name: str = ""
    register: str = ""


def list_swaps(kernel: Kernel, launch: Launch, text: str) -> list[Swap]:
    """Return swaps of strides in steps of the arrays that a text names, as `A[0,64]`: first those of a loop."""
    swaps = []
    for array in launch.arrays:
        if len(array.shape) > 1 and re.search(rf"\b{array.name}\[", text):
            strides = list(_list_strides(kernel, launch, array))
            steps = [
                (stride, group)
                for stride in strides
                if stride.register
                for group in _group_steps(kernel, stride.register)
            ]
            swaps += [
                (
                    not in_loop,
                    Swap(_say(array, used, stride), lines, used.register, stride.register or str(stride.size)),
                )
                for used, (lines, in_loop) in steps
                for stride in strides
                if stride.size != used.size
            ]
    return [swap for _, swap in sorted(swaps, key=lambda pair: pair[0])][:MOST]


def _say(array: Array, used: _Stride, right: _Stride) -> str:
    """Return what is wrong in words; a stride that the compiler knew has no parameter, and the name that is usual."""
    usual = f"stride_{array.name}{right.dim}".lower() if used.name.startswith("stride_") else f"the stride {right.size}"
    return f"{array.name} advances by {used.name} where {right.dim} has {right.name or usual}"


def _list_strides(kernel: Kernel, launch: Launch, array: Array) -> Iterator[_Stride]:
    """Yield the strides of an array; a parameter has one if it has its number."""
    given: dict[int, tuple[str, str]] = {}
    for name, register in _list_loaded(kernel):
        number = kernel.parameters[name].number
        word = launch.params[number] if number < len(launch.params) else None
        if isinstance(word, str) and word not in {known.name for known in launch.arrays} | set(launch.scalars):
            packed = launch.parameter(number, 8, {})
            assert packed is not None
            given.setdefault(int.from_bytes(packed.octets, "little"), (word, register))
    for dim, size in zip(array.dims, array.strides, strict=True):
        yield _Stride(dim, size, *given.get(size, ()))


def _list_loaded(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """Yield (parameter, register) of each parameter that is loaded whole."""
    for instruction in kernel.instructions:
        if instruction.words[:2] == ("ld", "param") and isinstance(instruction.operands[0], Register):
            place = instruction.operands[1]
            if isinstance(place, Address) and isinstance(place.base, Symbol) and not place.offset:
                if place.base.name in kernel.parameters and not place.base.offset:
                    yield place.base.name, instruction.operands[0].name


def _group_steps(kernel: Kernel, register: str) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Yield (lines, whether in a loop) of the instructions of one place of the source that make steps of a stride."""
    groups: dict[object, list[PtxInstruction]] = {}
    for instruction in kernel.instructions:
        if register in _sources(instruction) and instruction.words[0] in SCALES and _is_scaled(instruction):
            groups.setdefault(instruction.source or instruction.line, []).append(instruction)
    for several in groups.values():
        adds = [add for instruction in several for add in _list_adds(kernel, instruction)]
        if adds:
            yield tuple(instruction.line for instruction in several), any(_name(add) in _sources(add) for add in adds)


def _list_adds(kernel: Kernel, first: PtxInstruction) -> list[PtxInstruction]:
    """Return the additions of what an instruction computes, or of that times a constant."""
    steps, adds = {_name(first)}, []
    for instruction in kernel.instructions:
        sources = _sources(instruction)
        if instruction.words[0] in ("add", "mad") and sources and steps & {*sources}:
            adds.append(instruction)
        elif instruction.words[0] in SCALES and _is_scaled(instruction) and steps & {*sources}:
            steps.add(_name(instruction))
    return adds


def _is_scaled(instruction: PtxInstruction) -> bool:
    """Return whether an instruction has one register, which it may multiply by a number."""
    return len(_sources(instruction)) == 1 and all(
        isinstance(each, Register | Immediate) for each in instruction.operands
    )


def _name(instruction: PtxInstruction) -> str:
    first = instruction.operands[0] if instruction.operands else None
    return first.name if isinstance(first, Register) else ""


def _sources(instruction: PtxInstruction) -> list[str]:
    return [each.name for each in instruction.operands[1:] if isinstance(each, Register)]


def swap_register(ptx: str, swap: Swap) -> str:
    r"""Return PTX in which the instructions of a swap read another register.

    >>> swap_register("mov %r1, %r2;\nshl.b32 %r4, %r1, 5;", Swap("", (2,), "%r1", "%r3"))
    'mov %r1, %r2;\nshl.b32 %r4, %r3, 5;'
    """
    lines = ptx.split("\n")
    for number in swap.lines:
        at, end = find_register(lines[number - 1], swap.old)
        lines[number - 1] = lines[number - 1][:at] + swap.new + lines[number - 1][end:]
    return "\n".join(lines)


def find_register(line: str, name: str) -> tuple[int, int]:
    """Return where a line reads a register; raises ValueError if it doesn't."""
    match = re.search(rf"(?<=,)\s*({re.escape(name)})(?!\w)", line)
    if match is None:
        raise ValueError(f"{line.strip()} does not read {name}")
    return match.span(1)
