# SPDX-License-Identifier: Apache-2.0
"""Pictures of movements: the banks of an access phase by phase, a hand-over of registers, a matrix descriptor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from layouts import LayoutError, size
from layouts.bank_conflicts import Access
from verify.core.verdict import Verdict
from verify.maps.fragment_map import FragmentMap
from verify.maps.map import Axis, MapOrigin
from verify.movement.bind import Movement
from verify.movement.conflict_free import search
from verify.movement.register_handover import HandOver, arriving
from verify.movement.register_operand import RegisterOperand
from verify.movement.smem_access import BYTE, PLAIN, SmemAccess
from verify.movement.wgmma_descriptor import CHUNK, FittedDescriptor, fit
from verify.pictures import banks, maps
from verify.pictures.picture import Cell, Panel, Picture, Window, grid


def of_movement(movement: Movement, verdicts: Sequence[Verdict], window: Window) -> Picture:
    """Return the picture of a movement with what the verdicts found wrong."""
    notes = [
        "; ".join(
            filter(None, (f"{verdict.status}: {verdict.counterexample.statement}", *verdict.counterexample.damage))
        )
        for verdict in verdicts
        if verdict.counterexample is not None
    ]
    panels: list[Panel] = []
    if movement.over is not None:
        panels += _hand_over(movement.over, window)
        notes += [movement.over.miscount] * bool(movement.over.miscount)
    shared = [access for access in movement.accesses if access.memory == "shared" and movement.operand is None]
    for access in shared:
        try:
            own, words = _access(access, _apply_repair(access, verdicts), 2 * bool(panels), window)
        except LayoutError as error:  # it is not aligned, which the check refutes
            own, words = [], f"the banks are not drawn: {error}"
        panels += own
        notes.append(words)
    if movement.operand is not None:
        panels += _descriptor(fit(movement.operand), window)
    shades = "lane" if shared else "byte / 16" if movement.operand is not None else "thread"
    several = banks.SEVERAL if shared else "several owners"
    return Picture(movement.name, tuple(panels), notes=tuple(notes), shades=shades, several=several)


def _apply_repair(access: SmemAccess, verdicts: Sequence[Verdict]) -> SmemAccess:
    """Return the access with the swizzle of its repair, if it has one that was verified; else itself."""
    repairs = [verdict.counterexample.repair for verdict in verdicts if verdict.counterexample is not None]
    if access.swizzle.bits or not any(repairs):
        return access
    swizzle, _, line = search([access])
    return replace(access, swizzle=swizzle) if line in repairs else access


def _access(access: SmemAccess, mended: SmemAccess, column: int, window: Window) -> tuple[list[Panel], str]:
    """Return the phases of one access of a warp: the first of those that take the most wavefronts without the swizzle.

    Below each phase is the same one through the swizzle, that of its repair if it has none.
    """
    plain = replace(access, swizzle=PLAIN).accesses(access.base or 0)
    times = [single.through(PLAIN).total for single in plain]
    number = times.index(max(times))
    chosen: Access = plain[number]
    warps = -(-size(access.threads[0]) // 32)
    what = f"access {number // warps} of warp {number % warps}, {access.how} of {access.width} bits"
    swizzled = mended.swizzle.bits
    step = 2 if swizzled else 1
    panels = [*banks.phases("before" if swizzled else "access", chosen, PLAIN, (0, column), step, window)]
    if swizzled:
        panels += banks.phases("after", chosen, mended.bytes, (1, column), step, window)
        after = chosen.through(mended.bytes).total
        repair = "the repair " * (not access.swizzle.bits)
        what += f": {times[number]} wavefronts before {repair}{mended.swizzle} of elements, {after} after"
    else:
        what += f": {times[number]} wavefronts"
    return panels, f"{what} (one of {len(plain)} accesses)"


def _hand_over(over: HandOver, window: Window) -> Iterator[Panel]:
    """Return what the source leaves, and what the destination wants beside what arrives there."""
    given, wanted = over.given, over.wanted
    mine, theirs = _map(given), _map(wanted)
    yield maps.tile("from", mine, place=(0, 0), copies=_copies(mine), window=window)
    if over.miscount:
        yield maps.tile("to", theirs, place=(0, 1), copies=_copies(theirs), window=window)
        return

    numbers = arriving(over).tolist()

    def arrives(lane: int, value: int) -> tuple[int, int]:
        column, row = divmod(numbers[lane][value], wanted.extent[0])
        return row, column

    arrived = FragmentMap.tabulate(arrives, theirs.inputs, theirs.outputs, MapOrigin("what arrives"))
    panel = maps.tile("to", arrived, theirs, place=(0, 1), copies=_copies(theirs), window=window)
    rows = f"row r of memory begins at element {over.rows}" if given.rows else f"value v is value {over.order}"
    yield replace(panel, captions=(f"from: {given.mnemonic}", f"to: {wanted.operand} of {wanted.mnemonic}", rows))


def _copies(fragment: FragmentMap) -> int:
    """Return the owners of each element of an operand."""
    return max(1, len(fragment) // prod(axis.extent for axis in fragment.outputs))


def _map(operand: RegisterOperand) -> FragmentMap:
    inputs = Axis("lane", operand.lanes), Axis("value", operand.values)
    outputs = tuple(map(Axis, operand.axes, operand.extent))
    origin = MapOrigin(f"{operand.operand} of {operand.mnemonic}")

    def locate(lane: int, value: int) -> tuple[int, int]:
        x, y = operand.locate(lane, value)
        return int(x), int(y)

    return FragmentMap.tabulate(locate, inputs, outputs, origin)


def _descriptor(fitted: FittedDescriptor, window: Window) -> Iterator[Panel]:
    """Return a descriptor's fields, and the bytes of the tile in chunks of 16, by the layout and by the descriptor."""
    if not fitted.swizzle:
        return
    said = {field.name: (field.low, field.high) for field in fitted.table.fields}
    rows = []
    for number, (low, high) in enumerate(said.values()):
        value = fitted.word >> low & (1 << high - low + 1) - 1
        rows.append((Cell((f"{low}-{high}",)), Cell((str(value),), number % 8)))
    heading = f"descriptor {fitted.word:#018x} at address 0"
    fields = tuple(said)
    yield grid("descriptor", heading, ("field", ""), (len(rows), 2), lambda row, column: rows[row][column],
               window=window, captions=(fitted.fields,),
               names=(lambda row: fields[row], lambda column: ("bits", "value")[column]))  # fmt: skip
    access, wide = fitted.operand.access, CHUNK * BYTE // fitted.operand.access.element
    mn, k = (size(mode) for mode in access.tile)
    mine = access.bytes(fitted.operand.bytes)
    theirs = np.broadcast_to(fitted.address(*fitted.operand.grid), mine.shape)
    steps = (wide, 1) if fitted.major == "MN" else (1, wide)

    def at(row: int, column: int) -> Cell:
        point = row * steps[0], column * steps[1]
        lies, right = int(mine[point]), int(theirs[point])
        about = f"(mn={point[0]}, k={point[1]}) lies at byte {lies}, by the descriptor at {right}"
        return Cell((str(lies),), lies // CHUNK % 8, expected="" if lies == right else str(right), about=(about,))

    heading = f"bytes of {mn}x{k} (mn,k), {wide} elements in a cell"
    yield grid("bytes", heading, ("mn", "k"), (-(-mn // steps[0]), -(-k // steps[1])), at,
               window=window, place=(0, 1),
               names=(lambda row: str(row * steps[0]), lambda column: str(column * steps[1])))  # fmt: skip
