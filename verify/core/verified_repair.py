# SPDX-License-Identifier: Apache-2.0
"""The one path from a proposal to a repair that is shown: the whole subject, with it put in, is verified again.

A check that refutes a claim may propose changes of the subject's spec, because it knows what is wrong. It doesn't know
whether the other claims are true with them, so a proposal isn't shown before everything was checked again. If one
change mends everything, the other refutations are its consequences, and a report tells them with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from verify.core.errors import SpecError
from verify.core.verdict import Counterexample, Fix, Status, Verdict

# Two mistakes in one map refute these independently, although one other map mends them: `verify.evidence.cause` tells.
OF_A_MAP = frozenset({"in_bounds", "ownership", "equals_isa"})
TOGETHER = ", together with the other repairs"


def settle(verdicts: Iterable[Verdict], spec: Any, verified: Callable[[Any], bool]) -> list[Verdict]:
    """Return the verdicts with the proposals as repairs under which the whole subject is verified.

    A proposal is tried alone, then the first ones of all claims together: a subject may be wrong in two ways.
    """
    found = list(verdicts)
    proposed = {at: one.counterexample for at, one in enumerate(found) if one.counterexample is not None}
    wrong = {at: one for at, one in proposed.items() if one.proposals}

    def works(changes: Iterable[Callable[[Any], Any]]) -> bool:
        changed = spec
        try:
            for change in changes:
                changed = change(changed)
            return changed != spec and verified(changed)
        except (SpecError, ValueError):  # of a spec that can't be: the change is none
            return False

    alone = {at: [one for one in wrong[at].proposals if works([one.change])] for at in wrong}
    together = len(wrong) > 1 and not any(alone.values()) and works(one.proposals[0].change for one in wrong.values())
    every = [one.proposals[0].edits for one in wrong.values()]
    joined = tuple(dict.fromkeys(chain.from_iterable(every))) if all(every) else ()  # a part of them would mend nothing
    for at, one in wrong.items():
        shown = [one.proposals[0]._replace(edits=joined)] if together else alone[at]
        words = [f"{each.words}{TOGETHER * together}" for each in shown]
        fixes = tuple(Fix(text, each.edits) for text, each in zip(words, shown, strict=True) if each.edits)
        found[at] = found[at]._replace(counterexample=_without(one)._replace(repair="; or ".join(words)), fixes=fixes)
    mended = next((at for at, words in alone.items() if words), None)
    if mended is not None:
        found = fold(found, mended)
    return [verdict._replace(evidence=tuple(map(_settle, verdict.evidence))) for verdict in found]


def fold(verdicts: list[Verdict], at: int) -> list[Verdict]:
    """Return the verdicts; those refuted elsewhere name the claim number `at` as their cause, because it mends them."""
    cause = verdicts[at].claim

    def follows(one: Verdict) -> bool:
        wrong, claim = one.counterexample, one.claim
        own = claim.part == cause.part and {claim.prop.key, cause.prop.key} <= OF_A_MAP
        return one.status is Status.REFUTED and not own and not (one.contradiction or (wrong and wrong.repair))

    def name_cause(one: Verdict) -> Verdict:
        return one._replace(cause=cause.prop.key, cause_part=None if one.claim.part == cause.part else cause.part)

    return [name_cause(one) if number != at and follows(one) else one for number, one in enumerate(verdicts)]


def _settle(evidence: Any) -> Any:
    wrong = evidence.counterexample
    return evidence if wrong is None or not wrong.proposals else evidence._replace(counterexample=_without(wrong))


def _without(wrong: Counterexample) -> Counterexample:
    return wrong._replace(proposals=())
