# SPDX-License-Identifier: Apache-2.0
"""Operands in shared memory before the silicon's witness: recordings number their places by address, atoms by element.

The book's address maps stand between the two: element (mn, k) of an image, in each swizzle and major that was
recorded, is at the address that the descriptor's layout gives it. So what is compared is where elements are in memory,
by the book, and in registers, by the atom. In which order the atom counts the elements of a matrix in memory is not:
no hardware sees it. k of a sparse instruction and its metadata are left to `verify.evidence.gpu_sparse`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

import gpu_checks
import isa_tables
from gpu_checks import Image
from gpu_checks.model import CONTRACTED
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.binding.atom import BoundAtom, BoundOperand
from verify.binding.coordinates import Registers, codomain
from verify.core.digits import every, halves, modes
from verify.evidence.gpu_sparse import Stored, by_class, coarseness

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
PLAINEST = ("none", "K")
ROWS = 8  # of a core matrix
CHUNK = 16  # bytes of one of its rows


@dataclass(frozen=True, slots=True)
class Comparable:
    """What can be compared: an atom's labels and a recording, brought to the same slots."""

    claimed: Mapping[str, Table]  # operand -> [lane][value] -> label: what the atom says
    recording: gpu_checks.Recording  # what the GPU did, over the same slots
    # operands whose labels absolute coordinates can give: in registers, with every column of their tile's
    tied: tuple[BoundOperand, ...]
    axes: str  # those that are compared: mnk, or mn where k depends on metadata
    said: str  # how they are compared, in words
    stored: Stored | None = None  # of a sparse instruction: what else has to agree


def comparable(
    subject: BoundAtom, claimed: Mapping[str, Table], recording: gpu_checks.Recording, memory: bool = True
) -> Comparable | str:
    """Labels and recording brought to the same slots, or why that cannot be; without `memory`, of registers alone."""
    parts = tuple(part for part in subject.parts if part.name in ("A", "B", "C"))
    sparse = "E" in subject.instruction.operands  # also where the atom left it out
    for part in parts:
        table, where = subject.instruction.operands.get(part.name), _space(subject, part)
        if table is not None and table.space != where:
            return f"{part.name} is in {where}, the instruction has it in {table.space}"
    registers = tuple(part for part in parts if _space(subject, part) == "reg")
    if not sparse and registers == parts:
        return Comparable(claimed, recording, parts, "mnk", "")
    tables, cells = dict(claimed), dict(recording.operands)
    for part in registers:
        tables[part.name] = _stored(part, tables[part.name])
    others = tuple(part for part in parts if memory and part not in registers)
    for part in others:
        dealt = _by_address(subject, part, recording)
        if isinstance(dealt, str):
            return dealt
        tables[part.name], cells[part.name] = dealt
    seen = replace(recording, operands=cells)
    tied = tuple(part for part in registers if not (sparse and part.name == "A"))
    told = [f"{part.name} by the book's addresses, not in the order of its values" for part in others]
    found = _sparse(subject, claimed, tables, seen, recording) if sparse and memory else None
    if isinstance(found, str):
        return found
    told += _how(found) if found else []
    return Comparable(tables, seen, tied, "mn" if sparse else "mnk", "; ".join(told), found)


def _space(subject: BoundAtom, part: BoundOperand) -> str:
    return subject.atom.space.get(part.name, "reg")


def _sparse(
    subject: BoundAtom,
    claimed: Mapping[str, Table],
    tables: Mapping[str, Table],
    seen: gpu_checks.Recording,
    recording: gpu_checks.Recording,
) -> Stored | str:
    """What k and metadata are judged by: A's stored elements as the atom or, in memory, the book's addresses say."""
    meaning, metadata = subject.instruction.signature.sparsity, recording.metadata
    if meaning is None or metadata is None:
        return "its metadata was not recorded"
    if metadata.kept.keys() != meaning.kept.keys():
        return "the patterns of metadata under which it was recorded are not those of the book"
    if metadata.rulers.keys() != set(subject.instruction.signature.select.get("F", (0,))):
        return "the selectors under which it was recorded are not those of the book"
    b, e = (tables["B"][..., 2], seen.operands["B"][..., CONTRACTED]), claimed.get("E")
    if claimed.get("A") is not None:
        dealt, elements = claimed["A"][..., 1:], tables["A"][..., 1:]
    else:
        dealt, elements = None, by_class(recording, tables["A"][..., 1:], seen.operands["A"])
        elements = elements * (1, coarseness(meaning))
    return Stored(meaning, metadata, elements, dealt, b, None if e is None else e[..., 1:])


def _how(stored: Stored) -> list[str]:
    """How k and E are compared, or that E is not."""
    patterns, selectors = len(stored.metadata.kept), len(stored.metadata.rulers)
    told = f"k under {patterns} patterns of metadata, whose meaning is the book's"
    if stored.e is None:
        return [f"{told}; E is not given"]
    return [f"{told}; E by the fields that rule A's elements under {selectors} selector{'s' * (selectors > 1)}"]


def _stored(part: BoundOperand, table: Table) -> Table:
    """Of an operand in registers, the values that an instruction stores: one for each element of the book's."""
    formula = part.formulas[0]
    coarse = formula.coarse if isinstance(formula, Registers) else 1
    return table[:, ::coarse] if coarse > 1 else table


def _not_whole(part: BoundOperand) -> str:
    """Why a matrix in memory is not seen as one: all threads alike, each element once; empty when it is."""
    if part.layout is None:
        return f"{part.name} is not well formed"
    thread, value = halves(part.layout)
    if any(stride and extent > 1 for extent, stride in modes(*thread)):
        return f"{part.name} is in memory, and its threads do not see it alike"
    if sorted(every(*value)) != list(range(part.extent[0] * part.extent[1])):
        return f"{part.name} is in memory, and its values are not each element of {part.tile} once"
    return ""


def _by_address(subject: BoundAtom, part: BoundOperand, recording: gpu_checks.Recording) -> tuple[Table, Table] | str:
    """Labels and recorded classes of every place of every recorded image that holds an element by the book."""
    where = _space(subject, part)
    fault = _not_whole(part) if where == "smem" else f"{part.name} is in {where}"
    if fault:
        return fault
    operand, name = subject.instruction.operands[part.name], part.name
    row, col = (grid.ravel() for grid in np.indices(operand.extent))
    x, y = codomain(name, row, col)
    labels = np.stack([np.zeros_like(x), x, y], axis=-1)
    inner = y * operand.bits % 8  # elements of a byte follow one another along k
    found = []
    for image in _images(operand, name, recording):
        try:
            address = operand.address(row, col, image.swizzle, image.major, lbo=image.lbo, sbo=image.sbo)
        except isa_tables.IsaError as error:
            return str(error)
        slot = (address * 8 + inner) // operand.bits
        if slot.max() >= image.labels.shape[1] or np.bincount(slot).max() > 1:
            return f"the book's addresses do not number the places of {name} {image.major}-major {image.swizzle}"
        found.append(image.labels[0, slot])
    if not found:
        return f"{name} in shared memory was not recorded"
    return np.tile(labels, (len(found), 1))[None], np.concatenate(found)[None]


def _images(operand: isa_tables.Operand, name: str, recording: gpu_checks.Recording) -> Iterator[Image]:
    """The recorded images of an operand; the plainest of the recording's own operands first."""
    own = recording.operands[name]
    if own.shape[0] == 1:
        mn = operand.extent[operand.axes.index("m" if name == "A" else "n")]
        yield Image(name, *PLAINEST, CHUNK * mn, CHUNK * ROWS, own)
    yield from (image for image in recording.images if image.operand == name)


def refutable(atom: AnyAtom, operand: str) -> bool:
    """Whether a recording refutes any other layout of an operand: it has to be in registers.

    Of a copy also in memory, where one lane moves each row: of several that name it, one is read.
    """
    moved = isinstance(atom, CopyAtom) and atom.copies.get(operand, 1) == 1
    return moved or atom.space.get(operand, "reg") == "reg"


def free(atom: Atom, operands: Sequence[str]) -> bool:
    """Whether no recording sees one permutation of an axis in these operands, which hold it: none of them is in memory.

    n aside, metadata ties the axes of a sparse instruction.
    """
    tied = "E" in atom.operands and "A" in operands
    return not tied and all(atom.space.get(operand, "reg") == "reg" for operand in operands)
