# SPDX-License-Identifier: Apache-2.0
"""Goals in the solver: a failure is the answer unknown, and a guessed order of modes is corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from proofs.errors import EngineError
from proofs.laws.formula import Node
from proofs.symbolic import execution, symbolic_int
from proofs.symbolic.execution import Operation, examine, ours
from proofs.symbolic.operations import operations
from proofs.symbolic.symbolic_int import InputSpace, Path

COMPLEMENT = next(o for o in operations(1) if o.label == "complement, rank 1")
UNSAMPLED: Operation = replace(COMPLEMENT, space=InputSpace(COMPLEMENT.space.names, COMPLEMENT.space.assumed, ()))


class Broken:
    """A solver that fails."""

    def __init__(self, *_: Any) -> None:
        pass

    def check(self) -> None:
        raise EngineError("model is not available")


class Modelless(execution.Session):
    """A solver that finds a model and cannot give its values."""

    def values(self, names: tuple[str, ...]) -> dict[str, int]:
        raise EngineError(f"model is not available: {names}")


def test_a_solver_that_fails_leaves_the_paths_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "Session", Broken)
    examined = examine(ours(), COMPLEMENT)
    assert examined.proved == 0
    assert len(examined.unknown) == examined.paths - (examined.refused - examined.outside)
    assert all("the solver gave up" in line for line in examined.unknown)


def test_a_fork_on_which_the_solver_fails_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbolic_int, "Session", Broken)
    assert Path(COMPLEMENT.space, []).feasible(("<", "T", 0))


def test_a_model_without_values_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas: list[Node] = [(">=", "x", 3)]
    assert execution._solve(("x",), formulas, ("x",))[0] == "sat"  # seam: the solver
    monkeypatch.setattr(execution, "Session", Modelless)
    assert execution._solve(("x",), formulas, ("x",)) == ("unknown", {})  # seam: the solver


@pytest.mark.slow
@pytest.mark.parametrize(("orders", "left"), [(execution.ORDERS, False), (1, True)])
def test_a_guessed_order_of_modes_is_corrected(monkeypatch: pytest.MonkeyPatch, orders: int, left: bool) -> None:
    """No path has a sample, and none is searched: the order is a guess until numbers contradict it."""

    def infeasible(_: Path) -> tuple[str, Mapping[str, int]]:
        return "unknown", {}

    monkeypatch.setattr(execution, "_reach", infeasible)  # seam: the solver
    monkeypatch.setattr(execution, "ORDERS", orders)
    examined = examine(ours(), UNSAMPLED)
    assert bool(examined.unknown) is left
    assert examined.violations == ()
    assert examined.proved > 0


def test_a_problem_is_not_solved_by_tactics_with_a_time_limit() -> None:
    """After a (push) z3 does not use its tactics, some of which give up by the clock; every problem has one."""
    assert symbolic_int.script(("x",), [(">=", "x", 3)]).rstrip().endswith("(push)")
