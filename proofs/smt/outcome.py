# SPDX-License-Identifier: Apache-2.0
"""The result of an attempt to prove a claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

Status: TypeAlias = Literal["unsat", "sat", "unknown", "vacuous"]

BUDGET = 20_000_000
"""Default limit in z3's deterministic resource units; a claim about an atom takes a few thousand."""


class Outcome(NamedTuple):
    """The answer to "is there a counterexample?", with all that is needed to check the answer again."""

    # unsat: there is none, the claim is proved over its whole domain. sat: ``model`` is one, confirmed in plain
    # Python. unknown: ``reason`` says why the solver gave up. vacuous: the assumptions cannot be satisfied
    status: Status
    method: str  # the encoding, or the argument, by which the answer was found, in words
    engine: str  # the name and version of the solver
    seconds: float  # the time it took, including the enumeration of counterexamples
    # the smallest counterexample: the variables of the claim in order, then the values that disagree there
    model: Mapping[str, int] | None = None
    # how many points disagree (each claim says what a point is); None when there are too many to count
    bad: int | None = None
    unique: bool | None = None  # whether ``bad`` is 1; None when ``bad`` is None
    smt: str = ""  # the SMT-LIB 2 problem that was solved, for any solver: satisfiable exactly when the claim is false
    rlimit: int = 0  # the resource units that z3 spent
    reason: str = ""  # why the status is unknown or vacuous; empty otherwise
