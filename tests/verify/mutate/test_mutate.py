# SPDX-License-Identifier: Apache-2.0
"""The mutation campaign: every mutant of a right atom is refuted, by each check that applies to it."""

import itertools
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from layouts import Layout
from layouts.atoms import registry
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, PROPERTIES
from verify.binding.atom import BoundAtom, BoundOperand
from verify.mutate import command as mutate
from verify.mutate import score
from verify.mutate.mutants import Mutant, changes, distinct, joint_mutants, mutants
from verify.mutate.score import Bench, Score, campaign, sampled, score_one


def test_every_sort_of_change_is_made() -> None:
    made = list(changes(Layout.parse("((4,8),2):((16,1),8)")))
    assert len(made) == 3 * 3 + 3 + 3
    assert str(dict(made)["strides 16 and 1 swapped (modes 0, 1)"]) == "((4,8),2):((1,16),8)"
    assert str(dict(made)["stride 16 (mode 0) halved"]) == "((4,8),2):((8,1),8)"
    assert str(dict(made)["stride 1 (mode 1) incremented"]) == "((4,8),2):((16,2),8)"
    assert str(dict(made)["mode 1 dropped"]) == "((4,1),2):((16,0),8)"


def test_a_joint_mutant_is_the_permuted_layout() -> None:
    """One permutation of m in A and C of m16n8k8 is what CUTLASS 3.0 to 3.2 shipped."""
    atom = registry()["SM75_16x8x8_F32F16F16F32_TN"]
    made = next(m for m in joint_mutants(atom) if m.what == "one permutation of m")
    assert made.parts == ("A", "C")
    assert made.atom.operands["A"] == made.atom.operands["C"] == "((4,8),(2,2)):((32,2),(16,1))"


def test_a_mutant_that_is_the_same_function_is_counted_and_not_checked() -> None:
    atom, score = registry()["SM75_16x8x8_F32F16F16F32_TN"], Score()
    for count in (1, 2):
        score_one(score, Bench(), atom, "A", Mutant(atom.name, ("A",), "nothing", atom))
        assert (score.equivalent, score.mutants, score.survivors) == (count, 0, [])


def test_known_defects_are_no_origins() -> None:
    origins = {atom.name for atom, _ in distinct(sampled(list(registry().values())))}
    assert origins and not any(registry()[name].known_defect for name in origins)


def test_an_atom_of_which_one_layout_is_ill_formed_is_no_origin() -> None:
    """Its other operands are left out too, although the tables have them."""
    atom = registry()["SM80_8x8x4_F64F64F64F64_TN"]
    assert [operand for _, operand in distinct([atom])] == ["A", "B", "C"]
    assert distinct([replace(atom, operands={**atom.operands, "C": "(4,8,2):(16,1,8)"})]) == []


def test_copies_take_part_both_ways_and_of_both_operands() -> None:
    """What is read and what is written, in registers and in memory, of ldmatrix, stmatrix and Tensor Memory."""
    origins = distinct(sampled(list(registry().values())))
    found = {((atom.ptx or ("",))[0].split(".sync")[0], operand) for atom, operand in origins if hasattr(atom, "bits")}
    sides = itertools.product(("ldmatrix", "stmatrix", "tcgen05.ld", "tcgen05.st"), ("Src", "Dst"))
    assert found >= set(sides)
    assert all(made.parts == ("Src", "Dst") for made in mutants(registry()["SM75_U32x4_LDSM_N"], "Src"))


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


@pytest.mark.slow
def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN", "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["schema"] == 2 and document["complete"] and document["layouts"] == 3
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN", "-q"]) == 0
    assert capsys.readouterr().out == "every mutant is refuted\n"
    assert mutate.main(["UniversalFMA"]) == 2
    assert mutate.main(["no_such_atom"]) == 2
    assert mutate.main(["SM90_64x264x16_F16F16F16_SS"]) == 2
    assert "N = 264 is not one of 8, 16" in capsys.readouterr().err
    assert mutate.main(["SM100_MMA_F16BF16_SS*128, 64*", "-q"]) == 4
    assert capsys.readouterr().out == "INCOMPLETE: no evidence from recording\n"


def test_a_surviving_mutant_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where isa finds every layout right, the campaign fails and names the survivors."""
    monkeypatch.setattr("verify.evidence.isa._compare", lambda *_: None)  # seam: a planted bug
    assert mutate.main(["SM80_8x8x4_F64F64F64F64_TN"]) == 1
    out = capsys.readouterr().out
    assert "SM80_8x8x4_F64F64F64F64_TN A  SURVIVES isa: " in out and out.endswith("SOME MUTANT SURVIVES\n")


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
