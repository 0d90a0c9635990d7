# SPDX-License-Identifier: Apache-2.0
"""An entry with A, B and C as a whole: the product through its maps, and the relation that a GPU recorded."""

from __future__ import annotations

from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS_ABSOLUTE, PRODUCT, RELABEL, RELATION
from verify.binding.axes import AXES
from verify.binding.bound import BoundMaps, bind_maps, issuers
from verify.core.verdict import Verdict
from verify.index.bind import BoundIndex
from verify.maps.fragment_map import FragmentMap

ROWS = (RELABEL, PRODUCT, RELATION, EQUALS_ABSOLUTE)


def maps_of(subject: BoundIndex) -> dict[str, FragmentMap]:
    """Return A, B and C of an entry as an atom has them, B as (n, k).

    Empty unless all are given, each lane and value once.

    C is D where no C is given.
    """
    given = {part.name: part.given for part in subject.parts}
    maps: dict[str, FragmentMap] = {}
    for name, alike in (("A", "A"), ("B", "B"), ("C", "C" if "C" in given else "D")):
        axes = [axis.name for axis in given[alike].outputs] if alike in given else []
        if sorted(axes) != sorted(AXES[name]) or not given[alike].total:
            return {}
        maps[name] = given[alike].reorder(("lane", "value"), AXES[name])
    return maps


def bind_whole(subject: BoundIndex, maps: dict[str, FragmentMap]) -> BoundMaps:
    """Return the entry's three maps, bound to its instruction."""
    texts = {part.name: part.text for part in subject.parts}
    given = {name: (texts.get(name, texts.get("D", name)), m, "") for name, m in maps.items()}
    thr_text = f"{issuers(subject.instruction)}:1"
    return bind_maps(subject.name, subject.instruction, thr_text, given, subject.spec.relabel)


def with_whole(subject: BoundIndex, verdicts: list[Verdict]) -> list[Verdict]:
    """Return the verdicts on operands, with those on the whole entry.

    RELABELLED where one relabelling explains what is wrong.

    There are none on the whole unless A, B and C are given and stay inside their tiles.
    """
    maps = maps_of(subject)
    premises = [verdict for verdict in verdicts if verdict.claim.prop.key in ("size", "in_bounds")]
    if (
        not maps
        or len(subject.instruction.signature.shape) != 3
        or not all(verdict.status.confirmed for verdict in premises)
    ):
        return verdicts
    checker, whole = AtomChecker(), bind_whole(subject, maps)
    return checker.explain_by_relabelling(whole, [*verdicts, *checker.verdicts(ROWS, whole)])
