# SPDX-License-Identifier: Apache-2.0
"""Copy atoms: verified but for known defects; addresses and tensor memory have several owners."""

from dataclasses import replace

import pytest

from layouts.atoms import CopyAtom
from tests.verify.test_families import list_refuted, shelf, verdict_on
from verify.atom.checker import AtomChecker
from verify.atom.properties import OWNERSHIP
from verify.core.verdict import Check

COPIES = shelf("copy*.toml")


@pytest.mark.slow
def test_copies_are_verified_but_for_known_defects() -> None:
    """movmatrix is said not to transpose; tcgen05.cp numbers bits with gaps, and copies as bits of their own."""
    defects = {name: list_refuted(atom) for name, atom in COPIES.items() if "TMEM" not in name or "dp256b2x" in name}
    wrong = {name: refuted for name, refuted in defects.items() if refuted}
    assert wrong.keys() == {name for name in defects if COPIES[name].known_defect}
    assert wrong["SM75_U32x1_MOVM_T"] == {("Dst", "equals_isa")}
    assert wrong["SM100_UTCCP_4x32dp128bit_1cta"] == {("bits", "same_bits")}
    assert ("Src", "in_bounds") in wrong["SM100_UTCCP_4dp256bit_1cta"]


@pytest.mark.parametrize("name", ["SM100_U8x8_LDSM_T", "SM100_U8x16_LDSM_T"])
def test_a_byte_permutation_is_part_of_the_claim(name: str) -> None:
    atom = COPIES[name]
    assert isinstance(atom, CopyAtom)
    assert list_refuted(atom) == set()
    assert ("Dst", "equals_isa") in list_refuted(replace(atom, adapter=None))


def test_addresses_have_as_many_owners_as_in_the_isa_tables() -> None:
    atom = COPIES["SM75_U32x1_LDSM_N"]
    assert isinstance(atom, CopyAtom)
    assert "4 times" in verdict_on(atom, "Src", OWNERSHIP).claim.text
    assert ("", "signature") in list_refuted(replace(atom, copies={"Src": 2}))
    assert ("", "signature") in list_refuted(replace(atom, bits={"Src": 8, "Dst": 8}))


def test_every_lane_has_tensor_memory() -> None:
    atom = COPIES["SM100_TMEM_LOAD_16dp256b2x"]
    assert "32 times" in verdict_on(atom, "Src", OWNERSHIP).claim.text


@pytest.mark.long
@pytest.mark.parametrize("check", list(Check))
def test_ref_is_compared_whichever_checks_are_requested(check: Check) -> None:
    """Tiles are divided by it, and nothing else is claimed of it."""
    right = COPIES["SM75_U32x4_LDSM_N"]
    assert isinstance(right, CopyAtom)
    wrong = replace(right, operands={**right.operands, "Ref": "(32,(32,4)):(32,(1024,1))"})
    checker = AtomChecker(frozenset({check}))
    assert [checker.case(entry).status for entry in (right, wrong)] == ["VERIFIED", "REFUTED"]
