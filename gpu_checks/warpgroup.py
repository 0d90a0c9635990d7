# SPDX-License-Identifier: Apache-2.0
"""wgmma: the relation of A from registers, B and D, and what every mode of the descriptor does.

The relation is taken with A in registers and B's plainest image, whose places are its slots. The other images
of B, and all of A, are then read against it: an element of A or B in memory is known by whom it meets.

Memory makes the labels absolute. The plainest image is panels of 16-byte rows, one after the other; the premise
is that row i of a panel is m = i of A or n = i of B, and that k runs along a row and on through the panels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gpu_checks.coded import Form, forms, slots
from gpu_checks.machine import Machine
from gpu_checks.meetings import Found, Meetings, digest, label, transfer
from gpu_checks.memory import Window, window, windows
from gpu_checks.spelled import meet, spell
from gpu_checks.values import COLUMN, CONTRACTED, ROW, Anchor, Image, Labels
from isa_tables.signature import Signature

PREMISE = (
    "a matrix in shared memory that is not swizzled is panels of 16-byte rows in order of address, its rows counting "
    "m or n and the places in a row k"
)
SAMPLE = (8, 16, 24, 64, 256)  # N that stand for the others where all of an instruction's family is asked for
_APART = 2**20
_ROW = 16


@dataclass(frozen=True, slots=True)
class Warpgroup:
    """What was seen of one wgmma instruction."""

    operands: Mapping[str, Labels]  # A from registers, B's plainest image, D
    images: tuple[Image, ...]
    anchors: tuple[Anchor, ...]
    hash: str
    pairs: int
    notes: tuple[str, ...]


def look(machine: Machine, signature: Signature) -> Warpgroup:
    """Probe every form and image of an instruction. Raises Refused or DeviceFault as the machine does."""
    first = forms(signature)[0]
    plain = window("B", first.signature.operands["B"])
    (table,), notes = meet(machine, first, None, plain, spell(first, plain))
    sizes = {"A": slots(first, "A", None), "B": slots(first, "B", plain)}
    sizes["D"] = (signature.lanes, signature.operands["D"].values)
    found = label({name: lanes * values for name, (lanes, values) in sizes.items()}, [table])
    seen = list(_images(machine, signature, found)) if not (notes or found.notes) else []
    images = tuple(image for image, _ in seen)
    operands = {name: flat.reshape(*sizes[name], 4) for name, flat in found.labels.items()}
    fixed, odd = absolute(first.signature, operands, images)
    return Warpgroup(
        operands=operands,
        images=images,
        anchors=fixed,
        hash=digest([table]),
        pairs=len(found.labels["A"]) * len(found.labels["B"]),
        notes=(*notes, *found.notes, *(note for _, said in seen for note in said), *odd),
    )


def _images(machine: Machine, signature: Signature, found: Found) -> Iterator[tuple[Image, tuple[str, ...]]]:
    """Every image but the one of the relation: of A against one column of B, of B against one row of A."""
    row = np.flatnonzero(found.labels["A"][:, ROW] == 0)
    column = found.labels["B"][:, COLUMN] == 0
    for form in forms(signature):
        in_memory = form.signature.operands["A"].space == "smem"
        operand, major = ("A", form.majors[0]) if in_memory else ("B", form.majors[1])
        plain = window("B", form.signature.operands["B"])
        spelling = spell(form, plain, column) if in_memory else None
        for image in windows(operand, form.signature.operands[operand], (major,)):
            if spelling is not None:
                (table,), notes = meet(machine, form, image, plain, spelling)
                yield _placed(form, operand, image, table, found, notes)
            elif image != plain:
                (table,), notes = meet(machine, form, None, image, spell(form, image), only=row)
                yield _placed(form, operand, image, table, found, notes)


def _placed(
    form: Form, operand: str, image: Window, table: Meetings, found: Found, notes: tuple[str, ...]
) -> tuple[Image, tuple[str, ...]]:
    """The labels of an image, by those of D and of the other operand, which are known."""
    known = found.labels
    axis, own, k = (
        (ROW, table.a, known["B"][table.b, CONTRACTED])
        if operand == "A"
        else (COLUMN, table.b, known["A"][table.a, CONTRACTED])
    )
    labels, wrong = transfer(slots(form, operand, image)[1], own, known["D"][table.d, axis], k, axis)
    size = form.signature.shape[0 if operand == "A" else 1] * form.signature.shape[2]
    held = np.unique(labels[labels[:, CONTRACTED] >= 0] @ np.array([_APART, _APART, 1, 0]))
    wrong += abs(len(table.a) - size) + abs(len(held) - size)
    said = (f"{operand} {image.major}-major {image.swizzle}: {wrong} meetings do not fit",) if wrong else ()
    placed = Image(operand, image.swizzle, image.major, image.lbo, image.sbo, labels[None])
    return placed, notes + said


def absolute(
    signature: Signature, operands: Mapping[str, Labels], images: tuple[Image, ...]
) -> tuple[tuple[Anchor, ...], tuple[str, ...]]:
    """Labels of A, B and D by the places of the plainest images, and a note where A and B number k differently."""
    plain = next((one.labels for one in images if (one.operand, one.swizzle, one.major) == ("A", "none", "K")), None)
    if plain is None:
        return (), ()
    bits = signature.operands["B"].bits
    m_of, k_of = _panels(plain[0], ROW, bits)
    n_of, k_of_b = _panels(operands["B"][0], COLUMN, bits)
    if not np.array_equal(k_of, k_of_b):
        return (), ("A and B in shared memory number k differently",)
    named = {"A": (m_of, ROW, k_of, CONTRACTED), "B": (k_of, CONTRACTED, n_of, COLUMN), "D": (m_of, ROW, n_of, COLUMN)}
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
