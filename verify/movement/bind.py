# SPDX-License-Identifier: Apache-2.0
"""Movements bound to the ISA tables: each spec becomes registers, accesses or an operand, or an error under its key."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any

import isa_tables
from layouts import Layout, cosize, size
from layouts.toml.entry import Entry
from layouts.toml.tables import ReadTables, tables
from verify.core.errors import SpecError
from verify.core.files import as_keys, open_document, values
from verify.core.specs import Choice
from verify.core.specs import parse_key as read_key
from verify.movement.register_handover import HandOver
from verify.movement.register_operand import RegisterOperand, register_operand
from verify.movement.smem_access import ARCH, BYTE, MATRICES, PLAIN, WIDTHS, SmemAccess, finer, in_parts
from verify.movement.spec import REPLAY, SORTS, AccessSpec, DescriptorSpec, HandOverSpec, Spec, options, sort_of
from verify.movement.wgmma_descriptor import CHUNK, SharedOperand

MOST_TILES = 64
NEEDS: dict[str, tuple[str, dict[str, Any]]] = {  # how memory is accessed -> what an architecture must have
    "ldmatrix": ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "stmatrix": ("stmatrix.sync.aligned.m8n8.x4.shared.b16", {}),
    "cp.async": ("cp.async.ca.shared.global", {"bytes": 16}),
}
FAMILY, LEAST = "wgmma.mma_async.sync", ".m64n8k"  # and the shape qualifier of the smallest shape of each type


@dataclass(frozen=True, slots=True)
class Movement:
    """A movement bound to the ISA tables: the hand-over of registers, the accesses of memory, the described operand."""

    name: str  # of its table in the file
    replay: str  # the command that verifies it again
    spec: Spec = field(repr=False)  # as the user gave it
    over: HandOver | None = None  # of registers from one instruction to another
    accesses: tuple[SmemAccess, ...] = ()  # those of global memory first
    operand: SharedOperand | None = None  # of wgmma, with a descriptor


def read_movements(path: Path) -> ReadTables[Movement]:
    """Read the movements of a file, and what is wrong with the others; raise AtomFileError where none can be read."""
    return tables(open_document(path, "movement"), "a movement", options(), _of_entry)


def _of_entry(entry: Entry) -> list[Movement]:
    """Return the movement that a table of a file gives; raise AtomFileError with all its errors."""
    sort = SORTS.get(sort_of(entry.table))
    if sort is None:
        entry.fail("", f"expected one of the keys {', '.join(SORTS)}")
    given = values(entry, sort)
    with as_keys(entry):
        return [bind(sort(name=entry.name, replay=shlex.join([*REPLAY, entry.file, f"--only={entry.name}"]), **given))]


def bind(spec: Spec) -> Movement:
    """Return the movement of a spec; raise SpecError where its keys, or its keys and the ISA, contradict each other."""
    if isinstance(spec, HandOverSpec):
        over = _hand_over(spec)
        return Movement(spec.name, spec.replay, spec, over, _rows_in_memory(spec, over))
    if isinstance(spec, AccessSpec):
        return Movement(spec.name, spec.replay, spec, accesses=_accesses(spec))
    operand = _operand(spec)
    return Movement(spec.name, spec.replay, spec, accesses=(operand.access,), operand=operand)


def _hand_over(spec: HandOverSpec) -> HandOver:
    """Bind a hand-over between two operands in elements of one width; derive rows and values absent from the spec."""
    first = register_operand("from", spec.from_, spec.operand)
    second = register_operand("to", spec.to, spec.operand)
    first, second = _match_operands(spec, _narrow(spec, first, second), second)
    given, wanted = (second, first) if second.rows else (first, second)
    rows, values = spec.rows, spec.values
    if rows is not None and not given.rows:
        raise SpecError("rows", "is the order of rows in memory; this hand-over has no rows in memory")
    if rows is not None and size(rows) != given.extent[0]:
        raise SpecError("rows", f"{rows} has {size(rows)} rows, {given.mnemonic} {given.extent[0]}")
    if values is not None and (size(values) != wanted.values or cosize(values) > given.values):
        has = f"{size(values)} values up to {cosize(values) - 1}"
        raise SpecError("values", f"{values} has {has}; expected {wanted.values} values below {given.values}")
    axes = [axis.upper() for axis in wanted.axes]
    if spec.major and not given.rows:
        raise SpecError("major", "is the order of rows in memory; this hand-over has no rows in memory")
    if spec.major and (spec.major not in axes if spec.major != "MN" else "K" not in axes):
        raise SpecError("major", f"{wanted.operand} has the axes {' and '.join(axes)}, found {spec.major!r}")
    derived = all(option is None for option in (rows, values, spec.tiles, spec.times))
    return HandOver(given, wanted, derived=derived, major=spec.major).place(rows, values)


def _narrow(spec: HandOverSpec, first: RegisterOperand, second: RegisterOperand) -> RegisterOperand:
    """Return the source operand, narrowed where the spec narrows it; SpecError where the two have no hand-over."""
    if first.rows and second.rows:
        raise SpecError("to", f"neither {first.mnemonic} nor {second.mnemonic} is a matrix multiplication; one must be")
    if second.rows and not second.mnemonic.startswith("stmatrix"):
        raise SpecError("to", f"{second.mnemonic} reads no registers; expected a matrix store")
    if first.rows and not first.mnemonic.startswith("ldmatrix"):
        raise SpecError("from", f"{first.mnemonic} leaves nothing in registers; expected a matrix load")
    if spec.narrow is not None:
        if not second.rows:
            raise SpecError("narrow", f"applies to accumulators that are stored; {second.mnemonic} is not a store")
        narrower = Choice(tuple(bits for bits in (8, 16, 32) if bits <= first.bits), " bits")
        first = replace(first, bits=read_key("narrow", narrower, spec.narrow))
    if not (first.rows or second.rows) and second.operand != "A":
        raise SpecError("operand", f"accumulators can become operand A of the next product, not {second.operand}")
    return first


def _match_operands(
    spec: HandOverSpec, first: RegisterOperand, second: RegisterOperand
) -> tuple[RegisterOperand, RegisterOperand]:
    """Both operands in elements of one width, with as many tiles of the mma as the spec has, or as fit."""
    times = spec.times or 1
    if not (first.rows or second.rows):  # values are converted one by one: axis n of the accumulators is axis k of A
        if times > 1:
            raise SpecError("times", "is the number of matrix loads or stores; this hand-over has none")
        first = _tile_operand(spec, first, "n", second.values // first.values)
        return first, second.tile("k", max(1, first.values // second.values))
    bits = gcd(first.bits, second.bits)
    first, second = first.split(bits), second.split(bits)
    product, moved = (second, first) if first.rows else (first, second)
    if not product.lanes % moved.lanes:  # each warp has rows of its own, numbered on
        moved = moved.tile("row", product.lanes // moved.lanes, warps=True)
    moved = moved.tile("row", times)
    product = _tile_operand(spec, product, "n" if "n" in product.axes else "m", moved.values // product.values)
    return (moved, product) if first.rows else (product, moved)


def _tile_operand(spec: HandOverSpec, operand: RegisterOperand, axis: str, count: int) -> RegisterOperand:
    """Return the operand repeated along an axis, as many times as the spec has, or as fit."""
    if spec.tiles is None:
        return operand.tile(axis, max(1, count))
    word, _, number = str(spec.tiles).partition("=")
    if word not in operand.axes or not number.isdecimal() or not 1 <= int(number) <= MOST_TILES:
        example = f"expected an axis of {operand.operand} and a count such as {axis}=2"
        raise SpecError("tiles", f"{example}, found {spec.tiles!r}")
    return operand.tile(word, int(number))


def _rows_in_memory(spec: HandOverSpec, over: HandOver) -> tuple[SmemAccess, ...]:
    """Return the accesses of shared memory by a hand-over's rows; none where the spec has no `shared`."""
    if spec.shared is None:
        idle = next((key for key in ("arch", "base") if getattr(spec, key) is not None), None)
        if idle is not None:
            raise SpecError(idle, "applies to a tile in shared memory: give --shared too")
        return ()
    if not over.given.rows:
        raise SpecError("shared", "is the tile's layout in shared memory; this hand-over has no rows in memory")
    if over.miscount:  # then there are no rows
        return ()
    wanted, rows, columns = over.wanted, over.rows, over.columns
    extent = wanted.extent[0] // wanted.parts, wanted.extent[1]
    tile, swizzle = spec.shared
    if tuple(map(size, tile)) != extent:
        shown = " x ".join(str(size(mode)) for mode in tile)
        raise SpecError("shared", f"the tile is {extent[0]} x {extent[1]} ({', '.join(wanted.axes)}), found {shown}")
    how = "stmatrix" if over.store else "ldmatrix"
    tile, swizzle = in_parts(tile, wanted.parts), finer(swizzle, wanted.parts)
    threads, width = Layout((rows.shape, columns.shape), (rows.stride, columns.stride)), size(columns) * wanted.bits
    return (SmemAccess(tile, swizzle, threads, wanted.bits, width, how, _with_access(spec.arch, how), spec.base),)


def _with_access(arch: str | None, how: str) -> str:
    """Return the architecture; raise SpecError where it lacks the instruction of such an access."""
    arch = arch or ARCH
    mnemonic, select = NEEDS.get(how, ("", {}))
    if mnemonic and not isa_tables.runs_on(isa_tables.instruction(mnemonic, **select).signature, arch):
        raise SpecError("arch", f"{arch} has no {how}")
    return arch


def _accesses(spec: AccessSpec) -> tuple[SmemAccess, ...]:
    """Return the accesses of a spec; raise SpecError where widths, threads and tiles do not fit each other."""
    threads, source, element, how = spec.access, spec.global_, spec.element, spec.how
    usual = WIDTHS[how][0] if how in MATRICES else element
    width = read_key("width", Choice(WIDTHS[how], " bits"), usual if spec.width is None else spec.width)
    if len(threads) != 2:
        raise SpecError("access", f"{threads} has rank {len(threads)}: expected 2, threads and values")
    if cosize(threads) > (whole := size(spec.shared.layout)):
        raise SpecError("access", f"{threads} goes up to index {cosize(threads) - 1} of a tile of {whole}")
    if source is not None and cosize(threads) > size(source):
        beyond = f"goes up to index {cosize(threads) - 1} of {size(source)} in global memory"
        raise SpecError("global", f"{threads} {beyond}")
    if source is not None and how in MATRICES:
        raise SpecError("global", f"does not apply to {how}, which accesses shared memory alone")
    if how in MATRICES and size(threads[0]) not in (8, 16) and size(threads[0]) % 32:
        has = f"{threads} has {size(threads[0])} rows; expected 8 for each of 1, 2 or 4 matrices"
        raise SpecError("access", has)
    if width % element or size(threads[1]) * element % width:
        values = f"{size(threads[1])} values of {element} bits"
        raise SpecError("width", f"accesses of {width} bits do not divide {values}")
    near = SmemAccess(*spec.shared, threads, element, width, how, _with_access(spec.arch, how), spec.base)
    far = () if source is None else (replace(near, tile=source, swizzle=PLAIN, base=None, memory="global"),)
    return (*far, near)


def _operand(spec: DescriptorSpec) -> SharedOperand:
    """Return an operand of wgmma; raise SpecError for a major that wgmma does not have for such elements."""
    if spec.major not in ("", "K", "MN"):
        raise SpecError("major", f"expected one of K, MN, found {spec.major!r}")
    majors, steps = _majors_and_steps(spec.element)
    if spec.major and spec.major not in majors:
        alone = f"wgmma takes operands of {spec.element} bits in {'- or '.join(majors)}-major order only"
        raise SpecError("major", f"{alone}, found {spec.major!r}")
    access = SmemAccess(*spec.descriptor, Layout((1, 1)), spec.element, CHUNK * BYTE, base=spec.base)
    return SharedOperand(access, (spec.major,) if spec.major else majors, steps, spec.lbo, spec.sbo)


@cache
def _majors_and_steps(bits: int) -> tuple[tuple[str, ...], tuple[int, int]]:
    """Return the majors of wgmma's operands with elements of some bits, and their steps along mn and k.

    >>> _majors_and_steps(16), _majors_and_steps(8)
    ((('K', 'MN'), (8, 16)), (('K',), (8, 32)))
    """
    least = (name for name in isa_tables.mnemonics(FAMILY) if LEAST in name)
    operands = [isa_tables.instruction(name, A_space="smem").operands["B"] for name in least]
    distinct = {
        (operand.majors, (operand.extent[1], operand.extent[0])) for operand in operands if operand.bits == bits
    }
    (majors_and_steps,) = distinct
    return majors_and_steps
