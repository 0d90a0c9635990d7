# SPDX-License-Identifier: Apache-2.0
"""A definition of a header as the entry of an atom: its layouts, with the instructions that its operation issues."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from layouts.atoms.reading import ReadAtom, read_atom
from layouts.toml.entry import Entry
from verify.scan.assembly import ASM, AssemblyFunction, function
from verify.scan.declarations import Item
from verify.scan.evaluation import Evaluator, Frame, symbols
from verify.scan.program import COMMON
from verify.scan.registers import arrays, types
from verify.scan.traits import Instance
from verify.scan.values import Needs, Tv, TypeName, Unread, number, show_value

PTX = {
    "half_t": "f16", "bfloat16_t": "bf16", "tfloat32_t": "tf32", "float": "f32", "double": "f64",
    "float_e4m3_t": "e4m3", "float_e5m2_t": "e5m2", "float_e3m2_t": "e3m2", "float_e2m3_t": "e2m3",
    "float_e2m1_t": "e2m1", "float_ue8m0_t": "ue8m0", "float_ue4m3_t": "ue4m3", "uint1b_t": "b1", "int4b_t": "s4",
    "uint4b_t": "u4", "int8_t": "s8", "uint8_t": "u8", "int16_t": "s16", "uint16_t": "u16", "int32_t": "s32",
    "uint32_t": "u32", "int": "s32",
}  # fmt: skip
DESCRIBED = {  # what a descriptor chooses, by the kind of tcgen05.mma: the types of A, B and of C, D
    "tf32": ("tf32", "f32"), "f16": ("f16", "f32"), "i8": ("s8", "s32"), "f8f6f4": ("e4m3", "f32"),
    "mxf8f6f4": ("e4m3", "f32"), "mxf4": ("e2m1", "f32"), "mxf4nvf4": ("e2m1", "f32"),
}  # fmt: skip
KIND = re.compile(r"tcgen05\.mma\S*\.kind::(\w+)")
CONTAINERS = {"uint8_t": 8, "uint4_t": 4}  # types whose bits may be another type's
SPACES = {"smem_desc": "smem", "sparse_smem_desc": "smem", "tmem_frg": "tmem"}
IN_MEMORY = ("cp.", "tcgen05.cp", "red.")  # copies without an operand in registers
VENDOR = re.compile(r"\b(?:__spirv_\w+|__builtin_IB_\w+|intel::\w+|detail::Xe\w+|\w*sycl\w*)")
DEEPEST = 4  # operations that call operations


class Operations:
    """The functions of the operations of some headers."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self._found: dict[TypeName, AssemblyFunction | None] = {}

    def of(self, operation: TypeName, depth: int = 0) -> AssemblyFunction | None:
        """Return the fma or copy of an operation, or of its base; None where it has none.

        Raises Unread for an operation that is not among the headers, or whose base is not.
        """
        if operation not in self._found:
            self._found[operation] = self._of(operation, depth)
        return self._found[operation]

    def _of(self, operation: TypeName, depth: int) -> AssemblyFunction | None:
        struct = operation.struct
        if struct is None or depth > DEEPEST:
            raise Unread(f"its operation {show_value(operation):.60} is not among the headers")
        try:
            frame = self.evaluator.instantiate(operation)
        except (Unread, Needs):
            space = self.evaluator.program.spaces.get(struct)
            if space is None:
                raise
            frame = Frame({}, space, struct.header, struct)
        struct = frame.struct or struct
        assembly = function(struct, lambda text: self._holds(text, frame))
        if assembly is not None:
            return self._add_arrays(
                replace(assembly, types=types(self.evaluator, assembly.declared, frame)), struct, frame
            )
        if not struct.bases:
            return None
        base = self.evaluator.text(struct.bases, frame)
        if not isinstance(base, TypeName):
            raise Unread(f"its base {struct.bases:.60} isn't an operation")
        inherited = self.of(base, depth + 1)
        return self._add_arrays(inherited, struct, frame) if inherited is not None else None

    def alone(self, struct: Item) -> AssemblyFunction | None:
        """Return the fma or copy in a struct that no definition names: its parameters have no values."""
        assembly = function(struct, lambda _: None)
        if assembly is None:
            return None
        frame = Frame(symbols(struct), self.evaluator.program.spaces[struct], struct.header, struct)
        return self._add_arrays(replace(assembly, types=types(self.evaluator, assembly.declared, frame)), struct, frame)

    def _add_arrays(self, assembly: AssemblyFunction, struct: Item, frame: Frame) -> AssemblyFunction:
        """Return a function with the arrays of registers that an operation declares."""
        return replace(assembly, arrays=arrays(self.evaluator, struct, frame, assembly.name))

    def _holds(self, text: str, frame: Frame) -> bool | None:
        try:
            return bool(number(self.evaluator.text(text, frame)))
        except (Unread, Needs):
            return None

    def list_mnemonics(self, operation: TypeName, depth: int = 0) -> list[list[str]]:
        """Return the mnemonics that an operation and those that it calls issue. Raises Unread."""
        assembly = self.of(operation, depth)
        if assembly is None:
            return []
        if besides := next((asm.unread for asm in assembly.asms if asm.unread), ""):
            raise Unread(f"its asm string is not text alone: {besides:.60}")
        if not assembly.asms and ASM.search(assembly.header.code, *assembly.body):
            raise Unread("the conditions of its operation leave out every asm statement")
        if not assembly.asms and (builtin := VENDOR.search(assembly.header.code, *assembly.body)):
            raise Unread(f"its operation calls {builtin[0]}, which isn't PTX")
        called: list[list[str]] = []
        for name in assembly.calls:
            if name in COMMON:  # a function of the namespace
                continue
            callee = self.evaluator.text(name, self.evaluator.instantiate(operation))
            if isinstance(callee, TypeName) and callee.struct is not None:
                called += self.list_mnemonics(callee, depth + 1)
        return assembly.mnemonics + called


def issues_in_memory(issued: list[list[str]]) -> bool:
    """Whether a copy has no operand in registers."""
    return bool(issued) and all(name.startswith(IN_MEMORY) for names in issued for name in names)


def atom(
    name: str, file: str, instance: Instance, issued: list[list[str]], permuted: tuple[int, ...] | None
) -> ReadAtom:
    """Return the atom that an instance claims. Raises AtomFileError."""
    table: dict[str, Any] = {
        "ptx": [names[0] if len(names) == 1 else names for names in issued],
        "thr": str(instance.thr),
        **{part: str(operand.layout) for part, operand in instance.operands.items()},
    }
    if instance.shape:
        table |= _of_mma(instance, issued)
    else:
        copies = {part: count for part in ("Src", "Dst") if (count := _copies(instance.operands[part].layout)) > 1}
        table |= {"copies": copies} if copies else {}
        table |= {"adapter": {"name": "bytes permuted by copy()", "bytes": list(permuted)}} if permuted else {}
        if not issued:
            table["space"] = {"Src": "reg", "Dst": "reg"}
    return read_atom(Entry(file, name, table))


def _of_mma(instance: Instance, issued: list[list[str]]) -> dict[str, Any]:
    """Shape, types and spaces of an MMA."""
    types = {part: _type(instance.types.get(f"ValType{part}"), issued) for part in "DABC"}
    scale = instance.types.get("ValTypeSF", instance.types.get("ValTypeSFA"))
    if isinstance(scale, TypeName) and scale.name in PTX:
        types |= {part: PTX[scale.name] for part in ("SFA", "SFB") if part in instance.operands}
    elements = {part: made for part in "DABC" if (made := _element(instance.types.get(f"ValType{part}")))}
    spaces = {part: space for part in "ABC" if (space := _space(instance.types.get(f"FrgType{part}")))}
    given = {part: name for part, name in types.items() if name}
    if not issued:
        given = {part: name or "any" for part, name in types.items()}
    elif described := KIND.match(issued[0][0]):
        inner, outer = DESCRIBED.get(described[1], ("", ""))
        given = {
            part: name if name and _gives_type(instance, part) else inner if part in "AB" else outer
            for part, name in types.items()
            if inner
        }
    if elements:
        given = {part: elements[part].partition("x")[2] if part in elements else name for part, name in types.items()}
    return {
        "shape": list(instance.shape),
        **({"types": given} if given else {}),
        **({"element": elements} if elements else {}),
        **({"space": spaces} if spaces else {}),
    }


def _gives_type(instance: Instance, part: str) -> bool:
    """Whether a definition gives the type of an operand itself, by more than its bits."""
    value = _element_type(instance.types.get(f"ValType{part}"))
    return value not in instance.values.values() and not (isinstance(value, TypeName) and value.name in CONTAINERS)


def _element_type(value: Any) -> Any:
    """Return a value type, that of the elements of a sparse one."""
    sparse = isinstance(value, TypeName) and value.name == "sparse_elem" and len(value.arguments) == 2
    return value.arguments[1] if sparse else value


def _type(value: Any, issued: list[list[str]]) -> str:
    """Return the ISA's name of a value type; empty where the type only has the bits of another, or is a parameter."""
    value = _element_type(value)
    if isinstance(value, TypeName) and value.name in CONTAINERS:
        floats = ("e2m1", "e3m2", "e2m3", "e4m3", "e5m2")
        if not issued or any(f".{word}" in names[0] for names in issued for word in floats):
            return ""
    return PTX.get(value.name, "") if isinstance(value, TypeName) else ""


def _element(value: Any) -> str:
    """Of how many numbers of which type a complex number is made; empty for a plain one."""
    if isinstance(value, TypeName) and value.name == "complex" and value.arguments:
        inner = value.arguments[0]
        return f"2x{PTX[inner.name]}" if isinstance(inner, TypeName) and inner.name in PTX else ""
    if isinstance(value, TypeName) and value.struct is not None and value.struct.body:
        start, end = value.struct.body
        first = value.struct.header.code[start:end].partition(";")[0].split(None, 1)
        if len(first) == 2 and first[0] in PTX:
            return f"{first[1].count(',') + 1}x{PTX[first[0]]}"
    return ""


def _space(value: Any) -> str:
    """Return the memory that a fragment type names; empty for registers."""
    name = value.name.rpartition("::")[2] if isinstance(value, TypeName) else ""
    return next((space for head, space in SPACES.items() if name.startswith(head)), "")


def _copies(layout: Tv) -> int:
    """How many places each bit has by the strides of 0."""
    copies = 1
    for extent, step in zip(_leaves(layout.shape), _leaves(layout.stride), strict=False):
        copies *= extent if step == 0 else 1
    return copies


def _leaves(value: Any) -> list[int]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]
