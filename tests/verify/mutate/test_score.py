# SPDX-License-Identifier: Apache-2.0
"""Which check refutes which mutant: one that is the same function counts for nothing."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from layouts.atoms import registry
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, PROPERTIES
from verify.binding.atom import BoundAtom
from verify.binding.operand import BoundOperand
from verify.mutate import command as mutate
from verify.mutate import score
from verify.mutate.mutants import Mutant
from verify.mutate.score import Checkers, Score, campaign, score_one


def test_a_mutant_that_is_the_same_function_is_counted_and_not_checked() -> None:
    atom, score = registry()["SM75_16x8x8_F32F16F16F32_TN"], Score()
    for count in (1, 2):
        score_one(score, Checkers(), atom, "A", Mutant(atom.name, ("A",), "nothing", atom, same=True))
        assert (score.equivalent, score.mutants, score.survivors) == (count, 0, [])


@pytest.mark.slow
def test_the_whole_registry_is_refuted() -> None:
    """isa, z3 and recording refute all mutants that are another function; intrinsic properties alone do not."""
    score = campaign(list(registry().values()))
    assert score.layouts == 186 and score.mutants > 3200 and score.survivors == []
    for check in ("isa", "z3"):
        assert score.refuted[check] == score.checked[check] == score.mutants
    assert score.refuted["recording"] == score.checked["recording"] > 600
    assert 0.85 < score.refuted["intrinsic"] / score.checked["intrinsic"] < 1
    assert score.joint > 40
    assert score.joint_related == score.joint_checked > 40
    assert score.joint == score.joint_refuted
    assert "\n".join(score.lines()) in (Path(__file__).parents[3] / "docs" / "mutants.md").read_text(encoding="utf-8")


def test_a_mutant_on_which_isa_has_no_evidence_is_no_success(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Mutants are made from operands with a formula: without evidence, a hundred per cent would be of fewer."""

    def gone(_: BoundAtom, operand: BoundOperand, __: object) -> str:
        return "gone" if ":((16," in operand.text else ""

    table = tuple(replace(row, needs=(gone, *row.needs)) if row == EQUALS else row for row in PROPERTIES)
    monkeypatch.setattr(score, "AtomChecker", partial(AtomChecker, table=table))
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN"]) == 1
    out = capsys.readouterr().out
    assert "SM80_8x8x4_F64F64F64F64_TN A  UNCHECKED by isa: stride 8 (mode 0) doubled" in out
    assert "SOME MUTANT SURVIVES" in out
