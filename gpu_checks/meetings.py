# SPDX-License-Identifier: Apache-2.0
"""From coded probes to classes: who meets whom, and what that says of rows, columns and k.

A meeting (a, b, d) says that element a of A and element b of B were multiplied into element d of D. For a
matrix product, in which every row, column and k is whole, the least element met names a class:

    m of a    the least d that a reaches        n of b    the least d that b reaches
    k of a    the least b that a meets          k of b    the k of the a that it meets
    m of d, n of d    those of the a and b that reach it

Where metadata decides what an element of A meets, its k is taken under each pattern. Classes are numbered in
order of first appearance: m over A, n over B, k over A under the patterns in turn. `label` then checks that the
classes are the table: every meeting is between equals, and as many meetings are there as equals make.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gpu_checks.machine import Hits
from gpu_checks.values import COLUMN, CONTRACTED, PRODUCT, ROW, Labels

Slots = npt.NDArray[np.int64]
_NONE = 2**62  # more than any slot


@dataclass(frozen=True, slots=True)
class Meetings:
    """What elements of A meet under one configuration: a[i] meets b[i, j], and their product goes to d[i, j].

    All that meet any meet equally many. Both `a` and each row of `d` rise.
    """

    a: Slots
    d: Slots
    b: Slots


def collect(hits: Hits, chosen: Slots, numbers: int) -> tuple[list[Meetings], tuple[str, ...]]:
    """The meetings of each configuration, and what shows no whole number of products: such elements are left out."""
    limit = hits.reached.shape[1]
    whole = hits.counts == limit
    over = int((hits.counts > limit).sum())
    under = int((hits.counts > 0).sum()) - int(whole.sum()) - over
    met = hits.codes[whole]
    strange = (met < 0) | (met >= numbers)
    bad = int(strange.sum())
    if bad:
        whole[np.flatnonzero(whole)[strange.any(axis=1)]] = False
        met = hits.codes[whole]
    notes = [f"{over} elements of A reach more than {limit} elements of D"] if over else []
    notes += [f"{under} elements of A reach some elements of D, but not {limit}"] if under else []
    notes += [f"{bad} elements of D got something else than one product"] if bad else []
    each = whole.reshape(-1, len(chosen))
    ends = np.cumsum(each.sum(axis=1))[:-1]
    d, b = (np.split(slots.astype(np.int64), ends) for slots in (hits.reached[whole], met))
    return [Meetings(chosen[kept], *found) for kept, *found in zip(each, d, b, strict=True)], tuple(notes)


def digest(tables: Sequence[Meetings]) -> str:
    """SHA-256 of a, d and b of each configuration in turn, as little-endian 32-bit numbers."""
    whole = hashlib.sha256()
    for table in tables:
        for slots in (table.a, table.d, table.b):
            whole.update(np.ascontiguousarray(slots, "<i4").tobytes())
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Found:
    """Labels of A, B and D, flat, [slot][row, column, k, product]; A's k under each configuration; objections."""

    labels: Mapping[str, Labels]
    kept: tuple[Slots, ...]
    notes: tuple[str, ...]


def label(counts: Mapping[str, int], tables: Sequence[Meetings]) -> Found:
    """The classes of one instruction under one or several patterns of metadata."""
    m, n = np.full(counts["A"], _NONE), np.full(counts["B"], _NONE)
    kept = np.full((len(tables), counts["A"]), _NONE)
    for table, k in zip(tables, kept, strict=True):
        m[table.a] = np.minimum(m[table.a], table.d.min(axis=1, initial=_NONE))
        k[table.a] = table.b.min(axis=1, initial=_NONE)
        np.minimum.at(n, table.b.ravel(), table.d.ravel())
    ways = tuple(_first(kept.reshape(-1)).reshape(kept.shape))
    names = _Names(_first(m), _first(n), *(np.full(counts[x], -1) for x in "BDD"))
    for table, k in zip(tables, ways, strict=True):
        names.m_of_d[table.d], names.n_of_d[table.d] = names.m[table.a][:, None], names.n[table.b]
        names.k_of_b[table.b] = k[table.a][:, None]
    labels = {name: np.full((size, 4), -1, np.int64) for name, size in counts.items()}
    labels["A"][:, ROW], labels["A"][:, CONTRACTED] = names.m, ways[0]
    labels["B"][:, COLUMN], labels["B"][:, CONTRACTED] = names.n, names.k_of_b
    labels["D"][:, ROW], labels["D"][:, COLUMN] = names.m_of_d, names.n_of_d
    for name, known in (("A", names.m), ("B", names.n), ("D", names.m_of_d)):
        labels[name][known >= 0, PRODUCT] = 0
    return Found(labels, ways, tuple(_objections(names, tables, ways)))


class _Names(NamedTuple):
    """The classes of each slot."""

    m: Slots
    n: Slots
    k_of_b: Slots
    m_of_d: Slots
    n_of_d: Slots


def _first(names: Slots) -> Slots:
    """Names numbered in order of first appearance; for none, -1."""
    found, where, which = np.unique(names, return_index=True, return_inverse=True)
    number = np.empty(len(found), np.int64)
    number[np.argsort(np.where(found == _NONE, len(names), where))] = np.arange(len(found))
    return np.where(names == _NONE, -1, number[which])


def _objections(names: _Names, tables: Sequence[Meetings], ways: Sequence[Slots]) -> Iterator[str]:
    homes = names.m_of_d * (1 + int(names.n_of_d.max(initial=0))) + names.n_of_d
    if (shared := len(homes) - len(np.unique(homes))) > 0:
        yield f"{shared} elements of D share their row and column with another"
    slices = np.bincount(names.k_of_b[names.k_of_b >= 0])
    odd = 0
    for table, k in zip(tables, ways, strict=True):
        same = names.m_of_d[table.d] == names.m[table.a][:, None]
        same &= names.n_of_d[table.d] == names.n[table.b]
        same &= names.k_of_b[table.b] == k[table.a][:, None]
        odd += int((~same).sum()) + abs(int(slices[k[k >= 0]].sum()) - table.b.size)
    if odd:
        yield f"{odd} meetings are not what the classes say"


def rebuild(a: Labels, b: Labels, d: Labels) -> Meetings:
    """The meetings that flat labels of A, B and D imply, where each (k, column) and (row, column) is one slot."""
    rows, columns = 1 + int(d[:, ROW].max(initial=0)), 1 + int(d[:, COLUMN].max(initial=0))
    home = np.full((rows, columns), -1)
    live = np.flatnonzero((d[:, [ROW, COLUMN]] >= 0).all(axis=1))
    home[d[live, ROW], d[live, COLUMN]] = live
    met = np.full((1 + int(max(a[:, CONTRACTED].max(initial=0), b[:, CONTRACTED].max(initial=0))), columns), -1)
    live = np.flatnonzero((b[:, [CONTRACTED, COLUMN]] >= 0).all(axis=1) & (b[:, COLUMN] < columns))
    met[b[live, CONTRACTED], b[live, COLUMN]] = live
    whole = np.flatnonzero((a[:, [ROW, CONTRACTED]] >= 0).all(axis=1) & (a[:, ROW] < rows))
    order = np.argsort(home, axis=1)[a[whole, ROW]]
    b_slots, d_slots = (
        np.take_along_axis(one, order, axis=1) for one in (met[a[whole, CONTRACTED]], home[a[whole, ROW]])
    )
    good = (b_slots >= 0).all(axis=1) & (d_slots >= 0).all(axis=1)
    return Meetings(whole[good], d_slots[good], b_slots[good])


def transfer(size: int, slots: Slots, rows: Slots, k: Slots, axis: int) -> tuple[Labels, int]:
    """Labels [slot] of an image from the meetings of its elements, and how many meetings contradict them.

    `rows` and `k` are what each meeting says of the element's row or column and of its k.
    """
    labels = np.full((size, 4), -1, np.int64)
    for column, said in ((axis, rows), (CONTRACTED, k), (PRODUCT, np.zeros_like(k))):
        labels[slots, column] = said
    return labels, int(((labels[slots, axis] != rows) | (labels[slots, CONTRACTED] != k)).sum())
