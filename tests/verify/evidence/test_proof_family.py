# SPDX-License-Identifier: Apache-2.0
"""Families: one proof for all members, none for an instance that was changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from layouts.atoms import Atom
from proofs.layout.family import Size
from tests.verify.test_families import WGMMA, list_refuted, verdict_on
from verify.atom.checker import prepare_atom
from verify.atom.properties import EQUALS
from verify.binding.atom import BoundAtom
from verify.binding.operand import BoundOperand
from verify.core.verdict import Check, Status
from verify.evidence import proof_family

SPARSE = "SM90::GMMA::SPARSE::GMMA_64x24x32_F16F16F16_RS"


@pytest.mark.parametrize("name", ["SM90_64x8x16_F16F16F16_SS", "SM90_64x176x32_S32S8U8_RS_TN", SPARSE])
def test_members_of_families_are_verified(name: str) -> None:
    assert list_refuted(WGMMA[name]) == set()


def test_the_accumulator_is_proved_for_every_n_with_the_provenance_of_its_formula() -> None:
    verdict = verdict_on(WGMMA["SM90_64x24x16_F32F16F16_SS"], "C", EQUALS)
    assert "derived" in verdict.claim.text
    proof = next(e for e in verdict.evidence if e.check is Check.PROOF)
    assert (proof.status, proof.method) == (Status.PROVED, "linear integers, for every N > 0 divisible by 8")


CHANGES = [
    ("A", "((4,8,4),(4,2,2)):((256,1,16),(64,16,1024))"),
    ("B", "(128,(24,32)):(0,(1,48))"),
    ("C", "((4,8,4),(2,2,3)):((128,1,16),(8,64,512))"),
    ("E", "((2,2,8,4),(16,2)):((0,1024,1,16),(64,8))"),
]


@pytest.mark.long
@pytest.mark.parametrize(("operand", "text"), CHANGES)
def test_an_instance_that_was_changed_is_no_member_and_falls(operand: str, text: str) -> None:
    atom = WGMMA[SPARSE]
    assert isinstance(atom, Atom)
    wrong = replace(atom, operands={**atom.operands, operand: text})
    assert (operand, "equals_isa") in list_refuted(wrong)


def test_a_tile_has_an_extent_over_the_parameters_where_both_extents_are_products_of_them() -> None:
    """N is a multiple of 8, so N//8 is a product and N//3 is none: B of n by k and C of m by n have no extent then."""
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert isinstance(atom, Atom) and atom.family is not None
    subject = prepare_atom(atom)
    extents = {}
    for n in ("{N//8}", "{N//3}"):
        entry = replace(atom.family.entry, table={**atom.family.entry.table, "shape": [64, n, 16]})
        reported = atom.family._replace(entry=entry)
        extents[n] = [proof_family.extent_of(reported, part) for part in subject.parts]
    m, n, k = Size(64), Size(1, ("N",)), Size(16)
    assert extents == {"{N//8}": [(m, k), (n, k), (m, n)], "{N//3}": [(m, k), None, None]}


def bind(operand: str, params: Mapping[str, Any] | None = None, **keys: object) -> tuple[BoundAtom, BoundOperand]:
    """An operand of a member whose family has other parameters or keys."""
    atom = WGMMA["SM90_64x16x16_F32F16F16_SS"]
    assert isinstance(atom, Atom) and atom.family is not None
    entry = replace(atom.family.entry, table={**atom.family.entry.table, **keys})
    family = atom.family._replace(entry=entry, params=params or atom.family.params)
    subject = prepare_atom(replace(atom, family=family))
    return subject, next(part for part in subject.parts if part.name == operand)


def test_evidence_on_another_family_is_not_shared() -> None:
    """The texts of the layouts are the same, and so is this member; what is proved of all members is not."""
    scopes = [
        proof_family.scope(*bind("B")),
        proof_family.scope(*bind("B", shape=[64, "{N}", "{N}"])),
        proof_family.scope(*bind("B", params={"N": [16, 256]})),
        proof_family.scope(*bind("B", params={"N": [8, 16]})),
    ]
    assert None not in scopes and len(set(scopes)) == len(scopes)
    assert proof_family.scope(*bind("B", params={"N": [8, 256]})) == scopes[0]


def test_evidence_by_another_formula_or_on_other_threads_is_not_shared() -> None:
    subject, part = bind("C")
    changed = tuple(formula._replace(which=1) for formula in part.formulas)
    scopes = [
        proof_family.scope(subject, part),
        proof_family.scope(subject, part._replace(formulas=changed)),
        proof_family.scope(replace(subject, lanes=subject.lanes * 2), part),
    ]
    assert None not in scopes and len(set(scopes)) == len(scopes)


def test_an_instance_of_another_shape_is_no_member() -> None:
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert isinstance(atom, Atom)
    (right, wrong) = (prepare_atom(replace(atom, shape=shape)) for shape in ((64, 24, 16), (64, 24, 32)))
    assert [proof_family.scope(subject, subject.parts[2]) is None for subject in (right, wrong)] == [False, True]
