# SPDX-License-Identifier: Apache-2.0
"""The one path from a proposal to a repair that is shown: the whole subject, with it put in, is verified again.

A check that refutes a claim may propose changes of the subject's spec, because it knows what is wrong. It doesn't know
whether the other claims are true with them, so a proposal isn't shown before everything was checked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from verify.core.errors import SpecError
from verify.core.verdict import Counterexample, Verdict

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

    alone = {at: [one.words for one in wrong[at].proposals if works([one.change])] for at in wrong}
    together = len(wrong) > 1 and not any(alone.values()) and works(one.proposals[0].change for one in wrong.values())
    for at, one in wrong.items():
        words = [f"{one.proposals[0].words}{TOGETHER}"] if together else alone[at]
        found[at] = found[at]._replace(counterexample=_without(one)._replace(repair="; or ".join(words)))
    return [verdict._replace(evidence=tuple(map(_settle, verdict.evidence))) for verdict in found]


def _settle(evidence: Any) -> Any:
    wrong = evidence.counterexample
    return evidence if wrong is None or not wrong.proposals else evidence._replace(counterexample=_without(wrong))


def _without(wrong: Counterexample) -> Counterexample:
    return wrong._replace(proposals=())
