# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices: which columns of a row are stored, and the metadata that say so.

Of each group of columns (4 of f16 and 8-bit elements, 2 of tf32) a part is stored, and a field of metadata names which:
`isa_tables` has the fields. A claim's sparse array is the whole matrix, zero where nothing is stored; its memory has
the stored elements alone, and a second array has the metadata, as words along each row.

>>> stored = columns("f16", 2, 8, [[0, 1], [1, 3]])
>>> stored.tolist(), words("f16", stored, 8, 8)[:, 0].tolist()
([[0, 1, 5, 7], [0, 1, 5, 7]], [212, 212])
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

import isa_tables

Ints = NDArray[np.int64]
_FIELD = 4  # bits of metadata that rule one group of columns: two indices of 2 bits, PTX ISA 9.7.14.6
_MNEMONICS = {
    **dict.fromkeys(("f16", "bf16"), "mma.sp.sync.aligned.m16n8k32.row.col.f32.{0}.{0}.f32"),
    **dict.fromkeys(("s8", "u8"), "mma.sp.sync.aligned.m16n8k64.row.col.s32.{0}.{0}.s32"),
    **dict.fromkeys(("e4m3", "e5m2"), "mma.sp.sync.aligned.m16n8k64.row.col.f32.{0}.{0}.f32"),
    "tf32": "mma.sp.sync.aligned.m16n8k16.row.col.f32.{0}.{0}.f32",
}  # an instruction for each type that may be sparse


@lru_cache(maxsize=16)
def fields(kind: str) -> tuple[int, Mapping[int, tuple[int, ...]]]:
    """(columns of a group, field -> the columns of it that are stored) of a type; KeyError for one without metadata."""
    sparsity = isa_tables.instruction(_MNEMONICS[kind].format(kind)).signature.sparsity
    assert sparsity is not None
    return sparsity.columns, {code: tuple(kept) for code, kept in sparsity.kept.items()}


def columns(kind: str, rows: int, extent: int, pattern: Sequence[Sequence[int]] | None) -> Ints:
    """Return the column of each stored element (rows, stored).

    The pattern lists the stored columns of groups and repeats, row by row; without one each group's are drawn, always
    the same.  Raises ValueError for one that no metadata can say, KeyError for a type that is never sparse.
    """
    group, known = fields(kind)
    if extent % group:
        raise ValueError(f"{extent} columns aren't a multiple of {group}, which one field of metadata describes")
    count = rows * (extent // group)
    if pattern is None:
        source, choices = random.Random(f"{kind} {rows} {extent}"), list(known.values())
        chosen = [source.choice(choices) for _ in range(count)]
    else:
        given = [tuple(kept) for kept in pattern]
        odd = next((kept for kept in given if kept not in known.values()), None)
        if odd is not None:
            raise ValueError(
                f"{list(odd)} of {group} columns: there are {', '.join(str(list(k)) for k in known.values())}"
            )
        chosen = [given[number % len(given)] for number in range(count)]
    places = np.array(chosen, np.int64).reshape(rows, extent // group, -1)
    places += np.arange(extent // group)[:, None] * group
    return places.reshape(rows, -1)


def words(kind: str, stored: Ints, width: int, extent: int) -> Ints:
    """Pack the stored columns as metadata (rows, words of `width` bits), in their order from the lowest bit."""
    group, known = fields(kind)
    codes = {kept: code for code, kept in known.items()}
    parts = (stored % group).reshape(len(stored), extent // group, -1)
    code = np.array([[codes[tuple(kept)] for kept in row] for row in parts.tolist()], np.int64)
    bits = (code[:, :, None] >> np.arange(_FIELD) & 1).reshape(len(stored), -1)
    if bits.shape[1] % width:
        raise ValueError(f"{bits.shape[1]} bits of metadata in a row aren't a multiple of {width}")
    packed: Ints = bits.reshape(len(stored), -1, width) @ (1 << np.arange(width))
    return packed


def find_columns(bits: NDArray[np.uint8], group: int, known: Mapping[int, Sequence[int]]) -> Ints:
    """Return the column of each stored element (.., stored) by metadata (.., bits); -1 where a field means none."""
    code = bits.reshape(*bits.shape[:-1], -1, _FIELD) @ (1 << np.arange(_FIELD))
    table = np.full((1 << _FIELD, len(next(iter(known.values())))), -1, np.int64)
    for field, kept in known.items():
        table[field] = kept
    places = table[code]
    places = np.where(places < 0, -1, places + np.arange(code.shape[-1])[:, None] * group)
    return places.reshape(*bits.shape[:-1], -1)
