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
_BITS = 20  # of a slot's number in a packed meeting
_MASK = 2**_BITS - 1


@dataclass(frozen=True, slots=True)
class Meetings:
    """All meetings under one configuration, sorted by a, then d."""

    a: Slots
    d: Slots
    b: Slots
    packed: Slots  # each meeting as one number: a, d and b, of twenty bits each


def unpacked(packed: Slots) -> Meetings:
    """The meetings in these numbers, sorted."""
    ordered = packed if (packed[1:] >= packed[:-1]).all() else np.sort(packed)
    return Meetings(ordered >> 2 * _BITS, ordered >> _BITS & _MASK, ordered & _MASK, ordered)


def collect(hits: Hits, chosen: Slots, b_slots: int) -> tuple[list[Meetings], tuple[str, ...]]:
    """The meetings of each configuration, and the items that show no whole number of products."""
    limit = hits.reached.shape[1]
    over = int((hits.counts > limit).sum())
    there = np.arange(limit) < hits.counts[:, None]
    whole = (hits.codes >= 0) & (hits.codes < b_slots)
    bad = int((there & ~whole).sum())
    packed = hits.reached.astype(np.int64)
    packed <<= _BITS
    packed |= hits.codes
    every = packed.reshape(-1, len(chosen), limit)
    every |= (chosen << 2 * _BITS)[:, None]
    good = (there & whole).reshape(every.shape)
    notes = [f"{over} elements of A reach more than {limit} elements of D"] if over else []
    notes += [f"{bad} elements of D got something else than one product"] if bad else []
    return [unpacked(one[kept]) for one, kept in zip(every, good, strict=True)], tuple(notes)


def digest(tables: Sequence[Meetings]) -> str:
    """SHA-256 of the meetings of all configurations, as packed little-endian 64-bit numbers."""
    whole = hashlib.sha256()
    for table in tables:
        whole.update(np.ascontiguousarray(table.packed, "<i8").tobytes())
    return whole.hexdigest()


@dataclass(frozen=True, slots=True)
class Found:
    """Labels of A, B and D, flat, [slot][row, column, k, product]; A's k under each configuration; objections."""

    labels: Mapping[str, Labels]
    kept: tuple[Slots, ...]
    notes: tuple[str, ...]


def label(counts: Mapping[str, int], tables: Sequence[Meetings]) -> Found:
    """The classes of one instruction under one or several patterns of metadata."""
    a, b, d = (np.concatenate([getattr(table, name) for table in tables]) for name in "abd")
    m, n = _first(_least(a, d, counts["A"])), _first(_least(b, d, counts["B"]))
    kept = _first(np.concatenate([_least(table.a, table.b, counts["A"]) for table in tables]))
    ways = tuple(kept.reshape(len(tables), -1))
    names = _Names(m, n, *(np.full(counts[x], -1, np.int64) for x in "BDD"))
    names.m_of_d[d], names.n_of_d[d] = m[a], n[b]
    for table, k in zip(tables, ways, strict=True):
        names.k_of_b[table.b] = k[table.a]
    labels = {name: np.full((size, 4), -1, np.int64) for name, size in counts.items()}
    labels["A"][:, ROW], labels["A"][:, CONTRACTED] = m, ways[0]
    labels["B"][:, COLUMN], labels["B"][:, CONTRACTED] = n, names.k_of_b
    labels["D"][:, ROW], labels["D"][:, COLUMN] = names.m_of_d, names.n_of_d
    for name, known in (("A", m), ("B", n), ("D", names.m_of_d)):
        labels[name][known >= 0, PRODUCT] = 0
    return Found(labels, ways, tuple(_objections(names, tables, ways)))


class _Names(NamedTuple):
    """The classes of each slot."""

    m: Slots
    n: Slots
    k_of_b: Slots
    m_of_d: Slots
    n_of_d: Slots


def _least(slots: Slots, reached: Slots, size: int) -> Slots:
    """The least that each slot reaches, -1 for one that reaches nothing."""
    least = np.full(size, _MASK, np.int64)
    np.minimum.at(least, slots, reached)
    return np.where(least == _MASK, -1, least)


def _first(names: Slots) -> Slots:
    """Names numbered in order of first appearance; -1 stays."""
    found, where, which = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(np.where(found < 0, -1, where))
    number = np.empty(len(found), np.int64)
    number[order] = np.arange(len(found))
    return number[which] - int(found[0] < 0)


def _objections(names: _Names, tables: Sequence[Meetings], ways: Sequence[Slots]) -> Iterator[str]:
    homes = names.m_of_d * (1 + int(names.n_of_d.max(initial=0))) + names.n_of_d
    if (shared := len(homes) - len(np.unique(homes))) > 0:
        yield f"{shared} elements of D share their row and column with another"
    slices = np.bincount(names.k_of_b[names.k_of_b >= 0])
    odd = 0
    for table, k in zip(tables, ways, strict=True):
        same = names.m_of_d[table.d] == names.m[table.a]
        same &= names.n_of_d[table.d] == names.n[table.b]
        same &= names.k_of_b[table.b] == k[table.a]
        odd += int((~same).sum()) + abs(int(slices[k[k >= 0]].sum()) - len(table.a))
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
    b_slots, d_slots = met[a[whole, CONTRACTED]], home[a[whole, ROW]]
    a_slots = np.broadcast_to(whole[:, None], b_slots.shape)
    good = (b_slots >= 0) & (d_slots >= 0)
    return unpacked((a_slots[good] << 2 * _BITS) | (d_slots[good] << _BITS) | b_slots[good])


def transfer(size: int, slots: Slots, rows: Slots, k: Slots, axis: int) -> tuple[Labels, int]:
    """Labels [slot] of an image from the meetings of its elements, and how many meetings contradict them.

    `rows` and `k` are what each meeting says of the element's row or column and of its k.
    """
    labels = np.full((size, 4), -1, np.int64)
    for column, said in ((axis, rows), (CONTRACTED, k), (PRODUCT, np.zeros_like(k))):
        labels[slots, column] = said
    return labels, int(((labels[slots, axis] != rows) | (labels[slots, CONTRACTED] != k)).sum())
