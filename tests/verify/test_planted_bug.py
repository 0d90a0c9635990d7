# SPDX-License-Identifier: Apache-2.0
"""A bug planted in the library's own evaluation must end in a contradiction, never in a clean pass."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layouts import Layout
from layouts.atoms import registry
from verify.atom import command as atom
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, RELATION
from verify.core.verdict import Check, Status

NAME = "SM80_16x8x16_F32F16F16F32_TN"
TRUE_CALL = Layout.__call__


def swapped_digits(self: Layout, *coord: Any) -> Any:
    """Evaluation with the two digits of a four-valued value index exchanged: a bijection, and wrong."""
    if len(coord) == 2 and self.shape == ((4, 8), (2, 2)):
        value = np.asarray(coord[1])
        coord = (coord[0], value % 2 * 2 + value // 2)
    return TRUE_CALL(self, *coord)


def test_a_bug_in_evaluation_contradicts_the_solver(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Layout, "__call__", swapped_digits)
    assert atom.main([NAME]) == 3
    output = capsys.readouterr().out
    assert "CONTRADICTION" in output
    assert "plain arithmetic does not reproduce this" in output


def test_each_check_reports_its_own_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layout, "__call__", swapped_digits)
    verdicts = AtomChecker().verify(registry()[NAME])
    equals = next(v for v in verdicts if v.claim.prop == EQUALS and v.claim.part == "C")
    said = {e.check: e.status for e in equals.evidence}
    assert said == {Check.ISA: Status.REFUTED, Check.PROOF: Status.PROVED}
    assert equals.contradiction
    relation = next(v for v in verdicts if v.claim.prop == RELATION)
    assert relation.status is Status.AGREES


def test_the_isa_check_alone_notices_that_its_counterexample_does_not_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Layout, "__call__", swapped_digits)
    assert atom.main([NAME, "--checks", "isa"]) == 3


def test_a_bug_that_hides_a_wrong_layout_contradicts_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug turns C's swapped twin into the right map: the check isa confirms it, the solver does not."""
    wrong = registry()[NAME]
    operands = dict(wrong.operands) | {"C": "((4,8),(2,2)):((32,1),(8,16))"}
    fooled = replace(wrong, operands=operands)
    monkeypatch.setattr(Layout, "__call__", swapped_digits)
    verdicts = AtomChecker().verify(fooled)
    equals = next(v for v in verdicts if v.claim.prop == EQUALS and v.claim.part == "C")
    said = {e.check: e.status for e in equals.evidence}
    assert said == {Check.ISA: Status.PROVED, Check.PROOF: Status.REFUTED}
    assert equals.contradiction
