# SPDX-License-Identifier: Apache-2.0
"""Operands beyond A, B, C, operands in memory, and families: they are verified, and refuted when changed."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import layouts.atoms
from layouts.atoms import AnyAtom, Atom, AtomFileError, CopyAtom, load
from proofs.layout.family import Size
from verify.atom import command
from verify.atom.checker import AtomChecker, prepared
from verify.atom.properties import EQUALS, OWNERSHIP
from verify.core.verdict import Check, Property, Status, Verdict
from verify.evidence import isa, proof_family

FOLDER = Path(layouts.atoms.__file__).parent


def shelf(pattern: str) -> Mapping[str, AnyAtom]:
    return {atom.name: atom for path in FOLDER.rglob(pattern) for atom in load(path)}


WGMMA = shelf("sm90_wgmma*.toml")
SCALED = shelf("sm120_sparse_block_scaled.toml")
COPIES = shelf("copy*.toml")
SPARSE = "SM90::GMMA::SPARSE::GMMA_64x24x32_F16F16F16_RS"


def refuted(atom: AnyAtom) -> set[tuple[str, str]]:
    """(part, property) of every refuted claim; no two checks may disagree."""
    verdicts = AtomChecker(frozenset({Check.ISA, Check.PROOF})).verify(atom)
    assert not any(verdict.contradiction for verdict in verdicts)
    return {(v.claim.part, v.claim.prop.key) for v in verdicts if v.status is Status.REFUTED}


def verdict_on(atom: AnyAtom, part: str, prop: Property) -> Verdict:
    verdicts = AtomChecker(frozenset({Check.ISA, Check.PROOF})).verify(atom)
    return next(v for v in verdicts if (v.claim.part, v.claim.prop) == (part, prop))


@pytest.mark.parametrize("name", ["SM90_64x8x16_F16F16F16_SS", "SM90_64x176x32_S32S8U8_RS_TN", SPARSE])
def test_members_of_families_are_verified(name: str) -> None:
    assert refuted(WGMMA[name]) == set()


def test_the_accumulator_is_proved_for_every_n_with_the_provenance_of_its_formula() -> None:
    verdict = verdict_on(WGMMA["SM90_64x24x16_F32F16F16_SS"], "C", EQUALS)
    assert "derived" in verdict.claim.text
    proof = next(e for e in verdict.evidence if e.check is Check.PROOF)
    assert (proof.status, proof.method) == (Status.PROVED, "linear integers, for every N > 0 divisible by 8")


def test_matrices_in_memory_are_seen_by_every_thread() -> None:
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert "128 owners" in verdict_on(atom, "A", OWNERSHIP).claim.text
    assert "128 owners" in verdict_on(atom, "B", OWNERSHIP).claim.text


CHANGES = [
    ("A", "((4,8,4),(4,2,2)):((256,1,16),(64,16,1024))"),
    ("B", "(128,(24,32)):(0,(1,48))"),
    ("C", "((4,8,4),(2,2,3)):((128,1,16),(8,64,512))"),
    ("E", "((2,2,8,4),(16,2)):((0,1024,1,16),(64,8))"),
]


@pytest.mark.parametrize(("operand", "text"), CHANGES)
def test_an_instance_that_was_changed_is_no_member_and_falls(operand: str, text: str) -> None:
    atom = WGMMA[SPARSE]
    assert isinstance(atom, Atom)
    wrong = replace(atom, operands={**atom.operands, operand: text})
    assert (operand, "equals_isa") in refuted(wrong)


@pytest.mark.parametrize("operand", ["A", "E", "SFA", "SFB"])
def test_scale_factors_and_metadata_must_equal_the_isa_tables(operand: str) -> None:
    name = (
        "SM120::BLOCKSCALED::SPARSE::SM120_SPARSE_16x8x128_TN_VS<float_e2m1_t, float_e2m1_t, float, float_ue8m0_t, 64>"
    )
    atom = SCALED[name]
    assert isinstance(atom, Atom)
    assert refuted(atom) == set()
    text = atom.operands[operand]
    swapped = {
        "A": "((4,8),(16,2,2)):((256,1),(16,1024,8))",
        "E": "((2,2,8),(64)):((1024,8,1),(16))",
        "SFA": "((2,2,8),128):((0,8,1),16)",
        "SFB": "((8,4),128):((1,0),8)",
    }[operand]
    assert swapped != text
    assert (operand, "equals_isa") in refuted(replace(atom, operands={**atom.operands, operand: swapped}))


@pytest.mark.parametrize(
    ("part", "drawn"),
    [("A", range(-8, 8)), ("B", range(-8, 8)), ("E", range(2)), ("SFA", (1, 2, 3)), ("SFB", (1, 2, 3))],
)
def test_numbers_of_a_product_are_signed_metadata_drop_and_scale_factors_are_positive(part: str, drawn: range) -> None:
    subject = prepared(next(iter(SCALED.values())))
    (found,) = (one for one in subject.parts if one.name == part)
    assert set(isa.random_matrix(found, Random(1)).ravel().tolist()) == set(map(float, drawn))


def test_an_operand_that_the_instruction_does_not_have_is_named() -> None:
    atom = next(iter(shelf("sm120.toml").values()))
    assert isinstance(atom, Atom)
    wrong = replace(atom, operands={**atom.operands, "E": "((2,2,8),32):((8,512,1),16)"})
    with pytest.raises(AtomFileError, match=r"\.E: mma\.sync.* has no operand E"):
        AtomChecker().verify(wrong)


def test_bad_input_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (FOLDER / "sm120.toml").read_text(encoding="utf-8")
    wrong = tmp_path / "mine.toml"
    wrong.write_text(text.replace("source =", 'E = "((2,2,8),32):((8,512,1),16)"\nsource ='), encoding="utf-8")
    assert command.main(["--atoms", str(wrong)]) == 2
    assert "has no operand E" in capsys.readouterr().err
    assert command.main(["SM120_16x8x32_TN<float_e9m9_t, float_e2m1_t, float>"]) == 2
    output = capsys.readouterr().err
    assert "A = e9m9 is not one of e2m1, e3m2, e2m3, e4m3, e5m2" in output and len(output.splitlines()) == 1


def test_a_space_that_is_not_the_instructions_is_a_fault() -> None:
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert isinstance(atom, Atom)
    assert ("", "signature") in refuted(replace(atom, space={"A": "smem", "B": "reg"}))


def test_a_tile_has_an_extent_over_the_parameters_where_both_extents_are_products_of_them() -> None:
    """N is a multiple of 8, so N//8 is a product and N//3 is none: B of n by k and C of m by n have no extent then."""
    atom = WGMMA["SM90_64x24x16_F32F16F16_SS"]
    assert isinstance(atom, Atom) and atom.family is not None
    subject = prepared(atom)
    found = {}
    for n in ("{N//8}", "{N//3}"):
        entry = replace(atom.family.entry, table={**atom.family.entry.table, "shape": [64, n, 16]})
        reported = replace(atom.family, entry=entry)
        found[n] = [proof_family.extent_of(reported, part) for part in subject.parts]
    m, n, k = Size(64), Size(1, ("N",)), Size(16)
    assert found == {"{N//8}": [(m, k), (n, k), (m, n)], "{N//3}": [(m, k), None, None]}


@pytest.mark.slow
def test_copies_are_verified_but_for_known_defects() -> None:
    """movmatrix is said not to transpose; tcgen05.cp numbers bits with gaps, and copies as bits of their own."""
    defects = {name: refuted(atom) for name, atom in COPIES.items() if "TMEM" not in name or "dp256b2x" in name}
    wrong = {name: found for name, found in defects.items() if found}
    assert wrong.keys() == {name for name in defects if COPIES[name].known_defect}
    assert wrong["SM75_U32x1_MOVM_T"] == {("Dst", "equals_isa")}
    assert wrong["SM100_UTCCP_4x32dp128bit_1cta"] == {("bits", "same_bits")}
    assert ("Src", "in_bounds") in wrong["SM100_UTCCP_4dp256bit_1cta"]


@pytest.mark.parametrize("name", ["SM100_U8x8_LDSM_T", "SM100_U8x16_LDSM_T"])
def test_a_byte_permutation_is_part_of_the_claim(name: str) -> None:
    atom = COPIES[name]
    assert isinstance(atom, CopyAtom)
    assert refuted(atom) == set()
    assert ("Dst", "equals_isa") in refuted(replace(atom, adapter=None))


def test_addresses_have_as_many_owners_as_in_the_isa_tables() -> None:
    atom = COPIES["SM75_U32x1_LDSM_N"]
    assert isinstance(atom, CopyAtom)
    assert "4 times" in verdict_on(atom, "Src", OWNERSHIP).claim.text
    assert ("", "signature") in refuted(replace(atom, copies={"Src": 2}))
    assert ("", "signature") in refuted(replace(atom, bits={"Src": 8, "Dst": 8}))


def test_every_lane_has_tensor_memory() -> None:
    atom = COPIES["SM100_TMEM_LOAD_16dp256b2x"]
    assert "32 times" in verdict_on(atom, "Src", OWNERSHIP).claim.text
