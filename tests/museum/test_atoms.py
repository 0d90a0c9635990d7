# SPDX-License-Identifier: Apache-2.0
"""Real atoms that were wrong: each must be refuted with a counterexample, each repaired twin must be verified."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest

from layouts.atoms import load
from verify.atom.checker import AtomChecker
from verify.atom.properties import EQUALS, EQUALS_ABSOLUTE, OWNERSHIP, PRODUCT, RELATION, SIGNATURE, SIZE, WELL_FORMED
from verify.core.verdict import Check, Property, Status, Verdict
from verify.report import Case, Report, as_text

HERE = Path(__file__).parent
WRONG = {atom.name: atom for atom in load(HERE / "wrong.toml")}
RIGHT = {atom.name: atom for atom in load(HERE / "right.toml")}

# number -> (operand, property, words of the report)
EXPECTED = {
    "1": ("B", OWNERSHIP, ["T0 V4 and T1 V0 both hold (n=0, k=4)", "smallest of 96", "k = 20..31, every n"]),
    "2": ("A", OWNERSHIP, ["T0 V1 and T1 V0 both hold (m=0, k=4)", "smallest of 3360 collisions"]),
    "3": ("B", EQUALS, ["2044 of 2048 points disagree"]),
    "4": ("A", WELL_FORMED, ["((16,8))"]),
    "5": ("C", EQUALS, ["112 of 128 points disagree"]),
    "7": ("A", SIZE, ["32 threads x 1 values, the ISA 32 x 4"]),
    "24": ("A", EQUALS, ["disagree"]),
    "26": ("", SIGNATURE, ["dp2a"]),
}


@pytest.fixture(scope="module")
def checker() -> AtomChecker:
    return AtomChecker()


def verdict(verdicts: list[Verdict], part: str, kind: Property) -> Verdict:
    return next(v for v in verdicts if v.claim.part == part and v.claim.prop == kind)


def number(name: str) -> str:
    return name.split(":", maxsplit=1)[0]


def statuses(refuted: Verdict) -> Mapping[Check, Status]:
    return {e.check: e.status for e in refuted.evidence}


def test_every_wrong_atom_has_an_expectation_and_a_twin() -> None:
    assert {number(name) for name in WRONG} == set(EXPECTED)
    assert set(RIGHT) == set(WRONG)


@pytest.mark.long
@pytest.mark.parametrize("name", list(WRONG))
def test_wrong_is_refuted_with_its_counterexample(name: str, checker: AtomChecker) -> None:
    part, kind, words = EXPECTED[number(name)]
    verdicts = checker.verify(WRONG[name])
    wrong = verdict(verdicts, part, kind)
    assert wrong.status.refuted and not wrong.contradiction
    assert wrong.counterexample is not None and wrong.counterexample.reproduced
    printed = as_text.render(Report((Case(name, tuple(verdicts)),)))
    assert [word for word in words if word not in printed] == []


@pytest.mark.long
@pytest.mark.parametrize("name", list(RIGHT))
def test_repaired_twin_is_verified(name: str, checker: AtomChecker) -> None:
    verdicts = checker.verify(RIGHT[name])
    assert [v for v in verdicts if v.status not in (Status.PROVED, Status.AGREES, Status.UNCHECKED)] == []
    claims = {(v.claim.part, v.claim.prop) for v in verdicts if v.status.confirmed}
    part, kind, _ = EXPECTED[number(name)]
    assert (part, kind) in claims


def test_the_repair_of_1_is_the_one_stride(checker: AtomChecker) -> None:
    wrong = verdict(checker.verify(WRONG["1: SM80_16x8x32_S32S4S4S32_TN"]), "B", EQUALS)
    assert wrong.counterexample is not None
    assert wrong.counterexample.repair == "one stride: ((4,8),8):((64,1),8)      256 of 256 agree (now 64)"


def test_2_covers_568_of_4096_elements() -> None:
    """Counted here from the digits, without the tool."""
    shape, stride = (32, 8, 4, 2, 2), (64, 64, 16, 8, 2048)
    digits = product(*map(range, shape))
    assert len({sum(d * s for d, s in zip(at, stride, strict=True)) for at in digits}) == 568


@pytest.mark.parametrize("name", ["3: SM80_16x8x256_S32U1U1S32_TN_XORPOPC", "5: m16n8k16 of a tutorial"])
def test_a_bijection_can_be_wrong(name: str, checker: AtomChecker) -> None:
    part = EXPECTED[number(name)][0]
    verdicts = checker.verify(WRONG[name])
    assert verdict(verdicts, part, OWNERSHIP).status is Status.PROVED
    wrong = verdict(verdicts, part, EQUALS)
    assert statuses(wrong) == {Check.ISA: Status.REFUTED, Check.PROOF: Status.REFUTED}


def test_24_passes_every_product_and_only_the_isa_tables_refute_it(checker: AtomChecker) -> None:
    verdicts = checker.verify(WRONG["24: SM75_16x8x8_F32F16F16F32_TN"])
    assert verdict(verdicts, "", PRODUCT).status is Status.AGREES
    assert verdict(verdicts, "", RELATION).status is Status.AGREES
    for part in "AC":
        wrong = verdict(verdicts, part, EQUALS)
        assert wrong.status is Status.RELABELLED
        assert statuses(wrong) == {Check.ISA: Status.REFUTED, Check.PROOF: Status.REFUTED}
        assert "m' = (8,2):(2,1) of m in A and in C: the same permutation" in wrong.counterexample.damage
    assert verdict(verdicts, "", EQUALS_ABSOLUTE).status is Status.RELABELLED
    assert not any(v.status is Status.REFUTED or v.contradiction for v in verdicts)
