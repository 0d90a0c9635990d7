# SPDX-License-Identifier: Apache-2.0
"""wgmma: the relation of A from registers, B and D, and the image of A and B in every mode of the descriptor.

The relation is observed with A in registers and B's plainest image, whose places are its slots. It then labels the
other images of B, and all of A: an element of A or B in memory is identified by its interactions. For a sparse
instruction this is done under every pattern of metadata, and the rulers of A in memory must be those of A in registers.

Memory gives absolute coordinates. The plainest image is panels of 16-byte rows, one after the other; the premise
is that row i of a panel is m = i of A or n = i of B, and that k runs along a row and on through the panels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from gpu_checks.arrays import np
from gpu_checks.inference import sparse
from gpu_checks.inference.interactions import Few, Interactions, distinct, transfer
from gpu_checks.inference.queries import Queries, numbering, query, together
from gpu_checks.kernels.forms import InstructionForm, forms, plainest, slots
from gpu_checks.kernels.smem_matrix import Window, windows
from gpu_checks.machine import Numbering
from gpu_checks.model import COLUMN, CONTRACTED, ROW, ElementCoordinates, Image, Labels, SlotClasses
from isa_tables.signature import Signature

PREMISE = (
    "a matrix in shared memory that is not swizzled is panels of 16-byte rows in order of address, its rows counting "
    "m or n and the places in a row k"
)
LabelledImage: TypeAlias = "tuple[Image | None, tuple[str, ...]]"  # an image, if it is a new one, and notes
_ROW = 16  # bytes of a row of a core matrix: PTX ISA 9.7.15.5.1.2


def queries(signature: Signature, seed: int = 0) -> Queries[SlotClasses]:
    """Yield the queries of a wgmma: every form and image of the instruction."""
    start = yield from sparse.whole(signature)
    images = () if start.notes else _images(start, seed)
    relation: SlotClasses
    relation, *looked = yield from together([sparse.complete(start, seed), *images])
    seen = [] if relation.notes else [image.label(relation) for image in looked]
    kept = tuple(image for image, _ in seen if image is not None)
    fixed, odd = absolute(signature, relation.operands, kept)
    notes = (*relation.notes, *(note for _, said in seen for note in said), *odd)
    return relation._replace(images=kept, coordinates=fixed, notes=notes)


def _images(start: sparse.Start, seed: int) -> Iterator[Queries[_ImageOfA] | Queries[_ImageOfB]]:
    """Every image but the one of the relation; with a further selector, only the plainest of A."""
    first = start.form
    numbered = sparse.by_k(first, plainest(first.signature, "B"), start.labels["B"], 1)
    for form in forms(first.signature):
        again = form.signature.chosen.get("F") != first.signature.chosen.get("F")
        if form.signature.operands["A"].space == "smem":
            choices = windows("A", form.signature.operands["A"], (form.majors[0],))
            yield from (
                _image_of_a(form, image, numbered, seed, again) for image in (choices[:1] if again else choices)
            )
        elif not again:
            choices = windows("B", form.signature.operands["B"], (form.majors[1],))
            yield from (_image_of_b(form, image, start) for image in choices if image != plainest(form.signature, "B"))


@dataclass(frozen=True, slots=True)
class _ImageOfA:
    """The interactions of A in memory with one column of B: under the first pattern, then under others, then under
    fields that were drawn. The plainest image has every pattern and such fields, another image the last pattern.
    """

    form: InstructionForm  # the way in which the instruction is written
    image: Window  # of A in shared memory
    again: bool  # with a further selector: the image itself is known
    first: Interactions  # under the first pattern
    rest: Sequence[Interactions]  # under the others, then under the fields that were drawn
    patterns: slice  # those of `rest`
    drawn: Labels | None  # [configuration][lane][field] -> pattern
    notes: tuple[str, ...]  # what did not fit

    def label(self, relation: SlotClasses) -> LabelledImage:
        """Return the image with the labels of the relation."""
        form, first, image = self.form, self.first, self.image
        labels, wrong = _place_labels(form, "A", image, first.a, _of_d(relation, first, ROW), first.b[:, 0])
        wrong += abs(len(first.a) - prod(form.signature.operands["A"].extent))
        wrong += sum(len(first.a) - len(table.a) for table in self.rest)
        ways = relation.ways()[self.patterns]
        wrong += sparse.count_moved(relation, labels, ways, self.rest[: len(ways)])
        wrong += sum(_astray(relation, table, labels[table.a, ROW, None], 0) for table in (first, *self.rest))
        notes = self.notes + _misfits(wrong)
        if relation.metadata is not None and self.drawn is not None:
            rest = self.rest[len(ways) :]
            notes += sparse.check(form, relation, relation.metadata, labels, self.drawn, rest) if rest else ()
        return None if self.again else _image("A", image, labels), _of("A", image, notes)


def _image_of_a(
    form: InstructionForm, image: Window, numbered: Numbering, seed: int, again: bool
) -> Queries[_ImageOfA]:
    signature, plain, fixed = form.signature, plainest(form.signature, "B"), sparse.uniform(form.signature)
    plainly = (image.swizzle, *form.majors) == ("none", "K", "K")
    patterns = slice(1, None) if plainly else slice(max(1, len(fixed) - 1), None)
    drawn = sparse.draw(signature, seed) if plainly and signature.sparsity else None
    (((first,), notes),) = yield [query(form, image, plain, numbered, fixed[:1])]
    words = (
        fixed[patterns] if drawn is None else np.concatenate([fixed[patterns], sparse.drawn_words(signature, drawn)])
    )
    rest: Sequence[Interactions] = ()
    if len(words) and len(first.a):
        ((rest, said),) = yield [query(form, image, plain, numbered, words, only=first.a)]
        notes += said
    return _ImageOfA(form, image, again, first, rest, patterns, drawn, notes)


@dataclass(frozen=True, slots=True)
class _ImageOfB:
    """The interactions of B in memory with a row of A, under the first and the last pattern; each keeps a part of k."""

    form: InstructionForm
    image: Window
    tables: Sequence[Interactions]
    notes: tuple[str, ...]

    def label(self, relation: SlotClasses) -> LabelledImage:
        """Return the image with the labels of the relation."""
        tables, ways = self.tables, sparse.outer(relation.ways())
        b = np.concatenate([table.b.ravel() for table in tables])
        columns = np.concatenate([_of_d(relation, table, COLUMN) for table in tables])
        k = np.concatenate([way[table.a].repeat(table.b.shape[1]) for way, table in zip(ways, tables, strict=True)])
        labels, wrong = _place_labels(self.form, "B", self.image, b, columns, k)
        row, columns_of_b = int((relation.operands["A"][..., ROW] == 0).sum()), self.form.signature.shape[1]
        wrong += sum(abs(table.b.size - row * columns_of_b) + _astray(relation, table, 0) for table in tables)
        return _image("B", self.image, labels), _of("B", self.image, self.notes + _misfits(wrong))


def _image_of_b(form: InstructionForm, image: Window, start: sparse.Start) -> Queries[_ImageOfB]:
    row, fixed = np.flatnonzero(start.labels["A"][:, ROW] == 0), sparse.outer(sparse.uniform(form.signature))
    ((tables, notes),) = yield [query(form, None, image, numbering(form, image), fixed, only=row)]
    return _ImageOfB(form, image, tables, notes)


def _of_d(relation: SlotClasses, table: Interactions, axis: int) -> Labels:
    """Return the row or the column of D in which each product is."""
    labels: Labels = relation.operands["D"].reshape(-1, 4)[table.d.ravel(), axis]
    return labels


def _astray(relation: SlotClasses, table: Interactions, row: Labels | int, column: int | None = None) -> int:
    """How many products are in another row of D than their element of A, or in another column than all of them."""
    labels = relation.operands["D"].reshape(-1, 4)[table.d]
    wrong = labels[..., ROW] != row
    if column is not None:
        wrong |= labels[..., COLUMN] != column
    return int(np.count_nonzero(wrong))


def _place_labels(
    form: InstructionForm, operand: str, image: Window, own: Labels, along: Labels, k: Few
) -> tuple[Labels, int]:
    """Labels of the image's places from their interactions, and how many interactions do not fit."""
    rows, columns = form.signature.operands[operand].extent
    axis = ROW if operand == "A" else COLUMN
    labels, wrong = transfer(slots(form, operand, image)[1], own, along, k, axis)
    named = labels[labels[:, CONTRACTED] >= 0]
    return labels, wrong + abs(distinct(named[:, axis], named[:, CONTRACTED]) - rows * columns)


def _image(operand: str, image: Window, labels: Labels) -> Image:
    return Image(operand, image.swizzle, image.major, image.lbo, image.sbo, labels[None])


def _misfits(wrong: int) -> tuple[str, ...]:
    return (f"{wrong} interactions do not fit",) if wrong else ()


def _of(operand: str, image: Window, notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{operand} {image.major}-major {image.swizzle}: {note}" for note in notes)


def absolute(
    signature: Signature, operands: Mapping[str, Labels], images: tuple[Image, ...]
) -> tuple[tuple[ElementCoordinates, ...], tuple[str, ...]]:
    """Absolute coordinates of A, B and D from the places in the plainest images; a note where A and B disagree on k.

    The columns of a sparse A are those stored, which are not k.
    """
    plain = next(
        (image.labels for image in images if (image.operand, image.swizzle, image.major) == ("A", "none", "K")), None
    )
    if plain is None:
        return (), ()
    bits = signature.operands["B"].bits
    m_of, k_of = _panels(plain[0], ROW, bits)
    n_of, k_of_b = _panels(operands["B"][0], COLUMN, bits)
    if signature.sparsity is None and not np.array_equal(k_of, k_of_b):
        return (), ("A and B in shared memory number k differently",)
    named = {
        "A": (m_of, ROW, k_of, CONTRACTED),
        "B": (k_of_b, CONTRACTED, n_of, COLUMN),
        "D": (m_of, ROW, n_of, COLUMN),
    }
    coordinates = []
    for name, (row_of, row, column_of, column) in named.items():
        labels = operands[name]
        pair = [row_of[labels[..., row]], column_of[labels[..., column]]]
        coordinates.append(ElementCoordinates("wgmma", name, PREMISE, np.stack(pair, axis=-1)))
    return tuple(coordinates), ()


def _panels(labels: Labels, axis: int, bits: int) -> tuple[Labels, Labels]:
    """For the rows and for k of the plainest image, the number by place of each class."""
    rows = len(labels) // (distinct(labels[:, CONTRACTED]) or 1)
    across = _ROW * 8 // bits
    place = np.arange(len(labels))
    along = place // (across * rows) * across + place % across
    return _names(labels[:, axis], place // across % rows), _names(labels[:, CONTRACTED], along)


def _names(classes: Labels, numbers: Labels) -> Labels:
    """Class -> its number, -1 where two places disagree; one entry more, the last, for the class -1."""
    names = np.full(2 + max(int(classes.max(initial=-1)), 0), -1, np.int64)
    names[classes] = numbers
    names[classes[names[classes] != numbers]] = -1
    names[-1] = -1
    return names
