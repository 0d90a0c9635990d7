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
    settled = list(verdicts)
    proposed = {at: verdict.counterexample for at, verdict in enumerate(settled) if verdict.counterexample is not None}
    wrong = {at: counterexample for at, counterexample in proposed.items() if counterexample.proposals}

    def works(changes: Iterable[Callable[[Any], Any]]) -> bool:
        changed = spec
        try:
            for change in changes:
                changed = change(changed)
            return changed != spec and verified(changed)
        except (SpecError, ValueError):  # of a spec that can't be: the change is none
            return False

    alone = {at: [proposal for proposal in wrong[at].proposals if works([proposal.change])] for at in wrong}
    together = (
        len(wrong) > 1
        and not any(alone.values())
        and works(counterexample.proposals[0].change for counterexample in wrong.values())
    )
    every = [counterexample.proposals[0].edits for counterexample in wrong.values()]
    joined = tuple(dict.fromkeys(chain.from_iterable(every))) if all(every) else ()  # a part of them would mend nothing
    for at, counterexample in wrong.items():
        shown = [counterexample.proposals[0]._replace(edits=joined)] if together else alone[at]
        words = [f"{each.words}{TOGETHER * together}" for each in shown]
        fixes = tuple(Fix(text, each.edits) for text, each in zip(words, shown, strict=True) if each.edits)
        settled[at] = settled[at]._replace(
            counterexample=_without(counterexample)._replace(repair="; or ".join(words)), fixes=fixes
        )
    mended = next((at for at, words in alone.items() if words), None)
    if mended is not None:
        settled = fold(settled, mended)
    return [verdict._replace(evidence=tuple(map(_settle, verdict.evidence))) for verdict in settled]


def fold(verdicts: list[Verdict], at: int) -> list[Verdict]:
    """Return the verdicts; those refuted elsewhere name the claim number `at` as their cause, because it mends them."""
    cause = verdicts[at].claim

    def follows(verdict: Verdict) -> bool:
        wrong, claim = verdict.counterexample, verdict.claim
        own = claim.part == cause.part and {claim.prop.key, cause.prop.key} <= OF_A_MAP
        return verdict.status is Status.REFUTED and not own and not (verdict.contradiction or (wrong and wrong.repair))

    def name_cause(verdict: Verdict) -> Verdict:
        return verdict._replace(
            cause=cause.prop.key, cause_part=None if verdict.claim.part == cause.part else cause.part
        )

    return [
        name_cause(verdict) if number != at and follows(verdict) else verdict for number, verdict in enumerate(verdicts)
    ]


def _settle(evidence: Any) -> Any:
    wrong = evidence.counterexample
    return evidence if wrong is None or not wrong.proposals else evidence._replace(counterexample=_without(wrong))


def _without(wrong: Counterexample) -> Counterexample:
    return wrong._replace(proposals=())
