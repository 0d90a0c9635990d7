# SPDX-License-Identifier: Apache-2.0
"""The properties of a movement, and the evidence on one as every check of a movement gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import proofs
from verify.core.verdict import Check, Counterexample, Evidence, Property, Status
from verify.evidence.proof import solved

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

COUNT = Property("count")
HAND_OVER = Property("hand_over", words="hand-over")
MAJOR = Property("major")
ROOM = Property("room")
BASE = Property("base")
WHOLE = Property("whole_accesses")
DISJOINT = Property("disjoint")
CONFLICT_FREE = Property("free_of_bank_conflicts")
STEPS = Property("whole_instructions")
DESCRIBED = Property("descriptor")


def compared(
    wrong: Counterexample | None, method: str, points: int, engine: str = "", seconds: float = 0.0
) -> Evidence:
    """What a comparison with the ISA tables or a count found: no counterexample proves the claim."""
    status = Status.REFUTED if wrong else Status.PROVED
    return Evidence(Check.ISA, status, method, points, engine, seconds=seconds, counterexample=wrong)


def exhaustive(wrong: Counterexample | None, points: int) -> Evidence:
    """The same at every point, as arrays."""
    return compared(wrong, "exhaustive", points, "numpy")


def proved(outcome: proofs.Outcome, statement: Callable[[Mapping[str, int]], str], over: str = "") -> Evidence:
    """What the solver found; `statement` puts its counterexample into words."""
    at = outcome.model
    return solved(outcome, None if at is None else Counterexample(dict(at), statement(at)), over)


def unchecked(check: Check, reason: str) -> Evidence:
    """No evidence, and why."""
    return Evidence(check, Status.UNCHECKED, "", reason=reason)
