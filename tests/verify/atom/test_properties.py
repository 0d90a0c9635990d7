# SPDX-License-Identifier: Apache-2.0
"""The table of an atom's properties: a row is all that another property takes; equal cache keys share evidence."""

from __future__ import annotations

from layouts.atoms import registry
from verify.atom.checker import AtomChecker, prepare_atom
from verify.atom.properties import EQUALS, MMA, OWNERSHIP, PROPERTIES, SIZE, of_operand
from verify.core.memo import Memo
from verify.core.verdict import Check, Counterexample, Evidence, Property, Scope, Status
from verify.report import Report, as_html, as_json, as_junit, as_text

NAME = "SM80_16x8x16_F32F16F16F32_TN"


def count(run: object, atom: object, operand: object) -> list[Evidence]:
    """Whether an operand has an even number of values."""
    values = operand.values  # type: ignore[attr-defined]
    wrong = Counterexample({"values": values}, f"{values} values") if values % 2 else None
    return [Evidence(Check.ISA, Status.REFUTED if wrong else Status.PROVED, "counted", counterexample=wrong)]


EVEN = Property(
    "even",
    Scope.OPERAND,
    says={MMA: "an even number of values"},
    states=of_operand(lambda atom, operand: "has an even number of values"),
    isa=count,
    how=("counted", "", ""),
    reads=lambda check, atom, operand: operand.text,
)


def test_a_size_whose_finding_names_the_operand_is_of_that_operand_alone() -> None:
    atom = prepare_atom(registry()[NAME])
    a = next(part for part in atom.parts if part.name == "A")
    e = a._replace(name="E")  # of the same tile
    assert SIZE.reads(Check.ISA, atom, a) != SIZE.reads(Check.ISA, atom, e)
    assert OWNERSHIP.reads(Check.ISA, atom, a) == OWNERSHIP.reads(Check.ISA, atom, e)


def test_another_property_is_one_row_and_its_function() -> None:
    checker = AtomChecker(frozenset({Check.ISA}), table=(*PROPERTIES, EVEN))
    right, wrong = checker.case(registry()[NAME]), checker.case(registry()["SM80_8x8x4_F64F64F64F64_TN"])
    even = {
        case.name: [(v.claim.part, v.status) for v in case.verdicts if v.claim.prop == EVEN] for case in (right, wrong)
    }
    assert even[right.name] == [(part, Status.PROVED) for part in "ABC"]
    assert even[wrong.name] == [("A", Status.REFUTED), ("B", Status.REFUTED), ("C", Status.PROVED)]
    report = Report((right, wrong))
    assert wrong.status == "REFUTED"
    for text in (as_text.render(report, verbose=True), as_html.render(report), as_junit.render(report)):
        assert "has an even number of values" in text
    assert '"property": "even"' in as_json.render(report)
    copies = checker.case(registry()["SM75_U32x1_LDSM_N"])
    assert not [v for v in copies.verdicts if v.claim.prop == EVEN]


def test_two_atoms_with_one_cache_key_share_their_evidence() -> None:
    checker = AtomChecker(frozenset({Check.ISA}), table=(EVEN,))
    first, second = (checker.verify(registry()[name]) for name in (NAME, "SM80_16x8x16_F32BF16BF16F32_TN"))
    assert [v.evidence[0].shared for v in first] == ["", "", ""]
    assert [v.evidence[0].shared for v in second] == [f"{NAME} {part}" for part in "ABC"]


def test_properties_do_not_share_what_was_found() -> None:
    """Two properties whose functions read the same have evidence of their own."""
    memo = Memo()
    proved, refuted = (Evidence(Check.ISA, status, "counted") for status in (Status.PROVED, Status.REFUTED))
    assert memo.get((Check.ISA, EVEN, "4:1"), lambda: proved).status is Status.PROVED
    assert memo.get((Check.ISA, EQUALS, "4:1"), lambda: refuted).status is Status.REFUTED
