# SPDX-License-Identifier: Apache-2.0
"""The claims that an atom makes, in the order in which they are told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from layouts.atoms import Atom, CopyAtom
from verify.binding.atom import Part, Subject
from verify.core.verdict import Claim, Kind, Status, Verdict

TIMES = {1: "once", 2: "twice"}
COUNT = {3: "three", 4: "four", 5: "five", 6: "six"}
OF_OPERANDS = tuple(kind for kind in Kind if kind.per_operand)
WHOLE = (Kind.PRODUCT, Kind.TILING, Kind.RELATION, Kind.EQUALS_ABSOLUTE)


def claims(subject: Subject) -> list[Claim[Kind]]:
    """Every claim of an MMA atom: of its threads, per operand, per instruction, then of the atom as a whole."""
    atom = subject.mma
    order = "in the order of its operands" if subject.permuted else "once"
    threads = f"threads {atom.thr} with their replicas number the {subject.lanes} lanes {order}"
    shape = "x".join(map(str, atom.shape))
    listed = [] if "thr" in atom.taken else [Claim(atom.name, "thr", Kind.WELL_FORMED, threads)]
    if subject.shape_fault:
        listed.insert(0, Claim(atom.name, "shape", Kind.SIZE, f"{shape} is the shape of its instruction"))
    for part in subject.parts:
        seen = seen_alike(subject, part)
        listed += [Claim(atom.name, part.name, k, wording(k, subject, part), rests_on(k, seen)) for k in OF_OPERANDS]
    listed += [Claim(atom.name, name, Kind.EQUALS, "equals the PTX ISA") for name in subject.unsaid]
    stated = compared({**atom.taken, "shape": ""} if subject.shape_fault else atom.taken, shape)
    for mnemonic in [named.mnemonic for named in subject.named] or ["no instruction"]:
        listed.append(Claim(atom.name, "", Kind.SIGNATURE, f"{stated} fit {mnemonic}"))
    listed += [Claim(atom.name, "", k, whole(k, subject, shape), rests_on(k, subject.parts)) for k in WHOLE]
    return listed


def compared(taken: Mapping[str, str], shape: str) -> str:
    """What of an atom is compared with its instruction: what was taken from it is not.

    >>> compared({}, "16x8x16"), compared({"shape": "16x8x16"}, "16x8x16")
    ('extents 16x8x16, threads and types', 'threads and types')
    >>> compared(dict.fromkeys(("shape", "thr", "types"), ""), "16x8x16")
    'operands'
    """
    words = {"shape": f"extents {shape}", "thr": "threads", "types": "types"}
    left = [word for key, word in words.items() if key not in taken] or ["operands"]
    return " and ".join(filter(None, [", ".join(left[:-1]), left[-1]]))


def taken(atom: Atom | CopyAtom) -> list[Verdict]:
    """What an atom's entry leaves to its instruction, one verdict for each key: there is nothing to check."""
    reason = "taken from the instruction: the entry leaves it out"
    return [
        Verdict(Claim(atom.name, key, Kind.TAKEN, words), Status.TAKEN, (), reason=reason)
        for key, words in atom.taken.items()
    ]


def seen_alike(subject: Subject, part: Part) -> list[Part]:
    """An operand as each of the atom's instructions sees it."""
    return [other for view in subject.views for other in view.parts if other.name == part.name]


def rests_on(kind: Kind, parts: Iterable[Part]) -> str:
    """Where the formulas come from that a claim about some operands rests on; empty where it rests on none.

    A product rests on the formulas of all operands, equality on its own.
    """
    if kind not in (Kind.EQUALS, Kind.PRODUCT):
        return ""
    return " | ".join(dict.fromkeys(formula.provenance for part in parts for formula in part.formulas))


def wording(kind: Kind, subject: Subject, part: Part) -> str:
    """What a claim about one operand says."""
    match kind:
        case Kind.WELL_FORMED:
            return f"{part.text} is a (thread, value) layout with congruent profiles"
        case Kind.SIZE:
            fragment = "the instruction's fragment" if part.formulas else "its tile needs"
            return f"has as many threads and values as {fragment}"
        case Kind.IN_BOUNDS:
            return f"stays inside {part.tile}"
        case Kind.OWNS:
            copies = subject.multiplicity(part)
            return f"owns each element of {part.tile} {TIMES.get(copies, f'{copies} times')}"
        case Kind.EQUALS:
            cited = dict.fromkeys(seen.formulas[0].citation for seen in seen_alike(subject, part) if seen.formulas)
            return f"equals {' and '.join(cited) or 'the PTX ISA'}"
        case _:
            return f"its right inverse composed with it is the identity on {part.tile}"


def whole(kind: Kind, subject: Subject, shape: str) -> str:
    """What a claim about the whole atom says."""
    once = all(subject.multiplicity(part) == 1 for part in subject.parts)
    often = "once" if once else "as often as one atom does"
    return {
        Kind.PRODUCT: f"the {shape} product through its {COUNT[len(subject.parts)]} maps alone equals numpy's",
        Kind.TILING: f"tiles of {shape} atoms own every element {often}, for every count of atoms and tiles",
        Kind.RELATION: "A, B and D meet as recorded",
        Kind.EQUALS_ABSOLUTE: "its labels are those of the anchors that tie registers to memory",
    }[kind]
