# SPDX-License-Identifier: Apache-2.0
"""Inline assembly of one instruction: a CUDA function `issue` that takes and gives words.

What the function does is in the signature: the operand list of the assembly text, the registers of each
operand and their type. An operand in shared memory is passed as its 64-bit matrix descriptor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpu_checks.kernels.packing import words_per_register
from gpu_checks.kernels.templates import beside

if TYPE_CHECKING:
    from isa_tables.signature import Fragment, Signature

_CUDA = beside(__file__)
READ = {
    "f16": "half(d[i / 2] >> (i % 2 * 16))",
    "f32": "__uint_as_float(d[i])",
    "s32": "(int)d[i]",
    "u32": "d[i]",
    "f64": "__hiloint2double(d[2 * i + 1], d[2 * i])",
}
_CONSTRAINTS = {
    "b32": ("r", "u32", "{}"),
    "s32": ("r", "u32", "{}"),
    "f32": ("f", "float", "__uint_as_float({})"),
    "f64": ("d", "double", "__hiloint2double({1}, {0})"),
}
_BACK = {"b32": "{}", "s32": "{}", "f32": "__float_as_uint({})"}
_VECTORS = frozenset("DABCR")  # of a warp-wide instruction in braces; metadata and scale factors are plain registers


def is_warpgroup(signature: Signature) -> bool:
    """Whether a warpgroup issues the instruction, asynchronously: its accumulators are its D and its C."""
    return signature.lanes == 128


def issue(signature: Signature, asm: str) -> str:
    """`issue(d, a, b, c, ...)`: the operands in the order of the signature, each as words of the lane.

    `asm` is the operand list to use; c of a warpgroup's instruction is what the accumulators hold before.
    """
    result = signature.operands["D"]
    letter, kind, cast = _CONSTRAINTS[result.reg_type]
    registers = range(result.regs)
    inputs = [name for name in signature.operands if name != "D"]
    starts = is_warpgroup(signature)
    given = [cast.format(*_words("c", result, r)) for r in registers] if starts else []
    declared = [f"d{r} = {given[r]}" if starts else f"d{r}" for r in registers]
    instruction = _CUDA["wgmma" if starts else "instruction"]
    return _CUDA["issue"].substitute(
        instruction=instruction.substitute(mnemonic=signature.mnemonic, operands=operand_list(signature, asm)),
        parameters=", ".join(_parameter(signature, name) for name in [*inputs, *(["C"] if starts else [])]),
        declare=f"{kind} {', '.join(declared)};",
        outputs=", ".join(f'"{"+" if starts else "="}{letter}"(d{r})' for r in registers),
        inputs=", ".join(text for name in inputs for text in register_inputs(name.lower(), signature.operands[name])),
        assign=" ".join(_assign(result, r) for r in registers),
    )


def issue_in_memory(signature: Signature, asm: str, stride: int, zero: bool) -> str:
    """`issue(d, a, b, ...)` of a warpgroup's instruction that leaves its accumulators in memory.

    Word w is d[w * stride]. Either it starts as zero, and d is shared memory; or as what is there, in global memory.
    The assembly itself loads and stores them, for CUDA's front end takes long over a hundred registers.
    """
    result = signature.operands["D"]
    inputs = [name for name in signature.operands if name != "D"]
    places = {f"d{r}": f"[%0+{4 * stride * r}]" for r in range(result.regs)}
    space = "shared" if zero else "global"
    load = "mov.b32 {}, 0;" if zero else "ld.global.b32 {}, {};"
    return _CUDA["issue_in_memory"].substitute(
        mnemonic=signature.mnemonic,
        parameters=", ".join(_parameter(signature, name) for name in inputs),
        registers=result.regs,
        loads=" ".join(load.format(name, place) for name, place in places.items()),
        stores=" ".join(f"st.{space}.b32 {place}, {name};" for name, place in places.items()),
        address='"r"((u32)__cvta_generic_to_shared(d))' if zero else '"l"(d)',
        operands=operand_list(signature, asm, list(places)),
        inputs=", ".join(text for name in inputs for text in register_inputs(name.lower(), signature.operands[name])),
    )


def operand_list(signature: Signature, asm: str, result: Sequence[str] = ()) -> str:
    """Return the operand text with numbered registers: D first, the only output, or the address of D's `result`."""
    numbered: dict[str, str] = {}
    place = 0
    for name, fragment in signature.operands.items():
        named = result if name == "D" else ()
        names = [*named] or [f"%{place + r}" for r in range(fragment.regs)]
        place += 1 if named else fragment.regs
        vector = name in _VECTORS and signature.lanes > 1 and fragment.space == "reg"
        numbered[name] = f"{{{', '.join(names)}}}" if vector else names[0]
    return re.sub(r"\{([A-Z]+)\}", lambda match: numbered[match[1]], asm)


def register_inputs(name: str, fragment: Fragment) -> Iterator[str]:
    """Yield the input constraints of one operand, whose words are the array `name`."""
    if fragment.space == "smem":
        yield f'"l"({name})'
        return
    letter, _, cast = _CONSTRAINTS[fragment.reg_type]
    for register in range(fragment.regs):
        yield f'"{letter}"({cast.format(*_words(name, fragment, register))})'


def _words(name: str, fragment: Fragment, register: int) -> list[str]:
    width = words_per_register(fragment)
    return [f"{name}[{register * width + w}]" for w in range(width)]


def _parameter(signature: Signature, name: str) -> str:
    in_memory = name != "C" and signature.operands[name].space == "smem"
    return f"u64 {name.lower()}" if in_memory else f"const u32* {name.lower()}"


def _assign(fragment: Fragment, register: int) -> str:
    if fragment.reg_type == "f64":
        low, high = 2 * register, 2 * register + 1
        return f"d[{low}] = __double2loint(d{register}); d[{high}] = __double2hiint(d{register});"
    return f"d[{register}] = {_BACK[fragment.reg_type].format(f'd{register}')};"
