# SPDX-License-Identifier: Apache-2.0
"""The properties of a movement, and the evidence that its checks return."""

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
    """Evidence of a comparison with the ISA tables, or of a count: PROVED where there is no counterexample."""
    status = Status.REFUTED if wrong else Status.PROVED
    return Evidence(Check.ISA, status, method, points, engine, seconds=seconds, counterexample=wrong)


def exhaustive(wrong: Counterexample | None, points: int) -> Evidence:
    """Evidence of a comparison at every point, evaluated as arrays."""
    return compared(wrong, "exhaustive", points, "numpy")


def proved(outcome: proofs.Outcome, statement: Callable[[Mapping[str, int]], str], over: str = "") -> Evidence:
    """Evidence of the solver; `statement` describes its counterexample."""
    at = outcome.model
    return solved(outcome, None if at is None else Counterexample(dict(at), statement(at)), over)


def unchecked(check: Check, reason: str) -> Evidence:
    """No evidence, because of a reason."""
    return Evidence(check, Status.UNCHECKED, "", reason=reason)
