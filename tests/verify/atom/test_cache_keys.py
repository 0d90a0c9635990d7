# SPDX-License-Identifier: Apache-2.0
"""Verdicts shared between atoms: what differs in anything that they depend on is verified by itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from layouts import Layout
from layouts.atoms import registry
from tests.verify.test_soundness import NAME
from verify.atom.cache_keys import layout_key
from verify.atom.checker import AtomChecker
from verify.atom.properties import PROPERTIES
from verify.binding.atom import BoundAtom, prepare
from verify.binding.operand import BoundOperand, map_layout
from verify.core.verdict import Check, Property, Scope, Verdict
from verify.maps.map import Map
from verify.report import Case, Report, as_json

C = 2  # its place among the operands
ROWS = tuple(row for row in PROPERTIES if row.scope == Scope.OPERAND)
CHECKS = frozenset({Check.ISA, Check.PROOF})
WRONG = "((4,8),(2,2)):((32,1),(8,16))"
ORDER = "(8,4):(4,1)"  # the threads in another order


def of_operand(**changes: Any) -> Callable[[BoundAtom], BoundAtom]:
    def planted(atom: BoundAtom) -> BoundAtom:
        parts = list(atom.parts)
        parts[C] = parts[C]._replace(**changes)
        return replace(atom, parts=tuple(parts))

    return planted


def of_formula(**changes: Any) -> Callable[[BoundAtom], BoundAtom]:
    def planted(atom: BoundAtom) -> BoundAtom:
        formulas = tuple(formula._replace(**changes) for formula in atom.parts[C].formulas)  # type: ignore[attr-defined]
        return of_operand(formulas=formulas, keys=tuple(formula.key for formula in formulas))(atom)

    return planted


def of_table(**changes: Any) -> Callable[[BoundAtom], BoundAtom]:
    def planted(atom: BoundAtom) -> BoundAtom:
        return of_formula(table=replace(atom.parts[C].formulas[0].table, **changes))(atom)  # type: ignore[attr-defined]

    return planted


def in_order(atom: BoundAtom) -> BoundAtom:
    return replace(atom, thr_text=ORDER, thr=Layout.parse(ORDER))


def copy_owners(atom: BoundAtom) -> BoundAtom:
    return of_operand(formulas=(), keys=())(replace(atom, copies={"C": 2}))


PLANTED: dict[str, Callable[[BoundAtom], BoundAtom]] = {
    "text": of_operand(text="((4,8),(2,2)) : ((32,1),(16,8))"),
    "layout": of_operand(text=WRONG, map=map_layout("C", Layout.parse(WRONG), (16, 8))),
    "extent": of_operand(extent=(8, 16)),
    "name": of_operand(name="E"),
    "axes": of_operand(name="A"),
    "threads": in_order,
    "owners": copy_owners,
    "values": of_table(values=8),
    "copies": of_table(copies=2),
    "map": of_formula(coarse=2),
    "no formula": of_operand(formulas=(), keys=(), no_formula="the tables lack it"),
    "section": of_formula(section="0.0"),
    "provenance": of_table(provenance="observed: planted"),
}


def bind_named(name: str) -> BoundAtom:
    atom = prepare(registry()[NAME])  # type: ignore[arg-type]
    return replace(atom, name=name)


def list_verdicts(checker: AtomChecker, atom: BoundAtom) -> list[Any]:
    return [remove_name(verdict) for verdict in checker.verdicts(ROWS, atom)]


def remove_name(verdict: Verdict) -> Verdict:
    evidence = tuple(piece._replace(shared="") for piece in verdict.evidence)
    return verdict._replace(claim=verdict.claim._replace(subject=""), evidence=evidence)


@pytest.mark.long
@pytest.mark.parametrize("field", PLANTED)
def test_what_differs_in_one_field_is_verified_by_itself(field: str) -> None:
    checker = AtomChecker(CHECKS)
    first, second, third = (list_verdicts(checker, bind_named(name)) for name in ("first", "second", "third"))
    assert first == second == third
    planted = PLANTED[field](bind_named("planted"))
    alone = list_verdicts(AtomChecker(CHECKS), planted)
    assert list_verdicts(checker, planted) == alone != third
    assert layout_key(planted, planted.parts[C]) != layout_key(bind_named("fourth"), bind_named("fourth").parts[C])


@pytest.mark.parametrize(
    "fault",
    [
        {"thr": None, "rep": None, "thr_fault": "planted"},
        {"by": None},
        {"further": (bind_named("other"),)},
        {"uncompared_reasons": ("planted",)},
        {"shape_fault": "planted"},
    ],
    ids=lambda fault: next(iter(fault)),
)
def test_an_atom_with_a_fault_of_its_own_shares_no_verdicts(fault: dict[str, Any]) -> None:
    planted = replace(bind_named("planted"), **fault)
    assert [layout_key(planted, part) for part in planted.parts] == [None] * 3


def test_the_number_of_lanes_is_in_the_key() -> None:
    atom = bind_named("one")
    assert layout_key(atom, atom.parts[C]) != layout_key(replace(atom, lanes=64), atom.parts[C])


def test_an_operand_that_is_a_map_or_no_layout_shares_no_verdicts() -> None:
    atom = bind_named("one")
    for changes in ({"map": None, "fault": "planted"}, {"map": Map()}):
        assert layout_key(atom, atom.parts[C]._replace(**changes)) is None


def test_shared_verdicts_name_their_atom_and_the_first_one() -> None:
    checker = AtomChecker(CHECKS)
    by_name = {name: checker.verdicts(ROWS, bind_named(name)) for name in ("first", "second", "third")}
    for name, verdicts in by_name.items():
        assert {verdict.claim.subject for verdict in verdicts} == {name}
    third = [{piece.shared for piece in verdict.evidence} for verdict in by_name["third"]]
    assert third == [{piece.shared for piece in verdict.evidence} for verdict in by_name["second"]]
    assert set.union(*third) == {"", "first A", "first B", "first C"}  # whether it parses is seen each time
    again = checker.verdicts(ROWS, bind_named("first"))
    assert {piece.shared for verdict in again for piece in verdict.evidence} == {""}


@pytest.mark.long
def test_a_member_of_a_family_shares_no_proof_with_an_atom_without_one() -> None:
    """Whichever is first: a proof for all members says over which, and their atom alone is proved by itself."""
    member = registry()["SM90_64x16x16_F32F16F16_SS"]
    assert member.family is not None
    bare = replace(member, name="bare", family=None, params={})

    def methods(checker: AtomChecker, atom: Any) -> list[str]:
        return [piece.method for verdict in checker.case(atom).verdicts for piece in verdict.evidence]

    alone = {atom.name: methods(AtomChecker(CHECKS), atom) for atom in (member, bare)}
    assert alone[member.name] != alone["bare"]
    for order in ((member, bare), (bare, member)):
        checker = AtomChecker(CHECKS)
        assert {atom.name: methods(checker, atom) for atom in order} == alone


def test_a_property_that_reads_more_is_checked_of_every_atom() -> None:
    def odd(_: object, atom: BoundAtom, __: BoundOperand) -> list[Any]:
        seen.append(atom.name)
        return []

    seen: list[str] = []
    row = Property("odd", Scope.OPERAND, isa=odd)
    checker = AtomChecker(CHECKS)
    for name in ("first", "second", "third"):
        checker.verdicts((*ROWS, row), bind_named(name))
    assert seen == [name for name in ("first", "second", "third") for _ in range(3)]


def unshared_json(names: list[str], monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """The report on atoms in JSON, as it is and with every claim of every atom verified by itself."""
    texts = []
    for rows in (PROPERTIES, [remove_alike(row) for row in PROPERTIES]):
        checker, cases = AtomChecker(table=tuple(rows)), list[Case]()
        cases = [checker.case(registry()[name]) for name in names]
        texts.append(as_json.render(Report(tuple(cases))))
    return texts[0], texts[1]


def remove_alike(row: Property) -> Property:
    """A property without `alike`: its verdicts are not shared, its evidence is."""
    return replace(row, alike=None)


FAMILY = [name for name in registry() if name.startswith("SM90_64x16x16")] + ["SM75_U32x1_LDSM_N", NAME, "SM61_DP2A"]


@pytest.mark.long
def test_the_report_is_that_of_a_run_that_shares_no_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    shared, alone = unshared_json(FAMILY[:6] + FAMILY[-3:], monkeypatch)
    assert shared == alone
    assert [case["name"] for case in json.loads(shared)["subjects"]] == FAMILY[:6] + FAMILY[-3:]


@pytest.mark.slow
def test_the_report_of_every_eighth_atom_is_that_of_a_run_that_shares_no_verdicts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shared, alone = unshared_json(list(registry())[::8], monkeypatch)
    assert shared == alone
