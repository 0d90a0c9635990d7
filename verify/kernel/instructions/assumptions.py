# SPDX-License-Identifier: Apache-2.0
"""What exact arithmetic takes for granted of data, as notes with the lines that rest on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isa_tables.semantics import Meaning
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import largest
from verify.kernel.data.registers import Word
from verify.kernel.data.values import MANTISSA, Ids, Mask
from verify.kernel.instructions.rounded import as_floats, elementwise
from verify.kernel.state.findings import DIRECTED, FLUSHED, direction_ignored, not_beyond
from verify.kernel.state.machine import Machine

ACROSS = "no value is rounded across an integer before it becomes one: rounding is not modelled"
NO_INFINITY = "no infinity or NaN is multiplied by 0, as 0 * C of a C that nobody wrote would be"


def list_assumptions(meaning: Meaning) -> list[str]:
    """Return what exact arithmetic takes for granted, by the modifiers of an opcode."""
    assumptions = []
    if "ftz" in meaning.words:
        assumptions.append(FLUSHED)
    if meaning.words.get("rounding", "rn") in DIRECTED:
        assumptions.append(direction_ignored(meaning.words["rounding"]))
    if "NaN" in meaning.words:
        assumptions.append("no NaN is passed on")
    return assumptions


def note_numbers(machine: Machine, head: str, words: Sequence[Word], kind: str, width: int, mask: Mask | None) -> None:
    """Note what plain numbers do to the data that they are multiplied with or added to, but not in exact arithmetic."""
    if machine.values.rounding or not any(each.plain for each in words):
        return  # before anything else: it is asked of every instruction, also in a run of which no note is read
    factors, terms = (words, ()) if head == "mul" else ((), words) if head in ("add", "sub") else (words[:2], words[2:])
    for factor, cofactor in zip(factors, factors[::-1], strict=True):
        if _numbers(factor, kind, width, mask, 0.0, 0.0).size and _is_of_output(machine, cofactor, kind, width, mask):
            machine.findings.note(NO_INFINITY)
        most = float(largest(kind))
        for size in sort_distinct(_numbers(factor, kind, width, mask, most**0.5, most)).tolist():
            text = f"a product with {size:.6g} leaves {kind} if the other factor lies beyond {most / size:.3g}"
            machine.findings.note(f"overflow is not modelled, and {text}")
    ulp = MANTISSA[kind] - 1  # from here on a number of this type is an integer, and so is a sum with it
    for each in terms:
        if not each.plain or not each.bits.any():
            continue
        for size in sort_distinct(_numbers(each, kind, width, mask, 2.0**ulp, np.inf)).tolist():
            unit = 2.0 ** (int(np.log2(size)) - ulp)
            machine.findings.note(f"rounding is not modelled, and a sum with {size:.12g} is a multiple of {unit:g}")


def _numbers(word: Word, kind: str, width: int, mask: Mask | None, least: float, most: float) -> np.ndarray:
    """Return the sizes of the plain numbers of a register that lie within limits."""
    if not word.plain:
        return np.zeros(0)
    bits = word.bits if mask is None or len(word.bits) == 1 else word.bits[mask]
    sizes = np.abs(as_floats(elementwise(bits, kind, width).ravel(), kind))
    return sizes[(sizes >= least) & (sizes <= most) & np.isfinite(sizes)]


def _is_of_output(machine: Machine, word: Word, kind: str, width: int, mask: Mask | None) -> bool:
    """Return whether a register holds an element that an output had before the grid wrote it, of whatever type by now.

    Inputs are numbers; the zeros of a tile's padding are multiplied with them too, and nobody reads the products.
    """
    if not word.data(mask):
        return False
    values, ids = machine.values, word.elements(machine.values, kind, width)
    values.flush()
    held = values.residues[0, ids if mask is None or len(ids) == 1 else ids[mask]]
    before = machine.memory.before
    at = np.searchsorted(before, held)  # np.isin would sort the outputs at every instruction
    return bool((before.take(at, mode="clip") == held).any()) if len(before) else False


def note_overflow(machine: Machine, ids: Ids, target: str, mask: Mask | None) -> None:
    """Note values whose bounds allow more than the largest number of the format that they become."""
    if machine.values.rounding:
        return  # no note of such a run is read
    low, high = machine.values.bounds(ids if mask is None or len(ids) == 1 else ids[mask])
    size = max(-low, high)
    if largest(target) < size < np.inf:
        machine.findings.note(not_beyond(target, size))
