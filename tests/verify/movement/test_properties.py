# SPDX-License-Identifier: Apache-2.0
"""The table of a movement's properties: what has one cache key is checked once, and nothing else is shared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.verify.movement.arguments import F16, ROWS, X4
from verify.core.verdict import Status
from verify.movement import bind, spec
from verify.movement.properties import MovementChecker
from verify.report import Case

ACCESS = {"shared": ROWS, "access": "(32,8):(1,64)", "element": 16, "width": 128}


def list_shared(case: Case) -> set[str]:
    """The movements that the evidence of a case was found for."""
    return {evidence.shared for verdict in case.verdicts for evidence in verdict.evidence}


@pytest.mark.parametrize(
    "table",
    [
        ACCESS,
        {"from": X4, "to": F16},
        {"descriptor": ROWS, "element": 16},
    ],
    ids=lambda table: next(iter(table)),
)
def test_two_movements_alike_share_their_evidence(table: dict[str, object]) -> None:
    first, second = (replace(bind.bind(spec.of_options(table)), name=name, replay=name) for name in ("one", "other"))
    checker = MovementChecker()
    early, late = checker.case(first), checker.case(second)
    assert (list_shared(early), list_shared(late)) == ({""}, {"one"})
    assert [v.status for v in early.verdicts] == [v.status for v in late.verdicts]
    replays = {v.counterexample.replay for v in late.verdicts if v.counterexample}
    assert replays == ({"other"} if "from" not in table else set())


@pytest.mark.long
@pytest.mark.parametrize(
    ("key", "value"), [("access", "(32,8):(64,1)"), ("shared", f"Sw<3,3,3> o {ROWS}"), ("how", "store"), ("base", 8)]
)
def test_movements_that_differ_in_a_key_share_nothing(key: str, value: object) -> None:
    """Every field of an access is part of its cache key."""
    checker = MovementChecker()
    first, second = (bind.bind(spec.of_options(given)) for given in (ACCESS, {**ACCESS, key: value}))
    checker.case(replace(first, name="one"))
    assert list_shared(checker.case(replace(second, name="other"))) == {""}


def test_registers_that_differ_in_tiles_share_nothing() -> None:
    """The formula of a hand-over is no part of its key: the operands' other fields determine it."""
    checker = MovementChecker()
    given = {"from": X4, "to": F16, "operand": "B"}
    along_n, along_k = (replace(bind.bind(spec.of_options({**given, "tiles": t})), name=t) for t in ("n=2", "k=2"))
    assert {v.status for v in checker.case(along_n).verdicts} == {Status.PROVED}
    assert list_shared(checker.case(along_k)) == {""}


def test_bank_conflicts_are_unchecked_while_it_is_unknown_whether_the_accesses_are_whole() -> None:
    given = bind.bind(spec.of_options(ACCESS))
    verdicts = {v.claim.prop.key: v for v in MovementChecker(budget=1).case(given).verdicts}
    assert verdicts["whole_accesses"].status is Status.UNKNOWN
    assert verdicts["free_of_bank_conflicts"].status is Status.UNCHECKED
    assert "whole accesses is UNKNOWN" in verdicts["free_of_bank_conflicts"].reason
