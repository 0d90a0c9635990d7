# SPDX-License-Identifier: Apache-2.0
"""Wrong atoms made from right ones: every sort of change, and which atoms are origins."""

import itertools
from dataclasses import replace

import pytest

from layouts import Layout
from layouts.atoms import registry
from layouts.batched.evaluate import Linear
from verify.core.digits import walks
from verify.mutate.mutants import changes, distinct, joint_mutants, mutants, same_functions
from verify.mutate.score import sample_atoms


def test_every_sort_of_change_is_made() -> None:
    made = list(changes(Layout.parse("((4,8),2):((16,1),8)")))
    assert len(made) == 3 * 3 + 3 + 3
    assert str(dict(made)["strides 16 and 1 swapped (modes 0, 1)"]) == "((4,8),2):((1,16),8)"
    assert str(dict(made)["stride 16 (mode 0) halved"]) == "((4,8),2):((8,1),8)"
    assert str(dict(made)["stride 1 (mode 1) incremented"]) == "((4,8),2):((16,2),8)"
    assert str(dict(made)["mode 1 dropped"]) == "((4,1),2):((16,0),8)"


@pytest.mark.parametrize(
    "text", ["((4,8),(2,2)):((32,1),(16,8))", "((4,8),2):((0,1),8)", "(4,(2,2)):(1,(4,4))", "((2,2),1):((1,1),7)"]
)
def test_mutants_of_the_same_function_are_those_of_equal_values(text: str) -> None:
    layout = Layout.parse(text)
    changed = [mutant for _, mutant in changes(layout)]
    same = same_functions(layout, changed)
    assert same == [walks(mutant) == walks(layout) for mutant in changed] and not all(same)
    assert any(same) == (text != "((4,8),(2,2)):((32,1),(16,8))")


def test_no_error_of_the_engine_makes_a_mutant_equivalent(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Linear.table
    monkeypatch.setattr(Linear, "table", lambda *given: right(*given) * 0)
    layout = Layout.parse("((4,8),(2,2)):((32,1),(16,8))")
    assert not any(same_functions(layout, [mutant for _, mutant in changes(layout)]))


def test_a_joint_mutant_is_the_permuted_layout() -> None:
    """One permutation of m in A and C of m16n8k8 is what CUTLASS 3.0 to 3.2 shipped."""
    atom = registry()["SM75_16x8x8_F32F16F16F32_TN"]
    made = next(m for m in joint_mutants(atom) if m.what == "one permutation of m")
    assert made.parts == ("A", "C")
    assert made.atom.operands["A"] == made.atom.operands["C"] == "((4,8),(2,2)):((32,2),(16,1))"


def test_known_defects_are_no_origins() -> None:
    origins = {atom.name for atom, _ in distinct(sample_atoms(list(registry().values())))}
    assert origins and not any(registry()[name].known_defect for name in origins)


def test_an_atom_of_which_one_layout_is_ill_formed_is_no_origin() -> None:
    """Its other operands are left out too, although the tables have them."""
    atom = registry()["SM80_8x8x4_F64F64F64F64_TN"]
    assert [operand for _, operand in distinct([atom])] == ["A", "B", "C"]
    assert distinct([replace(atom, operands={**atom.operands, "C": "(4,8,2):(16,1,8)"})]) == []


def test_copies_take_part_both_ways_and_of_both_operands() -> None:
    """What is read and what is written, in registers and in memory, of ldmatrix, stmatrix and Tensor Memory."""
    origins = distinct(sample_atoms(list(registry().values())))
    sides_of = {
        ((atom.ptx or ("",))[0].split(".sync")[0], operand) for atom, operand in origins if hasattr(atom, "bits")
    }
    sides = itertools.product(("ldmatrix", "stmatrix", "tcgen05.ld", "tcgen05.st"), ("Src", "Dst"))
    assert sides_of >= set(sides)
    assert all(made.parts == ("Src", "Dst") for made in mutants(registry()["SM75_U32x4_LDSM_N"], "Src"))
