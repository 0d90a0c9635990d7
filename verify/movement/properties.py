# SPDX-License-Identifier: Apache-2.0
"""The properties of a movement, and the evidence on one as every check of a movement gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

import numpy as np

import proofs
from verify.core.verdict import Counterexample, Evidence, Status, Witness
from verify.evidence.proof import solved

Table = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class MovementKind(Enum):
    """The kinds of claim about data on the way."""

    COUNT = "count"
    HANDED = "handed over"
    MAJOR = "major"
    FITS = "room"
    BASE = "base"
    WHOLE = "whole accesses"
    KEPT = "kept apart"
    CONFLICT_FREE = "free of bank conflicts"
    STEPS = "whole instructions"
    DESCRIBED = "descriptor"

    @property
    def label(self) -> str:
        """The kind as reports write it."""
        return self.value


def compared(
    wrong: Counterexample | None, method: str, points: int, engine: str = "", seconds: float = 0.0
) -> Evidence:
    """What a comparison with the ISA tables or a count found: no counterexample proves the claim."""
    status = Status.REFUTED if wrong else Status.PROVED
    return Evidence(Witness.BOOK, status, method, points, engine, seconds=seconds, counterexample=wrong)


def exhaustive(wrong: Counterexample | None, points: int) -> Evidence:
    """The same at every point, as arrays."""
    return compared(wrong, "exhaustive", points, "numpy")


def proved(outcome: proofs.Outcome, statement: Callable[[Mapping[str, int]], str], over: str = "") -> Evidence:
    """What the solver found; `statement` puts its counterexample into words."""
    at = outcome.model
    return solved(outcome, None if at is None else Counterexample(dict(at), statement(at)), over)


def unchecked(witness: Witness, reason: str) -> Evidence:
    """No evidence, and why."""
    return Evidence(witness, Status.UNCHECKED, "", reason=reason)
