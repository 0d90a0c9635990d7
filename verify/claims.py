# SPDX-License-Identifier: Apache-2.0
"""The claims that an atom makes, in the order in which they are told."""

from __future__ import annotations

from verify.subject import Part, Subject
from verify.verdict import Claim, Kind

TIMES = {1: "once", 2: "twice"}


def claims(subject: Subject) -> list[Claim]:
    """Every claim of an MMA atom: per operand, then of the atom as a whole."""
    name = subject.atom.name
    listed = []
    for part in subject.parts:
        listed += [Claim(name, part.name, kind, wording(kind, subject, part)) for kind in Kind if kind.per_operand]
    listed += [Claim(name, "", kind, whole(kind, subject)) for kind in Kind if not kind.per_operand]
    return listed


def wording(kind: Kind, subject: Subject, part: Part) -> str:
    """What a claim about one operand says."""
    copies = subject.multiplicity(part)
    book = part.formulas[0].citation if part.formulas else "the PTX ISA"
    return {
        Kind.WELL_FORMED: f"{part.text} is a (thread, value) layout with congruent profiles",
        Kind.SIZE: "has as many threads and values as the instruction's fragment",
        Kind.IN_BOUNDS: f"stays inside {part.tile}",
        Kind.OWNS: f"owns each element of {part.tile} {TIMES.get(copies, f'{copies} times')}",
        Kind.EQUALS: f"equals {book}",
        Kind.RIGHT_INVERSE: f"its right inverse composed with it is the identity on {part.tile}",
    }[kind]


def whole(kind: Kind, subject: Subject) -> str:
    """What a claim about the whole atom says."""
    m, n, k = subject.atom.shape
    instruction = ", ".join(dict.fromkeys(subject.atom.ptx or ())) or "no instruction"
    return {
        Kind.SIGNATURE: f"extents {m}x{n}x{k}, threads and types fit {instruction}",
        Kind.PRODUCT: f"the {m}x{n}x{k} product through its three maps alone equals numpy's",
        Kind.TILING: f"tiles of {m}x{n}x{k} atoms own every element once, for every count of atoms and tiles",
        Kind.RELATION: "A, B and D meet as recorded",
        Kind.EQUALS_ABSOLUTE: "its labels are those of the anchors that tie registers to memory",
    }[kind]
