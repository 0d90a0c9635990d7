# SPDX-License-Identifier: Apache-2.0
"""An entry with A, B and C as a whole atom: the product through its maps, and the relation that a GPU recorded."""

from __future__ import annotations

from isa_tables import Instruction
from layouts.atoms import Atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS_ABSOLUTE, PRODUCT, RELABEL, RELATION
from verify.binding.atom import BoundAtom, prepare
from verify.binding.axes import AXES
from verify.core.verdict import Verdict
from verify.index.bind import BoundIndex
from verify.maps.fragment_map import FragmentMap

ROWS = (RELABEL, PRODUCT, RELATION, EQUALS_ABSOLUTE)


def maps_of(subject: BoundIndex) -> dict[str, FragmentMap]:
    """Return A, B and C of an entry as an atom has them, B as (n, k).

    Empty unless all are given, each lane and value once.

    C is D where no C is given.
    """
    given = {part.name: part.found for part in subject.parts}
    found: dict[str, FragmentMap] = {}
    for name, alike in (("A", "A"), ("B", "B"), ("C", "C" if "C" in given else "D")):
        axes = [axis.name for axis in given[alike].outputs] if alike in given else []
        if sorted(axes) != sorted(AXES[name]) or not given[alike].total:
            return {}
        found[name] = given[alike].reorder(("lane", "value"), AXES[name])
    return found


def bind_whole(subject: BoundIndex, maps: dict[str, FragmentMap]) -> BoundAtom:
    """Return the entry as an atom bound to its instruction."""
    instruction: Instruction = subject.instruction
    signature = instruction.signature
    m, n, k = signature.shape
    texts = {part.name: part.text for part in subject.parts}
    atom = Atom(  # product and relation are of A, B and C together: an atom is what has all three
        name=subject.name,
        ptx=(signature.mnemonic,),
        shape=(m, n, k),
        thr=f"{signature.lanes * signature.ctas}:1",
        types=signature.types[0],
        operands={name: texts.get(name, texts.get("D", name)) for name in maps},
        relabel=subject.spec.relabel,
    )
    return prepare(atom, maps)


def with_whole(subject: BoundIndex, verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts on operands, with those on the whole entry.

    RELABELLED where one relabelling explains what is wrong.

    There are none on the whole unless A, B and C are given and stay inside their tiles.
    """
    maps = maps_of(subject)
    premises = [one for one in verdicts if one.claim.prop.key in ("size", "in_bounds")]
    if not maps or len(subject.instruction.signature.shape) != 3 or not all(one.status.confirmed for one in premises):
        return verdicts
    checker, atom = AtomChecker(), bind_whole(subject, maps)
    return checker.explain_by_relabelling(atom, [*verdicts, *checker.verdicts(ROWS, atom)])
