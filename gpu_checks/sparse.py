# SPDX-License-Identifier: Apache-2.0
"""The relation under every pattern of metadata, and which lane's metadata rules which element of A.

A dense instruction has one relation and no patterns. Of a sparse one a field is four bits of a lane's metadata. With
one pattern in every field the relation is taken as for a dense instruction, with the first pattern and the last, which
between them keep every k; a stored element of A keeps its row and changes its k. From here on a few columns of B are
enough, now that they have names: every pattern is looked at through them, under every selector F. Then the fields are
told apart: each has a number, and in one configuration for each binary digit of it (and one for the inverse digit) a
field holds one of two patterns, so that the k of an element spells the number of the field that rules it. Last, all
fields are drawn at random from the patterns, and every element must stand where its field says. All this is done with
A in registers; `check` holds an A in memory to it. That the other columns are ruled alike is for the random products
to show (`record.controls`), whose metadata are random too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_checks.coded import Form, forms, plainest, slots
from gpu_checks.machine import Machine
from gpu_checks.meetings import Meetings, digest, label
from gpu_checks.memory import Window
from gpu_checks.packing import Words
from gpu_checks.spelled import NOTHING, Spelling, meet, spell
from gpu_checks.values import COLUMN, CONTRACTED, ROW, Labels, Metadata
from isa_tables.signature import Signature

FIELDS, FIELD = 8, 4  # fields in a lane's metadata, bits in a field
RANDOM = 8  # configurations of random fields
COLUMNS = 8  # of B that rulers are read against: all that mma.sp has
_EVERY = 0x11111111  # one in every field


@dataclass(frozen=True, slots=True)
class Relation:
    """What was seen of one instruction with A in registers."""

    operands: Mapping[str, Labels]  # A (its k under the first pattern), B or its plainest image, D
    metadata: Metadata | None
    hash: str
    pairs: int
    notes: tuple[str, ...]

    def ways(self) -> Labels:
        """[pattern][A slot] -> k, the one row of a dense instruction if there are no patterns."""
        kept = [self.operands["A"][..., CONTRACTED]] if self.metadata is None else list(self.metadata.kept.values())
        return np.stack([k.reshape(-1) for k in kept])


def patterns(signature: Signature) -> tuple[int, ...]:
    """The patterns of a field that the tables call meaningful."""
    return tuple(signature.sparsity.kept) if signature.sparsity else ()


def uniform(signature: Signature) -> Words:
    """The fixed words of each pattern in every field; those of an instruction without metadata."""
    values = np.array(patterns(signature), np.uint32)[:, None, None]
    return values * np.full((1, signature.lanes, 1), _EVERY, np.uint32) if values.size else NOTHING


def outer(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The first and the last of several rows, one for each pattern."""
    return rows[:: max(1, len(rows) - 1)]


def look(machine: Machine, signature: Signature, seed: int) -> Relation:
    """Probe every pattern under every selector. Raises Refused or DeviceFault as the machine does."""
    every = [form for form in forms(signature) if form.plain]
    first, image = every[0], plainest(signature, "B")
    sizes = {"A": slots(first, "A", None), "B": slots(first, "B", image)}
    sizes["D"] = (signature.lanes, signature.operands["D"].values)
    tables, notes = meet(machine, first, None, image, spell(first, image), outer(uniform(signature)))
    found = label({name: lanes * count for name, (lanes, count) in sizes.items()}, tables)
    notes, metadata = (*notes, *found.notes), None
    if signature.sparsity is not None:
        part = _Part(by_k(first, image, found.labels["B"], COLUMNS), image, found.labels)
        metadata, said = _metadata(machine, every, part, found.kept, seed)
        notes += said
    return Relation(
        operands={name: flat.reshape(*sizes[name], 4) for name, flat in found.labels.items()},
        metadata=metadata,
        hash=digest(tables),
        pairs=len(found.labels["A"]) * len(found.labels["B"]),
        notes=tuple(dict.fromkeys(notes)),
    )


@dataclass(frozen=True, slots=True)
class _Part:
    """What patterns and rulers are read against: a few columns of B, each element known by its k, and all labels."""

    spelling: Spelling
    image: Window | None
    labels: Mapping[str, Labels]  # flat, of A, B and D

    def k(self, machine: Machine, form: Form, fixed: Words) -> tuple[Labels, tuple[str, ...]]:
        """[configuration][A slot] -> k, and what did not fit."""
        tables, said = meet(machine, form, None, self.image, self.spelling, fixed)
        a, d = self.labels["A"], self.labels["D"]
        wrong = sum(int((d[one.d, ROW] != a[one.a, ROW, None]).sum()) for one in tables)
        wrong += sum(int((d[one.d, COLUMN] >= self.spelling.columns).sum()) for one in tables)
        odd = (f"{wrong} products change their row or column with the metadata",) if wrong else ()
        return np.stack([_k_of(one, len(a)) for one in tables]), (*said, *odd)


def by_k(form: Form, image: Window | None, b: Labels, columns: int) -> Spelling:
    """The first columns of B, whose elements are known by their k; b are their flat labels."""
    few = (b[:, COLUMN] >= 0) & (b[:, COLUMN] < columns)
    return spell(form, image, np.where(few, b[:, CONTRACTED], -1), columns)


def _metadata(
    machine: Machine, every: Sequence[Form], part: _Part, kept: Sequence[Labels], seed: int
) -> tuple[Metadata, tuple[str, ...]]:
    """The k under each pattern and the rulers under each selector; `kept` is the k under the outer patterns."""
    signature = every[0].signature
    ways, notes = part.k(machine, every[0], uniform(signature))
    notes += () if np.array_equal(outer(ways), kept) else ("a few columns show another k than all do",)
    shape, rulers = (signature.lanes, signature.operands["A"].values), {}
    for form in every:
        selector = int(form.signature.chosen.get("F", 0))
        if form is not every[0]:
            again, said = part.k(machine, form, uniform(signature))
            same = np.array_equal(again, ways)
            notes += (*said, *(() if same else (f"selector {selector} gives another relation",)))
        ruler, said = _ruler(machine, form, part, ways, seed)
        rulers[selector] = ruler.reshape(*shape, 2)
        notes += said
    return Metadata(
        {v: k.reshape(shape) for v, k in zip(patterns(signature), ways, strict=True)}, rulers, RANDOM
    ), notes


def _ruler(machine: Machine, form: Form, part: _Part, ways: Labels, seed: int) -> tuple[Labels, tuple[str, ...]]:
    """[A slot] -> (lane, field) that rules it under this selector, and what did not fit."""
    lanes, apart = form.signature.lanes, _apart(ways)
    number = np.arange(lanes * FIELDS).reshape(lanes, FIELDS)
    digits = range(int(number.max()).bit_length())
    chosen = np.stack([number >> digit & 1 for digit in digits] + [1 - (number >> digit & 1) for digit in digits])
    drawn = draw(form.signature, seed)
    fields = np.concatenate([np.array(apart)[chosen], drawn])
    k, said = part.k(machine, form, words_of(np.array(patterns(form.signature))[fields]))
    ones = k[: len(chosen)] == ways[apart[1]]
    zeros = k[: len(chosen)] == ways[apart[0]]
    half = len(digits)
    spelled = sum((ones[digit] << digit for digit in digits), np.zeros(ways.shape[1], np.int64))
    clean = (ones ^ zeros).all(axis=0) & (ones[:half] == zeros[half:]).all(axis=0)
    ruler = np.where(clean, spelled, -1)
    wrong = int((_predicted(ways, drawn, ruler) != k[len(chosen) :])[:, clean].sum())
    notes = [f"{int((~clean).sum())} elements of A are not ruled by one field"] if not clean.all() else []
    notes += [f"{wrong} elements of A stand elsewhere under random metadata than their field says"] if wrong else []
    lane, field = np.divmod(ruler, FIELDS)
    return np.stack([np.where(clean, lane, -1), np.where(clean, field, -1)], axis=-1), (*said, *notes)


def check(
    machine: Machine, form: Form, image: Window, relation: Relation, labels: Labels, spelling: Spelling, seed: int
) -> tuple[str, ...]:
    """Hold A in memory to what its registers showed: where its elements stand under random metadata.

    `labels` are those of the image's places under the first pattern, `spelling` shows one column of B.
    """
    metadata = relation.metadata
    if metadata is None:
        return ()
    ways = relation.ways()
    place = np.flatnonzero(labels[:, CONTRACTED] >= 0)
    slot = _slots(relation.operands["A"].reshape(-1, 4), labels[place])
    lane, field = np.moveaxis(metadata.rulers[int(form.signature.chosen["F"])].reshape(-1, 2), -1, 0)
    drawn = draw(form.signature, seed)
    words = words_of(np.array(patterns(form.signature))[drawn])
    tables, said = meet(machine, form, image, plainest(form.signature, "B"), spelling, words)
    seen = np.stack([_k_of(table, len(labels)) for table in tables])[:, place]
    wrong = int((_predicted(ways, drawn, lane * FIELDS + field)[:, slot] != seen).sum())
    return (*said, *([f"{wrong} elements of A in memory are not ruled as those in registers are"] if wrong else []))


def moved(relation: Relation, labels: Labels, ways: Labels, tables: Sequence[Meetings]) -> int:
    """How many elements of A in memory stand elsewhere under some patterns than those in registers do: at `ways`."""
    wrong = 0
    for way, table in zip(ways, tables, strict=True):
        slot = _slots(relation.operands["A"].reshape(-1, 4), labels[table.a])
        wrong += int((way[slot][:, None] != table.b).sum())
    return wrong


def _slots(a: Labels, labels: Labels) -> Labels:
    """The slot of the registers that holds the element of each label."""
    columns = 1 + int(a[:, CONTRACTED].max())
    home = np.zeros((1 + int(a[:, ROW].max()), columns), np.int64)
    home[a[:, ROW], a[:, CONTRACTED]] = np.arange(len(a))
    found: Labels = home[labels[:, ROW], labels[:, CONTRACTED]]
    return found


def draw(signature: Signature, seed: int) -> Labels:
    """[configuration][lane][field] -> the number of a pattern, at random."""
    shape = (RANDOM, signature.lanes, FIELDS)
    return np.random.default_rng(seed).integers(0, len(patterns(signature)), shape)


def _predicted(ways: Labels, drawn: Labels, ruler: Labels) -> Labels:
    """[configuration][A slot] -> the k that the pattern of its field gives."""
    found: Labels = ways[drawn.reshape(len(drawn), -1)[:, ruler], np.arange(ways.shape[1])]
    return found


def _apart(ways: Labels) -> tuple[int, int]:
    """Two patterns that put every element of A at different k."""
    for first in range(len(ways)):
        for second in range(first + 1, len(ways)):
            if (ways[first] != ways[second]).all():
                return first, second
    return 0, len(ways) - 1


def words_of(fields: Labels) -> Words:
    """Metadata words [configuration][lane][1] from fields [configuration][lane][field]."""
    words: Words = (fields << (FIELD * np.arange(FIELDS))).sum(axis=-1).astype(np.uint32)[..., None]
    return words


def _k_of(table: Meetings, size: int) -> Labels:
    """The k of each element of A where B's elements are known by theirs, -1 where it meets none or several."""
    low = table.b.min(axis=1, initial=size)
    found = np.full(size, -1)
    found[table.a] = np.where(low == table.b.max(axis=1, initial=-1), low, -1)
    return found
