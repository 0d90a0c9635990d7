# SPDX-License-Identifier: Apache-2.0
"""The check `isa` of a whole atom: random matrices multiplied through its maps and the ISA's formulas.

`product`     the evidence: what arrives equals numpy's product, exactly
`effective`   A and B as scale factors and metadata make them
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from verify.binding.bound import BoundMaps
from verify.binding.coordinates import Memory, Registers
from verify.binding.operand import BoundOperand
from verify.core.digits import every
from verify.core.verdict import Check, Counterexample, Evidence, Status, finding, leave_unchecked
from verify.evidence.isa import ENGINE, Table, evaluate

if TYPE_CHECKING:
    from random import Random

Matrix: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.floating[Any]]]"
WRONG = math.inf  # equal to no sum
NUMBERS, SCALES = (-8, 8), (1, 4)
RANGES = {"A": NUMBERS, "B": NUMBERS, "E": (0, 2), "SFA": SCALES, "SFB": SCALES}  # of metadata: whether kept


def product(subject: BoundMaps, trials: int = 4, seed: int = 0) -> Evidence:
    """Compare random exact products through the atom's maps and the ISA's formulas with numpy's.

    Every operand is distributed to (lane, value) by the atom's map, the instruction reads and writes by the formulas of
    the ISA tables, and C is gathered by the atom's map: nothing else touches the matrices. Scale factors multiply the
    elements of their block, metadata keeps or drops its positions.

    >>> from verify.binding.atom import prepare
    >>> from layouts.atoms import registry
    >>> atom = prepare(registry()["SM80_16x8x16_F32F16F16F32_TN"])
    >>> product(atom).status.value
    'AGREES'
    """
    started = time.perf_counter()
    from random import Random  # numpy.random takes 10 ms to load

    m, n, _ = subject.shape
    maps = {part.name: by_lane(subject, part, _table) for part in subject.parts}
    places = {}
    for part in subject.parts:
        threads, values = maps[part.name].shape
        at = part.formulas[0].locate(np.arange(threads)[:, None], np.arange(values)[None, :])
        if any(np.min(c) < 0 or np.max(c) >= end for c, end in zip(at, part.extent, strict=True)):
            return leave_unchecked(Check.ISA, f"the instruction's {part.name} has places beyond {part.tile}")
        x, y = (np.broadcast_to(c, (threads, values)) for c in at)
        places[part.name] = x, y
    given = random_matrices([part for part in subject.parts if part.name != "C"], trials, Random(seed))
    a, b = effective(given)
    right = (b @ a.swapaxes(1, 2)).reshape(trials, 1, -1)  # element m + M n of each trial
    bad = (_through_fragments(subject, maps, places, given) != right).any(axis=1).reshape(trials, n, m).swapaxes(1, 2)
    wrong = None
    if bad.any():
        trial, row, col = (int(c) for c in np.argwhere(bad)[0])
        statement = f"trial {trial} (seed {seed}): element (m={row}, n={col}) of the product is wrong"
        again = {part.name: by_lane(subject, part, _plain_table) for part in subject.parts}
        gathered = _through_fragments(subject, again, places, {name: each[trial:][:1] for name, each in given.items()})
        wrong = Counterexample(
            {"trial": trial, "m": row, "n": col},
            statement,
            damage=(f"{int(np.count_nonzero(bad[trial]))} of {m * n} elements are wrong",),
            reproduced=bool((gathered[0, :, row + m * col] != right[trial, 0, row + m * col]).any()),
        )
    seconds = time.perf_counter() - started
    return finding(Check.ISA, wrong, "random integers", trials, ENGINE, Status.AGREES, seconds)


def random_matrices(parts: Sequence[BoundOperand], trials: int, rng: Random) -> dict[str, Matrix]:
    """[trial][x][y] of small integers for each operand; places that share one element of the instruction are equal.

    In single precision, which multiplies fastest: a sum is at most 24 * 24 K, below 2^24, so it is exact.
    """
    coarse = [_coarse(part) for part in parts]
    shapes = [(part.extent[0], part.extent[1] // width) for part, width in zip(parts, coarse, strict=True)]
    ends = [*accumulate(map(math.prod, shapes))]
    numbers = np.frombuffer(rng.randbytes(trials * ends[-1]), dtype=np.uint8).reshape(trials, -1)
    given = {}
    for part, width, shape, end in zip(parts, coarse, shapes, ends, strict=True):
        low, high = RANGES[part.name]
        drawn = numbers[:, end - math.prod(shape) : end] % (high - low)
        blocks = (drawn.astype(np.float32) + low).reshape(trials, *shape)
        given[part.name] = np.repeat(blocks, width, axis=2) if width > 1 else blocks
    return given


def _coarse(part: BoundOperand) -> int:
    """How many places along the second axis share one element of the instruction."""
    formula = part.formulas[0]
    return formula.coarse if isinstance(formula, Registers) and part.name not in ("A", "B") else 1


def effective(matrices: Mapping[str, Matrix]) -> tuple[Matrix, Matrix]:
    """Return scaled A and B without the elements that metadata drops; axes of trials and products come first."""
    a, b = matrices["A"], matrices["B"]
    for name in ("E", "SFA"):
        a = a * matrices.get(name, 1)
    return a, b * matrices.get("SFB", 1)


def by_lane(subject: BoundMaps, part: BoundOperand, of: Callable[[BoundMaps, BoundOperand], Table]) -> Table:
    """Return the element of each (lane, value): the operand's table at the lane's logical thread, for every replica.

    In memory it is the map of one thread, or of one thread of each CTA: that all have the same is another claim.
    """
    table = of(subject, part)
    if isinstance(part.formulas[0], Memory):
        return table[: part.formulas[0].ctas]
    thr, rep = (np.array(every(layout.shape, layout.stride)) for layout in subject.numbering)
    lanes = thr[:, None] + rep
    spread = np.empty((subject.lanes, table.shape[1]), dtype=np.int64)
    spread[lanes] = table[:, None, :]
    return spread


def _table(subject: BoundMaps, part: BoundOperand) -> Table:
    """Return the element of each (thread, value)."""
    return _plain_table(subject, part) if part.layout is None else evaluate(part.layout_of_text, subject.tables)


def _plain_table(subject: BoundMaps, part: BoundOperand) -> Table:
    """Return the same, evaluated in plain integers."""
    return np.array(part.rows(), dtype=np.int64)


def _through_fragments(
    subject: BoundMaps,
    maps: Mapping[str, Table],
    places: Mapping[str, tuple[Table, Table]],
    given: Mapping[str, Matrix],
) -> Matrix:
    """[trial][product][m + M n] of C, read through its map from what the instruction makes of the other fragments.

    An instruction makes several products (m8n8k4's quad pairs), or one. An element without a slot is WRONG.
    """
    instruction = subject.instruction
    which = instruction.product(np.arange(subject.lanes) % instruction.signature.lanes)[:, None]
    trials, products = len(given["A"]), int(which.max()) + 1
    extents = {part.name: part.extent for part in subject.parts}

    def slots(name: str) -> Table:
        """Place each (lane, value) in the operands of all products: arrays of one axis are indexed fastest."""
        (x, y), (rows, columns) = places[name], extents[name]
        return np.asarray((which[: len(x)] * rows + x) * columns + y)

    fragments = {}
    for name, matrices in given.items():
        elements = matrices.swapaxes(1, 2).reshape(trials, -1)
        filled = _move(elements, maps[name], slots(name), products * math.prod(extents[name]), 0)
        fragments[name] = filled.reshape(trials, products, *extents[name])
    a, b = effective(fragments)
    computed = (a @ b.swapaxes(2, 3)).reshape(trials, -1)
    size = math.prod(extents["C"])
    gathered = _move(computed, slots("C"), which * size + maps["C"], products * size, WRONG)
    return gathered.reshape(trials, products, size)


def _move(elements: Matrix, source: Table, target: Table, room: int, nothing: float) -> Matrix:
    """[trial][place]: the element of each trial at `source`, placed at `target`; `nothing` where none arrives."""
    at = np.full(room, -1)
    at[target] = source
    moved = elements.take(at, axis=1)  # at once for all trials: a fifth of the time of an assignment
    if at.min() < 0:
        moved[:, at < 0] = nothing
    return moved
