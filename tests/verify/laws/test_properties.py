# SPDX-License-Identifier: Apache-2.0
"""The rows of laws and of operations: what is unknown, unmet or still true confirms nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from proofs.laws.decide import LawResult, decide_law, list_shipped
from proofs.symbolic.attempt import Stopped
from proofs.symbolic.execution import Examined, Violation
from verify.core.verdict import Check, Property, Status
from verify.laws.properties import CODE, HOLDS, LEAST, MET, MUTANTS, OPEN, PATHS, SMALL, LawChecker, OperationResult

RIGHT = decide_law(list_shipped()["SPLIT"])
WHOLE = Examined("coalesce", 3, 2, 1, 1, (), (), 0)


def status(row: Property, subject: object) -> set[Status]:
    find = row.by(Check.PROOF)
    assert find is not None
    run: Any = None  # these rows read none
    return {evidence.status for evidence in find(run, subject, None)}


def test_a_law_that_holds_is_not_vacuous_and_all_its_mutants_are_false() -> None:
    assert RIGHT.mutants and status(MET, RIGHT) == status(MUTANTS, RIGHT) == {Status.PROVED}


@pytest.mark.parametrize(
    ("model", "expected"), [("unsat", Status.VACUOUS), ("unknown", Status.UNKNOWN), ("sat", Status.UNKNOWN)]
)
def test_hypotheses_without_a_confirmed_model_are_no_pass(model: Any, expected: Status) -> None:
    assert RIGHT.example is not None
    wrong = replace(RIGHT.example, status=model, values={name: -7 for name in RIGHT.example.values})
    assert status(MET, replace(RIGHT, example=wrong)) == {expected}
    assert status(MET, replace(RIGHT, example=None)) == {Status.UNKNOWN}
    checker: Any = LawChecker()
    find = HOLDS.by(Check.PROOF)
    assert find is not None and {e.status for e in find(checker, RIGHT, None)} == {Status.PROVED}
    assert {e.status for e in find(checker, replace(RIGHT, example=wrong), None)} == {Status.UNCHECKED}


@pytest.mark.parametrize(("mutant", "expected"), [("unsat", Status.REFUTED), ("unknown", Status.UNKNOWN)])
def test_one_mutant_that_is_not_shown_to_be_false_is_no_pass(mutant: Any, expected: Status) -> None:
    kept = replace(RIGHT.mutants[0], status=mutant, values={})
    result: LawResult = replace(RIGHT, mutants=(kept, *RIGHT.mutants[1:]))
    assert status(MUTANTS, result) == {expected}


def test_an_open_statement_is_unknown_and_nothing_else_is_claimed_of_it() -> None:
    result = decide_law(next(law for law in list_shipped().values() if law.why_open))
    assert status(OPEN, result) == {Status.UNKNOWN}
    assert [row.key for row in (OPEN, MET, MUTANTS) if row.applies(result, None)] == ["open"]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (WHOLE, Status.PROVED),
        (replace(WHOLE, unknown=("z3 gave up",)), Status.UNKNOWN),
        (replace(WHOLE, unexplored=1), Status.UNKNOWN),
        (replace(WHOLE, proved=0, refused=3), Status.UNKNOWN),  # code that rejects everything is not right
        (replace(WHOLE, violations=(Violation("coalesce(1:0)", "2:1", "one value"),)), Status.REFUTED),
        (Stopped("does not end"), Status.UNKNOWN),
    ],
)
def test_code_is_proved_where_every_path_is(outcome: object, expected: Status) -> None:
    assert status(PATHS, OperationResult("ours: coalesce", outcome)) == {expected}


def test_small_layouts_agree_unless_one_is_wrong_and_prove_nothing() -> None:
    from proofs.symbolic.enumerated import Enumerated

    right = Enumerated("coalesce", 9, 1, 0, ())
    wrong = replace(right, wrong=1, faults=("coalesce(1:0): one value",))
    assert (status(SMALL, OperationResult("ours", right)), status(SMALL, OperationResult("ours", wrong))) == (
        {Status.AGREES},
        {Status.REFUTED},
    )


def test_a_function_that_is_missing_leaves_its_paths_unchecked() -> None:
    lacking = OperationResult("mine: coalesce", None, lacks="mine has no function coalesce")
    assert [need(lacking, None, ()) for row in CODE for need in row.needs] == ["mine has no function coalesce"]
    assert not LEAST.applies(lacking, None)
