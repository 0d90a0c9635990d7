# SPDX-License-Identifier: Apache-2.0
"""Declared relabellings of m, n and k: the formulas of the ISA tables, numbered as an atom declares.

`relabel = { k = "(2,4):(4,1)" }` declares that A and B have k' = L(k) where the instruction has k. A sum over k is
the same; what knows k otherwise is not: scale factors of blocks, metadata, addresses.

>>> order("(2,4):(4,1)", 8), order("(2,4):(4,2)", 8), order("4:1", 8)
((0, 4, 1, 5, 2, 6, 3, 7), (), ())
"""

from __future__ import annotations

from collections.abc import Mapping

from layouts import Layout, LayoutError, fit
from verify.binding.axes import AXES, OperandFormula
from verify.binding.coordinates import Registers
from verify.core.digits import every

SCALES = ("SFA", "SFB")
METADATA = "E"


def order(text: str, extent: int) -> tuple[int, ...]:
    """Return the values of a layout that permutes 0..extent-1; empty for any other layout."""
    try:
        layout = Layout.parse(text)
    except LayoutError:
        return ()
    values = tuple(every(layout.shape, layout.stride))
    return values if sorted(values) == list(range(extent)) else ()


def relabel_formula(
    formula: OperandFormula, relabel: Mapping[str, str], operand: str, extent: tuple[int, int]
) -> OperandFormula:
    """Return a formula of an operand in registers, with its coordinates numbered as declared.

    Metadata is about groups of columns and keeps k. Scales are about whole blocks, which keep the order inside them. A
    declaration that isn't a permutation, or breaks blocks, is refuted by itself and changes nothing here.
    """
    if not relabel or not isinstance(formula, Registers):
        return formula
    labels = [
        _labels(relabel[axis], length, formula.coarse if operand in SCALES and axis == "k" else 1)
        if axis in relabel and (operand, axis) != (METADATA, "k")
        else None
        for axis, length in zip(AXES[operand], extent, strict=True)
    ]
    return formula._replace(labels=(labels[0], labels[1]))


def _labels(text: str, extent: int, block: int) -> Layout | None:
    """Return the layout by which a coordinate is numbered; None where it is not."""
    numbers = order(text, extent)
    if not numbers or block == 1:
        return Layout.parse(text) if numbers else None
    of_blocks = blocks(numbers, block)
    return fit([of_blocks[at // block] * block + at % block for at in range(extent)]) if of_blocks else None


def blocks(numbers: tuple[int, ...], block: int) -> tuple[int, ...]:
    """Return the permutation of blocks by a permutation that maps blocks onto blocks; empty for any other.

    >>> blocks((2, 3, 1, 0), 2), blocks((0, 2, 1, 3), 2)
    ((1, 0), ())
    """
    runs = [numbers[start : start + block] for start in range(0, len(numbers), block)]
    whole = all(len({number // block for number in run}) == 1 for run in runs)
    return tuple(run[0] // block for run in runs) if whole else ()
