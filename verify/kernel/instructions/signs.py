# SPDX-License-Identifier: Apache-2.0
"""Changes of a float's sign by its bits: xor with the sign negates, and without it is the absolute value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from isa_tables.formula_parser import parse
from verify.kernel.data.distinct import sort_distinct
from verify.kernel.data.floats import FORMATS
from verify.kernel.data.registers import Word
from verify.kernel.data.values import CHOSEN, FIRST, KINDS, SIZE, Ids, Mask, Values

_OPPOSITE = parse("0 - a", {"a": False}).tree


def sign_changed(values: Values, head: str, operands: Sequence[Word], size: int, mask: Mask | None) -> Word | None:
    """Return what a bit operation makes of floats that are data; None if it does more than change signs."""
    data = [each for each in operands if each.data(mask)]
    plain = [each for each in operands if not each.data(mask)]
    if len(data) != 1 or len(plain) != 1 or plain[0].width:
        return None
    bits = plain[0].bits
    if len(bits) > 1 and mask is not None:
        bits = bits[mask]
    labels = data[0].wide(size)
    kinds = {KINDS[int(code)] for code in sort_distinct(values.kind[labels[labels > 0] >> np.uint32(3)])}
    kind = kinds.pop() if len(kinds) == 1 else ""
    if (
        kind not in FORMATS
        or (bits != bits[0]).any()
        or size % SIZE[kind]
        or (labels >> np.uint32(3) < FIRST)[labels > 0].any()
    ):
        return None
    ids = data[0].elements(values, kind, size)
    width = 8 * SIZE[kind]
    columns = []
    for place in range(size // SIZE[kind]):
        change = _changes(values, kind, width)[head].get(int(bits[0]) >> (width * place) & ((1 << width) - 1))
        if change is None:
            return None
        columns.append(change(ids[:, place]))
    return Word.of(np.stack(columns, 1), kind)


def _changes(values: Values, kind: str, width: int) -> Mapping[str, Mapping[int, Callable[[Ids], Ids]]]:
    """By the operation and the bits of the other side: what becomes of a float."""
    sign, full = 1 << (width - 1), (1 << width) - 1

    def negate(ids: Ids) -> Ids:
        return values.field(_OPPOSITE, ("a",), [ids], kind)

    def absolute(ids: Ids) -> Ids:
        return values.apply("abs", [ids], kind, CHOSEN)

    def keep(ids: Ids) -> Ids:
        return ids

    return {
        "xor": {0: keep, sign: negate},
        "and": {full: keep, full ^ sign: absolute},
        "or": {0: keep, sign: lambda ids: negate(absolute(ids))},
    }
