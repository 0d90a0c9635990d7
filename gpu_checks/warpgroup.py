# SPDX-License-Identifier: Apache-2.0
"""wgmma: the relation of A from registers, B and D, and what every mode of the descriptor does.

The relation is taken with A in registers and B's plainest image, whose places are its slots. The other images
of B, and all of A, are then read against it: an element of A or B in memory is known by whom it meets. Of a sparse
instruction this is done under every pattern of metadata, and A in memory must be ruled as A in registers is.

Memory makes the labels absolute. The plainest image is panels of 16-byte rows, one after the other; the premise
is that row i of a panel is m = i of A or n = i of B, and that k runs along a row and on through the panels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from gpu_checks import sparse
from gpu_checks.coded import Form, forms, plainest, slots
from gpu_checks.machine import Machine
from gpu_checks.meetings import Meetings, transfer
from gpu_checks.memory import Window, windows
from gpu_checks.sparse import Relation
from gpu_checks.spelled import meet, spell
from gpu_checks.values import COLUMN, CONTRACTED, ROW, Anchor, Image, Labels
from isa_tables.signature import Signature

PREMISE = (
    "a matrix in shared memory that is not swizzled is panels of 16-byte rows in order of address, its rows counting "
    "m or n and the places in a row k"
)
_APART = 2**20
_ROW = 16


@dataclass(frozen=True, slots=True)
class Warpgroup:
    """What was seen of one wgmma instruction."""

    relation: Relation  # of A from registers, B's plainest image, D
    images: tuple[Image, ...]
    anchors: tuple[Anchor, ...]
    notes: tuple[str, ...]


def look(machine: Machine, signature: Signature, seed: int = 0) -> Warpgroup:
    """Probe every form and image of an instruction. Raises Refused or DeviceFault as the machine does."""
    relation = sparse.look(machine, signature, seed)
    seen = list(_images(machine, signature, relation, seed)) if not relation.notes else []
    images = tuple(image for image, _ in seen if image is not None)
    fixed, odd = absolute(signature, relation.operands, images)
    return Warpgroup(relation, images, fixed, (*relation.notes, *(note for _, said in seen for note in said), *odd))


def _images(
    machine: Machine, signature: Signature, relation: Relation, seed: int
) -> Iterator[tuple[Image | None, tuple[str, ...]]]:
    """Every image but the one of the relation, and what did not fit; with a further selector, that alone."""
    first = forms(signature)[0].signature.chosen.get("F")
    for form in forms(signature):
        again = form.signature.chosen.get("F") != first
        if form.signature.operands["A"].space == "smem":
            yield from _images_of_a(machine, form, relation, seed, again)
        elif not again:
            yield from _images_of_b(machine, form, relation)


def _images_of_a(
    machine: Machine, form: Form, relation: Relation, seed: int, again: bool
) -> Iterator[tuple[Image | None, tuple[str, ...]]]:
    """A in memory against one column of B: the plainest image under every pattern of metadata, others under two."""
    b, plain = relation.operands["B"].reshape(-1, 4), plainest(form.signature, "B")
    spelling, fixed, ways = sparse.by_k(form, plain, b, 1), sparse.uniform(form.signature), relation.ways()
    every = windows("A", form.signature.operands["A"], (form.majors[0],))
    for image in every[:1] if again else every:
        plainly = image == every[0] and form.majors == ("K", "K")
        (first,), notes = meet(machine, form, image, plain, spelling, fixed[:1])
        labels, wrong = _placed(form, "A", image, first.a, _rows(relation, first), first.b[:, 0])
        wrong += abs(len(first.a) - prod(form.signature.operands["A"].extent))
        rest = slice(1, None) if plainly else slice(max(1, len(fixed) - 1), None)
        if len(fixed[rest]) and len(first.a):
            tables, said = meet(machine, form, image, plain, spelling, fixed[rest], only=first.a)
            wrong += sparse.moved(relation, labels, ways[rest], tables)
            wrong += sum(len(first.a) - len(one.a) for one in tables)
            notes += said
        notes += _misfits(wrong)
        if plainly:
            notes += sparse.check(machine, form, image, relation, labels, spelling, seed)
        yield None if again else _image("A", image, labels), _of("A", image, notes)


def _images_of_b(machine: Machine, form: Form, relation: Relation) -> Iterator[tuple[Image, tuple[str, ...]]]:
    """B against one row of A, under the outer patterns of metadata, for each shows a part of k."""
    fragment, a = form.signature.operands["B"], relation.operands["A"].reshape(-1, 4)
    row, ways = np.flatnonzero(a[:, ROW] == 0), sparse.outer(relation.ways())
    plain, fixed = plainest(form.signature, "B"), sparse.outer(sparse.uniform(form.signature))
    for image in windows("B", fragment, (form.majors[1],)):
        if image == plain:
            continue
        tables, notes = meet(machine, form, None, image, spell(form, image), fixed, only=row)
        b = np.concatenate([table.b.ravel() for table in tables])
        columns = np.concatenate([_columns(relation, table) for table in tables])
        k = np.concatenate([way[table.a].repeat(table.b.shape[1]) for way, table in zip(ways, tables, strict=True)])
        labels, wrong = _placed(form, "B", image, b, columns, k)
        wrong += sum(abs(table.b.size - len(row) * fragment.extent[1]) for table in tables)
        yield _image("B", image, labels), _of("B", image, notes + _misfits(wrong))


def _rows(relation: Relation, table: Meetings) -> Labels:
    rows: Labels = relation.operands["D"].reshape(-1, 4)[table.d.ravel(), ROW]
    return rows


def _columns(relation: Relation, table: Meetings) -> Labels:
    columns: Labels = relation.operands["D"].reshape(-1, 4)[table.d.ravel(), COLUMN]
    return columns


def _placed(form: Form, operand: str, image: Window, own: Labels, along: Labels, k: Labels) -> tuple[Labels, int]:
    """Labels of the image's places by what their meetings say of them, and how much of it does not fit."""
    rows, columns = form.signature.operands[operand].extent
    labels, wrong = transfer(slots(form, operand, image)[1], own, along, k, ROW if operand == "A" else COLUMN)
    held = np.unique(labels[labels[:, CONTRACTED] >= 0] @ np.array([_APART, _APART, 1, 0]))
    return labels, wrong + abs(len(held) - rows * columns)


def _image(operand: str, image: Window, labels: Labels) -> Image:
    return Image(operand, image.swizzle, image.major, image.lbo, image.sbo, labels[None])


def _misfits(wrong: int) -> tuple[str, ...]:
    return (f"{wrong} meetings do not fit",) if wrong else ()


def _of(operand: str, image: Window, notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{operand} {image.major}-major {image.swizzle}: {note}" for note in notes)


def absolute(
    signature: Signature, operands: Mapping[str, Labels], images: tuple[Image, ...]
) -> tuple[tuple[Anchor, ...], tuple[str, ...]]:
    """Labels of A, B and D by the places of the plainest images, and a note where A and B number k differently.

    The columns of a sparse A are those stored, which are not k.
    """
    plain = next((one.labels for one in images if (one.operand, one.swizzle, one.major) == ("A", "none", "K")), None)
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
    found = []
    for name, (row_of, row, column_of, column) in named.items():
        labels = operands[name]
        pair = [row_of[labels[..., row]], column_of[labels[..., column]]]
        found.append(Anchor("wgmma", name, PREMISE, np.stack(pair, axis=-1)))
    return tuple(found), ()


def _panels(labels: Labels, axis: int, bits: int) -> tuple[Labels, Labels]:
    """For the rows and for k of the plainest image, the number by place of each class."""
    rows = len(labels) // (len(np.unique(labels[:, CONTRACTED])) or 1)
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
