# SPDX-License-Identifier: Apache-2.0
"""What a proof attempt came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["unsat", "sat", "unknown", "vacuous"]

BUDGET = 20_000_000
"""Default resource limit in z3's deterministic units: a claim about an atom takes a few thousand."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to "is there a counterexample?", with what is needed to check it again.

    status   unsat: none, the claim is proved over its whole domain. sat: ``model`` is one, confirmed in plain Python.
             unknown: ``reason`` says why the solver gave up. vacuous: the assumptions cannot be met.
    model    the smallest counterexample: the claim's variables in order, then the values that disagree there.
    bad      how many points disagree (what a point is, each claim says); None when there are too many to count.
    unique   whether that is one.
    smt      the SMT-LIB 2 problem that was solved, solver-neutral: satisfiable just when the claim is false.
    rlimit   z3's resource units spent.
    """

    status: Status
    method: str
    model: Mapping[str, int] | None
    bad: int | None
    unique: bool | None
    smt: str
    rlimit: int
    engine: str
    seconds: float
    reason: str
