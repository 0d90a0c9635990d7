# SPDX-License-Identifier: Apache-2.0
"""Movements bound to the ISA tables: each spec becomes registers, accesses or an operand, or an error under its key."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any, TypeAlias

import isa_tables
from layouts import ComposedLayout, Layout, cosize, size
from layouts.atoms.entry import Entry
from layouts.atoms.tables import Found, tables
from verify.core.errors import SpecError
from verify.core.files import as_keys, opened
from verify.core.specs import read as read_key
from verify.movement import spec
from verify.movement.register_handover import HandOver
from verify.movement.register_operand import RegisterOperand, register_operand
from verify.movement.smem_access import ARCH, MATRICES, WIDTHS, DescribedOperand, SmemAccess, in_parts
from verify.movement.spec import AccessSpec, DescriptorSpec, HandOverSpec, MovementSpec

Movement: TypeAlias = "HandOver | SmemAccess | DescribedOperand"
MOST_TILES = 64
NEEDS: dict[str, tuple[str, dict[str, Any]]] = {  # how memory is accessed -> what an architecture must have
    "ldmatrix": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "stmatrix": ("stmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "cp.async": ("cp.async.ca.shared.global", {"bytes": 16}),
}
FAMILY, LEAST = "wgmma.mma_async.sync", ".m64n8k"  # and the shape qualifier of the least of each type


def read(path: Path) -> Found[Movement]:
    """The movements of a file that can be read, and what is wrong with the others; AtomFileError where none can be."""

    def bound(entry: Entry) -> list[Movement]:
        with as_keys(entry):
            return [bind(spec.of_entry(entry))]

    return tables(opened(path, "movement"), "a movement", spec.options(), bound)


def bind(stated: MovementSpec) -> Movement:
    """The movement that a spec states; raises SpecError for what its keys, or the ISA, forbid together."""
    if isinstance(stated, HandOverSpec):
        return _hand_over(stated)
    if isinstance(stated, AccessSpec):
        return _access(stated)
    if isinstance(stated, DescriptorSpec):
        return _operand(stated)
    raise TypeError(f"{stated.name} is of no sort")


def _hand_over(stated: HandOverSpec) -> HandOver:
    """Two operands in elements of one width, their rows and values as stated or read off."""
    first = register_operand("from", stated.from_, stated.operand)
    second = register_operand("to", stated.to, stated.operand)
    first, second = _matched(stated, _narrowed(stated, first, second), second)
    held, wanted = (second, first) if second.rows else (first, second)
    _check_placing(stated, held, wanted)
    derived = all(one is None for one in (stated.rows, stated.values, stated.tiles, stated.times))
    over = HandOver(stated.name, held, wanted, derived=derived, replay=stated.replay, major=stated.major)
    over = over.placed(stated.rows, stated.values)
    axes = [axis.upper() for axis in wanted.axes]
    if over.major and not held.rows:
        raise SpecError("major", "says how rows lie in memory, and nothing here comes from memory")
    if over.major and (over.major not in axes if over.major != "MN" else "K" not in axes):
        raise SpecError("major", f"{wanted.operand} has the axes {' and '.join(axes)}, found {over.major!r}")
    return replace(over, access=_rows_in_memory(stated, over))


def _narrowed(stated: HandOverSpec, first: RegisterOperand, second: RegisterOperand) -> RegisterOperand:
    """The source, whose accumulators may be converted; refused where the two hand nothing over."""
    if first.rows and second.rows:
        raise SpecError("to", f"{second.mnemonic} is no matrix multiplication, nor is {first.mnemonic}")
    if second.rows and not second.mnemonic.startswith("stmatrix"):
        raise SpecError("to", f"{second.mnemonic} takes no registers: a store is wanted")
    if first.rows and not first.mnemonic.startswith("ldmatrix"):
        raise SpecError("from", f"{first.mnemonic} leaves nothing in registers: a load is wanted")
    if stated.narrow is not None:
        if not second.rows:
            raise SpecError("narrow", f"accumulators are narrowed for a store, and {second.mnemonic} is none")
        narrower = spec.Choice(tuple(bits for bits in (8, 16, 32) if bits <= first.bits), " bits")
        first = replace(first, bits=read_key("narrow", narrower, stated.narrow))
    if not (first.rows or second.rows) and second.operand != "A":
        raise SpecError("operand", f"accumulators are handed on as A, not as {second.operand}")
    return first


def _matched(
    stated: HandOverSpec, first: RegisterOperand, second: RegisterOperand
) -> tuple[RegisterOperand, RegisterOperand]:
    """Both operands in elements of one width, the tiles of the mma side by side as stated or as they fit."""
    times = stated.times or 1
    if not (first.rows or second.rows):  # values are converted one by one: n of the accumulators is k of A
        if times > 1:
            raise SpecError("times", "counts matrix loads or stores, and there is none")
        first = _tiled(stated, first, "n", second.values // first.values)
        return first, second.tiled("k", max(1, first.values // second.values))
    bits, lanes = gcd(first.bits, second.bits), max(first.lanes, second.lanes)
    first, second = first.split(bits).warps(lanes), second.split(bits).warps(lanes)
    product, moved = (second, first) if first.rows else (first, second)
    moved = moved.tiled("row", times)
    product = _tiled(stated, product, "n" if "n" in product.axes else "m", moved.values // product.values)
    return (moved, product) if first.rows else (product, moved)


def _tiled(stated: HandOverSpec, operand: RegisterOperand, axis: str, count: int) -> RegisterOperand:
    """Tiles side by side, as stated or else as many as fit."""
    if stated.tiles is None:
        return operand.tiled(axis, max(1, count))
    word, _, number = str(stated.tiles).partition("=")
    if word not in operand.axes or not number.isdecimal() or not 1 <= int(number) <= MOST_TILES:
        example = f"expected an axis of {operand.operand} and a count such as {axis}=2"
        raise SpecError("tiles", f"{example}, found {stated.tiles!r}")
    return operand.tiled(word, int(number))


def _check_placing(stated: HandOverSpec, held: RegisterOperand, wanted: RegisterOperand) -> None:
    """Refuse rows and values that are not as many as there are."""
    rows, values = stated.rows, stated.values
    if rows is not None and not held.rows:
        raise SpecError("rows", "nothing here has rows in memory")
    if rows is not None and size(rows) != held.extent[0]:
        raise SpecError("rows", f"{rows} has {size(rows)} rows, {held.mnemonic} {held.extent[0]}")
    if values is not None and (size(values) != wanted.values or cosize(values) > held.values):
        has = f"{size(values)} values up to {cosize(values) - 1}"
        raise SpecError("values", f"{values} has {has}; {wanted.values} are wanted, of {held.values}")


def _rows_in_memory(stated: HandOverSpec, over: HandOver) -> SmemAccess | None:
    """The rows of a hand-over as accesses of shared memory, where it is stated how the tile lies there."""
    if stated.shared is None:
        idle = next((key for key in ("arch", "base") if getattr(stated, key) is not None), None)
        if idle is not None:
            raise SpecError(idle, "is of shared memory, and where the tile lies there is not stated: shared")
        return None
    if not over.held.rows:
        raise SpecError("shared", "says where rows lie in memory, and nothing here comes from memory or goes there")
    if over.miscount:  # there are no rows then
        return None
    wanted, rows, columns = over.wanted, over.rows, over.columns
    extent = wanted.extent[0] // wanted.parts, wanted.extent[1]
    inner = stated.shared.layout_b if isinstance(stated.shared, ComposedLayout) else stated.shared
    if tuple(map(size, inner)) != extent:
        shown = " x ".join(str(size(mode)) for mode in inner)
        raise SpecError("shared", f"the tile is {extent[0]} x {extent[1]} ({', '.join(wanted.axes)}), found {shown}")
    how = "stmatrix" if over.store else "ldmatrix"
    return SmemAccess(
        over.name,
        in_parts(stated.shared, wanted.parts),
        Layout((rows.shape, columns.shape), (rows.stride, columns.stride)),
        wanted.bits,
        size(columns) * wanted.bits,
        how,
        over.replay,
        arch=_with_access(stated.arch, how),
        base=stated.base,
    )


def _with_access(stated: str | None, how: str) -> str:
    """The architecture, on which there has to be such an access."""
    arch = stated or ARCH
    mnemonic, select = NEEDS.get(how, ("", {}))
    if mnemonic and not isa_tables.runs_on(isa_tables.instruction(mnemonic, **select).signature, arch):
        raise SpecError("arch", f"{arch} has no {how}")
    return arch


def _access(stated: AccessSpec) -> SmemAccess:
    """Accesses whose widths, threads and tiles fit each other."""
    threads, source, element, how = stated.access, stated.global_, stated.element, stated.how
    usual = WIDTHS[how][0] if how in MATRICES else element
    width = read_key("width", spec.Choice(WIDTHS[how], " bits"), usual if stated.width is None else stated.width)
    if len(threads) != 2:
        raise SpecError("access", f"{threads} has rank {len(threads)}: modes for threads and values are wanted")
    if cosize(threads) > size(stated.shared):
        raise SpecError("access", f"{threads} reaches index {cosize(threads) - 1} of a tile of {size(stated.shared)}")
    if source is not None and cosize(threads) > size(source):
        far = f"reaches index {cosize(threads) - 1} of {size(source)} in global memory"
        raise SpecError("global", f"{threads} {far}")
    if source is not None and how in MATRICES:
        raise SpecError("global", f"{how} has to do with shared memory alone")
    if how in MATRICES and size(threads[0]) not in (8, 16) and size(threads[0]) % 32:
        has = f"{size(threads[0])} rows: a matrix has 8, an instruction 1, 2 or 4 of them"
        raise SpecError("access", has)
    if width % element or size(threads[1]) * element % width:
        values = f"{size(threads[1])} values of {element} bits"
        raise SpecError("width", f"{width} bits at once do not divide {values}")
    arch = _with_access(stated.arch, how)
    return SmemAccess(
        stated.name, stated.shared, threads, element, width, how, stated.replay, source, arch, stated.base
    )


def _operand(stated: DescriptorSpec) -> DescribedOperand:
    """An operand of wgmma, in a major in which it takes such elements."""
    if stated.major not in ("", "K", "MN"):
        raise SpecError("major", f"expected one of K, MN, found {stated.major!r}")
    majors, steps = _taken(stated.element)
    if stated.major and stated.major not in majors:
        alone = f"wgmma takes operands of {stated.element} bits {'- or '.join(majors)}-major alone"
        raise SpecError("major", f"{alone}, found {stated.major!r}")
    element, one = stated.element, Layout((1, 1))
    access = SmemAccess(stated.name, stated.descriptor, one, element, element, replay=stated.replay, base=stated.base)
    return DescribedOperand(access, (stated.major,) if stated.major else majors, steps, stated.lbo, stated.sbo)


@cache
def _taken(bits: int) -> tuple[tuple[str, ...], tuple[int, int]]:
    """The majors and the steps along mn and k in which wgmma takes operands of elements of some bits, by the ISA.

    >>> _taken(16), _taken(8)
    ((('K', 'MN'), (8, 16)), (('K',), (8, 32)))
    """
    least = (name for name in isa_tables.mnemonics(FAMILY) if LEAST in name)
    operands = [isa_tables.instruction(name, A_space="smem").operands["B"] for name in least]
    found = {(operand.majors, (operand.extent[1], operand.extent[0])) for operand in operands if operand.bits == bits}
    (one,) = found
    return one
