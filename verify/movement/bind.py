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
from verify.movement.register_handover import HandOver
from verify.movement.register_operand import RegisterOperand, register_operand
from verify.movement.smem_access import ARCH, MATRICES, WIDTHS, DescribedOperand, SmemAccess, in_parts
from verify.movement.spec import AccessSpec, Choice, DescriptorSpec, HandOverSpec, MovementSpec, of_entry, options

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
            return [bind(of_entry(entry))]

    return tables(opened(path, "movement"), "a movement", options(), bound)


def bind(spec: MovementSpec) -> Movement:
    """The movement that a spec states; raises SpecError for what its keys, or the ISA, forbid together."""
    if isinstance(spec, HandOverSpec):
        return _hand_over(spec)
    if isinstance(spec, AccessSpec):
        return _access(spec)
    if isinstance(spec, DescriptorSpec):
        return _operand(spec)
    raise TypeError(f"{spec.name} is of no sort")


def _hand_over(spec: HandOverSpec) -> HandOver:
    """Two operands in elements of one width, their rows and values as the spec gives them or read off."""
    first = register_operand("from", spec.from_, spec.operand)
    second = register_operand("to", spec.to, spec.operand)
    first, second = _matched(spec, _narrowed(spec, first, second), second)
    held, wanted = (second, first) if second.rows else (first, second)
    _check_placing(spec, held, wanted)
    derived = all(one is None for one in (spec.rows, spec.values, spec.tiles, spec.times))
    over = HandOver(spec.name, held, wanted, derived=derived, replay=spec.replay, major=spec.major)
    over = over.placed(spec.rows, spec.values)
    axes = [axis.upper() for axis in wanted.axes]
    if over.major and not held.rows:
        raise SpecError("major", "says how rows lie in memory, and nothing here comes from memory")
    if over.major and (over.major not in axes if over.major != "MN" else "K" not in axes):
        raise SpecError("major", f"{wanted.operand} has the axes {' and '.join(axes)}, found {over.major!r}")
    return replace(over, access=_rows_in_memory(spec, over))


def _narrowed(spec: HandOverSpec, first: RegisterOperand, second: RegisterOperand) -> RegisterOperand:
    """The source, whose accumulators may be converted; SpecError where the two hand nothing over."""
    if first.rows and second.rows:
        raise SpecError("to", f"{second.mnemonic} is no matrix multiplication, nor is {first.mnemonic}")
    if second.rows and not second.mnemonic.startswith("stmatrix"):
        raise SpecError("to", f"{second.mnemonic} takes no registers: a store is wanted")
    if first.rows and not first.mnemonic.startswith("ldmatrix"):
        raise SpecError("from", f"{first.mnemonic} leaves nothing in registers: a load is wanted")
    if spec.narrow is not None:
        if not second.rows:
            raise SpecError("narrow", f"accumulators are narrowed for a store, and {second.mnemonic} is none")
        narrower = Choice(tuple(bits for bits in (8, 16, 32) if bits <= first.bits), " bits")
        first = replace(first, bits=read_key("narrow", narrower, spec.narrow))
    if not (first.rows or second.rows) and second.operand != "A":
        raise SpecError("operand", f"accumulators are handed on as A, not as {second.operand}")
    return first


def _matched(
    spec: HandOverSpec, first: RegisterOperand, second: RegisterOperand
) -> tuple[RegisterOperand, RegisterOperand]:
    """Both operands in elements of one width, with as many tiles of the mma as the spec asks for or as fit."""
    times = spec.times or 1
    if not (first.rows or second.rows):  # values are converted one by one: n of the accumulators is k of A
        if times > 1:
            raise SpecError("times", "counts matrix loads or stores, and there is none")
        first = _tiled(spec, first, "n", second.values // first.values)
        return first, second.tiled("k", max(1, first.values // second.values))
    bits, lanes = gcd(first.bits, second.bits), max(first.lanes, second.lanes)
    first, second = first.split(bits).warps(lanes), second.split(bits).warps(lanes)
    product, moved = (second, first) if first.rows else (first, second)
    moved = moved.tiled("row", times)
    product = _tiled(spec, product, "n" if "n" in product.axes else "m", moved.values // product.values)
    return (moved, product) if first.rows else (product, moved)


def _tiled(spec: HandOverSpec, operand: RegisterOperand, axis: str, count: int) -> RegisterOperand:
    """Tiles side by side, as many as the spec asks for or as fit."""
    if spec.tiles is None:
        return operand.tiled(axis, max(1, count))
    word, _, number = str(spec.tiles).partition("=")
    if word not in operand.axes or not number.isdecimal() or not 1 <= int(number) <= MOST_TILES:
        example = f"expected an axis of {operand.operand} and a count such as {axis}=2"
        raise SpecError("tiles", f"{example}, found {spec.tiles!r}")
    return operand.tiled(word, int(number))


def _check_placing(spec: HandOverSpec, held: RegisterOperand, wanted: RegisterOperand) -> None:
    """Raise SpecError for rows and values that are not as many as there are."""
    rows, values = spec.rows, spec.values
    if rows is not None and not held.rows:
        raise SpecError("rows", "nothing here has rows in memory")
    if rows is not None and size(rows) != held.extent[0]:
        raise SpecError("rows", f"{rows} has {size(rows)} rows, {held.mnemonic} {held.extent[0]}")
    if values is not None and (size(values) != wanted.values or cosize(values) > held.values):
        has = f"{size(values)} values up to {cosize(values) - 1}"
        raise SpecError("values", f"{values} has {has}; {wanted.values} are wanted, of {held.values}")


def _rows_in_memory(spec: HandOverSpec, over: HandOver) -> SmemAccess | None:
    """The rows of a hand-over as accesses of shared memory, where the spec says how the tile lies there."""
    if spec.shared is None:
        idle = next((key for key in ("arch", "base") if getattr(spec, key) is not None), None)
        if idle is not None:
            raise SpecError(idle, "is of shared memory, and where the tile lies there is not stated: shared")
        return None
    if not over.held.rows:
        raise SpecError("shared", "says where rows lie in memory, and nothing here comes from memory or goes there")
    if over.miscount:  # there are no rows then
        return None
    wanted, rows, columns = over.wanted, over.rows, over.columns
    extent = wanted.extent[0] // wanted.parts, wanted.extent[1]
    inner = spec.shared.layout_b if isinstance(spec.shared, ComposedLayout) else spec.shared
    if tuple(map(size, inner)) != extent:
        shown = " x ".join(str(size(mode)) for mode in inner)
        raise SpecError("shared", f"the tile is {extent[0]} x {extent[1]} ({', '.join(wanted.axes)}), found {shown}")
    how = "stmatrix" if over.store else "ldmatrix"
    return SmemAccess(
        over.name,
        in_parts(spec.shared, wanted.parts),
        Layout((rows.shape, columns.shape), (rows.stride, columns.stride)),
        wanted.bits,
        size(columns) * wanted.bits,
        how,
        over.replay,
        arch=_with_access(spec.arch, how),
        base=spec.base,
    )


def _with_access(arch: str | None, how: str) -> str:
    """The architecture, on which there has to be such an access."""
    arch = arch or ARCH
    mnemonic, select = NEEDS.get(how, ("", {}))
    if mnemonic and not isa_tables.runs_on(isa_tables.instruction(mnemonic, **select).signature, arch):
        raise SpecError("arch", f"{arch} has no {how}")
    return arch


def _access(spec: AccessSpec) -> SmemAccess:
    """Accesses whose widths, threads and tiles fit each other."""
    threads, source, element, how = spec.access, spec.global_, spec.element, spec.how
    usual = WIDTHS[how][0] if how in MATRICES else element
    width = read_key("width", Choice(WIDTHS[how], " bits"), usual if spec.width is None else spec.width)
    if len(threads) != 2:
        raise SpecError("access", f"{threads} has rank {len(threads)}: modes for threads and values are wanted")
    if cosize(threads) > size(spec.shared):
        raise SpecError("access", f"{threads} reaches index {cosize(threads) - 1} of a tile of {size(spec.shared)}")
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
    arch = _with_access(spec.arch, how)
    return SmemAccess(spec.name, spec.shared, threads, element, width, how, spec.replay, source, arch, spec.base)


def _operand(spec: DescriptorSpec) -> DescribedOperand:
    """An operand of wgmma, in a major in which it takes such elements."""
    if spec.major not in ("", "K", "MN"):
        raise SpecError("major", f"expected one of K, MN, found {spec.major!r}")
    majors, steps = _taken(spec.element)
    if spec.major and spec.major not in majors:
        alone = f"wgmma takes operands of {spec.element} bits {'- or '.join(majors)}-major alone"
        raise SpecError("major", f"{alone}, found {spec.major!r}")
    element, one = spec.element, Layout((1, 1))
    access = SmemAccess(spec.name, spec.descriptor, one, element, element, replay=spec.replay, base=spec.base)
    return DescribedOperand(access, (spec.major,) if spec.major else majors, steps, spec.lbo, spec.sbo)


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
