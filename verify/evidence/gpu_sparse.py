# SPDX-License-Identifier: Apache-2.0
"""The check `gpu` of sparse instructions: the k of every stored element, and the metadata that selects it.

An atom numbers the columns of a sparse A before half of them are dropped. The stored element j of the columns from
`g * columns` is, under pattern p of their field, at k = g * columns + kept[p][j]: the meaning of metadata in the ISA. A
recording has, for every pattern, the k class of every element, which B's elements share, and, for every selector, the
lane and the field (four bits of its word) that select it. So k of A and B must be one bijection under each pattern, and
the atom's E must have the bits of just those columns in that field, in order.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

import gpu_checks
from isa_tables.tables import Sparsity

Table: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.int64]]"
FIELD, WORD = 4, 32  # bits
ROW, K = 0, 2  # of the classes


class Conflict(NamedTuple):
    """The first slot where a recording contradicts the layouts: its axis, operands, lane and value."""

    axis: str
    operands: tuple[str, str]
    lane: int
    value: int
    statement: str


class StoredElements(NamedTuple):
    """A sparse atom and a recording of it: (m, column) of each stored element, by slots of A in registers."""

    meaning: Sparsity  # which columns a pattern of metadata selects, by the ISA
    metadata: gpu_checks.Metadata  # what the GPU did under each pattern and selector
    elements: Table  # [lane][value] -> (m, the first of its columns)
    values: Table | None  # [lane][value, as the atom counts] -> (m, column) of an A in registers
    b: tuple[Table, Table]  # k of B's elements as claimed, and their k classes
    e: Table | None  # [lane][value] -> (m, column); None where the atom has no E
    times: int = 1  # how many images of B had one and the same classes

    @property
    def columns(self) -> int:
        """The number of columns of a stored element."""
        return coarseness(self.meaning)

    def compare(self) -> int | Conflict:
        """Count the (element, pattern) and (element, selector) pairs that agree, or return the first that does not."""
        points = 0
        for check in (self._whole, self._check_contraction, self._check_rule):
            outcome = check()
            if isinstance(outcome, Conflict):
                return outcome
            points += outcome
        return points

    def _columns(self, count: int) -> Table:
        """(m, column) of the block of so many columns that has a stored element: [lane][value][column]."""
        first = self.elements[..., 1:] // count * count
        places: Table = np.stack(np.broadcast_arrays(self.elements[..., :1], first + np.arange(count)), axis=-1)
        return places

    def _whole(self) -> int | Conflict:
        """Check that the values of a stored element are its columns in order, from a multiple of their number."""
        if self.values is None:
            return 0
        count = self.elements.shape[1]
        if self.values.shape[1] != count * self.columns:
            statement = f"A has {self.values.shape[1]} values in each lane, the instruction stores {count} elements"
            return Conflict("k", ("A", "A"), 0, 0, f"{statement} of {self.columns} columns")
        wanted = self._columns(self.columns)
        wrong = np.argwhere(self.values.reshape(wanted.shape) != wanted)
        if not len(wrong):
            return int(wanted[..., 0].size)
        lane, value, step, axis = (int(c) for c in wrong[0])
        columns = ", ".join(f"(m={m}, k={k})" for m, k in self.values.reshape(wanted.shape)[lane, value].tolist())
        statement = f"A lane {lane}, stored element {value}: its values are {columns}, which are not its columns"
        return Conflict("mk"[axis], ("A", "A"), lane, value * self.columns + step, f"{statement} in order")

    def _check_contraction(self) -> int | Conflict:
        """Check that k of A and B is one bijection with the classes under each pattern."""
        claimed, classes = (table.ravel() for table in self.b)
        class_of = np.full(1 + int(claimed.max(initial=0)), -1, np.int64)
        class_of[claimed] = classes
        if (class_of[claimed] != classes).any() or len(np.unique(class_of)) != len(class_of):
            return Conflict("k", ("B", "B"), 0, 0, "k of B isn't a relabelling of what the hardware sums over")
        columns, points = self.elements[..., 1], self.b[0].size * self.times
        for pattern, kept in self.metadata.kept.items():
            meant = np.array(self.meaning.kept[pattern])[columns % self.meaning.columns // self.columns]
            k = columns // self.meaning.columns * self.meaning.columns + meant
            wrong = np.argwhere(np.where(k < len(class_of), class_of[np.minimum(k, len(class_of) - 1)], -1) != kept)
            if len(wrong):
                lane, value = (int(c) for c in wrong[0])
                seen = np.flatnonzero(class_of == kept[lane, value])
                where = f"k={seen[0]}" if len(seen) else "a k that B does not have"
                statement = f"A lane {lane}, stored element {value}: claimed to be k={k[lane, value]} under "
                statement += f"metadata {pattern:#06b}; the hardware multiplies it with B's {where}"
                return Conflict("k", ("A", "B"), lane, value * self.columns, statement)
            points += kept.size
        return points

    def _check_rule(self) -> int | Conflict:
        """Check that the field that selects an element has the bits of its columns, under each selector."""
        if self.e is None:
            return 0
        each = self.e.shape[1] * FIELD // WORD
        if self.e.shape[1] * FIELD % WORD or each != self.meaning.columns:
            described = f"{self.meaning.columns} of {WORD // FIELD * self.meaning.columns}"
            statement = f"E has {self.e.shape[1]} values in each lane, a field of four bits describes {described}"
            return Conflict("k", ("E", "E"), 0, 0, statement)
        steps, points, wanted = np.arange(each), 0, self._columns(each)
        for selector, ruler in self.metadata.rulers.items():
            selected = self.e[ruler[..., :1], ruler[..., 1:] * each + steps]
            wrong = np.argwhere(selected != wanted)
            if len(wrong):
                lane, value, step, axis = (int(c) for c in wrong[0])
                at = int(ruler[lane, value, 0]), int(ruler[lane, value, 1]) * each + step
                (m, k), (x, y) = wanted[lane, value, step], selected[lane, value, step]
                statement = f"E lane {at[0]} value {at[1]} is claimed to be about (m={x}, k={y}); the hardware selects "
                statement += f"(m={m}, k={k}), A lane {lane} stored element {value}, with it under selector {selector}"
                return Conflict("mk"[axis], ("A", "E"), *at, statement)
            points += int(selected[..., 0].size)
        return points


def coarseness(meaning: Sparsity) -> int:
    """Return the number of columns of A in one stored element.

    >>> coarseness(Sparsity(4, {4: (0, 1)}))
    2
    """
    return meaning.columns // len(next(iter(meaning.kept.values())))


def by_class(recording: gpu_checks.Recording, labels: Table, classes: Table) -> Table:
    """(m, stored column) of A's slots in registers, if A is in memory: by the classes of its slots there.

    `labels` are (m, stored column) of the slots in memory, `classes` their recorded classes.
    """
    own = recording.operands["A"]
    rows, ks = classes[..., ROW].ravel(), classes[..., K].ravel()
    home = np.full((1 + max(rows.max(), own[..., ROW].max()), 1 + max(ks.max(), own[..., K].max()), 2), -1, np.int64)
    home[rows, ks] = labels.reshape(-1, 2)
    places: Table = home[own[..., ROW], own[..., K]]
    return places
