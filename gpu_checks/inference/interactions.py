# SPDX-License-Identifier: Apache-2.0
"""From digit-coded probes to classes: which elements interact, and the rows, columns and k that follow.

An interaction (a, b, d) means that element a of A and element b of B were multiplied into element d of D. In a
matrix product, in which every row, column and k is complete, one element identifies a class:

    m of a    the least d that a contributes to    n of b    the d that b contributes to with the row of the first a
    k of a    the least b that a interacts with    k of b    the k of the a of that row that it interacts with
    m of d, n of d    those of the a, of one k, and of the b that contribute to it

Where metadata decides what an element of A interacts with, its k is taken under each pattern. Classes are numbered in
order of first appearance: m over A, n over B, k over A under the patterns in turn. `label` then checks that the
classes are the table: `rebuild` computes all interactions from them, and none may differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from gpu_checks.arrays import np
from gpu_checks.machine import Hits
from gpu_checks.model import COLUMN, CONTRACTED, PRODUCT, ROW, Labels

if TYPE_CHECKING:
    import numpy.typing as npt

Slots: TypeAlias = "npt.NDArray[np.int64]"
Few: TypeAlias = "npt.NDArray[np.integer]"  # slots as the machine gave them: a table stays as small as it came
_NONE = 2**62  # more than any slot


@dataclass(frozen=True, slots=True)
class Interactions:
    """The interactions of one configuration: a[i] with b[i, j], whose product goes to d[i, j].

    All elements of A that have interactions have equally many. Both `a` and each row of `d` rise.
    """

    a: Slots
    d: Few
    b: Few

    def of(self, chosen: npt.NDArray[np.bool_]) -> Interactions:
        """Return the interactions of some of the elements of A."""
        return self if chosen.all() else Interactions(self.a[chosen], self.d[chosen], self.b[chosen])


def collect(hits: Hits, chosen: Slots, numbers: int) -> tuple[list[Interactions], tuple[str, ...]]:
    """Return the interactions of each configuration; notes on elements, left out, with another number of products."""
    limit = hits.places.shape[1]
    whole = hits.counts == limit
    over = int((hits.counts > limit).sum())
    under = int((hits.counts > 0).sum()) - int(whole.sum()) - over
    # An odd code or count isn't an error to stop at: it is noted, so that a GPU which does something else is reported.
    strange = hits.codes.view(np.uint32) >= numbers  # those below zero too
    strange[~whole] = False
    bad = int(np.count_nonzero(strange))
    if bad:
        whole &= ~strange.any(axis=1)
    notes = [f"{over} elements of A contribute to more than {limit} elements of D"] if over else []
    notes += [f"{under} elements of A contribute to some elements of D, but not {limit}"] if under else []
    notes += [f"{bad} elements of D got something other than one product"] if bad else []
    shape = (-1, len(chosen))
    each = zip(whole.reshape(shape), hits.places.reshape(*shape, limit), hits.codes.reshape(*shape, limit), strict=True)
    return [Interactions(chosen, d, b).of(kept) for kept, d, b in each], tuple(notes)


def digest(tables: Sequence[Interactions]) -> str:
    """SHA-256 of a, d and b of each configuration in turn, as little-endian 32-bit numbers."""
    whole = hashlib.sha256()
    for table in tables:
        for slots in (table.a, table.d, table.b):
            whole.update(np.ascontiguousarray(slots, "<i4").data)
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class InteractionLabels:
    """Labels of A, B and D, flat, [slot][row, column, k, product]; A's k under each configuration; notes."""

    labels: Mapping[str, Labels]
    kept: tuple[Slots, ...]
    notes: tuple[str, ...]


def label(counts: Mapping[str, int], tables: Sequence[Interactions]) -> InteractionLabels:
    """Return the classes of one instruction under one or several patterns of metadata."""
    m, n = np.full(counts["A"], _NONE), np.full(counts["B"], _NONE)
    kept = np.full((len(tables), counts["A"]), _NONE)
    for table, k in zip(tables, kept, strict=True):
        m[table.a], k[table.a] = table.d[:, 0], table.b.min(axis=1)  # rows of d rise, so the first is the least
    # The elements of A in one row meet every element of B once, so this row alone names all columns.
    first = np.concatenate([table.d[:1, 0] for table in tables])[:1]
    rows = [table.of(m[table.a] == first) for table in tables]
    for row in rows:
        n[row.b] = row.d
    ways = tuple(_first(kept.reshape(-1)).reshape(kept.shape))
    a, b, d = (np.full((counts[name], 4), -1, np.int64) for name in "ABD")
    a[:, ROW], a[:, CONTRACTED], b[:, COLUMN] = _first(m), ways[0], _first(n)
    # B's k are those of the elements of A that it meets. Each element of D gets one product of each k, so the elements
    # of A of one k, the first one's, name all of D.
    for table, row, k in zip(tables, rows, ways, strict=True):
        b[row.b, CONTRACTED] = k[row.a][:, None]
        column = table.of(k[table.a] == k[table.a[:1]])
        d[column.d, ROW], d[column.d, COLUMN] = a[column.a, ROW][:, None], b[column.b, COLUMN]
    # Digit-coded probes are of instructions of one product; `pair_relation` finds several.
    for part, axis in ((a, ROW), (b, COLUMN), (d, ROW)):
        part[part[:, axis] >= 0, PRODUCT] = 0
    labels = {"A": a, "B": b, "D": d}
    return InteractionLabels(labels, ways, tuple(_notes(labels, tables, ways)))


def _first(names: Slots) -> Slots:
    """Names numbered in order of first appearance; for none, -1."""
    named = np.flatnonzero(names != _NONE)
    where = np.full(1 + int(names[named].max(initial=-1)), -1)
    where[names[named[::-1]]] = named[::-1]  # of several the first stays
    known = np.flatnonzero(where >= 0)
    number, numbered = np.empty_like(where), np.full(len(names), -1)
    number[known[np.argsort(where[known])]] = np.arange(len(known))
    numbered[named] = number[names[named]]
    return numbered


def _notes(labels: Mapping[str, Labels], tables: Sequence[Interactions], ways: Sequence[Slots]) -> Iterator[str]:
    d = labels["D"]
    if (shared := len(d) - distinct(d[:, ROW], d[:, COLUMN])) > 0:
        yield f"{shared} elements of D share their row and column with another"
    odd = 0
    # Classes always exist, also for what isn't a matrix product: only all interactions, computed from them, show that.
    for table, k in zip(tables, ways, strict=True):
        placed = labels["A"].copy()
        placed[:, CONTRACTED] = k
        odd += _differences(table, rebuild(placed, labels["B"], d))
    if odd:
        yield f"{odd} interactions are not those of the classes"


def _differences(observed: Interactions, implied: Interactions) -> int:
    """How many interactions are in one table alone, or differ."""
    if observed.d.shape[1] != implied.d.shape[1]:  # another number of columns: no row can be compared
        return max(observed.d.size, implied.d.size)
    left, right = observed, implied
    if not np.array_equal(observed.a, implied.a):
        left, right = observed.of(np.isin(observed.a, implied.a)), implied.of(np.isin(implied.a, observed.a))
    different = np.count_nonzero((left.d != right.d) | (left.b != right.b))
    return int(different) + observed.d.size + implied.d.size - 2 * left.d.size


def distinct(*columns: Slots) -> int:
    """How many different rows some columns of labels make.

    >>> distinct(np.array([0, 0, 5, 0]), np.array([-1, 2, 2, -1]))
    3
    """
    sizes = [2 + int(column.max(initial=-1)) for column in columns]
    seen = np.zeros(sizes, bool)
    seen[columns] = True  # that of -1 is the last
    return int(np.count_nonzero(seen))


def rebuild(a: Labels, b: Labels, d: Labels) -> Interactions:
    """Return the interactions that flat labels of A, B and D imply, where each (k, column) and (row, column) is one."""
    rows, columns = 1 + int(d[:, ROW].max(initial=0)), 1 + int(d[:, COLUMN].max(initial=0))
    home = np.full((rows, columns), -1, np.int32)
    live = np.flatnonzero((d[:, [ROW, COLUMN]] >= 0).all(axis=1))
    home[d[live, ROW], d[live, COLUMN]] = live
    extent = 1 + int(max(a[:, CONTRACTED].max(initial=0), b[:, CONTRACTED].max(initial=0)))
    partner = np.full((extent, columns), -1, np.int32)
    live = np.flatnonzero((b[:, [CONTRACTED, COLUMN]] >= 0).all(axis=1) & (b[:, COLUMN] < columns))
    partner[b[live, CONTRACTED], b[live, COLUMN]] = live
    whole = np.flatnonzero((a[:, [ROW, CONTRACTED]] >= 0).all(axis=1) & (a[:, ROW] < rows))
    row, k = a[whole, ROW], a[whole, CONTRACTED]
    # Only a row with all its columns is a row of interactions; `collect` has left out the others of the observed ones.
    full = home.min(axis=1, initial=0) >= 0
    good = full[row] & (partner.min(axis=1, initial=0)[k] >= 0)
    whole, row, k = whole[good], row[good], k[good]
    d_slots, b_slots = (np.empty((len(whole), columns), np.int32) for _ in "DB")
    while full.any():  # in nearly all rows the columns of D rise in one order: whole rows of interactions are the same
        order = np.argsort(home[full.argmax()])
        risen = home[:, order]
        rising = full & (risen[:, 1:] > risen[:, :-1]).all(axis=1)
        alike = rising[row]
        d_slots[alike], b_slots[alike] = risen[row[alike]], partner[:, order][k[alike]]
        full &= ~rising
    return Interactions(whole, d_slots, b_slots)


def transfer(size: int, slots: Few, rows: Few, k: Few, axis: int) -> tuple[Labels, int]:
    """Labels [slot] of an image from the interactions of its elements, and how many interactions contradict them.

    `rows` and `k` are the row or column and the k of the element that each interaction gives.
    """
    labels = np.full((size, 4), -1, np.int64)
    for column, given in ((axis, rows), (CONTRACTED, k), (PRODUCT, np.zeros_like(k))):
        labels[slots, column] = given
    return labels, int(((labels[slots, axis] != rows) | (labels[slots, CONTRACTED] != k)).sum())
