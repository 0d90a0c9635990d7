# SPDX-License-Identifier: Apache-2.0
"""Every printed repair, put into the file that the user gave, is VERIFIED from scratch, and none repeats the file.

The wrong files are single edits of registered atoms and copies, drawn by a seed: layouts, spaces, multiplicities,
threads, extents, types. Their verification has no part in how a repair is found.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from layouts.atoms import CopyAtom, registry
from tests.verify.edits import Edit, alternatives, apply_repairs, edits, entry_of, list_repairs, verify_entry
from verify.atom.checker import AtomChecker
from verify.core.verdict import Check

COPIES = (
    "SM75_U32x4_LDSM_N", "SM75_U16x8_LDSM_T", "SM90_U32x2_STSM_N", "SM100_TMEM_LOAD_16dp256b1x_16b",
    "SM75_U32x1_MOVM_T",
)  # fmt: skip
ATOMS = (
    "SM70_8x8x4_F32F16F16F32_NN", "SM75_16x8x8_F32F16F16F32_TN", "SM80_16x8x16_F32F16F16F32_TN",
    "SM80_8x8x4_C64C64C64C64_TN", "SM90_64x8x16_F16F16F16_SS", "SM90_64x16x16_F32F16F16_RS",
    "SM80_16x8x64_S32U4U4S32_TN",
)  # fmt: skip


def few(checks: frozenset[Check], names: tuple[str, ...], each: int, seed: int, folder: Path) -> Counter[str]:
    """Repair some edits of each atom, and count what became of them."""
    atoms, take, counts = registry(), random.Random(seed), Counter[str]()
    for name in names:
        chosen = list(edits(atoms[name], take))
        for edit in take.sample(chosen, min(each, len(chosen))):
            counts[outcome(edit, folder, checks)] += 1
    return counts


def outcome(edit: Edit, folder: Path, checks: frozenset[Check]) -> str:
    """Return what became of an edit; AssertionError for a repair that isn't one."""
    case = verify_entry(edit.name, edit.entry, folder, AtomChecker(checks))
    if isinstance(case, str) or case.status not in ("REFUTED", "RELABELLED"):
        return "not refuted"
    repairs = list_repairs(case)
    for chosen in alternatives(repairs):
        whole = apply_repairs(edit.entry, chosen)
        where = f"{edit.name}: {edit.what}: {chosen}"
        assert whole != edit.entry, where
        again = verify_entry(edit.name, whole, folder, AtomChecker(checks))
        assert not isinstance(again, str), f"{where}: {again}"
        assert again.status == "VERIFIED", f"{where}: {again.status}"
    return "repaired" if repairs else "no repair"


@pytest.mark.long
@pytest.mark.parametrize("names", [COPIES, ATOMS], ids=["copies", "atoms"])
def test_every_printed_repair_verifies(names: tuple[str, ...], tmp_path: Path) -> None:
    counts = few(frozenset({Check.ISA}), names, 4, 32, tmp_path)
    assert counts["repaired"] >= 9 * counts["no repair"], counts


@pytest.mark.long
def test_a_repair_is_verified_by_the_checks_that_were_asked_for(tmp_path: Path) -> None:
    counts = few(frozenset(Check), (COPIES[0], ATOMS[2]), 2, 33, tmp_path)
    assert counts["repaired"] > counts["no repair"], counts


@pytest.mark.slow
@pytest.mark.parametrize("of_copies", [True, False], ids=["copies", "atoms"])
def test_every_printed_repair_verifies_in_a_large_sample(of_copies: bool, tmp_path: Path) -> None:
    """Two edits of each of twelve atoms; `python -m benchmarks.attack` takes as many as one asks for."""
    claimed = [atom for atom in registry().values() if atom.ptx and not atom.known_defect and not atom.expect]
    sampled = random.Random(0).sample([atom for atom in claimed if isinstance(atom, CopyAtom) == of_copies], 12)
    right = AtomChecker(frozenset({Check.ISA}))
    names = tuple(atom.name for atom in sampled if right.case(atom).status == "VERIFIED")
    counts = few(frozenset({Check.ISA}), names, 2, 0, tmp_path)
    assert counts["repaired"] >= 9 * counts["no repair"], counts


def repairs_of(name: str, folder: Path, **keys: object) -> list[tuple[str, str]]:
    case = verify_entry(name, {**entry_of(registry()[name]), **keys}, folder, AtomChecker(frozenset({Check.ISA})))
    assert not isinstance(case, str), case
    assert case.status == "REFUTED"
    return list_repairs(case)


def test_the_side_of_a_copy_that_was_right_is_left_alone(tmp_path: Path) -> None:
    """Src names the bits of a copy from memory, so a wrong Src makes Dst differ from its formula: Dst is right."""
    name = "SM75_U32x4_LDSM_N"
    right = registry()[name].operands["Src"]
    wrong = "(32,(4,32)):(128,(32,1))"
    assert wrong != right
    offered = repairs_of(name, tmp_path, Src=wrong)
    assert offered and all("Src" in (part, text[3:6]) for part, text in offered), offered


@pytest.mark.parametrize("source", ["((16,2),128):((128,0),1)", "(32,128):(128,1)"], ids=["right", "wrong too"])
def test_a_multiplicity_that_the_file_leaves_out_is_given(source: str, tmp_path: Path) -> None:
    name = "SM75_U32x2_LDSM_N"
    entry = {key: value for key, value in entry_of(registry()[name]).items() if key != "copies"}
    case = verify_entry(name, {**entry, "Src": source}, tmp_path, AtomChecker(frozenset({Check.ISA})))
    assert not isinstance(case, str) and case.status == "REFUTED"
    assert "give copies = { Src = 2 }" in " ".join(text for _, text in list_repairs(case))


def test_no_layout_is_given_for_the_registers_if_memory_is_no_bijection(tmp_path: Path) -> None:
    offered = repairs_of("SM75_U32x4_LDSM_N", tmp_path, Src="(32,128):(64,1)")
    assert all(part != "Dst" for part, _ in offered), offered


def test_a_changed_space_of_wgmmas_a_is_repaired_as_such(tmp_path: Path) -> None:
    offered = repairs_of("SM90_64x8x16_F16F16F16_SS", tmp_path, space={"A": "reg", "B": "smem"})
    assert offered == [("", 'give space = { A = "smem", B = "smem" }')] or any(part == "A" for part, _ in offered), (
        offered
    )
