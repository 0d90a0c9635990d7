# SPDX-License-Identifier: Apache-2.0
"""The relation under every pattern of metadata, and which lane's metadata decides the k of which element of A.

A dense instruction has one relation and no patterns. In a sparse one, a field is four bits of a lane's metadata, and a
ruler is the field that decides the k of a stored element. The steps are:

1.  With one pattern in every field the relation is observed as for a dense instruction, for the first pattern and the
    last, which between them keep every k. A stored element of A keeps its row and changes its k.
2.  The columns of B have classes now, so a few of them are enough: every pattern is observed through them, under every
    selector F.
3.  Each field has a number. In one configuration for each binary digit of it (and one for the inverse digit) a field
    holds one of two patterns, so that the k of an element gives the digits of the number of the field that rules it.
4.  All fields are drawn at random from the patterns, and every element must have the k that its field gives.

All this is done with A in registers; `check` compares an A in memory with it. The random products (`record.controls`),
whose metadata are random too, check that the other columns follow the same rulers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from gpu_checks.arrays import np
from gpu_checks.inference.interactions import Interactions, digest, label
from gpu_checks.inference.queries import NOTHING, Queries, numbering, query, together
from gpu_checks.kernels.forms import InstructionForm, forms, plainest, slots
from gpu_checks.kernels.packing import Words
from gpu_checks.kernels.smem_matrix import Window
from gpu_checks.machine import Numbering
from gpu_checks.model import COLUMN, CONTRACTED, ROW, Labels, Metadata, SlotClasses
from isa_tables.signature import Signature

if TYPE_CHECKING:
    import numpy.typing as npt

FIELDS, FIELD = 8, 4  # fields in a lane's metadata (a register of 32 bits), bits in a field: PTX ISA 9.7.14.6
RANDOM = 8  # configurations of random fields
COLUMNS = 8  # of B that rulers are read from: all that mma.sp has (N = 8, PTX ISA 9.7.14.6)
_EVERY = 0x11111111  # one in every field


def patterns(signature: Signature) -> tuple[int, ...]:
    """Return the patterns of a field that the tables call meaningful."""
    return tuple(signature.sparsity.kept) if signature.sparsity else ()


def uniform(signature: Signature) -> Words:
    """Return the fixed words of each pattern in every field; those of an instruction without metadata."""
    values = np.array(patterns(signature), np.uint32)[:, None, None]
    return values * np.full((1, signature.lanes, 1), _EVERY, np.uint32) if values.size else NOTHING


def outer(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the first and the last of several rows, one for each pattern."""
    return rows[:: max(1, len(rows) - 1)]


def queries(signature: Signature, seed: int) -> Queries[SlotClasses]:
    """Yield the queries of a sparse instruction: every pattern under every selector."""
    start = yield from whole(signature)
    return (yield from complete(start, seed))


@dataclass(frozen=True, slots=True)
class Start:
    """The classes from the interactions with all of B, under the first and the last pattern."""

    form: InstructionForm  # the first, with A in registers
    labels: Mapping[str, Labels]  # flat, of A (its k under the first pattern), B or its plainest image, D
    kept: Sequence[Labels]  # A's k under the outer patterns
    hash: str
    notes: tuple[str, ...]


def whole(signature: Signature) -> Queries[Start]:
    """Yield the relation in the first form."""
    form, image = forms(signature)[0], plainest(signature, "B")
    ((tables, notes),) = yield [query(form, None, image, numbering(form, image), outer(uniform(signature)))]
    relation = label({name: prod(size) for name, size in _sizes(form).items()}, tables)
    return Start(form, relation.labels, relation.kept, digest(tables), (*notes, *relation.notes))


def complete(start: Start, seed: int) -> Queries[SlotClasses]:
    """Yield the relation with its metadata, if the instruction has any."""
    signature, labels = start.form.signature, start.labels
    notes, metadata = start.notes, None
    if signature.sparsity is not None:
        image = plainest(signature, "B")
        part = _Part(by_k(start.form, image, labels["B"], COLUMNS), image, labels)
        every = [form for form in forms(signature) if form.plain]
        metadata, said = yield from _metadata(every, part, start.kept, seed)
        notes += said
    return SlotClasses(
        operands={name: labels[name].reshape(*size, 4) for name, size in _sizes(start.form).items()},
        pairs=len(labels["A"]) * len(labels["B"]),
        hash=start.hash,
        notes=tuple(dict.fromkeys(notes)),
        metadata=metadata,
    )


def _sizes(form: InstructionForm) -> dict[str, tuple[int, int]]:
    """Lanes and values of A in registers, of B or its plainest image, and of D."""
    image, result = plainest(form.signature, "B"), form.signature.operands["D"]
    return {"A": slots(form, "A", None), "B": slots(form, "B", image), "D": (form.signature.lanes, result.values)}


@dataclass(frozen=True, slots=True)
class _Part:
    """What patterns and rulers are read from: a few columns of B, each element numbered by its k, and all labels."""

    numbered: Numbering
    image: Window | None
    labels: Mapping[str, Labels]  # flat, of A, B and D

    def k(self, form: InstructionForm, fixed: Words) -> Queries[tuple[Labels, tuple[str, ...]]]:
        """[configuration][A slot] -> k, and what did not fit."""
        ((tables, said),) = yield [query(form, None, self.image, self.numbered, fixed)]
        row, row_of_d = (self.labels[name][:, ROW].copy() for name in "AD")
        row_of_d[self.labels["D"][:, COLUMN] >= self.numbered.columns] = -2  # no row of A
        wrong = sum(int(np.count_nonzero(row_of_d[table.d] != row[table.a, None])) for table in tables)
        odd = (f"{wrong} products change their row or column with the metadata",) if wrong else ()
        return np.stack([_k_of(table, len(row)) for table in tables]), (*said, *odd)


def by_k(form: InstructionForm, image: Window | None, b: Labels, columns: int) -> Numbering:
    """Return the first columns of B, whose elements are known by their k; b are their flat labels."""
    few = (b[:, COLUMN] >= 0) & (b[:, COLUMN] < columns)
    return numbering(form, image, np.where(few, b[:, CONTRACTED], -1), columns)


def _metadata(
    every: Sequence[InstructionForm], part: _Part, kept: Sequence[Labels], seed: int
) -> Queries[tuple[Metadata, tuple[str, ...]]]:
    """Yield the k under each pattern and the rulers under each selector; `kept` is the k under the outer patterns."""
    signature = every[0].signature
    ways, notes = yield from part.k(every[0], uniform(signature))
    notes += () if np.array_equal(outer(ways), kept) else ("a few columns show another k than all do",)
    ruled = yield from together(_ruler(form, part, ways, seed) for form in every)
    again = yield from together(_same(form, part, ways) for form in every[1:])
    shape = (signature.lanes, signature.operands["A"].values)
    rulers = {
        int(form.signature.chosen.get("F", 0)): ruler.reshape(*shape, 2)
        for form, (ruler, _) in zip(every, ruled, strict=True)
    }
    kept_by = {v: k.reshape(shape) for v, k in zip(patterns(signature), ways, strict=True)}
    said = (note for some in (*again, *(odd for _, odd in ruled)) for note in some)
    return Metadata(kept_by, rulers, RANDOM), (*notes, *said)


def _same(form: InstructionForm, part: _Part, ways: Labels) -> Queries[tuple[str, ...]]:
    """Yield a note where a further selector gives the patterns another meaning."""
    again, said = yield from part.k(form, uniform(form.signature))
    same = np.array_equal(again, ways)
    return (*said, *(() if same else (f"selector {form.signature.chosen['F']} gives another relation",)))


def _ruler(form: InstructionForm, part: _Part, ways: Labels, seed: int) -> Queries[tuple[Labels, tuple[str, ...]]]:
    """Ask for [A slot] -> (lane, field) that rules it under this selector, and what did not fit."""
    lanes, distinct = form.signature.lanes, _distinct(ways)
    number = np.arange(lanes * FIELDS).reshape(lanes, FIELDS)
    digits = range(int(number.max()).bit_length())
    chosen = np.stack([number >> digit & 1 for digit in digits] + [1 - (number >> digit & 1) for digit in digits])
    drawn = draw(form.signature, seed)
    fields = np.concatenate([np.array(distinct)[chosen], drawn])
    k, said = yield from part.k(form, drawn_words(form.signature, fields))
    is_one = k[: len(chosen)] == ways[distinct[1]]
    is_zero = k[: len(chosen)] == ways[distinct[0]]
    half = len(digits)
    number_of_field = sum((is_one[digit] << digit for digit in digits), np.zeros(ways.shape[1], np.int64))
    clean = (is_one ^ is_zero).all(axis=0) & (is_one[:half] == is_zero[half:]).all(axis=0)
    ruler = np.where(clean, number_of_field, -1)
    wrong = int((_predict(ways, drawn, ruler) != k[len(chosen) :])[:, clean].sum())
    notes = [f"{int((~clean).sum())} elements of A are not ruled by one field"] if not clean.all() else []
    notes += [f"{wrong} elements of A have another k under random metadata than their field gives"] if wrong else []
    lane, field = np.divmod(ruler, FIELDS)
    return np.stack([np.where(clean, lane, -1), np.where(clean, field, -1)], axis=-1), (*said, *notes)


def check(
    form: InstructionForm,
    relation: SlotClasses,
    metadata: Metadata,
    labels: Labels,
    drawn: Labels,
    tables: Sequence[Interactions],
) -> tuple[str, ...]:
    """Return notes on an A in memory whose elements have another k, under the `drawn` fields, than those in registers.

    `labels` are those of the image's places under the first pattern, `tables` the interactions with one column of B.
    """
    ways, place = relation.ways(), np.flatnonzero(labels[:, CONTRACTED] >= 0)
    slot = _slots(relation.operands["A"].reshape(-1, 4), labels[place])
    lane, field = np.moveaxis(metadata.rulers[int(form.signature.chosen["F"])].reshape(-1, 2), -1, 0)
    seen = np.stack([_k_of(table, len(labels)) for table in tables])[:, place]
    wrong = int((_predict(ways, drawn, lane * FIELDS + field)[:, slot] != seen).sum())
    return (f"{wrong} elements of A in memory are not ruled as those in registers are",) if wrong else ()


def count_moved(relation: SlotClasses, labels: Labels, ways: Labels, tables: Sequence[Interactions]) -> int:
    """How many elements of A in memory have another k, under some pattern, than the `ways` of those in registers."""
    wrong = 0
    for way, table in zip(ways, tables, strict=True):
        slot = _slots(relation.operands["A"].reshape(-1, 4), labels[table.a])
        wrong += int((way[slot][:, None] != table.b).sum())
    return wrong


def _slots(a: Labels, labels: Labels) -> Labels:
    """Return the slot of the registers that holds the element of each label."""
    columns = 1 + int(a[:, CONTRACTED].max())
    home = np.zeros((1 + int(a[:, ROW].max()), columns), np.int64)
    home[a[:, ROW], a[:, CONTRACTED]] = np.arange(len(a))
    slots: Labels = home[labels[:, ROW], labels[:, CONTRACTED]]
    return slots


def drawn_words(signature: Signature, drawn: Labels) -> Words:
    """Return the metadata words of fields that were drawn."""
    return words_of(np.array(patterns(signature))[drawn])


def draw(signature: Signature, seed: int) -> Labels:
    """[configuration][lane][field] -> the number of a pattern, at random."""
    shape = (RANDOM, signature.lanes, FIELDS)
    return np.random.default_rng(seed).integers(0, len(patterns(signature)), shape)


def _predict(ways: Labels, drawn: Labels, ruler: Labels) -> Labels:
    """[configuration][A slot] -> the k that the pattern of its field gives."""
    predicted: Labels = ways[drawn.reshape(len(drawn), -1)[:, ruler], np.arange(ways.shape[1])]
    return predicted


def _distinct(ways: Labels) -> tuple[int, int]:
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


def _k_of(table: Interactions, size: int) -> Labels:
    """Return the k of each element of A where B's are numbered by theirs, -1 where it meets none or several."""
    k, differs = np.full(size, -1), table.b != table.b[:, :1]
    k[table.a] = np.where(differs.any(axis=1), -1, table.b[:, 0]) if differs.any() else table.b[:, 0]
    return k
