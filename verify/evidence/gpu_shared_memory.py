# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` of operands in shared memory: recordings number slots by address, atoms number elements.

The address maps of the ISA tables relate the two: element (mn, k) of an image, in each swizzle and major that was
recorded, is at the address that the descriptor's layout gives. So the comparison covers where elements are in memory,
by the ISA tables, and in registers, by the atom. It does not cover the order in which the atom counts the elements of a
matrix in memory: no hardware depends on it. k of a sparse instruction and its metadata are compared in
`verify.evidence.gpu_sparse`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np

import gpu_checks
import isa_tables
from gpu_checks import Image
from gpu_checks.model import CONTRACTED
from layouts.atoms import AnyAtom, Atom, CopyAtom
from verify.binding.bound import BoundMaps
from verify.binding.coordinates import Registers, codomain
from verify.binding.operand import BoundOperand
from verify.core.digits import every, halves, modes
from verify.core.memo import Memo
from verify.evidence.gpu_sparse import StoredElements, by_class, coarseness

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
PLAINEST = ("none", "K")
ROWS, CHUNK = 8, 16  # of a core matrix, and the bytes of one of its rows: PTX ISA 9.7.15.5.1.2
ONCE: Mapping[str, int] = MappingProxyType({})


class Comparable(NamedTuple):
    """What can be compared: an atom's labels and a recording, brought to the same slots."""

    claimed: Mapping[str, Table]  # operand -> [lane][value] -> label, by the atom
    recording: gpu_checks.Recording  # what the GPU did, over the same slots
    # operands whose labels absolute coordinates can give: in registers, with every column of their tile's
    tied: tuple[BoundOperand, ...]
    axes: str  # those that are compared: mnk, or mn where k depends on metadata
    how: str  # how they are compared, in words
    times: Mapping[str, int] = ONCE  # of an operand in memory, how many images had one and the same classes
    stored: StoredElements | None = None  # of a sparse instruction: what else has to agree


def comparable(
    subject: BoundMaps,
    claimed: Mapping[str, Table],
    recording: gpu_checks.Recording,
    memo: Memo,
    memory: bool = True,
) -> Comparable | str:
    """Labels and recording over the same slots, or why that is impossible; without `memory`, only of registers."""
    parts = tuple(part for part in subject.parts if part.name in ("A", "B", "C"))
    sparse = "E" in subject.instruction.operands  # also if the atom omits it
    for part in parts:
        table, where = subject.instruction.operands.get(part.name), _space(subject, part)
        if table is not None and table.space != where:
            return f"{part.name} is in {where}, the instruction has it in {table.space}"
    registers = tuple(part for part in parts if _space(subject, part) == "reg")
    if not sparse and registers == parts:
        return Comparable(claimed, recording, parts, "mnk", "")
    tables, cells, times = dict(claimed), dict(recording.operands), dict[str, int]()
    for part in registers:
        formula = part.formulas[0]  # of what an instruction stores, one label for each of its elements
        tables[part.name] = tables[part.name][:, :: formula.coarse if isinstance(formula, Registers) else 1]
    elsewhere = tuple(part for part in parts if memory and part not in registers)
    for part in elsewhere:
        addressed = _by_address(subject, part, recording, memo)
        if isinstance(addressed, str):
            return addressed
        tables[part.name], cells[part.name], times[part.name] = addressed
    seen = replace(recording, operands=cells)
    tied = tuple(part for part in registers if not (sparse and part.name == "A"))
    how = [f"{part.name} by the ISA's addresses, not in the order of its values" for part in elsewhere]
    stored = _sparse(subject, claimed, tables, seen, recording) if sparse and memory else None
    stored = stored._replace(times=times.get("B", 1)) if isinstance(stored, StoredElements) else stored
    if isinstance(stored, str):
        return stored
    if stored:
        patterns, selectors = len(stored.metadata.kept), len(stored.metadata.rulers)
        fields = f"E by the fields that select A's elements under {selectors} selector{'s' * (selectors > 1)}"
        meaning = f"k under {patterns} patterns of metadata, with their meaning in the ISA"
        how.append(f"{meaning}; {'E is not given' if stored.e is None else fields}")
    return Comparable(tables, seen, tied, "mn" if sparse else "mnk", "; ".join(how), times, stored)


def _space(subject: BoundMaps, part: BoundOperand) -> str:
    return subject.space.get(part.name, "reg")


def _sparse(
    subject: BoundMaps,
    claimed: Mapping[str, Table],
    tables: Mapping[str, Table],
    seen: gpu_checks.Recording,
    recording: gpu_checks.Recording,
) -> StoredElements | str:
    """Compare k and metadata: A's stored elements, by the atom or, in memory, by the ISA's addresses."""
    meaning, metadata = subject.instruction.signature.sparsity, recording.metadata
    if meaning is None or metadata is None:
        return "its metadata was not recorded"
    if metadata.kept.keys() != meaning.kept.keys():
        return "the patterns of metadata under which it was recorded are not those of the ISA tables"
    if metadata.rulers.keys() != set(subject.instruction.signature.select.get("F", (0,))):
        return "the selectors under which it was recorded are not those of the ISA tables"
    b, e = (tables["B"][..., 2], seen.operands["B"][..., CONTRACTED]), claimed.get("E")
    if claimed.get("A") is not None:
        labels, elements = claimed["A"][..., 1:], tables["A"][..., 1:]
    else:
        labels, elements = None, by_class(recording, tables["A"][..., 1:], seen.operands["A"])
        elements = elements * (1, coarseness(meaning))
    return StoredElements(meaning, metadata, elements, labels, b, None if e is None else e[..., 1:])


def _not_whole(part: BoundOperand) -> str:
    """Say why a layout isn't a matrix in memory, with each element once and alike for all threads; empty if it is."""
    if part.layout is None:
        return f"{part.name} is not well formed"
    thread, value = halves(part.layout)
    if any(stride and extent > 1 for extent, stride in modes(*thread)):
        return f"{part.name} is in memory, and its layout differs between threads"
    if not _whole(*value, part.extent[0] * part.extent[1]):
        return f"{part.name} is in memory, and its values are not each element of {part.tile} once"
    return ""


@lru_cache(maxsize=256)  # plain integers: no bug planted in Layout.__call__ is in them, cached or not
def _whole(shape: object, stride: object, elements: int) -> bool:
    """Whether the values of a shape and stride are each element once."""
    return sorted(every(shape, stride)) == list(range(elements))


def _by_address(
    subject: BoundMaps, part: BoundOperand, recording: gpu_checks.Recording, memo: Memo
) -> tuple[Table, Table, int] | str:
    """Labels and recorded classes of every slot of every recorded image that has an element by the ISA tables.

    Images with one and the same classes are given once, with their number.
    """
    where = _space(subject, part)
    fault = _not_whole(part) if where == "smem" else f"{part.name} is in {where}"
    if fault:
        return fault
    operand, name = subject.instruction.operands[part.name], part.name
    recorded = []
    for image in _images(operand, name, recording):
        try:
            slots = memo.get(_image_key(operand, image), partial(_slots, operand, image))
        except isa_tables.IsaError as error:
            return str(error)
        if not len(slots) or slots.max() >= image.labels.shape[1]:
            return f"the ISA's addresses do not number the slots of {name} {image.major}-major {image.swizzle}"
        recorded.append(image.labels[0].take(slots, axis=0))  # a tenth of the time of [0, slots]
    if not recorded:
        return f"{name} in shared memory was not recorded"
    times = len(recorded)
    if all(np.array_equal(recorded[0], again) for again in recorded[1:]):
        recorded = recorded[:1]
    return _elements(name, operand.extent, len(recorded)), np.concatenate(recorded)[None], times // len(recorded)


def _image_key(operand: isa_tables.Operand, image: Image) -> Hashable:
    """Return all that an address depends on: in the ISA tables, and in a descriptor."""
    of = operand.name, operand.axes, operand.extent, operand.bits, operand.layouts, operand.majors
    at = image.swizzle, image.major, image.lbo, image.sbo
    return type(operand).address, of, at  # the function too, so that an error planted in it is seen


def _slots(operand: isa_tables.Operand, image: Image) -> Table:
    """Return the slot of each element of an operand in one image, by the ISA's address; empty where two share one.

    Raises IsaError where the ISA has no such image.
    """
    rows, columns = operand.extent
    row, col = np.arange(rows)[:, None], np.arange(columns)  # what depends on one of them is computed once for it
    inner = codomain(operand.name, row, col)[1] * operand.bits % 8  # elements of a byte follow one another along k
    address = operand.address(row, col, image.swizzle, image.major, lbo=image.lbo, sbo=image.sbo)
    slots = ((address * 8 + inner) // operand.bits).ravel()
    shared = np.bincount(slots).max() > 1
    numbers: Table = slots[: 0 if shared else None].astype(np.min_scalar_type(int(slots.max())))
    return numbers


@lru_cache(maxsize=2)  # A and B of one shape
def _elements(name: str, extent: tuple[int, int], times: int) -> Table:
    """Return the label of each element of an operand, as often as it has images."""
    x, y = codomain(name, *(grid.ravel() for grid in np.indices(extent)))
    return np.tile(np.stack([np.zeros_like(x), x, y], axis=-1), (times, 1))[None]


def _images(operand: isa_tables.Operand, name: str, recording: gpu_checks.Recording) -> Iterator[Image]:
    """Yield the recorded images of an operand, first the one that the recording has as the operand itself."""
    own = recording.operands[name]
    if own.shape[0] == 1:
        mn = operand.extent[operand.axes.index("m" if name == "A" else "n")]
        yield Image(name, *PLAINEST, CHUNK * mn, CHUNK * ROWS, own)
    yield from (image for image in recording.images if image.operand == name)


def refutable(atom: AnyAtom, operand: str) -> bool:
    """Whether a recording refutes every other layout of an operand: it must be in registers.

    For a copy also in memory, if one lane gives the address of each row: of several lanes only one is read.
    """
    moved = isinstance(atom, CopyAtom) and atom.copies.get(operand, 1) == 1
    return moved or atom.space.get(operand, "reg") == "reg"


def free(atom: Atom, operands: Sequence[str]) -> bool:
    """Whether no recording shows one permutation of an axis in the operands that have it: none of them is in memory.

    Except for n, metadata fixes the axes of a sparse instruction.
    """
    tied = "E" in atom.operands and "A" in operands
    return not tied and all(atom.space.get(operand, "reg") == "reg" for operand in operands)
