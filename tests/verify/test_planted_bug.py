# SPDX-License-Identifier: Apache-2.0
"""A bug planted in the library's own evaluation must end in a contradiction, never in a clean pass."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layouts import Layout
from layouts.atoms import registry
from layouts.batched.evaluate import Linear
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, RELATION
from verify.core.verdict import Check, Status

NAME = "SM80_16x8x16_F32F16F16F32_TN"
TRUE_CALL, TRUE_TABLE = Layout.__call__, Linear.table


def swapped_digits(self: Layout, *coord: Any) -> Any:
    """Evaluation with the two digits of a four-valued value index exchanged: a bijection, and wrong."""
    if len(coord) == 2 and self.shape == ((4, 8), (2, 2)):
        value = np.asarray(coord[1])
        coord = (coord[0], value % 2 * 2 + value // 2)
    return TRUE_CALL(self, *coord)


def swapped_table(self: Linear, dtype: Any) -> Any:
    """The same error in the evaluation of whole domains."""
    table = TRUE_TABLE(self, dtype)
    if self.extents[:2] != (2, 2):
        return table
    return table.reshape(*table.shape[:-1], -1, 4)[..., [0, 2, 1, 3]].reshape(table.shape)


PLANTED = {
    "in the call": {(Layout, "__call__"): swapped_digits},
    "in whole domains": {(Linear, "table"): swapped_table},
    "in both": {(Layout, "__call__"): swapped_digits, (Linear, "table"): swapped_table},
}


@pytest.fixture(params=PLANTED)
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for (owner, name), wrong in PLANTED[request.param].items():
        monkeypatch.setattr(owner, name, wrong)
    return str(request.param)


def test_a_bug_in_evaluation_contradicts_the_solver(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert atom.main([NAME]) == 3
    output = capsys.readouterr().out
    assert "CONTRADICTION" in output
    assert "plain arithmetic does not reproduce this" in output


def test_each_check_reports_its_own_counterexample(where: str) -> None:
    verdicts = AtomChecker().verify(registry()[NAME])
    equals = next(v for v in verdicts if v.claim.prop == EQUALS and v.claim.part == "C")
    said = {e.check: e.status for e in equals.evidence}
    assert said == {Check.ISA: Status.REFUTED, Check.PROOF: Status.PROVED}
    assert equals.contradiction
    relation = next(v for v in verdicts if v.claim.prop == RELATION)
    assert relation.status is Status.AGREES


def test_the_isa_check_alone_notices_that_its_counterexample_does_not_replay(where: str) -> None:
    assert atom.main([NAME, "--checks", "isa"]) == 3


def test_a_bug_that_hides_a_wrong_layout_contradicts_too(where: str) -> None:
    """The planted bug turns C's swapped twin into the right map.

    Digits in plain integers, the third evaluation, have neither bug: the check isa is never fooled.
    """
    wrong = registry()[NAME]
    operands = dict(wrong.operands) | {"C": "((4,8),(2,2)):((32,1),(8,16))"}
    verdicts = AtomChecker().verify(replace(wrong, operands=operands))
    equals = next(v for v in verdicts if v.claim.prop == EQUALS and v.claim.part == "C")
    said = {e.check: e.status for e in equals.evidence}
    assert said == {Check.ISA: Status.REFUTED, Check.PROOF: Status.REFUTED}
    assert equals.contradiction
