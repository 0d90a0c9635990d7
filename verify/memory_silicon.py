# SPDX-License-Identifier: Apache-2.0
"""Operands in shared memory before the silicon's witness: recordings number their places by address, atoms by element.

The book's address maps stand between the two: element (mn, k) of an image, in each swizzle and major that was
recorded, is at the address that the descriptor's layout gives it. So what is compared is where elements are in memory,
by the book, and in registers, by the atom. In which order the atom counts the elements of a matrix in memory is not:
no hardware sees it. Nor is k of a sparse instruction, which metadata rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

import gpu_checks
import isa_tables
from gpu_checks import Image
from layouts.atoms import Atom
from verify.arithmetic import every, halves, modes
from verify.formulas import Registers, codomain
from verify.subject import Part, Subject

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
PLAINEST = ("none", "K")
ROWS = 8  # of a core matrix
CHUNK = 16  # bytes of one of its rows


@dataclass(frozen=True, slots=True)
class Comparable:
    """What can be compared: labels and recording over the same slots, the axes, and what is left out, in words.

    `tied` are the operands whose labels an anchor can give: in registers, every column of them in the tile's.
    """

    claimed: Mapping[str, Table]
    recording: gpu_checks.Recording
    tied: tuple[Part, ...]
    axes: str
    said: str


def comparable(
    subject: Subject, claimed: Mapping[str, Table], recording: gpu_checks.Recording, memory: bool = True
) -> Comparable | str:
    """Labels and recording brought to the same slots, or why that cannot be; without `memory`, of registers alone."""
    space = subject.atom.space
    parts = tuple(part for part in subject.parts if part.name in ("A", "B", "C"))
    sparse = "E" in subject.instructions[0].operands  # also where the atom left it out
    for part in parts:
        table = subject.instructions[0].operands.get(part.name)
        if table is not None and table.space != space.get(part.name, "reg"):
            return f"{part.name} is in {space.get(part.name, 'reg')}, the instruction has it in {table.space}"
    if not sparse and all(space.get(part.name, "reg") == "reg" for part in parts):
        return Comparable(claimed, recording, parts, "mnk", "")
    tables, cells = dict(claimed), dict(recording.operands)
    for part in parts:
        where = space.get(part.name, "reg")
        if where == "reg":
            tables[part.name] = _stored(part, tables[part.name])
            continue
        if not memory:
            continue
        fault = _not_whole(part) if where == "smem" else f"{part.name} is in {where}"
        if fault:
            return fault
        dealt = _by_address(subject.instructions[0].operands[part.name], part.name, recording)
        if isinstance(dealt, str):
            return dealt
        tables[part.name], cells[part.name] = dealt
    told = _told([part.name for part in parts if space.get(part.name, "reg") != "reg"], sparse)
    tied = tuple(p for p in parts if space.get(p.name, "reg") == "reg" and not (sparse and p.name == "A"))
    return Comparable(tables, replace(recording, operands=cells), tied, "mn" if sparse else "mnk", told)


def _told(in_memory: list[str], sparse: bool) -> str:
    """What is compared otherwise, and what is not."""
    told = [f"{name} by the book's addresses, not in the order of its values" for name in in_memory]
    return "; ".join([*told, *(["without k and E, which metadata rules"] if sparse else [])])


def _stored(part: Part, table: Table) -> Table:
    """Of an operand in registers, the values that an instruction stores: one for each element of the book's."""
    formula = part.formulas[0]
    coarse = formula.coarse if isinstance(formula, Registers) else 1
    return table[:, ::coarse] if coarse > 1 else table


def _not_whole(part: Part) -> str:
    """Why a matrix in memory is not seen as one: all threads alike, each element once; empty when it is."""
    if part.layout is None:
        return f"{part.name} is not well formed"
    thread, value = halves(part.layout)
    if any(stride and extent > 1 for extent, stride in modes(*thread)):
        return f"{part.name} is in memory, and its threads do not see it alike"
    if sorted(every(*value)) != list(range(part.extent[0] * part.extent[1])):
        return f"{part.name} is in memory, and its values are not each element of {part.tile} once"
    return ""


def _by_address(operand: isa_tables.Operand, name: str, recording: gpu_checks.Recording) -> tuple[Table, Table] | str:
    """Labels and recorded classes of every place of every recorded image that holds an element by the book."""
    row, col = (grid.ravel() for grid in np.indices(operand.extent))
    x, y = codomain(name, row, col)
    labels = np.stack([np.zeros_like(x), x, y], axis=-1)
    found = []
    for image in _images(operand, name, recording):
        try:
            address = operand.address(row, col, image.swizzle, image.major, lbo=image.lbo, sbo=image.sbo)
        except isa_tables.IsaError as error:
            return str(error)
        slot = address * 8 // operand.bits
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


def refutable(atom: Atom, operand: str) -> bool:
    """Whether a recording refutes any other layout of an operand: in registers, and not ruled by metadata."""
    return atom.space.get(operand, "reg") == "reg" and not ("E" in atom.operands and operand in ("A", "E"))
