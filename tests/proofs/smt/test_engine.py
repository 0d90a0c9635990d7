# SPDX-License-Identifier: Apache-2.0
"""The solvers: budgets, rejected texts, false models, and cvc5 on the same problems."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import proofs
from layouts import Layout
from proofs import Outcome, Term
from proofs.errors import EngineError
from proofs.smt.engine import Session, engine
from proofs.smt.script import Script
from proofs.smt.solve import BoxClaim, Point, decide
from proofs.smt.term import BoolTerm
from tests.proofs.layout.brute import fragment


def c_16x8(lane: Any, i: Any) -> tuple[Any, Any]:
    return lane // 4 + i // 2 * 8, lane % 4 * 2 + i % 2


def tutorial(lane: Any, i: Any) -> tuple[Any, Any]:
    """The same, bijective and wrong: lanes counted down the rows."""
    return lane % 8 + i // 2 * 8, lane // 8 * 2 + i % 2


PROBLEMS: dict[str, Callable[[int], Outcome]] = {
    "in bounds": lambda b: proofs.prove_in_bounds(fragment("((4,8),(2,2)):((32,1),(16,8))", (16, 8)), b),
    "out of bounds": lambda b: proofs.prove_in_bounds(fragment("((4,8),(2,2)):((32,1),(16,9))", (16, 8)), b),
    "ownership": lambda b: proofs.prove_ownership(fragment("((4,8),(2,2)):((32,1),(16,8))", (16, 8)), b),
    "ownership not": lambda b: proofs.prove_ownership(fragment("((4,8),8):((32,1),8)", (8, 32)), b),
    "ownership thirds": lambda b: proofs.prove_ownership(fragment("((3,5),2):((1,6),3)", (6, 5)), b),
    "ownership no thirds": lambda b: proofs.prove_ownership(fragment("((3,5),2):((1,6),2)", (6, 5)), b),
    "ownership fourfold": lambda b: proofs.prove_ownership(fragment("((4,8),8):((0,1),8)", (8, 8), copies=4), b),
    "ownership miscounted": lambda b: proofs.prove_ownership(fragment("((4,8),8):((0,1),8)", (8, 8), copies=2), b),
    "equals": lambda b: proofs.prove_equals(fragment("((4,8),(2,2)):((32,1),(16,8))", (16, 8), c_16x8), b),
    "equals not": lambda b: proofs.prove_equals(fragment("((4,8),(2,2)):((32,1),(16,8))", (16, 8), tutorial), b),
    "inverse": lambda b: proofs.prove_right_inverse(fragment("(4,8):(8,1)", (8, 4)), Layout.parse("(8,4):(4,1)"), b),
    "inverse not": lambda b: proofs.prove_right_inverse(
        fragment("(4,8):(8,1)", (8, 4)), Layout.parse("(8,4):(1,8)"), b
    ),
    "tiling": proofs.prove_tiling,
}


@pytest.mark.long
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_text_alone_gives_both_solvers_the_same_answer(name: str) -> None:
    outcome = PROBLEMS[name](proofs.BUDGET)
    assert outcome.status == ("sat" if re.search(r"\bnot?\b|out of|mis", name) else "unsat")
    assert "rlimit" not in outcome.smt and outcome.smt.startswith("; ")
    for text in outcome.smt.split("(reset)\n"):
        session = Session(text.replace("(check-sat)", ""), proofs.BUDGET)
        assert session.check().status == outcome.status
    pytest.importorskip("cvc5", reason="recheck: cvc5 is not installed")
    second = proofs.recheck(outcome.smt)
    assert second is not None
    assert (second.status, second.engine.split()[0]) == (outcome.status, "cvc5")


@pytest.mark.parametrize("name", PROBLEMS)
def test_an_exhausted_budget_is_unknown_with_the_reason(name: str) -> None:
    outcome = PROBLEMS[name](60)
    assert (outcome.status, outcome.model, outcome.bad) == ("unknown", None, None)
    assert "rlimit 60 exhausted" in outcome.reason


FACTORS = """(declare-const a (_ BitVec 64))(declare-const b (_ BitVec 64))
(assert (= (bvmul a b) #x0fedcba987654321))
(assert (bvult #x0000000000000003 a))(assert (bvult a #x00000000ffffffff))
(assert (bvult #x0000000000000003 b))(assert (bvult b #x00000000ffffffff))"""


@pytest.mark.long
def test_ctrl_c_while_the_solver_works_is_an_interruption_and_no_answer() -> None:
    session = Session(FACTORS, 100_000_000)  # many seconds
    pressed = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    pressed.start()
    with pytest.raises(KeyboardInterrupt):
        session.check()
    pressed.join()


@pytest.mark.long
@pytest.mark.parametrize("budget", [10, 100, 1000, 20_000, 1_000_000])
def test_a_budget_that_ends_is_no_interruption(budget: int) -> None:
    assert Session(FACTORS, budget).check() == ("unknown", f"rlimit {budget} exhausted")


@pytest.mark.long
@pytest.mark.parametrize("budget", [1000, 3000, 5000, 8000, 15000])
def test_a_counterexample_is_the_smallest_with_every_budget(budget: int) -> None:
    for name in ("ownership not", "equals not", "ownership no thirds"):
        outcome, full = PROBLEMS[name](budget), PROBLEMS[name](proofs.BUDGET)
        assert outcome.status in ("sat", "unknown")
        assert outcome.model == (full.model if outcome.status == "sat" else None)


@pytest.mark.long
def test_a_budget_that_ends_while_minimising_says_so_where_it_cannot_enumerate() -> None:
    layout = Layout.parse("(1024,1024,8):(1,1024,1048572)")
    spent = proofs.prove_bijective(layout, (1024, 8192)).rlimit
    tried = [proofs.prove_bijective(layout, (1024, 8192), budget=spent * part // 20) for part in range(1, 20, 2)]
    cut = [outcome for outcome in tried if "not minimised" in outcome.method]
    assert cut and all(outcome.status == "sat" for outcome in cut)
    for model in (outcome.model for outcome in tried if outcome.status == "sat"):
        assert model is not None and model["index"] != model["index2"]
        assert layout(model["index"]) == layout(model["index2"]) == model["element"]


def test_the_evidence_names_the_engine() -> None:
    outcome = PROBLEMS["ownership"](proofs.BUDGET)
    assert re.fullmatch(r"z3 \d+\.\d+\.\d+", outcome.engine) and outcome.engine == engine()
    assert 0 < outcome.rlimit < 100_000 and outcome.seconds > 0 and outcome.reason == ""


def test_a_text_that_is_no_problem_is_an_internal_error() -> None:
    with pytest.raises(EngineError, match="rejected"):
        Session("(assert (= lane 3))", 1000).check()
    pytest.importorskip("cvc5", reason="recheck: cvc5 is not installed")
    with pytest.raises(EngineError, match="cvc5 rejected"):
        proofs.recheck("(set-logic QF_BV)(assert (= lane 3))(check-sat)")


@dataclass(frozen=True, slots=True)
class Lying(BoxClaim):
    """A claim whose encoding is false from 5 on, and whose evaluation is another."""

    good: Container[int]

    def pose(self, script: Script, at: Mapping[str, Term]) -> BoolTerm:
        return at["x"] < 5

    def facts(self, point: Point) -> Point | None:
        return None if point["x"] in self.good else point


@pytest.mark.parametrize("good", [range(16), range(6), range(4), [x for x in range(16) if x != 7]], ids=str)
def test_a_model_that_plain_python_does_not_confirm_is_an_internal_error(good: Container[int]) -> None:
    assert decide(Lying("honest", {"x": 16}, (), range(5))).model == {"x": 5}
    with pytest.raises(EngineError):
        decide(Lying("lying", {"x": 16}, (), good))


def test_a_model_is_confirmed_where_there_are_too_many_points_to_enumerate() -> None:
    assert decide(Lying("honest", {"x": 1 << 20}, (), range(5))).model == {"x": 5}
    with pytest.raises(EngineError, match="finds nothing wrong"):
        decide(Lying("lying", {"x": 1 << 20}, (), range(6)))


def test_a_broken_layout_evaluation_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: pose(proofs.BUDGET) for name, pose in PROBLEMS.items()}

    def planted(self: Layout, *coord: object) -> int:
        raise AssertionError("a proof called the layout that it is about")

    monkeypatch.setattr(Layout, "__call__", planted)
    for name, pose in PROBLEMS.items():
        after = pose(proofs.BUDGET)
        assert (after.status, after.model, after.bad) == (before[name].status, before[name].model, before[name].bad)


def test_z3_is_loaded_by_one_module_and_only_when_something_is_proved() -> None:
    package = Path(proofs.__file__).parent
    texts = {path.name: path.read_text() for path in package.rglob("*.py")}
    assert not [name for name, text in texts.items() if re.search(r"^\s*(import|from) z3", text, re.M)]
    assert [name for name, text in texts.items() if "CDLL" in text] == ["libz3.py"]
    code = """import sys, proofs
proofs.certificate, proofs.OperandLayout, proofs.recheck
sys.exit("proofs.smt.libz3" in sys.modules)"""
    assert subprocess.run([sys.executable, "-c", code], cwd=package.parent, check=False).returncode == 0


def test_a_solver_that_is_used_again_gives_the_same_answers() -> None:
    solver = proofs.Solver()
    text = "(declare-const x Int)(assert (< x 0))"
    assert Session(text, 10_000, solver).check().status == "sat"
    assert Session(text + "(assert (> x 0))", 10_000, solver).check().status == "unsat"
    assert Session(text, 1, solver).check().status == "unknown"
    f, g = fragment("((4,8),8):((32,1),8)", (8, 32)), fragment("((4,8),8):((64,1),8)", (8, 32))
    for _ in range(2):
        assert proofs.prove_ownership(f, solver=solver).model == PROBLEMS["ownership not"](proofs.BUDGET).model
        assert proofs.prove_ownership(g, solver=solver).status == "unsat"
        assert proofs.prove_ownership(g, 60, solver).status == "unknown"
        assert proofs.prove_tiling(solver=solver).status == "unsat"


def test_the_last_unit_of_a_budget_is_used() -> None:
    """A check that costs nothing is answered with one unit left; one that costs a unit is not."""
    assert Session("(assert true)", 1).check().status == "sat"
    assert Session("(declare-const a Int)(assert (> a 3))", 1).check().reason == "rlimit 1 exhausted"
